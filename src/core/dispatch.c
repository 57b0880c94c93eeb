/* SPDX-License-Identifier: Apache-2.0 */
/* dispatch.c - see dispatch.h. */
#include "core/dispatch.h"

#include <errno.h>

#include "core/client.h"
#include "core/waiting.h"
#include "util/error.h"
#include "util/event_fd.h"
#include "util/mem.h"

/* Started and not told yet: beyond this the program does not dispatch, and
 * memory would grow without end. */
#define RUNNING_MAX 1000000

void hf__dispatch_init(hf__dispatch *dispatch)
{
    pthread_mutex_init(&dispatch->mutex, NULL);
    dispatch->first = NULL;
    dispatch->end = &dispatch->first;
    dispatch->running = 0;
    dispatch->fd = -1;
}

void hf__dispatch_done(hf__dispatch *dispatch)
{
    hf__event_fd_free(dispatch->fd);
    pthread_mutex_destroy(&dispatch->mutex);
}

/* ------------------------------------------------------------------- start */

void hf__dispatch_complete(hf_call *call)
{
    hf__dispatch *dispatch = &call->client->dispatch;

    pthread_mutex_lock(&dispatch->mutex);
    call->completed = true;
    call->next = NULL;
    if (dispatch->first == NULL && dispatch->fd >= 0)
        hf__event_fd_raise(dispatch->fd);
    *dispatch->end = call;
    dispatch->end = &call->next;
    pthread_mutex_unlock(&dispatch->mutex);
}

static void request_done(hf__request *request)
{
    hf_call *call = request->user;

    if (call->answered != NULL)
        call->answered(call);
    hf__dispatch_complete(call);
}

hf_status hf__dispatch_enter(hf_call *call, const hf_async *async,
                             hf_error *err)
{
    hf__dispatch *dispatch = &call->client->dispatch;
    bool room;

    call->done = async->done;
    call->user = async->user;
    atomic_init(&call->references, 2);
    call->completed = false;
    atomic_init(&call->progress, 0);
    pthread_mutex_lock(&dispatch->mutex);
    room = dispatch->running < RUNNING_MAX;
    dispatch->running += room;
    pthread_mutex_unlock(&dispatch->mutex);
    if (!room)
        return hf__fail(err, HF_UNAVAILABLE,
                        "%d calls are under way; hf_client_dispatch() must be "
                        "called",
                        RUNNING_MAX);
    if (async->call != NULL)
        *async->call = call;
    return HF_OK;
}

hf_status hf__dispatch_start(hf_call *call, const hf_async *async,
                             hf_error *err)
{
    hf__request *request = &call->request;
    hf__store *store = call->client->store;
    hf_status status = hf__dispatch_enter(call, async, err);

    if (status != HF_OK)
        return status;
    request->on_done = request_done;
    request->user = call;
    if (call->settled)
        hf__dispatch_complete(call);
    else
        store->ops->submit(store, &request, 1);
    hf__dispatch_started(call);
    return HF_OK;
}

/* ------------------------------------------------------------------ cancel */

/* What is still under way only completes on this thread: a request of a store
 * that can cancel, and a waiting beyond its first try. */
static void run_cancel(hf__task *task)
{
    hf_call *call = (hf_call *)((char *)task - offsetof(hf_call, cancel_task));
    hf__dispatch *dispatch = &call->client->dispatch;
    hf__store *store = call->client->store;
    hf__request *request = NULL;
    hf__waiting *waiting = NULL;

    pthread_mutex_lock(&dispatch->mutex);
    if (!call->completed && call->waiting != NULL) {
        atomic_store(&call->waiting->cancelled, true);
        if (call->waiting->stage != HF__WAITING_FIRST)
            waiting = call->waiting;
        else if (store->ops->cancel != NULL)
            request = &call->waiting->asking.request;
    } else if (!call->completed && store->ops->cancel != NULL) {
        request = &call->request;
    }
    pthread_mutex_unlock(&dispatch->mutex);
    if (waiting != NULL)
        hf__waiting_cancel(waiting);
    else if (request != NULL)
        store->ops->cancel(store, request);
    hf__call_unref(call);
}

