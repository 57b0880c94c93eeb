/* SPDX-License-Identifier: Apache-2.0 */
/*
 * many.c - see many.h.
 *
 * The calls go to the store in windows: one submit() each, so that they share
 * writes on a connection, or a transaction; then this thread sleeps until all
 * of the window have completed.
 */
#include "core/many.h"

#include <pthread.h>

#include "core/client.h"
#include "util/clock.h"
#include "util/cond.h"
#include "util/error.h"
#include "util/mem.h"
#include "util/order.h"

typedef struct window {
    hf_client *client;
    hf__many_prepare prepare;
    const void *user;
    size_t first; /* number of its first call */
    size_t count;
    hf_status *statuses; /* of these calls */
    int64_t limit_ms;
    hf_error *err; /* NULL once one has failed */
    hf_status failed;

    hf_call *calls;
    hf__request **requests;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    size_t open; /* submitted and not complete; guarded by mutex */
} window;

/* Statuses in which the store has answered. */
static bool is_answer(hf_status status)
{
    hf_kind kind = hf_status_kind(status);

    return kind == HF_KIND_OK || kind == HF_KIND_NO;
}

static void settle(window *self, size_t at, hf_status status,
                   const hf_error *detail)
{
    self->statuses[at] = status;
    if (is_answer(status) || self->failed != HF_OK)
        return;
    self->failed = hf__fail(self->err, status, "item %zu: %s", self->first + at,
                            detail->message);
}

static void call_done(hf__request *request)
{
    window *self = request->user;
    hf_call *call = (hf_call *)((char *)request - offsetof(hf_call, request));

    if (call->answered != NULL)
        call->answered(call);
    pthread_mutex_lock(&self->mutex);
    if (--self->open == 0)
        pthread_cond_signal(&self->changed);
    pthread_mutex_unlock(&self->mutex);
}

/* Prepare all; the number of those that are to be submitted. */
static size_t prepare_all(window *self)
{
    size_t ready = 0;

    for (size_t i = 0; i < self->count; i++) {
        hf_error detail = HF_ERROR_INIT;
        hf_call *call = &self->calls[i];
        hf_status status = self->prepare(call, self->client, self->user,
                                         self->first + i, &detail);

        if (status == HF_OK)
            status = hf__request_stamp(self->client, &call->request,
                                       self->limit_ms, &detail);
        settle(self, i, status, &detail);
        if (status != HF_OK || call->settled)
            continue;
        call->request.on_done = call_done;
        call->request.user = self;
        self->requests[ready++] = &call->request;
    }
    return ready;
}

static void finish_all(window *self)
{
    for (size_t i = 0; i < self->count; i++) {
        hf_error detail = HF_ERROR_INIT;
        hf_call *call = &self->calls[i];
        hf_status status = self->statuses[i];

        if (status == HF_OK && !call->settled)
            status = call->request.status == HF_OK
                         ? HF_OK
                         : hf__call_refused(call, &detail);
        if (status == HF_OK && call->finish != NULL)
            status = call->finish(call, &detail);
        if (status != self->statuses[i])
            settle(self, i, status, &detail);
        hf__call_end(call);
        hf__call_leave(call);
    }
}

static void run_window(window *self)
{
    hf__store *store = self->client->store;

    self->open = prepare_all(self);
    if (self->open > 0) {
        store->ops->submit(store, self->requests, self->open);
        pthread_mutex_lock(&self->mutex);
        while (self->open > 0)
            hf__cond_wait_until(&self->changed, &self->mutex, INT64_MAX);
        pthread_mutex_unlock(&self->mutex);
    }
    finish_all(self);
}

/* Has the store answered none of the window? Then the others have no time of
 * their own: the caller should not wait for each in turn. */
static bool is_silent(const window *self)
{
    for (size_t i = 0; i < self->count; i++) {
        if (!hf__many_is_silence(self->statuses[i]))
            return false;
    }
    return true;
}

static hf_status run_windows(window *self, size_t count, hf_status *statuses)
{
    size_t done;

    pthread_mutex_init(&self->mutex, NULL);
    hf__cond_init(&self->changed);
    for (done = 0; done < count; done += self->count) {
        bool answers = done == 0 || !is_silent(self);

        self->first = done;
        self->count =
            count - done < HF__MANY_WINDOW ? count - done : HF__MANY_WINDOW;
        self->statuses = statuses + done;
        if (answers)
            self->limit_ms =
                hf__clock_after(hf__clock_boot_ms(), self->client->request_ms);
        run_window(self);
    }
    pthread_cond_destroy(&self->changed);
    pthread_mutex_destroy(&self->mutex);
    return self->failed;
}

hf_status hf__many_run(hf_client *client, size_t count, hf_status *statuses,
                       hf__many_prepare prepare, const void *user,
                       hf_error *err)
{
    size_t room = count < HF__MANY_WINDOW ? count : HF__MANY_WINDOW;
    window self = {.client = client, .prepare = prepare, .user = user};
    hf_status status = hf__client_enter_blocking(client, err);

    if (status != HF_OK)
        return status;
    if (count > 0)
        status = hf__check_out(statuses, "statuses", err);
    if (status != HF_OK || count == 0)
        goto leave;
    self.err = err;
    self.calls = hf__calloc(room, sizeof(*self.calls));
    self.requests = hf__calloc(room, sizeof(hf__request *));
    if (self.calls != NULL && self.requests != NULL)
        status = run_windows(&self, count, statuses);
    else
        status = hf__fail(err, HF_NO_MEMORY, "%zu calls", room);
    hf__free(self.requests);
    hf__free(self.calls);
leave:
    hf__life_leave(&client->life);
    return status;
}

hf_status hf__many_verdict(const hf_status *statuses, size_t count,
                           hf_error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (!is_answer(statuses[i]))
            return hf__fail(err, statuses[i], "item %zu: %s", i,
                            hf_status_text(statuses[i]));
    }
    return HF_OK;
}
