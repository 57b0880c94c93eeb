/* SPDX-License-Identifier: Apache-2.0 */
/*
 * acquire_async.h - an acquire that blocks no thread: the steps of
 * acquire_steps.h, driven by events.
 *
 * Stages:
 *
 *   FIRST      the first try is at the store; on the thread that began it
 *   QUEUED     in the local wait queue
 *   TRYING     a try is at the store
 *   RETURNING  a grant that too few replicas acknowledged is being released
 *   SLEEPING   until an event, the end of the lease, or the next poll
 *   LEAVING    the request that leaves the wait queue is at the store
 *
 * From QUEUED on everything happens on the loop thread; other threads only post
 * `posted`, at most once per stage.
 */
#ifndef HF__LEASE_ACQUIRE_ASYNC_H
#define HF__LEASE_ACQUIRE_ASYNC_H

#include "core/pending.h"
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
    int64_t lease_ms; /* 0: of the handle */
    hf__acquire_stage stage;
    int round;
    hf_status status; /* of the last step; `detail` with it */
    hf_error detail;
    atomic_bool cancelled;
    bool inside;         /* at the head of the local wait queue */
    bool watching;       /* the lock's events */
    bool moved;          /* since the current try began */
    hf__pending pending; /* if it is listed there */
    bool listed;
    hf__task posted;
    hf__timer timer;
    hf__watch watch;
    hf__wait_place place;

    /* Called with the outcome, on any thread, perhaps before begin returns;
     * then the acquire is freed. */
    void (*done)(void *user, hf_status status, const hf_error *detail);
    /* Called before that with the outcome of the first try; may be NULL. */
    void (*tried)(void *user, hf_status status);
    void *user;
    hf_call *call; /* that can be cancelled; NULL: none */
};

/* NULL: out of memory. The handle must live until done() is called. lease_ms 0:
 * of the handle. */
hf__acquire *hf__acquire_new(hf_lock *lock, int64_t wait_ms, int64_t lease_ms);

/*
 * Begin; `done` and `user` are set. Returns the request of the first try, to be
 * submitted by the caller; NULL: there is none, and done() was perhaps called.
 */
hf__request *hf__acquire_begin(hf__acquire *acquire);

/* Give up; `cancelled` is set. On the loop thread, from QUEUED on. */
void hf__acquire_cancel(hf__acquire *acquire);

#endif
