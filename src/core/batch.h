/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch.h - many requests at once, waited for together: one round trip
 * for all of them instead of one for each.
 */
#ifndef HF__CORE_BATCH_H
#define HF__CORE_BATCH_H

#include "core/client.h"

/* Requests of one batch. Some hundred make the round trip matter little, and
 * are far from what the queue of a shared connection takes. */
#define HF__BATCH_MAX 256u

/* A request that moves `size` bytes may take so much longer than request_ms,
 * ms: a link of 1 MiB/s will do. */
#define HF__EXTRA_MS(size) ((int64_t)((size) >> 10))

/* Run them all to their ends; afterwards each is complete. Requests for one
 * shard run in their order. Sets on_done and user; not on the loop thread. */
void hf__submit_all(hf_client *client, hf__request *const *requests,
                    size_t count);

/* The same, with a deadline request_ms from now and `extra_ms` more. */
void hf__run_all(hf_client *client, hf__request *const *requests, size_t count,
                 int64_t extra_ms);

/* The same for a single one, on the calling thread. */
void hf__run_one(hf_client *client, hf__request *request, int64_t extra_ms);

#endif
