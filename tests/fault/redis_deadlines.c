/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_deadlines.c - how exactly calls end at their deadlines when a server is
 * dead, hangs, or cannot be reached.
 *
 *     redis_deadlines [CALLS]
 *
 * Every kind of call, each on a thread and with clients of its own, makes CALLS
 * calls for each of some deadlines, and the distribution of their ends, in ms
 * from the deadline, is printed. No call may end more than 20 ms after its
 * deadline, plus twice the lateness of a thread that only sleeps. Where
 * connecting is not refused, none may end more than 20 ms before. The first
 * call of a client has a connection on which it is sent: if it is not
 * repeatable it is HF_INDETERMINATE, never a success or a failure.
 */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "holdfast/lock.h"
#include "holdfast/script.h"
#include "holdfast/value.h"
#include "support/byte_proxy.h"
#include "support/redis_server.h"
#include "support/sleepers.h"
#include "support/slowness.h"
#include "support/test_clock.h"

#define EXACT_US 20000
#define CALLS_MAX 1000
#define ITEMS 3

static const int64_t deadlines_ms[] = {60, 150, 400};
#define DEADLINES (sizeof(deadlines_ms) / sizeof(deadlines_ms[0]))

typedef enum call_kind {
    READ,
    WRITE,
    SCRIPT,
    LOCK,
    STARTED_READ,
    STARTED_WRITE,
    MANY_READ,
    KINDS
} call_kind;

static const char *const kind_names[KINDS] = {
    "get",         "set",         "script",  "try a lock",
    "started get", "started set", "get many"};

typedef enum fault_kind { DEAD, HUNG, UNREACHABLE, FAULTS } fault_kind;

static const char *const fault_names[FAULTS] = {"dead", "hung", "unreachable"};

static redis_server *server;
static byte_proxy *proxy;
static int calls = 8;
static atomic_int violations;
static sleepers *late;

/* The calls of one kind during one fault. */
typedef struct series {
    call_kind kind;
    fault_kind fault;
    pthread_t thread;
    hf_client *clients[DEADLINES];
    hf_script *scripts[DEADLINES];
    hf_lock *locks[DEADLINES];
    int64_t late_us[DEADLINES * CALLS_MAX];
    size_t count;
    unsigned unknown, unapplied;
} series;

static int64_t now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void violation(const series *self, const char *what)
{
    printf("violation: server %s, %s: %s\n", fault_names[self->fault],
           kind_names[self->kind], what);
    atomic_fetch_add(&violations, 1);
}

/* -------------------------------------------------------------------- calls */

typedef struct outcome {
    bool told;
    hf_status status;
} outcome;

static void note(void *user, hf_status status, const hf_error *err)
{
    outcome *self = user;

    (void)err;
    self->told = true;
    self->status = status;
}

static hf_status start(hf_client *client, bool writes)
{
    struct pollfd waiting = {.events = POLLIN};
    hf_async async = HF_ASYNC_INIT;
    outcome to = {false, HF_SYSTEM};
    hf_buffer value = HF_BUFFER_INIT;
    hf_status status;

    async.done = note;
    async.user = &to;
    status =
        writes ? hf_value_set_start(client, hf_str("k"), hf_str("v"), NULL,
                                    NULL, &async, NULL)
               : hf_value_get_start(client, hf_str("k"), &value, &async, NULL);
    if (status != HF_OK || hf_client_fd(client, &waiting.fd, NULL) != HF_OK)
        return HF_SYSTEM;
    while (!to.told) {
        poll(&waiting, 1, 1000);
        (void)!hf_client_dispatch(client, NULL, NULL);
    }
    hf_buffer_free(&value);
    return to.status;
}

