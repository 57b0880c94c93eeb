/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_rdb.c - see stream_rdb.h.
 *
 * A stream is its nodes, each an id and a listpack; its length, last id and,
 * since Redis 7.0, first id, highest deleted id and number of entries ever
 * added; then its groups. A node is the number of its entries and of those that
 * are deleted; the fields of the first entry, as their number, names and a 0;
 * then for each entry flags, what its id is more than the node's, its fields,
 * and the number of these elements. A group has the list of its pending
 * entries, and each consumer the ids of its own.
 */
#include "engine/streams/stream_rdb.h"

#include <stdlib.h>
#include <string.h>

#include "engine/keys/command_reply.h"
#include "engine/keys/number_text.h"
#include "engine/keys/rdb.h"
#include "engine/streams/stream_records.h"
#include "util/bytes.h"

enum { ENTRY_DELETED = 1, ENTRY_SAME_FIELDS = 2 };

/* -------------------------------------------------------------------- DUMP */

static void put_id(hf__rdb_out *to, hf__stream_id id)
{
    hf__rdb_put_length(to, id.ms);
    hf__rdb_put_length(to, id.seq);
}

/* 16 bytes, which sort. */
static void put_sorted_id(hf__rdb_out *to, hf__stream_id id)
{
    unsigned char bytes[16];

    hf__put_be64(bytes, id.ms);
    hf__put_be64(bytes + 8, id.seq);
    hf__rdb_put_bytes(to, bytes, sizeof(bytes));
}

static void put_entry(hf__rdb_listpack_out *out, const hf__pack *pack,
                      hf__entry *entry)
{
    bool same = entry->names.data != NULL;
    int64_t fields = (int64_t)entry->left;
    hf_bytes name, value;

    hf__rdb_listpack_number(out, same ? ENTRY_SAME_FIELDS : 0);
    hf__rdb_listpack_number(out, (int64_t)(entry->id.ms - pack->id.ms));
    hf__rdb_listpack_number(out, (int64_t)(entry->id.seq - pack->id.seq));
    if (!same)
        hf__rdb_listpack_number(out, fields);
    while (hf__entry_next(entry, &name, &value)) {
        if (!same)
            hf__rdb_listpack_text(out, name);
        hf__rdb_listpack_text(out, value);
    }
    hf__rdb_listpack_number(out, same ? fields + 3 : 2 * fields + 4);
}

static void put_pack(hf__rdb_out *to, const hf__pack *pack)
{
    hf__rdb_listpack_out out;
    uint64_t fields = 0;
    hf_bytes names, name;
    hf__entry entry = {0};

    hf__rdb_put_length(to, 16);
    put_sorted_id(to, pack->id);
    hf__rdb_listpack_begin(&out, to);
    hf__rdb_listpack_number(&out, hf__pack_count(pack));
    hf__rdb_listpack_number(&out, 0);
    if (hf__pack_names(pack, &fields, &names)) {
        hf__rdb_listpack_number(&out, (int64_t)fields);
        while (hf__pack_next_name(&names, &name))
            hf__rdb_listpack_text(&out, name);
    }
    hf__rdb_listpack_number(&out, 0);
    while (hf__pack_next(pack, &entry)) {
        hf__entry rest = entry;

        put_entry(&out, pack, &rest);
    }
    hf__rdb_listpack_end(&out);
}

static void put_packs(hf__rdb_out *to, hf__open_stream *s)
{
    hf__stream_id id = HF__STREAM_ID_FIRST;
    hf__pack pack;

    hf__rdb_put_length(to, s->head.packs);
    for (uint32_t i = 0; i < s->head.packs && hf__stream_pack(s, id, &pack);
         i++) {
        put_pack(to, &pack);
        hf__rdb_flush(to);
        id = pack.id;
        (void)hf__stream_id_next(&id);
    }
}

