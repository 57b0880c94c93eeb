/* SPDX-License-Identifier: Apache-2.0 */
/* stream.c - see stream.h. */
#include "core/stream.h"

#include <stddef.h>

#include "core/async.h"
#include "core/client.h"
#include "util/clock.h"
#include "util/cond.h"
#include "util/container.h"
#include "util/error.h"
#include "util/mem.h"

void hf__stream_init(hf__stream *self, hf_client *client,
                     const hf__stream_kind *kind)
{
    *self = (hf__stream){.client = client, .kind = kind};
    self->calls_end = &self->calls;
    pthread_mutex_init(&self->mutex, NULL);
    hf__cond_init(&self->changed);
}

void hf__stream_done(hf__stream *self, bool forked)
{
    if (forked)
        return;
    pthread_cond_destroy(&self->changed);
    pthread_mutex_destroy(&self->mutex);
}

/* ------------------------------------------------------------ started calls */

/* What a started call was given. The stream may be gone when it is finished. */
typedef struct given {
    const hf__stream_kind *kind;
    _Alignas(max_align_t) char item[];
} given;

/* Remove it; false: it is no longer there. */
static bool remove_locked(hf__stream *self, const hf_call *call)
{
    hf_call **at = &self->calls;

    while (*at != NULL && *at != call)
        at = &(*at)->next;
    if (*at == NULL)
        return false;
    *at = call->next;
    if (*at == NULL)
        self->calls_end = at;
    return true;
}

static void fail_stream(hf_call *call, hf_status status, const char *why)
{
    hf__request_fail(&call->request, status, "%s", why);
    hf__call_complete(call);
}

void hf__stream_serve(hf__stream *self)
{
    hf_error error = HF_ERROR_INIT;
    hf_status status = HF_OK;
    hf_call *call;

    do {
        pthread_mutex_lock(&self->mutex);
        pthread_cond_broadcast(&self->changed);
        call = self->kind->has(self) ? self->calls : NULL;
        if (call != NULL) {
            (void)remove_locked(self, call);
            status =
                self->kind->take(self, ((given *)call->owned)->item, &error);
        }
        pthread_mutex_unlock(&self->mutex);
        if (call != NULL && status == HF_OK)
            hf__call_complete(call);
        else if (call != NULL)
            fail_stream(call, status, error.message);
    } while (call != NULL);
}

void hf__stream_end(hf__stream *self, hf_status status, const char *why)
{
    hf_call *call;

    do {
        pthread_mutex_lock(&self->mutex);
        call = self->calls;
        if (call != NULL)
            (void)remove_locked(self, call);
        pthread_mutex_unlock(&self->mutex);
        if (call != NULL)
            fail_stream(call, status, why);
    } while (call != NULL);
}

/* While the call is pending, its stream cannot be freed. */
static void cancel_stream(hf_call *call)
{
    hf__stream *self = call->context;
    bool removed;

    if (!hf__call_lock_pending(call))
        return;
    pthread_mutex_lock(&self->mutex);
    removed = remove_locked(self, call);
    pthread_mutex_unlock(&self->mutex);
    hf__call_unlock_pending(call);
    if (removed)
        fail_stream(call, HF_CANCELLED, "cancelled");
}

static hf_status finish_stream(hf_call *call, hf_error *err)
{
    given *self = call->owned;

    (void)err;
    self->kind->move(call->out, self->item);
    return HF_OK;
}

static void release_stream(hf_call *call)
{
    given *self = call->owned;

    self->kind->free(self->item);
    hf__free(self);
}

static hf_status prepare_stream(const hf__stream *self, hf_call *call,
                                void *item, hf_error *err)
{
    given *made = hf__calloc(1, sizeof(*made) + self->kind->item_size);

    if (made == NULL)
        return hf__fail(err, HF_NO_MEMORY, "a call");
    made->kind = self->kind;
    call->owned = made;
    call->release = release_stream;
    call->out = item;
    call->finish = finish_stream;
    call->cancel = cancel_stream;
    return hf__call_enter(call, false, err);
}

hf_status hf__stream_next_start(hf__stream *self, void *item,
                                const hf_async *async, hf_error *err)
{
    hf_call *call;
    hf_status status = hf__call_new(self->client, async, &call, err);

    if (status != HF_OK)
        return status;
    hf__call_init(call, self->client);
    status = prepare_stream(self, call, item, err);
    if (status != HF_OK) {
        hf__call_discard(call);
        return status;
    }
    call->context = self;
    hf__call_start_begin(call, async);
    pthread_mutex_lock(&self->mutex);
    call->next = NULL;
    *self->calls_end = call;
    self->calls_end = &call->next;
    pthread_mutex_unlock(&self->mutex);
    hf__stream_serve(self);
    hf__call_start_end(call);
    return HF_OK;
}

/* ---------------------------------------------------------- blocking calls */

typedef struct waiter {
    hf__sleeper sleeper;
    hf__stream *stream;
    unsigned interrupts; /* the client's counter when it began */
} waiter;

static void wake_waiter(hf__sleeper *sleeper)
{
    hf__stream *self = hf__container_of(sleeper, waiter, sleeper)->stream;

    pthread_mutex_lock(&self->mutex);
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->mutex);
}

static hf_status await_locked(const waiter *wait, int64_t until_ms,
                              hf_error *err)
{
    hf__stream *self = wait->stream;

    while (!self->kind->has(self)) {
        if (hf__client_interrupted(self->client, wait->interrupts))
            return hf__fail(err, HF_CANCELLED, HF__INTERRUPTED);
        if (hf__clock_boot_ms() >= until_ms)
            return hf__fail(err, HF_TIMEOUT, "%s", self->kind->timeout);
        hf__cond_wait_until(&self->changed, &self->mutex, until_ms);
    }
    return HF_OK;
}

static hf_status next_by(waiter *wait, void *item, int64_t until_ms,
                         hf_error *err)
{
    hf__stream *self = wait->stream;
    hf__interrupts *interrupts = &self->client->interrupts;
    hf_status status;

    wait->interrupts = atomic_load(&interrupts->count);
    hf__sleeper_add(interrupts, &wait->sleeper);
    pthread_mutex_lock(&self->mutex);
    status = await_locked(wait, until_ms, err);
    if (status == HF_OK)
        status = self->kind->take(self, item, err);
    pthread_mutex_unlock(&self->mutex);
    hf__sleeper_remove(interrupts, &wait->sleeper);
    return status;
}

hf_status hf__stream_next(hf__stream *self, void *item, int64_t wait_ms,
                          hf_error *err)
{
    waiter wait = {.sleeper = {.wake = wake_waiter, .about = self},
                   .stream = self};
    hf_status status = hf__check_wait(wait_ms, err);

    if (status == HF_OK)
        status = hf__client_enter_blocking(self->client, err);
    if (status != HF_OK)
        return status;
    status = next_by(&wait, item, hf__clock_after(hf__clock_boot_ms(), wait_ms),
                     err);
    hf__life_leave(&self->client->life);
    return status;
}
