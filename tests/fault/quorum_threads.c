/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quorum_threads.c - 64 threads that acquire locks on five independent servers,
 * while two of these, then three, are killed and stopped.
 *
 *     quorum_threads [--rounds N] [--threads N]
 *
 * A quorum has only locks, so the audit covers these: no two threads are inside
 * a lock together, and each token is higher than all before it. In addition, no
 * call ends later than its deadline plus 50 ms, plus twice the lateness of a
 * thread that only sleeps; two missing servers stop no one; and after three
 * were missing locks are granted again once they are back and have waited out
 * their quarantine. One line for each fault.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "holdfast/lock.h"
#include "support/redis_server.h"
#include "support/sleepers.h"
#include "support/slowness.h"
#include "support/test_clock.h"

#define NODES 5
#define LOCKS 8
#define CLIENTS 4
#define THREADS_MAX 64

#define TTL_MS 1000
#define QUARANTINE_MS 1500 /* longer than any lock here */

/* They report their uptime in whole seconds, of which the last is not counted.
 */
#define OLD_MS (QUARANTINE_MS + 2100)
#define REQUEST_MS 700
#define WAIT_MS 300
#define LATE_US 50000
#define FAULT_MS 1500
#define RECOVERY_MAX_MS 20000

static int thread_count = THREADS_MAX;
static redis_server *servers[NODES];
static hf_client *clients[CLIENTS];

/* One lock as the test knows it. */
static struct {
    atomic_int inside;
    atomic_ullong token;     /* the highest so far */
    atomic_llong granted_us; /* begin of the latest call that acquired it */
} locks[LOCKS];

static atomic_bool stop;
static atomic_bool pause_calls; /* what they would show was shown before */
static atomic_llong counts[3];  /* granted, refused or late, unavailable */
static atomic_llong worst_us;   /* past a deadline */
static sleepers *late;
static atomic_int violations;

static int64_t now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void violation(const char *what, const char *detail)
{
    printf("violation: %s: %s\n", what, detail);
    atomic_fetch_add(&violations, 1);
}

static void raise_to(atomic_llong *most, int64_t value)
{
    long long seen = atomic_load(most);

    while (value > seen && !atomic_compare_exchange_weak(most, &seen, value))
        continue;
}

static void rest_for(int64_t ms)
{
    const struct timespec span = {0, (long)ms * 1000000};

    (void)nanosleep(&span, NULL);
}

/* Until all servers are old enough to vote. */
static void grow_old(void)
{
    int64_t until_us = now_us() + OLD_MS * 1000;

    atomic_store(&pause_calls, true);
    while (now_us() < until_us)
        rest_for(50);
    atomic_store(&pause_calls, false);
}

/* ------------------------------------------------------------------ threads */

static void returned(int64_t began_us, int64_t limit_ms)
{
    raise_to(&worst_us, now_us() - began_us - limit_ms * 1000);
}

/* Inside the lock, for as long as it counts as held. */
static void be_inside(const hf_lock *lock, unsigned which)
{
    unsigned long long token = hf_lock_token(lock);
    unsigned long long before;

    if (atomic_fetch_add(&locks[which].inside, 1) != 0 && hf_lock_is_held(lock))
        violation("exclusion", "two threads are inside");
    before = atomic_exchange(&locks[which].token, token);
    if (token <= before && hf_lock_is_held(lock))
        violation("token", "not higher than one before");
    test_rest();
    atomic_fetch_sub(&locks[which].inside, 1);
}

static void count_status(hf_status status, const hf_error *err)
{
    hf_kind kind = hf_status_kind(status);

    if (status == HF_OK)
        atomic_fetch_add(&counts[0], 1);
    else if (status == HF_HELD || status == HF_TIMEOUT)
        atomic_fetch_add(&counts[1], 1);
    else if (kind == HF_KIND_RETRY || kind == HF_KIND_UNKNOWN)
        atomic_fetch_add(&counts[2], 1);
    else
        violation("acquire", err->message);
}

static void use_lock(hf_lock *lock, unsigned which)
{
    hf_error err = HF_ERROR_INIT;
    int64_t began_us = now_us();
    hf_status status = hf_lock_acquire(lock, WAIT_MS, &err);

    returned(began_us, WAIT_MS + REQUEST_MS);
    count_status(status, &err);
    if (status != HF_OK)
        return;
    raise_to(&locks[which].granted_us, began_us);
    be_inside(lock, which);
    began_us = now_us();
    (void)!hf_lock_release(lock, NULL);
    returned(began_us, REQUEST_MS);
}

static void *run_thread(void *user)
{
    unsigned number = (unsigned)(uintptr_t)user;
    hf_lock_options options = HF_LOCK_OPTIONS_INIT;
    hf_lock *mine[LOCKS];
    char name[16];

    options.ttl_ms = TTL_MS;
    for (unsigned i = 0; i < LOCKS; i++) {
        snprintf(name, sizeof(name), "lock%u", i);
        if (hf_lock_new(clients[number % CLIENTS], hf_str(name), &options,
                        &mine[i], NULL) != HF_OK)
            exit(1);
    }
    for (unsigned turn = number; !atomic_load(&stop); turn++) {
        use_lock(mine[turn % LOCKS], turn % LOCKS);
        while (atomic_load(&pause_calls))
            rest_for(50);
    }
    for (unsigned i = 0; i < LOCKS; i++)
        hf_lock_free(mine[i]);
    return NULL;
}

/* ------------------------------------------------------------------- faults */

typedef struct fault {
    const char *name;
    int nodes;
    bool kills;
} fault;

