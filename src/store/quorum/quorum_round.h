/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quorum_round.h - one request sent to all nodes: broadcast.c sends it and
 * collects the votes, outcome.c decides.
 *
 * A round outlives its request, which completes once the outcome is decided,
 * while votes of slow nodes are still missing. So it owns copies of the words.
 * Its mutex guards it; it is not held in a call into a node's store.
 */
#ifndef HF__STORE_QUORUM_QUORUM_ROUND_H
#define HF__STORE_QUORUM_QUORUM_ROUND_H

#include "store/quorum/quorum.h"
#include "store/quorum/tally.h"
#include "store/quorum/undo.h"

typedef struct hf__quorum_round hf__quorum_round;

/* The request to one node. */
typedef struct hf__quorum_part {
    hf__quorum_round *round;
    hf__request request;
    hf_bytes *words;
    size_t node;
} hf__quorum_part;

struct hf__quorum_round {
    hf__quorum *quorum;
    hf__request *request;            /* NULL once it has completed */
    const hf__acquire_rule *acquire; /* NULL: not an acquire */
    pthread_mutex_t mutex;
    size_t open;  /* requests under way, and the start */
    bool started; /* all parts were sent */
    bool confirming;
    bool giving_up;
    /* A majority may have granted it, so that others wait for its end: undos
     * wake a waiter. Else none does: those that lost by a split vote try again
     * soon, and waking all at once would split the votes again. */
    bool wakes;
    uint64_t token;
    size_t confirmed;
    size_t unconfirmed; /* nodes that cannot confirm */
    int64_t ttl_ms;     /* of an acquire */
    int64_t deadline_ms;
    hf__node_vote votes[HF__QUORUM_NODES_MAX];
    hf__quorum_part parts[HF__QUORUM_NODES_MAX];
    hf__quorum_part confirms[HF__QUORUM_NODES_MAX];
    hf__release *undos[HF__QUORUM_NODES_MAX]; /* tracked; see hf__undo_send() */
    hf_bytes confirm_words[HF__FOLLOW_WORDS_MAX];
    char token_text[24];
    char *bytes; /* of all words */
    hf_bytes words[];
};

/* NULL: no memory. drop() frees a round that was not started. */
hf__quorum_round *hf__quorum_round_new(hf__quorum *quorum,
                                       hf__request *request);
void hf__quorum_round_drop(hf__quorum_round *round);

/* The lease that an acquire asks for. */
int64_t hf__quorum_round_ttl(const hf__request *acquire);

/* The deadline of what is sent to a node now. */
int64_t hf__quorum_round_node_deadline(const hf__quorum_round *round,
                                       int64_t deadline_ms);
/* A request has ended; the last one frees the round. Releases the mutex. */
void hf__quorum_round_leave_locked(hf__quorum_round *round);

#endif
