/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value_cas_test.c - hf_value_cas() and hf_value_delete_if(): compare, then
 * set or delete, in one step.
 */
#include <stdlib.h>
#include <string.h>

#include "holdfast/script.h"
#include "holdfast/value.h"
#include "support/store_fixture.h"

FIXTURE_TESTS();

static hf_status cas(fixture *f, hf_bytes key, const char *expected,
                     hf_bytes value, int64_t ttl_ms, hf_buffer *current)
{
    hf_cas_options opts = HF_CAS_OPTIONS_INIT;
    hf_bytes old = hf_str(expected);

    opts.ttl_ms = ttl_ms;
    return hf_value_cas(f->client, key, expected == NULL ? NULL : &old, value,
                        &opts, current, ERR);
}

TEST(value_cas_replaces_the_expected_value)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_buffer current = HF_BUFFER_INIT;

    put_value(f->client, key, bytes("1"), 0);
    expect_status(HF_OK, cas(f, key, "1", bytes("2"), 0, &current));
    assert_null(current.data);
    assert_value(f->other, key, bytes("2"));
    assert_no_ttl(f->client, key);
}

TEST(value_cas_returns_the_value_it_found)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_buffer current = HF_BUFFER_INIT;

    put_value(f->client, key, bytes("met"), 60000);
    expect_status(HF_CONFLICT, cas(f, key, "no", bytes("2"), 5000, &current));
    assert_buffer(&current, bytes("met"));
    expect_status(HF_CONFLICT, cas(f, key, "no", bytes("2"), 0, NULL));
    assert_value(f->client, key, bytes("met"));
    assert_ttl(f->client, key, 60000);
}

/* The script returns a number for "done" and bytes for the value it found:
 * values that look like its numbers must not be taken for them. */
TEST(value_cas_is_not_confused_by_values_0_and_1)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_buffer current = HF_BUFFER_INIT;

    put_value(f->client, key, bytes("1"), 0);
    expect_status(HF_CONFLICT, cas(f, key, "2", bytes("3"), 0, &current));
    assert_buffer(&current, bytes("1"));
    put_value(f->client, key, bytes("0"), 0);
    expect_status(HF_CONFLICT, cas(f, key, "2", bytes("3"), 0, &current));
    assert_buffer(&current, bytes("0"));
    put_value(f->client, key, bytes(""), 0);
    expect_status(HF_CONFLICT, cas(f, key, "2", bytes("3"), 0, &current));
    assert_buffer(&current, bytes(""));
    expect_status(HF_CONFLICT, hf_value_delete_if(f->client, key, bytes("1"),
                                                  &current, ERR));
    assert_buffer(&current, bytes(""));
}

TEST(value_cas_compares_bytes_not_numbers)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_bytes with_nul = bytes("a\0b");
    hf_bytes other_end = bytes("a\0c");

    put_value(f->client, key, bytes("10"), 0);
    expect_status(HF_CONFLICT, cas(f, key, "1e1", bytes("2"), 0, NULL));
    expect_status(HF_CONFLICT, cas(f, key, "1", bytes("2"), 0, NULL));
    put_value(f->client, key, with_nul, 0);
    expect_status(HF_CONFLICT, hf_value_cas(f->client, key, &other_end,
                                            bytes("2"), NULL, NULL, ERR));
    expect_status(HF_OK, hf_value_cas(f->client, key, &with_nul, bytes("2"),
                                      NULL, NULL, ERR));
    assert_value(f->client, key, bytes("2"));
}

TEST(value_cas_expecting_absence_creates_once)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_buffer current = HF_BUFFER_INIT;

    expect_status(HF_OK, cas(f, key, NULL, bytes("1"), 0, NULL));
    assert_no_ttl(f->client, key);
    expect_status(HF_CONFLICT, cas(f, key, NULL, bytes("2"), 0, &current));
    assert_buffer(&current, bytes("1"));
    assert_value(f->client, key, bytes("1"));
}

TEST(value_cas_absence_and_empty_value_differ)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_bytes empty = bytes("");

    expect_status(HF_NOT_FOUND, hf_value_cas(f->client, key, &empty, bytes("1"),
                                             NULL, NULL, ERR));
    assert_no_key(f->client, key);
    put_value(f->client, key, empty, 0);
    expect_status(HF_CONFLICT, cas(f, key, NULL, bytes("1"), 0, NULL));
    expect_status(HF_OK, cas(f, key, "", bytes("1"), 0, NULL));
    assert_value(f->client, key, bytes("1"));
}