static const fault faults[] = {
    {"2 of 5 killed", 2, true},
    {"2 of 5 stopped", 2, false},
    {"3 of 5 killed", 3, true},
    {"3 of 5 stopped", 3, false},
};

static void begin_fault(const fault *of, int first)
{
    for (int i = 0; i < of->nodes; i++) {
        if (of->kills)
            redis_server_kill(servers[(first + i) % NODES]);
        else
            redis_server_pause(servers[(first + i) % NODES]);
    }
}

static void end_fault(const fault *of, int first)
{
    for (int i = 0; i < of->nodes; i++) {
        if (!of->kills)
            redis_server_resume(servers[(first + i) % NODES]);
        else if (!redis_server_restart(servers[(first + i) % NODES]))
            violation(of->name, "no restart");
    }
}

/* Until every lock was granted to a call that began after an instant, ms; the
 * limit: they were not. */
static int64_t await_grants(int64_t since_us, int64_t limit_ms)
{
    unsigned at = 0;

    while (at < LOCKS && now_us() < since_us + limit_ms * 1000) {
        if (atomic_load(&locks[at].granted_us) > since_us)
            at++;
        else
            test_rest();
    }
    return (now_us() - since_us) / 1000;
}

static void sum_up(const fault *of, int64_t recovery_ms)
{
    printf("quorum, %d threads, %s: worst call %+.1f ms from its deadline, "
           "machine late by %.1f ms; every lock granted %lld ms after the %s; "
           "calls: %lld granted, %lld refused, %lld unavailable\n",
           thread_count, of->name, (double)atomic_load(&worst_us) / 1000,
           (double)sleepers_late_us(late) / 1000, (long long)recovery_ms,
           of->nodes > NODES / 2 ? "end" : "fault", atomic_load(&counts[0]),
           atomic_load(&counts[1]), atomic_load(&counts[2]));
    /* The library's thread decides and then wakes the caller's: either may be
     * late. */
    if (!took_between(atomic_load(&worst_us) / 1000, INT64_MIN,
                      (LATE_US + 2 * sleepers_late_us(late)) / 1000))
        violation(of->name, "a call returned late");
    if (of->nodes > NODES / 2 && of->kills && recovery_ms < QUARANTINE_MS)
        violation(of->name, "a server voted in its quarantine");
    if (recovery_ms >= RECOVERY_MAX_MS)
        violation(of->name, "a lock is not granted any more");
}

static void reset_figures(void)
{
    for (int i = 0; i < 3; i++)
        atomic_store(&counts[i], 0);
    atomic_store(&worst_us, INT64_MIN);
    sleepers_reset(late);
}

static void run_fault(const fault *of, int first)
{
    int64_t since_us = now_us();
    int64_t until_us = since_us + FAULT_MS * 1000;
    int64_t recovery_ms = 0;

    reset_figures();
    begin_fault(of, first);
    if (of->nodes <= NODES / 2)
        recovery_ms = await_grants(since_us, RECOVERY_MAX_MS);
    while (now_us() < until_us)
        test_rest();
    since_us = now_us();
    end_fault(of, first);
    if (of->nodes > NODES / 2)
        recovery_ms = await_grants(since_us, RECOVERY_MAX_MS);
    sum_up(of, recovery_ms);
    grow_old();
}

/* -------------------------------------------------------------------- frame */

static bool start_all(void)
{
    hf_client_options options = HF_CLIENT_OPTIONS_INIT;
    hf_error err = HF_ERROR_INIT;
    char url[1024];
    int size =
        snprintf(url, sizeof(url), "redlock:quarantine=%d", QUARANTINE_MS);

    for (int i = 0; i < NODES; i++) {
        servers[i] = redis_server_start(NULL);
        if (servers[i] == NULL)
            return false;
        size += snprintf(url + size, sizeof(url) - (size_t)size, ",%s",
                         redis_server_tcp_url(servers[i]));
    }
    options.request_ms = REQUEST_MS;
    for (int i = 0; i < CLIENTS; i++) {
        if (hf_client_open(url, &options, &clients[i], &err) != HF_OK) {
            fprintf(stderr, "%s\n", err.message);
            return false;
        }
    }
    return true;
}

static void take_options(int count, char **words, int *rounds)
{
    for (int i = 1; i + 1 < count; i += 2) {
        int number = (int)strtol(words[i + 1], NULL, 10);

        if (strcmp(words[i], "--rounds") == 0)
            *rounds = number;
        else if (strcmp(words[i], "--threads") == 0 && number <= THREADS_MAX)
            thread_count = number;
    }
}

int main(int count, char **words)
{
    pthread_t threads[THREADS_MAX];
    int rounds = 1;

    take_options(count, words, &rounds);
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!start_all())
        return EXIT_FAILURE;
    for (int i = 0; i < thread_count; i++) {
        if (pthread_create(&threads[i], NULL, run_thread,
                           (void *)(uintptr_t)i) != 0)
            return EXIT_FAILURE;
    }
    late = sleepers_start();
    if (late == NULL)
        return EXIT_FAILURE;
    grow_old();
    for (int i = 0; i < rounds * 4; i++)
        run_fault(&faults[i % 4], i);
    atomic_store(&stop, true);
    for (int i = 0; i < thread_count; i++)
        pthread_join(threads[i], NULL);
    sleepers_stop(late);
    for (int i = 0; i < CLIENTS; i++)
        hf_client_close(clients[i]);
    for (int i = 0; i < NODES; i++)
        redis_server_stop(servers[i]);
    printf("%d violations\n", atomic_load(&violations));
    return atomic_load(&violations) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
