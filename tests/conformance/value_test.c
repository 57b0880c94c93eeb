/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value_test.c - hf_value_set() with all its options, hf_value_get() and
 * hf_value_delete().
 */
#include <stdlib.h>

#include "holdfast/value.h"
#include "support/store_fixture.h"

FIXTURE_TESTS();

/* Set with flags and a time to live; all may be 0. */
static hf_status set(fixture *f, hf_bytes key, hf_bytes value, uint32_t flags,
                     int64_t ttl_ms, hf_buffer *previous)
{
    hf_value_set_options opts = HF_VALUE_SET_OPTIONS_INIT;

    opts.flags = flags;
    opts.ttl_ms = ttl_ms;
    return hf_value_set(f->client, key, value, &opts, previous, ERR);
}

static hf_status set_until(fixture *f, hf_bytes key, hf_bytes value,
                           uint32_t flags, int64_t expires_unix_ms,
                           hf_buffer *previous)
{
    hf_value_set_options opts = HF_VALUE_SET_OPTIONS_INIT;

    opts.flags = flags;
    opts.expires_unix_ms = expires_unix_ms;
    return hf_value_set(f->client, key, value, &opts, previous, ERR);
}

TEST(value_set_is_seen_by_another_client)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");

    expect_status(HF_OK,
                  hf_value_set(f->client, key, bytes("v"), NULL, NULL, ERR));
    assert_value(f->other, key, bytes("v"));
    assert_no_ttl(f->other, key);
}

TEST(value_get_of_a_missing_key_is_not_found)
{
    fixture *f = *state;
    hf_buffer value = HF_BUFFER_INIT;

    expect_status(HF_NOT_FOUND,
                  hf_value_get(f->client, fixture_key(f, "k"), &value, ERR));
    assert_null(value.data);
}

TEST(value_without_options_replaces_value_and_expiry)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");

    put_value(f->client, key, bytes("old"), 60000);
    expect_status(HF_OK,
                  hf_value_set(f->client, key, bytes("new"), NULL, NULL, ERR));
    assert_value(f->client, key, bytes("new"));
    assert_no_ttl(f->client, key);
}

TEST(value_set_replaces_a_hash)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");

    put_hash(f->client, key, words("a", "1"), 0);
    expect_status(HF_OK,
                  hf_value_set(f->client, key, bytes("v"), NULL, NULL, ERR));
    assert_value(f->client, key, bytes("v"));
}

TEST(value_and_key_are_binary_safe)
{
    fixture *f = *state;
    hf_bytes with_nul = bytes("bin\0a\r\n\xff");
    hf_bytes same_until_nul = bytes("bin\0b\r\n\xff");
    hf_bytes value = bytes("\0\r\n$5\r\n\xfe\0");

    put_value(f->client, with_nul, value, 0);
    assert_value(f->client, with_nul, value);
    assert_no_key(f->client, same_until_nul);
    expect_status(HF_OK, hf_value_delete(f->client, with_nul, ERR));
}

TEST(value_may_be_empty)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");

    expect_status(HF_OK, set(f, key, hf_view(NULL, 0), 0, 0, NULL));
    assert_value(f->client, key, bytes(""));
}

TEST(value_of_one_mebibyte_comes_back_whole)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    size_t size = (size_t)1 << 20;
    unsigned char *data = malloc(size);

    assert_non_null(data);
    for (size_t i = 0; i < size; i++) {
        data[i] = (unsigned char)(i * 31 >> 3);
    }
    put_value(f->client, key, hf_view(data, size), 0);
    assert_value(f->other, key, hf_view(data, size));
    expect_status(HF_OK, hf_value_delete(f->client, key, ERR));
    free(data);
}

TEST(value_longer_than_the_limit_is_invalid)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_bytes huge = hf_view("x", (size_t)HF_VALUE_MAX + 1);

    expect_status(HF_INVALID, set(f, key, huge, 0, 0, NULL));
    assert_no_key(f->client, key);
}

TEST(value_set_nx_creates_once)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");

    expect_status(HF_OK, set(f, key, bytes("1"), HF_SET_NX, 60000, NULL));
    expect_status(HF_CONFLICT, set(f, key, bytes("2"), HF_SET_NX, 0, NULL));
    expect_status(HF_CONFLICT, set(f, key, bytes("2"), HF_SET_NX, 5000, NULL));
    assert_value(f->client, key, bytes("1"));
    assert_ttl(f->client, key, 60000);
}

TEST(value_set_nx_is_refused_by_a_hash)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");

    put_hash(f->client, key, words("a", "1"), 60000);
    expect_status(HF_CONFLICT, set(f, key, bytes("2"), HF_SET_NX, 0, NULL));
    assert_field(f->client, key, bytes("a"), bytes("1"));
    assert_ttl(f->client, key, 60000);
}

