/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipeline_entry.c - what can happen to an entry: it enters, completes, fails,
 * returns to its lane or moves to another server.
 */
#include "store/redis/server/pipeline_internal.h"
#include "store/redis/server/retry.h"
#include "util/mem.h"

static void post_task(hf__pipeline *pipe, hf__pipeline_list *entries)
{
    bool post;

    pthread_mutex_lock(&pipe->mutex);
    hf__pipeline_list_move(&pipe->inbound, entries);
    post = !pipe->posted;
    pipe->posted = true;
    pthread_mutex_unlock(&pipe->mutex);
    if (post)
        hf__loop_post(pipe->context->loop, &pipe->task);
}

void hf__pipeline_enter(hf__pipeline *pipe, hf__pipeline_list *entries)
{
    if (entries->count > 0)
        post_task(pipe, entries);
}

void hf__pipeline_wake(hf__pipeline *pipe)
{
    hf__pipeline_list none = {NULL, NULL, 0};

    if (hf__loop_started(pipe->context->loop))
        post_task(pipe, &none);
}

/* The request's outcome is set: return it to its owner. */
static void finish_entry(hf__pipeline *pipe, hf__pipeline_entry *entry)
{
    hf__request *request = entry->request;

    hf__heap_remove(&pipe->due, &entry->due);
    hf__heap_remove(&pipe->again, &entry->again);
    hf__outgoing_take_back(&pipe->conn.out, request);
    hf__unblock_judge(pipe, request);
    entry->request = NULL;
    request->driver = NULL;
    atomic_fetch_sub_explicit(&pipe->depth, 1, memory_order_relaxed);
    hf__unblock_left(pipe);
    if (entry->parked == NULL) {
        request->on_done(request);
        return;
    }
    hf__wait_group_finish(&pipe->context->wait_groups, entry->group,
                          entry->parked);
}

void hf__pipeline_complete(hf__pipeline *pipe, hf__pipeline_entry *entry)
{
    finish_entry(pipe, entry);
    hf__free(entry);
}

void hf__pipeline_expire(hf__pipeline *pipe, hf__pipeline_entry *entry,
                         const hf_error *err)
{
    hf__arena_free(&entry->request->arena);
    hf__retry_fail(entry->request, entry->attempts.doubtful, err);
    finish_entry(pipe, entry);
}

void hf__pipeline_fail(hf__pipeline *pipe, hf__pipeline_entry *entry,
                       const hf_error *err)
{
    hf__pipeline_expire(pipe, entry, err);
    hf__free(entry);
}

void hf__pipeline_put_back(hf__pipeline *pipe, hf__pipeline_entry *entry)
{
    entry->place = HF__ENTRY_QUEUED;
    hf__pipeline_list_prepend(hf__pipeline_lane(pipe, entry), entry);
}

bool hf__pipeline_hand_on(hf__pipeline *pipe, hf__pipeline_entry *entry,
                          const hf__redirect *why)
{
    hf__route route;

    if (hf__unblock_is_cancelled(pipe) ||
        !hf__route_ask(pipe->conn.node, entry->request, &entry->attempts, why,
                       &route))
        return false;
    if (hf__unblock_is_last(pipe)) { /* the topology has learnt of it */
        hf__server_release(route.server);
        return false;
    }
    return hf__pipeline_move(pipe, entry, &route);
}

/* Not counted if there is no memory for that connection. NULL: for one that
 * waits. */
static hf__pipeline *goal_of(const hf__pipeline_entry *entry,
                             hf__redis_node *node)
{
    hf__pipeline *pipe = NULL;

    if (entry->request->wait_ms != 0)
        return node->wait_pipeline(node, entry->request);
    if (entry->request->replicas != NULL && !entry->uncounted)
        pipe = node->pipeline(node, entry->request->replicas->count);
    return pipe != NULL ? pipe : node->pipeline(node, 0);
}

bool hf__pipeline_move(hf__pipeline *pipe, hf__pipeline_entry *entry,
                       const hf__route *route)
{
    hf__pipeline *to = goal_of(entry, hf__server_node(route->server));
    hf__pipeline_list entries = {NULL, NULL, 0};

    if (to == NULL) {
        hf__server_release(route->server);
        return false;
    }
    hf__heap_remove(&pipe->due, &entry->due);
    hf__heap_remove(&pipe->again, &entry->again);
    hf__outgoing_take_back(&pipe->conn.out, entry->request);
    atomic_fetch_sub_explicit(&pipe->depth, 1, memory_order_relaxed);
    entry->pipeline = to;
    entry->place = HF__ENTRY_QUEUED;
    entry->not_before_ms = route->at_ms;
    hf__pipeline_list_append(&entries, entry);
    atomic_fetch_add_explicit(&to->depth, 1, memory_order_relaxed);
    hf__pipeline_enter(to, &entries);
    hf__server_release(route->server);
    hf__unblock_left(pipe);
    return true;
}
