/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blocking_wait.h - a call on its caller's thread that sleeps between requests:
 * until an event, an instant, or an interruption. stepper.h is the same for
 * started calls.
 */
#ifndef HF__CORE_BLOCKING_WAIT_H
#define HF__CORE_BLOCKING_WAIT_H

#include "core/interrupt.h"

typedef struct hf__blocking_wait {
    hf__sleeper sleeper;
    hf_client *client;
    unsigned count;        /* of interruptions, when the call began */
    uint32_t seq;          /* the topic's event counter before the request */
    pthread_mutex_t mutex; /* for who wakes it: guards the rest */
    hf_bytes topic;        /* empty: it does not wait for events */
    pthread_cond_t woken;  /* for a sleep without events */
} hf__blocking_wait;

void hf__blocking_wait_init(hf__blocking_wait *self, hf_client *client);
void hf__blocking_wait_done(hf__blocking_wait *self);

/* Before a request: events of the topic after this end the next sleep. */
void hf__blocking_wait_listen(hf__blocking_wait *self, hf_bytes topic,
                              int64_t until_ms);
/* false: interrupted. */
bool hf__blocking_wait_sleep(hf__blocking_wait *self, int64_t until_ms);

/* The event counter of a topic. Waits for its subscription, if there is none
 * yet, by until_ms and not for long. */
uint32_t hf__topic_seq(const hf_client *client, hf_bytes topic,
                       int64_t until_ms);

#endif
