/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fenced_test.c - hf_value_put_fenced() and hf_hash_put_fenced(): a write with
 * a lower fencing token than an earlier one is refused.
 */
#include <stdio.h>
#include <string.h>

#include "holdfast/hash.h"
#include "holdfast/lock.h"
#include "holdfast/txn.h"
#include "holdfast/value.h"
#include "support/store_fixture.h"

FIXTURE_TESTS();

#define TOKEN_MAX ((UINT64_C(1) << 53) - 1)

static hf_status put(fixture *f, hf_bytes key, const char *text, uint64_t token,
                     uint64_t *highest)
{
    return hf_value_put_fenced(f->client, key, hf_str(text), token, NULL,
                               highest, ERR);
}

static hf_status put_fields(fixture *f, hf_bytes key, const char *text,
                            uint64_t token, const hf_hash_put_options *opts,
                            uint64_t *highest)
{
    hf_field fields[] = {{hf_str("a"), hf_str(text)},
                         {hf_str("b"), hf_str(text)}};

    return hf_hash_put_fenced(f->client, key, fields, 2, token, opts, highest,
                              ERR);
}

/* The name of the key's fence, in `text`. */
static hf_bytes fence_of(hf_bytes key, char *text, size_t size)
{
    bool tagged = memchr(key.data, '{', key.size) != NULL;
    int end =
        snprintf(text, size, tagged ? "hf:fence::%.*s" : "hf:fence:{%.*s}",
                 (int)key.size, (const char *)key.data);

    return hf_view(text, (size_t)end);
}

TEST(fenced_value_refuses_a_lower_token)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    uint64_t highest = 0;

    expect_status(HF_OK, put(f, key, "5", 5, &highest));
    expect_status(HF_OK, put(f, key, "5 again", 5, NULL));
    expect_status(HF_OK, put(f, key, "9", 9, &highest));
    assert_int_equal(highest, 0);
    expect_status(HF_CONFLICT, put(f, key, "8", 8, &highest));
    assert_int_equal(highest, 9);
    expect_status(HF_CONFLICT, put(f, key, "1", 1, NULL));
    assert_value(f->other, key, bytes("9"));
    expect_status(HF_OK, put(f, key, "max", TOKEN_MAX, NULL));
    expect_status(HF_CONFLICT, put(f, key, "less", TOKEN_MAX - 1, &highest));
    assert_true(highest == TOKEN_MAX);
    assert_value(f->other, key, bytes("max"));
}

TEST(fenced_hash_refuses_a_lower_token)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_hash_put_options opts = HF_HASH_PUT_OPTIONS_INIT;
    uint64_t highest = 0;

    put_hash(f->client, key, words("c", "old"), 0);
    opts.ttl_ms = 60000;
    expect_status(HF_OK, put_fields(f, key, "5", 5, &opts, NULL));
    assert_field(f->other, key, bytes("c"), bytes("old"));
    assert_ttl(f->client, key, 60000);
    opts.flags = HF_HASH_REPLACE;
    opts.ttl_ms = 1;
    expect_status(HF_CONFLICT, put_fields(f, key, "4", 4, &opts, &highest));
    assert_int_equal(highest, 5);
    assert_field(f->other, key, bytes("a"), bytes("5"));
    assert_field(f->other, key, bytes("c"), bytes("old"));
    assert_ttl(f->client, key, 60000);
    opts.ttl_ms = 0;
    opts.flags |= HF_HASH_PERSIST;
    expect_status(HF_OK, put_fields(f, key, "6", 6, &opts, NULL));
    assert_field(f->other, key, bytes("b"), bytes("6"));
    expect_status(HF_NOT_FOUND, hf_hash_get(f->client, key, bytes("c"),
                                            &(hf_buffer){0}, ERR));
    assert_no_ttl(f->client, key);
}

/* Also what is deleted, or written by the other of the two, or by no fenced
 * write. */
TEST(fence_outlives_the_key)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    char text[256];
    hf_bytes fence = fence_of(key, text, sizeof(text));

    expect_status(HF_OK, put(f, key, "7", 7, NULL));
    assert_ttl(f->client, fence, INT64_C(7) * 24 * 3600 * 1000);
    expect_status(HF_OK, hf_value_delete(f->client, key, ERR));
    expect_status(HF_CONFLICT, put(f, key, "6", 6, NULL));
    expect_status(HF_CONFLICT, put_fields(f, key, "6", 6, NULL, NULL));
    assert_no_key(f->client, key);
    put_value(f->client, key, bytes("plain"), 0);
    expect_status(HF_CONFLICT, put(f, key, "6", 6, NULL));
    assert_value(f->client, key, bytes("plain"));
    expect_status(HF_OK, put(f, key, "7", 7, NULL));
    assert_value(f->client, key, bytes("7"));
}

