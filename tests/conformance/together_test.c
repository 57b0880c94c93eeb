/* SPDX-License-Identifier: Apache-2.0 */
/*
 * together_test.c - several locks are acquired at once, all or none. Killed
 * holders are in process_test.c.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "holdfast/hash.h"
#include "holdfast/semaphore.h"
#include "holdfast/together.h"
#include "support/store_fixture.h"
#include "support/told.h"

FIXTURE_TESTS();

#define COUNT 5

/* Names of one slot of a cluster, or of several. */
static hf_bytes name_of(fixture *f, const char *name, bool one_slot)
{
    char tagged[32];

    if (!one_slot)
        return fixture_key(f, name);
    (void)snprintf(tagged, sizeof(tagged), "{t}%s", name);
    return fixture_key(f, tagged);
}

/* Handles of the two clients for the same names, in opposite orders. */
typedef struct two_sets {
    hf_bytes names[COUNT];
    hf_lock *ours[COUNT];
    hf_lock *theirs[COUNT];
} two_sets;

static two_sets make_sets(fixture *f, bool one_slot,
                          const hf_lock_options *opts)
{
    static const char *const names[COUNT] = {"c", "a", "e", "b", "d"};
    two_sets sets;

    for (size_t i = 0; i < COUNT; i++) {
        sets.names[i] = name_of(f, names[i], one_slot);
        sets.ours[i] = fixture_lock(f, f->client, sets.names[i], opts);
        sets.theirs[COUNT - 1 - i] =
            fixture_lock(f, f->other, sets.names[i], opts);
    }
    return sets;
}

static void expect_held(hf_lock *const *locks, bool held)
{
    for (size_t i = 0; i < COUNT; i++)
        assert_int_equal(hf_lock_is_held(locks[i]), held);
}

static void release_all(hf_lock *const *locks)
{
    hf_status statuses[COUNT];

    expect_status(HF_OK, hf_lock_release_many(locks, COUNT, statuses, ERR));
    for (size_t i = 0; i < COUNT; i++)
        expect_status(HF_OK, statuses[i]);
}

/* Each is free for the other client. */
static void expect_free(hf_lock *const *locks)
{
    for (size_t i = 0; i < COUNT; i++) {
        expect_taken(locks[i]);
        expect_status(HF_OK, hf_lock_release(locks[i], ERR));
    }
}

static void acquire_all(fixture *f, bool one_slot)
{
    two_sets sets = make_sets(f, one_slot, NULL);
    uint64_t before = 0;

    for (int round = 0; round < 3; round++) {
        expect_status(HF_OK, hf_lock_acquire_all(sets.ours, COUNT, 0, ERR));
        expect_held(sets.ours, true);
        for (size_t i = 0; i < COUNT; i++) {
            expect_status(HF_HELD, hf_lock_try(sets.theirs[i], ERR));
            for (size_t j = 0; j < i; j++)
                assert_true(hf_lock_token(sets.ours[i]) !=
                            hf_lock_token(sets.ours[j]));
        }
        assert_true(hf_lock_token(sets.ours[0]) > before);
        before = hf_lock_token(sets.ours[0]);
        expect_status(HF_TIMEOUT,
                      hf_lock_acquire_all(sets.theirs, COUNT, 0, ERR));
        release_all(sets.ours);
        expect_held(sets.ours, false);
    }
    expect_free(sets.theirs);
}

TEST(together_each_is_held_with_a_token)
{
    acquire_all(*state, false);
    acquire_all(*state, true);
}

static void none_if_one_is_held(fixture *f, bool one_slot)
{
    two_sets sets = make_sets(f, one_slot, NULL);

    for (size_t i = 0; i < COUNT; i++) {
        expect_taken(sets.theirs[i]);
        expect_status(HF_TIMEOUT,
                      hf_lock_acquire_all(sets.ours, COUNT, 0, ERR));
        assert_non_null(
            strstr(expect_message(), sets.names[COUNT - 1 - i].data));
        expect_held(sets.ours, false);
        expect_status(HF_OK, hf_lock_release(sets.theirs[i], ERR));
        expect_free(sets.theirs);
    }
}

TEST(together_none_is_held_if_one_is_not_free)
{
    none_if_one_is_held(*state, false);
    none_if_one_is_held(*state, true);
}

