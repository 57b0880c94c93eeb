/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rdb_read.c - reading a value in all forms that Redis has for it.
 */
#include <math.h>
#include <stdio.h>

#include "engine/keys/command_reply.h"
#include "engine/keys/number_text.h"
#include "engine/keys/rdb.h"
#include "store/limits.h"
#include "util/crc64.h"
#include "util/error.h"

bool hf__rdb_tail_fits(hf_bytes data)
{
    const unsigned char *tail = data.data;
    uint64_t sum;

    if (data.size < HF__RDB_TAIL)
        return false;
    tail += data.size - HF__RDB_TAIL;
    sum = (uint64_t)hf__rdb_integer(tail + 2, 8);
    return (uint16_t)hf__rdb_integer(tail, 2) <= HF__RDB_VERSION_DEADLINES &&
           sum == hf__crc64(0, data.data, data.size - 8);
}

bool hf__rdb_claim(hf__rdb_source *from, uint64_t size)
{
    if (size > from->room)
        return false;
    from->room -= size;
    return true;
}

static bool add_element(hf__rdb_source *from, hf_bytes text, double score)
{
    return hf__rdb_claim(from, HF__RDB_ELEMENT_SIZE) &&
           hf__members_refer(from->list, text, score);
}

bool hf__rdb_take_bytes(hf__rdb_source *from, uint64_t size,
                        const unsigned char **data)
{
    if (size > from->left)
        return false;
    *data = from->at;
    from->at += size;
    from->left -= size;
    return true;
}

/* A length, or what the first byte of a special string says. */
static bool read_length(hf__rdb_source *from, uint64_t *length, bool *special)
{
    const unsigned char *at;
    unsigned size = 1;

    if (!hf__rdb_take_bytes(from, 1, &at))
        return false;
    *length = *at & 0x3f;
    *special = *at >= HF__RDB_SPECIAL;
    if (*at < HF__RDB_14_BITS || *special)
        return true;
    if (*at == HF__RDB_32_BITS || *at == HF__RDB_64_BITS) {
        size = *at == HF__RDB_32_BITS ? 4 : 8;
        *length = 0;
    } else if (*at > HF__RDB_64_BITS) {
        return false;
    }
    if (!hf__rdb_take_bytes(from, size, &at))
        return false;
    for (unsigned i = 0; i < size; i++)
        *length = *length << 8 | at[i];
    return true;
}

bool hf__rdb_take_count(hf__rdb_source *from, uint64_t *count)
{
    bool special;

    return read_length(from, count, &special) && !special;
}

/* LZF writes at most 264 bytes for 3. */
static bool read_compressed(hf__rdb_source *from, hf_bytes *text)
{
    uint64_t packed_size, size;
    const unsigned char *packed;
    unsigned char *room;

    if (!hf__rdb_take_count(from, &packed_size) ||
        !hf__rdb_take_count(from, &size) ||
        !hf__rdb_take_bytes(from, packed_size, &packed) ||
        size / 88 > packed_size || !hf__is_value_size(size) ||
        !hf__rdb_claim(from, size))
        return false;
    room = hf__tx_alloc(from->tx, (size_t)size);
    *text = hf_view(room, (size_t)size);
    return room != NULL && hf__tx_spend(from->tx, (size_t)size) &&
           hf__rdb_decompress(hf_view(packed, (size_t)packed_size), room,
                              (size_t)size);
}

bool hf__rdb_take_string(hf__rdb_source *from, hf_bytes *text)
{
    const unsigned char *at;
    uint64_t size;
    bool special;

    if (!hf__tx_spend(from->tx, 50) || !read_length(from, &size, &special))
        return false;
    if (special && size < 3) {
        unsigned width = 1u << size;

        return hf__rdb_take_bytes(from, width, &at) &&
               hf__rdb_number(from->tx, hf__rdb_integer(at, width), text);
    }
    if (special)
        return size == 3 && read_compressed(from, text);
    if (!hf__rdb_take_bytes(from, size, &at))
        return false;
    *text = hf_view(at, (size_t)size);
    return true;
}

/* It can be read, but not stored. `name`: whose it is. */
static bool refuse_value(hf__rdb_source *from, const char *what, hf_bytes name,
                         const char *why)
{
    char quoted[HF__QUOTED_SIZE];

    hf__reply_error(from->tx, "ERR Bad data format: %s %s %s", what,
                    hf__quoted(quoted, name), why);
    from->replied = true;
    return false;
}

