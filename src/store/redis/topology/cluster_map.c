/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_map.c - see cluster_map.h.
 *
 * Locks: `mutex` guards nodes and slots, for moments: to find a server and hold
 * it. Servers are made under it, which neither connects nor asks DNS, and
 * retired and released without it.
 */
#include "store/redis/topology/cluster_map.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "util/clock.h"
#include "util/error.h"
#include "util/mem.h"

/* How long a node without slots is kept that redirects name: slots are being
 * moved to it. */
#define NAMED_MS 60000

/* Names looked up ahead when a map is installed: each takes a thread. */
#define LOOK_UPS_MAX 32

void hf__cluster_map_init(hf__cluster_map *map, hf__store_context *context,
                          const hf__redis_account *account)
{
    memset(map, 0, sizeof(*map));
    map->context = context;
    map->account = account;
    pthread_mutex_init(&map->mutex, NULL);
}

/* ------------------------------------------------------------------- nodes */

/* Its resolver starts a lookup if the address is a name. */
static hf_status make_resolver(hf__cluster_node *node, hf_error *err)
{
    if (node->resolver != NULL)
        return HF_OK;
    return hf__resolver_new(&node->where, 0, &node->resolver, err);
}

static hf_status make_server(hf__cluster_map *map, hf__cluster_node *node,
                             hf_error *err)
{
    hf_status status = make_resolver(node, err);

    if (status == HF_OK)
        status = hf__server_new(map->context, map->account, node->resolver,
                                &node->server, err);
    if (status == HF_OK)
        node->resolver = NULL; /* the server's */
    return status;
}

/* New nodes will be used soon, so their names are looked up ahead. Those beyond
 * the first few, or without memory for it, are looked up when used. */
static void look_names_up(hf__cluster_map *map)
{
    size_t count = 0;

    for (size_t at = 0; at < map->node_count && count < LOOK_UPS_MAX; at++) {
        hf__cluster_node *node = map->nodes[at];

        if (node == NULL || node->slot_count == 0 || node->server != NULL ||
            node->resolver != NULL || !hf__host_is_name(node->where.host))
            continue;
        (void)make_resolver(node, NULL);
        count++;
    }
}

/* A free place for a node; HF__CLUSTER_NODES_MAX: none. */
static size_t free_place(const hf__cluster_map *map)
{
    size_t at = 0;

    while (at < map->node_count && map->nodes[at] != NULL)
        at++;
    return at;
}

static hf_status add_node(hf__cluster_map *map, const char *host, int port,
                          size_t *place, hf_error *err)
{
    hf__cluster_node *node;
    hf_status status;

    *place = free_place(map);
    if (*place == HF__CLUSTER_NODES_MAX)
        return hf__fail(err, HF_UNSUPPORTED,
                        "the cluster has more than %d masters",
                        HF__CLUSTER_NODES_MAX);
    node = hf__calloc(1, sizeof(*node));
    if (node == NULL)
        return hf__fail(err, HF_NO_MEMORY, "out of memory");
    status = hf__redis_where_init(&node->where, host, port, err);
    if (status != HF_OK) {
        hf__free(node);
        return status;
    }
    node->id = ++map->last_id;
    node->named_ms = hf__clock_boot_ms();
    map->nodes[*place] = node;
    if (*place == map->node_count)
        map->node_count++;
    return HF_OK;
}

static void free_node(hf__cluster_map *map, size_t place)
{
    hf__resolver_free(map->nodes[place]->resolver);
    hf__redis_where_done(&map->nodes[place]->where);
    hf__free(map->nodes[place]);
    map->nodes[place] = NULL;
}

/* Find a node, or add it. */
static hf_status have_node(hf__cluster_map *map, const char *host, int port,
                           size_t *place, hf_error *err)
{
    for (size_t at = 0; at < map->node_count; at++) {
        const hf__cluster_node *node = map->nodes[at];

        if (node != NULL && node->where.port == port &&
            strcmp(node->where.host, host) == 0) {
            *place = at;
            return HF_OK;
        }
    }
    return add_node(map, host, port, place, err);
}

static hf__server *hold_server(hf__cluster_map *map, hf__cluster_node *node)
{
    if (map->closing ||
        (node->server == NULL && make_server(map, node, NULL) != HF_OK))
        return NULL;
    hf__server_hold(node->server);
    return node->server;
}

