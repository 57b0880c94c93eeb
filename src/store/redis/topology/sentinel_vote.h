/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sentinel_vote.h - the votes of several sentinels. No I/O, no state.
 */
#ifndef HF__STORE_REDIS_SENTINEL_VOTE_H
#define HF__STORE_REDIS_SENTINEL_VOTE_H

#include <stddef.h>
#include <stdint.h>

#include "holdfast/base.h"
#include "store/redis/wire/address.h"

/* A run ID has 40 digits. */
#define HF__SENTINEL_ID_SIZE 48

/* One sentinel's reply about the master. */
typedef struct hf__sentinel_answer {
    char id[HF__SENTINEL_ID_SIZE]; /* its own; "": unknown */
    char host[HF__HOST_SIZE];
    int port;       /* 0: it knows no master of that name */
    uint64_t epoch; /* config-epoch: which failover made that one master */
} hf__sentinel_answer;

typedef enum hf__sentinel_vote {
    HF__BALLOT_OPEN,     /* too few replies so far */
    HF__BALLOT_SILENT,   /* no replies */
    HF__BALLOT_NAMELESS, /* no replying sentinel knows the master */
    HF__BALLOT_SPLIT,    /* no address has a majority */
    HF__BALLOT_STALE,    /* the majority has an earlier epoch
                          */
    HF__BALLOT_DECIDED
} hf__sentinel_vote;

/* The votes and what is known besides. */
typedef struct hf__sentinel_ballot {
    const hf__sentinel_answer *const *answers;
    size_t count;
    size_t known;                      /* sentinels, silent ones included */
    bool is_final;                     /* no more replies will come */
    const hf__sentinel_answer *master; /* the one in use; NULL: none yet */
} hf__sentinel_ballot;

/* On DECIDED `winner` is set, with the newest epoch its voters know. `newer`:
 * there is a majority, and a sentinel outside of it knows a later failover. */
hf__sentinel_vote hf__sentinel_count(const hf__sentinel_ballot *ballot,
                                     hf__sentinel_answer *winner, bool *newer);

#endif
