/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_reply.c - what a script returns as a reply, converted as by Redis:
 * numbers are truncated, false is nil, true is 1, a table is an array up to its
 * first nil.
 */
#include "engine/keys/number_text.h"
#include "engine/native/native_code.h"

/* Texts of an array that are shorter are copied behind one another. */
#define SHORT_SIZE 256u

static bool is_short(hf__nv value)
{
    return value.tag == HF__NV_TEXT && value.size < SHORT_SIZE;
}

/* Memory for them, each with a NUL; NULL: out of memory. None is where the
 * memory begins, as a piece that hf__arena_take() takes is. */
static char *short_texts(const hf__native_table *table, hf__arena *arena)
{
    size_t size = 1;
    char *memory;

    for (size_t i = 0; i < table->count; i++) {
        if (is_short(table->items[i]))
            size += table->items[i].size + 1;
    }
    memory = hf__arena_alloc(arena, size);
    return memory != NULL ? memory + 1 : NULL;
}

/* Returns where the next one goes. */
static char *set_short(hf_reply *reply, hf__nv text, char *to)
{
    memcpy(to, text.text, text.size);
    to[text.size] = '\0';
    reply->kind = HF_REPLY_STRING;
    reply->bytes.data = to;
    reply->bytes.size = text.size;
    return to + text.size + 1;
}

static bool set_array(hf_reply *reply, const hf__native_table *table,
                      hf__arena *arena)
{
    char *next;

    if (!hf__reply_set_array(reply, table->count, arena))
        return false;
    next = short_texts(table, arena);
    if (next == NULL)
        return false;
    for (size_t i = 0; i < table->count; i++) {
        hf_reply *item = &reply->array.items[i];

        if (is_short(table->items[i]))
            next = set_short(item, table->items[i], next);
        else if (table->items[i].tag == HF__NV_NUMBER)
            hf__reply_set_integer(item,
                                  hf__number_truncated(table->items[i].number));
        else if (!hf__native_reply(item, table->items[i], arena))
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