static void refuses_transactions(fixture *f, hf_bytes key)
{
    hf_txn *txn = NULL;

    expect_status(HF_OK, hf_txn_new(f->client, NULL, &txn, ERR));
    expect_status(HF_OK, hf_txn_if_fence(txn, key, 1, ERR));
    expect_status(HF_CONFLICT, hf_txn_exec(txn, ERR));
    hf_txn_free(txn);
}

TEST(fence_that_is_no_token_refuses_all)
{
    static const char *const texts[] = {
        "",   "x", "1e400", "nan", "7.5", "9007199254740992",
        "-1", "0", "0x10",  " 5"};
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    char text[256];
    hf_bytes fence = fence_of(key, text, sizeof(text));

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        put_value(f->client, fence, hf_str(texts[i]), 60000);
        expect_status(HF_CORRUPT, put(f, key, "1", 1, NULL));
        assert_non_null(strstr(expect_message(), "fence"));
        refuses_transactions(f, key);
        assert_value(f->client, fence, hf_str(texts[i]));
        assert_no_key(f->client, key);
    }
    expect_status(HF_OK, hf_value_delete(f->client, fence, ERR));
    put_hash(f->client, fence, words("a", "1"), 0);
    expect_status(HF_WRONG_TYPE, put(f, key, "3", 3, NULL));
    assert_no_key(f->client, key);
}

TEST(fenced_value_sets_its_expiry)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_value_set_options opts = HF_VALUE_SET_OPTIONS_INIT;

    opts.ttl_ms = 60000;
    expect_status(HF_OK, hf_value_put_fenced(f->client, key, bytes("1"), 1,
                                             &opts, NULL, ERR));
    assert_ttl(f->client, key, 60000);
    opts.ttl_ms = 0;
    opts.flags = HF_SET_KEEPTTL;
    expect_status(HF_OK, hf_value_put_fenced(f->client, key, bytes("2"), 1,
                                             &opts, NULL, ERR));
    assert_ttl(f->client, key, 60000);
    expect_status(HF_OK, put(f, key, "3", 1, NULL));
    assert_no_ttl(f->client, key);
}

TEST(fenced_write_of_a_lock_loses_to_its_next_holder)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    hf_bytes name = fixture_key(f, "lock");
    hf_lock *paused;
    hf_lock *next;

    opts.flags = HF_LOCK_NO_RENEW;
    paused = fixture_lock(f, f->client, name, &opts);
    next = fixture_lock(f, f->other, name, &opts);
    expect_status(HF_OK, hf_lock_try(paused, ERR));
    expect_status(HF_OK, put(f, key, "paused", hf_lock_token(paused), NULL));
    expect_status(HF_OK, hf_lock_break(f->other, name, ERR));
    expect_status(HF_OK, hf_lock_try(next, ERR));
    expect_status(HF_OK, put(f, key, "next", hf_lock_token(next), NULL));
    expect_status(HF_CONFLICT,
                  put(f, key, "late", hf_lock_token(paused), NULL));
    assert_value(f->client, key, bytes("next"));
}

TEST(fenced_write_refuses_bad_input)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_bytes text = fixture_key(f, "text");
    hf_value_set_options opts = HF_VALUE_SET_OPTIONS_INIT;
    hf_hash_put_options put_opts = HF_HASH_PUT_OPTIONS_INIT;
    char name[256];

    expect_status(HF_INVALID, put(f, key, "1", 0, NULL));
    assert_non_null(strstr(expect_message(), "token is 0"));
    expect_status(HF_INVALID, put(f, key, "1", TOKEN_MAX + 1, NULL));
    expect_status(HF_INVALID, put(f, key, "1", UINT64_MAX, NULL));
    expect_status(HF_INVALID, put_fields(f, key, "1", 0, NULL, NULL));
    expect_status(HF_INVALID, put(f, bytes(""), "1", 1, NULL));
    expect_status(HF_INVALID, put(f, bytes("a}b"), "1", 1, NULL));
    opts.flags = HF_SET_NX;
    expect_status(
        HF_UNSUPPORTED,
        hf_value_put_fenced(f->client, key, bytes("1"), 1, &opts, NULL, ERR));
    put_opts.flags = HF_HASH_XX;
    expect_status(HF_UNSUPPORTED, put_fields(f, key, "1", 1, &put_opts, NULL));
    assert_no_key(f->client, key);
    put_value(f->client, text, bytes("v"), 60000);
    expect_status(HF_WRONG_TYPE, put_fields(f, text, "1", 1, NULL, NULL));
    assert_value(f->client, text, bytes("v"));
    assert_no_key(f->client, fence_of(text, name, sizeof(name)));
}
