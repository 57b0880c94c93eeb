/* SPDX-License-Identifier: Apache-2.0 */
/*
 * route.h - redirecting a request to another server, or to the same one later.
 *
 * A server may reply that it does not serve the request (MOVED, ASK, READONLY
 * and similar), or there may be no connection. In both cases nothing was
 * applied, and the topology decides: hf__router.redirect, called on the calling
 * thread for the connection pool and on the loop thread for pipelines, names a
 * server to continue with, or lets the request complete with the error.
 *
 * A redirected request keeps its hf__attempts, `sends` and deadline: once sent
 * without a reply, it stays doubtful on every server.
 */
#ifndef HF__STORE_REDIS_ROUTE_H
#define HF__STORE_REDIS_ROUTE_H

#include "store/redis/server/node.h"
#include "store/redis/server/retry.h"
#include "store/redis/wire/address.h"

/* One resharding redirects a request once or twice; more without a pause is a
 * loop. */
#define HF__REDIRECTS_MAX 5

/* The router's decision. */
typedef struct hf__route {
    struct hf__server *server; /* held for the caller, which releases it */
    int64_t at_ms; /* not before; 0: at once. Past the deadline: complete */
    bool asking;   /* write ASKING in front of it */
    uint32_t seen; /* the topology's changes before it was asked */
} hf__route;

typedef struct hf__router hf__router;
struct hf__router {
    bool of_slots; /* a cluster: MOVED and ASK are normal */
    /*
     * `from` could not serve the request. false: it completes with its error.
     * Any thread, concurrently, with none of our locks held; must not block.
     * `attempts->redirects` counts MOVED and ASK, this one included, and never
     * exceeds HF__REDIRECTS_MAX. The result may be `from` itself: then a
     * connection that replied READONLY or UNBLOCKED is replaced first.
     */
    bool (*redirect)(hf__router *router, struct hf__server *from,
                     const hf__request *request, const hf__attempts *attempts,
                     const hf__redirect *why, hf__route *route);
    /*
     * `from` is silent. The request keeps waiting for its reply, but the
     * topology may stop using the server. Any thread; must not block. NULL:
     * ignored.
     */
    void (*suspect)(hf__router *router, struct hf__server *from);
};

/*
 * Call the router; false: complete. On true attempts->asking is set, this
 * sending is not counted, and route->at_ms is before the deadline.
 */
bool hf__route_ask(const hf__redis_node *from, hf__request *request,
                   hf__attempts *attempts, const hf__redirect *why,
                   hf__route *route);

/*
 * Sleep until route->at_ms, or until the topology has changed and another
 * server is responsible, which `route` then names.
 */
void hf__route_pause(const hf__request *request, const hf__attempts *attempts,
                     hf__route *route);

/* Report to the topology that a server is silent. */
void hf__route_suspect(hf__redis_node *from);
/* Was that reported just now? */
bool hf__route_is_suspected(const hf__redis_node *node);

#endif
