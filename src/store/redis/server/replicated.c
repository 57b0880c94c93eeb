/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replicated.c - see replicated.h. What happens on the connections is
 * pipeline_wait.c's; here they come and go.
 *
 * The list only grows, in front, by compare and exchange. Whoever looks at it
 * holds the server, which is freed with all of them.
 *
 * A server that is retired retires each of them, with a hold for each. One that
 * is made meanwhile is retired by its maker: either it sees `retired`, or
 * who retires sees it in the list.
 */
#include "store/redis/server/replicated.h"

#include "util/container.h"
#include "util/mem.h"

void hf__durable_init(hf__durables *all, hf__redis_node *node)
{
    all->node = node;
    atomic_init(&all->first, NULL);
    atomic_init(&all->retired, false);
}

static hf__durable *first_of(hf__durables *all)
{
    return atomic_load_explicit(&all->first, memory_order_acquire);
}

static hf__durable *find(hf__durables *all, uint32_t replicas)
{
    hf__durable *at = first_of(all);

    while (at != NULL && at->turn.replicas != replicas)
        at = at->next;
    return at;
}

static void free_one(hf__durable *durable)
{
    hf__mux_done(&durable->mux);
    hf__free(durable);
}

static void retire_one(hf__durables *all, hf__durable *durable)
{
    if (atomic_exchange(&durable->leaving, true))
        return;
    hf__server_hold(all->node->server);
    hf__mux_retire(&durable->mux);
}

/* Another thread may be faster: then its one is what there is. */
static hf__durable *add(hf__durables *all, hf__durable *made)
{
    hf__durable *found;

    for (;;) {
        hf__durable *first = first_of(all);

        found = find(all, made->turn.replicas);
        if (found != NULL)
            break;
        made->next = first;
        if (atomic_compare_exchange_strong(&all->first, &first, made))
            return made;
    }
    free_one(made);
    return found;
}

hf__mux *hf__durable_mux(hf__durables *all, uint32_t replicas)
{
    hf__durable *durable = find(all, replicas);

    if (durable != NULL)
        return &durable->mux;
    durable = hf__calloc(1, sizeof(*durable));
    if (durable == NULL)
        return NULL;
    hf__mux_init(&durable->mux, all->node);
    hf__turn_init(&durable->turn, replicas);
    durable->all = all;
    durable->mux.turn = &durable->turn;
    durable->mux.link.waits = true;
    atomic_init(&durable->leaving, false);
    durable = add(all, durable);
    if (atomic_load(&all->retired))
        retire_one(all, durable);
    return &durable->mux;
}

void hf__durable_reset(hf__durables *all)
{
    hf__durable *at;

    for (at = first_of(all); at != NULL; at = at->next)
        hf__mux_poke(&at->mux);
}

/* --------------------------------------------------------------------- end */

void hf__durable_retire(hf__durables *all)
{
    hf__durable *at;

    atomic_store(&all->retired, true);
    for (at = atomic_load(&all->first); at != NULL; at = at->next)
        retire_one(all, at);
}

void hf__durable_close(hf__durables *all)
{
    hf__durable *at;

    for (at = first_of(all); at != NULL; at = at->next)
        hf__mux_close(&at->mux);
}

void hf__durable_free(hf__durables *all)
{
    hf__durable *at;

    while ((at = first_of(all)) != NULL) {
        atomic_store(&all->first, at->next);
        free_one(at);
    }
}

static void close_next(hf__durables *all);

static void on_closed(hf__mux *mux)
{
    hf__durable *durable = hf__container_of(mux, hf__durable, mux);
    hf__durables *all = durable->all;

    free_one(durable);
    close_next(all);
}

static void close_next(hf__durables *all)
{
    hf__durable *at = first_of(all);

    if (at == NULL) {
        all->closed(all);
        return;
    }
    atomic_store(&all->first, at->next);
    hf__mux_close_here(&at->mux, on_closed);
}

void hf__durable_close_here(hf__durables *all,
                            void (*closed)(hf__durables *all))
{
    all->closed = closed;
    close_next(all);
}

/* Where the fork left them: only descriptors and memory. */
void hf__durable_abandon(hf__durables *all)
{
    hf__durable *at;

    while ((at = first_of(all)) != NULL) {
        atomic_store(&all->first, at->next);
        hf__mux_abandon(&at->mux);
        hf__free(at);
    }
}
