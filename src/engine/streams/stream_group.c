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
#include "engine/streams/stream_records.h"

#define GROUP_PREFIX 1u
#define CONSUMER_PREFIX 5u

/* ------------------------------------------------------------------ names */

/* The element's name, in tx->arena. An empty one: fatal. */
static hf_bytes name_element(hf__tx *tx, const hf__group *group, hf_bytes name)
{
    size_t head = group == NULL ? GROUP_PREFIX : CONSUMER_PREFIX;
    unsigned char *at = hf__tx_alloc(tx, head + name.size);

    if (at == NULL)
        return hf_view(NULL, 0);
    at[0] = group == NULL ? 'g' : 'c';
    if (group != NULL)
        memcpy(at + 1, &group->number, sizeof(group->number));
    if (name.size > 0)
        memcpy(at + head, name.data, name.size);
    return hf_view(at, head + name.size);
}

/* Read an element of `size` bytes. */
static bool get_element(hf__tx *tx, const hf__record *record, hf_bytes name,
                        void *to, size_t size)
{
    hf_bytes value;

    if (name.data == NULL || !hf__element_get(tx, record->keyid, name, &value))
        return false;
    if (value.size != size) {
        hf__tx_fail(tx, MDB_CORRUPTED);
        return false;
    }
    memcpy(to, value.data, size);
    return true;
}

static void put_element(hf__tx *tx, const hf__record *record, hf_bytes name,
                        const void *from, size_t size)
{
    if (name.data != NULL)
        hf__element_put(tx, record->keyid, name, hf_view(from, size));
}

static void list_elements(hf__tx *tx, const hf__record *record,
                          const hf__group *group, hf__members *list)
{
    unsigned char from[9 + CONSUMER_PREFIX] = {HF__RECORD_ELEMENT};
    hf_bytes prefix = name_element(tx, group, hf_view(NULL, 0));
    hf_bytes name, value;
    uint32_t number;
    hf__walk walk;

    hf__members_init(list, tx);
    if (prefix.data == NULL)
        return;
    hf__put_be64(from + 1, record->keyid);
    memcpy(from + 9, prefix.data, prefix.size);
    (void)hf__walk_begin_record(&walk, tx, HF__RECORD_ELEMENT, record->keyid,
                                hf_view(from, 9 + prefix.size));
    while (hf__walk_next(&walk, &name, &value, NULL) &&
           name.size >= prefix.size &&
           memcmp(name.data, prefix.data, prefix.size) == 0) {
        number = 0;
        if (value.size == sizeof(number))
            memcpy(&number, value.data, sizeof(number));
        if (!hf__members_add(
                list,
                hf_view((const unsigned char *)name.data + prefix.size,
                        name.size - prefix.size),
                (double)number))
            break;
    }
    hf__walk_end(&walk);
}

/* A number for a group or a consumer. 0: fatal. */
static uint32_t take_number(hf__tx *tx, hf__record *record, unsigned groups)
{
    hf__stream_head head;

    if (!hf__stream_head_get(tx, record, &head))
        return 0;
    if (head.numbers == UINT32_MAX) {
        hf__tx_fail(tx, MDB_TXN_FULL);
        return 0;
    }
    head.numbers++;
    head.groups += groups;
    hf__stream_head_set(tx, record, &head);
    return head.numbers;
}

/* Delete the records of a group, or of a consumer of it. */
static void delete_records(hf__tx *tx, const hf__record *record,
                           unsigned char what, uint32_t group, size_t more)
{
    hf__stream_name name;
    hf_bytes value;

    do {
        hf__stream_name_begin(&name, record->keyid, what);
        hf__stream_name_number(&name, group);
        memset(name.bytes + name.size, 0, more);
        name.size += more;
        if (!hf__stream_record_seek(tx, &name, HF__STREAM_PREFIX + 4,
                                    HF__SEEK_FROM, &value))
            return;
        hf__stream_record_delete(tx, &name);
    } while (tx->fatal == HF_OK);
}

/* ----------------------------------------------------------------- groups */

bool hf__group_get(hf__tx *tx, const hf__record *record, hf_bytes name,
                   hf__group *group)
{
    return get_element(tx, record, name_element(tx, NULL, name), group,
                       sizeof(*group));
}

void hf__group_put(hf__tx *tx, const hf__record *record, hf_bytes name,
                   const hf__group *group)
{
    put_element(tx, record, name_element(tx, NULL, name), group,
                sizeof(*group));
}

void hf__group_make(hf__tx *tx, hf__record *record, hf_bytes name,
                    hf__stream_id last, int64_t read)
{
    hf__group group = {.last = last, .read = read};

    group.number = take_number(tx, record, 1);
    if (group.number != 0)
        hf__group_put(tx, record, name, &group);
}

