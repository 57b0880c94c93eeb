/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_parts.c - the masters of a cluster, for scanning all keys one master
 * after the other.
 *
 * A key that moves from a master not scanned yet to one that was is missed.
 * Keys move between masters only while a slot is open at both, which each
 * reports in CLUSTER NODES, and after a slot has moved its new owner has a
 * higher epoch. So nothing was missed if no slot is open, all slots are
 * covered, and ids, epochs and slots are the same before and after the scan.
 */
#include "store/redis/topology/cluster_parts.h"

#include "store/redis/topology/cluster_view.h"
#include "util/clock.h"
#include "util/error.h"

/* Pause until the map may have changed. */
#define AGAIN_MS 100

/* Ask one master. */
static hf_status ask_master(hf__store *store, uint32_t part,
                            int64_t deadline_ms, hf__cluster_self *self,
                            hf_error *err)
{
    hf_bytes words[] = {hf_str("CLUSTER"), hf_str("NODES")};
    hf__request request;
    hf_status status;

    hf__request_command(&request, words, 2, true);
    request.part = part;
    request.began_ms = hf__clock_boot_ms();
    request.deadline_ms = deadline_ms;
    store->ops->perform(store, &request);
    status = request.status;
    if (status != HF_OK)
        hf__fail_copy(err, &request.error);
    else if (request.reply.kind != HF_REPLY_STRING ||
             !hf__cluster_self_read(self, hf_view(request.reply.bytes.data,
                                                  request.reply.bytes.size)))
        status = hf__fail(err, HF_CORRUPT, "malformed reply to CLUSTER NODES");
    hf__request_done(&request);
    return status;
}

/* One attempt; HF_UNAVAILABLE: another may succeed. */
static hf_status list_masters(hf__store *store, hf__cluster_map *map,
                              hf__parts *parts, int64_t deadline_ms,
                              hf_error *err)
{
    uint32_t slot_count = 0;
    uint32_t covered;

    parts->stamp = 0;
    parts->count =
        hf__cluster_map_list(map, parts->ids, HF__PARTS_MAX, &covered);
    for (size_t i = 0; i < parts->count; i++) {
        hf__cluster_self self;
        hf_status status =
            ask_master(store, parts->ids[i], deadline_ms, &self, err);

        if (status != HF_OK)
            return status;
        if (self.is_moving)
            return hf__fail(
                err, HF_UNAVAILABLE,
                "slots of the cluster are being moved; try again later");
        slot_count += self.is_master ? self.slot_count : 0;
        parts->stamp += self.stamp; /* in any order */
    }
    if (slot_count != HF__SLOT_COUNT)
        return hf__fail(err, HF_UNAVAILABLE,
                        "the masters of the cluster have %u of %d slots",
                        slot_count, HF__SLOT_COUNT);
    return HF_OK;
}

hf_status hf__cluster_find_parts(hf__store *store, hf__cluster_refresh *refresh,
                                 hf__parts *parts, int64_t deadline_ms,
                                 hf_error *err)
{
    hf_status status;

    while ((status = list_masters(store, refresh->map, parts, deadline_ms,
                                  err)) == HF_UNAVAILABLE) {
        int64_t again_ms = hf__clock_boot_ms() + AGAIN_MS;

        if (again_ms >= deadline_ms)
            break;
        hf__cluster_refresh_want(refresh, HF__REFRESH_BLOCKED);
        hf__clock_sleep_until(again_ms);
    }
    return status;
}
