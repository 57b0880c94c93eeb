/* SPDX-License-Identifier: Apache-2.0 */
/* completion.c - see completion.h. */
#include "core/completion.h"

#include <errno.h>

#include "core/client.h"
#include "util/error.h"
#include "util/event_fd.h"
#include "util/fork.h"

void hf__dispatch_init(hf__dispatch *dispatch, size_t calls_max,
                       size_t bytes_max)
{
    memset(dispatch, 0, sizeof(*dispatch));
    dispatch->calls_max = calls_max;
    dispatch->bytes_max = bytes_max;
    pthread_mutex_init(&dispatch->mutex, NULL);
    dispatch->end = &dispatch->first;
    dispatch->fd = -1;
}

void hf__dispatch_done(hf__dispatch *dispatch)
{
    hf__event_fd_free(dispatch->fd);
    pthread_mutex_destroy(&dispatch->mutex);
}

static void raise_locked(hf__dispatch *dispatch)
{
    if (dispatch->fd < 0 || dispatch->raised)
        return;
    dispatch->raised = true;
    hf__event_fd_raise(dispatch->fd);
}

static void lower_locked(hf__dispatch *dispatch)
{
    if (!dispatch->raised)
        return;
    dispatch->raised = false;
    hf__event_fd_lower(dispatch->fd);
}

void hf__dispatch_complete(hf_call *call)
{
    hf__dispatch *dispatch = &call->client->dispatch;
    size_t size = hf__arena_size(&call->request.arena);

    pthread_mutex_lock(&dispatch->mutex);
    call->completed = true;
    call->bytes += size;
    dispatch->bytes += size;
    call->next = NULL;
    *dispatch->end = call;
    dispatch->end = &call->next;
    dispatch->waiting++;
    raise_locked(dispatch);
    pthread_mutex_unlock(&dispatch->mutex);
}

bool hf__call_lock_pending(hf_call *call)
{
    pthread_mutex_t *mutex = &call->client->dispatch.mutex;

    pthread_mutex_lock(mutex);
    if (!call->completed)
        return true;
    pthread_mutex_unlock(mutex);
    return false;
}

void hf__call_unlock_pending(hf_call *call)
{
    pthread_mutex_unlock(&call->client->dispatch.mutex);
}

static hf_status outcome(hf_call *call, hf_error *err)
{
    const hf__request *request = &call->request;

    if (request->status == HF_OK)
        return call->finish != NULL ? call->finish(call, err) : HF_OK;
    if (request->status == HF_UNAVAILABLE &&
        (atomic_load(&call->progress) & HF__CALL_CANCELLED) != 0)
        return hf__fail(err, HF_CANCELLED, "cancelled before it was sent");
    return hf__call_refused(call, err);
}

/* false: done() forked, and this is the child, where any mutex may be locked by
 * a thread that it does not have. */
static bool tell(hf_client *client, hf_call *call)
{
    hf_error error = HF_ERROR_INIT;
    hf_status status = outcome(call, &error);

    call->done(call->user, status, status == HF_OK ? NULL : &error);
    if (client->fork_generation != hf__fork_generation())
        return false;
    hf__call_unref(call);
    return true;
}

static hf_call *take_locked(hf__dispatch *dispatch)
{
    hf_call *call = dispatch->first;

    if (call == NULL)
        return NULL;
    dispatch->first = call->next;
    if (call->next == NULL)
        dispatch->end = &dispatch->first;
    dispatch->waiting--;
    dispatch->held--;
    dispatch->bytes -= call->bytes;
    return call;
}

/* How many are to be told: those that complete meanwhile are for the next time,
 * so that the caller gets its turn. */
static size_t begin_telling(hf__dispatch *dispatch)
{
    size_t left;

    pthread_mutex_lock(&dispatch->mutex);
    dispatch->telling++;
    lower_locked(dispatch);
    left = dispatch->waiting;
    pthread_mutex_unlock(&dispatch->mutex);
    return left;
}

/* true: the client was closed, and nobody else goes on with it. */
static bool end_telling_locked(hf__dispatch *dispatch)
{
    return --dispatch->telling == 0 && dispatch->closed;
}

/*
 * Tell that many; what is under way behind them. Each is taken alone, so that a
 * done() that closes the client or dispatches by itself finds those that are
 * left. The client may be no more behind this.
 */
static size_t tell_completed(hf_client *client, size_t left)
{
    hf__dispatch *dispatch = &client->dispatch;
    size_t running;
    hf_call *call;
    bool last;

    pthread_mutex_lock(&dispatch->mutex);
    while (left-- > 0 && (call = take_locked(dispatch)) != NULL) {
        pthread_mutex_unlock(&dispatch->mutex);
        if (!tell(client, call)) {
            running = 0;
            last = end_telling_locked(dispatch);
            goto free_client;
        }
        pthread_mutex_lock(&dispatch->mutex);
        dispatch->running--;
    }
    if (dispatch->first != NULL)
        raise_locked(dispatch);
    running = dispatch->closed ? 0 : dispatch->running;
    last = end_telling_locked(dispatch);
    pthread_mutex_unlock(&dispatch->mutex);
free_client:
    if (last)
        hf__client_unref(client);
    return running;
}

static bool has_completed(hf__dispatch *dispatch)
{
    bool any;

    pthread_mutex_lock(&dispatch->mutex);
    any = dispatch->first != NULL;
    pthread_mutex_unlock(&dispatch->mutex);
    return any;
}

bool hf__dispatch_close(hf__dispatch *dispatch, hf_client *client, bool forked)
{
    bool last;

    if (forked) {
        dispatch->closed = true;
        return dispatch->telling == 0;
    }
    pthread_mutex_lock(&dispatch->mutex);
    dispatch->closed = true;
    dispatch->telling++;
    pthread_mutex_unlock(&dispatch->mutex);
    while (has_completed(dispatch)) {
        (void)tell_completed(client, begin_telling(dispatch));
        if (hf__client_forked(client)) /* by a done() */
            return --dispatch->telling == 0;
    }
    pthread_mutex_lock(&dispatch->mutex);
    last = --dispatch->telling == 0;
    pthread_mutex_unlock(&dispatch->mutex);
    return last;
}

hf_status hf_client_dispatch(hf_client *client, size_t *running, hf_error *err)
{
    hf_status status = hf__client_enter(client, err);
    size_t left;

    if (status != HF_OK)
        return status;
    left = begin_telling(&client->dispatch); /* it keeps the client */
    hf__life_leave(&client->life);
    left = tell_completed(client, left);
    if (running != NULL)
        *running = left;
    return HF_OK;
}

hf_status hf_client_fd(hf_client *client, int *fd, hf_error *err)
{
    hf_status status = hf__check_out(fd, "fd", err);
    hf__dispatch *dispatch;

    if (status == HF_OK)
        status = hf__client_enter(client, err);
    if (status != HF_OK)
        return status;
    dispatch = &client->dispatch;
    pthread_mutex_lock(&dispatch->mutex);
    if (dispatch->fd < 0) {
        dispatch->fd = hf__event_fd_new();
        if (dispatch->fd < 0)
            status = hf__fail_errno(err, HF_SYSTEM, errno, "eventfd");
        else if (dispatch->first != NULL)
            raise_locked(dispatch);
    }
    if (status == HF_OK)
        *fd = dispatch->fd;
    pthread_mutex_unlock(&dispatch->mutex);
    hf__life_leave(&client->life);
    return status;
}
