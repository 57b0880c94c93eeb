/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch.h - jobs in one shared transaction.
 */
#ifndef HF__EMBEDDED_BATCH_H
#define HF__EMBEDDED_BATCH_H

#include "store/embedded/run/queue.h"

/* Requests in one transaction: enough that the commit costs each little, and
 * few enough that running them again, should one fail, takes no time. */
#define HF__BATCH_MAX 128u

typedef struct hf__batch {
    hf__env *env;
    int64_t began_us;
    bool closed; /* it takes no more members */
    size_t count;
    hf__queued_job *members[HF__BATCH_MAX];
    size_t done_count;
    hf__queued_job *done[HF__BATCH_MAX]; /* complete, or failed */
} hf__batch;

/*
 * Take members in line and run them in one transaction. The writer lock is
 * held. At least one is in `done` afterwards if there was one; those left in
 * `members` need transactions of their own.
 */
void hf__batch_run(hf__batch *batch, hf__env *env);

/* Give those that are left transactions of their own. The writer lock is not
 * held. */
void hf__batch_run_rest(hf__batch *batch);

/* Complete a member that was not run. */
void hf__queued_job_fail(hf__queued_job *what, hf_status status,
                         const char *message);

#endif
