/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value_expire_test.c - hf_value_get_expire() and hf_value_expire_if(): the
 * expiry of a value, with what it holds.
 */
#include "holdfast/value.h"
#include "support/store_fixture.h"

FIXTURE_TESTS();

static hf_status get_expire(fixture *f, hf_bytes key, uint32_t flags,
                            int64_t ttl_ms, int64_t expires_unix_ms,
                            hf_buffer *value)
{
    hf_value_expire_options opts = HF_VALUE_EXPIRE_OPTIONS_INIT;

    opts.flags = flags;
    opts.ttl_ms = ttl_ms;
    opts.expires_unix_ms = expires_unix_ms;
    return hf_value_get_expire(f->client, key, &opts, value, ERR);
}

static hf_status expire_if(fixture *f, hf_bytes key, hf_bytes expected,
                           uint32_t flags, int64_t ttl_ms,
                           int64_t expires_unix_ms, hf_buffer *current)
{
    hf_value_expire_options opts = HF_VALUE_EXPIRE_OPTIONS_INIT;

    opts.flags = flags;
    opts.ttl_ms = ttl_ms;
    opts.expires_unix_ms = expires_unix_ms;
    return hf_value_expire_if(f->client, key, expected, &opts, current, ERR);
}

TEST(value_get_expire_sets_replaces_and_removes_a_ttl)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_buffer value = HF_BUFFER_INIT;

    put_value(f->client, key, bytes("a\0b"), 0);
    expect_status(HF_OK, get_expire(f, key, 0, 60000, 0, &value));
    assert_buffer(&value, bytes("a\0b"));
    assert_ttl(f->client, key, 60000);
    expect_status(HF_OK,
                  get_expire(f, key, 0, 0, test_unix_ms() + 30000, &value));
    assert_buffer(&value, bytes("a\0b"));
    assert_ttl(f->client, key, 30001);
    expect_status(HF_OK, get_expire(f, key, HF_EXPIRE_PERSIST, 0, 0, &value));
    assert_buffer(&value, bytes("a\0b"));
    assert_no_ttl(f->client, key);
}

TEST(value_get_expire_in_the_past_takes_the_value)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_buffer value = HF_BUFFER_INIT;

    put_value(f->client, key, bytes("1"), 0);
    expect_status(HF_OK, get_expire(f, key, 0, 0, 1, &value));
    assert_buffer(&value, bytes("1"));
    assert_no_key(f->client, key);
    expect_status(HF_NOT_FOUND, get_expire(f, key, 0, 1000, 0, &value));
    assert_null(value.data);
}

TEST(value_get_expire_of_a_hash_is_wrong_type)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_buffer value = HF_BUFFER_INIT;

    put_hash(f->client, key, words("a", "1"), 60000);
    expect_status(HF_WRONG_TYPE,
                  get_expire(f, key, HF_EXPIRE_PERSIST, 0, 0, &value));
    assert_null(value.data);
    assert_ttl(f->client, key, 60000);
}

TEST(value_expire_if_needs_the_expected_value)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_bytes one = bytes("1");
    hf_buffer current = HF_BUFFER_INIT;

    expect_status(HF_NOT_FOUND, expire_if(f, key, one, 0, 1000, 0, &current));
    put_value(f->client, key, one, 60000);
    expect_status(HF_CONFLICT,
                  expire_if(f, key, bytes("2"), 0, 1000, 0, &current));
    assert_buffer(&current, one);
    expect_status(HF_CONFLICT, expire_if(f, key, bytes("01"), HF_EXPIRE_PERSIST,
                                         0, 0, NULL));
    assert_ttl(f->client, key, 60000);
    expect_status(HF_OK, expire_if(f, key, one, 0, 30000, 0, &current));
    assert_ttl(f->client, key, 30000);
    expect_status(HF_OK, expire_if(f, key, one, HF_EXPIRE_PERSIST, 0, 0, NULL));
    assert_no_ttl(f->client, key);
    expect_status(
        HF_OK, expire_if(f, key, one, 0, 0, test_unix_ms() + 20000, &current));
    assert_ttl(f->client, key, 20001);
    expect_status(HF_OK, expire_if(f, key, one, 0, 0, 1, &current));
    assert_no_key(f->client, key);
    assert_null(current.data);
}

TEST(value_expire_if_of_a_hash_is_wrong_type)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");

    put_hash(f->client, key, words("a", "1"), 60000);
    expect_status(HF_WRONG_TYPE,
                  expire_if(f, key, bytes("1"), 0, 1000, 0, NULL));
    assert_ttl(f->client, key, 60000);
}

/* The same options: all wrong ones are refused by both, with the name of what
 * is wrong, and change nothing. */
TEST(value_expiries_that_are_none_are_invalid)
{
    static const struct {
        uint32_t flags;
        int64_t ttl_ms;
        int64_t expires_unix_ms;
        const char *culprit;
    } bad[] = {
        {0, 0, 0, "must be given"},
        {0, -1, 0, "ttl_ms is -1 ms"},
        {0, HF_TTL_MAX_MS + 1, 0, "ttl_ms"},
        {0, INT64_MIN, 0, "ttl_ms"},
        {0, 0, -1, "expires_unix_ms is -1"},
        {0, 0, INT64_C(253402300800000), "expires_unix_ms"},
        {0, 1, 1, "exclude each other"},
        {HF_EXPIRE_PERSIST, 1, 0, "exclude each other"},
        {HF_EXPIRE_PERSIST, 0, 1, "exclude each other"},
    };
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_buffer value = HF_BUFFER_INIT;

    put_value(f->client, key, bytes("1"), 60000);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        expect_status(HF_INVALID,
                      get_expire(f, key, bad[i].flags, bad[i].ttl_ms,
                                 bad[i].expires_unix_ms, &value));
        assert_non_null(strstr(expect_message(), bad[i].culprit));
        expect_status(HF_INVALID,
                      expire_if(f, key, bytes("1"), bad[i].flags, bad[i].ttl_ms,
                                bad[i].expires_unix_ms, &value));
        assert_non_null(strstr(expect_message(), bad[i].culprit));
    }
    expect_status(HF_UNSUPPORTED, get_expire(f, key, 2, 1, 0, &value));
    expect_status(HF_INVALID,
                  hf_value_get_expire(f->client, key, NULL, &value, ERR));
    expect_status(HF_INVALID, get_expire(f, bytes(""), 0, 1, 0, &value));
    expect_status(HF_INVALID, get_expire(f, key, 0, 1, 0, NULL));
    assert_null(value.data);
    assert_ttl(f->client, key, 60000);
}
