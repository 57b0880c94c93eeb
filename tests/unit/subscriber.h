/* SPDX-License-Identifier: Apache-2.0 */
/*
 * subscriber.h - a process's subscribers of an embedded store, as a server has
 * them: a loop thread that reads the ring of messages.
 */
#ifndef SUBSCRIBER_H
#define SUBSCRIBER_H

#include <pthread.h>

#include "engine/wake/message_reader.h"

#define SUBSCRIBER_TEXT 512

typedef struct subscriber {
    hf__env *env;
    hf__loop *loop;
    hf__wake_inbox inbox;
    hf__message_reader reader;
    pthread_mutex_t mutex; /* guards the rest */
    pthread_cond_t changed;
    bool held; /* it reads nothing */
    size_t received;
    size_t losses;
    char last[SUBSCRIBER_TEXT]; /* "channel text", cut */
    /* If set, called with the text of each, on the loop thread, with the mutex
     * held. */
    void (*got)(struct subscriber *self, hf_bytes text);
    long number; /* for it */
} subscriber;

/* Open the store and receive messages. */
subscriber *subscriber_open(const char *url);
void subscriber_close(subscriber *self);

hf__subscribed subscriber_add(subscriber *self, hf__channel_kind kind,
                              hf_bytes name);
void subscriber_remove(subscriber *self, hf__channel_kind kind, hf_bytes name,
                       hf__subscribed subscribed);

/* How many were received so far. */
size_t subscriber_received(subscriber *self);
/* Wait until so many were received, and losses noticed. */
void subscriber_expect(subscriber *self, size_t received, size_t losses);
/* Until one was noticed. */
void subscriber_expect_loss(subscriber *self);
/* Until the last one is this. */
void subscriber_expect_last(subscriber *self, const char *last);

/* Keep the loop thread from reading, and let it. */
void subscriber_hold(subscriber *self, bool held);

/* Set `got`. */
void subscriber_on_text(subscriber *self,
                        void (*got)(subscriber *self, hf_bytes text));
/* The number that a text begins with: the text has no NUL. */
long subscriber_number(hf_bytes text);

/* Run a function on the loop thread. */
void subscriber_call(subscriber *self, void (*run)(subscriber *self));

#endif
