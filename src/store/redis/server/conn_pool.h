/* SPDX-License-Identifier: Apache-2.0 */
/* conn_pool.h - the few connections that calling threads write and read
 * themselves. */
#ifndef HF__STORE_REDIS_CONN_POOL_H
#define HF__STORE_REDIS_CONN_POOL_H

#include <stdatomic.h>

#include "store/redis/server/blocking_conn.h"
#include "store/redis/server/route.h"

/* With more concurrent threads one shared connection has more throughput. */
#define HF__POOL_COUNT 4

typedef struct hf__conn_slot {
    atomic_bool busy;          /* who sets it owns the rest */
    hf__blocking_conn *conn;   /* the one in use */
    hf__blocking_conn pair[2]; /* the other is open only as its elder */
} hf__conn_slot;

typedef struct hf__conn_pool {
    hf__redis_node *node;
    hf__conn_slot slots[HF__POOL_COUNT];
} hf__conn_pool;

void hf__conn_pool_init(hf__conn_pool *pool, hf__redis_node *node);
void hf__conn_pool_done(hf__conn_pool *pool);

/* In a forked child: like done(), as far as is safe. */
void hf__conn_pool_close_forked(hf__conn_pool *pool);

/* Connect the first one, to check that the server accepts the login. */
hf_status hf__conn_pool_open(hf__conn_pool *pool, int64_t until_ms,
                             hf_error *err);

typedef enum hf__conn_pool_result {
    HF__POOL_BUSY, /* no connection is free: nothing was done */
    HF__POOL_DONE, /* complete */
    HF__POOL_MOVED /* it continues by `route` */
} hf__conn_pool_result;

/* Run a request to its end on a free connection, or until the topology sends
 * it on. */
hf__conn_pool_result hf__conn_pool_perform(hf__conn_pool *pool,
                                           hf__request *request,
                                           hf__attempts *attempts,
                                           hf__route *route);

#endif
