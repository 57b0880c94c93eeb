/* SPDX-License-Identifier: Apache-2.0 */
/* lock_chaos_worker.c - a process with a client and threads that use it. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lock_chaos.h"

static const chaos_place *place;
static unsigned round_number;

record *record_new(void)
{
    unsigned i = atomic_fetch_add(&shared->used, 1);

    return i < RECORDS_MAX ? &shared->records[i] : NULL;
}

void note_odd(const char *call, hf_status status, const hf_error *err)
{
    if (atomic_fetch_add(&shared->odd, 1) == 0)
        (void)snprintf(shared->odd_text, sizeof(shared->odd_text),
                       "%s: HF_%s: %s", call, hf_status_name(status),
                       err->message);
}

/* --------------------------------------------------------------------- data */

/* A call with an unknown outcome is as hard for the checker as several others,
 * of which a key has CALLS_PER_KEY. */
#define UNKNOWN_COUNTS 9

static void aim(session *data)
{
    uint32_t call = atomic_fetch_add(&shared->data_calls, 1);
    uint32_t key = atomic_load(&shared->epoch) * 100000u + call / CALLS_PER_KEY;

    if (key == data->key)
        return;
    data->key = key;
    for (size_t i = 0; i < 2; i++) {
        data->seen[i] = 0;
        (void)snprintf(data->name[i], sizeof(data->name[i]), "{%s%u.%u}:%zu",
                       data->model, round_number, key, i);
    }
}

/* All threads are at the same model at the same time, so that they meet. */
static void use_data(session *data, size_t calls)
{
    for (size_t i = 0; i < calls; i++) {
        uint32_t call = atomic_load(&shared->data_calls);
        const model *of = &models[call / CALLS_PER_KEY % data_model_count];

        if (data->model != of->name)
            data->key = UINT32_MAX;
        data->model = of->name;
        aim(data);
        data->now = record_new();
        if (data->now == NULL)
            return;
        of->act(data);
        if (hf_status_kind(data->now->status) == HF_KIND_UNKNOWN)
            (void)atomic_fetch_add(&shared->data_calls, UNKNOWN_COUNTS);
    }
}

/* ---------------------------------------------------------------- processes */

static void *work(void *client)
{
    worker_thread self = {.round = round_number};

    self.lease.client = self.data.client = client;
    self.lease.number = atomic_fetch_add(&shared->clients, 1) + 1;
    self.data.number = self.lease.number;
    self.data.cheat = self.lease.cheat = options.cheat;
    self.lease.random = prng_of(options.seed, round_number, self.lease.number);
    self.data.random = prng_of(options.seed, ~round_number, self.data.number);
    self.locks_only = !chaos_place_has_data(place);
    if (!handles_new(&self))
        note_odd("handles", HF_INVALID, &(hf_error)HF_ERROR_INIT);
    while (!atomic_load(&shared->stop) && atomic_load(&shared->odd) == 0) {
        if (!self.locks_only && prng_chance(&self.lease.random, 30))
            use_data(&self.data, 6);
        else
            hold_something(&self);
        (void)usleep((useconds_t)prng_below(&self.lease.random, 5000));
    }
    handles_free(&self);
    return NULL;
}

/* The store may be out of order at that time. */
static hf_client *open_client(size_t i)
{
    hf_client_options opts = HF_CLIENT_OPTIONS_INIT;
    hf_client *client = NULL;

    opts.request_ms = REQUEST_MS;
    opts.connect_ms = REQUEST_MS / 2;
    while (!atomic_load(&shared->stop) &&
           hf_client_open(place->urls[i], &opts, &client, NULL) != HF_OK)
        (void)usleep(20000);
    return client;
}

static _Noreturn void run(size_t i)
{
    pthread_t threads[THREADS];
    hf_client *client = open_client(i);
    size_t started = 0;

    while (client != NULL && started < THREADS &&
           pthread_create(&threads[started], NULL, work, client) == 0)
        started++;
    while (!atomic_load(&shared->stop))
        (void)usleep(5000);
    if (client != NULL)
        (void)!hf_client_interrupt(client, NULL);
    while (started > 0)
        (void)pthread_join(threads[--started], NULL);
    hf_client_close(client);
    _exit(0);
}

/* Without the proxies' descriptors: a connection that is kept open here would
 * not end when it is cut. */
bool worker_start(const chaos_place *at, unsigned round, size_t i)
{
    pid_t pid;

    place = at;
    round_number = round;
    pid = fork();
    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)close_range(3, ~0u, 0);
        wall_clock_keep(at->clock);
        run(i);
    }
    shared->pids[i] = pid;
    return pid > 0;
}

void worker_kill(size_t i)
{
    if (shared->pids[i] <= 0)
        return;
    (void)kill(shared->pids[i], SIGKILL);
    (void)waitpid(shared->pids[i], NULL, 0);
    shared->pids[i] = 0;
}
