/* SPDX-License-Identifier: Apache-2.0 */
/*
 * durable.c - see durable.h. What happens on the connections is turn.c's;
 * here they come and go.
 *
 * The list only grows, in front, by compare and exchange. Whoever looks at it
 * holds the server, which is freed with all of them.
 *
 * A server that is retired retires each of them, with a hold for each. One that
 * is made meanwhile is retired by its maker: either it sees `retired`, or
 * who retires sees it in the list.
 */
#include "store/redis/server/durable.h"

#include "store/redis/server/server.h"
#include "util/mem.h"

static hf__durable *first_of(hf__server *server)
{
    return atomic_load_explicit(&server->durables.first, memory_order_acquire);
}

static hf__durable *find(hf__server *server, uint32_t replicas)
{
    hf__durable *at = first_of(server);

    while (at != NULL && at->turn.replicas != replicas)
        at = at->next;
    return at;
}

static void free_one(hf__durable *durable)
{
    hf__mux_done(&durable->mux);
    hf__free(durable);
}

static void retire_one(hf__server *server, hf__durable *durable)
{
    if (atomic_exchange(&durable->leaving, true))
        return;
    hf__server_hold(server);
    hf__mux_retire(&durable->mux);
}

/* Another thread may be faster: then its one is what there is. */
static hf__durable *add(hf__server *server, hf__durable *made)
{
    hf__durable *found;

    for (;;) {
        hf__durable *first = first_of(server);

        found = find(server, made->turn.replicas);
        if (found != NULL)
            break;
        made->next = first;
        if (atomic_compare_exchange_strong(&server->durables.first, &first,
                                           made))
            return made;
    }
    free_one(made);
    return found;
}

hf__mux *hf__durable_mux(hf__server *server, uint32_t replicas)
{
    hf__durable *durable = find(server, replicas);

    if (durable != NULL)
        return &durable->mux;
    durable = hf__calloc(1, sizeof(*durable));
    if (durable == NULL)
        return NULL;
    hf__mux_init(&durable->mux, &server->node);
    hf__turn_init(&durable->turn, replicas);
    durable->mux.turn = &durable->turn;
    durable->mux.link.waits = true;
    atomic_init(&durable->leaving, false);
    durable = add(server, durable);
    if (atomic_load(&server->durables.retired))
        retire_one(server, durable);
    return &durable->mux;
}

/* ---------------------------------------------------------------- requests */

/* NULL: refused, and the request's outcome is set. */
static hf__mux *mux_of(hf__server *server, hf__request *request)
{
    hf__mux *mux;

    request->acked = -1;
    if (request->replicas == NULL)
        return &server->mux;
    mux = hf__durable_mux(server, request->replicas->count);
    if (mux == NULL)
        hf__request_fail(request, HF_NO_MEMORY, "out of memory");
    return mux;
}

void hf__durable_perform(hf__server *server, hf__request *request)
{
    hf__attempts attempts = {0};
    hf__mux *mux = mux_of(server, request);

    if (mux != NULL)
        hf__mux_perform(mux, request, &attempts);
}

/* Those that follow one another on the same connection go there together. */
void hf__durable_submit(hf__server *server, hf__request *const *requests,
                        size_t count)
{
    hf__mux *pending = NULL;
    size_t first = 0;

    for (size_t at = 0; at < count; at++) {
        hf__mux *mux = mux_of(server, requests[at]);

        if (mux == pending && mux != NULL)
            continue;
        if (pending != NULL)
            hf__mux_submit(pending, requests + first, at - first);
        if (mux == NULL)
            requests[at]->on_done(requests[at]);
        pending = mux;
        first = at;
    }
    if (pending != NULL)
        hf__mux_submit(pending, requests + first, count - first);
}

void hf__durable_reset(hf__server *server)
{
    hf__durable *at;

    for (at = first_of(server); at != NULL; at = at->next)
        hf__mux_poke(&at->mux);
}

/* --------------------------------------------------------------------- end */

void hf__durable_retire(hf__server *server)
{
    hf__durable *at;

    atomic_store(&server->durables.retired, true);
    for (at = atomic_load(&server->durables.first); at != NULL; at = at->next)
        retire_one(server, at);
}

void hf__durable_close(hf__server *server)
{
    hf__durable *at;

    for (at = first_of(server); at != NULL; at = at->next)
        hf__mux_close(&at->mux);
}

void hf__durable_free(hf__server *server)
{
    hf__durable *at;

    while ((at = first_of(server)) != NULL) {
        atomic_store(&server->durables.first, at->next);
        free_one(at);
    }
}

static void close_next(hf__server *server);

static void on_closed(hf__mux *mux)
{
    hf__server *server = mux->link.node->server;

    free_one((hf__durable *)(void *)mux);
    close_next(server);
}

static void close_next(hf__server *server)
{
    hf__durable *at = first_of(server);

    if (at == NULL) {
        server->durables_closed(server);
        return;
    }
    atomic_store(&server->durables.first, at->next);
    hf__mux_close_here(&at->mux, on_closed);
}

void hf__durable_close_here(hf__server *server,
                            void (*closed)(hf__server *server))
{
    server->durables_closed = closed;
    close_next(server);
}

/* Where the fork left them: only descriptors and memory. */
void hf__durable_abandon(hf__server *server)
{
    hf__durable *at;

    while ((at = first_of(server)) != NULL) {
        atomic_store(&server->durables.first, at->next);
        hf__mux_abandon(&at->mux);
        hf__free(at);
    }
}
