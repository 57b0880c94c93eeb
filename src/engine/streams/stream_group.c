/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_group.c - see stream_group.h.
 *
 * Elements of the stream's key: 'g' and the name of a group is the group, 'c',
 * the number of the group and the name of a consumer is its number. What is
 * pending has a record by group and id, and an empty one by consumer and id.
 */
#include "engine/streams/stream_group.h"

#include <string.h>

#include "engine/keys/elements.h"

/* ------------------------------------------------------------------ names */

/* The element's name, in tx->arena. An empty one: fatal. */
static hf_bytes name_element(hf__open_stream *s, hf__stream_names what,
                             hf_bytes name)
{
    size_t size = 1;
    unsigned char *at =
        hf__tx_alloc(s->tx, 1 + sizeof(s->group.number) + name.size);

    if (at == NULL)
        return hf_view(NULL, 0);
    at[0] = (unsigned char)what;
    if (what == HF__CONSUMERS) {
        memcpy(at + 1, &s->group.number, sizeof(s->group.number));
        size += sizeof(s->group.number);
    }
    if (name.size > 0)
        memcpy(at + size, name.data, name.size);
    return hf_view(at, size + name.size);
}

/* Read an element of `size` bytes. */
static bool get_element(hf__open_stream *s, hf__stream_names what,
                        hf_bytes name, void *to, size_t size)
{
    hf_bytes element = name_element(s, what, name);
    hf_bytes value;

    if (element.data == NULL ||
        !hf__element_get(s->tx, s->record->keyid, element, &value))
        return false;
    if (value.size == size)
        memcpy(to, value.data, size);
    else
        hf__tx_fail(s->tx, MDB_CORRUPTED);
    return value.size == size;
}

/* `from` NULL: delete it. */
static void put_element(hf__open_stream *s, hf__stream_names what,
                        hf_bytes name, const void *from, size_t size)
{
    hf_bytes element = name_element(s, what, name);

    if (element.data != NULL && from != NULL)
        hf__element_put(s->tx, s->record->keyid, element, hf_view(from, size));
    else if (element.data != NULL)
        hf__element_delete(s->tx, s->record->keyid, element);
}

void hf__stream_list(hf__open_stream *s, hf__stream_names what,
                     hf__members *list)
{
    unsigned char from[9 + 1 + sizeof(uint32_t)] = {HF__RECORD_ELEMENT};
    hf_bytes prefix = name_element(s, what, hf_view(NULL, 0));
    hf_bytes name, value;
    hf__walk walk;

    hf__members_init(list, s->tx);
    if (prefix.data == NULL)
        return;
    hf__put_be64(from + 1, s->record->keyid);
    memcpy(from + 9, prefix.data, prefix.size);
    (void)hf__walk_begin_record(&walk, s->tx, HF__RECORD_ELEMENT,
                                s->record->keyid,
                                hf_view(from, 9 + prefix.size));
    while (hf__walk_next(&walk, &name, &value, NULL) &&
           name.size >= prefix.size &&
           memcmp(name.data, prefix.data, prefix.size) == 0) {
        uint32_t number = 0;

        if (value.size == sizeof(number))
            memcpy(&number, value.data, sizeof(number));
        name = hf_view((const unsigned char *)name.data + prefix.size,
                       name.size - prefix.size);
        if (!hf__members_add(list, name, (double)number))
            break;
    }
    hf__walk_end(&walk);
}

static hf__stream_name name_record(const hf__open_stream *s, unsigned char what,
                                   uint32_t consumer, hf__stream_id id)
{
    return hf__stream_name_of(s->record->keyid, what, s->group.number, consumer,
                              id);
}

/* A number for a group or a consumer. 0: fatal. */
static uint32_t take_number(hf__open_stream *s, unsigned groups)
{
    if (s->tx->fatal == HF_OK && s->head.numbers == UINT32_MAX)
        hf__tx_fail(s->tx, MDB_TXN_FULL);
    if (s->tx->fatal != HF_OK)
        return 0;
    s->head.groups += groups;
    s->head.numbers++;
    hf__stream_save(s);
    return s->head.numbers;
}

/* ----------------------------------------------------------------- groups */

bool hf__group_get(hf__open_stream *s, hf_bytes name)
{
    s->group_name = name;
    s->group = (hf__group){.number = 0};
    s->consumer.number = 0;
    return get_element(s, HF__GROUPS, name, &s->group, sizeof(s->group));
}

bool hf__group_make(hf__open_stream *s, hf_bytes name, hf__stream_id last,
                    int64_t read)
{
    s->group_name = name;
    s->group = (hf__group){last, read, 0, take_number(s, 1), 0};
    s->consumer.number = 0;
    if (s->group.number != 0)
        hf__group_save(s);
    return s->tx->fatal == HF_OK;
}

