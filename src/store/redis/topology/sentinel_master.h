/* SPDX-License-Identifier: Apache-2.0 */
/* sentinel_master.h - the result of a round, for other threads. */
#ifndef HF__STORE_REDIS_SENTINEL_MASTER_H
#define HF__STORE_REDIS_SENTINEL_MASTER_H

#include "store/redis/topology/sentinel_watch.h"

extern const hf__resolver_ops hf__sentinel_master_resolver;

/* Set the result. The loop thread. */
void hf__sentinel_watch_decide(hf__sentinel_watch *watch,
                               const hf__sentinel_answer *winner);
void hf__sentinel_watch_fail(hf__sentinel_watch *watch, const hf_error *err,
                             bool hopeless);

#endif