hf_status hf__cluster_map_add_seed(hf__cluster_map *map, const char *host,
                                   int port, hf_error *err)
{
    size_t place;
    hf_status status = have_node(map, host, port, &place, err);

    if (status != HF_OK)
        return status;
    map->nodes[place]->is_seed = true;
    if (map->nodes[place]->server != NULL)
        return HF_OK;
    return make_server(map, map->nodes[place], err);
}

/* ------------------------------------------------------------------ finding */

static hf__cluster_node *with_slots(hf__cluster_map *map, size_t at, bool has)
{
    for (size_t i = 0; i < map->node_count; i++) {
        hf__cluster_node *node = map->nodes[i];

        if (node != NULL && (node->slot_count > 0) == has && at-- == 0)
            return node;
    }
    return NULL;
}

static hf__cluster_node *nth_node(hf__cluster_map *map, size_t from, size_t at)
{
    size_t counts[2] = {0, 0}; /* with slots, and without */

    for (size_t i = 0; i < map->node_count; i++) {
        if (map->nodes[i] != NULL)
            counts[map->nodes[i]->slot_count == 0]++;
    }
    if (at < counts[0])
        return with_slots(map, (from % counts[0] + at) % counts[0], true);
    at -= counts[0];
    if (at < counts[1])
        return with_slots(map, (from % counts[1] + at) % counts[1], false);
    return NULL;
}

hf__server *hf__cluster_map_take(hf__cluster_map *map, uint32_t slot,
                                 uint32_t *id)
{
    hf__cluster_node *node;
    hf__server *server = NULL;
    uint16_t owner;

    assert(slot < HF__SLOT_COUNT);
    pthread_mutex_lock(&map->mutex);
    owner = map->owners[slot];
    node = owner != 0 ? map->nodes[owner - 1] : nth_node(map, slot, 0);
    if (node != NULL)
        server = hold_server(map, node);
    if (node != NULL && id != NULL)
        *id = node->id;
    pthread_mutex_unlock(&map->mutex);
    return server;
}

static void set_owner(hf__cluster_map *map, uint32_t slot, size_t place)
{
    uint16_t before = map->owners[slot];

    if (before != 0)
        map->nodes[before - 1]->slot_count--;
    else
        map->covered++;
    map->owners[slot] = (uint16_t)(place + 1);
    map->nodes[place]->slot_count++;
    map->nodes[place]->had_slots = true;
}

hf__server *hf__cluster_map_find(hf__cluster_map *map, const char *host,
                                 int port, const uint32_t *slot)
{
    hf__server *server = NULL;
    bool moved = false;
    size_t place;

    assert(slot == NULL || *slot < HF__SLOT_COUNT);
    pthread_mutex_lock(&map->mutex);
    if (!map->closing && have_node(map, host, port, &place, NULL) == HF_OK) {
        map->nodes[place]->named_ms = hf__clock_boot_ms();
        server = hold_server(map, map->nodes[place]);
    }
    if (server != NULL && slot != NULL) {
        moved = map->owners[*slot] != 0 && map->owners[*slot] != place + 1;
        set_owner(map, *slot, place);
    }
    pthread_mutex_unlock(&map->mutex);
    if (moved) /* one after the other, while slots are being moved */
        HF__LOG(map->context->log, HF_LOG_INFO,
                "cluster: a slot has moved to %.100s port %d", host, port);
    return server;
}

static hf__cluster_node *by_id(hf__cluster_map *map, uint32_t id)
{
    for (size_t at = 0; at < map->node_count; at++) {
        if (map->nodes[at] != NULL && map->nodes[at]->id == id)
            return map->nodes[at];
    }
    return NULL;
}

hf__server *hf__cluster_map_part(hf__cluster_map *map, uint32_t id)
{
    hf__cluster_node *node;
    hf__server *server = NULL;

    pthread_mutex_lock(&map->mutex);
    node = by_id(map, id);
    if (node != NULL && node->slot_count > 0)
        server = hold_server(map, node);
    pthread_mutex_unlock(&map->mutex);
    return server;
}

