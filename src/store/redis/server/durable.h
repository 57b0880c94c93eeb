/* SPDX-License-Identifier: Apache-2.0 */
/*
 * durable.h - a server's connections for writes that replicas are to
 * acknowledge: one for each number of replicas that anybody asks for, as a
 * WAIT for two would hold up who needs one. Made when first used.
 */
#ifndef HF__STORE_REDIS_DURABLE_H
#define HF__STORE_REDIS_DURABLE_H

#include <stdatomic.h>

#include "store/redis/server/mux.h"
#include "store/redis/server/turn.h"

typedef struct hf__durable hf__durable;
struct hf__durable {
    hf__mux mux; /* first */
    hf__turn turn;
    atomic_bool leaving; /* it holds the server until it is idle */
    hf__durable *next;
};

/* In front of which nothing is ever put twice: read without a lock. */
typedef struct hf__durables {
    _Atomic(hf__durable *) first;
    atomic_bool retired;
} hf__durables;

/*
 * The connection for `replicas`; NULL: out of memory. Any thread that holds
 * the server.
 */
hf__mux *hf__durable_mux(struct hf__server *server, uint32_t replicas);

/* See hf__server_perform() and the others of these names. Some of the requests
 * of submit() may be ordinary. */
void hf__durable_perform(struct hf__server *server, hf__request *request);
void hf__durable_submit(struct hf__server *server, hf__request *const *requests,
                        size_t count);
void hf__durable_reset(struct hf__server *server);
void hf__durable_retire(struct hf__server *server);
void hf__durable_abandon(struct hf__server *server);

/* close(): complete and close them, not on the loop thread; free(): they are
 * closed, or were never used. */
void hf__durable_close(struct hf__server *server);
void hf__durable_free(struct hf__server *server);

/* The loop thread: close and free them, then closed() is told. */
void hf__durable_close_here(struct hf__server *server,
                            void (*closed)(struct hf__server *server));

#endif