TEST(value_set_nx_succeeds_after_expiry)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");

    put_value(f->client, key, bytes("1"), 20);
    expect_soon(set(f, key, bytes("2"), HF_SET_NX, 0, NULL) == HF_OK, 1000);
    assert_value(f->client, key, bytes("2"));
    assert_no_ttl(f->client, key);
}

TEST(value_set_xx_needs_the_key)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");

    expect_status(HF_NOT_FOUND, set(f, key, bytes("1"), HF_SET_XX, 0, NULL));
    assert_no_key(f->client, key);
    put_value(f->client, key, bytes("1"), 60000);
    expect_status(HF_OK, set(f, key, bytes("2"), HF_SET_XX, 30000, NULL));
    assert_value(f->client, key, bytes("2"));
    assert_ttl(f->client, key, 30000);
}

TEST(value_set_get_returns_the_previous_value)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_buffer previous = HF_BUFFER_INIT;

    expect_status(HF_OK, set(f, key, bytes("1"), HF_SET_GET, 0, &previous));
    assert_null(previous.data);
    expect_status(HF_OK, set(f, key, bytes(""), HF_SET_GET, 0, &previous));
    assert_buffer(&previous, bytes("1"));
    expect_status(HF_OK, set(f, key, bytes("3"), HF_SET_GET, 50, &previous));
    assert_buffer(&previous, bytes(""));
    expect_status(HF_OK, set(f, key, bytes("4"), HF_SET_GET, 0, NULL));
    assert_value(f->client, key, bytes("4"));
}

TEST(value_set_nx_get_shows_what_refused_it)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    uint32_t flags = HF_SET_NX | HF_SET_GET;
    hf_buffer previous = HF_BUFFER_INIT;

    expect_status(HF_OK, set(f, key, bytes("1"), flags, 60000, &previous));
    assert_null(previous.data);
    expect_status(HF_CONFLICT, set(f, key, bytes("2"), flags, 5000, &previous));
    assert_buffer(&previous, bytes("1"));
    assert_value(f->client, key, bytes("1"));
    assert_ttl(f->client, key, 60000);
}

TEST(value_set_xx_get_on_a_missing_key_has_no_previous)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    uint32_t flags = HF_SET_XX | HF_SET_GET;
    hf_buffer previous = HF_BUFFER_INIT;

    expect_status(HF_NOT_FOUND, set(f, key, bytes("1"), flags, 0, &previous));
    assert_null(previous.data);
    assert_no_key(f->client, key);
    put_value(f->client, key, bytes("1"), 0);
    expect_status(HF_OK, set(f, key, bytes("2"), flags, 60000, &previous));
    assert_buffer(&previous, bytes("1"));
    assert_ttl(f->client, key, 60000);
}

TEST(value_set_get_of_a_hash_is_wrong_type)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");

    put_hash(f->client, key, words("a", "1"), 60000);
    expect_status(HF_WRONG_TYPE, set(f, key, bytes("2"), HF_SET_GET, 0, NULL));
    expect_status(HF_WRONG_TYPE,
                  set(f, key, bytes("2"), HF_SET_GET | HF_SET_NX, 0, NULL));
    assert_field(f->client, key, bytes("a"), bytes("1"));
    assert_ttl(f->client, key, 60000);
}

TEST(value_set_keepttl_keeps_the_time_to_live)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");

    put_value(f->client, key, bytes("1"), 60000);
    expect_status(HF_OK, set(f, key, bytes("2"), HF_SET_KEEPTTL, 0, NULL));
    assert_value(f->client, key, bytes("2"));
    assert_ttl(f->client, key, 60000);
    put_value(f->client, key, bytes("3"), 0);
    expect_status(HF_OK, set(f, key, bytes("4"), HF_SET_KEEPTTL, 0, NULL));
    assert_no_ttl(f->client, key);
}

TEST(value_set_keepttl_creates_a_key_that_stays)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");

    expect_status(HF_OK, set(f, key, bytes("1"), HF_SET_KEEPTTL, 0, NULL));
    assert_no_ttl(f->client, key);
}

TEST(value_set_keepttl_does_not_revive_an_expired_ttl)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");

    put_value(f->client, key, bytes("1"), 20);
    expect_soon(key_is_gone(f->client, key), 1000);
    expect_status(HF_OK, set(f, key, bytes("2"), HF_SET_KEEPTTL, 0, NULL));
    assert_value(f->client, key, bytes("2"));
    assert_no_ttl(f->client, key);
}

TEST(value_set_xx_keepttl_get_combine)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    uint32_t flags = HF_SET_XX | HF_SET_KEEPTTL | HF_SET_GET;
    hf_buffer previous = HF_BUFFER_INIT;

    put_value(f->client, key, bytes("1"), 60000);
    expect_status(HF_OK, set(f, key, bytes("2"), flags, 0, &previous));
    assert_buffer(&previous, bytes("1"));
    assert_value(f->client, key, bytes("2"));
    assert_ttl(f->client, key, 60000);
}

