/* SPDX-License-Identifier: Apache-2.0 */
/* conn_pool.h - the few connections that calling threads use by themselves. */
#ifndef HF__STORE_REDIS_CONN_POOL_H
#define HF__STORE_REDIS_CONN_POOL_H

#include <stdatomic.h>

#include "store/redis/server/blocking_conn.h"
#include "store/redis/server/route.h"

/* With more threads than this at once, one shared connection carries more. */
#define HF__INLINE_COUNT 4

typedef struct hf__inline_slot {
    atomic_bool busy; /* whoever sets it owns the rest */
    hf__conn *conn;   /* the one in use */
    hf__conn pair[2]; /* the other is open only as its elder */
} hf__inline_slot;

typedef struct hf__inline {
    hf__redis_node *node;
    hf__inline_slot slots[HF__INLINE_COUNT];
} hf__inline;

void hf__inline_init(hf__inline *inlines, hf__redis_node *node);
void hf__inline_done(hf__inline *inlines);

/* In a forked child: like done(), as far as that is safe. */
void hf__inline_abandon(hf__inline *inlines);

/* Connect the first one, to see that the server is there and lets us in. */
hf_status hf__inline_open(hf__inline *inlines, int64_t until_ms, hf_error *err);

typedef enum hf__inline_result {
    HF__INLINE_BUSY, /* no connection is free: nothing was done */
    HF__INLINE_DONE, /* complete */
    HF__INLINE_MOVED /* it goes on by `route` */
} hf__inline_result;

/* Run a request to its end on a free connection, or until the topology sends
 * it on. */
hf__inline_result hf__inline_perform(hf__inline *inlines, hf__request *request,
                                     hf__attempts *attempts, hf__route *route);

#endif
