/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_queue.h - the jobs of one process that wait for a shared transaction.
 */
#ifndef HF__ENGINE_JOB_QUEUE_H
#define HF__ENGINE_JOB_QUEUE_H

#include <pthread.h>

#include "engine/run/execute.h"

/* A queued job. */
typedef struct hf__queued_job {
    struct hf__queued_job *next;
    const hf__job *job;
    struct hf__caller *owner;
    bool queued;
} hf__queued_job;

typedef struct hf__queue_lane {
    hf__queued_job *first;
    hf__queued_job **end;
} hf__queue_lane;

typedef struct hf__queue {
    pthread_mutex_t mutex;
    bool led;
    size_t queued_count;
    size_t expected;         /* jobs expected for the next transaction */
    hf__queue_lane lanes[2]; /* by hf__lane */
} hf__queue;

hf__queue *hf__queue_new(void); /* NULL: no memory */
void hf__queue_free(hf__queue *queue);

void hf__queue_put_locked(hf__queue *queue, hf__queued_job *what);
void hf__queue_remove_locked(hf__queue *queue, hf__queued_job *what);
/* The next to be taken; NULL: none. */
hf__queued_job *hf__queue_first_locked(hf__queue *queue);

/* Take the first; NULL: none. With `count` in the transaction already, may wait
 * until until_us for more. */
hf__queued_job *hf__queue_take(hf__queue *queue, size_t count,
                               int64_t until_us);

/* The number of jobs in the queue. */
size_t hf__queue_waiting(hf__queue *queue);

#endif
