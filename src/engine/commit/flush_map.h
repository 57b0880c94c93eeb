/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flush_map.h - what flush*.c and redo*.c share.
 */
#ifndef HF__ENGINE_FLUSH_MAP_H
#define HF__ENGINE_FLUSH_MAP_H

#include "engine/commit/env.h"

/* The number of the last snapshot. The writer lock is held. */
uint64_t hf__flush_last_txn(const hf__env *env);

/* Wake the threads of all processes that make checkpoints. */
void hf__flush_wake(hf__env *env);

/* The disk has failed: refuse all writes from now on. fail(): HF_SYSTEM. */
void hf__flush_refuse(hf__env *env);
hf_status hf__flush_fail(hf_error *err);

#endif
