/* SPDX-License-Identifier: Apache-2.0 */
/* event_ops.h - store.h's events over an inbox, the same for every topology. */
#ifndef HF__STORE_REDIS_EVENT_OPS_H
#define HF__STORE_REDIS_EVENT_OPS_H

#include "store/redis/events/subscription.h"

/* See hf__store_ops. */
uint32_t hf__listen_seq(hf__inbox *inbox, hf_bytes topic, int64_t deadline_ms);
void hf__listen_watch_key(hf__inbox *inbox, hf_bytes key);
bool hf__listen_wait(hf__inbox *inbox, hf_bytes topic, uint32_t seq,
                     int64_t until_ms);
hf_status hf__listen_watch(hf__inbox *inbox, hf_bytes topic, hf__watch *watch,
                           hf_error *err);
void hf__listen_unwatch(hf__fleet *fleet, hf__events *events, hf__watch *watch);

#endif
