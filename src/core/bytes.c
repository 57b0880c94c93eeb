/* SPDX-License-Identifier: Apache-2.0 */
/* bytes.c - freeing what calls hand out, and reading replies. */
#include "holdfast/hash.h"
#include "store/store.h"
#include "util/mem.h"

void hf_buffer_free(hf_buffer *buffer)
{
    if (buffer == NULL)
        return;
    hf__free(buffer->data);
    buffer->data = NULL;
    buffer->size = 0;
}

void hf_fields_free(hf_fields *fields)
{
    if (fields == NULL)
        return;
    hf__free(fields->items); /* the bytes follow the items */
    fields->items = NULL;
    fields->count = 0;
}

hf_reply_kind hf_reply_type(const hf_reply *reply)
{
    if (reply == NULL)
        return HF_REPLY_NIL;
    return reply->kind == HF_REPLY_NIL && reply->integer != 0
               ? HF_REPLY_NIL_ARRAY
               : reply->kind;
}

int64_t hf_reply_integer(const hf_reply *reply)
{
    if (reply == NULL || reply->kind != HF_REPLY_INTEGER)
        return 0;
    return reply->integer;
}

hf_bytes hf_reply_bytes(const hf_reply *reply)
{
    switch (hf_reply_type(reply)) {
    case HF_REPLY_STRING:
    case HF_REPLY_STATUS:
    case HF_REPLY_ERROR:
        return hf_view(reply->bytes.data, reply->bytes.size);
    case HF_REPLY_NIL:
    case HF_REPLY_NIL_ARRAY:
    case HF_REPLY_INTEGER:
    case HF_REPLY_ARRAY:
        break;
    }
    return hf_view("", 0);
}

size_t hf_reply_count(const hf_reply *reply)
{
    if (reply == NULL || reply->kind != HF_REPLY_ARRAY)
        return 0;
    return reply->array.count;
}

const hf_reply *hf_reply_at(const hf_reply *reply, size_t index)
{
    if (index >= hf_reply_count(reply))
        return NULL;
    return &reply->array.items[index];
}
