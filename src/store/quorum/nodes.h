/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nodes.h - the servers of a quorum: opening them, and which of them may vote.
 *
 * A server that was restarted without its data has lost the locks it voted
 * for. It is recognised by its run id, which is read after each new connection:
 * if it has changed, the node is in quarantine, and its votes do not count
 * until it has been up for as long as a lock may live. (The Redis documentation
 * leaves this delay to the operator.)
 */
#ifndef HF__STORE_QUORUM_NODES_H
#define HF__STORE_QUORUM_NODES_H

#include "store/quorum/quorum.h"

/* Open the nodes of a list such as "redis://a,redis://b,redis://c". Nothing is
 * connected yet. HF_INVALID: the message says why. */
hf_status hf__nodes_open(hf__quorum *quorum, const hf__store_config *config,
                         const char *list, hf_error *err);
/* Connect: HF_OK once a majority has answered, connect_ms at the latest. */
hf_status hf__nodes_probe(hf__quorum *quorum, int64_t connect_ms,
                          hf_error *err);
void hf__nodes_close(hf__quorum *quorum);

typedef enum hf__standing {
    HF__NODE_VOTES,
    HF__NODE_QUARANTINED, /* its votes do not count now */
    HF__NODE_UNKNOWN      /* it may be another process than before */
} hf__standing;

/* Does a vote that has just arrived count? */
hf__standing hf__node_standing(hf__quorum *quorum, size_t node);
bool hf__node_may_vote(hf__quorum *quorum, size_t node);

/* Note whether a node has answered. A silent node still gets every request, but
 * is not waited for while the others are a majority. */
void hf__node_answered(hf__quorum *quorum, size_t node, bool answered);
void hf__nodes_silent(hf__quorum *quorum, bool silent[HF__QUORUM_NODES_MAX]);

/* Identify a node that may be another process than before. Called within
 * hf__work_enter(), before a request is submitted to the node. */
void hf__node_identify_early(hf__quorum *quorum, size_t node);
/* Identify a node, until the deadline. identified() runs when its standing is
 * known or could not be found out, on any thread, perhaps before this returns.
 */
void hf__node_identify(hf__quorum *quorum, size_t node, int64_t deadline_ms,
                       void (*identified)(void *user), void *user);

#endif
