/* SPDX-License-Identifier: Apache-2.0 */
/*
 * member_life_test.c - until when a set or a rank lives, with members that
 * expire, members that stay, and other programs that add and remove some: none
 * that stays may be lost.
 */
#include <stdio.h>

#include "holdfast/key.h"
#include "holdfast/rank.h"
#include "holdfast/script.h"
#include "holdfast/set.h"
#include "support/slowness.h"
#include "support/store_fixture.h"

FIXTURE_TESTS();

#define MINUTE_MS 60000
#define HOUR_MS 3600000

/* ------------------------------------------------------------ sets and ranks
 */

typedef struct kind {
    const char *name;
    void (*add)(fixture *f, hf_bytes key, const char *name, int64_t ttl_ms);
    void (*remove)(fixture *f, hf_bytes key, const char *name);
    void (*expire)(fixture *f, hf_bytes key, const char *name, int64_t ttl_ms);
    hf_status (*find)(fixture *f, hf_bytes key, const char *name,
                      int64_t *ttl_ms);
    size_t (*count)(fixture *f, hf_bytes key);
    const char *their_add; /* of another program */
    const char *their_remove;
} kind;

static void add_to_set(fixture *f, hf_bytes key, const char *name,
                       int64_t ttl_ms)
{
    hf_set_add_options opts = HF_SET_ADD_OPTIONS_INIT;
    hf_bytes member = hf_str(name);

    opts.ttl_ms = ttl_ms;
    expect_status(HF_OK,
                  hf_set_add(f->client, key, &member, 1, &opts, NULL, ERR));
}

static void remove_from_set(fixture *f, hf_bytes key, const char *name)
{
    hf_bytes member = hf_str(name);

    expect_status(HF_OK, hf_set_remove(f->client, key, &member, 1, NULL, ERR));
}

static void expire_in_set(fixture *f, hf_bytes key, const char *name,
                          int64_t ttl_ms)
{
    hf_bytes member = hf_str(name);

    expect_status(HF_OK,
                  hf_set_expire(f->client, key, ttl_ms, &member, 1, NULL, ERR));
}

static hf_status find_in_set(fixture *f, hf_bytes key, const char *name,
                             int64_t *ttl_ms)
{
    return hf_set_has(f->other, key, hf_str(name), ttl_ms, ERR);
}

static size_t count_set(fixture *f, hf_bytes key)
{
    size_t count = 12345;

    expect_status(HF_OK, hf_set_count(f->other, key, &count, ERR));
    return count;
}

static void add_to_rank(fixture *f, hf_bytes key, const char *name,
                        int64_t ttl_ms)
{
    hf_rank_add_options opts = HF_RANK_ADD_OPTIONS_INIT;

    opts.ttl_ms = ttl_ms;
    expect_status(
        HF_OK, hf_rank_add(f->client, key, hf_str(name), 1, &opts, NULL, ERR));
}

static void remove_from_rank(fixture *f, hf_bytes key, const char *name)
{
    hf_bytes member = hf_str(name);

    expect_status(HF_OK, hf_rank_remove(f->client, key, &member, 1, NULL, ERR));
}

static void expire_in_rank(fixture *f, hf_bytes key, const char *name,
                           int64_t ttl_ms)
{
    expect_status(HF_OK,
                  hf_rank_expire(f->client, key, hf_str(name), ttl_ms, ERR));
}

static hf_status find_in_rank(fixture *f, hf_bytes key, const char *name,
                              int64_t *ttl_ms)
{
    return hf_rank_get(f->other, key, hf_str(name), NULL, ttl_ms, ERR);
}

static size_t count_rank(fixture *f, hf_bytes key)
{
    size_t count = 12345;

    expect_status(HF_OK, hf_rank_count(f->other, key, NULL, NULL, &count, ERR));
    return count;
}

