/* SPDX-License-Identifier: Apache-2.0 */
/* diagnose_store.h - diagnosing an embedded store. */
#ifndef HF__ENGINE_DIAGNOSE_STORE_H
#define HF__ENGINE_DIAGNOSE_STORE_H

#include "engine/commit/env.h"
#include "store/diagnosis.h"

/* `store` runs the requests that are timed. */
void hf__embedded_diagnose(hf__store *store, hf__env *env,
                           const hf__diagnosis *diagnosis);

#endif