static bool read_double(hf__rdb_source *from, double *value)
{
    const unsigned char *at;
    int64_t bits;

    if (!hf__rdb_take_bytes(from, 8, &at))
        return false;
    bits = hf__rdb_integer(at, 8);
    memcpy(value, &bits, sizeof(bits));
    return true;
}

/* As text, with its size; what is no finite number has a size of its own. */
static bool read_text_double(hf__rdb_source *from, double *value)
{
    const unsigned char *size, *text;

    if (!hf__rdb_take_bytes(from, 1, &size))
        return false;
    switch (*size) {
    case HF__RDB_NAN:
        *value = (double)NAN;
        return true;
    case HF__RDB_INF:
    case HF__RDB_MINUS_INF:
        *value = *size == HF__RDB_INF ? HUGE_VAL : -HUGE_VAL;
        return true;
    default:
        return hf__rdb_take_bytes(from, *size, &text) &&
               hf__number_double(hf_view(text, *size), value) == HF_OK;
    }
}

/* ------------------------------------------------------------- collections */

static bool read_strings(hf__rdb_source *from, unsigned each)
{
    uint64_t count;
    hf_bytes text;

    if (!hf__rdb_take_count(from, &count) || count > from->left)
        return false;
    for (count *= each; count > 0; count--) {
        if (!hf__rdb_take_string(from, &text) || !add_element(from, text, 0))
            return false;
    }
    return true;
}

typedef bool read_score(hf__rdb_source *from, double *score);

static bool read_scored(hf__rdb_source *from, read_score *take)
{
    uint64_t count;
    hf_bytes text;
    double score;

    if (!hf__rdb_take_count(from, &count))
        return false;
    for (; count > 0; count--) {
        if (!hf__rdb_take_string(from, &text) || !take(from, &score))
            return false;
        if (!hf__is_score(score))
            return refuse_value(from, "the score of member", text,
                                "is not a number");
        if (!add_element(from, text, score))
            return false;
    }
    return true;
}

static bool refuse_deadline(hf__rdb_source *from, hf_bytes field,
                            int64_t first_ms, uint64_t after)
{
    char text[96];

    (void)snprintf(text, sizeof(text),
                   "is %lld + %llu ms; at most %lld are allowed",
                   (long long)first_ms, (unsigned long long)after - 1,
                   (long long)HF__DEADLINE_MAX);
    return refuse_value(from, "the deadline of field", field, text);
}

/* Deadlines count from the first one, which is 1; 0: none. */
static bool read_deadlines(hf__rdb_source *from)
{
    const unsigned char *first;
    uint64_t count, after;
    hf_bytes field, value;
    int64_t first_ms, deadline_ms;

    if (!hf__rdb_take_bytes(from, 8, &first) ||
        !hf__rdb_take_count(from, &count))
        return false;
    first_ms = hf__rdb_integer(first, 8);
    for (; count > 0; count--) {
        deadline_ms = 0;
        if (!hf__rdb_take_count(from, &after) ||
            !hf__rdb_take_string(from, &field) ||
            !hf__rdb_take_string(from, &value))
            return false;
        if (after > 0 &&
            (__builtin_add_overflow(first_ms, after - 1, &deadline_ms) ||
             !hf__is_deadline(deadline_ms)))
            return refuse_deadline(from, field, first_ms, after);
        if (!add_element(from, field, (double)deadline_ms) ||
            !add_element(from, value, 0))
            return false;
    }
    return true;
}

typedef bool open_packed(hf__rdb_packed *packed, hf__tx *tx, hf_bytes data);

/* A string that holds elements. */
static bool read_packed(hf__rdb_source *from, open_packed *open)
{
    hf__rdb_packed packed;
    hf_bytes data, text;

    if (!hf__rdb_take_string(from, &data) || !open(&packed, from->tx, data))
        return false;
    while (packed.next(&packed, &text)) {
        if (!hf__tx_spend(from->tx, 50) || !add_element(from, text, 0))
            return false;
    }
    return !packed.bad && packed.left == 0;
}

/* Members and scores by turns become members with scores. */
static bool read_packed_scores(hf__rdb_source *from, open_packed *open)
{
    hf__members *list = from->list;

    if (!read_packed(from, open) || list->count % 2 != 0)
        return false;
    for (size_t i = 0; i < list->count / 2; i++) {
        list->items[i] = list->items[2 * i];
        if (hf__number_double(list->items[2 * i + 1].name,
                              &list->items[i].score) != HF_OK)
            return false;
    }
    list->count /= 2;
    return true;
}