static const kind kinds[] = {
    {"set", add_to_set, remove_from_set, expire_in_set, find_in_set, count_set,
     "return redis.call('sadd', KEYS[1], ARGV[1])",
     "return redis.call('srem', KEYS[1], ARGV[1])"},
    {"rank", add_to_rank, remove_from_rank, expire_in_rank, find_in_rank,
     count_rank, "return redis.call('zadd', KEYS[1], 1, ARGV[1])",
     "return redis.call('zrem', KEYS[1], ARGV[1])"},
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* -------------------------------------------------------------------- tools */

/* -1: it does not expire; -2: it is not there. */
static int64_t ttl_of(fixture *f, const kind *one, hf_bytes key,
                      const char *name)
{
    int64_t ttl_ms = 12345;
    hf_status status = one->find(f, key, name, &ttl_ms);

    if (status == HF_NOT_FOUND)
        return -2;
    expect_status(HF_OK, status);
    return ttl_ms;
}

static bool has_expired(fixture *f, const kind *one, hf_bytes key,
                        const char *name)
{
    return ttl_of(f, one, key, name) == -2;
}

static int64_t ttl_of_key(fixture *f, hf_bytes key)
{
    int64_t ttl_ms = 12345;

    expect_status(HF_OK, hf_key_ttl(f->client, key, &ttl_ms, ERR));
    return ttl_ms;
}

/* Another program does something with a member; it must have an effect. */
static void let_others(fixture *f, const char *script, hf_bytes key,
                       const char *name)
{
    hf_bytes member = hf_str(name);
    hf_reply *reply = NULL;

    expect_status(HF_OK, hf_script_run(fixture_script(f, f->other, script),
                                       &key, 1, &member, 1, &reply, ERR));
    assert_int_equal(hf_reply_integer(reply), 1);
    hf_reply_free(reply);
}

static hf_bytes due_of(hf_bytes key, char name[256])
{
    return hf_view(name,
                   (size_t)snprintf(name, 256, "hf:due:{%.*s}", (int)key.size,
                                    (const char *)key.data));
}

/* Run for a set, then for a rank. */
static void try_each(fixture *f, void (*try)(fixture *, const kind *, hf_bytes))
{
    for (size_t i = 0; i < KINDS; i++) {
        print_message("%s\n", kinds[i].name);
        try(f, &kinds[i], fixture_key(f, kinds[i].name));
    }
}

/* -------------------------------------------------------------------- tests */

/* Their deadlines must not be counted as those of members. */
static void try_removed_by_others(fixture *f, const kind *one, hf_bytes key)
{
    one->add(f, key, "a", MINUTE_MS);
    one->add(f, key, "b", MINUTE_MS);
    one->add(f, key, "stays", 0);
    let_others(f, one->their_remove, key, "a");
    let_others(f, one->their_remove, key, "b");
    one->add(f, key, "c", 200);
    assert_int_equal(ttl_of_key(f, key), -1);
    assert_int_equal(ttl_of(f, one, key, "stays"), -1);
    one->expire(f, key, "c", 300);
    assert_int_equal(ttl_of_key(f, key), -1);
    one->remove(f, key, "c");
    assert_int_equal(ttl_of_key(f, key), -1);
    assert_int_equal(one->count(f, key), 1);
}

TEST(member_that_stays_outlasts_deadlines_that_others_left)
{
    try_each(*state, try_removed_by_others);
}

static void try_key_deleted_by_others(fixture *f, const kind *one, hf_bytes key)
{
    char name[256];

    one->add(f, key, "a", MINUTE_MS);
    one->add(f, key, "b", MINUTE_MS);
    let_others(f, "return redis.call('del', KEYS[1])", key, "");
    one->add(f, key, "stays", 0);
    assert_no_key(f->client, due_of(key, name));
    assert_int_equal(ttl_of_key(f, key), -1);
    let_others(f, one->their_add, key, "a");
    assert_int_equal(ttl_of(f, one, key, "a"), -1);
}

TEST(deadlines_of_a_deleted_key_are_forgotten)
{
    try_each(*state, try_key_deleted_by_others);
}

static void try_count(fixture *f, const kind *one, hf_bytes key)
{
    one->add(f, key, "stays", 0);
    one->add(f, key, "theirs", 100);
    one->add(f, key, "ours", 100);
    let_others(f, one->their_remove, key, "theirs");
    expect_soon(has_expired(f, one, key, "ours"), 2500);
    assert_int_equal(one->count(f, key), 1);
}

TEST(count_is_of_those_that_are_there)
{
    try_each(*state, try_count);
}

/* As with SADD and EXPIRE of Redis. */
static void try_own_expiry(fixture *f, const kind *one, hf_bytes key)
{
    one->add(f, key, "a", 0);
    expect_status(HF_OK, hf_key_expire(f->client, key, HOUR_MS, ERR));
    one->add(f, key, "b", 0);
    one->remove(f, key, "a");
    assert_in_range(ttl_of_key(f, key), MINUTE_MS, HOUR_MS);
    /* Members of a shorter life leave it alone, of a longer one extend it. */
    one->add(f, key, "c", MINUTE_MS);
    assert_in_range(ttl_of_key(f, key), MINUTE_MS + 1, HOUR_MS);
    one->add(f, key, "d", 2 * HOUR_MS);
    assert_in_range(ttl_of_key(f, key), HOUR_MS + 1, 2 * HOUR_MS);
    one->expire(f, key, "d", MINUTE_MS);
    one->remove(f, key, "d");
    assert_in_range(ttl_of_key(f, key), HOUR_MS + 1, 2 * HOUR_MS);
    /* One that stays removes it. */
    one->add(f, key, "b", 0);
    assert_int_equal(ttl_of_key(f, key), -1);
    /* So does the end of the last that has one. */
    one->remove(f, key, "c");
    expect_status(HF_OK, hf_key_expire(f->client, key, HOUR_MS, ERR));
    one->add(f, key, "e", MINUTE_MS);
    assert_in_range(ttl_of_key(f, key), MINUTE_MS + 1, HOUR_MS);
    one->remove(f, key, "e");
    assert_int_equal(ttl_of_key(f, key), -1);
}

TEST(expiry_of_the_key_is_the_callers_until_members_have_their_own)
{
    try_each(*state, try_own_expiry);
}

static void try_others(fixture *f, const kind *one, hf_bytes key)
{
    char name[256];

    one->add(f, key, "ours", MINUTE_MS);
    let_others(f, one->their_add, key, "theirs");
    one->add(f, key, "more", HOUR_MS);
    assert_in_range(ttl_of_key(f, key), MINUTE_MS + 1, HOUR_MS);
    /* Without ours nothing says that theirs are to go. */
    one->remove(f, key, "ours");
    one->remove(f, key, "more");
    assert_int_equal(ttl_of_key(f, key), -1);
    assert_no_key(f->client, due_of(key, name));
    one->add(f, key, "theirs", 0);
    assert_int_equal(ttl_of(f, one, key, "theirs"), -1);
}

TEST(members_of_others_go_with_ours)
{
    try_each(*state, try_others);
}

/* Their deadlines must last as long as the key. */
static void try_short_expiry(fixture *f, const kind *one, hf_bytes key)
{
    one->add(f, key, "stays", 0);
    one->add(f, key, "brief", 100);
    expect_soon(has_expired(f, one, key, "brief"), 2500);
    expect_status(HF_OK, hf_key_expire(f->client, key, HOUR_MS, ERR));
    one->add(f, key, "late", MINUTE_MS);
    assert_int_equal(ttl_of(f, one, key, "brief"), -2);
    assert_in_range(ttl_of_key(f, key), MINUTE_MS + 1, HOUR_MS);
    assert_int_equal(one->count(f, key), 2);
}

TEST(expired_member_does_not_return_where_the_key_lives_on)
{
    try_each(*state, try_short_expiry);
}

/* Once no member stays, the key expires with the last. */
static void try_last_to_stay(fixture *f, const kind *one, hf_bytes key)
{
    one->add(f, key, "a", MINUTE_MS);
    one->add(f, key, "b", 0);
    one->add(f, key, "c", 0);
    one->remove(f, key, "b");
    assert_int_equal(ttl_of_key(f, key), -1);
    one->expire(f, key, "c", 2 * MINUTE_MS);
    assert_in_range(ttl_of_key(f, key), MINUTE_MS + 1, 2 * MINUTE_MS);
    one->add(f, key, "d", 0);
    assert_int_equal(ttl_of_key(f, key), -1);
    one->remove(f, key, "d");
    assert_in_range(ttl_of_key(f, key), MINUTE_MS + 1, 2 * MINUTE_MS);
    one->expire(f, key, "a", -1);
    assert_int_equal(ttl_of_key(f, key), -1);
}

TEST(key_expires_again_once_no_member_stays)
{
    try_each(*state, try_last_to_stay);
}

static void try_all_expired(fixture *f, const kind *one, hf_bytes key)
{
    char name[256];

    one->add(f, key, "stays", 0);
    one->add(f, key, "brief", 100);
    expect_soon(has_expired(f, one, key, "brief"), 2500);
    one->remove(f, key, "stays");
    assert_int_equal(one->count(f, key), 0);
    assert_no_key(f->client, key);
    assert_no_key(f->client, due_of(key, name));
}

TEST(key_is_gone_with_the_last_that_stayed)
{
    try_each(*state, try_all_expired);
}

/* Even if its time is over when the key gets its own. */
TEST(briefest_member_has_a_place)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "brief");
    hf_rank_add_options opts = HF_RANK_ADD_OPTIONS_INIT;

    opts.ttl_ms = 1;
    for (int i = 0; i < 1000; i++) {
        hf_rank_place place = {0, 12345, 0};

        expect_status(HF_OK, hf_rank_add(f->client, key, bytes("a"), 1, &opts,
                                         &place, ERR));
        assert_int_equal(place.rank, 0);
        assert_int_equal(place.count, 1);
    }
}