TEST(together_timing_out_leaves_nothing)
{
    fixture *f = *state;
    two_sets sets = make_sets(f, true, NULL);
    hf_lock_info info = HF_LOCK_INFO_INIT;
    int64_t began_ms = test_now_ms();

    expect_taken(sets.theirs[2]);
    expect_status(HF_TIMEOUT, hf_lock_acquire_all(sets.ours, COUNT, 150, ERR));
    assert_took(test_now_ms() - began_ms, 150, 3000);
    assert_non_null(strstr(expect_message(), sets.names[2].data));
    expect_held(sets.ours, false);
    expect_status(HF_OK, hf_lock_inspect(f->client, sets.names[2], &info, ERR));
    assert_int_equal(info.waiters, 0);
    expect_status(HF_OK, hf_lock_release(sets.theirs[2], ERR));
    expect_free(sets.theirs);
}

static hf_status all_of(fixture *f, hf_client *client, const hf_bytes *names,
                        hf_lock *locks[2])
{
    for (size_t i = 0; i < 2; i++)
        locks[i] = fixture_lock(f, client, names[i], NULL);
    return hf_lock_acquire_all(locks, 2, 0, NULL);
}

/* Of four names: the first two and the last two are held, then those between
 * are wanted. */
TEST(together_overlapping_sets_exclude_each_other)
{
    fixture *f = *state;
    hf_bytes names[4];
    hf_lock *low[2], *high[2], *between[2];

    for (size_t i = 0; i < 4; i++)
        names[i] = fixture_key(f, ((const char *[]){"a", "b", "c", "d"})[i]);
    assert_int_equal(all_of(f, f->client, names, low), HF_OK);
    assert_int_equal(all_of(f, f->client, names + 2, high), HF_OK);
    assert_int_equal(all_of(f, f->other, names + 1, between), HF_TIMEOUT);
    expect_status(HF_OK, hf_lock_release(low[0], ERR));
    expect_status(HF_OK, hf_lock_release(low[1], ERR));
    expect_status(HF_OK, hf_lock_acquire_all(low, 1, 0, ERR));
    expect_status(HF_TIMEOUT, hf_lock_acquire_all(between, 2, 0, ERR));
    expect_status(HF_OK, hf_lock_release(high[0], ERR));
    expect_status(HF_OK, hf_lock_release(high[1], ERR));
    expect_status(HF_OK, hf_lock_acquire_all(between, 2, 0, ERR));
    assert_true(hf_lock_is_held(low[0]));
}

TEST(together_waits_for_those_that_are_held)
{
    fixture *f = *state;
    two_sets sets = make_sets(f, false, NULL);
    told said = {0};
    hf_async async = tell(&said);

    expect_taken(sets.theirs[1]);
    expect_taken(sets.theirs[3]);
    expect_status(
        HF_OK, hf_lock_acquire_all_start(sets.ours, COUNT, 20000, &async, ERR));
    dispatch(f->client);
    assert_int_equal(said.count, 0);
    expect_status(HF_OK, hf_lock_release(sets.theirs[3], ERR));
    expect_status(HF_OK, hf_lock_release(sets.theirs[1], ERR));
    await_told(f->client, &said, 1);
    expect_status(HF_OK, said.status);
    expect_held(sets.ours, true);
    release_all(sets.ours);
    expect_free(sets.theirs);
}

/* Without a reply to a try, what it may have taken is released later. */
static void expect_free_soon(hf_lock *const *locks)
{
    for (size_t i = 0; i < COUNT; i++) {
        expect_status(HF_OK, hf_lock_acquire(locks[i], 2000, ERR));
        expect_status(HF_OK, hf_lock_release(locks[i], ERR));
    }
}

TEST(together_is_cancelled_at_once)
{
    fixture *f = *state;
    two_sets sets = make_sets(f, true, NULL);
    told said = {0};
    hf_async async = tell(&said);
    hf_call *call = NULL;

    async.call = &call;
    for (int rest = 0; rest < 2; rest++) {
        expect_taken(sets.theirs[2]);
        expect_status(HF_OK, hf_lock_acquire_all_start(
                                 sets.ours, COUNT, HF_FOREVER, &async, ERR));
        if (rest > 0)
            test_rest();
        hf_call_cancel(call);
        await_told(f->client, &said, (unsigned)rest + 1);
        expect_held(sets.ours, false);
        expect_status(HF_OK, hf_lock_release(sets.theirs[2], ERR));
        if (said.status == HF_INDETERMINATE)
            expect_free_soon(sets.theirs);
        else
            expect_status(HF_CANCELLED, said.status);
        expect_free(sets.theirs);
    }
}

