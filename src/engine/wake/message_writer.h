/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message_writer.h - publishing messages within a transaction, to the
 * subscribers of all processes.
 */
#ifndef HF__ENGINE_MESSAGE_WRITER_H
#define HF__ENGINE_MESSAGE_WRITER_H

#include "engine/wake/ring_write.h"
#include "engine/wake/subscriptions.h"

/* Of a channel and its message together. */
#define HF__MESSAGE_MAX (size_t)(1u << 20)

/* A note in the ring of messages begins with this; the channel and the message
 * follow, or the name of an event and the key. The note's kind is an
 * hf__channel_kind, or the next. */
typedef struct hf__message_head {
    uint32_t channel_size;
    uint32_t event_class;
} hf__message_head;
#define HF__NOTE_EVENT 4u

/* false: it does not fit, or there is no memory. */
bool hf__message_put(hf__tx *tx, uint32_t kind, uint32_t event_class,
                     hf_bytes channel, hf_bytes text);

/*
 * PUBLISH and SPUBLISH: the number of subscribers that the message goes to with
 * the commit. -1: the messages of the transaction are too long together.
 */
int64_t hf__message_publish(hf__tx *tx, hf__channel_kind kind, hf_bytes channel,
                            hf_bytes text);
/* How many have subscribed to the channel itself. */
int64_t hf__message_subscribers(hf__tx *tx, hf__channel_kind kind,
                                hf_bytes channel);

#endif
