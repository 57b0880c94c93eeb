/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_only.h - a store where nothing can be written: on a mount that is
 * read-only, or in a directory without permission.
 */
#ifndef HF__EMBEDDED_READ_ONLY_H
#define HF__EMBEDDED_READ_ONLY_H

#include "store/embedded/commit/env.h"

/*
 * Judge what is in the directory and prepare `env` for reading it: a sidecar
 * of our own in memory, LMDB's environment opened. HF_DENIED: it would have to
 * be written to first; HF_NOT_FOUND; HF_UNAVAILABLE: others write to it.
 */
hf_status hf__read_only_open(hf__env *env, const hf__settings *settings,
                             int dir_fd, const hf__found *found, hf_error *err);

#endif