static void put_pending(hf__rdb_out *to, hf__open_stream *s, uint32_t consumer,
                        uint64_t count)
{
    hf__stream_id id = HF__STREAM_ID_FIRST;
    hf__unacked pending;

    hf__rdb_put_length(to, count);
    for (; count > 0 && to->tx->fatal == HF_OK; count--) {
        if (!hf__unacked_seek(s, consumer, HF__SEEK_FROM, &id) ||
            !hf__unacked_get(s, id, &pending)) {
            hf__tx_fail(to->tx, MDB_CORRUPTED);
            return;
        }
        put_sorted_id(to, id);
        hf__rdb_flush(to);
        if (consumer == 0) {
            hf__rdb_put_integer(to, (uint64_t)pending.since_ms, 8);
            hf__rdb_put_length(to, pending.deliveries);
        }
        (void)hf__stream_id_next(&id);
    }
}

static void put_group(hf__rdb_out *to, hf__open_stream *s, hf_bytes name)
{
    hf__members consumers;
    hf__consumer consumer;

    if (!hf__group_get(s, name))
        return;
    hf__stream_list(s, HF__CONSUMERS, &consumers);
    hf__rdb_put_string(to, name);
    put_id(to, s->group.last);
    hf__rdb_put_length(to, (uint64_t)s->group.read);
    put_pending(to, s, 0, s->group.pending);
    hf__rdb_put_length(to, consumers.count);
    for (size_t i = 0; i < consumers.count && to->tx->fatal == HF_OK; i++) {
        hf__consumer_get(s, (uint32_t)consumers.items[i].score, &consumer);
        hf__rdb_put_string(to, consumers.items[i].name);
        hf__rdb_put_integer(to, (uint64_t)consumer.state.seen_ms, 8);
        put_pending(to, s, consumer.number, consumer.state.pending);
    }
}

void hf__stream_dump(hf__rdb_out *to, hf__record *record)
{
    hf__entry first = {.id = HF__STREAM_ID_FIRST};
    hf__members groups;
    hf__open_stream s;

    if (!hf__stream_load(&s, to->tx, record))
        return;
    hf__stream_list(&s, HF__GROUPS, &groups);
    (void)hf__stream_edge(&s, false, &first);
    hf__rdb_put_type(to, HF__RDB_STREAM_2);
    put_packs(to, &s);
    hf__rdb_put_length(to, record->count);
    put_id(to, s.head.last);
    put_id(to, first.id);
    put_id(to, s.head.deleted);
    hf__rdb_put_length(to, s.head.added);
    hf__rdb_put_length(to, groups.count);
    for (size_t i = 0; i < groups.count && to->tx->fatal == HF_OK; i++)
        put_group(to, &s, groups.items[i].name);
}

/* ----------------------------------------------------------------- RESTORE */

#define DIGITS 20u /* at most, of a number with its sign */

/* Room for the texts of one node or entry after the other: each may have many,
 * and there may be many that are not stored. */
typedef struct field_room {
    hf_bytes *pairs;
    char *digits; /* of those that are numbers */
    size_t count; /* of pairs */
} field_room;

/* What is read; it is also stored if s.record is not NULL. */
typedef struct stream_restore {
    hf__rdb_source from;
    hf__open_stream s;
    unsigned type;
    uint64_t count;   /* of entries */
    uint64_t deleted; /* those that are not counted there */
    hf__stream_id last;
    field_room names; /* of a node, with values of an entry */
    field_room other; /* of an entry with other names */
} stream_restore;

static bool reserve_fields(stream_restore *to, field_room *room, size_t count)
{
    size_t each = 2 * (sizeof(*room->pairs) + DIGITS);

    if (count <= room->count)
        return true;
    if (count < 2 * room->count)
        count = 2 * room->count;
    if (!hf__rdb_claim(&to->from, count * each))
        return false;
    room->pairs = hf__tx_alloc(to->from.tx, count * each);
    if (room->pairs == NULL)
        return false;
    room->digits = (char *)(room->pairs + 2 * count);
    room->count = count;
    return true;
}

