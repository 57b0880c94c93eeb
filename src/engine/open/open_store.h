/* SPDX-License-Identifier: Apache-2.0 */
/* open_store.h - from a directory to an open environment, and closing it. */
#ifndef HF__ENGINE_OPEN_STORE_H
#define HF__ENGINE_OPEN_STORE_H

#include "engine/commit/env.h"

/*
 * Open a store, or share the one that this process has open. HF_UNAVAILABLE:
 * not possible by *deadline_ms, because of others; it moves on as that of
 * hf__directory_open().
 */
hf_status hf__env_open(const hf__settings *settings, int64_t *deadline_ms,
                       hf__env **env, hf_error *err);
void hf__env_unref(hf__env *env);

#endif
