/* SPDX-License-Identifier: Apache-2.0 */
/* message.h - what comes on a connection that subscribes. */
#ifndef HF__STORE_REDIS_MESSAGE_H
#define HF__STORE_REDIS_MESSAGE_H

#include "store/reply.h"

typedef enum hf__message_kind {
    HF__MESSAGE_NONE,       /* nothing that we know */
    HF__MESSAGE_SUBSCRIBED, /* from now on messages come */
    HF__MESSAGE_EVENT,      /* `topic` has moved */
    HF__MESSAGE_LIFE_SIGN   /* the answer to a PING, if one was sent */
} hf__message_kind;

/* `topic`, which points into the reply, is set on EVENT. */
hf__message_kind hf__message_read(const hf_reply *reply, hf_bytes *topic);

#endif