static hf_status get_many(hf_client *client)
{
    hf_bytes keys[ITEMS] = {hf_str("a"), hf_str("b"), hf_str("c")};
    hf_buffer values[ITEMS] = {HF_BUFFER_INIT, HF_BUFFER_INIT, HF_BUFFER_INIT};
    hf_status statuses[ITEMS];
    hf_status status =
        hf_value_get_many(client, keys, ITEMS, values, statuses, NULL);

    for (int i = 0; i < ITEMS; i++)
        hf_buffer_free(&values[i]);
    return status;
}

static hf_status call(const series *self, size_t at)
{
    hf_client *client = self->clients[at];
    hf_buffer value = HF_BUFFER_INIT;
    hf_bytes key = hf_str("k");
    hf_reply *reply = NULL;
    hf_status status;

    switch (self->kind) {
    case READ:
        status = hf_value_get(client, key, &value, NULL);
        hf_buffer_free(&value);
        return status;
    case WRITE:
        return hf_value_set(client, key, hf_str("v"), NULL, NULL, NULL);
    case SCRIPT:
        status =
            hf_script_run(self->scripts[at], &key, 1, NULL, 0, &reply, NULL);
        hf_reply_free(reply);
        return status;
    case LOCK:
        return hf_lock_try(self->locks[at], NULL);
    case STARTED_READ:
    case STARTED_WRITE:
        return start(client, self->kind == STARTED_WRITE);
    default:
        return get_many(client);
    }
}

/* ------------------------------------------------------------------- series */

/* The deadline is short, and the machine may be busy. */
static bool load_script(series *self, size_t i)
{
    hf_error err = HF_ERROR_INIT;

    for (int tries = 0; tries < 100; tries++) {
        if (hf_script_load(self->clients[i],
                           hf_str("return redis.call('append', KEYS[1], 'x')"),
                           &self->scripts[i], &err) == HF_OK)
            return true;
    }
    fprintf(stderr, "%s: %s\n", hf_status_name(err.status), err.message);
    return false;
}

/* So that a connection exists. */
static bool has_answered(series *self, size_t i)
{
    hf_status status = HF_UNAVAILABLE;

    for (int tries = 0; tries < 100; tries++) {
        status = call(self, i);
        (void)!hf_lock_release(self->locks[i], NULL);
        if (status != HF_UNAVAILABLE && status != HF_INDETERMINATE)
            return true;
    }
    fprintf(stderr, "%s\n", hf_status_name(status));
    return false;
}

static bool open_series(series *self)
{
    for (size_t i = 0; i < DEADLINES; i++) {
        hf_client_options options = HF_CLIENT_OPTIONS_INIT;
        char name[32];

        options.request_ms = deadlines_ms[i];
        snprintf(name, sizeof(name), "lock%d.%zu", self->kind, i);
        if (hf_client_open(byte_proxy_tcp_url(proxy), &options,
                           &self->clients[i], NULL) != HF_OK ||
            !load_script(self, i) ||
            hf_lock_new(self->clients[i], hf_str(name), NULL, &self->locks[i],
                        NULL) != HF_OK ||
            !has_answered(self, i))
            return false;
    }
    return true;
}

static void close_series(series *self)
{
    for (size_t i = 0; i < DEADLINES; i++) {
        hf_lock_free(self->locks[i]);
        hf_script_free(self->scripts[i]);
        hf_client_close(self->clients[i]);
    }
}

static bool may_repeat(call_kind kind)
{
    return kind == READ || kind == LOCK || kind == STARTED_READ ||
           kind == MANY_READ;
}

static void judge(series *self, hf_status status, bool first)
{
    self->unknown += status == HF_INDETERMINATE;
    self->unapplied += status == HF_UNAVAILABLE;
    if (status != HF_INDETERMINATE && status != HF_UNAVAILABLE)
        violation(self, hf_status_name(status));
    if (first && self->fault != DEAD && !may_repeat(self->kind) &&
        status != HF_INDETERMINATE)
        violation(self, "it was sent, and is not HF_INDETERMINATE");
}

