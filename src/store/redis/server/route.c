/* SPDX-License-Identifier: Apache-2.0 */
/*
 * route.c - calling the router, with the limits common to all topologies.
 */
#include "store/redis/server/route.h"

#include <string.h>

#include "util/clock.h"
#include "util/error.h"
#include "util/futex.h"

/* A suspicion is repeated every 500 ms for as long as the silence lasts. */
#define SUSPICION_MS 1500

static bool is_redirect(const hf__redirect *why)
{
    return why->kind == HF__REDIRECT_MOVED || why->kind == HF__REDIRECT_ASK;
}

/* In a cluster a redirection that is not followed any more is not the caller's
 * mistake, and nothing was applied. */
static void make_passing(hf__request *request, const hf__attempts *attempts,
                         const hf__redirect *why)
{
    hf_error err = HF_ERROR_INIT;

    hf__fail(&err, HF_UNAVAILABLE,
             "%s %u %s:%d; the nodes of the cluster disagree about the slot",
             why->kind == HF__REDIRECT_ASK ? "ASK" : "MOVED", why->slot,
             why->host, why->port);
    hf__retry_fail(request, attempts->doubtful, &err);
    request->sends--;
}

bool hf__route_ask(const hf__redis_node *from, hf__request *request,
                   hf__attempts *attempts, const hf__redirect *why,
                   hf__route *route)
{
    hf__router *router = from->context->router;
    bool counts = why->counts;

    memset(route, 0, sizeof(*route));
    route->seen = __atomic_load_n(&from->context->changes, __ATOMIC_ACQUIRE);
    if (router == NULL || why->kind == HF__REDIRECT_NONE)
        return false;
    if (is_redirect(why) && router->of_slots) {
        make_passing(request, attempts, why);
        counts = false;
    }
    if (is_redirect(why) && attempts->redirects++ >= HF__REDIRECTS_MAX)
        return false;
    if (!router->redirect(router, from->server, request, attempts, why, route))
        return false;
    if (route->at_ms >= request->deadline_ms) {
        hf__server_release(route->server);
        return false;
    }
    if (counts)
        request->sends--;
    /* Send the script's text after ASKING: NOSCRIPT would use up the
     * permission. */
    attempts->asking = route->asking;
    attempts->whole = attempts->whole || route->asking;
    if (route->at_ms > 0) {
        attempts->waits++;
        attempts->redirects = 0;
    }
    return true;
}

/* The topology has changed. true: stop waiting; if the router names no other
 * server, this one has a new address. */
static bool look_again(const hf__request *request, const hf__attempts *attempts,
                       hf__route *route)
{
    static const hf__redirect why = {.kind = HF__REDIRECT_GONE};
    hf__router *router = hf__server_node(route->server)->context->router;
    hf__route now;

    memset(&now, 0, sizeof(now));
    if (route->asking ||
        !router->redirect(router, route->server, request, attempts, &why, &now))
        return true;
    if (now.server == route->server) {
        hf__server_release(now.server);
        return false;
    }
    hf__server_release(route->server);
    route->server = now.server;
    return true;
}

void hf__route_pause(const hf__request *request, const hf__attempts *attempts,
                     hf__route *route)
{
    const uint32_t *changes = &hf__server_node(route->server)->context->changes;
    uint32_t now;

    while (hf__clock_boot_ms() < route->at_ms) {
        hf__futex_wait(changes, route->seen, route->at_ms, false);
        now = __atomic_load_n(changes, __ATOMIC_ACQUIRE);
        if (now != route->seen && look_again(request, attempts, route))
            return;
        route->seen = now;
    }
}

void hf__route_suspect(hf__redis_node *from)
{
    hf__router *router = from->context->router;

    __atomic_store_n(&from->suspected_ms, hf__clock_boot_ms(),
                     __ATOMIC_RELAXED);
    if (router != NULL && router->suspect != NULL)
        router->suspect(router, from->server);
}

bool hf__route_is_suspected(const hf__redis_node *node)
{
    int64_t at_ms = __atomic_load_n(&node->suspected_ms, __ATOMIC_RELAXED);

    return at_ms > 0 && hf__clock_boot_ms() < at_ms + SUSPICION_MS;
}