/* ---------------------------------------------------------------- bad input */

TEST(together_refuses_what_makes_no_sense)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *locks[2] = {fixture_lock(f, f->client, name, NULL),
                         fixture_lock(f, f->client, name, NULL)};
    hf_lock *clients[2] = {locks[0], fixture_lock(f, f->other, name, NULL)};
    hf_lock *missing[2] = {locks[0], NULL};
    hf_lock *many[HF_LOCK_ALL_MAX + 1];

    for (size_t i = 0; i <= HF_LOCK_ALL_MAX; i++)
        many[i] = locks[0];
    expect_status(HF_INVALID, hf_lock_acquire_all(locks, 0, 0, ERR));
    expect_status(HF_INVALID, hf_lock_acquire_all(NULL, 2, 0, ERR));
    expect_status(HF_INVALID,
                  hf_lock_acquire_all(many, HF_LOCK_ALL_MAX + 1, 0, ERR));
    expect_status(HF_INVALID, hf_lock_acquire_all(missing, 2, 0, ERR));
    expect_status(HF_INVALID, hf_lock_acquire_all(clients, 2, 0, ERR));
    expect_status(HF_INVALID, hf_lock_acquire_all(locks, 2, -1, ERR));
    expect_status(HF_INVALID, hf_lock_acquire_all(locks, 2, 0, ERR));
    assert_non_null(strstr(expect_message(), "twice"));
    expect_taken(clients[1]);
}

TEST(together_names_a_key_that_is_no_lock)
{
    fixture *f = *state;
    two_sets sets = make_sets(f, true, NULL);

    fixture_not_quorum(f);
    put_hash(f->client, sets.names[3], words("a", "b"), 0);
    expect_status(HF_WRONG_TYPE,
                  hf_lock_acquire_all(sets.ours, COUNT, 100, ERR));
    assert_non_null(strstr(expect_message(), sets.names[3].data));
    expect_held(sets.ours, false);
    expect_status(HF_OK, hf_hash_delete(f->client, sets.names[3], ERR));
    expect_free(sets.theirs);
}

/* ------------------------------------------------------ handles and other
 * kinds
 */

TEST(together_enters_what_is_held_again)
{
    fixture *f = *state;
    two_sets sets = make_sets(f, true, NULL);

    expect_taken(sets.ours[2]);
    expect_status(HF_OK, hf_lock_acquire_all(sets.ours, COUNT, 0, ERR));
    release_all(sets.ours);
    assert_true(hf_lock_is_held(sets.ours[2]));
    expect_taken(sets.theirs[0]);
    expect_status(HF_TIMEOUT, hf_lock_acquire_all(sets.ours, COUNT, 0, ERR));
    assert_true(hf_lock_is_held(sets.ours[2]));
    expect_status(HF_OK, hf_lock_release(sets.ours[2], ERR));
    expect_held(sets.ours, false);
    expect_status(HF_INVALID, hf_lock_release(sets.ours[2], ERR));
    expect_status(HF_OK, hf_lock_release(sets.theirs[0], ERR));
    expect_free(sets.theirs);
}

TEST(together_takes_permits_too)
{
    fixture *f = *state;
    two_sets sets = make_sets(f, true, NULL);
    hf_bytes name = name_of(f, "b2", true);
    hf_lock *permits[2];

    fixture_not_quorum(f);
    for (int i = 0; i < 2; i++) {
        expect_status(HF_OK, hf_semaphore_new(i == 0 ? f->client : f->other,
                                              name, 1, NULL, &permits[i], ERR));
        fixture_keep_lock(f, permits[i]);
    }
    sets.ours[1] = permits[0];
    expect_status(HF_OK, hf_lock_acquire_all(sets.ours, COUNT, 0, ERR));
    expect_status(HF_HELD, hf_lock_try(permits[1], ERR));
    release_all(sets.ours);
    expect_taken(permits[1]);
    expect_status(HF_TIMEOUT, hf_lock_acquire_all(sets.ours, COUNT, 0, ERR));
    expect_held(sets.ours, false);
    expect_free(sets.theirs);
}

