/* SPDX-License-Identifier: Apache-2.0 */
/*
 * single_server.h - what is common to topologies in which every request goes to
 * one server: that of the URL (redis.c), or the master that sentinels name
 * (sentinel.c). Their stores begin with an hf__single_server and use these
 * functions.
 */
#ifndef HF__STORE_REDIS_SINGLE_SERVER_H
#define HF__STORE_REDIS_SINGLE_SERVER_H

#include "store/redis/events/event_conn.h"
#include "store/redis/server/server.h"
#include "store/redis/topology/change_feeds.h"

typedef struct hf__single_server {
    hf__store base;
    hf__store_context context;
    hf__server *server;
    hf__event_conn event_conn;
    hf__change_feeds feeds;
} hf__single_server;

/* See hf__store_ops. */
void hf__single_server_perform(hf__store *store, hf__request *request);
void hf__single_server_submit(hf__store *store, hf__request *const *requests,
                              size_t count);
void hf__single_server_cancel(hf__store *store, hf__request *request);
bool hf__single_server_await(hf__store *store, int fd, int64_t until_ms);
uint32_t hf__single_server_generation(hf__store *store);
uint32_t hf__single_server_shard(const hf__store *store, hf_bytes key);
const char *hf__single_server_inbox(hf__store *store);
uint32_t hf__single_server_event_seq(hf__store *store, hf_bytes topic,
                                     int64_t deadline_ms);
bool hf__single_server_event_listens(hf__store *store, hf_bytes topic);
void hf__single_server_event_key(hf__store *store, hf_bytes key, bool held);
void hf__single_server_event_channel(hf__store *store, hf_bytes topic,
                                     hf_bytes channel, bool sharded,
                                     int64_t keep_ms);
bool hf__single_server_event_wait(hf__store *store, hf_bytes topic,
                                  uint32_t seq, int64_t until_ms);
void hf__single_server_event_wake(hf__store *store, hf_bytes topic);
hf_status hf__single_server_event_watch(hf__store *store, hf_bytes topic,
                                        hf__watch *watch, hf_error *err);
void hf__single_server_event_unwatch(hf__store *store, hf__watch *watch);
hf_status hf__single_server_feed_open(hf__store *store, hf__feed *feed,
                                      int64_t deadline_ms, hf_error *err);
void hf__single_server_feed_close(hf__store *store, hf__feed *feed);

/* These, for a table of functions. */
#define HF__SINGLE_SERVER_OPS                                                  \
    .perform = hf__single_server_perform, .submit = hf__single_server_submit,  \
    .cancel = hf__single_server_cancel, .await = hf__single_server_await,      \
    .generation = hf__single_server_generation,                                \
    .shard = hf__single_server_shard, .inbox = hf__single_server_inbox,        \
    .event_seq = hf__single_server_event_seq,                                  \
    .event_listens = hf__single_server_event_listens,                          \
    .event_key = hf__single_server_event_key,                                  \
    .event_channel = hf__single_server_event_channel,                          \
    .event_wait = hf__single_server_event_wait,                                \
    .event_wake = hf__single_server_event_wake,                                \
    .event_watch = hf__single_server_event_watch,                              \
    .event_unwatch = hf__single_server_event_unwatch,                          \
    .feed_open = hf__single_server_feed_open,                                  \
    .feed_close = hf__single_server_feed_close

/* The lines about the account, the channel and the server's INFO: those of its
 * fields that are in `names`, a list that ends with NULL. */
void hf__single_server_describe(hf__single_server *self,
                                const hf__redis_account *account,
                                const char *const *names, hf__describe_fn line,
                                void *user);

#endif
