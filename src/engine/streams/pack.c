/* SPDX-License-Identifier: Apache-2.0 */
/* pack.c - see pack.h. */
#include "engine/streams/pack.h"

#include "util/bytes.h"

/* Of a number of 64 bits. */
#define NUMBER_MAX 10u

/* --------------------------------------------------------------- reading */

static bool take_number(hf_bytes *from, uint64_t *value)
{
    const unsigned char *at = from->data;
    size_t most = from->size < NUMBER_MAX ? from->size : NUMBER_MAX;

    *value = 0;
    for (size_t i = 0; i < most; i++) {
        *value |= (uint64_t)(at[i] & 0x7f) << 7 * i;
        if ((at[i] & 0x80) == 0) {
            *from = hf_view(at + i + 1, from->size - i - 1);
            return true;
        }
    }
    return false;
}

static bool take_text(hf_bytes *from, hf_bytes *text)
{
    uint64_t size;

    if (!take_number(from, &size) || size > from->size)
        return false;
    *text = hf_view(from->data, (size_t)size);
    *from = hf_view((const unsigned char *)from->data + size,
                    from->size - (size_t)size);
    return true;
}

/* The names of the first entry's fields; *rest is what is behind them. */
static bool read_names(const hf__pack *pack, uint64_t *count, hf_bytes *names,
                       hf_bytes *rest)
{
    hf_bytes text;

    if (pack->data.size == 0)
        return false;
    *rest = hf_view((const unsigned char *)pack->data.data + 1,
                    pack->data.size - 1);
    if (!take_number(rest, count))
        return false;
    *names = *rest;
    for (uint64_t i = 0; i < *count; i++) {
        if (!take_text(rest, &text))
            return false;
    }
    names->size -= rest->size;
    return true;
}

bool hf__pack_names(const hf__pack *pack, uint64_t *count, hf_bytes *names)
{
    hf_bytes rest;

    return read_names(pack, count, names, &rest);
}

bool hf__pack_next_name(hf_bytes *names, hf_bytes *name)
{
    return names->size > 0 && take_text(names, name);
}

static bool read_entry(const hf__pack *pack, hf_bytes body, uint64_t count,
                       hf_bytes names, hf__entry *at)
{
    uint64_t ms, seq;

    if (!take_number(&body, &ms) || !take_number(&body, &seq) ||
        !take_number(&body, &at->left))
        return false;
    at->id =
        (hf__stream_id){pack->id.ms + ms, ms == 0 ? pack->id.seq + seq : seq};
    at->names = hf_view(NULL, 0);
    if (at->left == 0) {
        at->left = count;
        at->names = names;
    }
    at->values = body;
    return true;
}

bool hf__pack_next(const hf__pack *pack, hf__entry *at)
{
    hf_bytes names, rest, body;
    uint64_t count;

    if (!read_names(pack, &count, &names, &rest))
        return false;
    if (at->size > 0)
        rest = hf_view((const unsigned char *)pack->data.data + at->offset +
                           at->size,
                       pack->data.size - at->offset - at->size);
    at->offset = pack->data.size - rest.size;
    if (!take_text(&rest, &body))
        return false;
    at->size = pack->data.size - rest.size - at->offset;
    return read_entry(pack, body, count, names, at);
}

bool hf__entry_next(hf__entry *entry, hf_bytes *name, hf_bytes *value)
{
    if (entry->left == 0)
        return false;
    entry->left--;
    return take_text(entry->names.data != NULL ? &entry->names : &entry->values,
                     name) &&
           take_text(&entry->values, value);
}

bool hf__pack_is_whole(const hf__pack *pack)
{
    hf__stream_id last = pack->id;
    hf_bytes name, value;
    hf__entry at = {0};
    unsigned count = 0;

    while (hf__pack_next(pack, &at)) {
        uint64_t fields = at.left;

        if (fields == 0 || hf__stream_id_compare(at.id, last) < (count > 0))
            return false;
        while (fields > 0 && hf__entry_next(&at, &name, &value))
            fields--;
        if (fields > 0 || at.values.size > 0)
            return false;
        last = at.id;
        count++;
    }
    return count > 0 && count == hf__pack_count(pack) &&
           count <= HF__PACK_ENTRIES && at.offset == pack->data.size;
}

/* --------------------------------------------------------------- writing */

/* Each returns a size; NULL: nothing is written. */

static size_t put_number(unsigned char *to, uint64_t value)
{
    size_t size = 1;

    for (; value >= 0x80; value >>= 7, size++) {
        if (to != NULL)
            *to++ = (unsigned char)(value | 0x80);
    }
    if (to != NULL)
        *to = (unsigned char)value;
    return size;
}

/* Every `step`th text from `first` on. */
static size_t put_texts(unsigned char *to, const hf_bytes *pairs, size_t count,
                        size_t first, size_t step)
{
    size_t size = 0;

    for (size_t i = first; i < 2 * count; i += step) {
        size += put_number(to == NULL ? NULL : to + size, pairs[i].size);
        if (to != NULL && pairs[i].size > 0)
            memcpy(to + size, pairs[i].data, pairs[i].size);
        size += pairs[i].size;
    }
    return size;
}

size_t hf__pack_room(const hf_bytes *pairs, size_t count)
{
    return 4 * NUMBER_MAX + put_texts(NULL, pairs, count, 0, 1);
}

size_t hf__pack_size(const hf_bytes *pairs, size_t count)
{
    return 1 + NUMBER_MAX + put_texts(NULL, pairs, count, 0, 2) +
           hf__pack_room(pairs, count);
}

size_t hf__pack_make(unsigned char *to, const hf_bytes *pairs, size_t count)
{
    size_t size = 1 + put_number(to + 1, count);

    to[0] = 0;
    return size + put_texts(to + size, pairs, count, 0, 2);
}

/* Are the names of the fields those of the pack? */
static bool has_names(const unsigned char *data, size_t size,
                      const hf_bytes *pairs, size_t count)
{
    hf__pack pack = {.data = hf_view(data, size)};
    hf_bytes names, rest, name;
    uint64_t found;

    if (!read_names(&pack, &found, &names, &rest) || found != count)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!take_text(&names, &name) || !hf__bytes_same(name, pairs[2 * i]))
            return false;
    }
    return true;
}

size_t hf__pack_append(unsigned char *to, size_t size, hf__stream_id pack,
                       hf__stream_id id, const hf_bytes *pairs, size_t count)
{
    bool same = has_names(to, size, pairs, count);
    uint64_t ms = id.ms - pack.ms;
    uint64_t seq = ms == 0 ? id.seq - pack.seq : id.seq;
    size_t first = same ? 1 : 0, step = same ? 2 : 1;

    size +=
        put_number(to + size, put_number(NULL, ms) + put_number(NULL, seq) +
                                  put_number(NULL, same ? 0 : count) +
                                  put_texts(NULL, pairs, count, first, step));
    size += put_number(to + size, ms);
    size += put_number(to + size, seq);
    size += put_number(to + size, same ? 0 : count);
    size += put_texts(to + size, pairs, count, first, step);
    to[0]++;
    return size;
}
