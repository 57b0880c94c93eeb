/* SPDX-License-Identifier: Apache-2.0 */
/* diagnose.h - diagnosing an embedded store. */
#ifndef HF__EMBEDDED_DIAGNOSE_H
#define HF__EMBEDDED_DIAGNOSE_H

#include "store/diagnosis.h"
#include "store/embedded/commit/env.h"

/* `store` runs the requests that are timed. */
void hf__embedded_diagnose(hf__store *store, hf__env *env,
                           const hf__diagnosis *diagnosis);

#endif
