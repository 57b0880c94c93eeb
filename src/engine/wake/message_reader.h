/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message_reader.h - receiving published messages, for a process that has
 * subscribers. All on one loop thread, which may wait for the writer lock.
 */
#ifndef HF__ENGINE_MESSAGE_READER_H
#define HF__ENGINE_MESSAGE_READER_H

#include "engine/wake/message_writer.h"
#include "engine/wake/ring_read.h"
#include "util/private_api.h"

typedef struct hf__message {
    hf__channel_kind kind; /* not a pattern; 0: an event of a key */
    uint32_t event_class;  /* see key_event.h */
    uint64_t number;       /* see hf__subscribed */
    hf_bytes channel;      /* or the name of the event */
    hf_bytes text;         /* or the key */
} hf__message;

typedef struct hf__message_reader {
    hf__ring_reader ring;
    void (*got)(struct hf__message_reader *reader, const hf__message *message);
    /* Messages were lost: the subscribers must be disconnected. */
    void (*lost)(struct hf__message_reader *reader);
} hf__message_reader;

/* What a subscriber keeps of its subscription. */
typedef struct hf__subscribed {
    uint64_t since; /* it is to receive messages with higher numbers */
    bool listed;
} hf__subscribed;

/* `got` and `lost` are set by the caller. */
HF__PRIVATE_API void hf__message_reader_init(hf__message_reader *reader,
                                             hf__wake_inbox *inbox);
/* It is stopped. */
HF__PRIVATE_API void hf__message_reader_done(hf__message_reader *reader);

/* Before the first subscription, and after the last. stop() drops those that
 * are left. */
HF__PRIVATE_API hf_status hf__message_reader_start(hf__message_reader *reader,
                                                   int64_t deadline_ms,
                                                   hf_error *err);
HF__PRIVATE_API void hf__message_reader_stop(hf__message_reader *reader);

/* Subscribe and unsubscribe between lock() and unlock(). */
HF__PRIVATE_API hf_status hf__message_reader_lock(hf__message_reader *reader,
                                                  int64_t deadline_ms,
                                                  hf_error *err);
HF__PRIVATE_API void hf__message_reader_unlock(hf__message_reader *reader);
HF__PRIVATE_API hf__subscribed hf__message_subscribe(hf__message_reader *reader,
                                                     hf__channel_kind kind,
                                                     hf_bytes name);
HF__PRIVATE_API void hf__message_unsubscribe(hf__message_reader *reader,
                                             hf__channel_kind kind,
                                             hf_bytes name,
                                             hf__subscribed subscribed);
/* Classes of events that are to be reported. */
HF__PRIVATE_API void hf__message_want(hf__message_reader *reader,
                                      uint32_t classes);

#endif
