/* SPDX-License-Identifier: Apache-2.0 */
/*
 * side_conns.h - a server's connections next to its pipeline:
 *
 * - for writes that replicas must acknowledge: one for each number of replicas
 *   requested, as a WAIT for two would delay those that need one;
 * - for commands that wait for an element, one for each at a time.
 *
 * Created when first used.
 */
#ifndef HF__STORE_REDIS_SIDE_CONNS_H
#define HF__STORE_REDIS_SIDE_CONNS_H

#include <stdatomic.h>

#include "store/redis/server/pipeline.h"
#include "store/redis/server/pipeline_internal.h"

typedef struct hf__side_conn hf__side_conn;
typedef struct hf__side_conns hf__side_conns;

struct hf__side_conn {
    hf__pipeline pipeline;
    hf__wait_batch wait_batch; /* for 0 replicas: not used */
    hf__unblock unblock;       /* of one for commands that wait */
    atomic_bool taken;         /* by one */
    hf__side_conns *all;
    atomic_bool leaving; /* it holds the server until it is idle */
    hf__side_conn *next;
};

/* Read without a lock, see side_conns.c. */
struct hf__side_conns {
    hf__redis_node *node;
    _Atomic(hf__side_conn *) first;
    atomic_bool retired;
    uint32_t given_back; /* how often one was; a futex */
    void (*closed)(hf__side_conns *all);
};

void hf__side_conns_init(hf__side_conns *all, hf__redis_node *node);

/*
 * The connection for `replicas`; NULL: out of memory. Any thread that holds
 * the server.
 */
hf__pipeline *hf__side_conns_for_replicas(hf__side_conns *all,
                                          uint32_t replicas);

/* Commands that wait at a server at a time. */
#define HF__SIDE_CONNS_WAITING 128

/* A connection for a request that waits, which takes it. NULL: refused, and the
 * request's outcome is set. Any thread that holds the server. */
hf__pipeline *hf__side_conns_take(hf__side_conns *all, hf__request *request);
/* The store is closed: cancel them, and wait for that, a second at most. Not on
 * the loop thread. */
void hf__side_conns_drain(hf__side_conns *all);

/* The connection of the pipeline broke. On the loop thread. */
void hf__side_conns_lost(hf__side_conns *all);

/* See hf__server_reset() and the others of these names. */
void hf__side_conns_reset(hf__side_conns *all);
void hf__side_conns_retire(hf__side_conns *all);
void hf__side_conns_close_forked(hf__side_conns *all);

/* close(): complete and close them, not on the loop thread; free(): they are
 * closed, or were never used. */
void hf__side_conns_close(hf__side_conns *all);
void hf__side_conns_free(hf__side_conns *all);

/* The loop thread: close and free them, then call closed(). */
void hf__side_conns_close_here(hf__side_conns *all,
                               void (*closed)(hf__side_conns *all));

#endif