void hf__group_delete(hf__tx *tx, hf__record *record, hf_bytes name,
                      const hf__group *group)
{
    hf_bytes element = name_element(tx, NULL, name);
    hf__stream_head head;
    hf__members list;

    hf__consumer_list(tx, record, group, &list);
    for (size_t i = 0; i < list.count && tx->fatal == HF_OK; i++)
        hf__element_delete(tx, record->keyid,
                           name_element(tx, group, list.items[i].name));
    delete_records(tx, record, HF__STREAM_CONSUMER, group->number, 4);
    delete_records(tx, record, HF__STREAM_PENDING, group->number, 16);
    delete_records(tx, record, HF__STREAM_TAKEN, group->number, 20);
    if (tx->fatal != HF_OK || !hf__stream_head_get(tx, record, &head))
        return;
    hf__element_delete(tx, record->keyid, element);
    head.groups--;
    hf__stream_head_set(tx, record, &head);
}

void hf__group_list(hf__tx *tx, const hf__record *record, hf__members *list)
{
    list_elements(tx, record, NULL, list);
}

/* -------------------------------------------------------------- consumers */

static void name_consumer(hf__stream_name *name, const hf__record *record,
                          const hf__group *group, uint32_t number)
{
    hf__stream_name_begin(name, record->keyid, HF__STREAM_CONSUMER);
    hf__stream_name_number(name, group->number);
    hf__stream_name_number(name, number);
}

static void put_consumer(hf__tx *tx, const hf__record *record,
                         const hf__group *group, uint32_t number,
                         const hf__consumer *consumer, hf_bytes text)
{
    size_t size = sizeof(*consumer) + text.size;
    unsigned char *to = hf__tx_scratch(tx, size);
    hf__stream_name name;

    if (to == NULL)
        return;
    memcpy(to, consumer, sizeof(*consumer));
    if (text.size > 0)
        memcpy(to + sizeof(*consumer), text.data, text.size);
    name_consumer(&name, record, group, number);
    hf__stream_record_put(tx, &name, hf_view(to, size));
}

bool hf__consumer_find(hf__tx *tx, const hf__record *record,
                       const hf__group *group, hf_bytes name, uint32_t *number)
{
    return get_element(tx, record, name_element(tx, group, name), number,
                       sizeof(*number));
}

void hf__consumer_make(hf__tx *tx, hf__record *record, const hf__group *group,
                       hf_bytes name, int64_t seen_ms, uint32_t *number)
{
    hf__consumer consumer = {.seen_ms = seen_ms};

    *number = take_number(tx, record, 0);
    if (*number == 0)
        return;
    put_element(tx, record, name_element(tx, group, name), number,
                sizeof(*number));
    put_consumer(tx, record, group, *number, &consumer, name);
}

bool hf__consumer_get(hf__tx *tx, const hf__record *record,
                      const hf__group *group, uint32_t number,
                      hf__consumer *consumer, hf_bytes *text)
{
    hf__stream_name name;
    hf_bytes value;

    name_consumer(&name, record, group, number);
    if (!hf__stream_record_get(tx, &name, &value) ||
        value.size < sizeof(*consumer)) {
        hf__tx_fail(tx, MDB_CORRUPTED);
        return false;
    }
    memcpy(consumer, value.data, sizeof(*consumer));
    *text = hf_view((const unsigned char *)value.data + sizeof(*consumer),
                    value.size - sizeof(*consumer));
    return true;
}

void hf__consumer_change(hf__tx *tx, const hf__record *record,
                         const hf__group *group, uint32_t number, int64_t more,
                         int64_t seen_ms)
{
    hf__consumer consumer;
    hf_bytes text;

    if (!hf__consumer_get(tx, record, group, number, &consumer, &text))
        return;
    consumer.pending += (uint64_t)more;
    if (seen_ms != 0)
        consumer.seen_ms = seen_ms;
    put_consumer(tx, record, group, number, &consumer, text);
}

void hf__consumer_delete(hf__tx *tx, hf__record *record, hf__group *group,
                         hf_bytes name, uint32_t number)
{
    hf__stream_id id = HF__STREAM_ID_FIRST;
    hf__stream_name state;

    while (hf__unacked_seek(tx, record, group, number, &id) &&
           hf__unacked_delete(tx, record, group, id))
        continue;
    name_consumer(&state, record, group, number);
    hf__stream_record_delete(tx, &state);
    hf__element_delete(tx, record->keyid, name_element(tx, group, name));
}

void hf__consumer_list(hf__tx *tx, const hf__record *record,
                       const hf__group *group, hf__members *list)
{
    list_elements(tx, record, group, list);
}

/* ---------------------------------------------------------------- pending */

/* By id if `consumer` is 0. */
static void name_pending(hf__stream_name *name, const hf__record *record,
                         const hf__group *group, uint32_t consumer,
                         hf__stream_id id)
{
    hf__stream_name_begin(name, record->keyid,
                          consumer == 0 ? HF__STREAM_PENDING
                                        : HF__STREAM_TAKEN);
    hf__stream_name_number(name, group->number);
    if (consumer != 0)
        hf__stream_name_number(name, consumer);
    hf__stream_name_id(name, id);
}

