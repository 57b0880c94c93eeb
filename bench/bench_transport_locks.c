/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_transport_locks.c - what many locks cost the server: renewing 100 000
 * of them at once, and 1000 waiters who sleep.
 *
 * The server's CPU is what INFO says of its main thread. The longest script is
 * the longest in SLOWLOG, which is wall time: on a busy machine it has what
 * others took in between, so the best of several rounds is told.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench_transport.h"

#define LOCKS 100000
#define LOCKS_QUICK 1000
#define ROUNDS 10

#define WAITERS 1000
#define IDLE_S 5
#define IDLE_QUICK_S 1

/* No renewal of the watchdog's own falls into the measurement. */
#define TTL_MS 600000

static double server_cpu_s(const transport *to)
{
    return transport_info(to, "used_cpu_user_main_thread") +
           transport_info(to, "used_cpu_sys_main_thread");
}

static double process_cpu_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static bool order(const transport *to, const char *command)
{
    char answer[128];

    return redis_server_command(to->server, command, answer, sizeof(answer)) &&
           (answer[0] != '-' || bench_fail("%s: %s", command, answer));
}

/* ----------------------------------------------------------------- renewals */

typedef struct renewals {
    hf_client *client;
    hf_lock **locks;
    hf_status *statuses;
    size_t count;
} renewals;

typedef struct round_figures {
    double wall_s;
    double client_s;
    double server_s;
    double longest_ms;
} round_figures;

static bool all_fine(const renewals *self, hf_status status,
                     const hf_error *error)
{
    if (status != HF_OK)
        return bench_fail("%s", error->message);
    for (size_t i = 0; i < self->count; i++) {
        if (self->statuses[i] != HF_OK)
            return bench_fail("lock %zu: HF_%s", i,
                              hf_status_name(self->statuses[i]));
    }
    return true;
}

static bool open_locks(renewals *self, const transport *to)
{
    hf_lock_options options = HF_LOCK_OPTIONS_INIT;
    hf_error error = HF_ERROR_INIT;
    char name[BENCH_NAME_SIZE];
    hf_status status = hf_client_open(to->url, NULL, &self->client, &error);

    self->count = to->run->quick ? LOCKS_QUICK : LOCKS;
    self->locks = calloc(self->count, sizeof(self->locks[0]));
    self->statuses = calloc(self->count, sizeof(self->statuses[0]));
    if (self->locks == NULL || self->statuses == NULL)
        return bench_fail("out of memory");
    options.ttl_ms = TTL_MS;
    for (size_t i = 0; status == HF_OK && i < self->count; i++) {
        snprintf(name, sizeof(name), "renewed-%06zu", i);
        status = hf_lock_new(self->client, hf_str(name), &options,
                             &self->locks[i], &error);
    }
    if (status == HF_OK)
        status = hf_lock_acquire_many(self->locks, self->count, 60000,
                                      self->statuses, &error);
    return all_fine(self, status, &error);
}

static void close_locks(renewals *self)
{
    if (self->client != NULL && self->locks != NULL &&
        hf_lock_release_many(self->locks, self->count, self->statuses, NULL) !=
            HF_OK)
        bench_fail("the locks were not released");
    for (size_t i = 0; self->locks != NULL && i < self->count; i++)
        hf_lock_free(self->locks[i]);
    free(self->locks);
    free(self->statuses);
    hf_client_close(self->client);
}

/* The third item of an entry of SLOWLOG GET is its us. */
static double longest_script_ms(const transport *to)
{
    static char answer[262144];
    const char *at = answer;
    double longest_us = 0, us;

    if (!redis_server_command(to->server, "SLOWLOG GET 500", answer,
                              sizeof(answer)))
        return 0;
    while ((at = strstr(at, "*6\r\n:")) != NULL) {
        at += 5;
        if (sscanf(at, "%*d\r\n:%*d\r\n:%lf", &us) == 1 && us > longest_us)
            longest_us = us;
    }
    return longest_us / 1000;
}

static bool renew(renewals *self, const transport *to, round_figures *round)
{
    hf_error error = HF_ERROR_INIT;
    double wall_s, client_s, server_s;
    hf_status status;

    if (!order(to, "SLOWLOG RESET"))
        return false;
    server_s = server_cpu_s(to);
    client_s = process_cpu_s();
    wall_s = bench_now_s();
    status =
        hf_lock_renew_many(self->locks, self->count, self->statuses, &error);
    round->wall_s = bench_now_s() - wall_s;
    round->client_s = process_cpu_s() - client_s;
    round->server_s = server_cpu_s(to) - server_s;
    round->longest_ms = longest_script_ms(to);
    return all_fine(self, status, &error);
}

