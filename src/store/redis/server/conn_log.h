/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conn_log.h - what an operator learns of a server's connections: that one was
 * lost, why it cannot be made, and that it is back.
 */
#ifndef HF__STORE_REDIS_CONN_LOG_H
#define HF__STORE_REDIS_CONN_LOG_H

#include "store/redis/server/async_conn.h"

/* What a connection is for, and what its loss means; static texts. */
typedef struct hf__conn_purpose {
    const char *carries;
    const char *meanwhile; /* until it is back; "": nothing to be said */
} hf__conn_purpose;

/* It broke, or (was_up false) could not be made. conn->error says why. */
void hf__conn_log_down(hf__async_conn *conn, bool was_up);
/* It does again what it is for. */
void hf__conn_log_up(hf__async_conn *conn);

/* A connection of a calling thread broke, and the call tries another. */
void hf__conn_log_again(const hf__redis_node *node, const char *why);

#endif
