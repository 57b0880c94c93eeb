/* SPDX-License-Identifier: Apache-2.0 */
/* subscribe.h - subscriptions of clients, and messages for them. */
#ifndef HF__SERVE_SUBSCRIBE_H
#define HF__SERVE_SUBSCRIBE_H

#include "serve/conn/conn.h"
#include "serve/messages/channel_table.h"

/* Of a server. */
typedef struct hf__pubsub {
    struct hf_server *server;
    hf__message_reader reader;
    bool reading;
    hf__channel_table channels;

    uint32_t notify;    /* flags of notify.h */
    uint32_t wanted;    /* of these, what the store reports now */
    hf__tick leave;     /* while closed connections could not leave */
    hf__buf event_name; /* of the channel of an event */
} hf__pubsub;

void hf__pubsub_init(struct hf_server *server);
/* There are no connections. */
void hf__pubsub_done(struct hf_server *server);

/* A turn begins: commits of its own need not wake it. It ends: read. */
void hf__pubsub_pause(struct hf_server *server);
void hf__pubsub_look(struct hf_server *server);

/* CONFIG SET notify-keyspace-events. */
void hf__pubsub_notify(struct hf_server *server, uint32_t flags);

/* Has the connection subscribed, so that it may only do so, by RESP2? Then
 * replies with an error to other commands. */
bool hf__subscribed_refuses(hf__conn *conn, const char *name);

/* End its subscriptions; no transaction is open. false: the writer lock could
 * not be taken. */
bool hf__subscribed_leave(hf__conn *conn, int64_t deadline_ms);
/* All connections are closed: end their subscriptions. */
void hf__pubsub_leave_all(struct hf_server *server);

#endif
