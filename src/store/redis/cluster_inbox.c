/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_inbox.c - an inbox whose server is whichever node works.
 *
 * To the inbox it is one server with an address that changes: the resolver
 * names a node of the map, and another one after each failure, which it is told
 * of as a reason to look again. A subscription that begins to stand moves every
 * counter (inbox.c), so a change of nodes loses nothing.
 *
 * When a master is gone, so may be what it published in its last moment: every
 * counter moves then too.
 */
#include "store/redis/cluster_inbox.h"

#include <string.h>

#include "util/rand.h"

static hf__cluster_inbox *of(hf__resolver *resolver)
{
    return (hf__cluster_inbox *)(void *)((char *)resolver -
                                         offsetof(hf__cluster_inbox, resolver));
}

static hf__server *take(hf__cluster_inbox *self, uint32_t *id)
{
    return hf__cluster_map_nth(self->map, atomic_load(&self->turn), 0, id);
}

static void any_get(hf__resolver *resolver, hf__resolved *resolved)
{
    hf__cluster_inbox *self = of(resolver);
    uint32_t id;
    hf__server *server = take(self, &id);

    memset(resolved, 0, sizeof(*resolved));
    if (server == NULL) {
        memcpy(resolved->text, "the cluster", sizeof("the cluster"));
        return;
    }
    hf__resolver_get(server->node.resolver, resolved);
    atomic_store(&self->on_id, id);
    hf__server_release(server);
}

static void any_refresh(hf__resolver *resolver)
{
    hf__cluster_inbox *self = of(resolver);
    uint32_t id;
    hf__server *server = take(self, &id);

    if (server != NULL) {
        hf__resolver_refresh(server->node.resolver);
        hf__server_release(server);
    }
    atomic_fetch_add(&self->turn, 1);
}

static void any_free(hf__resolver *resolver)
{
    (void)resolver; /* it lies in its owner */
}

static const hf__resolver_ops any_ops = {
    .get = any_get,
    .refresh = any_refresh,
    .free = any_free,
};

void hf__cluster_inbox_init(hf__cluster_inbox *self, hf__cluster_map *map)
{
    memset(&self->node, 0, sizeof(self->node));
    self->map = map;
    self->resolver.ops = &any_ops;
    self->node.fleet = map->fleet;
    self->node.account = map->account;
    self->node.resolver = &self->resolver;
    /* Clients should not all listen on the same node. */
    atomic_init(&self->turn, (unsigned)hf__rand_between(0, UINT16_MAX));
    atomic_init(&self->on_id, 0);
    hf__inbox_init(&self->inbox, &self->node);
}

void hf__cluster_inbox_lost(hf__cluster_inbox *self)
{
    uint32_t id = atomic_load(&self->on_id);

    if (id != 0 && !hf__cluster_map_serves(self->map, id)) {
        __atomic_add_fetch(&self->node.epoch, 1, __ATOMIC_ACQ_REL);
        hf__inbox_poke(&self->inbox);
    }
    hf__events_move_all(&self->inbox.events);
}
