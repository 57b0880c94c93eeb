/* SPDX-License-Identifier: Apache-2.0 */
/* change_feeds.h - the feeds of a store of servers: a connection for each feed
 * to each server that has keys. */
#ifndef HF__STORE_REDIS_CHANGE_FEEDS_H
#define HF__STORE_REDIS_CHANGE_FEEDS_H

#include "store/feed.h"
#include "store/redis/topology/cluster_map.h"

typedef struct hf__change_feed hf__change_feed;

typedef struct hf__change_feeds {
    hf__store_context *context;
    hf__server *server;   /* NULL: a cluster, ... */
    hf__cluster_map *map; /* ... which has this map; else NULL */
    /* A cluster's: have the map refreshed. Never blocks. */
    void (*want_map)(struct hf__change_feeds *feeds);
    hf__change_feed *first; /* the loop thread's */
    uint32_t leaving;       /* connections that are being closed; a futex */
    hf__task reset_task;
    atomic_bool reset_posted; /* it is posted */
} hf__change_feeds;

/* `server` or `map`; the other is NULL. */
void hf__change_feeds_init(hf__change_feeds *feeds, hf__store_context *context,
                           hf__server *server, hf__cluster_map *map);

/* See hf__store_ops. */
hf_status hf__change_feeds_open(hf__change_feeds *feeds, hf__feed *feed,
                                int64_t deadline_ms, hf_error *err);
void hf__change_feeds_close(hf__change_feeds *feeds, hf__feed *feed);

/* The server's address has moved: see hf__server_reset(). Any thread. */
void hf__change_feeds_reset(hf__change_feeds *feeds);
/* The loop thread: the cluster has another map. */
void hf__change_feeds_sync(hf__change_feeds *feeds);

/* All feeds are closed: wait until no connection is left. Not on the loop
 * thread. */
void hf__change_feeds_drain(hf__change_feeds *feeds);
/* In a forked child: close descriptors and free memory. */
void hf__change_feeds_close_forked(hf__change_feeds *feeds);

#endif
