/* SPDX-License-Identifier: Apache-2.0 */
/*
 * async.h - asynchronous calls from their start to the caller's done().
 *
 * A completed request is appended to the client's list and raises its
 * descriptor; hf_client_dispatch() takes the calls of the list one by one,
 * finishes each and tells its caller. So done() runs only where the user calls
 * us; it may close the client, whose own reference is dropped once no dispatch
 * is left that would go on with it.
 *
 * What is under way is bounded in number and in bytes, as a program may start
 * calls faster than a store answers them. Renewals and releases pass by both
 * bounds: they are as many as the locks, and what they free others wait for.
 */
#ifndef HF__CORE_ASYNC_H
#define HF__CORE_ASYNC_H

#include <pthread.h>

#include "core/call.h"

typedef struct hf__dispatch {
    size_t calls_max;
    size_t bytes_max;

    pthread_mutex_t mutex; /* guards the rest */
    hf_call *first;        /* completed, oldest first */
    hf_call **end;
    size_t waiting; /* in the list */
    size_t running; /* started, not told yet */
    size_t held;    /* the same without those that are being told */
    size_t bytes;   /* what they hold */
    size_t telling; /* dispatches that have not returned, nested ones too */
    bool closed;    /* hf_client_close() was called, perhaps by a done() */
    bool raised;    /* the descriptor */
    int fd;         /* readable while the list is not empty; -1: not made yet */
} hf__dispatch;

void hf__dispatch_init(hf__dispatch *dispatch, size_t calls_max,
                       size_t bytes_max);

/* Count a call that is going to be started, or not any more. HF_UNAVAILABLE:
 * too many; `lease`: one that renews or releases. */
hf_status hf__dispatch_enter(hf__dispatch *dispatch, bool lease, hf_error *err);
void hf__dispatch_leave(hf__dispatch *dispatch, size_t bytes);

/* Count what the call is about to copy. HF_UNAVAILABLE: too much. A call that
 * is alone may hold any amount. */
hf_status hf__dispatch_hold(hf_call *call, size_t size, hf_error *err);

/* Hand a prepared call to the store; from then on it is told exactly once. */
void hf__dispatch_start(hf_call *call, const hf_async *async);

/* A call that runs no request of its own: it is told once it is appended, with
 * its outcome in call->request. Any thread. */
void hf__dispatch_begin(hf_call *call, const hf_async *async);
void hf__dispatch_complete(hf_call *call);
/* The start of a call that was begun is over: nothing of the call is used by
 * it any more. */
void hf__dispatch_started(hf_call *call);

/* For a call's cancel(): lock what its completion locks too; false: it has
 * completed, and nothing is locked. */
bool hf__call_lock_pending(hf_call *call);
void hf__call_unlock_pending(hf_call *call);

/* hf_call_cancel() by somebody inside the client; NULL is allowed. */
void hf__call_cancel(hf_call *call);

/* Tell the rest, when the store is closed and everything has completed; in a
 * forked child nobody. true: the client's own reference is to be dropped;
 * false: a dispatch that has not returned will. */
bool hf__dispatch_close(hf__dispatch *dispatch, hf_client *client, bool forked);
void hf__dispatch_done(hf__dispatch *dispatch);

#endif
