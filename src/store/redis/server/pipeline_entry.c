/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipeline_entry.c - what can happen to an entry: it comes in, completes,
 * fails, goes back to its lane or on to another connection.
 */
#include "store/redis/server/pipeline_internal.h"
#include "store/redis/server/retry.h"
#include "util/mem.h"

void hf__mux_enter(hf__mux *mux, hf__entry_list *entries)
{
    bool post;

    if (entries->count == 0)
        return;
    pthread_mutex_lock(&mux->mutex);
    hf__entry_move(&mux->inbound, entries);
    post = !mux->posted;
    mux->posted = true;
    pthread_mutex_unlock(&mux->mutex);
    if (post)
        hf__loop_post(mux->fleet->loop, &mux->task);
}

void hf__mux_poke(hf__mux *mux)
{
    bool post;

    if (!hf__loop_started(mux->fleet->loop))
        return;
    pthread_mutex_lock(&mux->mutex);
    post = !mux->posted;
    mux->posted = true;
    pthread_mutex_unlock(&mux->mutex);
    if (post)
        hf__loop_post(mux->fleet->loop, &mux->task);
}

/* The request's outcome is set: hand it back. */
static void finish(hf__mux *mux, hf__entry *entry)
{
    hf__request *request = entry->request;

    hf__heap_remove(&mux->due, &entry->due);
    hf__heap_remove(&mux->again, &entry->again);
    entry->request = NULL;
    request->driver = NULL;
    atomic_fetch_sub_explicit(&mux->depth, 1, memory_order_relaxed);
    if (entry->parked == NULL) {
        request->on_done(request);
        return;
    }
    hf__parking_finish(&mux->fleet->parking, entry->group, entry->parked);
}

void hf__flight_complete(hf__mux *mux, hf__entry *entry)
{
    finish(mux, entry);
    hf__free(entry);
}

void hf__flight_expire(hf__mux *mux, hf__entry *entry, const hf_error *err)
{
    hf__arena_free(&entry->request->arena);
    hf__retry_fail(entry->request, entry->attempts.doubtful, err);
    finish(mux, entry);
}

void hf__flight_fail(hf__mux *mux, hf__entry *entry, const hf_error *err)
{
    hf__flight_expire(mux, entry, err);
    hf__free(entry);
}

void hf__flight_put_back(hf__mux *mux, hf__entry *entry)
{
    entry->place = HF__ENTRY_QUEUED;
    hf__entry_prepend(hf__mux_lane(mux, entry), entry);
}

bool hf__flight_hand_on(hf__mux *mux, hf__entry *entry, const hf__redirect *why)
{
    hf__route route;

    if (!hf__route_ask(mux->link.node, entry->request, &entry->attempts, why,
                       &route))
        return false;
    hf__mux_move(mux, entry, &route);
    return true;
}

/* Without memory for a connection of its own it is not counted. */
static hf__mux *goal_of(const hf__entry *entry, hf__redis_node *node)
{
    hf__mux *mux = NULL;

    if (entry->request->replicas != NULL && !entry->uncounted)
        mux = node->mux(node, entry->request->replicas->count);
    return mux != NULL ? mux : node->mux(node, 0);
}

void hf__mux_move(hf__mux *mux, hf__entry *entry, const hf__route *route)
{
    hf__mux *to = goal_of(entry, hf__server_node(route->server));
    hf__entry_list entries = {NULL, NULL, 0};

    hf__heap_remove(&mux->due, &entry->due);
    hf__heap_remove(&mux->again, &entry->again);
    atomic_fetch_sub_explicit(&mux->depth, 1, memory_order_relaxed);
    entry->mux = to;
    entry->place = HF__ENTRY_QUEUED;
    entry->not_before_ms = route->at_ms;
    hf__entry_append(&entries, entry);
    atomic_fetch_add_explicit(&to->depth, 1, memory_order_relaxed);
    hf__mux_enter(to, &entries);
    hf__server_release(route->server);
}
