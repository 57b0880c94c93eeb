/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gather.c - see gather.h.
 *
 * Locks: `mutex` guards what the deliveries change, which may be on several
 * threads, and the calls, which are gone once they were delivered: it is held
 * while one of them is cancelled.
 */
#include "core/gather.h"

#include "core/async.h"
#include "core/client.h"
#include "core/many.h"
#include "util/error.h"
#include "util/mem.h"

typedef struct gather_item {
    struct hf__gather *all;
    hf_call *call; /* NULL: not started, or delivered */
    bool delivered;
} gather_item;

typedef struct hf__gather {
    hf_call *call; /* the caller's */
    hf_status *statuses;
    size_t count;
    pthread_mutex_t mutex;
    size_t left;      /* to be delivered, and 1 until all were started */
    size_t failed_at; /* the first that has no answer */
    bool cancelled;   /* also those that are started later */
    gather_item items[];
} hf__gather;

static void free_gather(hf_call *call)
{
    hf__gather *self = call->owned;

    pthread_mutex_destroy(&self->mutex);
    hf__free(self);
}

/* --------------------------------------------------------------------- ends */

static void note_locked(hf__gather *self, size_t at, hf_status status,
                        const hf_error *detail)
{
    hf__request *request = &self->call->request;

    self->statuses[at] = status;
    if (hf__many_is_answer(status) || at > self->failed_at)
        return;
    self->failed_at = at;
    request->status =
        hf__fail(&request->error, status, "item %zu: %s", at, detail->message);
}

/* The caller may free it as soon as the last share is gone. */
static void drop_share(hf__gather *self, size_t at, hf_status status,
                       const hf_error *detail)
{
    bool last;

    pthread_mutex_lock(&self->mutex);
    if (at < self->count) {
        self->items[at].call = NULL;
        self->items[at].delivered = true;
        note_locked(self, at, status, detail);
    }
    last = --self->left == 0;
    pthread_mutex_unlock(&self->mutex);
    if (last)
        hf__call_complete(self->call);
}

static void item_done(void *user, hf_status status, const hf_error *err)
{
    gather_item *item = user;
    hf__gather *self = item->all;

    drop_share(self, (size_t)(item - self->items), status, err);
}

static void cancel_gather(hf_call *call)
{
    hf__gather *self = call->owned;

    pthread_mutex_lock(&self->mutex);
    self->cancelled = true;
    for (size_t i = 0; i < self->count; i++)
        hf__call_cancel(self->items[i].call);
    pthread_mutex_unlock(&self->mutex);
}

/* ------------------------------------------------------------------- starts */

static hf_status make_gather(hf_call *call, size_t count, hf_status *statuses,
                             hf_error *err)
{
    hf__gather *self =
        hf__calloc(1, sizeof(*self) + count * sizeof(gather_item));

    if (self == NULL)
        return hf__fail(err, HF_NO_MEMORY, "%zu calls", count);
    self->call = call;
    self->statuses = statuses;
    self->count = count;
    self->left = 1;
    self->failed_at = count;
    pthread_mutex_init(&self->mutex, NULL);
    for (size_t i = 0; i < count; i++)
        self->items[i].all = self;
    call->owned = self;
    call->release = free_gather;
    call->cancel = cancel_gather;
    return HF_OK;
}

static hf_status make_call(hf_client *client, bool leases, size_t count,
                           hf_status *statuses, const hf_async *async,
                           hf_call **made, hf_error *err)
{
    hf_status status = leases ? hf__call_new_lease(client, async, made, err)
                              : hf__call_new(client, async, made, err);

    if (status != HF_OK)
        return status;
    hf__call_init(*made, client);
    status = hf__call_enter(*made, false, err);
    if (status == HF_OK)
        status = make_gather(*made, count, statuses, err);
    if (status != HF_OK)
        hf__call_discard(*made);
    return status;
}

hf_status hf__gather_begin(hf__gathering *g, hf_client *client, bool leases,
                           size_t count, hf_status *statuses,
                           const hf_async *async, hf_error *err)
{
    hf_call *call = NULL;
    hf_status status =
        make_call(client, leases, count, statuses, async, &call, err);

    if (status == HF_OK)
        *g = (hf__gathering){
            .all = call->owned, .outer = async, .async = HF_ASYNC_INIT};
    return status;
}

/* What can be refused at once was. */
static void start_caller(hf__gathering *g)
{
    if (g->outer != NULL)
        hf__call_start_begin(g->all->call, g->outer);
    g->outer = NULL;
}

void hf__gather_next(hf__gathering *g, size_t at)
{
    hf__gather *self = g->all;

    start_caller(g);
    pthread_mutex_lock(&self->mutex);
    self->left++;
    pthread_mutex_unlock(&self->mutex);
    g->async.done = item_done;
    g->async.user = &self->items[at];
    g->async.call = &g->call;
    g->detail = (hf_error)HF_ERROR_INIT;
}

void hf__gather_ran(hf__gathering *g, size_t at, hf_status status)
{
    hf__gather *self = g->all;

    if (status != HF_OK) {
        drop_share(self, at, status, &g->detail);
        return;
    }
    pthread_mutex_lock(&self->mutex);
    if (!self->items[at].delivered) {
        self->items[at].call = g->call;
        if (self->cancelled)
            hf__call_cancel(g->call);
    }
    pthread_mutex_unlock(&self->mutex);
}

void hf__gather_end(hf__gathering *g)
{
    hf_call *call = g->all->call;

    start_caller(g);
    drop_share(g->all, g->all->count, HF_OK, NULL);
    hf__call_start_end(call);
}

void hf__gather_discard(hf__gathering *g)
{
    hf__call_discard(g->all->call);
}