static bool take_id(stream_restore *to, hf__stream_id *id)
{
    return hf__rdb_take_count(&to->from, &id->ms) &&
           hf__rdb_take_count(&to->from, &id->seq);
}

static bool take_sorted_id(stream_restore *to, hf__stream_id *id)
{
    const unsigned char *at;

    if (!hf__rdb_take_bytes(&to->from, 16, &at))
        return false;
    *id = (hf__stream_id){hf__get_be64(at), hf__get_be64(at + 8)};
    return true;
}

/* Unix time, ms. */
static bool take_time(stream_restore *to, int64_t *value)
{
    const unsigned char *at;

    if (!hf__rdb_take_bytes(&to->from, 8, &at))
        return false;
    *value = hf__rdb_integer(at, 8);
    return *value >= 0;
}

/* One that is stored, and replied, as a signed one. */
static bool take_signed(stream_restore *to, uint64_t *count)
{
    return hf__rdb_take_count(&to->from, count) && *count <= INT64_MAX;
}

static bool next_number(hf__rdb_packed *list, int64_t *value)
{
    char digits[HF__NUMBER_TEXT_SIZE];
    hf_bytes text;
    bool found;

    list->digits = digits;
    found = list->next(list, &text) && hf__number_integer(text, value);
    list->digits = NULL;
    return found;
}

/* Every `step`th text from `first` on. */
static bool next_texts(hf__rdb_packed *list, field_room *room, size_t count,
                       size_t first, size_t step)
{
    /* Those of values follow those of names, which stay. */
    list->digits = room->digits + (first > 0 ? room->count * DIGITS : 0);
    for (size_t i = first; i < 2 * count; i += step) {
        if (!list->next(list, &room->pairs[i]))
            return false;
    }
    return true;
}

/* A number of fields, each of which takes at least two bytes. */
static bool next_count(hf__rdb_packed *list, size_t *count)
{
    int64_t number;

    if (!next_number(list, &number) || number < 1 ||
        (uint64_t)number > list->left / 2)
        return false;
    *count = (size_t)number;
    return true;
}

/* Its fields are read. */
static bool add_entry(stream_restore *to, hf__stream_id id,
                      const hf_bytes *pairs, size_t count)
{
    if (hf__stream_id_compare(id, to->last) <= 0)
        return false;
    to->last = id;
    to->count++;
    if (to->s.record != NULL)
        hf__stream_append(&to->s, id, pairs, count);
    return true;
}

/* An entry behind its flags; the node has `count` names. */
static bool take_entry(stream_restore *to, hf__rdb_packed *list, int64_t flags,
                       hf__stream_id node, size_t count)
{
    bool same = (flags & ENTRY_SAME_FIELDS) != 0;
    field_room *room = same ? &to->names : &to->other;
    int64_t ms, seq, size;
    hf__stream_id id;

    if (!next_number(list, &ms) || !next_number(list, &seq) ||
        (!same &&
         (!next_count(list, &count) || !reserve_fields(to, room, count))) ||
        !next_texts(list, room, count, same ? 1 : 0, same ? 2 : 1) ||
        !next_number(list, &size) ||
        !hf__tx_spend(to->from.tx, 100 + 20 * count))
        return false;
    id = (hf__stream_id){node.ms + (uint64_t)ms, node.seq + (uint64_t)seq};
    if ((flags & ENTRY_DELETED) == 0)
        return add_entry(to, id, room->pairs, count);
    to->deleted++;
    return hf__rdb_claim(&to->from, HF__RDB_ELEMENT_SIZE);
}

