/* SPDX-License-Identifier: Apache-2.0 */
/* message.h - what a subscribed connection receives. */
#ifndef HF__STORE_REDIS_MESSAGE_H
#define HF__STORE_REDIS_MESSAGE_H

#include "store/redis/server/async_conn.h"
#include "store/reply.h"

typedef enum hf__message_kind {
    HF__MESSAGE_NONE,       /* unknown */
    HF__MESSAGE_SUBSCRIBED, /* messages of the channel follow */
    HF__MESSAGE_ENDED,      /* none follow any more */
    HF__MESSAGE_EVENT,      /* `message` was published */
    HF__MESSAGE_CHANGED,    /* tracked keys have: see below */
    HF__MESSAGE_ANSWER      /* a reply to a request, if there was one */
} hf__message_kind;

/* `channel` is set on SUBSCRIBED, ENDED and EVENT, `message` on EVENT; they
 * point into the reply. */
hf__message_kind hf__message_read(const hf_reply *reply, hf_bytes *channel,
                                  hf_bytes *message);

/* Of CHANGED: the keys, `*count` of them; NULL: all keys. */
const hf_reply *hf__message_keys(const hf_reply *reply, size_t *count);

/* Drop the connection that received one that it did not ask for: an error is
 * the reason, anything else is malformed. */
void hf__message_refuse(const hf_reply *reply, hf__async_conn *conn);

#endif