void hf__group_save(hf__open_stream *s)
{
    put_element(s, HF__GROUPS, s->group_name, &s->group, sizeof(s->group));
    if (s->consumer.number != 0)
        hf__consumer_save(s);
}

void hf__group_delete(hf__open_stream *s)
{
    static const unsigned char kinds[] = {HF__STREAM_CONSUMER,
                                          HF__STREAM_PENDING, HF__STREAM_TAKEN};
    hf__members list;
    hf_bytes value;

    hf__stream_list(s, HF__CONSUMERS, &list);
    for (size_t i = 0; i < list.count && s->tx->fatal == HF_OK; i++)
        put_element(s, HF__CONSUMERS, list.items[i].name, NULL, 0);
    for (size_t i = 0; i < sizeof(kinds) && s->tx->fatal == HF_OK;) {
        hf__stream_name name = name_record(s, kinds[i], 0, HF__STREAM_ID_FIRST);

        if (hf__stream_record_seek(s->tx, &name, HF__STREAM_PREFIX + 4,
                                   HF__SEEK_FROM, &value))
            hf__stream_record_delete(s->tx, &name);
        else
            i++;
    }
    if (s->tx->fatal != HF_OK)
        return;
    put_element(s, HF__GROUPS, s->group_name, NULL, 0);
    s->head.groups--;
    hf__stream_save(s);
}

/* -------------------------------------------------------------- consumers */

static void put_consumer(hf__open_stream *s, const hf__consumer *consumer)
{
    hf__stream_name name = name_record(s, HF__STREAM_CONSUMER, consumer->number,
                                       HF__STREAM_ID_FIRST);
    size_t head = sizeof(consumer->state), size = consumer->name.size;
    unsigned char *to = hf__tx_scratch(s->tx, head + size);

    if (to == NULL)
        return;
    memcpy(to, &consumer->state, head);
    if (size > 0)
        memcpy(to + head, consumer->name.data, size);
    hf__stream_record_put(s->tx, &name, hf_view(to, head + size));
}

uint32_t hf__consumer_find(hf__open_stream *s, hf_bytes name)
{
    uint32_t number;

    return get_element(s, HF__CONSUMERS, name, &number, sizeof(number)) ? number
                                                                        : 0;
}

bool hf__consumer_enter(hf__open_stream *s, uint32_t number, hf_bytes name,
                        int64_t seen_ms)
{
    s->consumer = (hf__consumer){.number = number};
    if (number != 0) {
        hf__consumer_get(s, number, &s->consumer);
    } else if (s->tx->fatal == HF_OK) {
        s->consumer.number = number = take_number(s, 0);
        if (number != 0)
            put_element(s, HF__CONSUMERS, name, &number, sizeof(number));
    }
    s->consumer.name = name;
    s->consumer.state.seen_ms = seen_ms;
    return s->tx->fatal == HF_OK;
}

void hf__consumer_save(hf__open_stream *s)
{
    put_consumer(s, &s->consumer);
}

void hf__consumer_get(hf__open_stream *s, uint32_t number,
                      hf__consumer *consumer)
{
    hf__stream_name name =
        name_record(s, HF__STREAM_CONSUMER, number, HF__STREAM_ID_FIRST);
    size_t head = sizeof(consumer->state);
    hf_bytes value;

    *consumer = (hf__consumer){hf_view("", 0), number, {0, 0}};
    if (!hf__stream_record_get(s->tx, &name, &value) || value.size < head) {
        hf__tx_fail(s->tx, MDB_CORRUPTED);
        return;
    }
    memcpy(&consumer->state, value.data, head);
    consumer->name =
        hf_view((const unsigned char *)value.data + head, value.size - head);
}

/* It has one more, or less. */
static void count_pending(hf__open_stream *s, uint32_t number, uint64_t more)
{
    hf__consumer other;

    if (number == s->consumer.number) {
        s->consumer.state.pending += more;
        return;
    }
    hf__consumer_get(s, number, &other);
    other.state.pending += more;
    if (s->tx->fatal == HF_OK)
        put_consumer(s, &other);
}

void hf__consumer_delete(hf__open_stream *s, uint32_t number, hf_bytes name)
{
    hf__stream_name state =
        name_record(s, HF__STREAM_CONSUMER, number, HF__STREAM_ID_FIRST);
    hf__stream_id id = HF__STREAM_ID_FIRST;

    s->consumer.number = number; /* what it has is not stored meanwhile */
    while (hf__unacked_seek(s, number, HF__SEEK_FROM, &id) &&
           hf__unacked_delete(s, id))
        continue;
    s->consumer.number = 0;
    hf__stream_record_delete(s->tx, &state);
    put_element(s, HF__CONSUMERS, name, NULL, 0);
}