static bool take_node(stream_restore *to)
{
    hf__rdb_packed list;
    hf_bytes key, data;
    int64_t live, deleted, end, flags;
    hf__stream_id node;
    size_t count;
    uint64_t before = to->count;

    if (!hf__rdb_take_string(&to->from, &key) || key.size != 16 ||
        !hf__rdb_take_string(&to->from, &data) ||
        !hf__rdb_listpack(&list, to->from.tx, data) ||
        !next_number(&list, &live) || !next_number(&list, &deleted) ||
        !next_count(&list, &count) || !reserve_fields(to, &to->names, count) ||
        !next_texts(&list, &to->names, count, 0, 2) ||
        !next_number(&list, &end))
        return false;
    node = (hf__stream_id){hf__get_be64(key.data),
                           hf__get_be64((const unsigned char *)key.data + 8)};
    to->deleted = 0;
    while (list.left > 0) {
        if (!next_number(&list, &flags) ||
            !take_entry(to, &list, flags, node, count))
            return false;
    }
    return !list.bad && to->count - before == (uint64_t)live &&
           to->deleted == (uint64_t)deleted;
}

/* ------------------------------------------------------------------ groups */

typedef struct owed {
    hf__stream_id id;
    hf__unacked pending;
    bool taken; /* by a consumer */
} owed;

/* A name of a group or consumer. Those of a list that is only checked go into
 * it. */
static bool take_name(stream_restore *to, hf__members *list, hf_bytes *name)
{
    return hf__rdb_take_string(&to->from, name) &&
           hf__rdb_claim(&to->from, HF__RDB_ELEMENT_SIZE) &&
           (to->s.record != NULL || hf__members_refer(list, *name, 0));
}

static bool are_different(hf__members *list)
{
    hf__members_sort_names(list);
    for (size_t i = 1; i < list->count; i++) {
        if (hf__bytes_same(list->items[i - 1].name, list->items[i].name))
            return false;
    }
    return true;
}

/* The pending entries of a group, in tx->arena. */
static bool take_owed(stream_restore *to, owed **list, uint64_t *count)
{
    if (!hf__rdb_take_count(&to->from, count) ||
        *count > to->from.left / (16 + 8 + 1))
        return false;
    *list = hf__tx_alloc(to->from.tx, ((size_t)*count + 1) * sizeof(**list));
    if (*list == NULL)
        return false;
    for (uint64_t i = 0; i < *count; i++) {
        owed *one = &(*list)[i];

        memset(one, 0, sizeof(*one));
        if (!take_sorted_id(to, &one->id) ||
            !take_time(to, &one->pending.since_ms) ||
            !take_signed(to, &one->pending.deliveries) ||
            (i > 0 && hf__stream_id_compare((*list)[i - 1].id, one->id) >= 0))
            return false;
    }
    return true;
}

static int compare_owed(const void *id, const void *one)
{
    return hf__stream_id_compare(*(const hf__stream_id *)id,
                                 ((const owed *)one)->id);
}

/* A consumer and the ids that it has; *left become fewer. */
static bool take_consumer(stream_restore *to, hf_bytes name, owed *list,
                          uint64_t owed_count, uint64_t *left)
{
    bool put = to->s.record != NULL;
    const unsigned char *active_ms;
    hf__stream_id id;
    int64_t seen_ms;
    uint64_t count;

    if (!take_time(to, &seen_ms) ||
        (to->type == HF__RDB_STREAM_3 &&
         !hf__rdb_take_bytes(&to->from, 8, &active_ms)) ||
        !hf__rdb_take_count(&to->from, &count) || count > *left ||
        (put && !hf__consumer_enter(&to->s, 0, name, seen_ms)))
        return false;
    *left -= count;
    for (; count > 0; count--) {
        owed *one =
            take_sorted_id(to, &id)
                ? bsearch(&id, list, owed_count, sizeof(*list), compare_owed)
                : NULL;

        if (one == NULL || one->taken) /* already */
            return false;
        one->taken = true;
        one->pending.consumer = to->s.consumer.number;
        if (put)
            hf__unacked_put(&to->s, id, &one->pending);
    }
    if (put)
        hf__consumer_save(&to->s);
    return true;
}

