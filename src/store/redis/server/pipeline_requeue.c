/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipeline_requeue.c - the entries of a shared connection that broke, that
 * could not be made, or whose server is no longer part of the store.
 *
 * Only the loop thread is here, and holds no lock: on_done may submit.
 */
#include "store/redis/server/pipeline_internal.h"

#include <string.h>

#include "store/redis/server/retry.h"
#include "util/container.h"
#include "util/error.h"
#include "util/mem.h"

/* The connection broke with this entry in flight. true: it may be sent
 * again. */
static bool survives_break(hf__pipeline *pipe, hf__pipeline_entry *entry)
{
    hf__request *request = entry->request;
    hf_error err;

    if (request == NULL) {
        hf__free(entry);
        return false;
    }
    hf__arena_free(&request->arena);
    if (entry->begins_at >= pipe->conn.sent) {
        request->sends--;
        if (pipe->unblock != NULL)
            hf__unblock_unsent(pipe, entry);
        return true;
    }
    entry->attempts.doubtful = true;
    if (hf__retry_is_safe(request) &&
        ++entry->attempts.losses < HF__RETRY_LOSSES_MAX)
        return true;
    err = pipe->conn.error;
    err.status = HF_INDETERMINATE;
    hf__pipeline_fail(pipe, entry, &err);
    return false;
}

/* No connection could be made: the topology may know another server. If not,
 * blocked callers fail immediately, as on a connection from the pool, unless
 * the server is busy; if retrying cannot help, all requests fail. */
static void fail_unsent(hf__pipeline *pipe, hf__pipeline_list *lane)
{
    static const hf__redirect why = {.kind = HF__REDIRECT_UNREACHABLE};
    bool retry = hf_status_kind(pipe->conn.error.status) == HF_KIND_RETRY;
    hf__pipeline_list tried = {NULL, NULL, 0};
    hf__pipeline_entry *entry;

    hf__pipeline_list_move(&tried, lane);
    while ((entry = hf__pipeline_list_take(&tried)) != NULL) {
        hf__retry_fail(entry->request, entry->attempts.doubtful,
                       &pipe->conn.error);
        if (retry && hf__pipeline_hand_on(pipe, entry, &why))
            continue;
        if (entry->attempts.doubtful ||
            (retry && (entry->parked == NULL || pipe->conn.login.busy))) {
            hf__pipeline_list_append(lane, entry);
            continue;
        }
        hf__pipeline_fail(pipe, entry, &pipe->conn.error);
    }
}

void hf__requeue_unsent(hf__pipeline *pipe)
{
    fail_unsent(pipe, &pipe->lanes[HF__LANE_LEASE]);
    fail_unsent(pipe, &pipe->lanes[HF__LANE_USER]);
}

/* Other connections to the server may have been to another one. */
static void note_loss(hf__pipeline *pipe)
{
    hf__redis_node *node = pipe->conn.node;

    if (pipe != node->pipeline(node, 0))
        return;
    atomic_fetch_add(&pipe->losses, 1);
    node->lost(node);
}

void hf__requeue_down(hf__async_conn *conn, bool was_up)
{
    hf__pipeline *pipe = hf__container_of(conn, hf__pipeline, conn);
    hf__pipeline_list saved = {NULL, NULL, 0};
    hf__pipeline_entry *entry;

    if (pipe->wait_batch != NULL)
        hf__wait_batch_down(pipe);
    hf__probe_end(pipe);
    pipe->parsing = false;
    pipe->broken = false;
    pipe->leaving = false;
    memset(pipe->scripts, 0, sizeof(pipe->scripts));
    while ((entry = hf__pipeline_list_take(&pipe->in_flight)) != NULL) {
        if (survives_break(pipe, entry))
            hf__pipeline_list_prepend(&saved, entry);
    }
    while ((entry = hf__pipeline_list_take(&saved)) != NULL)
        hf__pipeline_put_back(pipe, entry);
    if (was_up)
        note_loss(pipe);
    else
        hf__requeue_unsent(pipe);
    hf__pipeline_end_callback(pipe);
}

/* The server is retired: nothing is written to it any more. */
static void hand_on_lane(hf__pipeline *pipe, hf__pipeline_list *lane)
{
    static const hf__redirect why = {.kind = HF__REDIRECT_GONE};
    hf_error err = HF_ERROR_INIT;
    hf__pipeline_entry *entry;

    hf__fail(&err, HF_UNAVAILABLE, "the server is no longer part of the store");
    while ((entry = hf__pipeline_list_take(lane)) != NULL) {
        hf__retry_fail(entry->request, entry->attempts.doubtful, &err);
        if (hf__pipeline_hand_on(pipe, entry, &why))
            continue;
        hf__pipeline_fail(pipe, entry, &err);
    }
}

static void hand_on_all(hf__pipeline *pipe)
{
    hf__pipeline_entry *entry;

    pipe->leaving = true;
    pipe->conn.purpose = NULL; /* its end is no loss */
    while (pipe->again.count > 0) {
        entry = hf__container_of(hf__heap_first(&pipe->again),
                                 hf__pipeline_entry, again);
        hf__heap_remove(&pipe->again, &entry->again);
        hf__pipeline_put_back(pipe, entry);
    }
    hand_on_lane(pipe, &pipe->lanes[HF__LANE_LEASE]);
    hand_on_lane(pipe, &pipe->lanes[HF__LANE_USER]);
    if (hf__pipeline_depth(pipe) > 0 || pipe->let_go)
        return;
    pipe->let_go = true;
    hf__server_release(pipe->conn.node->server);
}

void hf__pipeline_end_callback(hf__pipeline *pipe)
{
    if (atomic_load_explicit(&pipe->retired, memory_order_acquire) &&
        pipe->conn.state != HF__ASYNC_CLOSED) {
        hf__unblock_retired(pipe);
        hand_on_all(pipe);
    }
    hf__wait_group_wake(&pipe->context->wait_groups);
}
