/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group.h - requests of one process that share a transaction and its commit.
 */
#ifndef HF__EMBEDDED_GROUP_H
#define HF__EMBEDDED_GROUP_H

#include "store/embedded/run/execute.h"

/* Requests in one transaction: enough that the commit costs each little, and
 * few enough that running them again, should one fail, takes no time. */
#define HF__GROUP_MAX 128u

typedef struct hf__group hf__group;

hf__group *hf__group_new(void); /* NULL: no memory */
void hf__group_free(hf__group *group);

/*
 * Run jobs, at most HF__GROUP_MAX, in their order, together with those that
 * other threads want run now. Returns when all of them are complete: HF_OK and
 * the store's own answers after the commit only. A job whose deadline passed
 * before it was begun is HF_UNAVAILABLE. Any thread.
 */
void hf__group_run(hf__env *env, const hf__job *jobs, size_t count);

/* Jobs in the queue, of which a leader has taken none yet. */
size_t hf__group_waiting(hf__group *group);

#endif
