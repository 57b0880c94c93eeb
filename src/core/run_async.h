/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_async.h - running a procedure that blocks no thread: on the loop thread.
 *
 * The first request, with which most calls end, may be sent by the thread that
 * starts the call, and completes on any thread. From then on everything happens
 * on the loop thread. ended() calls hf__async_stop() and may free the runner,
 * so it is the last thing that any function here does. While the runner is
 * `listed` a close of the client is reported to the procedure.
 */
#ifndef HF__CORE_RUN_ASYNC_H
#define HF__CORE_RUN_ASYNC_H

#include <stdatomic.h>

#include "core/pending.h"
#include "core/procedure.h"
#include "core/timers.h"
#include "holdfast/async.h"

typedef enum hf__async_state {
    HF__ASYNC_FIRST,    /* until it is on the loop thread */
    HF__ASYNC_AT_STORE, /* a request is */
    HF__ASYNC_PAUSED,   /* until it is time to ask */
    HF__ASYNC_SLEEPING,
    HF__ASYNC_AWAY
} hf__async_state;

typedef struct hf__async_run {
    hf__procedure *procedure; /* the innermost */
    void (*ended)(struct hf__async_run *self);
    hf__async_state state;
    hf__next next;        /* after FIRST */
    hf__request *request; /* the last one */
    int64_t by_ms;        /* for the tries of a request */
    int64_t probed_us;    /* of `request`: hf__request_probe_begin() */
    bool listed;          /* `pending`; timer and watch may be used */
    bool watching;
    bool moved; /* an event came that was not reported */
    atomic_bool cancelled;
    hf__task task;
    hf__timer timer;
    hf__watch watch;
    hf__pending pending;
} hf__async_run;

void hf__async_init(hf__async_run *self, hf__procedure *procedure,
                    void (*ended)(hf__async_run *self));

/* Begin. A request that counts no events is sent by this thread. */
void hf__async_begin(hf__async_run *self, hf__next next);
/* The same for a caller that submits the request itself, with others; NULL:
 * there is none, and it has perhaps ended. */
hf__request *hf__async_begin_with(hf__async_run *self, hf__next next);

/* --------------------------------------------------- on the loop thread */

/* The call is cancelled; `cancelled` may be set before, on any thread. */
void hf__async_cancel(hf__async_run *self);
/* May it end on another thread, by a first request that the store cannot
 * cancel? Then it is not to be used, but that `cancelled` may be set. */
bool hf__async_may_end(const hf__async_run *self);
/* What hf_call::cancel does. */
void hf__async_cancel_call(hf__async_run *self, hf_call *call);
/* As an event does. */
void hf__async_wake(hf__async_run *self);
/* No step is taken any more, but after a request under way; was it listed? */
bool hf__async_stop(hf__async_run *self);

#endif