/* `plain`: each node says whether it is one element. */
static bool read_nodes(hf__rdb_source *from, open_packed *open, bool plain)
{
    uint64_t count, kind = 2;
    hf_bytes text;

    if (!hf__rdb_take_count(from, &count))
        return false;
    for (; count > 0; count--) {
        if (plain && !hf__rdb_take_count(from, &kind))
            return false;
        if (kind == 2 && !read_packed(from, open))
            return false;
        if (kind == 1 &&
            (!hf__rdb_take_string(from, &text) || !add_element(from, text, 0)))
            return false;
        if (kind != 1 && kind != 2)
            return false;
    }
    return true;
}

static bool read_content(hf__rdb_source *from, unsigned type)
{
    hf_bytes text;

    switch (type) {
    case HF__RDB_STRING:
        return hf__rdb_take_string(from, &text) && add_element(from, text, 0);
    case HF__RDB_LIST:
    case HF__RDB_SET:
        return read_strings(from, 1);
    case HF__RDB_HASH:
        return read_strings(from, 2);
    case HF__RDB_ZSET:
        return read_scored(from, read_double);
    case HF__RDB_ZSET_TEXT:
        return read_scored(from, read_text_double);
    case HF__RDB_HASH_DEADLINES:
        return read_deadlines(from);
    case HF__RDB_SET_INTSET:
        return read_packed(from, hf__rdb_intset);
    case HF__RDB_LIST_ZIPLIST:
    case HF__RDB_HASH_ZIPLIST:
        return read_packed(from, hf__rdb_ziplist);
    case HF__RDB_HASH_LISTPACK:
    case HF__RDB_SET_LISTPACK:
        return read_packed(from, hf__rdb_listpack);
    case HF__RDB_ZSET_ZIPLIST:
        return read_packed_scores(from, hf__rdb_ziplist);
    case HF__RDB_ZSET_LISTPACK:
        return read_packed_scores(from, hf__rdb_listpack);
    case HF__RDB_LIST_ZIPLISTS:
        return read_nodes(from, hf__rdb_ziplist, false);
    case HF__RDB_LIST_LISTPACKS:
        return read_nodes(from, hf__rdb_listpack, true);
    default:
        return false;
    }
}

static hf__type type_of(unsigned type)
{
    switch (type) {
    case HF__RDB_STRING:
        return HF__TYPE_STRING;
    case HF__RDB_LIST:
    case HF__RDB_LIST_ZIPLIST:
    case HF__RDB_LIST_ZIPLISTS:
    case HF__RDB_LIST_LISTPACKS:
        return HF__TYPE_LIST;
    case HF__RDB_SET:
    case HF__RDB_SET_INTSET:
    case HF__RDB_SET_LISTPACK:
        return HF__TYPE_SET;
    case HF__RDB_ZSET:
    case HF__RDB_ZSET_TEXT:
    case HF__RDB_ZSET_ZIPLIST:
    case HF__RDB_ZSET_LISTPACK:
        return HF__TYPE_ZSET;
    default:
        return HF__TYPE_HASH;
    }
}

static bool is_stream(unsigned type)
{
    return type == HF__RDB_STREAM || type == HF__RDB_STREAM_2 ||
           type == HF__RDB_STREAM_3;
}

bool hf__rdb_read(hf__tx *tx, hf_bytes data, hf__rdb_value *value)
{
    hf__rdb_source from = {tx,           data.data,
                           data.size,    tx->env->sidecar.map->max_size,
                           &value->list, false};
    const unsigned char *type = NULL;

    hf__members_init(&value->list, tx);
    value->data = data;
    if (data.size > 0 && is_stream(*(const unsigned char *)data.data)) {
        value->type = HF__TYPE_STREAM;
        return true;
    }
    if (hf__rdb_take_bytes(&from, 1, &type) && read_content(&from, *type)) {
        value->type = type_of(*type);
        if (from.left == 0 && value->list.count > 0 &&
            (value->type != HF__TYPE_HASH || value->list.count % 2 == 0))
            return true;
    }
    if (!from.replied)
        hf__reply_error(tx, "ERR Bad data format");
    return false;
}
