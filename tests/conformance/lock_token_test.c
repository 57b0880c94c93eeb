/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock_token_test.c - the last fencing token of a store: all locks share it, no
 * lock leaves anything behind, and an invalid token does no harm.
 */
#include <stdio.h>
#include <stdlib.h>

#include "holdfast/key.h"
#include "holdfast/lock.h"
#include "holdfast/script.h"
#include "support/store_fixture.h"

FIXTURE_TESTS();

#define NAMES 300

static uint64_t next_token(hf_lock *lock)
{
    expect_taken(lock);
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    return hf_lock_token(lock);
}

/* Keys of the store that match. */
static int64_t count_keys(fixture *f, const char *pattern)
{
    static const char source[] = "return #redis.call('keys', ARGV[1])";
    hf_script *script = fixture_script(f, f->client, source);
    hf_bytes arg = hf_str(pattern);
    hf_reply *reply;
    int64_t count;

    expect_status(HF_OK, hf_script_run(script, NULL, 0, &arg, 1, &reply, ERR));
    count = hf_reply_integer(reply);
    hf_reply_free(reply);
    return count;
}

TEST(lock_names_leave_nothing_behind)
{
    fixture *f = *state;
    char name[64];

    fixture_not_quorum(f);
    if (f->cluster != NULL)
        skip(); /* where a script sees one node only */
    for (int i = 0; i < NAMES; i++) {
        hf_lock *lock;

        (void)snprintf(name, sizeof(name), "left:%d", i);
        expect_status(HF_OK,
                      hf_lock_new(f->client, hf_str(name), NULL, &lock, ERR));
        (void)next_token(lock);
        hf_lock_free(lock);
    }
    assert_int_equal(count_keys(f, "*left:*"), 0);
    assert_int_equal(count_keys(f, "hf:token*"), 1);
}

/* A waiter that gave up, and one that was woken, leave no queue behind. */
TEST(lock_waiters_leave_nothing_behind)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *lock = fixture_lock(f, f->client, name, NULL);
    hf_lock *other = fixture_lock(f, f->other, name, NULL);

    fixture_not_quorum(f);
    expect_taken(lock);
    expect_status(HF_TIMEOUT, hf_lock_acquire(other, 20, ERR));
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    if (f->cluster == NULL)
        assert_int_equal(count_keys(f, "*hf:wait*"), 0);
}

/* A name has its token in its slot: in a cluster, look for it there. */
static void put_counter(fixture *f, const char *value, bool hash)
{
    fixture_not_quorum(f);
    if (f->cluster != NULL)
        skip();
    (void)!hf_key_delete(f->client, bytes("hf:token"), NULL);
    if (hash)
        put_hash(f->client, bytes("hf:token"), words("a", "1"), 0);
    else
        put_value(f->client, bytes("hf:token"), hf_str(value), 600000);
}

TEST(what_is_no_token_counts_as_lost)
{
    static const char *const values[] = {
        "",
        "nonsense",
        "-1",
        "1.5",
        "1e300",
        "inf",
        "nan",
        "0",
        "-inf",
        "1900000000000000.5",
        "0x10",
        "\n",
        "1e5",
        "9007199254740992",
        "99999999999999999999999999999999",
    };
    fixture *f = *state;
    hf_lock *lock = fixture_lock(f, f->client, fixture_key(f, "l"), NULL);
    uint64_t sane = 0, last = 0;

    for (size_t i = 0; i <= sizeof(values) / sizeof(values[0]); i++) {
        bool hash = i == sizeof(values) / sizeof(values[0]);

        put_counter(f, hash ? NULL : values[i], hash);
        sane = next_token(lock);
        assert_true(sane > last);
        assert_true(sane < UINT64_C(1) << 52);
        last = next_token(lock);
        assert_true(last > sane);
    }
}

/* On a store of servers, with everything else. */
static void lose_counter(fixture *f)
{
    if (fixture_is_embedded(f)) {
        expect_status(HF_OK, hf_key_delete(f->client, bytes("hf:token"), ERR));
        return;
    }
    assert_true(fixture_server_run(f, 0, "FLUSHALL"));
    for (int i = 1; fixture_server_run(f, i, "FLUSHALL"); i++)
        continue;
}

TEST(token_grows_after_its_counter_was_lost)
{
    fixture *f = *state;
    hf_lock *lock = fixture_lock(f, f->client, fixture_key(f, "l"), NULL);
    uint64_t token = next_token(lock);

    lose_counter(f);
    assert_true(next_token(lock) > token);
}

TEST(token_ahead_of_the_clock_grows_by_one)
{
    fixture *f = *state;
    hf_lock *lock = fixture_lock(f, f->client, fixture_key(f, "l"), NULL);
    hf_lock *other = fixture_lock(f, f->other, fixture_key(f, "m"), NULL);

    put_counter(f, "9007199254740985", false);
    for (uint64_t i = 1; i < 4; i++) {
        assert_true(next_token(lock) == UINT64_C(9007199254740985) + 2 * i - 1);
        assert_true(next_token(other) == UINT64_C(9007199254740985) + 2 * i);
    }
    put_counter(f, "1", false);
}

/* 2^53-1 is the largest: no lock is granted with it again. */
TEST(largest_token_is_issued_once)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *lock = fixture_lock(f, f->client, name, NULL);
    hf_lock_info info = HF_LOCK_INFO_INIT;

    put_counter(f, "9007199254740990", false);
    assert_true(next_token(lock) == UINT64_C(9007199254740991));
    for (int i = 0; i < 3; i++) {
        expect_status(HF_CORRUPT, hf_lock_try(lock, ERR));
        assert_non_null(strstr(expect_message(), "hf:token"));
        assert_no_key(f->client, name);
    }
    expect_status(HF_NOT_FOUND, hf_lock_inspect(f->client, name, &info, ERR));
    assert_true(info.last_token == UINT64_C(9007199254740991));
    expect_status(HF_OK, hf_key_delete(f->client, bytes("hf:token"), ERR));
    assert_true(next_token(lock) < UINT64_C(1) << 52);
}

/* On a quorum a node's token is not the holder's. */
TEST(inspect_reports_no_smaller_token_than_the_holders)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *lock = fixture_lock(f, f->client, name, NULL);
    hf_lock_info info = HF_LOCK_INFO_INIT;

    for (int i = 0; i < 20; i++) {
        expect_taken(lock);
        expect_status(HF_OK, hf_lock_inspect(f->other, name, &info, ERR));
        assert_true(info.last_token >= hf_lock_token(lock));
        expect_status(HF_OK, hf_lock_release(lock, ERR));
    }
}
