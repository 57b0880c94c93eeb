/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_test.c - hf_key_ttl() and hf_key_expire(), on keys of both types.
 */
#include "support/store_fixture.h"

/* One key of each type, both with ttl_ms (0: no expiry). */
static void make_both(fixture *f, hf_bytes keys[2], int64_t ttl_ms)
{
    keys[0] = fixture_key(f, "v");
    keys[1] = fixture_key(f, "h");
    put_value(f->client, keys[0], bytes("1"), ttl_ms);
    put_hash(f->client, keys[1], words("a", "1"), ttl_ms);
}

static void key_ttl_is_the_time_left_or_none(void **state)
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

static void key_expire_sets_the_time_to_live(void **state)
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

static void key_expire_of_one_ms_ends_the_key(void **state)
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

static void key_expire_minus_one_makes_the_key_stay(void **state)
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

static void key_calls_on_a_missing_key_are_not_found(void **state)
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

static void key_expire_refuses_times_outside_the_range(void **state)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        fixture_test(key_ttl_is_the_time_left_or_none),
        fixture_test(key_expire_sets_the_time_to_live),
        fixture_test(key_expire_of_one_ms_ends_the_key),
        fixture_test(key_expire_minus_one_makes_the_key_stay),
        fixture_test(key_calls_on_a_missing_key_are_not_found),
        fixture_test(key_expire_refuses_times_outside_the_range),
    };

    return fixture_run(tests);
}
