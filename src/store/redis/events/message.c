/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message.c - reading [kind, channel, payload], which is a push in RESP3 and an
 * answer like any other in RESP2. It comes from outside and may be anything.
 */
#include "store/redis/events/message.h"

/* A PING's answer: a status in RESP3, ["pong", ""] in RESP2, or that it is
 * forbidden, which is as much a sign of life. */
static bool is_life_sign(const hf_reply *reply)
{
    if (reply->kind == HF_REPLY_ARRAY)
        return reply->array.count == 2 &&
               hf__reply_is(&reply->array.items[0], "pong");
    return reply->kind == HF_REPLY_STATUS || reply->kind == HF_REPLY_ERROR;
}

hf__message_kind hf__message_read(const hf_reply *reply, hf_bytes *topic)
{
    const hf_reply *items;

    if (is_life_sign(reply))
        return HF__MESSAGE_LIFE_SIGN;
    if (reply->kind != HF_REPLY_ARRAY || reply->array.count != 3)
        return HF__MESSAGE_NONE;
    items = reply->array.items;
    if (hf__reply_is(&items[0], "subscribe"))
        return HF__MESSAGE_SUBSCRIBED;
    if (!hf__reply_is(&items[0], "message") || items[2].kind != HF_REPLY_STRING)
        return HF__MESSAGE_NONE;
    *topic = hf_view(items[2].bytes.data, items[2].bytes.size);
    return HF__MESSAGE_EVENT;
}
