/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replicated.h - a server's connections for writes that replicas are to
 * acknowledge: one for each number of replicas that anybody asks for, as a
 * WAIT for two would hold up who needs one. Made when first used.
 */
#ifndef HF__STORE_REDIS_REPLICATED_H
#define HF__STORE_REDIS_REPLICATED_H

#include <stdatomic.h>

#include "store/redis/server/pipeline.h"
#include "store/redis/server/pipeline_internal.h"

typedef struct hf__durable hf__durable;
typedef struct hf__durables hf__durables;

struct hf__durable {
    hf__mux mux;
    hf__turn turn;
    hf__durables *all;
    atomic_bool leaving; /* it holds the server until it is idle */
    hf__durable *next;
};

/* In front of which nothing is ever put twice: read without a lock. */
struct hf__durables {
    hf__redis_node *node;
    _Atomic(hf__durable *) first;
    atomic_bool retired;
    void (*closed)(hf__durables *all);
};

void hf__durable_init(hf__durables *all, hf__redis_node *node);

/*
 * The connection for `replicas`; NULL: out of memory. Any thread that holds
 * the server.
 */
hf__mux *hf__durable_mux(hf__durables *all, uint32_t replicas);

/* See hf__server_reset() and the others of these names. */
void hf__durable_reset(hf__durables *all);
void hf__durable_retire(hf__durables *all);
void hf__durable_abandon(hf__durables *all);

/* close(): complete and close them, not on the loop thread; free(): they are
 * closed, or were never used. */
void hf__durable_close(hf__durables *all);
void hf__durable_free(hf__durables *all);

/* The loop thread: close and free them, then closed() is told. */
void hf__durable_close_here(hf__durables *all,
                            void (*closed)(hf__durables *all));

#endif