TEST(value_cas_expecting_a_value_of_a_missing_key)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_buffer current = HF_BUFFER_INIT;

    expect_status(HF_NOT_FOUND, cas(f, key, "1", bytes("2"), 0, &current));
    assert_null(current.data);
    assert_no_key(f->client, key);
}

TEST(value_cas_keeps_the_time_to_live)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");

    put_value(f->client, key, bytes("1"), 60000);
    expect_status(HF_OK, cas(f, key, "1", bytes("2"), 0, NULL));
    assert_ttl(f->client, key, 60000);
    expect_status(HF_OK, hf_value_cas(f->client, key, &(hf_bytes){"2", 1},
                                      bytes("3"), NULL, NULL, ERR));
    assert_ttl(f->client, key, 60000);
}

TEST(value_cas_sets_the_time_to_live_asked_for)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");

    expect_status(HF_OK, cas(f, key, NULL, bytes("1"), 60000, NULL));
    assert_ttl(f->client, key, 60000);
    expect_status(HF_OK, cas(f, key, "1", bytes("2"), 30000, NULL));
    assert_ttl(f->client, key, 30000);
}

TEST(value_cas_sees_no_expired_value)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");

    put_value(f->client, key, bytes("1"), 20);
    expect_soon(key_is_gone(f->client, key), 1000);
    expect_status(HF_NOT_FOUND, cas(f, key, "1", bytes("2"), 0, NULL));
    expect_status(HF_OK, cas(f, key, NULL, bytes("2"), 0, NULL));
    assert_no_ttl(f->client, key);
}

TEST(value_cas_of_a_hash_is_wrong_type)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");

    put_hash(f->client, key, words("a", "1"), 0);
    expect_status(HF_WRONG_TYPE, cas(f, key, "1", bytes("2"), 0, NULL));
    expect_status(HF_WRONG_TYPE, cas(f, key, NULL, bytes("2"), 0, NULL));
    expect_status(HF_WRONG_TYPE,
                  hf_value_delete_if(f->client, key, bytes("1"), NULL, ERR));
    assert_field(f->client, key, bytes("a"), bytes("1"));
}

TEST(value_cas_refuses_bad_values_and_times)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_bytes huge = hf_view("x", (size_t)HF_VALUE_MAX + 1);

    expect_status(HF_INVALID, cas(f, key, NULL, bytes("2"), -1, NULL));
    expect_status(HF_INVALID,
                  cas(f, key, NULL, bytes("2"), HF_TTL_MAX_MS + 1, NULL));
    expect_status(HF_INVALID, cas(f, key, NULL, huge, 0, NULL));
    expect_status(HF_INVALID, hf_value_cas(f->client, key, &huge, bytes("2"),
                                           NULL, NULL, ERR));
    expect_status(HF_INVALID,
                  hf_value_delete_if(f->client, key, huge, NULL, ERR));
    assert_no_key(f->client, key);
}

TEST(value_delete_if_deletes_the_expected_value)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_bytes with_nul = bytes("a\0b");

    put_value(f->client, key, with_nul, 60000);
    expect_status(HF_CONFLICT,
                  hf_value_delete_if(f->client, key, bytes("a"), NULL, ERR));
    expect_status(HF_OK,
                  hf_value_delete_if(f->client, key, with_nul, NULL, ERR));
    assert_no_key(f->client, key);
}

TEST(value_delete_if_leaves_another_value)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_buffer current = HF_BUFFER_INIT;

    put_value(f->client, key, bytes("1"), 60000);
    expect_status(HF_CONFLICT, hf_value_delete_if(f->client, key, bytes("2"),
                                                  &current, ERR));
    assert_buffer(&current, bytes("1"));
    assert_value(f->client, key, bytes("1"));
    assert_ttl(f->client, key, 60000);
}

TEST(value_delete_if_of_a_missing_key_is_not_found)
{
    fixture *f = *state;
    hf_buffer current = HF_BUFFER_INIT;

    expect_status(HF_NOT_FOUND,
                  hf_value_delete_if(f->client, fixture_key(f, "k"), bytes("1"),
                                     &current, ERR));
    assert_null(current.data);
}

/* The dedup record of one call does not affect other calls, whatever the key.
 */
