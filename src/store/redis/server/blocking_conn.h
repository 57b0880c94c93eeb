/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blocking_conn.h - a connection used by one thread at a time, which writes a
 * request and reads the reply itself.
 */
#ifndef HF__STORE_REDIS_BLOCKING_CONN_H
#define HF__STORE_REDIS_BLOCKING_CONN_H

#include "holdfast/reply.h"
#include "store/redis/server/node.h"
#include "store/redis/server/retry.h"
#include "store/redis/wire/resp.h"
#include "store/tls/channel.h"

typedef struct hf__blocking_conn {
    hf__redis_node *node;
    hf__channel channel;
    uint32_t epoch; /* the node's when it was made */
    bool is_local;  /* a unix socket */
    bool busy;      /* see hf__login */
    char peer[HF__WHERE_SIZE];
    const hf__request *request; /* of the exchange; NULL: logging in */
    struct hf__blocking_conn
        *elder;          /* see hf__blocking_conn_open(); NULL: none */
    int64_t patience_ms; /* silence limit; 0: nothing was awaited yet */
    int64_t given_up_ms; /* when it has passed */
    hf__buf in;
    hf__outgoing out;
    hf__resp resp;
    hf__arena *arena; /* of the reply being read */
    hf_reply *reply;
    int owed; /* replies */
    /* When the last request was sent and its reply was there, or it was
     * opened. */
    int64_t sent_us;
    int64_t heard_us;
} hf__blocking_conn;

/* How an exchange ended. After anything but OK and SILENT the connection is
 * closed. */
typedef enum hf__blocking_conn_result {
    HF__CONN_OK,
    HF__CONN_UNSENT, /* broken before the first byte was written */
    HF__CONN_LOST,   /* broken after it */
    HF__CONN_LATE,   /* the deadline passed after it */
    HF__CONN_SILENT, /* nothing came for a while: hf__blocking_conn_resume() */
    HF__CONN_BROKEN, /* what came is not RESP */
    HF__CONN_NO_MEMORY, /* the answer does not fit, or (unsent) the request */
} hf__blocking_conn_result;

void hf__blocking_conn_init(hf__blocking_conn *conn, hf__redis_node *node);

/* Close the connection if it is open, and free. */
void hf__blocking_conn_done(hf__blocking_conn *conn);

/*
 * Connect and log in, until an instant at the latest. With conn->elder, another
 * connection that is SILENT, it stops as soon as that one receives its reply;
 * an elder that breaks is closed and set to NULL.
 */
hf_status hf__blocking_conn_open(hf__blocking_conn *conn, int64_t until_ms,
                                 hf_error *err);

/* Has the elder, if any, received anything? */
bool hf__blocking_conn_elder_spoke(hf__blocking_conn *conn);

void hf__blocking_conn_close(hf__blocking_conn *conn);

/* In a forked child: close the connection, and free it unless a thread of the
 * parent was using it (`busy`). */
void hf__blocking_conn_close_forked(hf__blocking_conn *conn, bool busy);

static inline bool hf__blocking_conn_is_open(const hf__blocking_conn *conn)
{
    return conn->channel.fd >= 0;
}

/*
 * Has an open connection become unusable for a request? If the server has
 * closed a TCP connection, the write succeeds and is answered by a reset, which
 * leaves the outcome unknown; checking first costs one short call. It is left
 * out before a request that may be repeated, if the last reply came a moment
 * ago. On a unix socket the write itself fails.
 */
bool hf__blocking_conn_is_stale(hf__blocking_conn *conn,
                                const hf__request *request);

/* When the last request was sent. */
static inline int64_t hf__blocking_conn_sent_ms(const hf__blocking_conn *conn)
{
    return conn->sent_us / 1000;
}

/*
 * Send a request and read its reply into request->arena and request->reply,
 * until request->deadline_ms at the latest. Counts request->sends and clears
 * attempts->asking. `err` says why it was not OK. A repeatable request is
 * SILENT after 2 s without a byte, or half of its remaining time if that is 250
 * ms or more, but not before the silence limit (silence_limit.h). The reply may
 * be partly read, so the request must not change before
 * hf__blocking_conn_resume() or a close.
 */
hf__blocking_conn_result hf__blocking_conn_exchange(hf__blocking_conn *conn,
                                                    hf__request *request,
                                                    hf__attempts *attempts,
                                                    hf_error *err);

/* Keep waiting for the reply to the same request. */
hf__blocking_conn_result hf__blocking_conn_resume(hf__blocking_conn *conn,
                                                  hf__request *request,
                                                  hf_error *err);

#endif
