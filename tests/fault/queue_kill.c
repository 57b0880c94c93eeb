/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_kill.c - workers of a queue are killed at any instant, also while they
 * wait: no job is lost, none has two workers with a valid lease at a time or is
 * ended twice, and all are taken in the order in which they were put.
 *
 *     queue_kill [--kills N] [--store volatile|file|server] [--cheat]
 *
 * A worker writes into shared memory until when its lease on a job is valid,
 * and before it ends the job, that it will. The tokens of first attempts
 * say when jobs were taken; a worker that is killed before it asks for the job
 * that is kept for it makes that one late. Half of the jobs are ended by the
 * request that takes the next one. With --cheat workers believe in their leases
 * for too long, which must be noticed.
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
#include "holdfast/queue.h"
#include "support/prng.h"
#include "support/test_clock.h"

#define WORKERS 6
#define TTL_MS 400
#define JOBS_MAX 20000
#define LATE_US 300000

/* For a worker to start and take a job on a busy machine. */
#define START_MS 60000

typedef struct worker {
    atomic_long taken; /* since it was started */
} worker;

typedef struct record {
    _Atomic int64_t until_ms; /* a lease on it is valid; 0: none */
    atomic_int holder;        /* pid of who has that */
    _Atomic uint64_t first;   /* token of the first attempt; 0: unknown */
    atomic_int ending;        /* a worker was about to end it */
    atomic_int ended;         /* the store said that it was done */
} record;

static struct shared {
    worker workers[WORKERS];
    record jobs[JOBS_MAX];
    atomic_int shared_jobs; /* had two workers at a time */
    atomic_long total;
    char failure[256]; /* of a call */
} * shared;

static pid_t pids[WORKERS];
static const char *url;
static bool cheats;
static long put_count;

/* This worker has a job for so long. Has another one it, too? */
static void claim_job(record *job, int64_t left_ms)
{
    int64_t now_ms = test_now_ms();

    if (left_ms <= 0)
        return;
    if (atomic_load(&job->holder) != getpid() &&
        atomic_load(&job->until_ms) > now_ms)
        atomic_fetch_add(&shared->shared_jobs, 1);
    atomic_store(&job->holder, getpid());
    atomic_store(&job->until_ms, now_ms + left_ms + (cheats ? 4 * TTL_MS : 0));
}

static void drop_claim(record *job)
{
    if (atomic_load(&job->holder) == getpid())
        atomic_store(&job->until_ms, 0);
}

static void do_job(record *self, hf_lock *lock, const hf_job *job)
{
    int64_t end_ms = test_now_ms() + 3;

    if (job->attempt == 1)
        atomic_store(&self->first, hf_lock_token(lock));
    do {
        claim_job(self, hf_lock_remaining_ms(lock));
        (void)usleep(500);
    } while (test_now_ms() < end_ms);
    atomic_store(&self->ending, 1);
    drop_claim(self);
}

/* Do the job that the handle has and end it, by the request that takes the next
 * one or alone. */
static hf_status work_once(worker *self, hf_lock *lock, bool by_next,
                           hf_error *err)
{
    hf_job job = HF_JOB_INIT;
    hf_status status = hf_queue_job(lock, &job, err);
    record *one;

    if (status != HF_OK)
        return status;
    atomic_fetch_add(&self->taken, 1);
    atomic_fetch_add(&shared->total, 1);
    one = &shared->jobs[strtol(job.id.data, NULL, 10)];
    do_job(one, lock, &job);
    status = by_next ? hf_queue_next(lock, HF_QUEUE_DONE, 0, HF_FOREVER, err)
                     : hf_queue_done(lock, err);
    if (status == HF_OK)
        atomic_fetch_add(&one->ended, 1);
    return status;
}

/* Until a call fails. A lease may end on a busy machine. */
static void work_on(worker *self, hf_lock *lock, hf_error *err)
{
    prng random = prng_of((uint64_t)test_now_ms(), (uint64_t)getpid(), 0);
    hf_status status = HF_EXPIRED;
    bool has_job = false;

    while (status == HF_OK || status == HF_EXPIRED || status == HF_LOST) {
        bool by_next = prng_chance(&random, 50);

        if (has_job && status == HF_OK) {
            status = work_once(self, lock, by_next, err);
            has_job = by_next;
        } else {
            status = hf_lock_acquire(lock, HF_FOREVER, err);
            has_job = true;
        }
    }
}

static _Noreturn void work(worker *self)
{
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_lock *lock = NULL;
    hf_client *client;
    hf_status status;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    opts.ttl_ms = TTL_MS;
    status = hf_client_open(url, NULL, &client, &err);
    if (status == HF_OK)
        status = hf_queue_new(client, hf_str("jobs"), &opts, &lock, &err);
    if (status == HF_OK)
        work_on(self, lock, &err);
    snprintf(shared->failure, sizeof(shared->failure), "%s", err.message);
    _exit(1);
}

