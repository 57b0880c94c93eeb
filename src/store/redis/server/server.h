/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server.h - one server with all its connections: the pool, the pipeline and
 * those for replicated writes. A topology has one server or many, and decides
 * which one a request goes to.
 *
 * Servers have a reference count (node.h). Requests do not hold their server:
 * all of them complete before it is freed.
 */
#ifndef HF__STORE_REDIS_SERVER_H
#define HF__STORE_REDIS_SERVER_H

#include <stddef.h>

#include "store/redis/server/conn_pool.h"
#include "store/redis/server/node.h"
#include "store/redis/server/pipeline.h"
#include "store/redis/server/side_conns.h"

typedef struct hf__server {
    hf__redis_node node;
    hf__conn_pool pool;
    hf__pipeline pipeline;
    hf__side_conns side;
} hf__server;

_Static_assert(offsetof(hf__server, node) == 0,
               "hf__server_node() relies on it");

/*
 * A server at the addresses of `resolver`, which it owns on HF_OK. Nothing is
 * connected yet. Any thread. The caller holds it.
 */
hf_status hf__server_new(hf__store_context *context,
                         const hf__redis_account *account,
                         hf__resolver *resolver, hf__server **server,
                         hf_error *err);

/* Connect once, to check that it accepts the login, until an instant. Not on
 * the loop thread. */
hf_status hf__server_open(hf__server *server, int64_t until_ms, hf_error *err);

/*
 * store.h's perform() and submit(), for requests that
 * hf__store_context_refuse() let pass. The caller holds the server. A request
 * may end on another server, if the context's router says so.
 */
void hf__server_perform(hf__server *server, hf__request *request);
void hf__server_submit(hf__server *server, hf__request *const *requests,
                       size_t count);

/* Incomplete requests of the pipeline. */
static inline size_t hf__server_depth(hf__server *server)
{
    return hf__pipeline_depth(&server->pipeline);
}

/*
 * The server's address has changed: no connection made before this call is used
 * for a request after it. Requests in flight may still be answered for a moment
 * on a connection of the pool; the rest fail as if the connection had broken.
 * Never blocks. Any thread.
 */
void hf__server_reset(hf__server *server);

/*
 * The server is no longer part of the store; takes over the caller's hold.
 * Requests not written yet, and those of other holders, are redirected as GONE;
 * those in flight are waited for, until their deadlines at most. Any thread;
 * the loop must be started if the server was used.
 */
void hf__server_retire(hf__server *server);

/*
 * The store is closed: complete all requests, close, free. No one else holds
 * the server, and no call on it runs. Not on the loop thread.
 */
void hf__server_close(hf__server *server);

/* In a forked child: close descriptors and free memory. */
void hf__server_close_forked(hf__server *server);

#endif