bool hf__unacked_get(hf__tx *tx, const hf__record *record,
                     const hf__group *group, hf__stream_id id,
                     hf__unacked *pending)
{
    hf__stream_name name;
    hf_bytes value;

    name_pending(&name, record, group, 0, id);
    if (!hf__stream_record_get(tx, &name, &value))
        return false;
    if (value.size != sizeof(*pending)) {
        hf__tx_fail(tx, MDB_CORRUPTED);
        return false;
    }
    memcpy(pending, value.data, sizeof(*pending));
    return true;
}

unsigned hf__unacked_put(hf__tx *tx, const hf__record *record, hf__group *group,
                         hf__stream_id id, const hf__unacked *pending)
{
    bool had, moves;
    hf__stream_name name;
    hf__unacked old;

    had = hf__unacked_get(tx, record, group, id, &old);
    moves = had && old.consumer != pending->consumer;
    if (moves) {
        name_pending(&name, record, group, old.consumer, id);
        hf__stream_record_delete(tx, &name);
        hf__consumer_change(tx, record, group, old.consumer, -1, 0);
    }
    name_pending(&name, record, group, 0, id);
    hf__stream_record_put(tx, &name, hf_view(pending, sizeof(*pending)));
    if (had && !moves)
        return 0;
    name_pending(&name, record, group, pending->consumer, id);
    hf__stream_record_put(tx, &name, hf_view(NULL, 0));
    group->pending += had ? 0 : 1;
    return 1;
}

bool hf__unacked_delete(hf__tx *tx, const hf__record *record, hf__group *group,
                        hf__stream_id id)
{
    hf__stream_name name;
    hf__unacked old;

    if (!hf__unacked_get(tx, record, group, id, &old))
        return false;
    name_pending(&name, record, group, 0, id);
    hf__stream_record_delete(tx, &name);
    name_pending(&name, record, group, old.consumer, id);
    hf__stream_record_delete(tx, &name);
    hf__consumer_change(tx, record, group, old.consumer, -1, 0);
    group->pending--;
    return tx->fatal == HF_OK;
}

bool hf__unacked_seek(hf__tx *tx, const hf__record *record,
                      const hf__group *group, uint32_t consumer,
                      hf__stream_id *id)
{
    hf__stream_name name;
    hf_bytes value;

    name_pending(&name, record, group, consumer, *id);
    if (!hf__stream_record_seek(tx, &name, name.size - 16, HF__SEEK_FROM,
                                &value))
        return false;
    *id = hf__stream_name_get_id(&name);
    return true;
}

bool hf__unacked_last(hf__tx *tx, const hf__record *record,
                      const hf__group *group, hf__stream_id *id)
{
    hf__stream_name name;
    hf_bytes value;

    name_pending(&name, record, group, 0, HF__STREAM_ID_LAST);
    if (!hf__stream_record_seek(tx, &name, name.size - 16, HF__SEEK_UP_TO,
                                &value))
        return false;
    *id = hf__stream_name_get_id(&name);
    return true;
}

/* --------------------------------------------------------------- counting */

bool hf__stream_has_gap(hf__tx *tx, const hf__record *record,
                        const hf__stream_head *head, hf__stream_id from)
{
    hf__entry first;

    return !hf__stream_id_is_zero(head->deleted) &&
           hf__stream_id_compare(from, head->deleted) <= 0 &&
           hf__stream_edge(tx, record, false, &first) &&
           hf__stream_id_compare(first.id, head->deleted) <= 0;
}

int64_t hf__stream_rank(hf__tx *tx, hf__record *record,
                        const hf__stream_head *head, hf__stream_id id)
{
    int order = hf__stream_id_compare(id, head->last);
    int64_t before = (int64_t)(head->added - record->count);
    hf__entry first;

    if (head->added == 0)
        return 0;
    if (order == 0 || (order < 0 && record->count == 0))
        return (int64_t)head->added;
    if (order > 0 || !hf__stream_edge(tx, record, false, &first))
        return HF__GROUP_READ_UNKNOWN;
    order = hf__stream_id_compare(id, first.id);
    if (order > 0 || (!hf__stream_id_is_zero(head->deleted) &&
                      hf__stream_id_compare(head->deleted, first.id) >= 0))
        return HF__GROUP_READ_UNKNOWN;
    return before + (order == 0 ? 1 : 0);
}

bool hf__group_lag(hf__tx *tx, hf__record *record, const hf__stream_head *head,
                   const hf__group *group, int64_t *lag)
{
    int64_t read = group->read;

    if (head->added == 0) {
        *lag = 0;
        return true;
    }
    if (read == HF__GROUP_READ_UNKNOWN ||
        hf__stream_has_gap(tx, record, head, group->last))
        read = hf__stream_rank(tx, record, head, group->last);
    *lag = (int64_t)(head->added - (uint64_t)read);
    return read != HF__GROUP_READ_UNKNOWN;
}