TEST(value_cas_takes_each_call_for_itself)
{
    static const char *const names[] = {"k", "}", "{", "a}b{", "{tag}k"};
    fixture *f = *state;
    hf_bytes old = bytes("1");
    hf_cas_options opts = HF_CAS_OPTIONS_INIT;
    hf_buffer current = HF_BUFFER_INIT;

    opts.ttl_ms = 60000;
    for (size_t i = 0; i < 4 * sizeof(names) / sizeof(names[0]); i++) {
        hf_bytes key = fixture_key(f, names[i / 4]);

        opts.flags = i % 2 == 0 ? 0 : HF_CAS_ONCE;
        put_value(f->client, key, old, 0);
        expect_status(HF_OK, hf_value_cas(f->client, key, &old, bytes("2"),
                                          &opts, &current, ERR));
        assert_value(f->other, key, bytes("2"));
        assert_ttl(f->client, key, 60000);
        expect_status(HF_CONFLICT,
                      hf_value_cas(f->client, key, &old, bytes("3"), &opts,
                                   &current, ERR));
        assert_buffer(&current, bytes("2"));
        expect_status(
            HF_OK, hf_value_delete_if(f->client, key, bytes("2"), NULL, ERR));
        expect_status(HF_NOT_FOUND, hf_value_cas(f->client, key, &old,
                                                 bytes("2"), &opts, NULL, ERR));
    }
}

TEST(value_cas_refuses_unknown_flags)
{
    fixture *f = *state;
    hf_cas_options opts = HF_CAS_OPTIONS_INIT;

    for (unsigned bit = 1; bit < 32; bit++) {
        opts.flags = 1u << bit;
        expect_status(HF_UNSUPPORTED,
                      hf_value_cas(f->client, fixture_key(f, "k"), NULL,
                                   bytes("3"), &opts, NULL, ERR));
    }
    assert_no_key(f->client, fixture_key(f, "k"));
}

/* --------------------------------------------------------------- versions */

/* Read it; the version is valid until the next call. */
static hf_bytes version_of(fixture *f, hf_bytes key)
{
    static char text[HF_VALUE_VERSION_SIZE];
    hf_buffer value = HF_BUFFER_INIT;
    hf_buffer version = HF_BUFFER_INIT;

    expect_status(HF_OK,
                  hf_value_get_versioned(f->other, key, &value, &version, ERR));
    assert_int_equal(version.size, sizeof(text));
    memcpy(text, version.data, sizeof(text));
    hf_buffer_free(&value);
    hf_buffer_free(&version);
    return hf_view(text, sizeof(text));
}

static hf_status cas_version(fixture *f, hf_bytes key, hf_bytes expected,
                             hf_bytes value, hf_buffer *version)
{
    return hf_value_cas_versioned(f->client, key, &expected, value, NULL,
                                  version, ERR);
}

TEST(value_versions_follow_each_write)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_buffer version = HF_BUFFER_INIT;
    hf_buffer next = HF_BUFFER_INIT;

    expect_status(HF_OK,
                  hf_value_cas_versioned(f->client, key, NULL, bytes("1"), NULL,
                                         &version, ERR));
    for (const char *each = "23456"; *each != '\0'; each++) {
        hf_bytes current = hf_view(version.data, version.size);

        assert_bytes(current, version_of(f, key));
        expect_status(HF_OK,
                      cas_version(f, key, current, hf_view(each, 1), &next));
        assert_value(f->other, key, hf_view(each, 1));
        hf_buffer_free(&version);
        version = next;
    }
    hf_buffer_free(&version);
}

TEST(value_cas_versioned_returns_the_current_version)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_buffer version = HF_BUFFER_INIT;
    hf_bytes seen;

    put_value(f->client, key, bytes("1"), 60000);
    expect_status(HF_CONFLICT,
                  hf_value_cas_versioned(f->client, key, NULL, bytes("2"), NULL,
                                         &version, ERR));
    assert_buffer(&version, version_of(f, key));
    seen = version_of(f, key);
    put_value(f->other, key, bytes("3"), 60000);
    expect_status(HF_CONFLICT, cas_version(f, key, seen, bytes("2"), &version));
    assert_buffer(&version, version_of(f, key));
    expect_status(HF_CONFLICT,
                  hf_value_delete_versioned(
                      f->client, key,
                      hf_str("356a192b7913b04c54574d18c28d46e6395428ab"),
                      &version, ERR));
    assert_buffer(&version, version_of(f, key));
    assert_value(f->client, key, bytes("3"));
    assert_ttl(f->client, key, 60000);
}

