/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group.h - requests of one process that share a transaction and its commit.
 */
#ifndef HF__EMBEDDED_GROUP_H
#define HF__EMBEDDED_GROUP_H

#include "store/embedded/run/batch.h"

/*
 * Run jobs, at most HF__BATCH_MAX, in their order, together with those that
 * other threads want run now. Returns when all of them are complete: HF_OK and
 * the store's own answers after the commit only. A job whose deadline passed
 * before it was begun is HF_UNAVAILABLE. Any thread.
 */
void hf__group_run(hf__env *env, const hf__job *jobs, size_t count);

#endif
