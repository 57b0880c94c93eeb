/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zset_remove.c - commands that remove or store a range of a sorted set:
 * ZREMRANGEBY..., ZMPOP, ZRANGESTORE. The range is copied first, since no
 * writes are allowed during a walk.
 */
#include "engine/commands/command_row.h"
#include "engine/keys/members.h"
#include "engine/keys/number_text.h"
#include "engine/keys/range.h"

static void gather_range(hf__record *record, const hf__range *range,
                         hf__members *list)
{
    hf__range_walk walk;
    hf_bytes member;
    double score;

    hf__range_begin(&walk, list->tx, record, range);
    while (hf__range_next(&walk, &member, &score) &&
           hf__members_add(list, member, score))
        continue;
    hf__range_end(&walk);
}

/* Remove the collected members, and the key with the last one. */
static void remove_all(hf__record *record, const hf__members *list,
                       const char *event)
{
    hf__tx *tx = list->tx;

    if (list->count > 0)
        hf__record_event(tx, HF__EVENT_ZSET, event, record);
    if (list->count == record->count) {
        hf__key_delete(tx, record);
        return;
    }
    for (size_t i = 0; i < list->count && tx->fatal == HF_OK; i++)
        hf__zset_remove(tx, record, list->items[i].name, list->items[i].score);
}

/* ------------------------------------------------------------- ZREMRANGEBY */

static void remove_range(hf__tx *tx, const hf_bytes *args, hf__range_kind kind)
{
    hf__range range = hf__range_init(kind, false);
    hf__record *record;
    hf__members list;

    if (!hf__range_bounds(tx, args[2], args[3], &range) ||
        !hf__zset_open(tx, args[1], &record))
        return;
    hf__members_init(&list, tx);
    if (record != NULL) {
        gather_range(record, &range, &list);
        remove_all(record, &list, tx->command->name);
    }
    hf__reply_integer(tx, (int64_t)list.count);
}

static void run_zremrangebyrank(hf__tx *tx, const hf_bytes *args, size_t count)
{
    (void)count;
    remove_range(tx, args, HF__RANGE_RANK);
}

static void run_zremrangebyscore(hf__tx *tx, const hf_bytes *args, size_t count)
{
    (void)count;
    remove_range(tx, args, HF__RANGE_SCORE);
}

static void run_zremrangebylex(hf__tx *tx, const hf_bytes *args, size_t count)
{
    (void)count;
    remove_range(tx, args, HF__RANGE_LEX);
}

/* ------------------------------------------------------------- ZRANGESTORE */

static void run_zrangestore(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__range range = hf__range_init(HF__RANGE_RANK, false);
    hf__record *record;
    hf__members list;

    if (!hf__range_read(tx, args + 3, count - 3,
                        HF__RANGE_ANY | HF__RANGE_STORE, &range) ||
        !hf__zset_open(tx, args[2], &record))
        return;
    hf__members_init(&list, tx);
    if (record != NULL)
        gather_range(record, &range, &list);
    if (tx->fatal == HF_OK)
        hf__members_store(&list, args[1]);
    if (list.count > 0)
        hf__key_event(tx, HF__EVENT_ZSET, "zrangestore", args[1]);
}

/* ------------------------------------------------------------------- ZMPOP */

typedef struct pop_request {
    size_t key_count;
    bool last;
    int64_t count;
} pop_request;

static bool read_positive(hf__tx *tx, hf_bytes arg, const char *name,
                          int64_t *value)
{
    if (hf__number_integer(arg, value) && *value > 0)
        return true;
    hf__reply_error(tx, "ERR %s should be greater than 0", name);
    return false;
}

/* Read `numkeys key ... MIN|MAX [COUNT count]`. */
static bool read_pop(hf__tx *tx, const hf_bytes *args, size_t count,
                     pop_request *options)
{
    int64_t keys;
    size_t at;

    if (!read_positive(tx, args[0], "numkeys", &keys))
        return false;
    if ((uint64_t)keys > count - 2)
        goto syntax;
    at = 1 + (size_t)keys;
    options->key_count = (size_t)keys;
    options->count = 1;
    options->last = hf__arg_is(args[at], "max");
    if (!options->last && !hf__arg_is(args[at], "min"))
        goto syntax;
    if (count == at + 1)
        return true;
    if (count < at + 3 || !hf__arg_is(args[at + 1], "count"))
        goto syntax;
    if (!read_positive(tx, args[at + 2], "count", &options->count))
        return false;
    if (count == at + 3)
        return true;
syntax:
    hf__reply_error(tx, HF__ERROR_SYNTAX);
    return false;
}

