/* SPDX-License-Identifier: Apache-2.0 */
/*
 * identity.h - are the open files still the store at that path?
 */
#ifndef HF__ENGINE_IDENTITY_H
#define HF__ENGINE_IDENTITY_H

#include "engine/commit/env.h"

/*
 * Before a new sidecar is created next to existing data, or the data is
 * removed: HF_CORRUPT if another process uses it. Until `until_ms` waits for
 * processes that were killed: their data file is closed after their locks.
 */
hf_status hf__identity_check_unused(int dir_fd, int64_t until_ms,
                                    hf_error *err);

/* Mark the data file of an opened environment as in use. */
hf_status hf__identity_claim(hf__env *env, hf_error *err);

/*
 * HF_CORRUPT if `found` is not what `env` has open but shares a file with it:
 * opening and closing that file again would drop the locks that `env` has.
 */
hf_status hf__identity_check_apart(const hf__env *env, const hf__found *found,
                                   hf_error *err);

/*
 * Before each transaction. HF_CORRUPT: files were removed, replaced or
 * truncated; detected within HF__IDENTITY_MS.
 */
#define HF__IDENTITY_MS 10
hf_status hf__identity_check(hf__env *env, int64_t now_ms, hf_error *err);

#endif
