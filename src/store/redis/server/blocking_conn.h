/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blocking_conn.h - a connection that one thread uses at a time, by itself: it
 * writes a request and reads the reply.
 */
#ifndef HF__STORE_REDIS_BLOCKING_CONN_H
#define HF__STORE_REDIS_BLOCKING_CONN_H

#include "holdfast/script.h"
#include "store/redis/server/node.h"
#include "store/redis/server/retry.h"
#include "store/redis/wire/channel.h"
#include "store/redis/wire/resp.h"

typedef struct hf__blocking_conn {
    hf__redis_node *node;
    hf__channel channel;
    uint32_t epoch; /* the node's when it was made */
    bool is_local;  /* a unix socket */
    char peer[HF__WHERE_SIZE];
    const hf__request *request; /* of the exchange; NULL: logging in */
    struct hf__blocking_conn
        *elder;          /* see hf__blocking_conn_open(); NULL: none */
    int64_t patience_ms; /* silence that ends it; 0: nothing was awaited yet */
    int64_t given_up_ms; /* when that has passed */
    hf__buf in;
    hf__buf out;
    hf__resp resp;
    hf__arena *arena; /* where the reply goes that is being read */
    hf_reply *reply;
    int owed; /* answers */
    int64_t sent_ms;
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
 * connection that is SILENT, also at most until that has its answer; one that
 * breaks is closed, and no elder any more.
 */
hf_status hf__blocking_conn_open(hf__blocking_conn *conn, int64_t until_ms,
                                 hf_error *err);

/* Is there an elder that is silent no more? */
bool hf__blocking_conn_elder_spoke(hf__blocking_conn *conn);

void hf__blocking_conn_close(hf__blocking_conn *conn);

/* In a forked child: give up the connection, and free unless a thread that the
 * child does not have was in the middle of it (`busy`). */
void hf__blocking_conn_abandon(hf__blocking_conn *conn, bool busy);

static inline bool hf__blocking_conn_is_open(const hf__blocking_conn *conn)
{
    return conn->channel.fd >= 0;
}

/*
 * May an open connection no longer be used? A server that has closed a TCP
 * connection meanwhile would take the request and answer with a reset, which
 * leaves its outcome unknown; looking first costs one short call. A unix socket
 * refuses the write itself.
 */
bool hf__blocking_conn_is_stale(hf__blocking_conn *conn);

/*
 * Send a request and read its reply into request->arena and request->reply,
 * until request->deadline_ms at the latest. Counts request->sends and takes
 * attempts->asking away. `err` says why it was not OK. One that may be sent
 * again is SILENT when the server is for 2 s, or for half of its time if that
 * is 250 ms or more, but not before such a server would answer
 * (silence_limit.h): the answer may be what is lost. The reply may be half
 * there, so the request must stay as it is until hf__blocking_conn_resume(), or
 * a close.
 */
hf__blocking_conn_result hf__blocking_conn_exchange(hf__blocking_conn *conn,
                                                    hf__request *request,
                                                    hf__attempts *attempts,
                                                    hf_error *err);

/* Wait on for the answer to the same request. */
hf__blocking_conn_result hf__blocking_conn_resume(hf__blocking_conn *conn,
                                                  hf__request *request,
                                                  hf_error *err);

#endif
