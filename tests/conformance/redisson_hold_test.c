/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redisson_hold_test.c - what the locks of Redisson's layout leave in the
 * store, how often they are held and for how long: claims that Redisson's own
 * suite makes of its locks (docs/internals/peer-tests.md).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "holdfast/command.h"
#include "holdfast/key.h"
#include "holdfast/redisson.h"
#include "support/redisson_peer.h"
#include "support/slowness.h"

FIXTURE_TESTS();

#define HOUR_MS INT64_C(3600000)

static int64_t number(fixture *f, const char *script, hf_bytes key)
{
    return redisson_eval(f, script, "", key);
}

/* Of the key; -2: there is none. */
static int64_t pttl(fixture *f, hf_bytes key)
{
    return number(f, "return redis.call('pttl', KEYS[1])", key);
}

static hf_lock *lock_for(fixture *f, hf_client *client, hf_bytes name,
                         hf_redisson_kind kind, int64_t ttl_ms)
{
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;

    opts.ttl_ms = ttl_ms;
    return redisson_lock(f, client, name, kind, &opts);
}

TEST(redisson_hold_counts_are_those_of_the_handle)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    bool here = redisson_is_here(f);

    for (int kind = HF_REDISSON_LOCK; here && kind <= HF_REDISSON_PERMIT;
         kind++) {
        hf_lock *lock;

        if (kind == HF_REDISSON_PERMIT)
            put_value(f->client, name, bytes("1"), 0);
        lock = lock_for(f, f->client, name, (hf_redisson_kind)kind, 0);
        for (unsigned i = 0; i < 3; i++) {
            assert_int_equal(hf_lock_holds(lock), i);
            expect_status(HF_OK, hf_lock_try(lock, ERR));
        }
        for (unsigned i = 3; i > 0; i--) {
            assert_int_equal(hf_lock_holds(lock), i);
            assert_true(hf_lock_is_held(lock));
            expect_status(HF_OK, hf_lock_release(lock, ERR));
        }
        assert_int_equal(hf_lock_holds(lock), 0);
        expect_status(HF_INVALID, hf_lock_release(lock, ERR));
        if (kind == HF_REDISSON_PERMIT)
            assert_value(f->client, name, bytes("1"));
        else
            assert_no_key(f->client, name);
    }
}

TEST(redisson_lease_in_the_store_is_the_one_asked_for)
{
    static const int64_t leases[] = {10000, HOUR_MS, 0};
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    bool here = redisson_is_here(f);

    for (int kind = HF_REDISSON_LOCK; here && kind < HF_REDISSON_PERMIT;
         kind++) {
        for (size_t i = 0; i < 3; i++) {
            int64_t ttl_ms = leases[i] == 0 ? 30000 : leases[i];
            hf_lock *lock =
                lock_for(f, f->client, name, (hf_redisson_kind)kind, leases[i]);

            expect_status(HF_OK, hf_lock_try(lock, ERR));
            assert_in_range(pttl(f, name), ttl_ms / 2, ttl_ms);
            expect_status(HF_OK, hf_lock_release(lock, ERR));
            assert_int_equal(pttl(f, name), -2);
        }
    }
}

TEST(redisson_inner_release_leaves_the_lease_alone)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *lock;

    if (!redisson_is_here(f))
        return;
    lock = lock_for(f, f->client, name, HF_REDISSON_LOCK, 0);
    for (int i = 0; i < 3; i++)
        expect_status(HF_OK, hf_lock_acquire_for(lock, 0, 10000, ERR));
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    assert_in_range(pttl(f, name), 1, 10000);
    assert_int_equal(
        number(f, "return tonumber(redis.call('hvals', KEYS[1])[1])", name), 1);
    assert_true(hf_lock_is_held(lock));
}

TEST(redisson_keys_begin_with_the_prefix)
{
    hf_client_options opts = HF_CLIENT_OPTIONS_INIT;
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    char mapped[128], queue[256];
    told said = {0};
    hf_async async = tell(&said);
    hf_client *client;
    hf_bytes key;
    hf_lock *waiter;

    if (!redisson_is_here(f))
        return;
    opts.prefix = "test::";
    client = fixture_client(f, &opts);
    (void)snprintf(mapped, sizeof(mapped), "test::%.*s", (int)name.size,
                   (const char *)name.data);
    key = hf_str(mapped);
    expect_status(
        HF_OK,
        hf_lock_try(lock_for(f, client, name, HF_REDISSON_FAIR_LOCK, 0), ERR));
    assert_in_range(pttl(f, key), 1, 30000);
    waiter = lock_for(f, client, name, HF_REDISSON_FAIR_LOCK, 0);
    expect_status(HF_OK, hf_lock_acquire_start(waiter, 20000, &async, ERR));
    key = redisson_role("redisson_lock_queue:", key, queue);
    expect_soon((dispatch(client),
                 number(f, "return redis.call('llen', KEYS[1])", key) == 1),
                5000);
}

