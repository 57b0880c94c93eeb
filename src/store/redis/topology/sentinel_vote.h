/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sentinel_vote.h - what several sentinels say, taken together. Nothing here
 * asks anybody or keeps anything.
 */
#ifndef HF__STORE_REDIS_SENTINEL_VOTE_H
#define HF__STORE_REDIS_SENTINEL_VOTE_H

#include <stddef.h>
#include <stdint.h>

#include "holdfast/base.h"
#include "store/redis/wire/address.h"

/* A run ID has 40 digits. */
#define HF__SENTINEL_ID_SIZE 48

/* What one sentinel says of the master. */
typedef struct hf__sentinel_answer {
    char id[HF__SENTINEL_ID_SIZE]; /* its own; "": it did not tell */
    char host[HF__HOST_SIZE];
    int port;       /* 0: it knows no master of that name */
    uint64_t epoch; /* config-epoch: which failover made that one master */
} hf__sentinel_answer;

typedef enum hf__sentinel_vote {
    HF__BALLOT_OPEN,     /* too few have answered so far */
    HF__BALLOT_SILENT,   /* nobody answered */
    HF__BALLOT_NAMELESS, /* all who answered know no such master */
    HF__BALLOT_SPLIT,    /* no address has a majority */
    HF__BALLOT_STALE,    /* the majority is at an epoch before the known one
                          */
    HF__BALLOT_DECIDED
} hf__sentinel_vote;

/* What is counted, and against which background. */
typedef struct hf__sentinel_ballot {
    const hf__sentinel_answer *const *answers;
    size_t count;
    size_t known;  /* sentinels there are, silent ones included */
    bool is_final; /* no more answers will come */
    const hf__sentinel_answer *master; /* the one in use; NULL: none yet */
} hf__sentinel_ballot;

/* On DECIDED `winner` is set, with the newest epoch its voters know. `newer`:
 * there is a majority, and a sentinel outside of it knows a later failover. */
hf__sentinel_vote hf__sentinel_count(const hf__sentinel_ballot *ballot,
                                     hf__sentinel_answer *winner, bool *newer);

#endif
