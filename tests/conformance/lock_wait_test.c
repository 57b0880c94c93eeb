/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock_wait_test.c - hf_lock_acquire() that waits: what ends the wait, in which
 * order, and what a waiter leaves behind. A waiter is a thread with a handle;
 * to the store, waiters of different clients are the same as waiters of
 * different processes.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "holdfast/key.h"
#include "holdfast/rwlock.h"
#include "holdfast/script.h"
#include "holdfast/semaphore.h"
#include "support/slowness.h"
#include "support/store_fixture.h"

/* How long a wake-up may take on a busy machine; the library polls, which would
 * hide a lost wake-up, only after a second. */
#define WOKEN_MS 700

/* Most waiters of one test. */
#define WAITERS 4

typedef struct waiter {
    pthread_t thread;
    hf_lock *lock;
    hf_bytes name;
    int64_t wait_ms;
    hf_status status;
    int64_t done_ms; /* when the wait ended */
    atomic_bool done;
    bool joined;
} waiter;

/* Of the running test; static, so that they outlive it if it fails. */
static waiter waiters[WAITERS];
static size_t waiter_count;

static void *run_waiter(void *user)
{
    waiter *w = user;

    w->status = hf_lock_acquire(w->lock, w->wait_ms, NULL);
    w->done_ms = test_now_ms();
    atomic_store(&w->done, true);
    return NULL;
}

/* Start another thread that waits for the lock with a handle. */
static waiter *start(hf_lock *lock, hf_bytes name, int64_t wait_ms)
{
    waiter *w = &waiters[waiter_count];

    assert_true(waiter_count < WAITERS);
    w->lock = lock;
    w->name = name;
    w->wait_ms = wait_ms;
    w->joined = false;
    atomic_store(&w->done, false);
    assert_int_equal(pthread_create(&w->thread, NULL, run_waiter, w), 0);
    waiter_count++;
    return w;
}

/* The status of the wait; the test must have made sure that it ends. */
static hf_status finish(waiter *w)
{
    (void)pthread_join(w->thread, NULL);
    w->joined = true;
    return w->status;
}

/* Waiters that a failed test left behind get the lock and end. */
static int end_waiters(void **state)
{
    fixture *f = *state;

    for (size_t i = 0; i < waiter_count; i++) {
        while (!waiters[i].joined && !atomic_load(&waiters[i].done)) {
            for (size_t j = 0; j < waiter_count; j++) {
                if (hf_lock_break(f->client, waiters[j].name, NULL) != HF_OK) {
                    test_rest();
                }
            }
        }
        if (!waiters[i].joined) {
            (void)finish(&waiters[i]);
        }
    }
    waiter_count = 0;
    return fixture_close(state);
}

EACH_TEST_WITH(fixture_open, end_waiters);
ALL_TESTS_WITH(fixture_start, fixture_stop);

static int64_t waiting(fixture *f, hf_bytes name)
{
    hf_lock_info info = HF_LOCK_INFO_INIT;
    hf_status status = hf_lock_inspect(f->client, name, &info, NULL);

    return status == HF_OK || status == HF_NOT_FOUND ? info.waiters : 0;
}

TEST(wait_ends_soon_after_the_release)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *holder = fixture_lock(f, f->client, name, NULL);
    waiter *w;
    int64_t released_ms;

    expect_taken(holder);
    w = start(fixture_lock(f, f->other, name, NULL), name, 20000);
    expect_soon(waiting(f, name) == 1, 2000);
    released_ms = test_now_ms();
    expect_status(HF_OK, hf_lock_release(holder, ERR));
    expect_status(HF_OK, finish(w));
    assert_in_time(w->done_ms - released_ms, WOKEN_MS);
    assert_true(hf_lock_is_held(w->lock));
    assert_true(hf_lock_token(w->lock) > hf_lock_token(holder));
    assert_true(waiting(f, name) == 0);
}

/* How long what is left of a lease stays under a second. */
static int64_t short_for_ms(fixture *f, hf_bytes name)
{
    hf_lock_info info = HF_LOCK_INFO_INIT;
    int64_t began_ms = test_now_ms();

    do {
        expect_status(HF_OK, hf_lock_inspect(f->client, name, &info, ERR));
    } while (info.remaining_ms <= 1000);
    return test_now_ms() - began_ms;
}

