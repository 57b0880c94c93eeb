/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conn.h - a connection that one thread uses at a time, by itself: it writes a
 * request and reads the reply.
 */
#ifndef HF__STORE_REDIS_CONN_H
#define HF__STORE_REDIS_CONN_H

#include "holdfast.h"
#include "store/redis/node.h"
#include "store/redis/resp.h"

typedef struct hf__conn {
    const hf__redis_node *node;
    int fd; /* -1: not connected */
    hf__buf in;
    hf__buf out;
    hf__resp resp;
} hf__conn;

/* How an exchange ended. After anything but OK the connection is closed. */
typedef enum hf__conn_result {
    HF__CONN_OK,
    HF__CONN_UNSENT,    /* broken before the first byte was written */
    HF__CONN_LOST,      /* broken after it */
    HF__CONN_LATE,      /* the deadline passed after it */
    HF__CONN_BROKEN,    /* what came is not RESP */
    HF__CONN_NO_MEMORY, /* the answer does not fit, or (unsent) the request */
} hf__conn_result;

void hf__conn_init(hf__conn *conn, const hf__redis_node *node);

/* Close the connection if it is open, and free. */
void hf__conn_done(hf__conn *conn);

/* Connect and log in, until an instant at the latest. */
hf_status hf__conn_open(hf__conn *conn, int64_t until_ms, hf_error *err);

void hf__conn_close(hf__conn *conn);

/*
 * Send a request and read its reply into request->arena and request->reply,
 * until request->deadline_ms at the latest. Counts request->sends. `err` says
 * why it was not OK.
 */
hf__conn_result hf__conn_exchange(hf__conn *conn, hf__request *request,
                                  bool whole, hf_error *err);

#endif
