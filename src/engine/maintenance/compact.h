/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compact.h - store.h's compact() for embedded stores.
 */
#ifndef HF__ENGINE_COMPACT_H
#define HF__ENGINE_COMPACT_H

#include "holdfast/store.h"
#include "store/store.h"

hf_status hf__embedded_compact(const hf__store_config *config,
                               hf_store_compaction *result, hf_error *err);

#endif