/* A release grants a second: the next holder makes it more at once, as it may
 * not be run for a while. The best of three, on a busy machine. */
TEST(lease_of_a_hand_over_is_soon_a_long_one)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    int64_t short_ms, best_ms = INT64_MAX;

    fixture_not_quorum(f);
    for (int i = 0; i < 3; i++) {
        hf_lock *holder = fixture_lock(f, f->client, name, NULL);
        waiter *w;

        expect_taken(holder);
        w = start(fixture_lock(f, f->other, name, NULL), name, 20000);
        expect_soon(waiting(f, name) == 1, 2000);
        expect_status(HF_OK, hf_lock_release(holder, ERR));
        expect_status(HF_OK, finish(w));
        short_ms = short_for_ms(f, name);
        best_ms = short_ms < best_ms ? short_ms : best_ms;
        expect_status(HF_OK, hf_lock_release(w->lock, ERR));
    }
    assert_true(best_ms < 250);
}

/* The clock does not say which token that is. */
TEST(wait_gets_a_larger_token_ahead_of_the_clock)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *holder = fixture_lock(f, f->client, name, NULL);
    waiter *w;

    fixture_not_quorum(f);
    if (f->cluster != NULL || f->store == FIXTURE_POSTGRES)
        skip(); /* where each slot has its own */
    expect_taken(holder);
    put_value(f->client, bytes("hf:token"), bytes("9007199254740000"), 600000);
    w = start(fixture_lock(f, f->other, name, NULL), name, 20000);
    expect_soon(waiting(f, name) == 1, 2000);
    expect_status(HF_OK, hf_lock_release(holder, ERR));
    expect_status(HF_OK, finish(w));
    assert_true(hf_lock_token(w->lock) > UINT64_C(9007199254740000));
    expect_status(HF_OK, hf_lock_release(w->lock, ERR));
    put_value(f->client, bytes("hf:token"), bytes("1"), 600000);
}

TEST(wait_within_one_client_ends_soon_after_the_release)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *holder = fixture_lock(f, f->client, name, NULL);
    waiter *w[2];
    waiter *first;
    waiter *second;
    int64_t released_ms;

    expect_taken(holder);
    for (size_t i = 0; i < 2; i++) {
        w[i] = start(fixture_lock(f, f->client, name, NULL), name, 20000);
    }
    expect_soon(waiting(f, name) == 1, 2000);
    released_ms = test_now_ms();
    expect_status(HF_OK, hf_lock_release(holder, ERR));
    expect_soon(hf_lock_is_held(w[0]->lock) || hf_lock_is_held(w[1]->lock),
                WOKEN_MS);
    assert_in_time(test_now_ms() - released_ms, WOKEN_MS);
    first = hf_lock_is_held(w[0]->lock) ? w[0] : w[1];
    second = first == w[0] ? w[1] : w[0];
    expect_status(HF_OK, finish(first));
    released_ms = test_now_ms();
    expect_status(HF_OK, hf_lock_release(first->lock, ERR));
    expect_status(HF_OK, finish(second));
    assert_in_time(second->done_ms - released_ms, WOKEN_MS);
    assert_true(hf_lock_token(second->lock) > hf_lock_token(first->lock));
}

TEST(wait_times_out)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *holder = fixture_lock(f, f->client, name, NULL);
    hf_lock *lock = fixture_lock(f, f->other, name, NULL);
    int64_t began_ms;
    int64_t took_ms;

    expect_taken(holder);
    began_ms = test_now_ms();
    expect_status(HF_TIMEOUT, hf_lock_acquire(lock, 200, ERR));
    took_ms = test_now_ms() - began_ms;
    assert_took(took_ms, 199, 200 + 300);
    assert_false(hf_lock_is_held(lock));
    assert_true(hf_lock_is_held(holder));
    assert_true(waiting(f, name) == 0);
    expect_status(HF_INVALID, hf_lock_release(lock, ERR));
}

