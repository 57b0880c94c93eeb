/* SPDX-License-Identifier: Apache-2.0 */
/* async.c - see async.h. */
#include "core/async.h"

#include "core/client.h"
#include "util/container.h"
#include "util/error.h"
#include "util/mem.h"

/* ------------------------------------------------------------------ bounds */

/* Count a call that is going to be started; `lease`: one that renews or
 * releases. HF_UNAVAILABLE: too many. */
static hf_status reserve_room(hf__completions *self, bool lease, hf_error *err)
{
    size_t limit = self->calls_max * (lease ? 2 : 1);
    bool room;

    pthread_mutex_lock(&self->mutex);
    room = self->held < limit;
    self->held += room;
    self->running += room;
    pthread_mutex_unlock(&self->mutex);
    if (room)
        return HF_OK;
    return hf__fail(err, HF_UNAVAILABLE,
                    "%zu calls are under way, as many as max_calls allows; "
                    "hf_client_dispatch() must be called",
                    limit);
}

static void give_back_room(hf__completions *self, size_t bytes)
{
    pthread_mutex_lock(&self->mutex);
    self->held--;
    self->running--;
    self->bytes -= bytes;
    pthread_mutex_unlock(&self->mutex);
}

void hf__call_count(hf_call *call)
{
    hf__completions *self = &call->client->completions;

    pthread_mutex_lock(&self->mutex);
    self->held++;
    self->running++;
    pthread_mutex_unlock(&self->mutex);
}

void hf__call_uncount(hf_call *call)
{
    give_back_room(&call->client->completions, 0);
}

/* Count what the call is about to copy. HF_UNAVAILABLE: too much. A call that
 * is alone may hold any amount. */
static hf_status hold_call(hf_call *call, size_t size, hf_error *err)
{
    hf__completions *self = &call->client->completions;
    bool room;

    pthread_mutex_lock(&self->mutex);
    room = self->held == 1 || (self->bytes <= self->bytes_max &&
                               size <= self->bytes_max - self->bytes);
    if (room) {
        call->bytes = size;
        self->bytes += size;
    }
    pthread_mutex_unlock(&self->mutex);
    if (room)
        return HF_OK;
    return hf__fail(err, HF_UNAVAILABLE,
                    "the calls under way hold as much as max_call_bytes "
                    "allows, %zu; hf_client_dispatch() must be called",
                    self->bytes_max);
}

/* ------------------------------------------------------------------- start */

static void request_done(hf__request *request)
{
    hf_call *call = request->user;

    hf__request_probe_end(request, call->probed_us);
    hf__call_answered(call);
    hf__call_complete(call);
}

void hf__call_start_begin(hf_call *call, const hf_async *async)
{
    call->done = async->done;
    call->user = async->user;
    atomic_init(&call->references, 2);
    call->completed = false;
    atomic_init(&call->progress, 0);
    if (async->call != NULL)
        *async->call = call;
}

static void submit_call(hf_call *call, const hf_async *async)
{
    hf__request *request = &call->request;
    hf__store *store = call->client->store;

    hf__call_start_begin(call, async);
    request->on_done = request_done;
    request->user = call;
    request->any_thread = call->cancel == NULL && call->answered == NULL;
    call->probed_us = call->skips_store ? 0 : hf__request_probe_begin(request);
    if (call->skips_store)
        hf__call_complete(call);
    else
        store->ops->submit(store, &request, 1);
    hf__call_start_end(call);
}

static hf_status check_async(hf_client *client, const hf_async *async,
                             hf_error *err)
{
    hf_status status = hf__client_check(client, err);

    if (status == HF_OK)
        status = hf__check_out(async, "async", err);
    if (status == HF_OK)
        status = hf__check_struct(async->struct_size, sizeof(*async),
                                  "hf_async", "HF_ASYNC_INIT", err);
    if (status == HF_OK && async->txn != NULL)
        status = hf__fail(err, HF_UNSUPPORTED,
                          "this call cannot be part of a transaction");
    if (status == HF_OK && async->done == NULL)
        status = hf__fail(err, HF_INVALID, "async->done is NULL");
    return status;
}

static hf_status new_call(hf_client *client, const hf_async *async, bool lease,
                          hf_call **call, hf_error *err)
{
    hf_status status = check_async(client, async, err);
    hf_call *made;

    if (status == HF_OK)
        status = reserve_room(&client->completions, lease, err);
    if (status != HF_OK)
        return status;
    made = hf__alloc(sizeof(*made));
    if (made == NULL) {
        give_back_room(&client->completions, 0);
        return hf__fail(err, HF_NO_MEMORY, "a call");
    }
    made->client = client;
    made->inside = false;
    made->bytes = 0;
    *call = made;
    return HF_OK;
}

