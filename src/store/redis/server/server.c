/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server.c - a server's connections together.
 *
 * perform() uses the connection pool while the pipeline has little to do, which
 * saves a single caller the thread switch; under load, and for everything
 * asynchronous, requests share the pipeline on the loop thread.
 *
 * How a server is removed from a store in use:
 *
 * 1. retire() marks the pipeline. The loop thread redirects what was not
 *    written, and drops the connection once the rest is complete.
 * 2. Then it releases the hold of retire(). The last release posts free_task:
 *    every task posted while the server was held runs before it, so nothing is
 *    incomplete then.
 * 3. free_task closes the connections; when they are closed, memory is freed
 *    and context->leaving decremented.
 */
#include "store/redis/server/server.h"

#include "store/redis/server/route.h"
#include "util/container.h"
#include "util/error.h"
#include "util/futex.h"
#include "util/mem.h"

/* With more requests in the pipeline, joining its next write is cheaper than a
 * write of its own. */
#define INLINE_DEPTH_MAX 4

static void run_free(hf__task *task);

static hf__pipeline *choose_pipeline(hf__redis_node *node, uint32_t replicas)
{
    return replicas == 0
               ? &node->server->pipeline
               : hf__side_conns_for_replicas(&node->server->side, replicas);
}

static hf__pipeline *choose_wait_pipeline(hf__redis_node *node,
                                          hf__request *request)
{
    return hf__side_conns_take(&node->server->side, request);
}

static void on_lost(hf__redis_node *node)
{
    hf__side_conns_lost(&node->server->side);
}

hf_status hf__server_new(hf__store_context *context,
                         const hf__redis_account *account,
                         hf__resolver *resolver, hf__server **server,
                         hf_error *err)
{
    hf__server *made = hf__calloc(1, sizeof(*made));

    if (made == NULL)
        return hf__fail(err, HF_NO_MEMORY, "out of memory");
    made->node.context = context;
    made->node.server = made;
    made->node.account = account;
    made->node.resolver = resolver;
    made->node.pipeline = choose_pipeline;
    made->node.wait_pipeline = choose_wait_pipeline;
    made->node.lost = on_lost;
    made->node.free_task.run = run_free;
    atomic_init(&made->node.holders, 1);
    hf__conn_pool_init(&made->pool, &made->node);
    hf__pipeline_init(&made->pipeline, &made->node);
    hf__side_conns_init(&made->side, &made->node);
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
    return hf__conn_pool_open(&server->pool, until_ms, err);
}

/* ---------------------------------------------------------------- requests */

/* NULL: refused, and the request's outcome is set. */
static hf__pipeline *pipeline_of(hf__server *server, hf__request *request)
{
    hf__pipeline *pipe;

    request->acked = -1;
    if (request->wait_ms != 0)
        return hf__side_conns_take(&server->side, request);
    if (request->replicas == NULL)
        return &server->pipeline;
    pipe = hf__side_conns_for_replicas(&server->side, request->replicas->count);
    if (pipe == NULL)
        hf__request_fail(request, HF_NO_MEMORY, "out of memory");
    return pipe;
}

static void perform_replicated(hf__server *server, hf__request *request)
{
    hf__attempts attempts = {0};
    hf__pipeline *pipe = pipeline_of(server, request);

    if (pipe != NULL)
        hf__pipeline_perform(pipe, request, &attempts);
}

/* Some are replicated, or wait: consecutive ones for the same pipeline are
 * submitted together. */
static void submit_mixed(hf__server *server, hf__request *const *requests,
                         size_t count)
{
    hf__pipeline *pending = NULL;
    size_t first = 0;

    for (size_t at = 0; at < count; at++) {
        hf__pipeline *pipe = pipeline_of(server, requests[at]);

        if (pipe == pending && pipe != NULL)
            continue;
        if (pending != NULL)
            hf__pipeline_submit(pending, requests + first, at - first);
        if (pipe == NULL)
            requests[at]->on_done(requests[at]);
        pending = pipe;
        first = at;
    }
    if (pending != NULL)
        hf__pipeline_submit(pending, requests + first, count - first);
}