TEST(wait_of_one_ms_is_a_timeout_too)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *holder = fixture_lock(f, f->client, name, NULL);
    hf_lock *lock = fixture_lock(f, f->other, name, NULL);

    expect_taken(holder);
    expect_status(HF_TIMEOUT, hf_lock_acquire(lock, 1, ERR));
}

TEST(wait_for_a_free_lock_is_no_wait)
{
    fixture *f = *state;
    hf_lock *lock = fixture_lock(f, f->client, fixture_key(f, "l"), NULL);
    int64_t began_ms = test_now_ms();

    expect_status(HF_OK, hf_lock_acquire(lock, HF_FOREVER, ERR));
    assert_in_time(test_now_ms() - began_ms, 300);
}

TEST(wait_ends_when_the_holders_lease_does)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    hf_lock *lock = fixture_lock(f, f->other, name, NULL);
    hf_lock *holder;
    int64_t began_ms;

    opts.ttl_ms = slowed_ms(200);
    opts.flags = HF_LOCK_NO_RENEW;
    holder = fixture_lock(f, f->client, name, &opts);
    began_ms = test_now_ms();
    expect_taken(holder);
    expect_status(HF_OK, hf_lock_acquire(lock, HF_FOREVER, ERR));
    assert_true(test_now_ms() - began_ms >= opts.ttl_ms - 1);
    assert_in_time(test_now_ms() - began_ms, opts.ttl_ms + WOKEN_MS);
    assert_false(hf_lock_is_held(holder));
    assert_true(waiting(f, name) == 0);
}

/* A lock, a reader and a permit are released before their minimum has passed:
 * the waiters know the end of a lease of 30 s. */
TEST(wait_ends_with_a_minimum_hold)
{
    fixture *f = *state;
    hf_bytes names[3];
    hf_lock *holders[3], *others[3], *reader;
    waiter *waits[3];
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    int64_t free_ms;

    fixture_not_quorum(f);
    opts.min_hold_ms = 1800;
    for (int i = 0; i < 3; i++)
        names[i] = fixture_key(f, i == 0 ? "l" : i == 1 ? "rw" : "s");
    holders[0] = fixture_lock(f, f->client, names[0], &opts);
    others[0] = fixture_lock(f, f->other, names[0], NULL);
    expect_status(HF_OK, hf_rwlock_new(f->client, names[1], 0, &opts,
                                       &holders[1], NULL, ERR));
    expect_status(HF_OK, hf_rwlock_new(f->other, names[1], 0, NULL, &reader,
                                       &others[1], ERR));
    (void)fixture_keep_lock(f, reader);
    expect_status(HF_OK, hf_semaphore_new(f->client, names[2], 1, &opts,
                                          &holders[2], ERR));
    expect_status(
        HF_OK, hf_semaphore_new(f->other, names[2], 1, NULL, &others[2], ERR));
    for (int i = 0; i < 3; i++) {
        if (i > 0) {
            (void)fixture_keep_lock(f, holders[i]);
            (void)fixture_keep_lock(f, others[i]);
        }
        expect_taken(holders[i]);
        waits[i] = start(others[i], names[i], 60000);
    }
    free_ms = test_now_ms() + opts.min_hold_ms;
    expect_throughout(true, 1300);
    for (int i = 0; i < 3; i++)
        expect_status(HF_OK, hf_lock_release(holders[i], ERR));
    for (int i = 0; i < 3; i++) {
        expect_status(HF_OK, finish(waits[i]));
        assert_in_time(waits[i]->done_ms - free_ms, WOKEN_MS);
    }
}

/* It waits for its turn behind another thread of its client, which the store
 * does not know: the release, which leaves the lease for a time, tells it. */
