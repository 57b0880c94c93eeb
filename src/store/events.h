/* SPDX-License-Identifier: Apache-2.0 */
/* events.h - event counters by topic, shared by the threads of one client. */
#ifndef HF__STORE_EVENTS_H
#define HF__STORE_EVENTS_H

#include "store/store.h"

/* Topics that share a counter cause needless wake-ups; a process waits for far
 * fewer topics at a time. A power of two. */
#define HF__EVENTS_COUNT 256

typedef struct hf__events {
    uint32_t words[HF__EVENTS_COUNT]; /* futexes */
    /* The loop thread's. */
    hf__watch *watches[HF__EVENTS_COUNT];
    hf__watch *next; /* to be called, while some are */
} hf__events;

void hf__events_init(hf__events *events);

/* Any thread. */
uint32_t hf__events_bucket(hf_bytes topic);
uint32_t hf__events_read(const hf__events *events, uint32_t bucket);
bool hf__events_wait(const hf__events *events, uint32_t bucket, uint32_t seen,
                     int64_t until_ms);

/* Any thread: move a counter and wake its waiters, without calling watches. */
void hf__events_wake(hf__events *events, uint32_t bucket);

/* The loop thread: move one counter or all; wake waiters and call watches.
 * Those may add and remove watches, but not move a counter. */
void hf__events_move(hf__events *events, uint32_t bucket);
void hf__events_move_all(hf__events *events);

/* The loop thread; `watch->bucket` is set. */
void hf__events_add(hf__events *events, hf__watch *watch);
void hf__events_remove(hf__events *events, hf__watch *watch);

#endif
