/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_items.c - see timeline_items.h.
 *
 * Items, their attributes, and the bytes of both are one piece of memory.
 */
#include "data/timeline_items.h"

#include <string.h>

#include "data/timeline_labels.h"
#include "holdfast/timeline.h"
#include "util/error.h"
#include "util/mem.h"

/* Of an item in the reply. */
enum { ID, AT, TTL, PAYLOAD, LABELS, ITEM_WORDS };

void hf_timeline_items_free(hf_timeline_items *items)
{
    if (items == NULL)
        return;
    hf__free(items->items);
    *items = (hf_timeline_items)HF_TIMELINE_ITEMS_INIT;
}

void hf__add_timeline(hf_call *call, hf_bytes key, size_t count)
{
    hf__reserve(call, 5 + count);
    hf__add_key(call, key);
    hf__add_own_key(call, HF__ROLE_ITEMS, key);
    hf__add_own_key(call, HF__ROLE_LABELS, key);
    hf__add_own_key(call, HF__ROLE_DUE, key);
    hf__add_own_key(call, HF__ROLE_ORDER, key);
}

void hf__add_id(hf_call *call, hf_bytes id)
{
    if (id.data == NULL && id.size > 0)
        (void)HF__TRY(call, hf__check_out(NULL, "id", call->form.err));
    else if (id.size >= 1 && id.size <= HF_TIMELINE_ID_MAX)
        hf__add(call, id);
    else if (call->prepared == HF_OK)
        call->prepared = hf__fail(call->form.err, HF_INVALID,
                                  "id has %zu bytes; it must have 1..%d",
                                  id.size, HF_TIMELINE_ID_MAX);
}

hf_status hf__check_time(int64_t at_ms, const char *what, hf_error *err)
{
    return hf__check_range(at_ms, 0, HF_TIMELINE_AT_MAX_MS, what, err);
}

/* Item `i`: one of its words. */
static const hf_reply *word_at(const hf_reply *reply, size_t i, size_t which)
{
    return &reply->array.items[HF__ITEMS_FIRST + i * ITEM_WORDS + which];
}

/* How much memory it takes; false: attributes are damaged. */
static bool measure_items(const hf_reply *reply, size_t count,
                          size_t *attributes, size_t *size)
{
    *attributes = 0;
    *size = 2 * reply->array.items[0].bytes.size + 1;
    for (size_t i = 0; i < count; i++) {
        hf_bytes labels = hf_reply_bytes(word_at(reply, i, LABELS));
        size_t found = hf__labels_count(labels);

        if (found == SIZE_MAX)
            return false;
        *attributes += found;
        *size += word_at(reply, i, ID)->bytes.size + 1 +
                 word_at(reply, i, PAYLOAD)->bytes.size + 1 + labels.size;
    }
    *size +=
        count * sizeof(hf_timeline_item) + *attributes * sizeof(hf_attribute);
    return true;
}

static hf_bytes put_bytes(char **at, const hf_reply *reply)
{
    char *begin = *at;

    memcpy(begin, reply->bytes.data, reply->bytes.size);
    begin[reply->bytes.size] = '\0';
    *at += reply->bytes.size + 1;
    return hf_view(begin, reply->bytes.size);
}

static hf_bytes put_hex(char **at, const hf_reply *reply)
{
    const unsigned char *bytes = (const unsigned char *)reply->bytes.data;
    char *begin = *at;

    for (size_t i = 0; i < reply->bytes.size; i++) {
        *(*at)++ = "0123456789abcdef"[bytes[i] >> 4];
        *(*at)++ = "0123456789abcdef"[bytes[i] & 15];
    }
    *(*at)++ = '\0';
    return hf_view(begin, 2 * reply->bytes.size);
}

hf_status hf__set_cursor(hf_buffer *cursor, const hf_reply *position,
                         hf_error *err)
{
    char *text = hf__alloc(2 * position->bytes.size + 1);
    char *at = text;

    if (text == NULL)
        return hf__fail(err, HF_NO_MEMORY, "a cursor");
    cursor->size = put_hex(&at, position).size;
    cursor->data = text;
    return HF_OK;
}

/* false: attributes are damaged. */
static bool put_item(hf_timeline_item *item, const hf_reply *reply, size_t i,
                     hf_attribute **attributes, char **at)
{
    hf_bytes labels = hf_reply_bytes(word_at(reply, i, LABELS));

    item->id = put_bytes(at, word_at(reply, i, ID));
    item->payload = put_bytes(at, word_at(reply, i, PAYLOAD));
    item->at_ms = word_at(reply, i, AT)->integer / HF__US_PER_MS;
    item->ttl_ms = word_at(reply, i, TTL)->integer;
    item->attributes = *attributes;
    item->attribute_count = 0;
    for (; labels.size > 0; item->attribute_count++) {
        if (!hf__label_take(&labels, (*attributes)++, at))
            return false;
    }
    return true;
}

static hf_status fail_damaged(hf_error *err)
{
    return hf__fail(err, HF_CORRUPT, "attributes of an item are damaged");
}

hf_status hf__finish_items(hf_call *call, hf_error *err)
{
    const hf_reply *reply = &call->request.reply;
    size_t count = (reply->array.count - HF__ITEMS_FIRST) / ITEM_WORDS;
    hf_timeline_items *out = call->out;
    hf_timeline_item *items;
    hf_attribute *attributes;
    size_t attribute_count, size;
    hf_bytes next;
    char *at;

    if (!measure_items(reply, count, &attribute_count, &size))
        return fail_damaged(err);
    items = hf__alloc(size);
    if (items == NULL)
        return hf__fail(err, HF_NO_MEMORY, "%zu items of %zu bytes", count,
                        size);
    attributes = (hf_attribute *)(void *)(items + count);
    at = (char *)(attributes + attribute_count);
    next = put_hex(&at, &reply->array.items[0]);
    for (size_t i = 0; i < count; i++) {
        if (!put_item(&items[i], reply, i, &attributes, &at)) {
            hf__free(items);
            return fail_damaged(err);
        }
    }
    out->next = next;
    out->items = items;
    out->count = count;
    return HF_OK;
}
