/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reply.c - creating nodes of a reply in its arena, and finding them. On
 * failure a node is unchanged.
 */
#include "store/reply.h"

#include <string.h>

bool hf__reply_set_bytes(hf_reply *reply, hf_reply_kind kind, const void *data,
                         size_t size, hf__arena *arena)
{
    char *copy = hf__arena_copy(arena, data, size);

    if (copy == NULL)
        return false;
    reply->kind = kind;
    reply->resp3_type = 0;
    reply->bytes.data = copy;
    reply->bytes.size = size;
    return true;
}

bool hf__reply_set_line(hf_reply *reply, hf_reply_kind kind, const char *text,
                        size_t size, hf__arena *arena)
{
    char *copy = hf__arena_copy(arena, text, size);

    if (copy == NULL)
        return false;
    if (kind != HF_REPLY_STRING)
        size = strlen(copy);
    while (kind == HF_REPLY_ERROR && size > 0 &&
           (copy[size - 1] == '\r' || copy[size - 1] == '\n'))
        size--;
    for (size_t i = 0; i < size; i++) {
        if (copy[i] == '\r' || copy[i] == '\n')
            copy[i] = ' ';
    }
    copy[size] = '\0';
    reply->kind = kind;
    reply->resp3_type = 0;
    reply->bytes.data = copy;
    reply->bytes.size = size;
    return true;
}

bool hf__reply_set_array(hf_reply *reply, size_t count, hf__arena *arena)
{
    hf_reply *items = NULL;

    if (count > SIZE_MAX / sizeof(*items))
        return false;
    if (count > 0) {
        items = hf__arena_alloc(arena, count * sizeof(*items));
        if (items == NULL)
            return false;
    }
    for (size_t i = 0; i < count; i++)
        hf__reply_set_nil(&items[i]);
    reply->kind = HF_REPLY_ARRAY;
    reply->resp3_type = 0;
    reply->array.items = items;
    reply->array.count = count;
    return true;
}

bool hf__reply_is(const hf_reply *reply, const char *text)
{
    return reply->kind == HF_REPLY_STRING &&
           reply->bytes.size == strlen(text) &&
           memcmp(reply->bytes.data, text, reply->bytes.size) == 0;
}

const hf_reply *hf__reply_field(const hf_reply *reply, const char *name)
{
    if (reply->kind != HF_REPLY_ARRAY)
        return NULL;
    for (size_t at = 0; at + 1 < reply->array.count; at += 2) {
        if (hf__reply_is(&reply->array.items[at], name))
            return &reply->array.items[at + 1];
    }
    return NULL;
}
