/* SPDX-License-Identifier: Apache-2.0 */
/*
 * describe.h - facts about an open store, for users.
 */
#ifndef HF__ENGINE_DESCRIBE_H
#define HF__ENGINE_DESCRIBE_H

#include "engine/commit/env.h"
#include "store/store.h"

/* Pass all of them to `line`. Reads every key's record. */
void hf__embedded_describe(hf__env *env, hf__describe_fn line, void *user);

#endif
