/* SPDX-License-Identifier: Apache-2.0 */
/*
 * once_kill.c - programs that do work once are killed at any instant: between
 * claim, effect and result, and while they wait.
 *
 *     once_kill [--kills N] [--store volatile|file|server] [--cheat]
 *
 * Workers do one job after another. Before the effect of a job a worker marks
 * it in shared memory, and before the result it announces a number, which is
 * the result. Then:
 *
 * 1. no two workers have valid leases of one job;
 * 2. a job that is done has a number that was announced for it, and keeps it;
 * 3. a job whose effect has begun, without a failure that its worker reported,
 *    is claimed again only by one that asks for work in doubt.
 *
 * With --cheat all ask for that, and say that they do not: the third is
 * violated.
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
#include "holdfast/once.h"
#include "support/prng.h"
#include "support/test_clock.h"

#define WORKERS 5
#define TTL_MS 150
#define JOBS 100000
#define NUMBERS 1000000
#define START_MS 60000

typedef struct worker {
    _Atomic int64_t until_ms; /* its lease is valid; 0: it has none */
    atomic_int job;
    atomic_long steps; /* since it was started */
} worker;

static struct shared {
    worker workers[WORKERS];
    atomic_int job;                /* the current one */
    atomic_int number;             /* the last that was announced */
    atomic_int announced[NUMBERS]; /* for which job, plus 1 */
    atomic_bool begun[JOBS];       /* its effect, see 3 */
    atomic_int result[JOBS];       /* as it was first found; 0: not yet */
    atomic_long claims, retries, doubts, found;
    char failure[256];
} * shared;

static pid_t pids[WORKERS];
static const char *url;
static bool cheats;

static void fail(const char *what, int job)
{
    if (shared->failure[0] == '\0')
        snprintf(shared->failure, sizeof(shared->failure), "%s: job %d", what,
                 job);
}

static void check_alone(const worker *self, int job)
{
    for (size_t i = 0; i < WORKERS; i++) {
        const worker *other = &shared->workers[i];

        if (other != self && atomic_load(&other->job) == job &&
            atomic_load(&other->until_ms) > test_now_ms())
            fail("two claims at a time", job);
    }
}

static void check_result(int job, int number)
{
    int first = 0;

    atomic_fetch_add(&shared->found, 1);
    if (number < 1 || number >= NUMBERS ||
        atomic_load(&shared->announced[number]) != job + 1)
        fail("done without a result", job);
    if (!atomic_compare_exchange_strong(&shared->result[job], &first, number) &&
        first != number)
        fail("a result has changed", job);
    (void)atomic_compare_exchange_strong(&shared->job, &job, job + 1);
}

/* The claim is held. Most complete it; some report a failure. */
static hf_status do_job(worker *self, hf_lock *claim, int job, bool retries,
                        prng *random, hf_error *err)
{
    int number = atomic_fetch_add(&shared->number, 1) + 1;
    bool begun = atomic_load(&shared->begun[job]);
    hf_status status;

    if (number >= NUMBERS)
        return HF_FULL;
    atomic_store(&self->job, job);
    atomic_store(&self->until_ms, test_now_ms() + hf_lock_remaining_ms(claim));
    check_alone(self, job);
    if (begun && !retries)
        fail("claimed again after its effect", job);
    atomic_store(&shared->begun[job], true);
    (void)usleep((useconds_t)prng_below(random, 3000));
    atomic_store(&self->until_ms, 0);
    if (prng_below(random, 8) == 0) {
        atomic_store(&shared->begun[job], begun);
        status = hf_lock_release(claim, err);
    } else {
        atomic_store(&shared->announced[number], job + 1);
        status = hf_once_complete(claim, number, hf_str("result"), err);
        if (status == HF_OK)
            check_result(job, number);
    }
    /* Another may have claimed it, after the lease ended on a busy machine. */
    if (status == HF_LOST || status == HF_EXPIRED)
        (void)!hf_lock_release(claim, NULL);
    return status == HF_LOST || status == HF_EXPIRED ? HF_OK : status;
}

