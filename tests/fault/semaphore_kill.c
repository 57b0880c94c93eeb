/* SPDX-License-Identifier: Apache-2.0 */
/*
 * semaphore_kill.c - holders of permits, or readers and writers, are killed at
 * any instant, also while they wait: never more hold one than there are
 * permits, no writer holds the lock with anyone else, and when all are dead all
 * is free by the end of their leases.
 *
 *     semaphore_kill [--kills N] [--store volatile|server] [--rwlock] [--cheat]
 *
 * Each worker writes into shared memory until when its lease is valid, and adds
 * up those of all: a reader counts as one permit, a writer as all
 * workers. With --cheat
 * the workers take one permit more than they are allowed to, or count as
 * writers while they read, which must be noticed.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fault_place.h"
#include "holdfast/rwlock.h"
#include "holdfast/semaphore.h"
#include "support/prng.h"
#include "support/test_clock.h"

#define WORKERS 6
#define PERMITS 3
#define TTL_MS 400

/* A waiter looks again by itself, and after a grant to a dead one of 1 s. */
#define POLL_MS 4000

/* For a worker to start and acquire on a busy machine. */
#define START_MS 60000

typedef struct worker {
    _Atomic int64_t until_ms; /* its lease is valid; 0: it has none */
    atomic_int weight;        /* of that lease, in permits */
    atomic_long acquired;     /* since it was started */
} worker;

static struct shared {
    worker workers[WORKERS];
    atomic_int most; /* permits held at a time */
    atomic_long total;
    char failure[256]; /* of a call */
} * shared;

static pid_t pids[WORKERS];
static const char *url;
static int64_t permits = PERMITS;
static bool is_rwlock, cheats;

static void count_holders(void)
{
    int64_t now_ms = test_now_ms();
    int held = 0, most = atomic_load(&shared->most);

    for (size_t i = 0; i < WORKERS; i++)
        held += atomic_load(&shared->workers[i].until_ms) > now_ms
                    ? atomic_load(&shared->workers[i].weight)
                    : 0;
    while (held > most &&
           !atomic_compare_exchange_weak(&shared->most, &most, held))
        ;
}

static hf_status work_once(worker *self, hf_lock *lock, int weight,
                           hf_error *err)
{
    hf_status status = hf_lock_acquire(lock, HF_FOREVER, err);
    int64_t end_ms = test_now_ms() + 5;

    if (status != HF_OK)
        return status;
    atomic_fetch_add(&self->acquired, 1);
    atomic_fetch_add(&shared->total, 1);
    do {
        int64_t now_ms = test_now_ms();

        atomic_store(&self->weight, weight);
        atomic_store(&self->until_ms, now_ms + hf_lock_remaining_ms(lock));
        count_holders();
        (void)usleep(500);
    } while (test_now_ms() < end_ms);
    atomic_store(&self->until_ms, 0);
    status = hf_lock_release(lock, err);
    /* It may have ended on a busy machine, and a writer's have been taken. */
    return status == HF_EXPIRED || status == HF_LOST ? HF_OK : status;
}

enum { ONE, ALL, HANDLES }; /* a permit or a reader; a writer */

static hf_status make_handles(hf_client *client, hf_lock *locks[HANDLES],
                              int64_t ttl_ms, hf_error *err)
{
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;

    opts.ttl_ms = ttl_ms;
    locks[ALL] = NULL;
    if (is_rwlock)
        return hf_rwlock_new(client, hf_str("pool"), 0, &opts, &locks[ONE],
                             &locks[ALL], err);
    return hf_semaphore_new(client, hf_str("pool"), permits, &opts, &locks[ONE],
                            err);
}

static _Noreturn void work(worker *self)
{
    prng random = prng_of((uint64_t)getpid(), 0, 0);
    hf_error err = HF_ERROR_INIT;
    hf_lock *locks[HANDLES];
    hf_client *client;
    hf_status status;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    status = hf_client_open(url, NULL, &client, &err);
    if (status == HF_OK)
        status = make_handles(client, locks, TTL_MS, &err);
    while (status == HF_OK) {
        bool writes = is_rwlock && prng_below(&random, 3) == 0;

        status = work_once(self, locks[writes && !cheats ? ALL : ONE],
                           writes ? WORKERS : 1, &err);
    }
    snprintf(shared->failure, sizeof(shared->failure), "%s", err.message);
    _exit(1);
}

