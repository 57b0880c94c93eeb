/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server.c - a server's connections as one thing.
 *
 * perform() uses one of a few inline connections while the shared one has
 * little to do, so that a lone caller pays for no thread hop; under load, and
 * for everything asynchronous, requests share one connection on the loop
 * thread.
 *
 * How a server ends while the store goes on:
 *
 * 1. retire() marks the shared connection. The loop thread hands on what was
 *    not written, and drops the connection once all that was is complete.
 * 2. Then it gives up the hold that retire() took over. The last holder posts
 *    free_task: every task that was posted while somebody held the server runs
 *    before it, so that it finds nothing that is not complete.
 * 3. free_task closes the links; when nothing of them is on its stack any more,
 *    memory is freed and fleet->leaving tells.
 */
#include "store/redis/server/server.h"

#include "store/redis/server/route.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/futex.h"
#include "util/mem.h"

/* With more than this under way the shared connection is warm, and joining its
 * next write is cheaper than a write of one's own. */
#define INLINE_DEPTH_MAX 4

hf_status hf__server_new(hf__fleet *fleet, const hf__redis_account *account,
                         hf__resolver *resolver, hf__server **server,
                         hf_error *err)
{
    hf__server *made = hf__calloc(1, sizeof(*made));

    if (made == NULL)
        return hf__fail(err, HF_NO_MEMORY, "out of memory");
    made->node.fleet = fleet;
    made->node.server = made;
    made->node.account = account;
    made->node.resolver = resolver;
    hf__inline_init(&made->inlines, &made->node);
    hf__mux_init(&made->mux, &made->node);
    atomic_init(&made->holders, 1);
    *server = made;
    return HF_OK;
}

static void free_server(hf__server *server)
{
    hf__resolver_free(server->node.resolver);
    hf__free(server);
}

hf_status hf__server_open(hf__server *server, int64_t until_ms, hf_error *err)
{
    return hf__inline_open(&server->inlines, until_ms, err);
}

/* ---------------------------------------------------------------- requests */

/* Until this server or another has completed it: the router bounds how often
 * it is sent on, and its deadline how long. */
void hf__server_perform(hf__server *server, hf__request *request)
{
    hf__attempts attempts = {0};
    hf__server *held = NULL;
    hf__inline_result result = HF__INLINE_BUSY;
    hf__route route;

    if (request->replicas != NULL) {
        hf__durable_perform(server, request);
        return;
    }
    for (;;) {
        if (hf__server_depth(server) <= INLINE_DEPTH_MAX &&
            !hf__mux_is_crowded(&server->mux))
            result = hf__inline_perform(&server->inlines, request, &attempts,
                                        &route);
        if (result != HF__INLINE_MOVED)
            break;
        if (held != NULL)
            hf__server_release(held);
        if (route.at_ms > 0)
            hf__route_pause(request, &attempts, &route);
        server = held = route.server;
        result = HF__INLINE_BUSY;
    }
    if (result == HF__INLINE_BUSY)
        hf__mux_perform(&server->mux, request, &attempts);
    if (held != NULL)
        hf__server_release(held);
}

void hf__server_submit(hf__server *server, hf__request *const *requests,
                       size_t count)
{
    size_t at = 0;

    while (at < count && requests[at]->replicas == NULL)
        at++;
    if (at == count)
        hf__mux_submit(&server->mux, requests, count);
    else
        hf__durable_submit(server, requests, count);
}

void hf__server_reset(hf__server *server)
{
    __atomic_add_fetch(&server->node.epoch, 1, __ATOMIC_ACQ_REL);
    hf__mux_poke(&server->mux);
    hf__durable_reset(server);
}

/* --------------------------------------------------------------------- end */

void hf__server_hold(hf__server *server)
{
    atomic_fetch_add_explicit(&server->holders, 1, memory_order_relaxed);
}

static void on_closed(hf__mux *mux)
{
    hf__server *server =
        (hf__server *)(void *)((char *)mux - offsetof(hf__server, mux));
    hf__fleet *fleet = server->node.fleet;

    hf__durable_free(server);
    hf__mux_done(&server->mux);
    hf__inline_done(&server->inlines);
    free_server(server);
    __atomic_sub_fetch(&fleet->leaving, 1, __ATOMIC_RELEASE);
    hf__futex_wake_all(&fleet->leaving, false);
}

static void on_durables_closed(hf__server *server)
{
    hf__mux_close_here(&server->mux, on_closed);
}

static void run_free(hf__task *task)
{
    hf__server *server =
        (hf__server *)(void *)((char *)task - offsetof(hf__server, free_task));

    hf__durable_close_here(server, on_durables_closed);
}

void hf__server_release(hf__server *server)
{
    if (atomic_fetch_sub_explicit(&server->holders, 1, memory_order_acq_rel) !=
        1)
        return;
    server->free_task.run = run_free;
    if (hf__loop_started(server->node.fleet->loop))
        hf__loop_post(server->node.fleet->loop, &server->free_task);
    else
        on_closed(&server->mux); /* no task of it can be on its way */
}

void hf__server_retire(hf__server *server)
{
    __atomic_add_fetch(&server->node.fleet->leaving, 1, __ATOMIC_RELAXED);
    if (hf__loop_started(server->node.fleet->loop)) {
        hf__durable_retire(server);
        hf__mux_retire(&server->mux);
    } else {
        hf__server_release(server);
    }
}

void hf__server_close(hf__server *server)
{
    hf__durable_close(server);
    hf__mux_close(&server->mux);
    hf__durable_free(server);
    hf__mux_done(&server->mux);
    hf__inline_done(&server->inlines);
    free_server(server);
}

void hf__server_abandon(hf__server *server)
{
    hf__durable_abandon(server);
    hf__mux_abandon(&server->mux);
    hf__inline_abandon(&server->inlines);
    free_server(server);
}
