/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sentinel_round.h - asking all sentinels and drawing the conclusion; see
 * sentinel_round.c. Only the loop thread is here.
 */
#ifndef HF__STORE_REDIS_SENTINEL_ROUND_H
#define HF__STORE_REDIS_SENTINEL_ROUND_H

#include "store/redis/topology/sentinel_watch.h"

/* Begin with the sentinels of the URL; watch->alarm is there. */
hf_status hf__sentinel_round_begin(hf__sentinel_watch *watch, hf_error *err);

/* Something may have changed. */
void hf__sentinel_round_want(hf__sentinel_watch *watch);

/* What rings when the next step is due. */
void hf__sentinel_round_alarm(void *watch);

/* Close all peers, which takes a while: hf__store_context_settle() waits for
 * it. watch->alarm is gone. */
void hf__sentinel_round_end(hf__sentinel_watch *watch);

#endif