static bool start(size_t i)
{
    atomic_store(&shared->workers[i].acquired, 0);
    pids[i] = fork();
    if (pids[i] == 0)
        work(&shared->workers[i]);
    return pids[i] > 0;
}

/* And more of them until as many as may hold have held it, or too many. */
static bool kill_some(long kills, int wanted)
{
    prng random = prng_of((uint64_t)test_now_ms(), 0, 0);

    for (long i = 0; i < kills || atomic_load(&shared->most) < wanted; i++) {
        size_t victim = prng_below(&random, WORKERS);
        int64_t limit_ms = test_now_ms() + START_MS;

        while (atomic_load(&shared->workers[victim].acquired) == 0) {
            if (test_now_ms() > limit_ms || shared->failure[0] != '\0') {
                printf("violation: no progress: %s\n", shared->failure);
                return false;
            }
            (void)usleep(1000);
        }
        (void)usleep((useconds_t)prng_below(&random, 10000));
        kill_child(pids[victim]);
        if (!start(victim))
            return false;
    }
    return true;
}

/* All are dead: a writer needs what all of them have held. */
static bool lock_is_free(hf_client *client, hf_error *err)
{
    hf_lock *locks[HANDLES];
    hf_status status = make_handles(client, locks, 60000, err);

    if (status != HF_OK)
        return false;
    status = hf_lock_acquire(locks[ALL], START_MS, err);
    if (status != HF_OK)
        printf("violation: a lease of the dead: %s\n", err->message);
    hf_lock_free(locks[ONE]);
    hf_lock_free(locks[ALL]);
    return status == HF_OK;
}

static bool permits_are_free(hf_client *client, hf_error *err)
{
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    hf_lock *locks[PERMITS + 1] = {NULL};
    hf_status status = HF_OK;

    opts.ttl_ms = 60000;
    for (size_t i = 0; i <= PERMITS && status == HF_OK; i++)
        status = hf_semaphore_new(client, hf_str("pool"), PERMITS, &opts,
                                  &locks[i], err);
    for (size_t i = 0; i < PERMITS && status == HF_OK; i++)
        status = hf_lock_acquire(locks[i], START_MS, err);
    if (status != HF_OK)
        printf("violation: a permit of the dead: %s\n", err->message);
    else if (hf_lock_try(locks[PERMITS], err) != HF_HELD)
        printf("violation: one permit too many: %s\n", err->message);
    else
        status = HF_HELD;
    for (size_t i = 0; i <= PERMITS; i++)
        hf_lock_free(locks[i]);
    return status == HF_HELD;
}

static bool all_are_free(void)
{
    hf_error err = HF_ERROR_INIT;
    hf_client *client = NULL;
    int64_t began_ms = test_now_ms();
    bool fine = hf_client_open(url, NULL, &client, &err) == HF_OK &&
                (is_rwlock ? lock_is_free : permits_are_free)(client, &err);

    printf("all are free after %lld ms\n",
           (long long)(test_now_ms() - began_ms));
    hf_client_close(client);
    return fine && took_between(test_now_ms() - began_ms, 0, TTL_MS + POLL_MS);
}

static bool run(const char *store_url, long kills)
{
    int limit = is_rwlock ? WORKERS : PERMITS;
    bool fine = true;

    url = store_url;
    for (size_t i = 0; i < WORKERS; i++)
        fine = start(i) && fine;
    fine = fine && kill_some(kills, cheats ? limit + 1 : limit);
    for (size_t i = 0; i < WORKERS; i++)
        kill_child(pids[i]);
    printf("%ld kills, %ld leases taken, at most %d of %d at a time\n", kills,
           atomic_load(&shared->total), atomic_load(&shared->most), limit);
    if (atomic_load(&shared->most) > limit)
        printf("violation: more holders than permits\n");
    return fine && atomic_load(&shared->most) == limit && all_are_free();
}

int main(int argc, char **argv)
{
    kill_options opts = kill_options_of(argc, argv, 50);

    cheats = opts.cheats;
    is_rwlock = argc > 1 && strcmp(argv[1], "--rwlock") == 0;
    permits = cheats ? PERMITS + 1 : PERMITS;
    (void)setvbuf(stdout, NULL, _IONBF, 0);
    shared = share_memory(sizeof(*shared));
    return place_run(opts.store, run, opts.kills) ? 0 : 1;
}
