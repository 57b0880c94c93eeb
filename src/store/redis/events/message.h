/* SPDX-License-Identifier: Apache-2.0 */
/* message.h - what comes on a connection that subscribes. */
#ifndef HF__STORE_REDIS_MESSAGE_H
#define HF__STORE_REDIS_MESSAGE_H

#include "store/reply.h"

typedef enum hf__message_kind {
    HF__MESSAGE_NONE,       /* nothing that we know */
    HF__MESSAGE_SUBSCRIBED, /* from now on messages come */
    HF__MESSAGE_EVENT,      /* `topic` has moved */
    HF__MESSAGE_CHANGED,    /* keys that were read here have: see below */
    HF__MESSAGE_ANSWER      /* to what was asked, if anything was */
} hf__message_kind;

/* `topic`, which points into the reply, is set on EVENT. */
hf__message_kind hf__message_read(const hf_reply *reply, hf_bytes *topic);

/* Of a CHANGED: the keys, `*count` of them; NULL: all there are. */
const hf_reply *hf__message_keys(const hf_reply *reply, size_t *count);

#endif