#define WAITERS 4

typedef struct fair_queue {
    hf_bytes name;
    hf_lock *holder;
    hf_lock *waiters[WAITERS];
    hf_call *calls[WAITERS];
    told said[WAITERS];
} fair_queue;

/* A holder whose lease is 30 s, and those that wait for it, in order. */
static void make_queue(fixture *f, fair_queue *queue, int64_t lease_ms)
{
    char key[256];
    hf_bytes list;

    queue->name = fixture_key(f, "fair");
    list = redisson_role("redisson_lock_queue:", queue->name, key);
    queue->holder =
        redisson_lock(f, f->client, queue->name, HF_REDISSON_FAIR_LOCK, NULL);
    expect_status(HF_OK, hf_lock_try(queue->holder, ERR));
    for (int i = 0; i < WAITERS; i++) {
        hf_async async = tell(&queue->said[i]);

        async.call = &queue->calls[i];
        queue->waiters[i] = redisson_lock(f, f->client, queue->name,
                                          HF_REDISSON_FAIR_LOCK, NULL);
        expect_status(HF_OK,
                      hf_lock_acquire_for_start(queue->waiters[i], HF_FOREVER,
                                                lease_ms, &async, ERR));
        expect_soon(
            (dispatch(f->client),
             number(f, "return redis.call('llen', KEYS[1])", list) == i + 1),
            5000);
    }
}

/* When a waiter counts as dead, ms from now; -1: it does not wait. */
static int64_t dead_in(fixture *f, const fair_queue *queue, int64_t rank)
{
    char key[256], script[256];

    (void)snprintf(script, sizeof(script),
                   "local one = redis.call('zrange', KEYS[1], %lld, %lld, "
                   "'withscores') return one[2] and one[2] - "
                   "redis.call('time')[1] * 1000 or -1",
                   (long long)rank, (long long)rank);
    return number(f, script,
                  redisson_role("redisson_lock_timeout:", queue->name, key));
}

/* The first 10 s after it could have had the lock, each next one 10 s later. */
static void expect_deaths(fixture *f, const fair_queue *queue, int count)
{
    for (int i = 0; i < count; i++)
        assert_in_range(dead_in(f, queue, i), 10000 * i + 25000,
                        10000 * i + 42000);
    assert_int_equal(dead_in(f, queue, count), -1);
}

TEST(redisson_fair_waiters_die_in_order_and_do_not_drift)
{
    static fair_queue queue;
    fixture *f = *state;

    memset(&queue, 0, sizeof(queue));
    if (!redisson_is_here(f))
        return;
    make_queue(f, &queue, 0);
    expect_deaths(f, &queue, WAITERS);
    hf_call_cancel(queue.calls[1]);
    await_told(f->client, &queue.said[1], 1);
    expect_status(HF_CANCELLED, queue.said[1].status);
    expect_soon(dead_in(f, &queue, WAITERS - 1) == -1, 5000);
    expect_deaths(f, &queue, WAITERS - 1);
    expect_status(HF_OK, hf_lock_release(queue.holder, ERR));
    await_ok(f->client, &queue.said[0]);
    expect_deaths(f, &queue, WAITERS - 2);
}

/* No holder releases it. */
TEST(redisson_fair_leases_that_end_serve_in_order)
{
    static fair_queue queue;
    fixture *f = *state;

    memset(&queue, 0, sizeof(queue));
    if (!redisson_is_here(f))
        return;
    make_queue(f, &queue, 100);
    cut_lease(f->client, queue.name, 50);
    for (int i = 0; i < WAITERS; i++) {
        await_ok(f->client, &queue.said[i]);
        assert_true(i == 0 || hf_lock_token(queue.waiters[i]) >
                                  hf_lock_token(queue.waiters[i - 1]));
    }
}

TEST(redisson_reader_with_a_shorter_lease_shortens_nothing)
{
    fixture *f = *state;
    hf_bytes name = bytes("{redisson}:abc:key");
    hf_lock *longer, *shorter;

    if (!redisson_is_here(f))
        return;
    longer = lock_for(f, f->client, name, HF_REDISSON_READ_LOCK, HOUR_MS);
    shorter = lock_for(f, f->other, name, HF_REDISSON_READ_LOCK, 60000);
    expect_status(HF_OK, hf_lock_try(longer, ERR));
    expect_status(HF_OK, hf_lock_try(shorter, ERR));
    assert_in_range(pttl(f, name), HOUR_MS - 50000, HOUR_MS);
    expect_status(HF_OK, hf_lock_renew(shorter, ERR));
    assert_in_range(pttl(f, name), HOUR_MS - 50000, HOUR_MS);
    expect_status(HF_OK, hf_lock_release(longer, ERR));
    assert_in_range(pttl(f, name), 30000, 60000);
    expect_status(HF_OK, hf_lock_release(shorter, ERR));
    assert_int_equal(pttl(f, name), -2);
}

