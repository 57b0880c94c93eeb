/* SPDX-License-Identifier: Apache-2.0 */
/* model.c - what the store should hold, and text about it. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "property.h"

bool model_cheats(const model *m, const char *rule)
{
    return m->cheat != NULL && strcmp(m->cheat, rule) == 0;
}

void model_delete(model_key *key)
{
    memset(key, 0, sizeof(*key));
}

void model_unstamp(model *m, size_t key)
{
    memset(&m->stamps[key], 0, sizeof(m->stamps[key]));
}

void model_tidy(model_key *key)
{
    for (size_t i = 0; i < FIELDS; i++) {
        if (key->fields[i].there)
            return;
    }
    if (key->type == MODEL_HASH)
        model_delete(key);
}

bool model_expire(model *m)
{
    bool expired = false;

    for (size_t i = 0; i < KEYS; i++) {
        if (m->stamps[i].ttl == TTL_BRIEF) {
            expired = expired || m->stamps[i].revision > 0;
            model_unstamp(m, i);
        }
        if (m->keys[i].ttl != TTL_BRIEF)
            continue;
        model_delete(&m->keys[i]);
        expired = true;
    }
    for (size_t i = 0; i < ENTRIES; i++) {
        if (!m->entries[i].there || m->entries[i].ttl != TTL_BRIEF)
            continue;
        m->entries[i] = (model_entry){0};
        expired = true;
    }
    for (size_t i = 0; i < ITEMS; i++) {
        if (!m->items[i].there || m->items[i].ttl != TTL_BRIEF)
            continue;
        m->items[i].there = false;
        expired = true;
    }
    for (size_t i = 0; i < 2 * (size_t)ITEMS; i++) {
        model_member *one = i < ITEMS ? &m->set[i] : &m->rank[i - ITEMS];

        if (!one->there || one->ttl != TTL_BRIEF)
            continue;
        one->there = false;
        expired = true;
    }
    return expired;
}

blob blob_of(hf_bytes bytes)
{
    blob copy = {.there = true};

    copy.size = bytes.size < BLOB_SIZE ? bytes.size : BLOB_SIZE;
    memcpy(copy.data, bytes.size == 0 ? "" : bytes.data, copy.size);
    return copy;
}

bool blob_is(const blob *a, hf_bytes bytes)
{
    return a->there && a->size == bytes.size &&
           memcmp(a->data, bytes.data, a->size) == 0;
}

void text_add(text *out, const char *format, ...)
{
    size_t room = sizeof(out->at) - out->size;
    va_list list;
    int size;

    va_start(list, format);
    size = vsnprintf(out->at + out->size, room, format, list);
    va_end(list);
    out->size += size < (int)room ? (size_t)size : room - 1;
}

void text_bytes(text *out, hf_bytes bytes)
{
    const unsigned char *at = bytes.data;

    text_add(out, "\"");
    for (size_t i = 0; i < bytes.size; i++)
        text_add(out, at[i] >= ' ' && at[i] <= '~' ? "%c" : "\\x%02x", at[i]);
    text_add(out, "\"");
}

void text_blob(text *out, const blob *bytes)
{
    if (bytes->there)
        text_bytes(out, hf_view(bytes->data, bytes->size));
    else
        text_add(out, "none");
}

void text_ttl(text *out, int64_t left_ms)
{
    if (left_ms >= 0)
        text_add(out, " ttl=%lld",
                 (long long)((left_ms + TTL_UNIT_MS - 1) / TTL_UNIT_MS));
}

void text_status(text *out, hf_status status)
{
    text_add(out, "%s", hf_status_name(status));
}

void text_buffer(text *out, hf_buffer *buffer)
{
    text_add(out, " ");
    if (buffer->data == NULL)
        text_add(out, "none");
    else
        text_bytes(out, hf_view(buffer->data, buffer->size));
    hf_buffer_free(buffer);
}