static void take_members(hf__record *record, bool last, int64_t count,
                         hf__members *list)
{
    hf__range range = hf__range_init(HF__RANGE_RANK, last);

    range.end = count - 1;
    gather_range(record, &range, list);
    remove_all(record, list, last ? "zpopmax" : "zpopmin");
}

static void reply_member(hf__tx *tx, const hf__members *list, size_t index)
{
    hf_bytes name = list->items[index].name;

    hf__reply_bytes(tx, name.data, name.size);
    hf__reply_double(tx, list->items[index].score);
}

static void pop_from_key(hf__tx *tx, hf_bytes key, hf__record *record,
                         const pop_request *options)
{
    hf__members list;

    hf__members_init(&list, tx);
    take_members(record, options->last, options->count, &list);
    hf__reply_array(tx, 2);
    hf__reply_bytes(tx, key.data, key.size);
    hf__reply_array(tx, list.count);
    for (size_t i = 0; i < list.count; i++) {
        hf__reply_array(tx, 2);
        reply_member(tx, &list, i);
    }
}

static void pop_one(hf__tx *tx, hf_bytes key, hf__record *record, bool last)
{
    hf__members list;

    hf__members_init(&list, tx);
    take_members(record, last, 1, &list);
    if (list.count == 0)
        return; /* fatal */
    hf__reply_array(tx, 3);
    hf__reply_bytes(tx, key.data, key.size);
    reply_member(tx, &list, 0);
}

/* Pop from the first key that exists. false: none does. */
static bool pop_first(hf__tx *tx, const hf_bytes *keys,
                      const pop_request *options)
{
    hf__record *record = NULL;

    for (size_t i = 0; i < options->key_count && record == NULL; i++) {
        hf__tx_trim(tx);
        if (!hf__zset_open(tx, keys[i], &record))
            return true;
        if (record != NULL)
            pop_from_key(tx, keys[i], record, options);
    }
    return record != NULL;
}

static void run_zmpop(hf__tx *tx, const hf_bytes *args, size_t count)
{
    pop_request options;

    if (read_pop(tx, args + 1, count - 1, &options) &&
        !pop_first(tx, args + 2, &options))
        hf__reply_nil_array(tx);
}

/* ----------------------------------------------------------------- blocking */

static void run_bzmpop(hf__tx *tx, const hf_bytes *args, size_t count)
{
    pop_request options;

    if (!read_pop(tx, args + 2, count - 2, &options) ||
        !hf__arg_wait(tx, args[1]) || pop_first(tx, args + 3, &options))
        return;
    hf__reply_nil_array(tx);
    tx->block.counted = true;
    hf__block_on(tx, HF__TYPE_ZSET, 3, options.key_count);
}

static void block_pop(hf__tx *tx, const hf_bytes *args, size_t count, bool last)
{
    hf__record *record = NULL;

    if (!hf__arg_wait(tx, args[count - 1]))
        return;
    for (size_t i = 1; i < count - 1 && record == NULL; i++) {
        hf__tx_trim(tx);
        if (!hf__zset_open(tx, args[i], &record))
            return;
        if (record != NULL)
            pop_one(tx, args[i], record, last);
    }
    if (record != NULL)
        return;
    hf__reply_nil_array(tx);
    hf__block_on(tx, HF__TYPE_ZSET, 1, count - 2);
}

static void run_bzpopmin(hf__tx *tx, const hf_bytes *args, size_t count)
{
    block_pop(tx, args, count, false);
}

static void run_bzpopmax(hf__tx *tx, const hf_bytes *args, size_t count)
{
    block_pop(tx, args, count, true);
}

#define WRITES HF__COMMAND_WRITES

const hf__command_entry hf__commands_zset_remove[] = {
    {"zremrangebyrank", WRITES, run_zremrangebyrank},
    {"zremrangebyscore", WRITES, run_zremrangebyscore},
    {"zremrangebylex", WRITES, run_zremrangebylex},
    {"zrangestore", WRITES | HF__COMMAND_GROWS, run_zrangestore},
    {"zmpop", WRITES, run_zmpop},
    {"bzmpop", WRITES, run_bzmpop},
    {"bzpopmin", WRITES, run_bzpopmin},
    {"bzpopmax", WRITES, run_bzpopmax},
    {NULL, 0, NULL}};
