/* SPDX-License-Identifier: Apache-2.0 */
/* embedded_writer_lock_test.c - turns at the writer lock: see writer_lock.c. */
#include "embedded_store.h"
#include "open_env.h"

#include <limits.h>
#include <pthread.h>
#include <semaphore.h>

#define ROUNDS 10
/* Each turn: longer than it takes to announce the longest instant. */
#define TURN_MS 450
/* Rounds in which a busy machine does not run the waiter in time. */
#define LATE_MAX 4

typedef struct waiter {
    hf__env *env;
    sem_t go, done;
    int turns; /* atomic */
} waiter;

static void *wait_in_each_round(void *user)
{
    waiter *self = user;

    for (int i = 0; i < ROUNDS; i++) {
        (void)sem_wait(&self->go);
        if (hf__env_lock(self->env, INT64_MAX, NULL) != HF_OK)
            abort();
        __atomic_fetch_add(&self->turns, 1, __ATOMIC_RELAXED);
        hf__env_unlock(self->env);
        (void)sem_post(&self->done);
    }
    return NULL;
}

/* One that takes it again at once would get it first. */
TEST(long_wait_for_the_lock_ends_at_the_next_turn)
{
    waiter self = {0};
    int overtaken = 0;
    pthread_t thread;
    place at;

    make_place(&at, "volatile", "");
    self.env = open_env(at.url);
    assert_int_equal(sem_init(&self.go, 0, 0), 0);
    assert_int_equal(sem_init(&self.done, 0, 0), 0);
    assert_int_equal(pthread_create(&thread, NULL, wait_in_each_round, &self),
                     0);
    for (int i = 0; i < ROUNDS; i++) {
        assert_int_equal(hf__env_lock(self.env, INT64_MAX, NULL), HF_OK);
        (void)sem_post(&self.go);
        hf__clock_sleep_until(hf__clock_boot_ms() + TURN_MS);
        hf__env_unlock(self.env);
        assert_int_equal(hf__env_lock(self.env, INT64_MAX, NULL), HF_OK);
        overtaken += __atomic_load_n(&self.turns, __ATOMIC_RELAXED) == i;
        hf__env_unlock(self.env);
        (void)sem_wait(&self.done);
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_in_range(overtaken, 0, LATE_MAX);
    (void)sem_destroy(&self.go);
    (void)sem_destroy(&self.done);
    hf__env_unref(self.env);
    remove_place(&at);
}

#define IN_LINE 4
#define PATIENCE_MS 100

typedef struct caller {
    hf__env *env;
    pthread_t thread;
    int64_t deadline_ms;
    hf_status status;
} caller;

static void *lock_once(void *user)
{
    caller *self = user;

    self->status = hf__env_lock(self->env, self->deadline_ms, NULL);
    if (self->status == HF_OK)
        hf__env_unlock(self->env);
    return NULL;
}

/* The first and the third of those that wait have a deadline. */
TEST(thread_that_gives_up_leaves_the_line)
{
    int64_t late_ms = hf__clock_boot_ms() + PATIENCE_MS;
    caller callers[IN_LINE];
    hf__env *env;
    place at;

    make_place(&at, "volatile", "");
    env = open_env(at.url);
    assert_int_equal(hf__env_lock(env, INT64_MAX, NULL), HF_OK);
    for (int i = 0; i < IN_LINE; i++) {
        callers[i] = (caller){.env = env};
        callers[i].deadline_ms = i % 2 == 0 ? late_ms : INT64_MAX;
        assert_int_equal(
            pthread_create(&callers[i].thread, NULL, lock_once, &callers[i]),
            0);
        hf__clock_sleep_until(hf__clock_boot_ms() + PATIENCE_MS / 10);
    }
    for (int i = 0; i < IN_LINE; i += 2) {
        assert_int_equal(pthread_join(callers[i].thread, NULL), 0);
        assert_int_equal(callers[i].status, HF_UNAVAILABLE);
    }
    hf__env_unlock(env);
    for (int i = 1; i < IN_LINE; i += 2) {
        assert_int_equal(pthread_join(callers[i].thread, NULL), 0);
        assert_int_equal(callers[i].status, HF_OK);
    }
    hf__env_unref(env);
    remove_place(&at);
}

/* ------------------------------------------------------------- many threads */

#define MANY 200
#define CROWD_MS 3000
/* Of a clock in each turn: some microseconds. */
#define TURN_READS 20
/* The slowest has at least such a part of what each has on average, with room
 * for a processor that the kernel gives to others; with a mutex in place of the
 * line it had a thousandth. */
#define FAIR_PART 150

typedef struct member {
    hf__env *env;
    pthread_t thread;
    const bool *stop;    /* atomic */
    unsigned long turns; /* atomic */
} member;

static void *lock_in_a_crowd(void *user)
{
    member *self = user;

    while (!__atomic_load_n(self->stop, __ATOMIC_RELAXED)) {
        if (hf__env_lock(self->env, INT64_MAX, NULL) != HF_OK)
            abort();
        (void)__atomic_add_fetch(&self->turns, 1, __ATOMIC_RELAXED);
        for (int i = 0; i < TURN_READS; i++)
            (void)hf__clock_boot_ms();
        hf__env_unlock(self->env);
    }
    return NULL;
}

TEST(no_thread_of_many_starves)
{
    static member crowd[MANY];
    unsigned long fewest = ULONG_MAX, all = 0;
    bool stop = false;
    hf__env *env;
    place at;

    make_place(&at, "volatile", "");
    env = open_env(at.url);
    for (int i = 0; i < MANY; i++) {
        crowd[i] = (member){.env = env, .stop = &stop};
        assert_int_equal(
            pthread_create(&crowd[i].thread, NULL, lock_in_a_crowd, &crowd[i]),
            0);
    }
    for (int i = 0; i < MANY; i++) {
        while (__atomic_load_n(&crowd[i].turns, __ATOMIC_RELAXED) == 0)
            hf__clock_sleep_until(hf__clock_boot_ms() + 1);
    }
    for (int i = 0; i < MANY; i++)
        __atomic_store_n(&crowd[i].turns, 0, __ATOMIC_RELAXED);
    hf__clock_sleep_until(hf__clock_boot_ms() + CROWD_MS);
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(pthread_join(crowd[i].thread, NULL), 0);
        all += crowd[i].turns;
        fewest = crowd[i].turns < fewest ? crowd[i].turns : fewest;
    }
    print_message("%lu turns, fewest %lu\n", all, fewest);
    assert_in_range(fewest, all / MANY / FAIR_PART, all / MANY);
    hf__env_unref(env);
    remove_place(&at);
}

TEST(cancelled_thread_does_not_stay_in_the_line)
{
    caller callers[IN_LINE];
    hf__env *env;
    place at;

    make_place(&at, "volatile", "");
    env = open_env(at.url);
    assert_int_equal(hf__env_lock(env, INT64_MAX, NULL), HF_OK);
    for (int i = 0; i < IN_LINE; i++) {
        callers[i] = (caller){.env = env, .deadline_ms = INT64_MAX};
        assert_int_equal(
            pthread_create(&callers[i].thread, NULL, lock_once, &callers[i]),
            0);
    }
    hf__clock_sleep_until(hf__clock_boot_ms() + PATIENCE_MS);
    for (int i = 0; i < IN_LINE; i++)
        assert_int_equal(pthread_cancel(callers[i].thread), 0);
    hf__clock_sleep_until(hf__clock_boot_ms() + PATIENCE_MS);
    hf__env_unlock(env);
    for (int i = 0; i < IN_LINE; i++)
        assert_int_equal(pthread_join(callers[i].thread, NULL), 0);
    assert_int_equal(hf__env_lock(env, INT64_MAX, NULL), HF_OK);
    hf__env_unlock(env);
    hf__env_unref(env);
    remove_place(&at);
}
