/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dispatch.h - asynchronous calls from their start to the caller's done().
 *
 * A completed request is appended to the client's list and raises its
 * descriptor; hf_client_dispatch() takes the list, finishes each call and tells
 * its caller. So done() runs only where the user calls us.
 */
#ifndef HF__CORE_DISPATCH_H
#define HF__CORE_DISPATCH_H

#include <pthread.h>

#include "core/call.h"

typedef struct hf__dispatch {
    pthread_mutex_t mutex; /* guards the rest */
    hf_call *first;        /* completed, oldest first */
    hf_call **end;
    size_t running; /* started, not told yet */
    int fd;         /* raised while the list is not empty; -1: not made yet */
} hf__dispatch;

void hf__dispatch_init(hf__dispatch *dispatch);

/* Hand a prepared call to the store; from then on it is told exactly once. */
hf_status hf__dispatch_start(hf_call *call, const hf_async *async,
                             hf_error *err);

/* A call that runs no request of its own: count it as started, and append it
 * once its outcome stands in call->request. Any thread. */
hf_status hf__dispatch_enter(hf_call *call, const hf_async *async,
                             hf_error *err);
void hf__dispatch_complete(hf_call *call);
/* The start of a call that was entered is over: nothing of the call is used by
 * it any more. */
void hf__dispatch_started(hf_call *call);

/* Tell the rest, when the store is closed and everything has completed. */
void hf__dispatch_close(hf__dispatch *dispatch);
void hf__dispatch_done(hf__dispatch *dispatch);

#endif
