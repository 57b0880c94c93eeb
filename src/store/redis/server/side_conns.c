/* SPDX-License-Identifier: Apache-2.0 */
/*
 * side_conns.c - see side_conns.h. Creates and closes the connections;
 * pipeline_wait.c uses them.
 *
 * The list only grows, at its head, by compare and exchange. Readers hold the
 * server, which is freed together with them.
 *
 * Retiring a server retires each of them, with a hold for each. One that is
 * created meanwhile is retired by its creator: either that sees `retired`, or
 * retire() sees it in the list.
 */
#include "store/redis/server/side_conns.h"

#include "util/container.h"
#include "util/mem.h"

void hf__side_conns_init(hf__side_conns *all, hf__redis_node *node)
{
    all->node = node;
    atomic_init(&all->first, NULL);
    atomic_init(&all->retired, false);
}

static hf__side_conn *first_of(hf__side_conns *all)
{
    return atomic_load_explicit(&all->first, memory_order_acquire);
}

static hf__side_conn *find_conn(hf__side_conns *all, uint32_t replicas)
{
    hf__side_conn *at = first_of(all);

    while (at != NULL && at->wait_batch.replicas != replicas)
        at = at->next;
    return at;
}

static void free_one(hf__side_conn *conn)
{
    hf__pipeline_done(&conn->pipeline);
    hf__free(conn);
}

static void retire_one(hf__side_conns *all, hf__side_conn *conn)
{
    if (atomic_exchange(&conn->leaving, true))
        return;
    hf__server_hold(all->node->server);
    hf__pipeline_retire(&conn->pipeline);
}

/* If another thread was faster, use its connection. */
static hf__side_conn *add_conn(hf__side_conns *all, hf__side_conn *made)
{
    hf__side_conn *found;

    for (;;) {
        hf__side_conn *first = first_of(all);

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

hf__pipeline *hf__side_conns_for_replicas(hf__side_conns *all,
                                          uint32_t replicas)
{
    hf__side_conn *conn = find_conn(all, replicas);

    if (conn != NULL)
        return &conn->pipeline;
    conn = hf__calloc(1, sizeof(*conn));
    if (conn == NULL)
        return NULL;
    hf__pipeline_init(&conn->pipeline, all->node);
    hf__wait_batch_init(&conn->wait_batch, replicas);
    conn->all = all;
    conn->pipeline.wait_batch = &conn->wait_batch;
    conn->pipeline.conn.waits = true;
    atomic_init(&conn->leaving, false);
    conn = add_conn(all, conn);
    if (atomic_load(&all->retired))
        retire_one(all, conn);
    return &conn->pipeline;
}

void hf__side_conns_reset(hf__side_conns *all)
{
    hf__side_conn *at;

    for (at = first_of(all); at != NULL; at = at->next)
        hf__pipeline_wake(&at->pipeline);
}

/* --------------------------------------------------------------------- end */

void hf__side_conns_retire(hf__side_conns *all)
{
    hf__side_conn *at;

    atomic_store(&all->retired, true);
    for (at = atomic_load(&all->first); at != NULL; at = at->next)
        retire_one(all, at);
}

void hf__side_conns_close(hf__side_conns *all)
{
    hf__side_conn *at;

    for (at = first_of(all); at != NULL; at = at->next)
        hf__pipeline_close(&at->pipeline);
}

void hf__side_conns_free(hf__side_conns *all)
{
    hf__side_conn *at;

    while ((at = first_of(all)) != NULL) {
        atomic_store(&all->first, at->next);
        free_one(at);
    }
}

static void close_next(hf__side_conns *all);

static void on_closed(hf__pipeline *pipe)
{
    hf__side_conn *conn = hf__container_of(pipe, hf__side_conn, pipeline);
    hf__side_conns *all = conn->all;

    free_one(conn);
    close_next(all);
}

static void close_next(hf__side_conns *all)
{
    hf__side_conn *at = first_of(all);

    if (at == NULL) {
        all->closed(all);
        return;
    }
    atomic_store(&all->first, at->next);
    hf__pipeline_close_here(&at->pipeline, on_closed);
}

void hf__side_conns_close_here(hf__side_conns *all,
                               void (*closed)(hf__side_conns *all))
{
    all->closed = closed;
    close_next(all);
}

/* In a forked child: close descriptors and free memory. */
void hf__side_conns_close_forked(hf__side_conns *all)
{
    hf__side_conn *at;

    while ((at = first_of(all)) != NULL) {
        atomic_store(&all->first, at->next);
        hf__pipeline_close_forked(&at->pipeline);
        hf__free(at);
    }
}