hf_status hf__call_new(hf_client *client, const hf_async *async, hf_call **call,
                       hf_error *err)
{
    return new_call(client, async, false, call, err);
}

hf_status hf__call_new_lease(hf_client *client, const hf_async *async,
                             hf_call **call, hf_error *err)
{
    return new_call(client, async, true, call, err);
}

void hf__call_discard(hf_call *call)
{
    give_back_room(&call->client->completions, call->bytes);
    hf__call_end(call);
    hf__call_leave(call);
    hf__free(call);
}

/* The words are views of what the caller may reuse once the call was started:
 * copy their bytes. */
static hf_status own_words(hf_call *call, hf_error *err)
{
    size_t size = 0;
    hf_status status;

    for (size_t i = 0; i < call->request.word_count; i++)
        size += call->words[i].size;
    status = hold_call(call, size, err);
    return status == HF_OK ? hf__call_copy_words(call, err) : status;
}

hf_status hf__call_copy_words(hf_call *call, hf_error *err)
{
    size_t count = call->request.word_count;
    size_t size = 0;
    char *copy, *at;

    for (size_t i = 0; i < count; i++)
        size += call->words[i].size;
    at = copy = hf__alloc(size);
    if (copy == NULL)
        return hf__fail(err, HF_NO_MEMORY, "a request of %zu bytes", size);
    for (size_t i = 0; i < count; i++) {
        if (call->words[i].size > 0)
            memcpy(at, call->words[i].data, call->words[i].size);
        call->words[i].data = at;
        at += call->words[i].size;
    }
    call->copies = copy;
    return HF_OK;
}

hf_status hf__call_start(hf_call *call, hf_status prepared,
                         const hf_async *async, hf_error *err)
{
    hf_status status = prepared;

    if (status == HF_OK && !call->skips_store && !call->words_stay)
        status = own_words(call, err);
    if (status == HF_OK)
        status =
            hf__request_stamp(call->client, &call->request, INT64_MAX, err);
    if (status == HF_OK) {
        submit_call(call, async);
        return HF_OK;
    }
    if (prepared == HF_OK && call->answered != NULL)
        call->answered(call);
    hf__call_discard(call);
    return status;
}

/* ------------------------------------------------------------------ cancel */

/* On the loop thread. The request may complete on another, in
 * hf_client_wait(): the store sees to it that none does while it cancels. */
static void cancel_request(hf_call *call)
{
    hf__store *store = call->client->store;

    if (store->ops->cancel == NULL || !hf__call_lock_pending(call))
        return;
    hf__call_unlock_pending(call);
    store->ops->cancel(store, &call->request);
}

static void run_cancel(hf__task *task)
{
    hf_call *call = hf__container_of(task, hf_call, cancel_task);

    if (call->cancel != NULL)
        call->cancel(call);
    else
        cancel_request(call);
    hf__call_unref(call);
}

/* Inside the client. */
static void post_cancel(hf_call *call)
{
    hf_client *client = call->client;

    /* Without a background thread everything completes within its start. */
    if (!hf__loop_started(client->loop))
        return;
    atomic_fetch_add(&call->references, 1);
    call->cancel_task = (hf__task){.run = run_cancel};
    hf__loop_post(client->loop, &call->cancel_task);
}

void hf__call_cancel(hf_call *call)
{
    if (call != NULL && atomic_fetch_or(&call->progress, HF__CALL_CANCELLED) ==
                            HF__CALL_STARTED)
        post_cancel(call);
}

/* Closing completes it as well. */
void hf_call_cancel(hf_call *call)
{
    hf_client *client;

    if (call == NULL)
        return;
    client = call->client;
    if (hf__client_enter(client, NULL) != HF_OK)
        return;
    hf__call_cancel(call);
    hf__life_leave(&client->life);
}

void hf__call_start_end(hf_call *call)
{
    hf_client *client = call->client;
    bool inside = call->inside;

    call->inside = false;
    if (atomic_fetch_or(&call->progress, HF__CALL_STARTED) != 0)
        post_cancel(call);
    hf__call_unref(call);
    if (inside)
        hf__life_leave(&client->life);
}