TEST(wait_behind_a_thread_of_the_client_ends_with_a_minimum_hold)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    hf_lock *holder = fixture_lock(f, f->other, name, NULL);
    hf_lock *first = NULL;
    waiter *w, *next;

    fixture_not_quorum(f);
    opts.min_hold_ms = 100;
    expect_taken(holder);
    first = fixture_lock(f, f->client, name, &opts);
    w = start(first, name, 60000);
    expect_soon(waiting(f, name) == 1, 2000);
    next = start(fixture_lock(f, f->client, name, NULL), name, 60000);
    (void)usleep(50000); /* until it is behind the first */
    expect_status(HF_OK, hf_lock_release(holder, ERR));
    expect_status(HF_OK, finish(w));
    expect_status(HF_OK, hf_lock_release(first, ERR));
    expect_status(HF_OK, finish(next));
    assert_in_time(next->done_ms - w->done_ms, opts.min_hold_ms + 400);
}

TEST(wait_ends_when_the_lock_is_broken)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *holder = fixture_lock(f, f->client, name, NULL);
    waiter *w;
    int64_t broken_ms;

    expect_taken(holder);
    w = start(fixture_lock(f, f->other, name, NULL), name, 20000);
    expect_soon(waiting(f, name) == 1, 2000);
    broken_ms = test_now_ms();
    expect_status(HF_OK, hf_lock_break(f->client, name, ERR));
    expect_status(HF_OK, finish(w));
    assert_in_time(w->done_ms - broken_ms, WOKEN_MS);
}

TEST(wait_behind_a_foreign_holder_polls)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    waiter *w;

    fixture_not_quorum(f);
    put_value(f->client, name, bytes("foreign"), 60000);
    w = start(fixture_lock(f, f->other, name, NULL), name, 10000);
    expect_soon(waiting(f, name) == 1, 2000);
    expect_status(HF_OK, hf_key_delete(f->client, name, ERR));
    expect_status(HF_OK, finish(w));
    assert_true(hf_lock_is_held(w->lock));
}

/* From the end of a foreign holder, which wakes no one, to our grant. */
static int64_t take_over(fixture *f, hf_bytes name)
{
    int64_t freed_ms;
    waiter *w;

    put_value(f->client, name, bytes("foreign"), 60000);
    waiter_count = 0;
    w = start(fixture_lock(f, f->other, name, NULL), name, 10000);
    expect_soon(waiting(f, name) == 1, 2000);
    freed_ms = test_now_ms();
    expect_status(HF_OK, hf_key_delete(f->client, name, ERR));
    expect_status(HF_OK, finish(w));
    expect_status(HF_OK, hf_lock_release(w->lock, ERR));
    return w->done_ms - freed_ms;
}

/* Behind one of ours the first poll would come after a second. */
TEST(wait_behind_a_foreign_holder_ends_soon_after_its_release)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    int64_t took_ms = INT64_MAX;

    fixture_not_quorum(f);
    for (int i = 0; i < 5 && took_ms >= 400; i++)
        took_ms = take_over(f, name);
    assert_true(took_ms < 400);
}

/* Interrupt a handle, or all of its client, until the wait ends: when it begins
 * is unknown. */
static void interrupt(waiter *w, hf_client *all)
{
    while (!atomic_load(&w->done)) {
        expect_status(HF_OK, all != NULL ? hf_client_interrupt(all, ERR)
                                         : hf_lock_interrupt(w->lock, ERR));
        test_rest();
    }
}

TEST(wait_that_is_interrupted_leaves_nothing_behind)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *holder = fixture_lock(f, f->client, name, NULL);
    hf_lock *lock = fixture_lock(f, f->other, name, NULL);
    waiter *w;

    expect_taken(holder);
    w = start(lock, name, HF_FOREVER);
    expect_soon(waiting(f, name) == 1, 2000);
    expect_status(HF_OK, hf_lock_interrupt(lock, ERR));
    expect_status(HF_CANCELLED, finish(w));
    assert_true(waiting(f, name) == 0);
    expect_status(HF_OK, hf_lock_release(holder, ERR));
    expect_status(HF_OK, hf_lock_acquire(lock, 10000, ERR));
    expect_status(HF_OK, hf_lock_release(lock, ERR));
}