TEST(value_with_ttl_goes_away_on_time)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    int64_t began_ms = test_now_ms();

    put_value(f->client, key, bytes("1"), 60);
    expect_soon(key_is_gone(f->other, key), 1000);
    assert_true(test_now_ms() - began_ms >= 59);
    /* There, each client is behind the store's clock, by 100 ms at most. */
    if (f->store == FIXTURE_POSTGRES)
        expect_soon(key_is_gone(f->client, key), 200);
    expect_status(HF_NOT_FOUND,
                  hf_value_get(f->client, key, &(hf_buffer){0}, ERR));
    expect_status(HF_NOT_FOUND, hf_value_delete(f->client, key, ERR));
}

TEST(value_ttl_may_be_the_longest)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");

    put_value(f->client, key, bytes("1"), HF_TTL_MAX_MS);
    assert_ttl(f->client, key, HF_TTL_MAX_MS);
}

TEST(value_expires_at_a_wall_clock_instant)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");

    expect_status(
        HF_OK, set_until(f, key, bytes("1"), 0, test_unix_ms() + 60000, NULL));
    assert_ttl(f->client, key, 60001);
    expect_status(HF_OK,
                  set_until(f, key, bytes("2"), 0, test_unix_ms() + 40, NULL));
    expect_soon(key_is_gone(f->client, key), 1000);
    expect_status(HF_OK, set_until(f, key, bytes("3"), 0,
                                   INT64_C(253402300799999), NULL));
    assert_value(f->client, key, bytes("3"));
}

TEST(value_expiring_in_the_past_deletes_the_key)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_buffer previous = HF_BUFFER_INIT;

    put_value(f->client, key, bytes("1"), 0);
    expect_status(HF_OK,
                  set_until(f, key, bytes("2"), HF_SET_GET, 1, &previous));
    assert_buffer(&previous, bytes("1"));
    assert_no_key(f->client, key);
    expect_status(HF_OK, set_until(f, key, bytes("2"), 0, 1, NULL));
    assert_no_key(f->client, key);
}

TEST(value_refused_call_with_a_past_expiry_deletes_nothing)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");

    put_value(f->client, key, bytes("1"), 0);
    expect_status(HF_CONFLICT,
                  set_until(f, key, bytes("2"), HF_SET_NX, 1, NULL));
    assert_value(f->client, key, bytes("1"));
}

TEST(value_options_that_exclude_each_other_are_invalid)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_value_set_options both = HF_VALUE_SET_OPTIONS_INIT;

    expect_status(HF_INVALID,
                  set(f, key, bytes("1"), HF_SET_NX | HF_SET_XX, 0, NULL));
    expect_status(HF_INVALID,
                  set(f, key, bytes("1"), HF_SET_KEEPTTL, 1000, NULL));
    expect_status(HF_INVALID,
                  set_until(f, key, bytes("1"), HF_SET_KEEPTTL, 1000, NULL));
    both.ttl_ms = 1000;
    both.expires_unix_ms = test_unix_ms() + 1000;
    expect_status(HF_INVALID,
                  hf_value_set(f->client, key, bytes("1"), &both, NULL, ERR));
    assert_no_key(f->client, key);
}

TEST(value_times_outside_the_range_are_invalid)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");

    expect_status(HF_INVALID, set(f, key, bytes("1"), 0, -1, NULL));
    expect_status(HF_INVALID, set(f, key, bytes("1"), 0, INT64_MIN, NULL));
    expect_status(HF_INVALID,
                  set(f, key, bytes("1"), 0, HF_TTL_MAX_MS + 1, NULL));
    expect_status(HF_INVALID, set_until(f, key, bytes("1"), 0, -1, NULL));
    expect_status(HF_INVALID, set_until(f, key, bytes("1"), 0,
                                        INT64_C(253402300800000), NULL));
    assert_no_key(f->client, key);
}

TEST(value_get_and_delete_of_a_hash_are_wrong_type)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_buffer value = HF_BUFFER_INIT;

    put_hash(f->client, key, words("a", "1"), 0);
    expect_status(HF_WRONG_TYPE, hf_value_get(f->client, key, &value, ERR));
    assert_null(value.data);
    expect_status(HF_WRONG_TYPE, hf_value_delete(f->client, key, ERR));
    assert_field(f->client, key, bytes("a"), bytes("1"));
}

TEST(value_delete_removes_once)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");

    put_value(f->client, key, bytes("1"), 0);
    expect_status(HF_OK, hf_value_delete(f->client, key, ERR));
    expect_status(HF_NOT_FOUND, hf_value_delete(f->client, key, ERR));
    assert_no_key(f->other, key);
}

TEST(buffer_free_resets_and_allows_null)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_buffer value = HF_BUFFER_INIT;

    put_value(f->client, key, bytes("1"), 0);
    expect_status(HF_OK, hf_value_get(f->client, key, &value, ERR));
    hf_buffer_free(&value);
    assert_null(value.data);
    assert_int_equal(value.size, 0);
    hf_buffer_free(&value);
    hf_buffer_free(NULL);
}