hf__server *hf__cluster_map_nth(hf__cluster_map *map, size_t from, size_t at)
{
    hf__cluster_node *node;
    hf__server *server = NULL;

    pthread_mutex_lock(&map->mutex);
    node = nth_node(map, from, at);
    if (node != NULL)
        server = hold_server(map, node);
    pthread_mutex_unlock(&map->mutex);
    return server;
}

bool hf__cluster_map_serves(hf__cluster_map *map, uint32_t id)
{
    const hf__cluster_node *node;
    bool serves;

    pthread_mutex_lock(&map->mutex);
    node = by_id(map, id);
    serves = node != NULL && node->slot_count > 0;
    pthread_mutex_unlock(&map->mutex);
    return serves;
}

uint32_t hf__cluster_map_owner(hf__cluster_map *map, uint32_t slot)
{
    uint32_t id;

    assert(slot < HF__SLOT_COUNT);
    pthread_mutex_lock(&map->mutex);
    id = map->owners[slot] == 0 ? 0 : map->nodes[map->owners[slot] - 1]->id;
    pthread_mutex_unlock(&map->mutex);
    return id;
}

size_t hf__cluster_map_list(hf__cluster_map *map, uint32_t *ids, size_t room,
                            uint32_t *covered)
{
    size_t count = 0;

    pthread_mutex_lock(&map->mutex);
    for (size_t at = 0; at < map->node_count && count < room; at++) {
        if (map->nodes[at] != NULL && map->nodes[at]->slot_count > 0)
            ids[count++] = map->nodes[at]->id;
    }
    *covered = map->covered;
    pthread_mutex_unlock(&map->mutex);
    return count;
}

bool hf__cluster_map_tell(hf__cluster_map *map, uint32_t id, char *text,
                          size_t size)
{
    const hf__cluster_node *node;
    bool found;

    pthread_mutex_lock(&map->mutex);
    node = by_id(map, id);
    found = node != NULL && node->slot_count > 0;
    if (found)
        (void)snprintf(text, size, "%s, %u slots", node->where.text,
                       node->slot_count);
    pthread_mutex_unlock(&map->mutex);
    return found;
}

/* --------------------------------------------------------------- installing */

/* Find or add the ranges' nodes first, so that nothing fails half-way. */
static hf_status find_places(hf__cluster_map *map,
                             const hf__cluster_range *ranges, size_t count,
                             uint16_t *places, hf_error *err)
{
    for (size_t i = 0; i < count; i++) {
        size_t place;
        hf_status status = HF_OK;

        if (i > 0 && ranges[i].port == ranges[i - 1].port &&
            strcmp(ranges[i].host, ranges[i - 1].host) == 0)
            place = places[i - 1];
        else
            status =
                have_node(map, ranges[i].host, ranges[i].port, &place, err);
        if (status != HF_OK)
            return status;
        places[i] = (uint16_t)place;
    }
    return HF_OK;
}

/* Slots that the ranges give to another node than the map. */
static uint32_t count_moved(const hf__cluster_map *map,
                            const hf__cluster_range *ranges, size_t count,
                            const uint16_t *places)
{
    uint32_t moved = 0;

    for (size_t i = 0; i < count; i++) {
        for (uint32_t slot = ranges[i].first; slot <= ranges[i].last; slot++)
            moved += map->owners[slot] != 0 &&
                     map->owners[slot] != (uint16_t)(places[i] + 1);
    }
    return moved;
}

/* The first map is no news, unless it has gaps. */
static void report_map(const hf__cluster_map *map, uint32_t moved,
                       uint32_t covered)
{
    if (moved > 0)
        HF__LOG(map->context->log, HF_LOG_INFO,
                "cluster: %u slots have another master now", moved);
    if (covered < HF__SLOT_COUNT)
        HF__LOG(map->context->log, HF_LOG_WARNING,
                "cluster: only %u of %u slots have a master", covered,
                (unsigned)HF__SLOT_COUNT);
}

static void set_owners(hf__cluster_map *map, const hf__cluster_range *ranges,
                       size_t count, const uint16_t *places)
{
    for (size_t at = 0; at < map->node_count; at++) {
        if (map->nodes[at] != NULL)
            map->nodes[at]->slot_count = 0;
    }
    memset(map->owners, 0, sizeof(map->owners));
    map->covered = 0;
    for (size_t i = 0; i < count; i++) {
        for (uint32_t slot = ranges[i].first; slot <= ranges[i].last; slot++)
            set_owner(map, slot, places[i]);
    }
}

