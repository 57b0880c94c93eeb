/* SPDX-License-Identifier: Apache-2.0 */
/*
 * side_conns.c - see side_conns.h. Creates and closes the connections;
 * pipeline_wait.c, pipeline_unblock.c and unblock.c use them.
 *
 * The list only grows, at its head, by compare and exchange. Readers hold the
 * server, which is freed together with them.
 *
 * Retiring a server retires each of them, with a hold for each. One that is
 * created meanwhile is retired by its creator: either that sees `retired`, or
 * retire() sees it in the list.
 *
 * One for commands that wait is `taken` by one of them until its pipeline says
 * that it was left.
 */
#include "store/redis/server/side_conns.h"

#include "store/redis/server/unblock.h"

#include "util/clock.h"
#include "util/container.h"
#include "util/futex.h"
#include "util/mem.h"

#define DRAIN_MS 1000

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

static hf__side_conn *make_conn(hf__side_conns *all)
{
    hf__side_conn *made = hf__calloc(1, sizeof(*made));

    if (made == NULL)
        return NULL;
    hf__pipeline_init(&made->pipeline, all->node);
    made->all = all;
    atomic_init(&made->taken, false);
    atomic_init(&made->leaving, false);
    return made;
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
    conn = make_conn(all);
    if (conn == NULL)
        return NULL;
    hf__wait_batch_init(&conn->wait_batch, replicas);
    conn->pipeline.wait_batch = &conn->wait_batch;
    conn->pipeline.conn.waits = true;
    conn = add_conn(all, conn);
    if (atomic_load(&all->retired))
        retire_one(all, conn);
    return &conn->pipeline;
}

/* ------------------------------------------------- of commands that wait */

static void conn_left(hf__pipeline *pipe)
{
    hf__side_conn *conn = hf__container_of(pipe, hf__side_conn, pipeline);

    atomic_store(&conn->taken, false);
    __atomic_add_fetch(&conn->all->given_back, 1, __ATOMIC_RELEASE);
    hf__futex_wake_all(&conn->all->given_back, false);
}

/* The first one that is free; *count: how many there are, if none is. */
static hf__side_conn *take_free(hf__side_conns *all, size_t *count)
{
    hf__side_conn *at = first_of(all);

    for (*count = 0; at != NULL; at = at->next) {
        if (at->pipeline.unblock == NULL)
            continue;
        if (!atomic_exchange(&at->taken, true))
            return at;
        ++*count;
    }
    return NULL;
}

static hf__side_conn *add_taken(hf__side_conns *all)
{
    hf__side_conn *made = make_conn(all);

    if (made == NULL)
        return NULL;
    made->pipeline.unblock = &made->unblock;
    made->pipeline.conn.purpose = NULL; /* its end is no loss */
    made->unblock.due = hf__unblock_due;
    made->unblock.left = conn_left;
    atomic_store(&made->taken, true);
    made->next = first_of(all);
    while (!atomic_compare_exchange_weak(&all->first, &made->next, made))
        continue;
    if (atomic_load(&all->retired))
        retire_one(all, made);
    return made;
}

hf__pipeline *hf__side_conns_take(hf__side_conns *all, hf__request *request)
{
    size_t count;
    hf__side_conn *conn = take_free(all, &count);

    if (conn == NULL && count >= HF__SIDE_CONNS_WAITING) {
        hf__request_fail(request, HF_UNAVAILABLE,
                         "%zu calls of this client wait at the server already",
                         count);
        return NULL;
    }
    if (conn == NULL)
        conn = add_taken(all);
    if (conn == NULL)
        hf__request_fail(request, HF_NO_MEMORY, "out of memory");
    return conn == NULL ? NULL : &conn->pipeline;
}

typedef struct draining {
    hf__task task;
    hf__side_conns *all;
} draining;

static void end_waits(hf__task *task)
{
    hf__side_conns *all = hf__container_of(task, draining, task)->all;

    for (hf__side_conn *at = first_of(all); at != NULL; at = at->next)
        hf__unblock_end_all(&at->pipeline);
}

static bool any_taken(hf__side_conns *all)
{
    hf__side_conn *at = first_of(all);

    while (at != NULL && !atomic_load(&at->taken))
        at = at->next;
    return at != NULL;
}

void hf__side_conns_drain(hf__side_conns *all)
{
    int64_t until_ms = hf__clock_boot_ms() + DRAIN_MS;
    draining drain = {.task = {.run = end_waits}, .all = all};
    uint32_t seen = __atomic_load_n(&all->given_back, __ATOMIC_ACQUIRE);

    if (!any_taken(all))
        return;
    hf__loop_call(all->node->context->loop, &drain.task);
    while (any_taken(all) && hf__clock_boot_ms() < until_ms) {
        hf__futex_wait(&all->given_back, seen, until_ms, false);
        seen = __atomic_load_n(&all->given_back, __ATOMIC_ACQUIRE);
    }
}

void hf__side_conns_lost(hf__side_conns *all)
{
    hf__side_conn *at;

    for (at = first_of(all); at != NULL; at = at->next)
        hf__unblock_lost(&at->pipeline);
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
