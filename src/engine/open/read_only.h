/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_only.h - a store that cannot be written to: on a read-only mount, or in
 * a directory without permission.
 */
#ifndef HF__ENGINE_READ_ONLY_H
#define HF__ENGINE_READ_ONLY_H

#include "engine/commit/env.h"

/*
 * Check the files and open `env` for reading, with a private sidecar.
 * HF_DENIED: it would have to be written to first; HF_NOT_FOUND;
 * HF_UNAVAILABLE: other processes have it open for writing.
 */
hf_status hf__read_only_open(hf__env *env, const hf__settings *settings,
                             int dir_fd, const hf__found *found, hf_error *err);

#endif