TEST(wait_of_each_thread_of_an_interrupted_client_ends)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *holder = fixture_lock(f, f->client, name, NULL);
    hf_lock *shared = fixture_lock(f, f->other, name, NULL);
    waiter *w[4];

    expect_taken(holder);
    for (size_t i = 0; i < 2; i++)
        w[i] = start(shared, name, HF_FOREVER); /* behind each other */
    for (size_t i = 2; i < 4; i++) /* and in the local wait queue */
        w[i] = start(fixture_lock(f, f->other, name, NULL), name, HF_FOREVER);
    expect_soon(waiting(f, name) == 1, 2000);
    for (size_t i = 0; i < 4; i++) {
        interrupt(w[i], f->other);
        expect_status(HF_CANCELLED, finish(w[i]));
    }
    assert_true(waiting(f, name) == 0);
    assert_true(hf_lock_is_held(holder));
    expect_status(HF_OK, hf_lock_release(holder, ERR));
}

/* At any instant: never both, never neither. A quorum gives back the votes of a
 * call that has ended while the next one runs; a lease would last 30 s. */
TEST(wait_interrupted_when_granted_is_held_or_free)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    int64_t soon_ms = f->store == FIXTURE_QUORUM ? 5000 : 0;
    hf_lock *holder = fixture_lock(f, f->client, name, NULL);
    hf_lock *lock = fixture_lock(f, f->other, name, NULL);

    for (int i = 0; i < 50; i++) {
        waiter *w;

        waiter_count = 0;
        expect_status(HF_OK, hf_lock_acquire(holder, 10000, ERR));
        w = start(lock, name, HF_FOREVER);
        if (i % 2 == 0)
            expect_soon(waiting(f, name) == 1, 2000);
        expect_status(HF_OK, hf_lock_release(holder, ERR));
        for (int spin = 0; spin < i * 400; spin++)
            atomic_signal_fence(memory_order_seq_cst);
        interrupt(w, NULL);
        if (finish(w) == HF_OK) {
            assert_true(hf_lock_is_held(lock));
            expect_status(HF_OK, hf_lock_release(lock, ERR));
        } else {
            expect_status(HF_CANCELLED, w->status);
            assert_false(hf_lock_is_held(lock));
        }
        expect_status(HF_OK, hf_lock_acquire(holder, soon_ms, ERR));
        expect_status(HF_OK, hf_lock_release(holder, ERR));
    }
}

typedef struct gathered {
    hf_lock *locks[2];
    hf_status statuses[2];
    hf_status status;
} gathered;

static void *acquire_two(void *user)
{
    gathered *g = user;

    g->status =
        hf_lock_acquire_many(g->locks, 2, HF_FOREVER, g->statuses, NULL);
    return NULL;
}

TEST(wait_for_many_is_interrupted_too)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_bytes free_name = fixture_key(f, "m");
    hf_lock *holder = fixture_lock(f, f->client, name, NULL);
    static gathered g;
    pthread_t thread;

    g.locks[0] = fixture_lock(f, f->other, name, NULL);
    g.locks[1] = fixture_lock(f, f->other, free_name, NULL);
    expect_taken(holder);
    assert_int_equal(pthread_create(&thread, NULL, acquire_two, &g), 0);
    expect_soon(waiting(f, name) == 1, 2000);
    expect_status(HF_OK, hf_lock_interrupt(g.locks[0], ERR));
    (void)pthread_join(thread, NULL);
    expect_status(HF_CANCELLED, g.statuses[0]);
    expect_status(HF_OK, g.statuses[1]);
    assert_true(waiting(f, name) == 0);
    expect_status(HF_OK, hf_lock_release(g.locks[1], ERR));
    expect_status(HF_OK, hf_lock_release(holder, ERR));
}

static void *try_often(void *user)
{
    waiter *w = user;

    for (int i = 0; i < 200 && w->status == HF_OK; i++) {
        w->status = hf_lock_try(w->lock, NULL);
        if (w->status == HF_OK)
            w->status = hf_lock_release(w->lock, NULL);
    }
    atomic_store(&w->done, true);
    return NULL;
}

