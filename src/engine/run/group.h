/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group.h - requests of one process that share a transaction and its commit.
 */
#ifndef HF__ENGINE_GROUP_H
#define HF__ENGINE_GROUP_H

#include "engine/run/job_batch.h"

/*
 * Run jobs, at most HF__BATCH_MAX, in order, together with other threads' jobs.
 * Returns when all are complete; successes only after the commit. A job whose
 * deadline passed before it started fails with HF_UNAVAILABLE. Any thread.
 */
void hf__group_run(hf__env *env, const hf__job *jobs, size_t count);

#endif
