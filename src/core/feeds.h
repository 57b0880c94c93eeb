/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feeds.h - the feeds of a client: what its watches and near caches receive.
 *
 * A feed is closed by its owner or, before the store is closed, by the client,
 * whichever comes first; the owner's close waits for the client's.
 */
#ifndef HF__CORE_FEEDS_H
#define HF__CORE_FEEDS_H

#include <pthread.h>

#include "store/feed.h"
#include "store/store.h"

typedef struct hf__client_feed {
    hf__feed feed; /* first; `prefix` is set by the opening */
    hf_client *client;
    char *prefix;
    /* If the store has stamps, take these instead of the feed. */
    bool takes_stamps;
    const uint32_t *stamps; /* NULL: it is a feed */
    /* Before the client closes it: the stamps are used no more. NULL: nothing.
     */
    void (*ending)(struct hf__client_feed *self);
    /* The client has closed it: complete what waits. NULL: nothing. */
    void (*ended)(struct hf__client_feed *self);
    struct hf__client_feed *next;
    struct hf__client_feed **at; /* NULL: not in the list */
    bool busy;                   /* the client is closing it */
} hf__client_feed;

typedef struct hf__client_feeds {
    pthread_mutex_t mutex; /* guards all the rest */
    pthread_cond_t changed;
    hf__client_feed *first;
} hf__client_feeds;

void hf__client_feeds_init(hf__client_feeds *feeds);
void hf__client_feeds_done(hf__client_feeds *feeds); /* not in a child */

/* Open a feed of the keys that begin with the client's prefix and `prefix`;
 * its callbacks are set. Inside the client, which it keeps. */
hf_status hf__client_feed_open(hf__client_feed *self, hf_client *client,
                               hf_bytes prefix, hf_error *err);
/* Close it; no callback runs afterwards. Not on the loop thread. */
void hf__client_feed_close(hf__client_feed *self);

/* Closing a client, without calls under way: close all that are still open. */
void hf__client_feeds_close(hf__client_feeds *feeds);

#endif
