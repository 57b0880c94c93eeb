/* SPDX-License-Identifier: Apache-2.0 */
/*
 * change_conn.h - a connection on which one server reports every change of the
 * keys that begin with a prefix. Loop thread only.
 */
#ifndef HF__STORE_REDIS_CHANGE_CONN_H
#define HF__STORE_REDIS_CHANGE_CONN_H

#include "store/feed.h"
#include "store/redis/server/async_conn.h"

typedef struct hf__change_conn hf__change_conn;

/* The owner's. */
typedef struct hf__change_conn_ops {
    /* As of hf__feed. The prefix was checked. */
    void (*changed)(hf__change_conn *self, hf_change_kind kind, hf_bytes key);
    void (*listening)(hf__change_conn *self);
    /* conn.error says why; false: it was not listening. */
    void (*down)(hf__change_conn *self, bool was_listening);
    void (*closed)(hf__change_conn *self);
    /* Returns when to be called next. */
    int64_t (*tick)(hf__change_conn *self, int64_t now_ms);
} hf__change_conn_ops;

struct hf__change_conn {
    hf__async_conn conn; /* first */
    const hf__change_conn_ops *ops;
    hf_bytes prefix;
    bool kinds; /* see hf__feed */
    bool listens;
    bool probes; /* a PING is unanswered ... */
    int64_t probed_ms;
    hf__buf asked;   /* outstanding requests, see change_conn.c */
    hf__arena arena; /* of the message being read */
    hf_reply message;
};

/* `prefix` stays valid. It connects when `conn` is updated. */
void hf__change_conn_init(hf__change_conn *self, const hf__change_conn_ops *ops,
                          hf__redis_node *node, hf_bytes prefix, bool kinds);
/* closed() follows; then done() frees. */
void hf__change_conn_close(hf__change_conn *self);
void hf__change_conn_done(hf__change_conn *self);

#endif
