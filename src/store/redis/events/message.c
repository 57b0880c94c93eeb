/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message.c - reading [kind, channel, payload], a push in RESP3 and an ordinary
 * reply in RESP2. Untrusted input.
 */
#include "store/redis/events/message.h"

#include "store/redis/wire/errors.h"
#include "util/error.h"

/* Every reply expected here is a single value, except that of PING in RESP2:
 * ["pong", ""]. */
static bool is_answer(const hf_reply *reply)
{
    if (reply->kind == HF_REPLY_ARRAY)
        return reply->array.count == 2 &&
               hf__reply_is(&reply->array.items[0], "pong");
    return true;
}

static bool is_invalidation(const hf_reply *reply)
{
    const hf_reply *items = reply->array.items;

    return reply->array.count == 2 && hf__reply_is(&items[0], "invalidate") &&
           (items[1].kind == HF_REPLY_ARRAY || items[1].kind == HF_REPLY_NIL);
}

const hf_reply *hf__message_keys(const hf_reply *reply, size_t *count)
{
    const hf_reply *keys = &reply->array.items[1];

    if (keys->kind == HF_REPLY_NIL)
        return NULL;
    *count = keys->array.count;
    return keys->array.items;
}

/* A sharded one has an 's' in front. */
static bool is_verb(const hf_reply *item, const char *sharded)
{
    return hf__reply_is(item, sharded) || hf__reply_is(item, sharded + 1);
}

hf__message_kind hf__message_read(const hf_reply *reply, hf_bytes *channel,
                                  hf_bytes *message)
{
    const hf_reply *items;

    if (is_answer(reply))
        return HF__MESSAGE_ANSWER;
    if (is_invalidation(reply))
        return HF__MESSAGE_CHANGED;
    if (reply->array.count != 3)
        return HF__MESSAGE_NONE;
    items = reply->array.items;
    if (items[1].kind != HF_REPLY_STRING)
        return HF__MESSAGE_NONE;
    *channel = hf_view(items[1].bytes.data, items[1].bytes.size);
    if (is_verb(&items[0], "ssubscribe"))
        return HF__MESSAGE_SUBSCRIBED;
    if (is_verb(&items[0], "sunsubscribe"))
        return HF__MESSAGE_ENDED;
    if (!is_verb(&items[0], "smessage") || items[2].kind != HF_REPLY_STRING)
        return HF__MESSAGE_NONE;
    *message = hf_view(items[2].bytes.data, items[2].bytes.size);
    return HF__MESSAGE_EVENT;
}

void hf__message_refuse(const hf_reply *reply, hf__async_conn *conn)
{
    if (reply->kind == HF_REPLY_ERROR)
        hf__redis_error(hf_view(reply->bytes.data, reply->bytes.size), false,
                        &conn->error);
    else
        hf__fail(&conn->error, HF_CORRUPT, "%s sent a malformed message",
                 conn->peer);
    hf__async_conn_drop(conn);
}
