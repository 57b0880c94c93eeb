/* SPDX-License-Identifier: Apache-2.0 */
/*
 * acquire.h - acquiring a lock: the procedure (core/procedure.h) that takes the
 * steps of acquire_steps.h in their order, for blocking and started calls.
 */
#ifndef HF__LEASE_ACQUIRE_H
#define HF__LEASE_ACQUIRE_H

#include "core/procedure.h"
#include "holdfast/lock.h"
#include "lease/acquire_steps.h"

typedef enum hf__acquire_stage {
    HF__ACQUIRE_NOTHING, /* it entered a lock that is held, or may not acquire
                          */
    HF__ACQUIRE_TRY,     /* a request that does not queue */
    HF__ACQUIRE_FIRST,   /* one that queues, without counting events */
    HF__ACQUIRE_ENTER,   /* away: until it is at the head of the local queue */
    HF__ACQUIRE_PASS,    /* away: until a release of this client passes it on */
    HF__ACQUIRE_LISTEN,  /* before it leaves it to other libraries */
    HF__ACQUIRE_LEFT,    /* sleeps until one has it */
    HF__ACQUIRE_ASK,     /* a request at the head */
    HF__ACQUIRE_SLEEP,   /* until it is worth another */
    HF__ACQUIRE_PAUSE,   /* sleeps after an event; of a quorum, for more */
    HF__ACQUIRE_RETURN,  /* a grant that is not to be kept */
    HF__ACQUIRE_LEAVE    /* the wait queue of the store */
} hf__acquire_stage;

typedef struct hf__acquire {
    hf__procedure procedure;
    hf__steps steps;
    hf__acquire_stage stage;
    bool started; /* by a call that blocks no thread */
    bool away;    /* for the stage: leave() was called */
    bool inside;  /* at the head of the local queue */
    int round;
    hf_status status; /* of the last step; `detail` with it */
    hf_error detail;
    hf__wait_place place;

    /* Called with the outcome of the first try, if there is one; may be NULL.
     */
    void (*tried)(void *user, hf_status status);
    void *user;
} hf__acquire;

void hf__acquire_init(hf__acquire *self, hf_lock *lock, int64_t wait_ms,
                      int64_t until_ms, hf__interrupt_mark mark, bool started);
/* What is next at first; the handle is in state ACQUIRING. */
hf__next hf__acquire_first(hf__acquire *self);
/* The same on a handle in any state, for a call that does not wait for others
 * on it. lease_ms 0: of the handle. `call` can be cancelled; NULL: none. */
hf__next hf__acquire_begin(hf__acquire *self, int64_t lease_ms, hf_call *call);
/* Acquire after what the handle has is ended so, of a kind whose acquire takes
 * that; the handle was checked. */
hf_status hf__lock_end_and_acquire(hf_lock *lock, const hf__outcome *outcome,
                                   int64_t wait_ms, hf_error *err);
hf_status hf__lock_end_and_acquire_start(hf_lock *lock,
                                         const hf__outcome *outcome,
                                         int64_t wait_ms, const hf_async *async,
                                         hf_error *err);
/* It has ended: its status and message. The handle is HELD, or FREE, and is not
 * to be used afterwards if the call was started. */
hf_status hf__acquire_end(hf__acquire *self, hf_error *err);

#endif
