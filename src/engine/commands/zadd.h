/* SPDX-License-Identifier: Apache-2.0 */
/* zadd.h - the command ZADD, which GEOADD runs with other arguments. */
#ifndef HF__ENGINE_ZADD_H
#define HF__ENGINE_ZADD_H

#include "engine/commit/tx.h"

void hf__zadd_run(hf__tx *tx, const hf_bytes *args, size_t count);

#endif
