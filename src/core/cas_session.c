/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cas_session.c - see cas_session.h. Lanes are made when all are in use and
 * freed with the client.
 *
 * Locks: `mutex`; a lane that was taken is its call's alone.
 */
#include "core/cas_session.h"

#include <stdio.h>
#include <string.h>

#include "core/own_key.h"
#include "util/mem.h"

void hf__cas_lanes_init(hf__cas_lanes *lanes, const char *prefix,
                        const char *client)
{
    memset(lanes, 0, sizeof(*lanes));
    lanes->prefix = prefix;
    lanes->client = client;
    pthread_mutex_init(&lanes->mutex, NULL);
}

void hf__cas_lanes_done(hf__cas_lanes *lanes)
{
    hf__cas_lane *lane;

    while ((lane = lanes->newest) != NULL) {
        lanes->newest = lane->older;
        hf__free(lane);
    }
    pthread_mutex_destroy(&lanes->mutex);
}

static hf__cas_lane *make_lane_locked(hf__cas_lanes *lanes)
{
    size_t size = strlen(lanes->prefix) + HF__CAS_MARK_SIZE;
    hf__cas_lane *lane = hf__calloc(1, sizeof(*lane) + size);

    if (lane == NULL)
        return NULL;
    lane->stem = (size_t)snprintf(lane->mark, size, "%s" HF__ROLE_CAS "%s:%u",
                                  lanes->prefix, lanes->client, lanes->count);
    lane->older = lanes->newest;
    lanes->newest = lane;
    lanes->count++;
    return lane;
}

hf__cas_lane *hf__cas_lane_take(hf__cas_lanes *lanes)
{
    hf__cas_lane *lane;

    pthread_mutex_lock(&lanes->mutex);
    lane = lanes->free;
    if (lane != NULL)
        lanes->free = lane->next;
    else
        lane = make_lane_locked(lanes);
    pthread_mutex_unlock(&lanes->mutex);
    if (lane != NULL)
        lane->number++;
    return lane;
}

void hf__cas_lane_give(hf__cas_lanes *lanes, hf__cas_lane *lane)
{
    pthread_mutex_lock(&lanes->mutex);
    lane->next = lanes->free;
    lanes->free = lane;
    pthread_mutex_unlock(&lanes->mutex);
}

hf_bytes hf__cas_lane_mark(hf__cas_lane *lane, const hf__store *store,
                           hf_bytes key)
{
    char *at = lane->mark + lane->stem;

    if (store->ops->tag != NULL) {
        *at++ = '{';
        store->ops->tag(store->ops->shard(store, key), at);
        at += strlen(at);
        *at++ = '}';
    }
    return hf_view(lane->mark, (size_t)(at - lane->mark));
}

hf_bytes hf__cas_lane_number(hf__cas_lane *lane)
{
    return hf__number(lane->text, lane->number);
}
