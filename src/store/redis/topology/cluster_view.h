/* SPDX-License-Identifier: Apache-2.0 */
/* cluster_view.h - what a node answers to CLUSTER SLOTS and CLUSTER NODES. */
#ifndef HF__STORE_REDIS_CLUSTER_VIEW_H
#define HF__STORE_REDIS_CLUSTER_VIEW_H

#include "store/redis/topology/cluster_map.h"
#include "store/reply.h"

typedef struct hf__cluster_view {
    hf__cluster_range *ranges;
    size_t count;
} hf__cluster_view;

/*
 * Read the answer to CLUSTER SLOTS. `asked` is the host that gave it, which is
 * meant where no host is named. Ranges whose host nobody can know are left out.
 * HF_CORRUPT: it is none; HF_UNAVAILABLE: no slot is anybody's.
 */
hf_status hf__cluster_view_read(hf__cluster_view *view, const hf_reply *reply,
                                const char *asked, hf_error *err);
void hf__cluster_view_done(hf__cluster_view *view);

/* What a node says of itself. */
typedef struct hf__cluster_self {
    bool is_master;
    bool is_moving; /* slots are on their way from it or to it */
    uint32_t slot_count;
    uint64_t stamp; /* of its id, its configuration's epoch and its slots */
} hf__cluster_self;

/* Read the line of the answering node out of CLUSTER NODES; false: it is not
 * there, or not as it should be. */
bool hf__cluster_self_read(hf__cluster_self *self, hf_bytes text);

#endif