static void print_renewals(const transport *to, size_t count,
                           const round_figures *best)
{
    bool asked = to->tls == NULL && !to->run->quick;

    if (!to->run->json) {
        printf("renew_many %-3s %zu locks: %.3f s wall, %.3f s server CPU "
               "(asked 0.3), longest script %.2f ms (asked 3), %.2f us client "
               "CPU a lock\n",
               to->name, count, best->wall_s, best->server_s, best->longest_ms,
               best->client_s * 1e6 / (double)count);
        return;
    }
    printf("{\"bench\":\"renew_many\",\"store\":\"%s\",\"locks\":%zu,"
           "\"wall_s\":%.3f,\"server_cpu_s\":%.3f,\"longest_script_ms\":%.3f,"
           "\"client_cpu_us_per_op\":%.3f",
           to->name, count, best->wall_s, best->server_s, best->longest_ms,
           best->client_s * 1e6 / (double)count);
    if (asked)
        printf(",\"asked_server_cpu_s\":0.3,\"asked_longest_script_ms\":3,"
               "\"met\":%s",
               best->server_s <= 0.3 && best->longest_ms <= 3 ? "true"
                                                              : "false");
    puts("}");
}

bool transport_renewals(const transport *to)
{
    int rounds = to->run->quick ? 1 : ROUNDS;
    round_figures best = {1e9, 1e9, 1e9, 1e9}, one = {0};
    renewals self = {0};
    bool ok = order(to, "CONFIG SET slowlog-log-slower-than 200 "
                        "slowlog-max-len 500") &&
              open_locks(&self, to);

    for (int i = 0; ok && i < rounds; i++) {
        ok = renew(&self, to, &one);
        best.wall_s = one.wall_s < best.wall_s ? one.wall_s : best.wall_s;
        if (one.client_s < best.client_s)
            best.client_s = one.client_s;
        if (one.server_s < best.server_s)
            best.server_s = one.server_s;
        if (one.longest_ms < best.longest_ms)
            best.longest_ms = one.longest_ms;
    }
    if (ok)
        print_renewals(to, self.count, &best);
    fflush(stdout);
    close_locks(&self);
    return ok && order(to, "CONFIG SET slowlog-log-slower-than 10000");
}

/* ------------------------------------------------------------------ waiters */

typedef struct waiters {
    hf_client *client;
    hf_lock *holder;
    hf_lock *locks[WAITERS];
    hf_call *calls[WAITERS];
    int done;
} waiters;

static void on_done(void *user, hf_status status, const hf_error *err)
{
    waiters *self = user;

    (void)status;
    (void)err;
    self->done++;
}

static bool begin_waiting(waiters *self, const transport *to)
{
    hf_lock_options options = HF_LOCK_OPTIONS_INIT;
    hf_async async = HF_ASYNC_INIT;
    hf_error error = HF_ERROR_INIT;
    hf_status status = hf_client_open(to->url, NULL, &self->client, &error);

    options.ttl_ms = TTL_MS;
    if (status == HF_OK)
        status = hf_lock_new(self->client, hf_str("awaited"), &options,
                             &self->holder, &error);
    if (status == HF_OK)
        status = hf_lock_try(self->holder, &error);
    async.done = on_done;
    async.user = self;
    for (int i = 0; status == HF_OK && i < WAITERS; i++) {
        status = hf_lock_new(self->client, hf_str("awaited"), &options,
                             &self->locks[i], &error);
        async.call = &self->calls[i];
        if (status == HF_OK)
            status =
                hf_lock_acquire_start(self->locks[i], 600000, &async, &error);
    }
    return status == HF_OK || bench_fail("%s", error.message);
}

static void end_waiting(waiters *self)
{
    struct pollfd ready = {.events = POLLIN};
    size_t running = 1;

    for (int i = 0; i < WAITERS; i++) {
        if (self->calls[i] != NULL)
            hf_call_cancel(self->calls[i]);
    }
    if (self->client != NULL &&
        hf_client_fd(self->client, &ready.fd, NULL) == HF_OK) {
        while (running > 0 && poll(&ready, 1, 10000) == 1 &&
               hf_client_dispatch(self->client, &running, NULL) == HF_OK)
            continue;
    }
    for (int i = 0; i < WAITERS; i++)
        hf_lock_free(self->locks[i]);
    hf_lock_free(self->holder);
    hf_client_close(self->client);
}

bool transport_waiters(const transport *to)
{
    struct timespec settle = {1, 0};
    struct timespec idle = {to->run->quick ? IDLE_QUICK_S : IDLE_S, 0};
    static waiters self;
    double server_s, client_s, percent;
    bool ok;

    memset(&self, 0, sizeof(self));
    ok = begin_waiting(&self, to);
    if (ok) {
        nanosleep(&settle, NULL);
        server_s = server_cpu_s(to);
        client_s = process_cpu_s();
        nanosleep(&idle, NULL);
        percent = (server_cpu_s(to) - server_s + process_cpu_s() - client_s) *
                  100 / (double)idle.tv_sec;
        if (to->run->json)
            printf("{\"bench\":\"idle_waiters\",\"store\":\"%s\","
                   "\"waiters\":%d,\"percent_of_a_core\":%.3f,"
                   "\"asked_percent\":1,\"met\":%s}\n",
                   to->name, WAITERS, percent, percent < 1 ? "true" : "false");
        else
            printf("waiters    %-3s %d idle: %.3f %% of a core, client and "
                   "server together (asked 1)\n",
                   to->name, WAITERS, percent);
        fflush(stdout);
    }
    end_waiting(&self);
    return ok;
}
