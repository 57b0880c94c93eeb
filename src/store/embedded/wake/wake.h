/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wake.h - events between processes: an event moves the counter of one topic
 * of one inbox.
 */
#ifndef HF__EMBEDDED_WAKE_H
#define HF__EMBEDDED_WAKE_H

#include "store/embedded/commit/env.h"
#include "util/loop.h"

struct hf__tx;
struct hf__watch;

/* The bucket of a topic for an inbox. */
uint32_t hf__wake_bucket(const char *inbox_id, hf_bytes topic);

/*
 * PUBLISH, inside a transaction: remember the event if the channel is an inbox
 * and its owner lives. Returns how many will receive it: 1 or 0.
 */
int64_t hf__wake_publish(struct hf__tx *tx, hf_bytes channel, hf_bytes topic);

struct hf__event;
/* After the commit: move the counters and wake who sleeps. The writer lock is
 * not needed. */
void hf__wake_fire(hf__env *env, const struct hf__event *events, size_t count);

/* Where a store handle listens. */
typedef struct hf__wake_inbox {
    hf__env *env;
    hf__loop *loop;
    uint32_t index; /* of the inbox */
    char id[HF__INBOX_SIZE + 1];
    struct hf__wake_poll *poll; /* NULL until something is watched */
} hf__wake_inbox;

uint32_t hf__wake_inbox_seq(const hf__wake_inbox *inbox, hf_bytes topic);
bool hf__wake_inbox_wait(const hf__wake_inbox *inbox, hf_bytes topic,
                         uint32_t seq, int64_t until_ms);
/* Move the counter for threads of ours. */
void hf__wake_inbox_wake(const hf__wake_inbox *inbox, hf_bytes topic);
hf_status hf__wake_inbox_watch(hf__wake_inbox *inbox, hf_bytes topic,
                               struct hf__watch *watch, hf_error *err);
void hf__wake_inbox_unwatch(hf__wake_inbox *inbox, struct hf__watch *watch);
/* Stop listening; not in a forked child. */
void hf__wake_inbox_close(hf__wake_inbox *inbox);

#endif
