/* SPDX-License-Identifier: Apache-2.0 */
/* cluster_parts.h - the parts of a cluster, if no key is being moved. */
#ifndef HF__STORE_REDIS_CLUSTER_PARTS_H
#define HF__STORE_REDIS_CLUSTER_PARTS_H

#include "store/redis/topology/cluster_refresh.h"

/* store.h's parts(). `store` runs the requests. */
hf_status hf__cluster_find_parts(hf__store *store, hf__cluster_refresh *refresh,
                                 hf__parts *parts, int64_t deadline_ms,
                                 hf_error *err);

#endif
