/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sentinel_peer.h - the connection to one sentinel, for queries and for its
 * messages about a change of master. Loop thread only.
 */
#ifndef HF__STORE_REDIS_SENTINEL_PEER_H
#define HF__STORE_REDIS_SENTINEL_PEER_H

#include "store/redis/server/async_conn.h"
#include "store/redis/topology/sentinel_read.h"
#include "store/redis/topology/sentinel_url.h"

typedef struct hf__sentinel_peer hf__sentinel_peer;

/* Callbacks, all called from within the connection's. */
typedef struct hf__sentinel_peer_ops {
    /* `state` has changed. */
    void (*heard)(hf__sentinel_peer *peer);
    /* Something may have changed: query again. */
    void (*hinted)(hf__sentinel_peer *peer);
    /* It has listed another sentinel. */
    void (*listed)(hf__sentinel_peer *peer, const hf__sentinel_answer *other);
    /* After hf__sentinel_peer_close(): it may be freed. */
    void (*closed)(hf__sentinel_peer *peer);
} hf__sentinel_peer_ops;

typedef enum hf__sentinel_state {
    HF__SENTINEL_ASKED,    /* or about to be */
    HF__SENTINEL_ANSWERED, /* `answer` is valid */
    HF__SENTINEL_FAILED    /* conn.error says why */
} hf__sentinel_state;

struct hf__sentinel_peer {
    hf__async_conn conn; /* first */
    hf__redis_node node;
    const hf__sentinel_peer_ops *ops;
    void *user; /* the asker's */
    const char *name;
    hf__redis_where where;
    hf__sentinel_state state;
    bool is_learned;  /* another sentinel listed it */
    uint32_t listed;  /* the asker's: when it was last listed */
    bool subscribing; /* no reply to SUBSCRIBE yet */
    bool again;       /* query again when this query is complete */
    bool answers;     /* it has answered a query on this connection */
    bool closing;
    int64_t asked_ms; /* 0: no query is open */
    hf__sentinel_step step;
    hf__sentinel_answer reading;
    hf__sentinel_answer answer;
    hf__arena arena; /* of the reply being read */
    hf_reply reply;
};

/* `where` is copied. The first attempt to connect is hf__async_conn_update().
 */
hf_status hf__sentinel_peer_new(hf__store_context *context,
                                const hf__sentinel_url *place,
                                const hf__redis_where *where,
                                const hf__sentinel_peer_ops *ops, void *user,
                                hf__sentinel_peer **peer, hf_error *err);

/* Query now, or once connected. */
void hf__sentinel_peer_ask(hf__sentinel_peer *peer);

void hf__sentinel_peer_close(hf__sentinel_peer *peer);

/* After closed(), or if it was never connected. */
void hf__sentinel_peer_free(hf__sentinel_peer *peer);

#endif