TEST(together_begins_again_if_one_was_lost)
{
    fixture *f = *state;
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    hf_lock *first, *last, *holder;
    hf_lock *locks[2];

    opts.ttl_ms = slowed_ms(200);
    opts.flags = HF_LOCK_NO_RENEW;
    first = fixture_lock(f, f->client, name_of(f, "a", true), &opts);
    last = fixture_lock(f, f->client, name_of(f, "z", true), NULL);
    locks[0] = first;
    locks[1] = last;
    /* Held for longer than the lease of the first. */
    opts.ttl_ms = slowed_ms(500);
    holder = fixture_lock(f, f->other, name_of(f, "z", true), &opts);
    expect_taken(holder);
    expect_status(HF_OK, hf_lock_acquire_all(locks, 2, 20000, ERR));
    assert_false(hf_lock_is_held(holder));
    expect_status(HF_OK, hf_lock_release(last, ERR));
    (void)!hf_lock_release(first, NULL);
}

/* ------------------------------------------------------------------ threads */

static void *acquire_forever(void *user)
{
    hf_error err = HF_ERROR_INIT;
    two_sets *sets = user;
    hf_status status = hf_lock_acquire_all(sets->ours, COUNT, HF_FOREVER, &err);

    return (void *)(intptr_t)status;
}

TEST(together_is_interrupted_by_any_of_the_handles)
{
    fixture *f = *state;
    two_sets sets = make_sets(f, true, NULL);
    hf_lock_info info = HF_LOCK_INFO_INIT;
    pthread_t thread;
    void *result;

    expect_taken(sets.theirs[2]);
    assert_int_equal(pthread_create(&thread, NULL, acquire_forever, &sets), 0);
    expect_soon(hf_lock_inspect(f->other, sets.names[2], &info, NULL) ==
                        HF_OK &&
                    info.waiters == 1,
                5000);
    expect_status(HF_OK, hf_lock_interrupt(sets.ours[4], ERR));
    assert_int_equal(pthread_join(thread, &result), 0);
    expect_status(HF_CANCELLED, (hf_status)(intptr_t)result);
    expect_held(sets.ours, false);
    expect_status(HF_OK, hf_lock_release(sets.theirs[2], ERR));
    expect_free(sets.theirs);
}

/* Programs that take the same locks in opposite orders. */
typedef struct racer {
    hf_lock **locks;
    int rounds;
    hf_status failed;
    atomic_int *inside;
    bool overlapped;
} racer;

static void *race(void *user)
{
    racer *self = user;
    hf_status statuses[COUNT];

    while (self->failed == HF_OK && self->rounds-- > 0) {
        self->failed = hf_lock_acquire_all(self->locks, COUNT, 60000, NULL);
        if (self->failed != HF_OK)
            break;
        if (atomic_fetch_add(self->inside, 1) != 0)
            self->overlapped = true;
        atomic_fetch_sub(self->inside, 1);
        self->failed = hf_lock_release_many(self->locks, COUNT, statuses, NULL);
    }
    return NULL;
}

static void race_for(fixture *f, bool one_slot, int rounds)
{
    two_sets sets = make_sets(f, one_slot, NULL);
    atomic_int inside = 0;
    racer racers[2] = {
        {.locks = sets.ours, .inside = &inside, .rounds = rounds},
        {.locks = sets.theirs, .inside = &inside, .rounds = rounds},
    };
    pthread_t threads[2];

    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, race, &racers[i]),
                         0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < 2; i++) {
        expect_status(HF_OK, racers[i].failed);
        assert_false(racers[i].overlapped);
    }
    expect_free(sets.theirs);
}

TEST(together_opposite_orders_never_deadlock)
{
    const char *text = getenv("HOLDFAST_TEST_ROUNDS");
    int rounds = text != NULL ? (int)strtol(text, NULL, 10) : 10;

    race_for(*state, true, rounds);
    race_for(*state, false, rounds);
}
