/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rdb_file.h - all that an open store has, as a file of Redis (RDB).
 */
#ifndef HF__ENGINE_RDB_FILE_H
#define HF__ENGINE_RDB_FILE_H

#include <stdatomic.h>

#include "engine/commit/env.h"
#include "util/private_api.h"

/*
 * Write the keys of all databases, as they are at one instant, and the
 * libraries of functions to `fd`. Any thread; takes long. *size: its bytes.
 * HF_CANCELLED: because of *cancelled. Meanwhile no page that it reads is used
 * again, and the store grows by what is written; HF_FULL: it would have been
 * full for a writer of this process, which has gone before.
 */
HF__PRIVATE_API hf_status hf__rdb_file_write(hf__env *env, int fd,
                                             const atomic_bool *cancelled,
                                             uint64_t *size, hf_error *err);

#endif