static hf_status try_job(worker *self, hf_client *client, prng *random,
                         hf_error *err)
{
    int job = atomic_load(&shared->job), number;
    bool retries = prng_below(random, 3) == 0;
    hf_once_options once = HF_ONCE_OPTIONS_INIT;
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    hf_lock *claim;
    char key[32];
    hf_status status;

    snprintf(key, sizeof(key), "job%d", job);
    opts.ttl_ms = TTL_MS;
    once.flags = retries || cheats ? HF_ONCE_RETRY_DOUBT : 0;
    status = hf_once_new(client, hf_str(key), &once, &opts, &claim, err);
    if (status != HF_OK)
        return status;
    status = hf_lock_acquire(claim, HF_FOREVER, err);
    if (status == HF_OK) {
        atomic_fetch_add(retries ? &shared->retries : &shared->claims, 1);
        status = do_job(self, claim, job, retries, random, err);
    } else if (status == HF_CONFLICT) {
        status = hf_once_result(claim, &number, NULL, err);
        if (status == HF_OK)
            check_result(job, number);
    } else if (status == HF_EXPIRED) {
        atomic_fetch_add(&shared->doubts, 1);
        status = HF_OK;
    }
    hf_lock_free(claim);
    return status;
}

static _Noreturn void work(worker *self)
{
    prng random = prng_of((uint64_t)getpid(), 0, 0);
    hf_error err = HF_ERROR_INIT;
    hf_client *client;
    hf_status status;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    status = hf_client_open(url, NULL, &client, &err);
    while (status == HF_OK && atomic_load(&shared->job) < JOBS - 1) {
        status = try_job(self, client, &random, &err);
        atomic_fetch_add(&self->steps, 1);
    }
    if (status != HF_OK)
        snprintf(shared->failure, sizeof(shared->failure), "HF_%s: %s",
                 hf_status_name(status), err.message);
    _exit(1);
}

static bool start(size_t i)
{
    atomic_store(&shared->workers[i].steps, 0);
    pids[i] = fork();
    if (pids[i] == 0)
        work(&shared->workers[i]);
    return pids[i] > 0;
}

static bool kill_some(long kills)
{
    prng random = prng_of((uint64_t)test_now_ms(), 0, 0);

    for (long i = 0; i < kills && shared->failure[0] == '\0'; i++) {
        size_t victim = prng_below(&random, WORKERS);
        int64_t limit_ms = test_now_ms() + START_MS;

        while (atomic_load(&shared->workers[victim].steps) == 0 &&
               shared->failure[0] == '\0') {
            if (test_now_ms() > limit_ms) {
                fail("no progress", atomic_load(&shared->job));
                return false;
            }
            (void)usleep(1000);
        }
        (void)usleep((useconds_t)prng_below(&random, 10000));
        kill_child(pids[victim]);
        if (!start(victim))
            return false;
    }
    return shared->failure[0] == '\0';
}

/* The last jobs are found as they were left. */
static bool check_all(void)
{
    hf_error err = HF_ERROR_INIT;
    hf_once_info info = HF_ONCE_INFO_INIT;
    hf_client *client = NULL;
    int jobs = atomic_load(&shared->job);
    bool fine = hf_client_open(url, NULL, &client, &err) == HF_OK;

    for (int job = 0; fine && job < jobs; job++) {
        char key[32];

        snprintf(key, sizeof(key), "job%d", job);
        fine = hf_once_inspect(client, hf_str(key), &info, &err) == HF_OK &&
               info.state == HF_ONCE_DONE &&
               info.status == atomic_load(&shared->result[job]);
        if (!fine)
            fail("is not as it was found", job);
    }
    hf_once_info_free(&info);
    hf_client_close(client);
    return fine;
}

static bool run(const char *store_url, long kills)
{
    bool fine = true;

    url = store_url;
    for (size_t i = 0; i < WORKERS; i++)
        fine = start(i) && fine;
    fine = fine && kill_some(kills);
    for (size_t i = 0; i < WORKERS; i++)
        kill_child(pids[i]);
    fine = fine && check_all();
    printf("%ld kills, %d jobs done, %ld claims, %ld of them also of work in "
           "doubt; found in doubt %ld times, done %ld times\n",
           kills, atomic_load(&shared->job),
           atomic_load(&shared->claims) + atomic_load(&shared->retries),
           atomic_load(&shared->retries), atomic_load(&shared->doubts),
           atomic_load(&shared->found));
    if (shared->failure[0] != '\0')
        printf("violation: %s\n", shared->failure);
    return fine && (cheats || atomic_load(&shared->doubts) > 0) &&
           atomic_load(&shared->job) > 0;
}

int main(int argc, char **argv)
{
    kill_options opts = kill_options_of(argc, argv, 100);

    cheats = opts.cheats;
    (void)setvbuf(stdout, NULL, _IONBF, 0);
    shared = share_memory(sizeof(*shared));
    return place_run(opts.store, run, opts.kills) ? 0 : 1;
}
