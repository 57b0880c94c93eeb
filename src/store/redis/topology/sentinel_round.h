/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sentinel_round.h - querying all sentinels for the master; see
 * sentinel_round.c. Loop thread only.
 */
#ifndef HF__STORE_REDIS_SENTINEL_ROUND_H
#define HF__STORE_REDIS_SENTINEL_ROUND_H

#include "store/redis/topology/sentinel_watch.h"

/* Begin with the sentinels of the URL; watch->alarm is there. */
hf_status hf__sentinel_round_begin(hf__sentinel_watch *watch, hf_error *err);

/* Something may have changed. */
void hf__sentinel_round_want(hf__sentinel_watch *watch);

/* The alarm's callback. */
void hf__sentinel_round_alarm(void *watch);

/* Start to close all peers: hf__store_context_drain() waits for that.
 * watch->alarm is NULL. */
void hf__sentinel_round_end(hf__sentinel_watch *watch);

#endif