#define READERS 8

TEST(redisson_readers_are_each_renewed)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "rw");
    int64_t ttl_ms = slowed_ms(300);
    hf_lock *readers[READERS];
    int64_t until_ms;

    if (!redisson_is_here(f))
        return;
    for (size_t i = 0; i < READERS; i++) {
        readers[i] = lock_for(f, i % 2 ? f->other : f->client, name,
                              HF_REDISSON_READ_LOCK, ttl_ms);
        expect_status(HF_OK, hf_lock_try(readers[i], ERR));
    }
    until_ms = test_now_ms() + 3 * ttl_ms;
    expect_soon(test_now_ms() >= until_ms, 6 * ttl_ms);
    for (size_t i = 0; i < READERS; i++)
        expect_status(HF_OK, hf_lock_release(readers[i], ERR));
    assert_no_key(f->client, name);
}

/* Each hold of a reader has a key of its own; what any client can write into
 * the hash does not occupy the store. */
TEST(redisson_reader_is_released_next_to_a_count_without_end)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_bytes words[] = {hf_str("HSET"), name, hf_str(REDISSON_JAVA),
                        hf_str("9007199254740992")};
    int64_t began_ms;
    hf_reply *reply;
    hf_lock *lock;

    if (!redisson_is_here(f))
        return;
    lock = redisson_lock(f, f->client, name, HF_REDISSON_READ_LOCK, NULL);
    expect_status(HF_OK, hf_lock_try(lock, ERR));
    expect_status(HF_OK, hf_command(f->other, 4, words, &reply, ERR));
    hf_reply_free(reply);
    began_ms = test_now_ms();
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    assert_in_time(test_now_ms() - began_ms, 1000);
}

TEST(redisson_fenced_tokens_are_1_2_3)
{
    fixture *f = *state;
    hf_lock *lock;

    if (!redisson_is_here(f))
        return;
    lock =
        lock_for(f, f->client, fixture_key(f, "l"), HF_REDISSON_FENCED_LOCK, 0);
    for (unsigned i = 1; i <= 5; i++) {
        if (i % 2)
            expect_status(HF_OK, hf_lock_acquire(lock, 1000, ERR));
        else
            expect_status(HF_OK, hf_lock_acquire_for(lock, 0, 10000, ERR));
        assert_true(hf_lock_token(lock) == i);
        expect_status(HF_OK, hf_lock_release(lock, ERR));
        assert_true(hf_lock_token(lock) == i);
    }
}

TEST(redisson_permit_of_no_semaphore_makes_nothing)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "s");
    hf_lock *permit;

    if (!redisson_is_here(f))
        return;
    permit = lock_for(f, f->client, name, HF_REDISSON_PERMIT, 0);
    expect_status(HF_HELD, hf_lock_try(permit, ERR));
    expect_status(HF_INVALID, hf_lock_release(permit, ERR));
    assert_no_key(f->client, name);
}

/* A renewed one stays; one that has expired is given back once. */
TEST(redisson_permits_are_given_back_once)
{
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "s");
    hf_lock *brief, *kept, *next;

    if (!redisson_is_here(f))
        return;
    opts.ttl_ms = slowed_ms(100);
    opts.flags = HF_LOCK_NO_RENEW;
    put_value(f->client, name, bytes("2"), 0);
    brief = redisson_lock(f, f->client, name, HF_REDISSON_PERMIT, &opts);
    kept = lock_for(f, f->client, name, HF_REDISSON_PERMIT, opts.ttl_ms);
    next = lock_for(f, f->other, name, HF_REDISSON_PERMIT, 0);
    expect_status(HF_OK, hf_lock_try(brief, ERR));
    expect_status(HF_OK, hf_lock_try(kept, ERR));
    expect_status(HF_HELD, hf_lock_try(next, ERR));
    expect_status(HF_OK, hf_lock_acquire(next, 20000, ERR));
    assert_false(hf_lock_renew(brief, ERR) == HF_OK);
    expect_status(HF_EXPIRED, hf_lock_release(brief, ERR));
    assert_value(f->client, name, bytes("0"));
    expect_status(HF_OK, hf_lock_release(kept, ERR));
    expect_status(HF_OK, hf_lock_release(next, ERR));
    assert_value(f->client, name, bytes("2"));
}
