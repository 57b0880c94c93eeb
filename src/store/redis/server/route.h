/* SPDX-License-Identifier: Apache-2.0 */
/*
 * route.h - sending a request on to another server, or to the same one later.
 *
 * A server's answer may be that it is not the one to ask (MOVED, ASK, READONLY
 * and their like), or there may be no server to answer. None of these had an
 * effect. What then happens is the topology's decision: it is asked by
 * hf__router.redirect, on the calling thread for inline connections and on the
 * loop thread for shared ones, and names a server to go on with, or lets the
 * request complete with the error.
 *
 * A request that goes on keeps its hf__attempts, `sends` and its deadline: who
 * has been sent once without an answer stays doubtful wherever it goes.
 */
#ifndef HF__STORE_REDIS_ROUTE_H
#define HF__STORE_REDIS_ROUTE_H

#include "store/redis/server/node.h"
#include "store/redis/server/retry.h"
#include "store/redis/wire/address.h"

/* One resharding sends a request on once or twice; more without a pause is a
 * circle. */
#define HF__REDIRECTS_MAX 5

/* What the router is told, and what it answers. */
typedef struct hf__route {
    struct hf__server *server; /* held for the asker, who releases it */
    int64_t at_ms; /* not before; 0: at once. Past the deadline: complete */
    bool asking;   /* write ASKING in front of it */
    uint32_t seen; /* the topology's changes before it was asked */
} hf__route;

typedef struct hf__router hf__router;
struct hf__router {
    bool of_slots; /* MOVED and ASK are how it works, and no error of use */
    /*
     * `from` could not serve the request: decide. false: it completes with
     * the error that it has. Any thread, concurrently, with none of our locks
     * held; must not block. `attempts->redirects` counts MOVED and ASK, this
     * one included, and never exceeds HF__REDIRECTS_MAX. `from` itself may be
     * the answer: then a connection that said READONLY or UNBLOCKED is
     * replaced first.
     */
    bool (*redirect)(hf__router *router, struct hf__server *from,
                     const hf__request *request, const hf__attempts *attempts,
                     const hf__redirect *why, hf__route *route);
    /*
     * `from` has not answered for a while: what it says is not waited for, but
     * it may be that nobody asks it any more. Any thread; must not block. NULL:
     * of no interest.
     */
    void (*suspect)(hf__router *router, struct hf__server *from);
};

/*
 * Ask the topology; false: complete. On true attempts->asking is set, this
 * sending counts no more, and route->at_ms lies before the deadline.
 */
bool hf__route_ask(const hf__redis_node *from, hf__request *request,
                   hf__attempts *attempts, const hf__redirect *why,
                   hf__route *route);

/*
 * Sleep until route->at_ms, or until the topology has changed so that the
 * request goes to another server, which the route names then.
 */
void hf__route_pause(const hf__request *request, const hf__attempts *attempts,
                     hf__route *route);

/* Tell the topology that a server does not answer. */
void hf__route_suspect(hf__redis_node *from);
/* Was that told just now? */
bool hf__route_is_suspected(const hf__redis_node *node);

#endif
