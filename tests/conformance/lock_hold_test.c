/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock_hold_test.c - what a handle holds, how often and for how long: claims
 * that the suites of other libraries make too (docs/internals/peer-tests.md).
 */
#include <stdio.h>

#include "holdfast/rwlock.h"
#include "holdfast/semaphore.h"
#include "support/slowness.h"
#include "support/store_fixture.h"
#include "support/told.h"

FIXTURE_TESTS();

/* Within the quarantine of a quorum. */
#define LONG_MS 50000

static hf_lock *lock_for(fixture *f, hf_client *client, hf_bytes name,
                         int64_t ttl_ms, uint32_t flags)
{
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;

    opts.ttl_ms = ttl_ms;
    opts.flags = flags;
    return fixture_lock(f, client, name, &opts);
}

/* Of the lease, by the store; -2: the lock is free. */
static int64_t left_of(fixture *f, hf_bytes name)
{
    hf_lock_info info = HF_LOCK_INFO_INIT;
    hf_status status = hf_lock_inspect(f->other, name, &info, ERR);

    assert_true(status == HF_OK || status == HF_NOT_FOUND);
    return status == HF_OK ? info.remaining_ms : -2;
}

/* A re-entry has a longer lease renewed by a shorter one. What is valid here
 * must not have ended in the store. */
TEST(renewal_after_a_reentry_keeps_what_is_left)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *lock = lock_for(f, f->client, name, slowed_ms(1000), 0);
    hf_status status;
    int64_t left_ms;

    expect_status(HF_OK, hf_lock_acquire_for(lock, 0, LONG_MS, ERR));
    expect_status(HF_OK, hf_lock_acquire(lock, 0, ERR));
    for (int i = 0; i < 4; i++) {
        if (i % 2 == 0)
            expect_status(HF_OK, hf_lock_renew(lock, ERR));
        else
            expect_status(HF_OK, hf_lock_renew_many(&lock, 1, &status, ERR));
        left_ms = left_of(f, name);
        assert_true(left_ms >= hf_lock_remaining_ms(lock));
        assert_in_range(left_ms, 1, LONG_MS + 10);
    }
}

TEST(hold_is_of_the_handle_that_acquired)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *locks[] = {fixture_lock(f, f->client, name, NULL),
                        fixture_lock(f, f->client, name, NULL),
                        fixture_lock(f, f->other, name, NULL)};

    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(left_of(f, name), -2);
        expect_taken(locks[i]);
        for (size_t j = 0; j < 3; j++) {
            assert_int_equal(hf_lock_is_held(locks[j]), j == i);
            if (j != i)
                expect_status(HF_INVALID, hf_lock_release(locks[j], ERR));
        }
        assert_true(left_of(f, name) > 0);
        expect_status(HF_OK, hf_lock_release(locks[i], ERR));
        assert_false(hf_lock_is_held(locks[i]));
    }
}

static void expect_counts(hf_lock *lock)
{
    assert_int_equal(hf_lock_holds(lock), 0);
    for (unsigned most = 1; most <= 2; most++) {
        for (unsigned i = 1; i <= most; i++) {
            expect_status(HF_OK, hf_lock_acquire(lock, 1000, ERR));
            assert_int_equal(hf_lock_holds(lock), i);
        }
        for (unsigned i = most; i > 0; i--) {
            assert_true(hf_lock_is_held(lock));
            expect_status(HF_OK, hf_lock_release(lock, ERR));
            assert_int_equal(hf_lock_holds(lock), i - 1);
        }
        assert_false(hf_lock_is_held(lock));
    }
}

TEST(hold_count_is_that_of_acquires_less_releases)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "rw");
    hf_lock *read = NULL, *write = NULL, *permit = NULL;

    expect_counts(fixture_lock(f, f->client, fixture_key(f, "l"), NULL));
    if (f->store == FIXTURE_QUORUM)
        return;
    expect_status(HF_OK,
                  hf_rwlock_new(f->client, name, 0, NULL, &read, &write, ERR));
    expect_counts(fixture_keep_lock(f, read));
    expect_counts(fixture_keep_lock(f, write));
    expect_status(HF_OK, hf_semaphore_new(f->client, fixture_key(f, "s"), 1,
                                          NULL, &permit, ERR));
    expect_counts(fixture_keep_lock(f, permit));
}

