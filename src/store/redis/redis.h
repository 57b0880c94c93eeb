/* SPDX-License-Identifier: Apache-2.0 */
/* redis.h - the drivers for servers: one, the master that sentinels name, a
 * cluster. */
#ifndef HF__STORE_REDIS_H
#define HF__STORE_REDIS_H

#include "store/store.h"

extern const hf__store_ops hf__redis_store_ops;
extern const hf__store_ops hf__sentinel_store_ops;
extern const hf__store_ops hf__cluster_store_ops;

#endif
