/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wake.h - events between processes: each increments the counter of one topic
 * of one inbox.
 */
#ifndef HF__ENGINE_WAKE_H
#define HF__ENGINE_WAKE_H

#include "engine/commit/env.h"
#include "util/loop.h"

struct hf__tx;
struct hf__watch;

/* The bucket of a topic for an inbox. */
uint32_t hf__wake_bucket(const char *inbox_id, hf_bytes topic);

/* Is the channel the inbox of a live process, and which? The writer lock is
 * held. */
bool hf__wake_listens(hf__env *env, hf_bytes channel, uint32_t *index);

/*
 * PUBLISH, within a transaction: record the event if the channel is the inbox
 * of a live process, and what it says. Returns the number of receivers: 1 or 0.
 */
int64_t hf__wake_publish(struct hf__tx *tx, hf_bytes channel, hf_bytes text,
                         hf_bytes topic);

/* Record an event of a bucket of an inbox. false: fatal. After
 * hf__wake_reserve() of so many it cannot fail. */
bool hf__wake_reserve(struct hf__tx *tx, size_t count);
bool hf__wake_remember(struct hf__tx *tx, uint32_t inbox, uint32_t bucket);

struct hf__event;
/* After the commit: increment the counters and wake waiters. The writer lock is
 * not needed. */
void hf__wake_fire(hf__env *env, const struct hf__event *events, size_t count);

/* A store handle's inbox. */
typedef struct hf__wake_inbox {
    hf__env *env;
    hf__loop *loop;
    uint32_t index; /* in the sidecar */
    char id[HF__INBOX_SIZE + 1];
    struct hf__wake_poll *poll; /* NULL until the first watch */
} hf__wake_inbox;

uint32_t hf__wake_inbox_seq(const hf__wake_inbox *inbox, hf_bytes topic);
bool hf__wake_inbox_wait(const hf__wake_inbox *inbox, hf_bytes topic,
                         uint32_t seq, int64_t until_ms);
/* What the topic's last event said; 0: unknown. */
size_t hf__wake_inbox_text(const hf__wake_inbox *inbox, hf_bytes topic,
                           char text[HF__EVENT_TEXT_MAX]);
/* Wake threads of this process. */
void hf__wake_inbox_wake(const hf__wake_inbox *inbox, hf_bytes topic);
hf_status hf__wake_inbox_watch(hf__wake_inbox *inbox, hf_bytes topic,
                               struct hf__watch *watch, hf_error *err);
void hf__wake_inbox_unwatch(hf__wake_inbox *inbox, struct hf__watch *watch);
/* Stop listening; not in a forked child. */
void hf__wake_inbox_close(hf__wake_inbox *inbox);

#endif
