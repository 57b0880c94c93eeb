/* SPDX-License-Identifier: Apache-2.0 */
/* cache_get.h - reading a cache entry on the calling thread. */
#ifndef HF__DATA_CACHE_GET_H
#define HF__DATA_CACHE_GET_H

#include "data/cache_job.h"
#include "holdfast/cache.h"

/* A fill runs on the thread that waits for it. */
extern const hf__procedure_kind hf__cache_blocking;

/* `fill` NULL: only read it. */
hf_status hf__cache_read(hf_client *client, hf_bytes key, hf_cache_fill_fn fill,
                         void *user, const hf_cache_options *opts,
                         hf_buffer *value, hf_cache_info *info, hf_error *err);

#endif
