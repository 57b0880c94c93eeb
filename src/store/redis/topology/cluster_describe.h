/* SPDX-License-Identifier: Apache-2.0 */
/* cluster_describe.h - the nodes of a cluster, for people to read. */
#ifndef HF__STORE_REDIS_CLUSTER_DESCRIBE_H
#define HF__STORE_REDIS_CLUSTER_DESCRIBE_H

#include "store/redis/topology/cluster_map.h"

/* Lines for store.h's describe(). */
void hf__cluster_describe(hf__cluster_map *map, hf__describe_fn line,
                          void *user);

/* store.h's diagnose(), master by master. */
void hf__cluster_diagnose(hf__cluster_map *map, const hf__diagnosis *diagnosis);

#endif