TEST(lease_in_the_store_is_the_one_asked_for)
{
    static const int64_t leases[] = {9500, 10000, LONG_MS, 30000};
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");

    for (size_t i = 0; i < 4; i++) {
        hf_lock *lock =
            lock_for(f, f->client, name, leases[i] == 30000 ? 0 : leases[i], 0);

        expect_taken(lock);
        assert_in_range(left_of(f, name), leases[i] / 2, leases[i]);
        expect_status(HF_OK, hf_lock_release(lock, ERR));
        assert_int_equal(left_of(f, name), -2);
        expect_status(HF_OK, hf_lock_acquire_for(lock, 0, LONG_MS, ERR));
        assert_in_range(left_of(f, name), LONG_MS / 2, LONG_MS);
        expect_status(HF_OK, hf_lock_release(lock, ERR));
    }
}

/* Nor does a re-entry begin it again. */
TEST(inner_release_leaves_the_lease_alone)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *lock = fixture_lock(f, f->client, name, NULL);
    hf_lock *rival = fixture_lock(f, f->other, name, NULL);
    uint64_t token;

    for (int i = 0; i < 3; i++)
        expect_status(HF_OK, hf_lock_acquire_for(lock, 0, 10000, ERR));
    token = hf_lock_token(lock);
    expect_status(HF_OK, hf_lock_acquire_for(lock, 0, 1000, ERR));
    for (int i = 0; i < 3; i++)
        expect_status(HF_OK, hf_lock_release(lock, ERR));
    assert_in_range(left_of(f, name), 2000, 10000);
    assert_true(hf_lock_is_held(lock));
    assert_true(hf_lock_token(lock) == token);
    expect_status(HF_HELD, fixture_try(rival, ERR));
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    assert_int_equal(left_of(f, name), -2);
}

/* Whichever form it has. */
TEST(reentry_without_a_lease_is_renewed)
{
    fixture *f = *state;
    hf_lock *locks[2];
    hf_lock *rivals[2];
    int64_t ttl_ms = slowed_ms(300);

    for (int i = 0; i < 2; i++) {
        hf_bytes name = fixture_key(f, i == 0 ? "a" : "b");

        locks[i] = lock_for(f, f->client, name, ttl_ms, 0);
        rivals[i] = fixture_lock(f, f->other, name, NULL);
        expect_status(HF_OK, hf_lock_acquire_for(locks[i], 0, ttl_ms, ERR));
    }
    expect_status(HF_OK, hf_lock_acquire(locks[0], 0, ERR));
    expect_told(HF_OK, f->client,
                hf_lock_acquire_start(locks[1], 0, &async, ERR));
    expect_throughout(hf_lock_try(rivals[0], NULL) == HF_HELD &&
                          hf_lock_try(rivals[1], NULL) == HF_HELD,
                      3 * ttl_ms);
    for (int i = 0; i < 2; i++) {
        expect_status(HF_OK, hf_lock_release(locks[i], ERR));
        expect_status(HF_OK, hf_lock_release(locks[i], ERR));
        expect_taken(rivals[i]);
    }
}

/* It is not renewed before that. */
TEST(reentry_leaves_a_longer_lease_alone)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *lock = lock_for(f, f->client, name, 1000, 0);

    expect_status(HF_OK, hf_lock_acquire_for(lock, 0, LONG_MS, ERR));
    expect_status(HF_OK, hf_lock_acquire(lock, 0, ERR));
    expect_throughout(left_of(f, name) > LONG_MS / 2, 500);
}

/* An error of a release still ends the hold. */
TEST(release_of_what_another_took_leaves_the_handle_free)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *lock = lock_for(f, f->client, name, LONG_MS, HF_LOCK_NO_RENEW);
    hf_lock *taker = fixture_lock(f, f->other, name, NULL);

    expect_taken(lock);
    expect_status(HF_OK, hf_lock_break(f->other, name, ERR));
    expect_taken(taker);
    expect_status(HF_LOST, hf_lock_release(lock, ERR));
    assert_false(hf_lock_is_held(lock));
    assert_int_equal(hf_lock_holds(lock), 0);
    assert_true(hf_lock_remaining_ms(lock) == 0);
    expect_status(HF_INVALID, hf_lock_release(lock, ERR));
    expect_status(HF_OK, hf_lock_release(taker, ERR));
    expect_taken(lock);
    assert_true(hf_lock_token(lock) > hf_lock_token(taker));
}