/* Until this server or another has completed it. The router limits the number
 * of redirects, the deadline the time. */
void hf__server_perform(hf__server *server, hf__request *request)
{
    hf__attempts attempts = {0};
    hf__server *held = NULL;
    hf__conn_pool_result result = HF__POOL_BUSY;
    hf__route route;

    if (request->replicas != NULL) {
        perform_replicated(server, request);
        return;
    }
    for (;;) {
        if (hf__server_depth(server) <= INLINE_DEPTH_MAX &&
            !hf__pipeline_is_crowded(&server->pipeline))
            result = hf__conn_pool_perform(&server->pool, request, &attempts,
                                           &route);
        if (result != HF__POOL_MOVED)
            break;
        if (held != NULL)
            hf__server_release(held);
        if (route.at_ms > 0)
            hf__route_pause(request, &attempts, &route);
        server = held = route.server;
        result = HF__POOL_BUSY;
    }
    if (result == HF__POOL_BUSY)
        hf__pipeline_perform(&server->pipeline, request, &attempts);
    if (held != NULL)
        hf__server_release(held);
}

void hf__server_submit(hf__server *server, hf__request *const *requests,
                       size_t count)
{
    size_t at = 0;

    while (at < count && requests[at]->replicas == NULL &&
           requests[at]->wait_ms == 0)
        at++;
    if (at == count)
        hf__pipeline_submit(&server->pipeline, requests, count);
    else
        submit_mixed(server, requests, count);
}

void hf__server_reset(hf__server *server)
{
    __atomic_add_fetch(&server->node.epoch, 1, __ATOMIC_ACQ_REL);
    hf__pipeline_wake(&server->pipeline);
    hf__side_conns_reset(&server->side);
}

/* --------------------------------------------------------------------- end */

static void on_closed(hf__pipeline *pipe)
{
    hf__server *server = hf__container_of(pipe, hf__server, pipeline);
    hf__store_context *context = server->node.context;

    hf__side_conns_free(&server->side);
    hf__pipeline_done(&server->pipeline);
    hf__conn_pool_done(&server->pool);
    free_server(server);
    __atomic_sub_fetch(&context->leaving, 1, __ATOMIC_RELEASE);
    hf__futex_wake_all(&context->leaving, false);
}

static void on_side_closed(hf__side_conns *side)
{
    hf__pipeline_close_here(&side->node->server->pipeline, on_closed);
}

static void run_free(hf__task *task)
{
    hf__server *server = hf__container_of(task, hf__server, node.free_task);

    if (hf__loop_started(server->node.context->loop))
        hf__side_conns_close_here(&server->side, on_side_closed);
    else
        on_closed(&server->pipeline); /* no task of it can be posted */
}

void hf__server_retire(hf__server *server)
{
    __atomic_add_fetch(&server->node.context->leaving, 1, __ATOMIC_RELAXED);
    if (hf__loop_started(server->node.context->loop)) {
        hf__side_conns_retire(&server->side);
        hf__pipeline_retire(&server->pipeline);
    } else {
        hf__server_release(server);
    }
}

void hf__server_close(hf__server *server)
{
    hf__side_conns_drain(&server->side);
    hf__side_conns_close(&server->side);
    hf__pipeline_close(&server->pipeline);
    hf__side_conns_free(&server->side);
    hf__pipeline_done(&server->pipeline);
    hf__conn_pool_done(&server->pool);
    free_server(server);
}

void hf__server_close_forked(hf__server *server)
{
    hf__side_conns_close_forked(&server->side);
    hf__pipeline_close_forked(&server->pipeline);
    hf__conn_pool_close_forked(&server->pool);
    free_server(server);
}
