/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_test.c - expiry, type, name and list of keys of any type.
 */
#include "holdfast/key.h"
#include "holdfast/value.h"
#include "support/store_fixture.h"
#include "support/told.h"

FIXTURE_TESTS();

/* One key of each type, both with ttl_ms (0: no expiry). */
static void make_both(fixture *f, hf_bytes keys[2], int64_t ttl_ms)
{
    keys[0] = fixture_key(f, "v");
    keys[1] = fixture_key(f, "h");
    put_value(f->client, keys[0], bytes("1"), ttl_ms);
    put_hash(f->client, keys[1], words("a", "1"), ttl_ms);
}

TEST(key_ttl_is_the_time_left_or_none)
{
    fixture *f = *state;
    hf_bytes keys[2];

    make_both(f, keys, 0);
    assert_no_ttl(f->client, keys[0]);
    assert_no_ttl(f->client, keys[1]);
    make_both(f, keys, 60000);
    assert_ttl(f->other, keys[0], 60000);
    assert_ttl(f->other, keys[1], 60000);
}

TEST(key_expire_sets_the_time_to_live)
{
    fixture *f = *state;
    hf_bytes keys[2];

    make_both(f, keys, 0);
    for (size_t i = 0; i < 2; i++) {
        expect_status(HF_OK, hf_key_expire(f->client, keys[i], 60000, ERR));
        assert_ttl(f->client, keys[i], 60000);
        expect_status(HF_OK, hf_key_expire(f->client, keys[i], 30000, ERR));
        assert_ttl(f->client, keys[i], 30000);
        expect_status(HF_OK,
                      hf_key_expire(f->client, keys[i], HF_TTL_MAX_MS, ERR));
        assert_ttl(f->client, keys[i], HF_TTL_MAX_MS);
    }
    assert_value(f->client, keys[0], bytes("1"));
    assert_field(f->client, keys[1], bytes("a"), bytes("1"));
}

TEST(key_expire_of_one_ms_ends_the_key)
{
    fixture *f = *state;
    hf_bytes keys[2];

    make_both(f, keys, 60000);
    expect_status(HF_OK, hf_key_expire(f->client, keys[0], 1, ERR));
    expect_status(HF_OK, hf_key_expire(f->client, keys[1], 1, ERR));
    expect_soon(key_is_gone(f->client, keys[0]), 1000);
    expect_soon(key_is_gone(f->client, keys[1]), 1000);
    expect_status(HF_NOT_FOUND, hf_key_expire(f->client, keys[0], 1000, ERR));
}

TEST(key_expire_minus_one_makes_the_key_stay)
{
    fixture *f = *state;
    hf_bytes keys[2];

    make_both(f, keys, 60000);
    for (size_t i = 0; i < 2; i++) {
        expect_status(HF_OK, hf_key_expire(f->client, keys[i], -1, ERR));
        assert_no_ttl(f->client, keys[i]);
        expect_status(HF_OK, hf_key_expire(f->client, keys[i], -1, ERR));
        assert_no_ttl(f->client, keys[i]);
    }
}

TEST(key_calls_on_a_missing_key_are_not_found)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    int64_t ttl_ms = 77;

    expect_status(HF_NOT_FOUND, hf_key_ttl(f->client, key, &ttl_ms, ERR));
    assert_int_equal(ttl_ms, 77);
    expect_status(HF_NOT_FOUND, hf_key_expire(f->client, key, 1000, ERR));
    expect_status(HF_NOT_FOUND, hf_key_expire(f->client, key, -1, ERR));
    assert_no_key(f->client, key);
}

TEST(key_expire_refuses_times_outside_the_range)
{
    fixture *f = *state;
    hf_bytes keys[2];
    const int64_t bad_ms[] = {0, -2, INT64_MIN, HF_TTL_MAX_MS + 1, INT64_MAX};

    make_both(f, keys, 60000);
    for (size_t i = 0; i < sizeof(bad_ms) / sizeof(bad_ms[0]); i++) {
        expect_status(HF_INVALID,
                      hf_key_expire(f->client, keys[0], bad_ms[i], ERR));
    }
    assert_ttl(f->client, keys[0], 60000);
}

/* -------------------------------------------------------------------- type */

TEST(key_type_is_that_of_the_value)
{
    fixture *f = *state;
    hf_bytes keys[2];
    hf_buffer type = HF_BUFFER_INIT;

    make_both(f, keys, 0);
    expect_status(HF_OK, hf_key_type(f->client, keys[0], &type, ERR));
    assert_buffer(&type, bytes("string"));
    expect_told(HF_OK, f->client,
                hf_key_type_start(f->client, keys[1], &type, &async, ERR));
    assert_buffer(&type, bytes("hash"));
    expect_status(HF_NOT_FOUND,
                  hf_key_type(f->client, fixture_key(f, "none"), &type, ERR));
    assert_null(type.data);
    expect_status(HF_INVALID, hf_key_type(f->client, bytes(""), &type, ERR));
    expect_status(HF_INVALID, hf_key_type(f->client, keys[0], NULL, ERR));
}

/* ------------------------------------------------------------------ rename */