/* Every way to write, by clients that know nothing of versions. */
TEST(value_version_changes_with_any_write_of_other_bytes)
{
    static const char *const writes[] = {
        "return redis.call('set', KEYS[1], '5')",
        "return redis.call('incrby', KEYS[1], 1)",
        /* Not under least rights. */
        "return redis.call('append', KEYS[1], 'x')",
        "return redis.call('setrange', KEYS[1], 1, 'y')",
        "return redis.call('setbit', KEYS[1], 0, 1)",
    };
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    size_t count = f->rights == FIXTURE_RIGHTS_ALL ? 5 : 2;

    put_value(f->client, key, bytes("1"), 0);
    for (size_t i = 0; i < count; i++) {
        hf_script *script = fixture_script(f, f->other, writes[i]);
        hf_bytes seen = version_of(f, key);
        hf_reply *reply = NULL;

        expect_status(HF_OK,
                      hf_script_run(script, &key, 1, NULL, 0, &reply, ERR));
        hf_reply_free(reply);
        expect_status(HF_CONFLICT, cas_version(f, key, seen, bytes("2"), NULL));
        expect_status(HF_CONFLICT, hf_value_delete_versioned(f->client, key,
                                                             seen, NULL, ERR));
    }
}

TEST(value_of_one_mebibyte_has_a_version)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    size_t size = (size_t)1 << 20;
    char *data = calloc(1, size);
    hf_bytes seen;

    assert_non_null(data);
    put_value(f->client, key, hf_view(data, size), 60000);
    seen = version_of(f, key);
    data[size / 2] = 1;
    put_value(f->other, key, hf_view(data, size), 60000);
    expect_status(HF_CONFLICT, cas_version(f, key, seen, bytes("2"), NULL));
    seen = version_of(f, key);
    expect_status(HF_OK, cas_version(f, key, seen, bytes("2"), NULL));
    assert_ttl(f->client, key, 60000);
    free(data);
}

TEST(value_delete_versioned_deletes_the_expected_version)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_bytes seen;

    put_value(f->client, key, bytes("a\0b"), 0);
    seen = version_of(f, key);
    expect_status(HF_OK,
                  hf_value_delete_versioned(f->client, key, seen, NULL, ERR));
    assert_no_key(f->client, key);
    expect_status(HF_NOT_FOUND,
                  hf_value_delete_versioned(f->client, key, seen, NULL, ERR));
    expect_status(HF_NOT_FOUND, cas_version(f, key, seen, bytes("2"), NULL));
    assert_no_key(f->client, key);
}

TEST(value_versioned_refuses_bad_input)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_bytes hash = fixture_key(f, "hash");
    hf_buffer value = HF_BUFFER_INIT;
    hf_buffer version = HF_BUFFER_INIT;
    hf_bytes any = hf_str("0123456789012345678901234567890123456789");

    put_hash(f->client, hash, words("a", "1"), 0);
    expect_status(HF_WRONG_TYPE, hf_value_get_versioned(f->client, hash, &value,
                                                        &version, ERR));
    expect_status(HF_WRONG_TYPE, cas_version(f, hash, any, bytes("2"), NULL));
    expect_status(HF_WRONG_TYPE,
                  hf_value_delete_versioned(f->client, hash, any, NULL, ERR));
    expect_status(HF_NOT_FOUND, hf_value_get_versioned(f->client, key, &value,
                                                       &version, ERR));
    expect_status(HF_INVALID,
                  cas_version(f, key, bytes("1"), bytes("2"), NULL));
    assert_non_null(strstr(expect_message(), "version is 1 bytes"));
    expect_status(HF_INVALID, hf_value_delete_versioned(f->client, key,
                                                        bytes(""), NULL, ERR));
    expect_status(HF_INVALID,
                  cas_version(f, key, hf_view(NULL, 40), bytes("2"), NULL));
    expect_status(HF_INVALID,
                  cas_version(f, key, any, hf_view(NULL, 1), &version));
    expect_status(HF_INVALID,
                  hf_value_get_versioned(f->client, key, &value, NULL, ERR));
    assert_null(value.data);
    assert_null(version.data);
}