static bool start(size_t i)
{
    atomic_store(&shared->workers[i].taken, 0);
    pids[i] = fork();
    if (pids[i] == 0)
        work(&shared->workers[i]);
    return pids[i] > 0;
}

static bool put_one(hf_client *client)
{
    hf_error err = HF_ERROR_INIT;
    char id[24];

    if (put_count >= JOBS_MAX)
        return true;
    snprintf(id, sizeof(id), "%ld", put_count);
    if (hf_queue_put(client, hf_str("jobs"), hf_str(id), hf_str("payload"),
                     NULL, &err) != HF_OK) {
        printf("violation: put: %s\n", err.message);
        return false;
    }
    put_count++;
    return true;
}

/* Now and then there are fewer jobs than workers, and now and then more. */
static bool kill_some(hf_client *client, long kills)
{
    prng random = prng_of((uint64_t)test_now_ms(), 0, 0);

    for (long i = 0; i < kills; i++) {
        size_t victim = prng_below(&random, WORKERS);
        int64_t limit_ms = test_now_ms() + START_MS;

        while (atomic_load(&shared->workers[victim].taken) == 0) {
            if (test_now_ms() > limit_ms || shared->failure[0] != '\0') {
                printf("violation: no progress: %s\n", shared->failure);
                return false;
            }
            for (uint64_t n = prng_below(&random, 4); n > 0; n--)
                if (!put_one(client))
                    return false;
            (void)usleep(1000);
        }
        /* With the cheat, while it has its first job. */
        (void)usleep((useconds_t)prng_below(&random, cheats ? 1 : 10000));
        kill_child(pids[victim]);
        if (!start(victim))
            return false;
    }
    return true;
}

/* All that was put is done, by those that live. */
static bool drain(hf_client *client)
{
    int64_t limit_ms = test_now_ms() + 2 * START_MS;
    hf_queue_info info = HF_QUEUE_INFO_INIT;
    hf_error err = HF_ERROR_INIT;

    do {
        if (hf_queue_inspect(client, hf_str("jobs"), &info, &err) != HF_OK) {
            printf("violation: inspect: %s\n", err.message);
            return false;
        }
        if (info.ready + info.taken + info.delayed + info.dead == 0)
            return true;
        (void)usleep(5000);
    } while (test_now_ms() < limit_ms && shared->failure[0] == '\0');
    printf("violation: %lld ready, %lld taken, %lld dead at the end %s\n",
           (long long)info.ready, (long long)info.taken, (long long)info.dead,
           shared->failure);
    return false;
}

/* How many jobs were first taken clearly after one that was put later: workers
 * to which jobs are given at once may ask in another order, and a token is an
 * instant in us. */
static long count_late(void)
{
    uint64_t least = UINT64_MAX;
    long late = 0;

    for (long i = put_count - 1; i >= 0; i--) {
        uint64_t first = atomic_load(&shared->jobs[i].first);

        if (first == 0)
            continue;
        late += first > least && first - least > LATE_US;
        least = first < least ? first : least;
    }
    return late;
}

static bool check_jobs(long kills)
{
    long lost = 0, twice = 0, late = count_late();

    for (long i = 0; i < put_count; i++) {
        lost += atomic_load(&shared->jobs[i].ending) == 0;
        twice += atomic_load(&shared->jobs[i].ended) > 1;
    }
    printf("%ld kills, %ld jobs taken %ld times; %ld lost, %ld ended twice, "
           "%d shared, %ld late\n",
           kills, put_count, atomic_load(&shared->total), lost, twice,
           atomic_load(&shared->shared_jobs), late);
    if (lost + twice + atomic_load(&shared->shared_jobs) == 0 && late <= kills)
        return true;
    printf("violation: lost, ended twice, shared or too late\n");
    return false;
}

static bool run(const char *store_url, long kills)
{
    hf_error err = HF_ERROR_INIT;
    hf_client *client = NULL;
    bool fine = true;

    url = store_url;
    for (size_t i = 0; i < WORKERS; i++)
        fine = start(i) && fine;
    fine = fine && hf_client_open(url, NULL, &client, &err) == HF_OK &&
           kill_some(client, kills) && drain(client);
    for (size_t i = 0; i < WORKERS; i++)
        kill_child(pids[i]);
    hf_client_close(client);
    return check_jobs(kills) && fine;
}

int main(int argc, char **argv)
{
    kill_options opts = kill_options_of(argc, argv, 50);

    cheats = opts.cheats;
    (void)setvbuf(stdout, NULL, _IONBF, 0);
    shared = share_memory(sizeof(*shared));
    return place_run(opts.store, run, opts.kills) ? 0 : 1;
}