TEST(key_rename_keeps_value_and_expiry)
{
    fixture *f = *state;
    hf_bytes a = fixture_key(f, "{k}a"), b = fixture_key(f, "{k}b");

    put_hash(f->client, a, words("f", "1"), 60000);
    expect_status(HF_OK, hf_key_rename(f->client, a, b, 0, ERR));
    assert_no_key(f->client, a);
    assert_field(f->client, b, bytes("f"), bytes("1"));
    assert_ttl(f->client, b, 60000);
    put_value(f->client, a, bytes("v"), 0);
    expect_told(HF_OK, f->client,
                hf_key_rename_start(f->client, a, b, 0, &async, ERR));
    assert_value(f->client, b, bytes("v"));
    assert_no_ttl(f->client, b);
    expect_status(HF_OK, hf_key_rename(f->client, b, b, 0, ERR));
    assert_value(f->client, b, bytes("v"));
}

TEST(key_rename_nx_replaces_nothing)
{
    fixture *f = *state;
    hf_bytes a = fixture_key(f, "{k}a"), b = fixture_key(f, "{k}b");

    expect_status(HF_NOT_FOUND, hf_key_rename(f->client, a, b, 0, ERR));
    put_value(f->client, a, bytes("a"), 0);
    put_value(f->client, b, bytes("b"), 0);
    expect_status(HF_CONFLICT,
                  hf_key_rename(f->client, a, b, HF_RENAME_NX, ERR));
    expect_status(HF_CONFLICT,
                  hf_key_rename(f->client, a, a, HF_RENAME_NX, ERR));
    assert_value(f->client, a, bytes("a"));
    assert_value(f->client, b, bytes("b"));
    expect_status(HF_UNSUPPORTED, hf_key_rename(f->client, a, b, 2, ERR));
    expect_status(HF_INVALID, hf_key_rename(f->client, a, bytes(""), 0, ERR));
    expect_status(HF_OK, hf_value_delete(f->client, b, ERR));
    expect_status(HF_OK, hf_key_rename(f->client, a, b, HF_RENAME_NX, ERR));
    assert_value(f->client, b, bytes("a"));
}

/* ------------------------------------------------------------ copy, delete */

TEST(key_copy_keeps_value_and_expiry)
{
    fixture *f = *state;
    hf_bytes a = fixture_key(f, "{k}a"), b = fixture_key(f, "{k}b");

    expect_status(HF_NOT_FOUND, hf_key_copy(f->client, a, b, 0, ERR));
    put_hash(f->client, a, words("f", "1"), 60000);
    expect_status(HF_OK, hf_key_copy(f->client, a, b, 0, ERR));
    assert_field(f->client, a, bytes("f"), bytes("1"));
    assert_field(f->client, b, bytes("f"), bytes("1"));
    assert_ttl(f->client, b, 60000);
    put_value(f->client, a, bytes("v"), 0);
    expect_status(HF_CONFLICT, hf_key_copy(f->client, a, b, 0, ERR));
    assert_field(f->client, b, bytes("f"), bytes("1"));
    expect_told(
        HF_OK, f->client,
        hf_key_copy_start(f->client, a, b, HF_COPY_REPLACE, &async, ERR));
    assert_value(f->client, b, bytes("v"));
    assert_no_ttl(f->client, b);
    expect_status(HF_CONFLICT, hf_key_copy(f->client, a, a, 0, ERR));
    expect_status(HF_OK, hf_key_copy(f->client, a, a, HF_COPY_REPLACE, ERR));
    assert_value(f->client, a, bytes("v"));
    expect_status(HF_UNSUPPORTED, hf_key_copy(f->client, a, b, 2, ERR));
    expect_status(HF_INVALID, hf_key_copy(f->client, a, bytes(""), 0, ERR));
}

TEST(key_delete_takes_any_type)
{
    fixture *f = *state;
    hf_bytes keys[2];

    make_both(f, keys, 0);
    expect_status(HF_OK, hf_key_delete(f->client, keys[0], ERR));
    expect_told(HF_OK, f->client,
                hf_key_delete_start(f->client, keys[1], &async, ERR));
    for (size_t i = 0; i < 2; i++) {
        assert_no_key(f->other, keys[i]);
        expect_status(HF_NOT_FOUND, hf_key_delete(f->client, keys[i], ERR));
    }
}

/* ------------------------------------------------------------------ append */

TEST(append_creates_or_extends_a_value)
{
    fixture *f = *state;
    hf_bytes keys[2], none = fixture_key(f, "none");
    size_t size = 0;

    make_both(f, keys, 60000);
    expect_status(
        HF_OK, hf_value_append(f->client, keys[0], bytes("\0x"), &size, ERR));
    assert_int_equal(size, 3);
    assert_value(f->client, keys[0], bytes("1\0x"));
    assert_ttl(f->client, keys[0], 60000);
    expect_told(
        HF_OK, f->client,
        hf_value_append_start(f->client, none, bytes("a"), NULL, &async, ERR));
    assert_value(f->client, none, bytes("a"));
    assert_no_ttl(f->client, none);
    expect_status(HF_WRONG_TYPE,
                  hf_value_append(f->client, keys[1], bytes("a"), &size, ERR));
    expect_status(HF_INVALID, hf_value_append(f->client, bytes(""), bytes("a"),
                                              &size, ERR));
    assert_int_equal(size, 3);
}
