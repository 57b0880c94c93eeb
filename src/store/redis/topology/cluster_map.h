/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_map.h - the nodes of a cluster and which of them serves which slot.
 *
 * A node is known by "host:port", as the cluster names it or as the URL does.
 * It has an hf__server while requests may go to it: when it loses its last slot
 * the server is retired, which redirects what was not written. Nodes of the URL
 * are never removed, as the last ones to ask.
 */
#ifndef HF__STORE_REDIS_CLUSTER_MAP_H
#define HF__STORE_REDIS_CLUSTER_MAP_H

#include <pthread.h>

#include "store/redis/server/server.h"
#include "store/redis/wire/errors.h"

/* The limit given by the authors of Redis Cluster. */
#define HF__CLUSTER_NODES_MAX 1024

typedef struct hf__cluster_node {
    hf__redis_where where;
    hf__server *server;     /* NULL: made when it is needed */
    hf__resolver *resolver; /* for the server, if looked up ahead */
    uint32_t id;            /* from 1; never used again */
    uint32_t slot_count;    /* slots it has */
    bool had_slots;         /* at some time since it was last unused */
    bool is_seed;           /* of the URL */
    int64_t named_ms;       /* when a redirect last named it */
} hf__cluster_node;

typedef struct hf__cluster_map {
    hf__store_context *context;
    const hf__redis_account *account;
    pthread_mutex_t mutex; /* guards all that follows */
    hf__cluster_node *nodes[HF__CLUSTER_NODES_MAX];
    size_t node_count; /* places used; some may be NULL */
    uint32_t last_id;
    uint32_t covered;                /* slots that have an owner */
    uint16_t owners[HF__SLOT_COUNT]; /* place of the node, plus one; 0: none */
    bool closing;                    /* no server is handed out any more */
} hf__cluster_map;

/* A range of slots and its owner, as reported by a node. */
typedef struct hf__cluster_range {
    uint32_t first;
    uint32_t last;
    char host[HF__HOST_SIZE];
    int port;
} hf__cluster_range;

void hf__cluster_map_init(hf__cluster_map *map, hf__store_context *context,
                          const hf__redis_account *account);

/* Add a node of the URL; starts a lookup of its name without waiting. */
hf_status hf__cluster_map_add_seed(hf__cluster_map *map, const char *host,
                                   int port, hf_error *err);

/*
 * These give a server that the caller releases; NULL: out of memory, no such
 * node, or the store is being closed. None blocks.
 */

/* The owner of the slot; if unknown, any node, which will redirect. `id`,
 * unless NULL, is set to the node's id. */
hf__server *hf__cluster_map_take(hf__cluster_map *map, uint32_t slot,
                                 uint32_t *id);
/* The node at an address, which may be new. It becomes the owner of `slot`,
 * unless that is NULL. */
hf__server *hf__cluster_map_find(hf__cluster_map *map, const char *host,
                                 int port, const uint32_t *slot);
/* The node of this id. */
hf__server *hf__cluster_map_part(hf__cluster_map *map, uint32_t id);
/* The `at`-th node to ask about the cluster: those with slots, then the others,
 * each group starting at its `from`-th and wrapping around. NULL: no more. */
hf__server *hf__cluster_map_nth(hf__cluster_map *map, size_t from, size_t at);

/* Has the node of this id slots? */
bool hf__cluster_map_serves(hf__cluster_map *map, uint32_t id);
/* The id of a slot's owner; 0: none. */
uint32_t hf__cluster_map_owner(hf__cluster_map *map, uint32_t slot);

/* Ids of all nodes with slots; how many there are. */
size_t hf__cluster_map_list(hf__cluster_map *map, uint32_t *ids, size_t room,
                            uint32_t *covered);

/* For description: address and number of slots; false: it has none. */
bool hf__cluster_map_tell(hf__cluster_map *map, uint32_t id, char *text,
                          size_t size);

/*
 * Install a new map; *lost: a node has lost its last slot. HF_NO_MEMORY:
 * nothing is changed.
 */
hf_status hf__cluster_map_install(hf__cluster_map *map,
                                  const hf__cluster_range *ranges, size_t count,
                                  bool *lost, hf_error *err);

/* Hand out no more servers. Any thread. */
void hf__cluster_map_stop(hf__cluster_map *map);
/* Close all servers, wait for retired ones, and free; close_forked(): in a
 * forked child. */
void hf__cluster_map_close(hf__cluster_map *map);
void hf__cluster_map_close_forked(hf__cluster_map *map);

#endif