static void post_cancel(hf_call *call)
{
    hf_client *client = call->client;

    /* Without a background thread everything completes within its start. */
    if (hf__client_check(client, NULL) != HF_OK ||
        !hf__loop_started(client->loop))
        return;
    atomic_fetch_add(&call->references, 1);
    call->cancel_task = (hf__task){.run = run_cancel};
    hf__loop_post(client->loop, &call->cancel_task);
}

void hf_call_cancel(hf_call *call)
{
    if (call != NULL && atomic_fetch_or(&call->progress, HF__CALL_CANCELLED) ==
                            HF__CALL_STARTED)
        post_cancel(call);
}

void hf__dispatch_started(hf_call *call)
{
    if (atomic_fetch_or(&call->progress, HF__CALL_STARTED) != 0)
        post_cancel(call);
    hf__call_unref(call);
}

/* ---------------------------------------------------------------- dispatch */

static hf_status outcome(hf_call *call, hf_error *err)
{
    const hf__request *request = &call->request;

    if (request->status == HF_OK)
        return call->finish != NULL ? call->finish(call, err) : HF_OK;
    if (request->status == HF_UNAVAILABLE &&
        (atomic_load(&call->progress) & HF__CALL_CANCELLED) != 0)
        return hf__fail(err, HF_CANCELLED, "cancelled before it was sent");
    return hf__fail_copy(err, &request->error);
}

static void tell(hf_call *call)
{
    hf_error error = HF_ERROR_INIT;
    hf_status status = outcome(call, &error);
    bool kept = call->kept; /* then done() may free the call */

    call->done(call->user, status, status == HF_OK ? NULL : &error);
    if (!kept)
        hf__call_unref(call);
}

/* Calls that complete meanwhile, or are started by done(), are for the next
 * time: a caller of ours gets its turn. */
static size_t tell_completed(hf__dispatch *dispatch)
{
    hf_call *call;
    size_t count = 0;

    pthread_mutex_lock(&dispatch->mutex);
    call = dispatch->first;
    dispatch->first = NULL;
    dispatch->end = &dispatch->first;
    if (dispatch->fd >= 0)
        hf__event_fd_lower(dispatch->fd);
    pthread_mutex_unlock(&dispatch->mutex);
    while (call != NULL) {
        hf_call *next = call->next;

        tell(call);
        call = next;
        count++;
    }
    pthread_mutex_lock(&dispatch->mutex);
    dispatch->running -= count;
    pthread_mutex_unlock(&dispatch->mutex);
    return count;
}

void hf__dispatch_close(hf__dispatch *dispatch)
{
    while (tell_completed(dispatch) > 0)
        ;
}

hf_status hf_client_dispatch(hf_client *client, size_t *running, hf_error *err)
{
    hf_status status = hf__client_check(client, err);

    if (status != HF_OK)
        return status;
    tell_completed(&client->dispatch);
    if (running != NULL) {
        pthread_mutex_lock(&client->dispatch.mutex);
        *running = client->dispatch.running;
        pthread_mutex_unlock(&client->dispatch.mutex);
    }
    return HF_OK;
}

hf_status hf_client_fd(hf_client *client, int *fd, hf_error *err)
{
    hf_status status = hf__client_check(client, err);
    hf__dispatch *dispatch;

    if (status == HF_OK)
        status = hf__check_out(fd, "fd", err);
    if (status != HF_OK)
        return status;
    dispatch = &client->dispatch;
    pthread_mutex_lock(&dispatch->mutex);
    if (dispatch->fd < 0) {
        dispatch->fd = hf__event_fd_new();
        if (dispatch->fd < 0)
            status = hf__fail_errno(err, HF_SYSTEM, errno, "eventfd");
        else if (dispatch->first != NULL)
            hf__event_fd_raise(dispatch->fd);
    }
    if (status == HF_OK)
        *fd = dispatch->fd;
    pthread_mutex_unlock(&dispatch->mutex);
    return status;
}