/* All consumers, which have all pending entries. */
static bool take_consumers(stream_restore *to, owed *list, uint64_t owed_count)
{
    uint64_t count, left = owed_count;
    hf__members names;
    hf_bytes name;

    hf__members_init(&names, to->from.tx);
    if (!hf__rdb_take_count(&to->from, &count))
        return false;
    for (; count > 0; count--) {
        if (!take_name(to, &names, &name) ||
            !take_consumer(to, name, list, owed_count, &left))
            return false;
    }
    return left == 0 && are_different(&names);
}

/* How many entries a group has read. */
static bool take_read(stream_restore *to, hf__stream_id last, int64_t *read)
{
    uint64_t count = 0;

    if (to->type != HF__RDB_STREAM && !hf__rdb_take_count(&to->from, &count))
        return false;
    *read = (int64_t)count;
    if (to->type == HF__RDB_STREAM && to->s.record != NULL)
        *read = hf__stream_rank(&to->s, last);
    return *read >= HF__GROUP_READ_UNKNOWN;
}

static bool take_group(stream_restore *to, hf__members *names)
{
    uint64_t owed_count;
    int64_t read;
    hf__stream_id last;
    hf_bytes name;
    owed *list;

    if (!take_name(to, names, &name) || !take_id(to, &last) ||
        !take_read(to, last, &read) || !take_owed(to, &list, &owed_count) ||
        (to->s.record != NULL && !hf__group_make(&to->s, name, last, read)) ||
        !take_consumers(to, list, owed_count))
        return false;
    if (to->s.record != NULL)
        hf__group_save(&to->s);
    return to->from.tx->fatal == HF_OK;
}

/* ------------------------------------------------------------------- whole */

static bool take_head(stream_restore *to)
{
    hf__stream_head *head = &to->s.head;
    uint64_t length;
    hf__stream_id first;

    if (!hf__rdb_take_count(&to->from, &length) || length != to->count ||
        !take_id(to, &head->last) ||
        hf__stream_id_compare(head->last, to->last) < 0)
        return false;
    head->added = length;
    return to->type == HF__RDB_STREAM ||
           (take_id(to, &first) && take_id(to, &head->deleted) &&
            take_signed(to, &head->added) && head->added >= length);
}

static bool take_stream(stream_restore *to)
{
    const unsigned char *type;
    hf__members groups;
    uint64_t count;

    hf__members_init(&groups, to->from.tx);
    if (!hf__rdb_take_bytes(&to->from, 1, &type) ||
        !hf__rdb_take_count(&to->from, &count))
        return false;
    to->type = *type;
    for (; count > 0; count--) {
        if (!take_node(to))
            return false;
    }
    if (!take_head(to) || !hf__rdb_take_count(&to->from, &count))
        return false;
    if (to->s.record != NULL)
        hf__stream_save(&to->s);
    for (; count > 0; count--) {
        if (!take_group(to, &groups))
            return false;
    }
    return to->from.left == 0 && are_different(&groups);
}

/* `record` NULL: it is only checked. */
static bool restore_stream(hf__tx *tx, hf__record *record, hf_bytes data)
{
    stream_restore to = {.from = {.tx = tx,
                                  .at = data.data,
                                  .left = data.size,
                                  .room = tx->env->sidecar.map->max_size}};

    return hf__stream_load(&to.s, tx, record) && take_stream(&to);
}

bool hf__stream_check(hf__tx *tx, hf_bytes data)
{
    return restore_stream(tx, NULL, data) ||
           (tx->fatal == HF_OK && hf__reply_error(tx, "ERR Bad data format"));
}

void hf__stream_restore(hf__tx *tx, hf__record *record, hf_bytes data)
{
    if (!restore_stream(tx, record, data) && tx->fatal == HF_OK)
        hf__tx_fail(tx, MDB_CORRUPTED); /* not reached: it was checked */
}