/* No one else wants it, so no one is refused. */
TEST(try_joins_the_call_under_way_on_its_handle)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *shared = fixture_lock(f, f->client, name, NULL);

    for (size_t i = 0; i < WAITERS; i++) {
        waiters[i] = (waiter){.lock = shared, .name = name, .status = HF_OK};
        assert_int_equal(
            pthread_create(&waiters[i].thread, NULL, try_often, &waiters[i]),
            0);
    }
    for (size_t i = 0; i < WAITERS; i++)
        (void)finish(&waiters[i]);
    for (size_t i = 0; i < WAITERS; i++)
        expect_status(HF_OK, waiters[i].status);
    assert_false(hf_lock_is_held(shared));
}

TEST(wait_is_served_in_the_order_of_arrival)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *holder = fixture_lock(f, f->client, name, NULL);
    waiter *w[4];

    expect_taken(holder);
    for (int i = 0; i < 4; i++) {
        hf_client *client = fixture_client(f, NULL);

        w[i] = start(fixture_lock(f, client, name, NULL), name, 20000);
        expect_soon(waiting(f, name) == i + 1, 2000);
    }
    expect_status(HF_OK, hf_lock_release(holder, ERR));
    for (int i = 0; i < 4; i++) {
        expect_soon(hf_lock_is_held(w[i]->lock), WOKEN_MS);
        /* Some servers of a quorum may answer later. */
        expect_soon(waiting(f, name) == 3 - i, 2000);
        expect_status(HF_OK, hf_lock_release(w[i]->lock, ERR));
    }
    for (int i = 0; i < 4; i++) {
        expect_status(HF_OK, finish(w[i]));
    }
}

/* A waiter that times out must not swallow the wake-up of the next one. */
TEST(wait_that_times_out_does_not_delay_the_next)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *holder = fixture_lock(f, f->client, name, NULL);
    waiter *impatient;
    waiter *second;
    int64_t released_ms;

    expect_taken(holder);
    impatient = start(fixture_lock(f, f->other, name, NULL), name, 600);
    expect_soon(waiting(f, name) == 1, 500);
    second = start(fixture_lock(f, fixture_client(f, NULL), name, NULL), name,
                   20000);
    expect_status(HF_TIMEOUT, finish(impatient));
    expect_soon(waiting(f, name) == 1, 2000);
    released_ms = test_now_ms();
    expect_status(HF_OK, hf_lock_release(holder, ERR));
    expect_status(HF_OK, finish(second));
    assert_in_time(second->done_ms - released_ms, WOKEN_MS);
}

TEST(waits_on_one_handle_share_one_acquisition)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *holder = fixture_lock(f, f->client, name, NULL);
    hf_lock *shared = fixture_lock(f, f->other, name, NULL);
    waiter *w[3];

    expect_taken(holder);
    for (size_t i = 0; i < 3; i++) {
        w[i] = start(shared, name, 20000);
    }
    expect_soon(waiting(f, name) == 1, 2000);
    expect_status(HF_OK, hf_lock_release(holder, ERR));
    for (size_t i = 0; i < 3; i++) {
        expect_status(HF_OK, finish(w[i]));
    }
    for (size_t i = 0; i < 3; i++) {
        assert_true(hf_lock_is_held(shared));
        expect_status(HF_OK, hf_lock_release(shared, ERR));
    }
    assert_false(hf_lock_is_held(shared));
    expect_status(HF_INVALID, hf_lock_release(shared, ERR));
    expect_taken(holder);
}

TEST(wait_for_a_key_that_becomes_a_hash_is_wrong_type)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_script *turn;
    hf_reply *reply = NULL;
    waiter *w;

    fixture_not_quorum(f);
    turn = fixture_script(f, f->client,
                          "redis.call('del', KEYS[1]) "
                          "redis.call('hset', KEYS[1], 'a', '1')");
    put_value(f->client, name, bytes("foreign"), 60000);
    w = start(fixture_lock(f, f->other, name, NULL), name, 10000);
    expect_soon(waiting(f, name) == 1, 2000);
    expect_status(HF_OK, hf_script_run(turn, &name, 1, NULL, 0, &reply, ERR));
    hf_reply_free(reply);
    expect_status(HF_WRONG_TYPE, finish(w));
    assert_false(hf_lock_is_held(w->lock));
}
