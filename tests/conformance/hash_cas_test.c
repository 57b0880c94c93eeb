/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash_cas_test.c - hf_hash_cas(): compare and set one field.
 */
#include "holdfast/hash.h"
#include "support/store_fixture.h"

FIXTURE_TESTS();

static const hf_bytes field = {"f", 1};

static hf_status cas(fixture *f, hf_bytes key, const char *expected,
                     hf_bytes value, int64_t ttl_ms, hf_buffer *current)
{
    hf_cas_options opts = HF_CAS_OPTIONS_INIT;
    hf_bytes old = hf_str(expected);

    opts.ttl_ms = ttl_ms;
    return hf_hash_cas(f->client, key, field, expected == NULL ? NULL : &old,
                       value, &opts, current, ERR);
}

TEST(hash_cas_replaces_the_expected_field_only)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "h");
    hf_buffer current = HF_BUFFER_INIT;

    put_hash(f->client, key, words("f", "1", "g", "1"), 60000);
    expect_status(HF_OK, cas(f, key, "1", bytes("2"), 0, &current));
    assert_null(current.data);
    assert_field(f->other, key, field, bytes("2"));
    assert_field(f->other, key, bytes("g"), bytes("1"));
    assert_ttl(f->client, key, 60000);
}

TEST(hash_cas_returns_the_value_it_found)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "h");
    hf_buffer current = HF_BUFFER_INIT;

    put_hash(f->client, key, words("f", "met"), 60000);
    expect_status(HF_CONFLICT, cas(f, key, "no", bytes("2"), 5000, &current));
    assert_buffer(&current, bytes("met"));
    expect_status(HF_CONFLICT, cas(f, key, NULL, bytes("2"), 0, &current));
    assert_buffer(&current, bytes("met"));
    expect_status(HF_CONFLICT, cas(f, key, "no", bytes("2"), 0, NULL));
    assert_field(f->client, key, field, bytes("met"));
    assert_ttl(f->client, key, 60000);
}

TEST(hash_cas_is_not_confused_by_values_0_and_1)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "h");
    hf_buffer current = HF_BUFFER_INIT;

    put_hash(f->client, key, words("f", "1"), 0);
    expect_status(HF_CONFLICT, cas(f, key, "2", bytes("3"), 0, &current));
    assert_buffer(&current, bytes("1"));
    put_hash(f->client, key, words("f", "0"), 0);
    expect_status(HF_CONFLICT, cas(f, key, "2", bytes("3"), 0, &current));
    assert_buffer(&current, bytes("0"));
    put_hash(f->client, key, words("f", ""), 0);
    expect_status(HF_CONFLICT, cas(f, key, "2", bytes("3"), 0, &current));
    assert_buffer(&current, bytes(""));
}

TEST(hash_cas_compares_bytes)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "h");
    hf_bytes name = bytes("n\0a");
    hf_bytes present = bytes("a\0b");
    hf_bytes almost = bytes("a\0c");
    hf_field one = {name, present};

    expect_status(HF_OK, hf_hash_put(f->client, key, &one, 1, NULL, ERR));
    expect_status(HF_CONFLICT, hf_hash_cas(f->client, key, name, &almost,
                                           bytes("2"), NULL, NULL, ERR));
    expect_status(HF_OK, hf_hash_cas(f->client, key, name, &present,
                                     bytes("2\0"), NULL, NULL, ERR));
    assert_field(f->client, key, name, bytes("2\0"));
}

TEST(hash_cas_expecting_absence_creates_field_and_key)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "h");

    expect_status(HF_OK, cas(f, key, NULL, bytes("1"), 0, NULL));
    assert_no_ttl(f->client, key);
    put_hash(f->client, key, words("g", "1"), 60000);
    expect_status(HF_OK, hf_hash_cas(f->client, key, bytes("new"), NULL,
                                     bytes("1"), NULL, NULL, ERR));
    assert_field(f->client, key, bytes("new"), bytes("1"));
    assert_ttl(f->client, key, 60000);
}

TEST(hash_cas_expecting_a_value_that_is_not_there)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "h");
    hf_buffer current = HF_BUFFER_INIT;

    expect_status(HF_NOT_FOUND, cas(f, key, "1", bytes("2"), 0, &current));
    assert_no_key(f->client, key);
    put_hash(f->client, key, words("g", "1"), 0);
    expect_status(HF_NOT_FOUND, cas(f, key, "1", bytes("2"), 0, &current));
    expect_status(HF_NOT_FOUND, cas(f, key, "", bytes("2"), 5000, &current));
    assert_null(current.data);
    assert_no_ttl(f->client, key);
}

TEST(hash_cas_sets_the_keys_time_to_live)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "h");

    expect_status(HF_OK, cas(f, key, NULL, bytes("1"), 60000, NULL));
    assert_ttl(f->client, key, 60000);
    expect_status(HF_OK, cas(f, key, "1", bytes("2"), 30000, NULL));
    assert_ttl(f->client, key, 30000);
}

TEST(hash_cas_of_a_value_is_wrong_type)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "h");

    put_value(f->client, key, bytes("v"), 0);
    expect_status(HF_WRONG_TYPE, cas(f, key, "1", bytes("2"), 0, NULL));
    expect_status(HF_WRONG_TYPE, cas(f, key, NULL, bytes("2"), 0, NULL));
    assert_value(f->client, key, bytes("v"));
}

TEST(hash_cas_refuses_bad_arguments)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "h");
    hf_bytes huge = hf_view("x", (size_t)HF_VALUE_MAX + 1);

    expect_status(HF_INVALID, cas(f, key, NULL, bytes("2"), -1, NULL));
    expect_status(HF_INVALID,
                  cas(f, key, NULL, bytes("2"), HF_TTL_MAX_MS + 1, NULL));
    expect_status(HF_INVALID, cas(f, key, NULL, huge, 0, NULL));
    expect_status(HF_INVALID, hf_hash_cas(f->client, key, field, &huge,
                                          bytes("1"), NULL, NULL, ERR));
    expect_status(HF_INVALID, hf_hash_cas(f->client, key, bytes(""), NULL,
                                          bytes("1"), NULL, NULL, ERR));
    expect_status(HF_INVALID,
                  hf_hash_cas(f->client, key, hf_view("x", HF_NAME_MAX + 1),
                              NULL, bytes("1"), NULL, NULL, ERR));
    assert_no_key(f->client, key);
}

TEST(hash_cas_takes_each_call_for_itself)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "h}");
    hf_bytes old = bytes("1");
    hf_cas_options opts = HF_CAS_OPTIONS_INIT;
    hf_buffer current = HF_BUFFER_INIT;

    for (int i = 0; i < 4; i++) {
        opts.flags = i % 2 == 0 ? 0 : HF_CAS_ONCE;
        put_hash(f->client, key, words("f", "1"), 0);
        expect_status(HF_OK, hf_hash_cas(f->client, key, bytes("f"), &old,
                                         bytes("2"), &opts, &current, ERR));
        assert_field(f->other, key, bytes("f"), bytes("2"));
        expect_status(HF_CONFLICT,
                      hf_hash_cas(f->client, key, bytes("f"), &old, bytes("3"),
                                  &opts, &current, ERR));
        assert_buffer(&current, bytes("2"));
    }
}
