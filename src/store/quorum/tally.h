/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tally.h - adds up the nodes' votes by the rule of the script's header.
 *
 * Pure arithmetic: no socket, no clock, no lock.
 */
#ifndef HF__STORE_QUORUM_TALLY_H
#define HF__STORE_QUORUM_TALLY_H

#include "store/quorum/quorum.h"

typedef struct hf__node_vote {
    bool done;        /* completed; else missing */
    bool silent;      /* ... and not waited for: see nodes.h */
    bool counts;      /* a reply of a node that may vote */
    hf_status status; /* of the request */
    const hf_reply *reply;
} hf__node_vote;

typedef enum hf__tally_kind {
    HF__TALLY_OPEN,  /* more votes are needed */
    HF__TALLY_REPLY, /* decided: `reply` */
    HF__TALLY_TOKEN, /* granted if a majority confirms `token` */
    HF__TALLY_FAILED /* `status` */
} hf__tally_kind;

typedef struct hf__tally {
    hf__tally_kind kind;
    hf_reply reply;   /* memory of `arena` */
    uint64_t token;   /* TOKEN */
    hf_status status; /* FAILED */
    size_t reached;   /* nodes whose vote counts */
} hf__tally;

/*
 * Add up the votes so far. `majority` of `count` decide. false: no memory in
 * `arena`.
 *
 * The reply is what the script gives on one server; by HF__QUORUM_RENEW `why`
 * may also be 1: unknown.
 */
bool hf__tally_votes(const hf__request *request, const hf__node_vote *votes,
                     size_t count, size_t majority, hf__arena *arena,
                     hf__tally *tally);

/* Is there a rule for this script? */
bool hf__tally_knows(const hf__script *script);

#endif
