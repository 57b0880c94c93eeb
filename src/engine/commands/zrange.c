/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zrange.c - commands that return or count ranges of sorted sets.
 */
#include "engine/commands/command_row.h"
#include "engine/keys/range.h"

/* Up to so many members are collected by one walk. */
#define FEW 64u

static void reply_member(hf__tx *tx, const hf__range *range, hf_bytes member,
                         double score)
{
    if (range->with_scores)
        hf__reply_pair(tx);
    hf__reply_bytes(tx, member.data, member.size);
    if (range->with_scores)
        hf__reply_double(tx, score);
}

static void reply_count(hf__tx *tx, const hf__range *range, uint64_t count)
{
    if (range->with_scores)
        hf__reply_pairs(tx, (size_t)count);
    else
        hf__reply_array(tx, (size_t)count);
}

static void reply_few(hf__tx *tx, hf__record *record, const hf__range *range)
{
    hf__range_walk walk;
    hf_bytes members[FEW];
    double scores[FEW];
    size_t count = 0;
    uint64_t due;

    hf__range_begin(&walk, tx, record, range);
    due = walk.exact ? walk.left : 0;
    while (count < FEW &&
           hf__range_next(&walk, &members[count], &scores[count]))
        count++;
    hf__range_end(&walk);
    if (count < due)
        hf__tx_fail(tx, MDB_CORRUPTED);
    reply_count(tx, range, count);
    for (size_t i = 0; i < count; i++)
        reply_member(tx, range, members[i], scores[i]);
}

/* Of more members the range is walked twice, because the reply begins with its
 * length. */
static void reply_range(hf__tx *tx, hf__record *record, const hf__range *range)
{
    uint64_t count = hf__range_count(tx, record, range);
    hf__range_walk walk;
    hf_bytes member;
    double score;

    reply_count(tx, range, count);
    hf__range_begin(&walk, tx, record, range);
    for (; count > 0 && hf__range_next(&walk, &member, &score); count--)
        reply_member(tx, range, member, score);
    hf__range_end(&walk);
    if (count > 0)
        hf__tx_fail(tx, MDB_CORRUPTED);
}

/* Variants: a hf__range_kind, and these. */
#define KIND(kind) HF__VARIANT(kind)
#define BACKWARD HF__VARIANT(1 << 2)
#define ANY HF__VARIANT(1 << 3) /* HF__RANGE_ANY */

static hf__range range_of(const hf__tx *tx)
{
    return hf__range_init((hf__range_kind)(hf__variant(tx) % 4),
                          (tx->command->flags & BACKWARD) != 0);
}

static void run_zrange(hf__tx *tx, const hf_bytes *args, size_t count)
{
    unsigned allowed = tx->command->flags & ANY ? HF__RANGE_ANY : 0;
    hf__range range = range_of(tx);
    hf__record *record;

    if (!hf__range_read(tx, args + 2, count - 2, allowed, &range) ||
        !hf__zset_open(tx, args[1], &record))
        return;
    if (record == NULL)
        hf__reply_array(tx, 0);
    else if (range.count >= 0 && range.count <= FEW)
        reply_few(tx, record, &range);
    else
        reply_range(tx, record, &range);
}

static void run_zcount(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__range range = range_of(tx);
    hf__record *record;

    (void)count;
    if (!hf__range_bounds(tx, args[2], args[3], &range) ||
        !hf__zset_open(tx, args[1], &record))
        return;
    hf__reply_integer(
        tx, record == NULL ? 0 : (int64_t)hf__range_count(tx, record, &range));
}

const hf__command_entry hf__commands_zrange[] = {
    {"zrange", ANY | KIND(HF__RANGE_RANK), run_zrange},
    {"zrevrange", KIND(HF__RANGE_RANK) | BACKWARD, run_zrange},
    {"zrangebyscore", KIND(HF__RANGE_SCORE), run_zrange},
    {"zrevrangebyscore", KIND(HF__RANGE_SCORE) | BACKWARD, run_zrange},
    {"zrangebylex", KIND(HF__RANGE_LEX), run_zrange},
    {"zrevrangebylex", KIND(HF__RANGE_LEX) | BACKWARD, run_zrange},
    {"zcount", KIND(HF__RANGE_SCORE), run_zcount},
    {"zlexcount", KIND(HF__RANGE_LEX), run_zcount},
    {NULL, 0, NULL}};
