/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_transport_waiters.c - the cost of 1000 waiters for one lock while
 * nothing happens, as calls of one client and as separate clients, and how soon
 * one of them gets a lock that is released.
 */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "bench_transport.h"
#include "holdfast/lock.h"

#define WAITERS 1000
#define IDLE_S 5
#define IDLE_QUICK_S 1

/* Separate clients: each polls, less often the more are ahead of it in the
 * queue, and for the first time after some seconds. */
#define CLIENTS_QUICK 20
#define WARM_UP_S 60
#define IDLE_APART_S 30

/* Per client: three connections, an alarm, and the loop's descriptors. */
#define DESCRIPTORS_EACH 12

/* The holder does not renew meanwhile. */
#define TTL_MS 600000

static bool raise_descriptors(int count)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return bench_fail("cannot read the limit of file descriptors");
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_max < (rlim_t)count)
        return bench_fail("%d file descriptors are needed", count);
    return true;
}

/* The waiters of one lock: many calls of one client, or a client for each. */
typedef struct waiters {
    const char *name;  /* of the lock; a cancelled one may still be granted */
    hf_client *client; /* the holder's, and that of all calls; otherwise NULL */
    hf_lock *holder;
    int count;
    hf_client *clients[WAITERS];
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

static hf_status hold_lock(waiters *self, const transport *to, hf_error *error)
{
    hf_lock_options options = HF_LOCK_OPTIONS_INIT;
    hf_status status = hf_client_open(to->url, NULL, &self->client, error);

    options.ttl_ms = TTL_MS;
    if (status == HF_OK)
        status = hf_lock_new(self->client, hf_str(self->name), &options,
                             &self->holder, error);
    return status == HF_OK ? hf_lock_try(self->holder, error) : status;
}

static hf_status begin_one(waiters *self, int number, hf_client *client,
                           hf_error *error)
{
    hf_async async = HF_ASYNC_INIT;
    hf_status status = hf_lock_new(client, hf_str(self->name), NULL,
                                   &self->locks[number], error);

    async.done = on_done;
    async.user = self;
    async.call = &self->calls[number];
    if (status == HF_OK)
        status =
            hf_lock_acquire_start(self->locks[number], 600000, &async, error);
    return status;
}

static bool begin_waiting(waiters *self, const transport *to, bool apart)
{
    hf_client_options options = HF_CLIENT_OPTIONS_INIT;
    hf_error error = HF_ERROR_INIT;
    hf_status status = hold_lock(self, to, &error);

    options.connect_ms = 20000; /* a thousand handshakes */
    for (int i = 0; status == HF_OK && i < self->count; i++) {
        if (apart)
            status =
                hf_client_open(to->url, &options, &self->clients[i], &error);
        if (status == HF_OK)
            status = begin_one(self, i, apart ? self->clients[i] : self->client,
                               &error);
    }
    return status == HF_OK || bench_fail("%s", error.message);
}

static void dispatch_all(hf_client *client)
{
    struct pollfd ready = {.events = POLLIN};
    size_t running = 1;

    if (client == NULL || hf_client_fd(client, &ready.fd, NULL) != HF_OK)
        return;
    while (hf_client_dispatch(client, &running, NULL) == HF_OK && running > 0 &&
           poll(&ready, 1, 10000) == 1)
        continue;
}

static void end_waiting(waiters *self)
{
    for (int i = 0; i < self->count; i++) {
        if (self->calls[i] != NULL)
            hf_call_cancel(self->calls[i]);
    }
    for (int i = 0; i < self->count; i++) {
        dispatch_all(self->clients[i]);
        if (self->clients[i] == NULL)
            continue;
        hf_lock_free(self->locks[i]);
        self->locks[i] = NULL;
        hf_client_close(self->clients[i]);
    }
    dispatch_all(self->client);
    for (int i = 0; i < self->count; i++)
        hf_lock_free(self->locks[i]);
    hf_lock_free(self->holder);
    hf_client_close(self->client);
}

/* Release, and see how soon another has it: ms; -1: none got it. */
static double hand_over(waiters *self)
{
    struct pollfd ready[WAITERS];
    nfds_t count = 0;
    double start_s;

    for (int i = 0; i < self->count; i++) {
        if (self->clients[i] == NULL)
            continue;
        ready[count] = (struct pollfd){.events = POLLIN};
        if (hf_client_fd(self->clients[i], &ready[count++].fd, NULL) != HF_OK)
            return -1;
    }
    start_s = bench_now_s();
    if (hf_lock_release(self->holder, NULL) != HF_OK ||
        poll(ready, count, 10000) < 1)
        return -1;
    return (bench_now_s() - start_s) * 1000;
}

static void print_waiters(const transport *to, const waiters *self, bool apart,
                          double percent, double hand_over_ms)
{
    const char *name = apart ? "idle_clients" : "idle_waiters";
    bool asked = to->tls == NULL;

    if (!to->run->json) {
        printf("%s %-3s %d: %.3f %% of a core, client and server together%s",
               name, to->name, self->count, percent, asked ? " (asked 1)" : "");
        if (apart)
            printf("; a release wakes one in %.3f ms", hand_over_ms);
        putchar('\n');
        fflush(stdout);
        return;
    }
    printf("{\"bench\":\"%s\",\"store\":\"%s\",\"waiters\":%d,"
           "\"percent_of_a_core\":%.3f",
           name, to->name, self->count, percent);
    if (apart)
        printf(",\"hand_over_ms\":%.3f", hand_over_ms);
    if (asked)
        printf(",\"asked_percent\":1,\"met\":%s",
               percent < 1 ? "true" : "false");
    puts("}");
    fflush(stdout);
}

static bool measure_waiters(const transport *to, waiters *self, bool apart,
                            int warm_up_s, int idle_s)
{
    struct timespec warm_up = {warm_up_s, 0};
    struct timespec idle = {idle_s, 0};
    double server_s, client_s, percent, hand_over_ms = 0;

    if (!begin_waiting(self, to, apart))
        return false;
    nanosleep(&warm_up, NULL);
    server_s = transport_server_cpu_s(to);
    client_s = transport_client_cpu_s();
    nanosleep(&idle, NULL);
    percent = (transport_server_cpu_s(to) - server_s +
               transport_client_cpu_s() - client_s) *
              100 / (double)idle_s;
    if (apart)
        hand_over_ms = hand_over(self);
    if (hand_over_ms < 0)
        return bench_fail("no waiter got the lock");
    print_waiters(to, self, apart, percent, hand_over_ms);
    return true;
}

bool transport_waiters(const transport *to)
{
    static waiters self;
    bool quick = to->run->quick;
    bool ok;

    memset(&self, 0, sizeof(self));
    self.name = "awaited";
    self.count = WAITERS;
    ok = measure_waiters(to, &self, false, 1, quick ? IDLE_QUICK_S : IDLE_S);
    end_waiting(&self);
    if (!ok)
        return false;
    memset(&self, 0, sizeof(self));
    self.name = "awaited apart";
    self.count = quick ? CLIENTS_QUICK : WAITERS;
    if (!raise_descriptors(self.count * DESCRIPTORS_EACH))
        return false;
    ok = measure_waiters(to, &self, true, quick ? IDLE_QUICK_S : WARM_UP_S,
                         quick ? IDLE_QUICK_S : IDLE_APART_S);
    end_waiting(&self);
    return ok;
}
