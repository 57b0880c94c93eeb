/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_reply.c - what a script returns as a reply, converted as by Redis:
 * numbers are truncated, false is nil, true is 1, a table is an array up to its
 * first nil.
 */
#include "engine/keys/number_text.h"
#include "engine/native/native_code.h"

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

static bool set_score(hf_reply *reply, double number, hf__arena *arena)
{
    char text[HF__NUMBER_TEXT_SIZE];
    size_t size = hf__number_put_double(text, number);

    return hf__reply_set_bytes(reply, HF_REPLY_STRING, text, size, arena);
}

bool hf__native_reply(hf_reply *reply, hf__nv value, hf__arena *arena)
{
    switch ((hf__nv_tag)value.tag) {
    case HF__NV_TRUE:
        hf__reply_set_integer(reply, 1);
        return true;
    case HF__NV_NUMBER:
        hf__reply_set_integer(reply, hf__number_truncated(value.number));
        return true;
    case HF__NV_TEXT:
        return hf__reply_set_bytes(reply, HF_REPLY_STRING, value.text,
                                   value.size, arena);
    case HF__NV_SCORE:
        return set_score(reply, value.number, arena);
    case HF__NV_TABLE:
        return set_array(reply, value.table, arena);
    case HF__NV_STATUS:
        return hf__reply_set_line(reply, HF_REPLY_STATUS, value.text,
                                  value.size, arena);
    case HF__NV_ERROR:
        return hf__reply_set_line(reply, HF_REPLY_ERROR, value.text, value.size,
                                  arena);
    default:
        hf__reply_set_nil(reply);
        return true;
    }
}