static void *run_series(void *user)
{
    series *self = user;

    for (size_t i = 0; i < DEADLINES; i++) {
        for (int at = 0; at < calls; at++) {
            int64_t began_us = now_us();
            hf_status status = call(self, i);

            self->late_us[self->count++] =
                now_us() - began_us - deadlines_ms[i] * 1000;
            judge(self, status, at == 0);
        }
    }
    return NULL;
}

static int by_size(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a;
    int64_t right = *(const int64_t *)b;

    return (left > right) - (left < right);
}

static void report(series *self)
{
    size_t last = self->count - 1;

    qsort(self->late_us, self->count, sizeof(self->late_us[0]), by_size);
    printf("server %-11s %-11s %3zu calls end, in ms from the deadline: least "
           "%+7.1f, 5%% %+7.1f, median %+7.1f, 95%% %+7.1f, most %+7.1f; %u "
           "unknown, %u not applied\n",
           fault_names[self->fault], kind_names[self->kind], self->count,
           (double)self->late_us[0] / 1000,
           (double)self->late_us[last * 5 / 100] / 1000,
           (double)self->late_us[last / 2] / 1000,
           (double)self->late_us[last * 95 / 100] / 1000,
           (double)self->late_us[last] / 1000, self->unknown, self->unapplied);
    if (!took_between(self->late_us[last] / 1000, INT64_MIN,
                      (EXACT_US + 2 * sleepers_late_us(late)) / 1000))
        violation(self, "a call ended late");
    if (self->fault != DEAD && self->late_us[0] < -EXACT_US)
        violation(self, "a call ended early");
}

/* ------------------------------------------------------------------- faults */

static void begin_fault(fault_kind fault)
{
    if (fault == UNREACHABLE) {
        byte_proxy_darken(proxy);
    } else if (fault == HUNG) {
        redis_server_pause(server);
    } else {
        byte_proxy_refuse(proxy, true);
        byte_proxy_break(proxy, BYTE_END_RESET);
        redis_server_kill(server);
    }
}

static void end_fault(fault_kind fault)
{
    byte_proxy_heal(proxy);
    if (fault == HUNG)
        redis_server_resume(server);
    if (fault != DEAD)
        return;
    byte_proxy_refuse(proxy, false);
    if (!redis_server_restart(server))
        exit(EXIT_FAILURE);
}

static void run_fault(fault_kind fault)
{
    static series all[KINDS];

    memset(all, 0, sizeof(all));
    for (call_kind kind = 0; kind < KINDS; kind++) {
        all[kind].kind = kind;
        all[kind].fault = fault;
        if (!open_series(&all[kind]))
            exit(EXIT_FAILURE);
    }
    begin_fault(fault);
    for (call_kind kind = 0; kind < KINDS; kind++) {
        if (pthread_create(&all[kind].thread, NULL, run_series, &all[kind]) !=
            0)
            exit(EXIT_FAILURE);
    }
    for (call_kind kind = 0; kind < KINDS; kind++) {
        pthread_join(all[kind].thread, NULL);
        report(&all[kind]);
    }
    end_fault(fault);
    for (call_kind kind = 0; kind < KINDS; kind++)
        close_series(&all[kind]);
}

int main(int count, char **words)
{
    if (count > 1)
        calls = (int)strtol(words[1], NULL, 10);
    if (calls < 1 || calls > CALLS_MAX)
        return 64;
    setvbuf(stdout, NULL, _IOLBF, 0);
    server = redis_server_start(NULL);
    if (server == NULL)
        return EXIT_FAILURE;
    proxy = byte_proxy_start(redis_server_socket_path(server));
    late = sleepers_start();
    if (proxy == NULL || late == NULL)
        return EXIT_FAILURE;
    for (fault_kind fault = 0; fault < FAULTS; fault++)
        run_fault(fault);
    byte_proxy_stop(proxy);
    redis_server_stop(server);
    printf("the machine was late by %.1f ms; %d violations\n",
           (double)sleepers_late_us(late) / 1000, atomic_load(&violations));
    sleepers_stop(late);
    return atomic_load(&violations) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