/* Take the servers of unused nodes, up to `room` at a time; returns how
 * many. */
static size_t take_unused(hf__cluster_map *map, hf__server **unused,
                          size_t room, bool *lost)
{
    int64_t now_ms = hf__clock_boot_ms();
    size_t count = 0;

    for (size_t at = 0; at < map->node_count && count < room; at++) {
        hf__cluster_node *node = map->nodes[at];

        if (node == NULL || node->slot_count > 0)
            continue;
        if (!node->had_slots && now_ms < node->named_ms + NAMED_MS)
            continue;
        *lost = *lost || node->had_slots;
        node->had_slots = false;
        node->named_ms = INT64_MIN / 2;
        if (node->server != NULL)
            unused[count++] = node->server;
        node->server = NULL;
        if (!node->is_seed)
            free_node(map, at);
    }
    return count;
}

/* Requests at a hanging server are not waited for once others have its slots:
 * that would take until their deadlines. */
static void retire_server(hf__server *server)
{
    if (hf__route_is_suspected(&server->node))
        hf__server_reset(server);
    hf__server_retire(server);
}

static hf_status install_ranges(hf__cluster_map *map,
                                const hf__cluster_range *ranges, size_t count,
                                uint16_t *places, bool *lost, hf_error *err)
{
    hf__server *unused[64];
    uint32_t moved = 0, covered;
    size_t taken;
    hf_status status;

    pthread_mutex_lock(&map->mutex);
    status = map->closing
                 ? hf__fail(err, HF_UNAVAILABLE, "the client was closed")
                 : find_places(map, ranges, count, places, err);
    if (status == HF_OK && map->context->log != NULL)
        moved = count_moved(map, ranges, count, places);
    if (status == HF_OK)
        set_owners(map, ranges, count, places);
    if (status == HF_OK)
        look_names_up(map);
    covered = map->covered;
    pthread_mutex_unlock(&map->mutex);
    if (status != HF_OK)
        return status;
    report_map(map, moved, covered);
    do {
        pthread_mutex_lock(&map->mutex);
        taken = map->closing ? 0 : take_unused(map, unused, 64, lost);
        pthread_mutex_unlock(&map->mutex);
        for (size_t i = 0; i < taken; i++)
            retire_server(unused[i]);
    } while (taken == 64);
    return HF_OK;
}

hf_status hf__cluster_map_install(hf__cluster_map *map,
                                  const hf__cluster_range *ranges, size_t count,
                                  bool *lost, hf_error *err)
{
    uint16_t *places = hf__alloc(count * sizeof(*places));
    hf_status status;

    *lost = false;
    if (places == NULL)
        return hf__fail(err, HF_NO_MEMORY, "out of memory");
    status = install_ranges(map, ranges, count, places, lost, err);
    hf__free(places);
    return status;
}

/* --------------------------------------------------------------------- end */

void hf__cluster_map_stop(hf__cluster_map *map)
{
    pthread_mutex_lock(&map->mutex);
    map->closing = true;
    pthread_mutex_unlock(&map->mutex);
}

static void end_all(const hf__cluster_map *map, void (*end)(hf__server *server))
{
    for (size_t at = 0; at < map->node_count; at++) {
        if (map->nodes[at] != NULL && map->nodes[at]->server != NULL)
            end(map->nodes[at]->server);
    }
}

static void free_all(hf__cluster_map *map)
{
    for (size_t at = 0; at < map->node_count; at++) {
        if (map->nodes[at] != NULL)
            free_node(map, at);
    }
}

void hf__cluster_map_close(hf__cluster_map *map)
{
    end_all(map, hf__server_close);
    /* Until all servers are closed, their replies may lead the loop thread to
     * any node; `closing` keeps it from changing them. */
    hf__store_context_drain(map->context);
    free_all(map);
    pthread_mutex_destroy(&map->mutex);
}

void hf__cluster_map_close_forked(hf__cluster_map *map)
{
    end_all(map, hf__server_close_forked);
    free_all(map);
}
