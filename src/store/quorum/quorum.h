/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quorum.h - a store of several independent servers. An owner holds a lock if
 * it holds it on a majority of them: the algorithm that the Redis documentation
 * calls Redlock ("Distributed locks with Redis"), with fencing tokens.
 *
 * Locks only. A request is sent to all nodes at once and completes as soon as
 * the votes still missing cannot change the outcome. tally.h has the rules.
 */
#ifndef HF__STORE_QUORUM_QUORUM_H
#define HF__STORE_QUORUM_QUORUM_H

#include <pthread.h>

#include "store/store.h"

/* More servers only make every lock slower. */
#define HF__QUORUM_NODES_MAX HF__VOTES_MAX

/* Quarantine: a node that lost its memory may have voted for locks that are
 * still held, and does not vote until the longest of them has ended. */
#define HF__QUORUM_RESTART_MS 60000

typedef struct hf__quorum_node {
    hf__store *store;
    /* Guarded by the quorum's mutex. */
    char run_id[48];     /* "": unknown */
    uint32_t generation; /* of the connection that run_id was read on */
    bool querying;       /* INFO is under way */
    bool probed;         /* it answered while the quorum was opened */
    bool silent;         /* it did not answer the last request in time */
    int64_t votes_at_ms; /* end of the quarantine; local clock */
} hf__quorum_node;

typedef struct hf__quorum {
    hf__store base;
    hf__loop *loop;
    uint32_t fork_generation;
    int64_t restart_ms;
    size_t count;
    size_t majority;
    hf__quorum_node nodes[HF__QUORUM_NODES_MAX];
    pthread_mutex_t mutex; /* guards nodes and all below */
    struct hf__quorum_watch *watches;
    struct hf__quorum_sleeper *sleepers;
    _Atomic uint32_t woken; /* how often this client woke its sleepers */
    int64_t opened_ms;
    bool is_new;            /* all nodes were young when it was opened */
    bool closing;           /* nothing is submitted to the nodes any more */
    size_t submitting;      /* threads that submit to the nodes */
    size_t undos;           /* undos under way */
    size_t work;            /* rounds, queries and undos under way */
    pthread_cond_t changed; /* work or submitting is 0 */
} hf__quorum;

extern const hf__store_ops hf__quorum_store_ops;

#endif
