/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_reply.c - what a script returns as a reply, converted as by Redis:
 * numbers are truncated, false is nil, true is 1, a table is an array up to its
 * first nil.
 */
#include "engine/native/native_code.h"

static int64_t to_integer(double number)
{
    /* Undefined in C; this is Redis's result on x86-64. */
    if (!(number >= -9223372036854775808.0 && number < 9223372036854775808.0))
        return INT64_MIN;
    return (int64_t)number;
}

/* One line up to a NUL, as in Redis. */
static bool set_line(hf_reply *reply, hf_reply_kind kind, hf__nv value,
                     hf__arena *arena)
{
    char *copy = hf__arena_copy(arena, value.text, value.size);
    size_t size;

    if (copy == NULL)
        return false;
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

static bool set_array(hf_reply *reply, const hf__native_table *table,
                      hf__arena *arena)
{
    if (!hf__reply_set_array(reply, table->count, arena))
        return false;
    for (size_t i = 0; i < table->count; i++) {
        if (!hf__native_reply(&reply->array.items[i], table->items[i], arena))
            return false;
    }
    return true;
}

bool hf__native_reply(hf_reply *reply, hf__nv value, hf__arena *arena)
{
    switch ((hf__nv_tag)value.tag) {
    case HF__NV_TRUE:
        hf__reply_set_integer(reply, 1);
        return true;
    case HF__NV_NUMBER:
        hf__reply_set_integer(reply, to_integer(value.number));
        return true;
    case HF__NV_TEXT:
        return hf__reply_set_bytes(reply, HF_REPLY_STRING, value.text,
                                   value.size, arena);
    case HF__NV_TABLE:
        return set_array(reply, value.table, arena);
    case HF__NV_STATUS:
        return set_line(reply, HF_REPLY_STATUS, value, arena);
    case HF__NV_ERROR:
        return set_line(reply, HF_REPLY_ERROR, value, arena);
    default:
        hf__reply_set_nil(reply);
        return true;
    }
}
