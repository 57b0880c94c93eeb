/* SPDX-License-Identifier: Apache-2.0 */
/* cache_blocking.h - reading a cache entry on the calling thread. */
#ifndef HF__DATA_CACHE_BLOCKING_H
#define HF__DATA_CACHE_BLOCKING_H

#include "data/cache_job.h"

/* Take the steps to their end, on this thread, inside the client. */
void hf__cache_run(hf_cache_fill *self, hf__cache_next next);

/* `fill` NULL: only read it. */
hf_status hf__cache_read(hf_client *client, hf_bytes key, hf_cache_fill_fn fill,
                         void *user, const hf_cache_options *opts,
                         hf_buffer *value, hf_cache_info *info, hf_error *err);

#endif
