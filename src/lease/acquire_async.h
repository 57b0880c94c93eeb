/* SPDX-License-Identifier: Apache-2.0 */
/*
 * acquire_async.h - an acquire that blocks no thread: the steps of
 * acquire_steps.h, driven by a stepper. The first try is sent on the thread
 * that began it; while it is AWAY it is in the local wait queue.
 */
#ifndef HF__LEASE_ACQUIRE_ASYNC_H
#define HF__LEASE_ACQUIRE_ASYNC_H

#include "core/stepper.h"
#include "lease/acquire_steps.h"

typedef struct hf__acquire {
    hf__steps steps;
    hf__stepper stepper;
    enum {
        HF__ACQUIRE_TRY,
        HF__ACQUIRE_RETURN, /* a grant that too few replicas acknowledged */
        HF__ACQUIRE_LEAVE   /* the wait queue of the store */
    } request;
    int64_t lease_ms; /* 0: of the handle */
    int round;
    hf_status status; /* of the last step; `detail` with it */
    hf_error detail;
    atomic_bool cancelled;
    bool inside; /* at the head of the local wait queue */
    hf__wait_place place;

    /* Called with the outcome, on any thread, perhaps before begin returns;
     * then the acquire is freed. */
    void (*done)(void *user, hf_status status, const hf_error *detail);
    /* Called before that with the outcome of the first try; may be NULL. */
    void (*tried)(void *user, hf_status status);
    void *user;
    hf_call *call; /* that can be cancelled; NULL: none */
} hf__acquire;

/* NULL: out of memory. The handle must live until done() is called. lease_ms 0:
 * of the handle. */
hf__acquire *hf__acquire_new(hf_lock *lock, int64_t wait_ms, int64_t lease_ms);

/*
 * Begin; `done` and `user` are set. Returns the request of the first try, to be
 * submitted by the caller; NULL: there is none, and done() was perhaps called.
 */
hf__request *hf__acquire_begin(hf__acquire *acquire);

/* Give up; `cancelled` is set. On the loop thread. */
void hf__acquire_cancel(hf__acquire *acquire);

#endif
