/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tally.h - what the nodes' answers to one script of a lock add up to.
 *
 * Pure arithmetic: no socket, no clock, no lock.
 */
#ifndef HF__STORE_QUORUM_TALLY_H
#define HF__STORE_QUORUM_TALLY_H

#include "store/quorum/quorum.h"

/* What one node has come to. */
typedef struct hf__node_vote {
    bool done;        /* completed; else still to come */
    bool silent;      /* ... but nobody waits for it: see nodes.h */
    bool counts;      /* answered, by a node that may vote */
    hf_status status; /* of the request */
    const hf_reply *reply;
} hf__node_vote;

typedef enum hf__tally_kind {
    HF__TALLY_OPEN,  /* more answers are needed */
    HF__TALLY_REPLY, /* `reply` is the answer of the quorum */
    HF__TALLY_TOKEN, /* granted, once `token` is confirmed by a majority */
    HF__TALLY_FAILED /* `status` */
} hf__tally_kind;

typedef struct hf__tally {
    hf__tally_kind kind;
    hf_reply reply;   /* its memory is of `arena` */
    uint64_t token;   /* TOKEN */
    hf_status status; /* FAILED */
    size_t reached;   /* nodes that answered */
} hf__tally;

/*
 * Judge the answers that there are. `majority` of `count` decide; `words` are
 * the request's. false: no memory in `arena`.
 *
 * The reply is what the script gives on one server; by HF__QUORUM_RENEW `why`
 * may also be 1: not known.
 */
bool hf__tally_votes(const hf__request *request, const hf__node_vote *votes,
                     size_t count, size_t majority, hf__arena *arena,
                     hf__tally *tally);

/* Is there a rule for this script? */
bool hf__tally_knows(const hf__script *script);

#endif
