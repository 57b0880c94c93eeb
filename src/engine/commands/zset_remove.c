/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zset_remove.c - commands that remove or store a range of a sorted set:
 * ZREMRANGEBY..., ZPOPMIN, ZMPOP, ZRANGESTORE. The range is copied first, since
 * no writes are allowed during a walk.
 */
#include "engine/commands/pop.h"
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

/* The variant is a hf__range_kind. */
static void run_zremrange(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__range range = hf__range_init((hf__range_kind)hf__variant(tx), false);
    hf__record *record;
    hf__members list;

    (void)count;
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

/* ----------------------------------------------------------------- popping */

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

static void pop_key(hf__tx *tx, hf_bytes key, hf__record *record, bool last,
                    int64_t count)
{
    hf__members list;

    hf__members_init(&list, tx);
    take_members(record, last, count == 0 ? 1 : count, &list);
    if (list.count == 0)
        return; /* fatal */
    hf__reply_array(tx, count == 0 ? 3 : 2);
    hf__reply_bytes(tx, key.data, key.size);
    if (count > 0)
        hf__reply_array(tx, list.count);
    for (size_t i = 0; i < list.count; i++) {
        if (count > 0)
            hf__reply_array(tx, 2);
        reply_member(tx, &list, i);
    }
}

static const hf__pop_kind of_zset = {HF__TYPE_ZSET, "min", "max", pop_key};

static void run_zmpop(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__pop_counted(tx, args, count, &of_zset);
}

static void run_bzpop(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__pop_blocking(tx, args, count, &of_zset);
}

static void run_zpop(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__members list;
    hf__record *record;
    int64_t wanted = 1;

    if (count > 3) {
        hf__reply_error(tx, HF__ERROR_SYNTAX);
        return;
    }
    if ((count == 3 &&
         !hf__arg_at_least(tx, args[2], 0, HF__ERROR_POSITIVE, &wanted)) ||
        !hf__zset_open(tx, args[1], &record))
        return;
    hf__members_init(&list, tx);
    if (record != NULL && wanted > 0)
        take_members(record, hf__pops_last(tx), wanted, &list);
    if (tx->fatal != HF_OK)
        return;
    /* Without a count RESP3, too, has a flat array. */
    if (count == 3 || list.count == 0) {
        hf__members_reply(&list, true);
    } else {
        hf__reply_array(tx, 2);
        reply_member(tx, &list, 0);
    }
}

#define WRITES HF__COMMAND_WRITES

const hf__command_entry hf__commands_zset_remove[] = {
    {"zremrangebyrank", WRITES | HF__VARIANT(HF__RANGE_RANK), run_zremrange},
    {"zremrangebyscore", WRITES | HF__VARIANT(HF__RANGE_SCORE), run_zremrange},
    {"zremrangebylex", WRITES | HF__VARIANT(HF__RANGE_LEX), run_zremrange},
    {"zrangestore", WRITES | HF__COMMAND_GROWS, run_zrangestore},
    {"zpopmin", WRITES, run_zpop},
    {"zpopmax", WRITES | HF__POP_LAST, run_zpop},
    {"zmpop", WRITES, run_zmpop},
    {"bzmpop", WRITES, run_zmpop},
    {"bzpopmin", WRITES, run_bzpop},
    {"bzpopmax", WRITES | HF__POP_LAST, run_bzpop},
    {NULL, 0, NULL}};