/* ---------------------------------------------------------------- pending */

/* By id if `consumer` is 0. */
static hf__stream_name name_pending(const hf__open_stream *s, uint32_t consumer,
                                    hf__stream_id id)
{
    return name_record(s, consumer == 0 ? HF__STREAM_PENDING : HF__STREAM_TAKEN,
                       consumer, id);
}

bool hf__unacked_get(hf__open_stream *s, hf__stream_id id, hf__unacked *pending)
{
    hf__stream_name name = name_pending(s, 0, id);
    hf_bytes value;

    if (!hf__stream_record_get(s->tx, &name, &value))
        return false;
    if (value.size == sizeof(*pending))
        memcpy(pending, value.data, sizeof(*pending));
    else
        hf__tx_fail(s->tx, MDB_CORRUPTED);
    return value.size == sizeof(*pending);
}

/* The consumer has it no more. */
static void take_from(hf__open_stream *s, uint32_t consumer, hf__stream_id id)
{
    hf__stream_name name = name_pending(s, consumer, id);

    hf__stream_record_delete(s->tx, &name);
    count_pending(s, consumer, UINT64_MAX);
}

void hf__unacked_put(hf__open_stream *s, hf__stream_id id,
                     const hf__unacked *pending)
{
    hf__stream_name name = name_pending(s, 0, id);
    hf__unacked old;
    bool had = hf__unacked_get(s, id, &old);
    bool moves = had && old.consumer != pending->consumer;

    if (moves)
        take_from(s, old.consumer, id);
    hf__stream_record_put(s->tx, &name, hf_view(pending, sizeof(*pending)));
    if (had && !moves)
        return;
    name = name_pending(s, pending->consumer, id);
    hf__stream_record_put(s->tx, &name, hf_view(NULL, 0));
    count_pending(s, pending->consumer, 1);
    s->group.pending += had ? 0 : 1;
}

bool hf__unacked_delete(hf__open_stream *s, hf__stream_id id)
{
    hf__stream_name name = name_pending(s, 0, id);
    hf__unacked old;

    if (!hf__unacked_get(s, id, &old))
        return false;
    hf__stream_record_delete(s->tx, &name);
    take_from(s, old.consumer, id);
    s->group.pending--;
    return s->tx->fatal == HF_OK;
}

bool hf__unacked_seek(hf__open_stream *s, uint32_t consumer,
                      hf__stream_seek seek, hf__stream_id *id)
{
    hf__stream_name name = name_pending(s, consumer, *id);
    hf_bytes value;

    if (!hf__stream_record_seek(s->tx, &name, name.size - 16, seek, &value))
        return false;
    *id = hf__stream_name_get_id(&name);
    return true;
}

/* --------------------------------------------------------------- counting */

bool hf__stream_has_gap(hf__open_stream *s, hf__stream_id from)
{
    hf__stream_id deleted = s->head.deleted;
    hf__entry first;

    return !hf__stream_id_is_zero(deleted) &&
           hf__stream_id_compare(from, deleted) <= 0 &&
           hf__stream_edge(s, false, &first) &&
           hf__stream_id_compare(first.id, deleted) <= 0;
}

int64_t hf__stream_rank(hf__open_stream *s, hf__stream_id id)
{
    int order = hf__stream_id_compare(id, s->head.last);
    int64_t before = (int64_t)(s->head.added - s->record->count);
    hf__entry first;

    if (s->head.added == 0)
        return 0;
    if (order == 0 || (order < 0 && s->record->count == 0))
        return (int64_t)s->head.added;
    if (order > 0 || !hf__stream_edge(s, false, &first))
        return HF__GROUP_READ_UNKNOWN;
    order = hf__stream_id_compare(id, first.id);
    if (order > 0 || (!hf__stream_id_is_zero(s->head.deleted) &&
                      hf__stream_id_compare(s->head.deleted, first.id) >= 0))
        return HF__GROUP_READ_UNKNOWN;
    return before + (order == 0 ? 1 : 0);
}

bool hf__group_lag(hf__open_stream *s, int64_t *lag)
{
    int64_t read = s->group.read;

    if (s->head.added == 0) {
        *lag = 0;
        return true;
    }
    if (read == HF__GROUP_READ_UNKNOWN || hf__stream_has_gap(s, s->group.last))
        read = hf__stream_rank(s, s->group.last);
    *lag = (int64_t)(s->head.added - (uint64_t)read);
    return read != HF__GROUP_READ_UNKNOWN;
}
