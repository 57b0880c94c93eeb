/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watches.h - events of a quorum: those of any node. A release wakes a waiter
 * on each node, which may be several processes: all of them try, and those that
 * fail continue to wait.
 */
#ifndef HF__STORE_QUORUM_WATCHES_H
#define HF__STORE_QUORUM_WATCHES_H

#include "store/quorum/quorum.h"

/* store.h's events. */
uint32_t hf__quorum_event_seq(hf__store *store, hf_bytes topic,
                              int64_t deadline_ms);
void hf__quorum_event_votes(hf__store *store, hf_bytes topic,
                            uint32_t votes[HF__VOTES_MAX]);
hf__agreement hf__quorum_event_agreed(hf__store *store, hf_bytes topic,
                                      const uint32_t votes[HF__VOTES_MAX]);
void hf__quorum_event_key(hf__store *store, hf_bytes key, bool held);
void hf__quorum_event_wake(hf__store *store, hf_bytes topic);
bool hf__quorum_event_wait(hf__store *store, hf_bytes topic, uint32_t seq,
                           int64_t until_ms);
hf_status hf__quorum_event_watch(hf__store *store, hf_bytes topic,
                                 hf__watch *watch, hf_error *err);
void hf__quorum_event_unwatch(hf__store *store, hf__watch *watch);

#endif
