/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_batch.h - jobs in one shared transaction.
 */
#ifndef HF__ENGINE_JOB_BATCH_H
#define HF__ENGINE_JOB_BATCH_H

#include "engine/run/job_queue.h"

/* Requests in one transaction: enough to make the commit cheap for each, and
 * few enough to run again quickly if one fails. */
#define HF__BATCH_MAX 128u

typedef struct hf__batch {
    hf__env *env;
    int64_t began_us;
    bool closed; /* it takes no more members */
    size_t count;
    hf__queued_job *members[HF__BATCH_MAX];
    size_t done_count;
    hf__queued_job *done[HF__BATCH_MAX]; /* completed or failed */
} hf__batch;

/*
 * Take members from the queue and run them in one transaction. The writer lock
 * is held. At least one is in `done` afterwards if there was any; those left in
 * `members` need transactions of their own.
 */
void hf__batch_run(hf__batch *batch, hf__env *env);

/* Run the remaining members in transactions of their own. The writer lock is
 * not held. */
void hf__batch_run_rest(hf__batch *batch);

/* Fail a member that was not run. */
void hf__queued_job_fail(hf__queued_job *what, hf_status status,
                         const char *message);

#endif