/* It is not acquired again behind the holder's back. */
TEST(renewal_after_the_lease_has_ended_takes_nothing)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *lock =
        lock_for(f, f->client, name, slowed_ms(200), HF_LOCK_NO_RENEW);
    hf_lock *rival = fixture_lock(f, f->other, name, NULL);
    hf_status status;

    expect_taken(lock);
    expect_soon(left_of(f, name) == -2, 5000);
    status = hf_lock_renew(lock, ERR);
    assert_true(status == HF_EXPIRED || status == HF_LOST);
    assert_int_equal(left_of(f, name), -2);
    assert_false(hf_lock_is_held(lock));
    if (f->store == FIXTURE_QUORUM) /* some servers are free before others */
        expect_soon(fixture_try(rival, ERR) == HF_OK, 5000);
    else
        expect_taken(rival);
    assert_false(hf_lock_renew(lock, ERR) == HF_OK);
    assert_true(hf_lock_is_held(rival));
    expect_status(HF_LOST, hf_lock_release(lock, ERR));
}

#define MANY 40

TEST(one_of_many_that_try_at_once_has_it)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_client *clients[] = {f->client, f->other};
    told said[MANY] = {{0}};
    unsigned held = 0;

    for (size_t i = 0; i < MANY; i++) {
        hf_lock *lock = fixture_lock(f, clients[i % 2], name, NULL);
        hf_async async = tell(&said[i]);

        expect_status(HF_OK, hf_lock_acquire_start(lock, 0, &async, ERR));
    }
    for (size_t i = 0; i < MANY; i++) {
        await_told(clients[i % 2], &said[i], 1);
        held += said[i].status == HF_OK;
        assert_true(said[i].status == HF_OK || said[i].status == HF_TIMEOUT);
    }
    /* Five servers may be asked in different orders: all are refused then. */
    assert_true(held == 1 || (held == 0 && f->store == FIXTURE_QUORUM));
}

TEST(lock_that_was_reentered_is_renewed_when_acquired_again)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *lock = lock_for(f, f->client, name, slowed_ms(300), 0);
    hf_lock *second = lock_for(f, f->client, name, slowed_ms(300), 0);
    hf_lock *rival = fixture_lock(f, f->other, name, NULL);
    int64_t ttl_ms = slowed_ms(300);

    expect_taken(lock);
    expect_taken(lock);
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    expect_taken(second);
    expect_throughout(hf_lock_is_held(second) &&
                          hf_lock_try(rival, NULL) == HF_HELD,
                      3 * ttl_ms);
    assert_false(hf_lock_is_held(lock));
    expect_status(HF_OK, hf_lock_release(second, ERR));
}

#define WAITERS 3

static int64_t waiters_of(fixture *f, hf_bytes name)
{
    hf_lock_info info = HF_LOCK_INFO_INIT;
    hf_status status = hf_lock_inspect(f->client, name, &info, ERR);

    assert_true(status == HF_OK || status == HF_NOT_FOUND);
    return info.waiters;
}

/* No holder releases it. There is no order then: the first to ask has it. */
TEST(leases_that_end_let_every_waiter_in)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *first = lock_for(f, f->client, name, LONG_MS, HF_LOCK_NO_RENEW);
    hf_client *clients[WAITERS];
    hf_lock *locks[WAITERS];
    told said[WAITERS] = {{0}};

    fixture_not_quorum(f); /* where keys have other owners */
    expect_taken(first);
    for (unsigned i = 0; i < WAITERS; i++) {
        hf_async async = tell(&said[i]);

        clients[i] = fixture_client(f, NULL);
        locks[i] = fixture_lock(f, clients[i], name, NULL);
        expect_status(HF_OK, hf_lock_acquire_for_start(locks[i], HF_FOREVER,
                                                       300, &async, ERR));
        expect_soon((dispatch(clients[i]), waiters_of(f, name) == i + 1), 5000);
    }
    cut_lease(f->client, name, 50);
    for (size_t i = 0; i < WAITERS; i++) {
        await_ok(clients[i], &said[i]);
        for (size_t j = 0; j < i; j++)
            assert_true(hf_lock_token(locks[i]) != hf_lock_token(locks[j]));
    }
}

/* Three of the five servers run; one of them has another's key. */
TEST(lock_needs_a_majority_of_free_servers)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *lock = fixture_lock(f, f->client, name, NULL);
    char command[64];

    if (f->store != FIXTURE_QUORUM)
        return;
    for (int i = 0; i < 3; i++) {
        (void)snprintf(command, sizeof(command), "SET %.*s foreign",
                       (int)name.size, (const char *)name.data);
        assert_true(fixture_server_run(f, i, command));
        expect_status(HF_HELD, fixture_try(lock, ERR));
        assert_false(hf_lock_is_held(lock));
        (void)snprintf(command, sizeof(command), "DEL %.*s", (int)name.size,
                       (const char *)name.data);
        assert_true(fixture_server_run(f, i, command));
        expect_soon(hf_lock_try(lock, NULL) == HF_OK, 5000);
        expect_status(HF_OK, hf_lock_release(lock, ERR));
    }
}
