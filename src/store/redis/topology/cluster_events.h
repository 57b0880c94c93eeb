/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_events.h - events of a cluster: a connection to each master that has
 * a topic being waited for.
 *
 * Nodes forward published messages to all others, but PUBLISH counts only the
 * subscribers of its own node, and our scripts treat a waiter that is not
 * counted as gone. So a client subscribes at the nodes that have the keys it
 * waits for.
 */
#ifndef HF__STORE_REDIS_CLUSTER_EVENTS_H
#define HF__STORE_REDIS_CLUSTER_EVENTS_H

#include <pthread.h>

#include "store/redis/events/event_conn.h"
#include "store/redis/topology/cluster_map.h"

typedef struct hf__cluster_conn hf__cluster_conn;

/* A cluster's store begins with one. */
typedef struct hf__cluster_events {
    hf__store base;
    hf__cluster_map *map;
    hf__events events;     /* shared by all of them */
    pthread_mutex_t mutex; /* guards the list and use counts */
    hf__cluster_conn *first;
    bool closing;     /* the loop thread closes none any more */
    uint32_t leaving; /* closed and not freed yet; a futex */
} hf__cluster_events;

/* `all` is zeroed. */
void hf__cluster_events_init(hf__cluster_events *all, hf__cluster_map *map);

/* See hf__store_ops. */
uint32_t hf__cluster_event_seq(hf__store *store, hf_bytes topic,
                               int64_t deadline_ms);
bool hf__cluster_event_listens(hf__store *store, hf_bytes topic);
void hf__cluster_event_key(hf__store *store, hf_bytes key, bool held);
void hf__cluster_event_channel(hf__store *store, hf_bytes topic,
                               hf_bytes channel, bool sharded, int64_t keep_ms);
bool hf__cluster_event_wait(hf__store *store, hf_bytes topic, uint32_t seq,
                            int64_t until_ms);
void hf__cluster_event_wake(hf__store *store, hf_bytes topic);
hf_status hf__cluster_event_watch(hf__store *store, hf_bytes topic,
                                  hf__watch *watch, hf_error *err);
void hf__cluster_event_unwatch(hf__store *store, hf__watch *watch);

/* The loop thread: nodes were removed from the map. */
void hf__cluster_events_lost(hf__cluster_events *all);

/* Close all and free; there are no waiters. Not on the loop thread. done():
 * when no map can be installed any more. */
void hf__cluster_events_close(hf__cluster_events *all);
void hf__cluster_events_done(hf__cluster_events *all);
/* In a forked child. */
void hf__cluster_events_close_forked(hf__cluster_events *all);

#endif
