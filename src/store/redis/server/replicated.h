/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replicated.h - a server's connections for writes that replicas must
 * acknowledge: one for each number of replicas requested, as a WAIT for two
 * would delay those that need one. Created when first used.
 */
#ifndef HF__STORE_REDIS_REPLICATED_H
#define HF__STORE_REDIS_REPLICATED_H

#include <stdatomic.h>

#include "store/redis/server/pipeline.h"
#include "store/redis/server/pipeline_internal.h"

typedef struct hf__replicated_conn hf__replicated_conn;
typedef struct hf__replicated hf__replicated;

struct hf__replicated_conn {
    hf__pipeline pipeline;
    hf__wait_batch wait_batch;
    hf__replicated *all;
    atomic_bool leaving; /* it holds the server until it is idle */
    hf__replicated_conn *next;
};

/* Read without a lock, see replicated.c. */
struct hf__replicated {
    hf__redis_node *node;
    _Atomic(hf__replicated_conn *) first;
    atomic_bool retired;
    void (*closed)(hf__replicated *all);
};

void hf__replicated_init(hf__replicated *all, hf__redis_node *node);

/*
 * The connection for `replicas`; NULL: out of memory. Any thread that holds
 * the server.
 */
hf__pipeline *hf__replicated_pipeline(hf__replicated *all, uint32_t replicas);

/* See hf__server_reset() and the others of these names. */
void hf__replicated_reset(hf__replicated *all);
void hf__replicated_retire(hf__replicated *all);
void hf__replicated_close_forked(hf__replicated *all);

/* close(): complete and close them, not on the loop thread; free(): they are
 * closed, or were never used. */
void hf__replicated_close(hf__replicated *all);
void hf__replicated_free(hf__replicated *all);

/* The loop thread: close and free them, then call closed(). */
void hf__replicated_close_here(hf__replicated *all,
                               void (*closed)(hf__replicated *all));

#endif
