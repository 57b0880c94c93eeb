/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packed.c - length-prefixed texts in a record or in tx->scratch, and sorting
 * them.
 *
 * Commands keep copies in scratch while they reply: replying to a script may
 * longjmp() out of the command, and scratch then leaks nothing.
 */
#include "engine/keys/packed.h"

#include <string.h>

/* Cost of a comparison, ns. */
#define ORDER_NS 50u

/* Alignment of hf__packed_buf_room(). */
#define ALIGNMENT 16u

bool hf__packed_next(const unsigned char *data, size_t size, hf__packed *at)
{
    size_t offset = at->offset + at->size;
    uint32_t text_size;

    if (size - offset < HF__PACKED_HEAD)
        return false;
    memcpy(&text_size, data + offset, sizeof(text_size));
    if (text_size > size - offset - HF__PACKED_HEAD)
        return false;
    at->offset = offset;
    at->size = HF__PACKED_HEAD + text_size;
    at->text = hf_view(data + offset + HF__PACKED_HEAD, text_size);
    return true;
}

static void write_text(unsigned char *at, hf_bytes text)
{
    uint32_t size = (uint32_t)text.size;

    memcpy(at, &size, sizeof(size));
    if (text.size > 0)
        memcpy(at + HF__PACKED_HEAD, text.data, text.size);
}

/* ------------------------------------------------------------- in records */

bool hf__packed_fits(const hf__record *record, size_t old, size_t size)
{
    return size <= HF__INLINE_MAX &&
           record->content_size - old + HF__PACKED_HEAD + size <=
               HF__INLINE_MAX;
}

unsigned char *hf__content_splice(hf__tx *tx, hf__record *record, size_t offset,
                                  size_t old, size_t size)
{
    size_t before = record->content_size;
    size_t after = before - old + size;
    unsigned char *content =
        hf__content_edit(tx, record, after > before ? after : before);

    if (content == NULL)
        return NULL;
    memmove(content + offset + size, content + offset + old,
            before - offset - old);
    record->content_size = after;
    return content + offset;
}

bool hf__packed_put(hf__tx *tx, hf__record *record, size_t offset, size_t old,
                    hf_bytes text)
{
    unsigned char *at = hf__content_splice(tx, record, offset, old,
                                           HF__PACKED_HEAD + text.size);

    if (at == NULL)
        return false;
    write_text(at, text);
    return true;
}

void hf__packed_cut(hf__tx *tx, hf__record *record, size_t offset, size_t old)
{
    (void)hf__content_splice(tx, record, offset, old, 0);
}

/* ------------------------------------------------------------------ piles */

bool hf__packed_buf_add(hf__packed_buf *buf, hf_bytes text)
{
    size_t size = HF__PACKED_HEAD + text.size;
    unsigned char *scratch = hf__tx_scratch(buf->tx, buf->size + size);

    if (scratch == NULL)
        return false;
    write_text(scratch + buf->size, text);
    buf->size += size;
    buf->count++;
    return true;
}

bool hf__packed_buf_next(const hf__packed_buf *buf, hf__packed *at)
{
    return hf__packed_next(buf->tx->scratch, buf->size, at);
}

void *hf__packed_buf_room(hf__packed_buf *buf, size_t size)
{
    size_t offset = (buf->size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    unsigned char *scratch = hf__tx_scratch(buf->tx, offset + size + 1);

    return scratch == NULL ? NULL : scratch + offset;
}

hf_bytes hf__packed_buf_at(const hf__packed_buf *buf, size_t offset)
{
    uint32_t size;

    memcpy(&size, buf->tx->scratch + offset, sizeof(size));
    return hf_view(buf->tx->scratch + offset + HF__PACKED_HEAD, size);
}

void hf__packed_buf_filter(hf__packed_buf *buf,
                           bool (*keep)(const void *context, hf_bytes text),
                           const void *context)
{
    hf__packed at = {0};
    size_t size = 0;

    buf->count = 0;
    while (hf__tx_spend(buf->tx, 20) && hf__packed_buf_next(buf, &at)) {
        if (!keep(context, at.text))
            continue;
        memmove(buf->tx->scratch + size, buf->tx->scratch + at.offset, at.size);
        size += at.size;
        buf->count++;
    }
    buf->size = size;
}

size_t *hf__packed_buf_offsets(hf__packed_buf *buf)
{
    size_t *offsets =
        hf__packed_buf_room(buf, 2 * buf->count * sizeof(*offsets));
    hf__packed at = {0};

    for (size_t i = 0; offsets != NULL && hf__packed_buf_next(buf, &at); i++)
        offsets[i] = at.offset;
    return offsets;
}

/* ------------------------------------------------------------------ order */

int hf__bytes_compare(hf_bytes a, hf_bytes b)
{
    size_t shared = a.size < b.size ? a.size : b.size;
    int order = shared > 0 ? memcmp(a.data, b.data, shared) : 0;

    if (order != 0)
        return order;
    return (a.size > b.size) - (a.size < b.size);
}

/* Merge two adjacent sorted runs. false: fatal. */
static bool merge_runs(hf__tx *tx, const size_t *from, size_t *to, size_t start,
                       size_t middle, size_t end, hf__order order,
                       const void *context)
{
    size_t left = start;
    size_t right = middle;

    for (size_t i = start; i < end; i++) {
        if (!hf__tx_spend(tx, ORDER_NS))
            return false;
        if (left < middle &&
            (right == end || order(context, from[left], from[right]) <= 0))
            to[i] = from[left++];
        else
            to[i] = from[right++];
    }
    return true;
}

static size_t lesser_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

void hf__merge_sort(hf__tx *tx, size_t *items, size_t *room, size_t count,
                    hf__order order, const void *context)
{
    size_t *from = items;
    size_t *to = room;

    for (size_t width = 1; width < count && tx->fatal == HF_OK; width *= 2) {
        size_t *sorted = to;

        for (size_t start = 0; start < count; start += 2 * width) {
            if (!merge_runs(
                    tx, from, to, start, lesser_of(start + width, count),
                    lesser_of(start + 2 * width, count), order, context))
                goto end; /* unsorted, but complete */
        }
        to = from;
        from = sorted;
    }
end:
    if (from != items)
        memcpy(items, from, count * sizeof(*items));
}
