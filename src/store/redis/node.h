/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node.h - one server: its address and what every connection to it needs.
 * Does not change while the store is open, so it is read without a lock.
 */
#ifndef HF__STORE_REDIS_NODE_H
#define HF__STORE_REDIS_NODE_H

#include <stdint.h>

#include "store/redis/address.h"
#include "store/redis/resolve.h"
#include "util/loop.h"

typedef struct hf__redis_node {
    hf__redis_address address;
    hf__resolver *resolver;
    int64_t connect_ms;
    hf__loop *loop;
} hf__redis_node;

#endif
