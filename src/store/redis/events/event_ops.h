/* SPDX-License-Identifier: Apache-2.0 */
/* event_ops.h - store.h's events by a self, for every topology. */
#ifndef HF__STORE_REDIS_EVENT_OPS_H
#define HF__STORE_REDIS_EVENT_OPS_H

#include "store/redis/events/event_conn.h"

/* See hf__store_ops. */
uint32_t hf__event_seq(hf__event_conn *self, hf_bytes topic,
                       int64_t deadline_ms);
void hf__event_watch_key(hf__event_conn *self, hf_bytes key, bool held);
void hf__event_channel(hf__event_conn *self, hf_bytes topic, hf_bytes channel,
                       bool sharded, int64_t keep_ms);
bool hf__event_wait(hf__event_conn *self, hf_bytes topic, uint32_t seq,
                    int64_t until_ms);
hf_status hf__event_watch(hf__event_conn *self, hf_bytes topic,
                          hf__watch *watch, hf_error *err);
void hf__event_unwatch(hf__store_context *context, hf__events *events,
                       hf__watch *watch);

#endif
