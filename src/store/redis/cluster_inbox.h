/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_inbox.h - listening on any node of a cluster: what is published on
 * one is told on all.
 */
#ifndef HF__STORE_REDIS_CLUSTER_INBOX_H
#define HF__STORE_REDIS_CLUSTER_INBOX_H

#include <stdatomic.h>

#include "store/redis/cluster_map.h"
#include "store/redis/inbox.h"

typedef struct hf__cluster_inbox {
    hf__inbox inbox;
    hf__redis_node node; /* what the inbox connects to */
    hf__resolver resolver;
    hf__cluster_map *map;
    atomic_uint turn;  /* which of the nodes; moves when one fails */
    atomic_uint on_id; /* the node it was sent to last */
} hf__cluster_inbox;

void hf__cluster_inbox_init(hf__cluster_inbox *self, hf__cluster_map *map);

/* The loop thread: nodes are gone from the map. */
void hf__cluster_inbox_lost(hf__cluster_inbox *self);

#endif
