/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quorum.h - a lock on several independent servers, which is held by whoever
 * holds it on most of them: the algorithm that the Redis documentation calls
 * Redlock ("Distributed locks with Redis"), with fencing tokens.
 *
 * Locks only. A request goes to all nodes at once and is decided as soon as
 * the answers that are still to come cannot change the outcome; those are left
 * to come. What each script's answers add up to is in tally.h.
 */
#ifndef HF__STORE_QUORUM_QUORUM_H
#define HF__STORE_QUORUM_QUORUM_H

#include <pthread.h>

#include "store/store.h"

/* More masters only make every lock slower. */
#define HF__QUORUM_NODES_MAX 15

/* A node that lost its memory may have held votes of locks that live on: it
 * does not vote until the longest of them has ended. */
#define HF__QUORUM_RESTART_MS 60000

typedef struct hf__quorum_node {
    hf__store *store;
    /* Guarded by the quorum's mutex. */
    char run_id[48];     /* "": not known yet */
    uint32_t generation; /* for which run_id was read */
    bool querying;       /* INFO is under way */
    bool probed;         /* it answered while the quorum was opened */
    bool silent;         /* it did not answer the last request in time */
    int64_t votes_at_ms; /* no vote counts before; local clock */
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
    _Atomic uint32_t woken; /* how often sleepers were woken by us */
    int64_t opened_ms;
    bool is_new;            /* all nodes were young when it was opened */
    bool closing;           /* nothing is given to the nodes any more */
    size_t submitting;      /* threads that give something to the nodes */
    size_t undos;           /* releases that nobody waits for */
    size_t work;            /* under way; close waits for them */
    pthread_cond_t changed; /* rounds or submitting is 0 */
} hf__quorum;

extern const hf__store_ops hf__quorum_store_ops;

#endif
