/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch.h - jobs in one shared transaction.
 */
#ifndef HF__EMBEDDED_BATCH_H
#define HF__EMBEDDED_BATCH_H

#include "store/embedded/run/group.h"

/* A job in line. */
typedef struct hf__member {
    struct hf__member *next; /* in the queue */
    const hf__job *job;
    struct hf__caller *owner;
    bool queued;
} hf__member;

/* The first in line of group.c's queue; NULL: none. With `count` in the
 * transaction already, may wait until until_us for more to come. */
hf__member *hf__group_take(hf__group *group, size_t count, int64_t until_us);

typedef struct hf__batch {
    hf__env *env;
    int64_t began_us;
    bool closed; /* it takes no more members */
    size_t count;
    hf__member *members[HF__GROUP_MAX];
    size_t done_count;
    hf__member *done[HF__GROUP_MAX]; /* complete, or failed */
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
void hf__member_fail(hf__member *member, hf_status status, const char *message);

#endif
