/* SPDX-License-Identifier: Apache-2.0 */
/*
 * env_registry.h - the environments that this process has open.
 *
 * LMDB must not open a file twice in a process: closing the second would erase
 * the reader slots of the first, and drop POSIX locks.
 */
#ifndef HF__ENGINE_ENV_REGISTRY_H
#define HF__ENGINE_ENV_REGISTRY_H

#include "engine/commit/env.h"

/* One thread opens or closes at a time. false: not by deadline_ms. A forked
 * child starts with an empty registry. */
bool hf__registry_lock(int64_t deadline_ms);
void hf__registry_unlock(void);

/* With the lock held. */
hf__env *hf__registry_find(dev_t device, ino_t inode);
/* HF_CORRUPT: this process has some of the files open together with other
 * ones. */
hf_status hf__registry_check_apart(const hf__found *found, hf_error *err);
void hf__registry_add(hf__env *env);
void hf__registry_remove(hf__env *env);

#endif
