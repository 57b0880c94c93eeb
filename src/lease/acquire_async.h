/* SPDX-License-Identifier: Apache-2.0 */
/*
 * acquire_async.h - asking a store for a lock without a thread that waits: the
 * steps of acquire_steps.h, taken by whoever brings the next piece of news.
 *
 * Stages:
 *
 *   FIRST     the first try is at the store; on whichever thread it began
 *   QUEUED      others of this client wait at the store
 *   TRYING    a try is at the store
 *   RETURNING a grant that too few replicas know of is given back
 *   SLEEPING  until an event, the end of the lease, or the backstop
 *   LEAVING   the store is told that we wait no more
 *
 * From QUEUED on everything happens on the loop thread; other threads only post
 * `posted`, of which each stage expects one at most.
 */
#ifndef HF__LEASE_ACQUIRE_ASYNC_H
#define HF__LEASE_ACQUIRE_ASYNC_H

#include "core/timers.h"
#include "lease/acquire_steps.h"

typedef enum hf__acquire_stage {
    HF__ACQUIRE_FIRST,
    HF__ACQUIRE_QUEUED,
    HF__ACQUIRE_TRYING,
    HF__ACQUIRE_RETURNING,
    HF__ACQUIRE_SLEEPING,
    HF__ACQUIRE_LEAVING
} hf__acquire_stage;

typedef struct hf__acquire hf__acquire;
struct hf__acquire {
    hf__steps steps;
    hf__acquire_stage stage;
    int round;
    hf_status status; /* of the last step; `detail` with it */
    hf_error detail;
    atomic_bool cancelled;
    bool inside;   /* the gate */
    bool watching; /* the lock's events */
    bool moved;    /* since the present try began */
    hf__task posted;
    hf__timer timer;
    hf__watch watch;
    hf__wait_place place;

    /* Tells what the call came to, on any thread, perhaps before begin
     * returned; the waiting is freed afterwards. */
    void (*done)(void *user, hf_status status, const hf_error *detail);
    /* Tells, before that, what the first try came to. NULL: nobody wants to
     * know. */
    void (*tried)(void *user, hf_status status);
    void *user;
    hf_call *call; /* which can be cancelled; NULL: none */
};

/* NULL: out of memory. The handle must live until it was told. */
hf__acquire *hf__acquire_new(hf_lock *lock, int64_t wait_ms);

/*
 * Begin; `done` and `user` are set. Returns the request of the first try, which
 * the caller submits; NULL if there is none now, or the outcome was told.
 */
hf__request *hf__acquire_begin(hf__acquire *acquire);

/* Give up soon: `cancelled` was set. On the loop thread, from QUEUED on. */
void hf__acquire_cancel(hf__acquire *acquire);

#endif
