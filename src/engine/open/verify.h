/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify.h - no store is used that `store check` would refuse.
 */
#ifndef HF__ENGINE_VERIFY_H
#define HF__ENGINE_VERIFY_H

#include "engine/commit/env.h"

/*
 * Before LMDB opens the data file: check it, unless it is known to be intact.
 * `adopt`: the sidecar is a new one. The directory's lock and the writer lock
 * are held. HF_CORRUPT, HF_SYSTEM, HF_NO_MEMORY.
 */
hf_status hf__verify(hf__env *env, const hf__settings *settings, int dir_fd,
                     bool adopt, hf_error *err);

/* After LMDB closed the data file, which this process will not use again: leave
 * a seal if no other process uses it. */
void hf__verify_seal(hf__env *env, int data_fd);

#endif
