/* SPDX-License-Identifier: Apache-2.0 */
/* cluster_view.h - replies to CLUSTER SLOTS and CLUSTER NODES. */
#ifndef HF__STORE_REDIS_CLUSTER_VIEW_H
#define HF__STORE_REDIS_CLUSTER_VIEW_H

#include "store/redis/topology/cluster_map.h"
#include "store/reply.h"

typedef struct hf__cluster_view {
    hf__cluster_range *ranges;
    size_t count;
} hf__cluster_view;

/*
 * Read a reply to CLUSTER SLOTS. `asked` is the host that sent it, used where
 * no host is named. Ranges without a known host are skipped. HF_CORRUPT:
 * malformed; HF_UNAVAILABLE: no slot has an owner.
 */
hf_status hf__cluster_view_read(hf__cluster_view *view, const hf_reply *reply,
                                const char *asked, hf_error *err);
void hf__cluster_view_done(hf__cluster_view *view);

/* A node's own state. */
typedef struct hf__cluster_self {
    bool is_master;
    bool is_moving; /* slots are being moved from or to it */
    uint32_t slot_count;
    uint64_t stamp; /* of its id, its configuration's epoch and its slots */
} hf__cluster_self;

/* Read the line of the replying node in CLUSTER NODES; false: missing or
 * malformed. */
bool hf__cluster_self_read(hf__cluster_self *self, hf_bytes text);

#endif
