/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nodes.h - the servers of a quorum: opening them, and which of them may vote.
 *
 * A server that was started again without its data has forgotten the locks it
 * voted for. Its run id tells: after each new connection it is asked for, and
 * when it has changed, the node's votes do not count until as long has passed
 * since its start as a lock is assumed to live. (The Redis documentation
 * leaves this delay to the operator.)
 */
#ifndef HF__STORE_QUORUM_NODES_H
#define HF__STORE_QUORUM_NODES_H

#include "store/quorum/quorum.h"

/* Open the nodes of a list such as "redis://a,redis://b,redis://c". Nothing is
 * connected yet. HF_INVALID names what is wrong. */
hf_status hf__nodes_open(hf__quorum *quorum, const hf__store_config *config,
                         const char *list, hf_error *err);
/* Connect: HF_OK once a majority has answered, connect_ms at the latest. */
hf_status hf__nodes_probe(hf__quorum *quorum, int64_t connect_ms,
                          hf_error *err);
void hf__nodes_close(hf__quorum *quorum);

typedef enum hf__standing {
    HF__NODE_VOTES,
    HF__NODE_QUARANTINED, /* its answers do not count now */
    HF__NODE_UNKNOWN      /* it may be another one than before: ask */
} hf__standing;

/* Does an answer that has just come count? */
hf__standing hf__node_standing(hf__quorum *quorum, size_t node);
bool hf__node_may_vote(hf__quorum *quorum, size_t node);

/*
 * Note whether a node has answered. One that did not is still sent everything,
 * but not waited for, as long as there is a majority of others: `silent` says
 * so of each node.
 */
void hf__node_answered(hf__quorum *quorum, size_t node, bool answered);
void hf__nodes_silent(hf__quorum *quorum, bool silent[HF__QUORUM_NODES_MAX]);

/* Ask a node who it is, if it may be another one than before. To be called
 * within hf__work_enter(), before a request is submitted to it. */
void hf__node_identify_early(hf__quorum *quorum, size_t node);
/* Ask it, until an instant; identified() runs once its standing is known, or
 * will not be, on any thread, perhaps before this returns. */
void hf__node_identify(hf__quorum *quorum, size_t node, int64_t deadline_ms,
                       void (*identified)(void *user), void *user);

#endif
