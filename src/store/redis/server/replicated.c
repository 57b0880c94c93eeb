/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replicated.c - see replicated.h. Creates and closes the connections;
 * pipeline_wait.c uses them.
 *
 * The list only grows, at its head, by compare and exchange. Readers hold the
 * server, which is freed together with them.
 *
 * Retiring a server retires each of them, with a hold for each. One that is
 * created meanwhile is retired by its creator: either that sees `retired`, or
 * retire() sees it in the list.
 */
#include "store/redis/server/replicated.h"

#include "util/container.h"
#include "util/mem.h"

void hf__replicated_init(hf__replicated *all, hf__redis_node *node)
{
    all->node = node;
    atomic_init(&all->first, NULL);
    atomic_init(&all->retired, false);
}

static hf__replicated_conn *first_of(hf__replicated *all)
{
    return atomic_load_explicit(&all->first, memory_order_acquire);
}

static hf__replicated_conn *find_conn(hf__replicated *all, uint32_t replicas)
{
    hf__replicated_conn *at = first_of(all);

    while (at != NULL && at->wait_batch.replicas != replicas)
        at = at->next;
    return at;
}

static void free_one(hf__replicated_conn *durable)
{
    hf__pipeline_done(&durable->pipeline);
    hf__free(durable);
}

static void retire_one(hf__replicated *all, hf__replicated_conn *durable)
{
    if (atomic_exchange(&durable->leaving, true))
        return;
    hf__server_hold(all->node->server);
    hf__pipeline_retire(&durable->pipeline);
}

/* If another thread was faster, use its connection. */
static hf__replicated_conn *add_conn(hf__replicated *all,
                                     hf__replicated_conn *made)
{
    hf__replicated_conn *found;

    for (;;) {
        hf__replicated_conn *first = first_of(all);

        found = find_conn(all, made->wait_batch.replicas);
        if (found != NULL)
            break;
        made->next = first;
        if (atomic_compare_exchange_strong(&all->first, &first, made))
            return made;
    }
    free_one(made);
    return found;
}

hf__pipeline *hf__replicated_pipeline(hf__replicated *all, uint32_t replicas)
{
    hf__replicated_conn *durable = find_conn(all, replicas);

    if (durable != NULL)
        return &durable->pipeline;
    durable = hf__calloc(1, sizeof(*durable));
    if (durable == NULL)
        return NULL;
    hf__pipeline_init(&durable->pipeline, all->node);
    hf__wait_batch_init(&durable->wait_batch, replicas);
    durable->all = all;
    durable->pipeline.wait_batch = &durable->wait_batch;
    durable->pipeline.conn.waits = true;
    atomic_init(&durable->leaving, false);
    durable = add_conn(all, durable);
    if (atomic_load(&all->retired))
        retire_one(all, durable);
    return &durable->pipeline;
}

void hf__replicated_reset(hf__replicated *all)
{
    hf__replicated_conn *at;

    for (at = first_of(all); at != NULL; at = at->next)
        hf__pipeline_wake(&at->pipeline);
}

/* --------------------------------------------------------------------- end */

void hf__replicated_retire(hf__replicated *all)
{
    hf__replicated_conn *at;

    atomic_store(&all->retired, true);
    for (at = atomic_load(&all->first); at != NULL; at = at->next)
        retire_one(all, at);
}

void hf__replicated_close(hf__replicated *all)
{
    hf__replicated_conn *at;

    for (at = first_of(all); at != NULL; at = at->next)
        hf__pipeline_close(&at->pipeline);
}

void hf__replicated_free(hf__replicated *all)
{
    hf__replicated_conn *at;

    while ((at = first_of(all)) != NULL) {
        atomic_store(&all->first, at->next);
        free_one(at);
    }
}

static void close_next(hf__replicated *all);

static void on_closed(hf__pipeline *pipe)
{
    hf__replicated_conn *durable =
        hf__container_of(pipe, hf__replicated_conn, pipeline);
    hf__replicated *all = durable->all;

    free_one(durable);
    close_next(all);
}

static void close_next(hf__replicated *all)
{
    hf__replicated_conn *at = first_of(all);

    if (at == NULL) {
        all->closed(all);
        return;
    }
    atomic_store(&all->first, at->next);
    hf__pipeline_close_here(&at->pipeline, on_closed);
}

void hf__replicated_close_here(hf__replicated *all,
                               void (*closed)(hf__replicated *all))
{
    all->closed = closed;
    close_next(all);
}

/* In a forked child: close descriptors and free memory. */
void hf__replicated_close_forked(hf__replicated *all)
{
    hf__replicated_conn *at;

    while ((at = first_of(all)) != NULL) {
        atomic_store(&all->first, at->next);
        hf__pipeline_close_forked(&at->pipeline);
        hf__free(at);
    }
}
