/* SPDX-License-Identifier: Apache-2.0 */
/*
 * acquire_begin.h - an acquire that blocks no thread. The first try is sent by
 * the caller.
 */
#ifndef HF__LEASE_ACQUIRE_BEGIN_H
#define HF__LEASE_ACQUIRE_BEGIN_H

#include "core/run_async.h"
#include "holdfast/lock.h"
#include "lease/acquire.h"

typedef struct hf__acquiring {
    hf__acquire acquire;
    hf__async_run run;
    int64_t lease_ms; /* 0: of the handle */
    /* Called with the outcome, on any thread, perhaps before begin returns;
     * then this is freed. */
    void (*done)(void *user, hf_status status, const hf_error *detail);
    void *user;
    hf_call *call; /* that can be cancelled; NULL: none */
} hf__acquiring;

/* NULL: out of memory. The handle must live until done() is called. lease_ms 0:
 * of the handle. */
hf__acquiring *hf__acquiring_new(hf_lock *lock, int64_t wait_ms,
                                 int64_t lease_ms);

/*
 * Begin; `done` and `user` are set. Returns the request of the first try, to be
 * submitted by the caller; NULL: there is none, and done() was perhaps called.
 */
hf__request *hf__acquiring_begin(hf__acquiring *self);

/* Is it in its first try, which may complete on another thread? On the loop
 * thread. */
bool hf__acquiring_first(const hf__acquiring *self);

/* Give up; on the loop thread. */
void hf__acquiring_cancel(hf__acquiring *self);

#endif
