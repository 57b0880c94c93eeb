/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipeline_requeue.c - what becomes of the entries of a shared connection that
 * broke, that could not be made, or whose server is no longer part of the
 * store.
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
static bool survives(hf__mux *mux, hf__entry *entry)
{
    hf__request *request = entry->request;
    hf_error err;

    if (request == NULL) {
        hf__free(entry);
        return false;
    }
    hf__arena_free(&request->arena);
    if (entry->begins_at >= mux->link.sent) {
        request->sends--;
        return true;
    }
    entry->attempts.doubtful = true;
    if (hf__retry_is_safe(request) &&
        ++entry->attempts.losses < HF__RETRY_LOSSES_MAX)
        return true;
    err = mux->link.error;
    err.status = HF_INDETERMINATE;
    hf__flight_fail(mux, entry, &err);
    return false;
}

/* No connection could be made: the topology may know another server. If not,
 * callers that sleep are told at once, like those on an inline connection;
 * when no try will help, everybody is. */
static void fail_unsent(hf__mux *mux, hf__entry_list *lane)
{
    static const hf__redirect why = {.kind = HF__REDIRECT_UNREACHABLE};
    bool retry = hf_status_kind(mux->link.error.status) == HF_KIND_RETRY;
    hf__entry_list tried = {NULL, NULL, 0};
    hf__entry *entry;

    hf__entry_move(&tried, lane);
    while ((entry = hf__entry_take(&tried)) != NULL) {
        hf__retry_fail(entry->request, entry->attempts.doubtful,
                       &mux->link.error);
        if (retry && hf__flight_hand_on(mux, entry, &why))
            continue;
        if (entry->attempts.doubtful || (retry && entry->parked == NULL)) {
            hf__entry_append(lane, entry);
            continue;
        }
        hf__flight_fail(mux, entry, &mux->link.error);
    }
}

void hf__salvage_unsent(hf__mux *mux)
{
    fail_unsent(mux, &mux->lanes[HF__LANE_LEASE]);
    fail_unsent(mux, &mux->lanes[HF__LANE_USER]);
}

void hf__salvage_down(hf__link *link, bool was_up)
{
    hf__mux *mux = hf__container_of(link, hf__mux, link);
    hf__entry_list saved = {NULL, NULL, 0};
    hf__entry *entry;

    if (mux->turn != NULL)
        hf__turn_down(mux);
    hf__probe_end(mux);
    mux->parsing = false;
    mux->broken = false;
    mux->leaving = false;
    memset(mux->scripts, 0, sizeof(mux->scripts));
    while ((entry = hf__entry_take(&mux->in_flight)) != NULL) {
        if (survives(mux, entry))
            hf__entry_prepend(&saved, entry);
    }
    while ((entry = hf__entry_take(&saved)) != NULL)
        hf__flight_put_back(mux, entry);
    if (!was_up)
        hf__salvage_unsent(mux);
    hf__flight_settle(mux);
}

/* The server is retired: nothing is written to it any more. */
static void hand_on_lane(hf__mux *mux, hf__entry_list *lane)
{
    static const hf__redirect why = {.kind = HF__REDIRECT_GONE};
    hf_error err = HF_ERROR_INIT;
    hf__entry *entry;

    hf__fail(&err, HF_UNAVAILABLE, "the server is no longer part of the store");
    while ((entry = hf__entry_take(lane)) != NULL) {
        hf__retry_fail(entry->request, entry->attempts.doubtful, &err);
        if (hf__flight_hand_on(mux, entry, &why))
            continue;
        hf__flight_fail(mux, entry, &err);
    }
}

static void hand_on_all(hf__mux *mux)
{
    hf__entry *entry;

    mux->leaving = true;
    while (mux->again.count > 0) {
        entry = hf__container_of(hf__heap_first(&mux->again), hf__entry, again);
        hf__heap_remove(&mux->again, &entry->again);
        hf__flight_put_back(mux, entry);
    }
    hand_on_lane(mux, &mux->lanes[HF__LANE_LEASE]);
    hand_on_lane(mux, &mux->lanes[HF__LANE_USER]);
    if (hf__mux_depth(mux) > 0 || mux->let_go)
        return;
    mux->let_go = true;
    hf__server_release(mux->link.node->server);
}

void hf__flight_settle(hf__mux *mux)
{
    if (atomic_load_explicit(&mux->retired, memory_order_acquire) &&
        mux->link.state != HF__LINK_CLOSED)
        hand_on_all(mux);
    hf__parking_wake(&mux->fleet->parking);
}
