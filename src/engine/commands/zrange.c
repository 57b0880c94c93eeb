/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zrange.c - commands that return or count ranges of sorted sets.
 */
#include "engine/commands/command_row.h"
#include "engine/keys/range.h"

/* The range is walked twice, because the reply begins with its length. */
static void reply_range(hf__tx *tx, hf__record *record, const hf__range *range)
{
    uint64_t count = hf__range_count(tx, record, range);
    hf__range_walk walk;
    hf_bytes member;
    double score;

    if (range->with_scores)
        hf__reply_pairs(tx, (size_t)count);
    else
        hf__reply_array(tx, (size_t)count);
    hf__range_begin(&walk, tx, record, range);
    for (; count > 0 && hf__range_next(&walk, &member, &score); count--) {
        if (range->with_scores)
            hf__reply_pair(tx);
        hf__reply_bytes(tx, member.data, member.size);
        if (range->with_scores)
            hf__reply_double(tx, score);
    }
    hf__range_end(&walk);
    if (count > 0)
        hf__tx_fail(tx, MDB_CORRUPTED);
}

static void run_range(hf__tx *tx, const hf_bytes *args, size_t count,
                      unsigned allowed, hf__range range)
{
    hf__record *record;

    if (!hf__range_read(tx, args + 2, count - 2, allowed, &range) ||
        !hf__zset_open(tx, args[1], &record))
        return;
    if (record == NULL)
        hf__reply_array(tx, 0);
    else
        reply_range(tx, record, &range);
}

static void run_zrange(hf__tx *tx, const hf_bytes *args, size_t count)
{
    run_range(tx, args, count, HF__RANGE_ANY,
              hf__range_init(HF__RANGE_RANK, false));
}

static void run_zrevrange(hf__tx *tx, const hf_bytes *args, size_t count)
{
    run_range(tx, args, count, 0, hf__range_init(HF__RANGE_RANK, true));
}

static void run_zrangebyscore(hf__tx *tx, const hf_bytes *args, size_t count)
{
    run_range(tx, args, count, 0, hf__range_init(HF__RANGE_SCORE, false));
}

static void run_zrevrangebyscore(hf__tx *tx, const hf_bytes *args, size_t count)
{
    run_range(tx, args, count, 0, hf__range_init(HF__RANGE_SCORE, true));
}

static void run_zrangebylex(hf__tx *tx, const hf_bytes *args, size_t count)
{
    run_range(tx, args, count, 0, hf__range_init(HF__RANGE_LEX, false));
}

static void run_zrevrangebylex(hf__tx *tx, const hf_bytes *args, size_t count)
{
    run_range(tx, args, count, 0, hf__range_init(HF__RANGE_LEX, true));
}

static void count_range(hf__tx *tx, const hf_bytes *args, hf__range_kind kind)
{
    hf__range range = hf__range_init(kind, false);
    hf__record *record;

    if (!hf__range_bounds(tx, args[2], args[3], &range) ||
        !hf__zset_open(tx, args[1], &record))
        return;
    hf__reply_integer(
        tx, record == NULL ? 0 : (int64_t)hf__range_count(tx, record, &range));
}

static void run_zcount(hf__tx *tx, const hf_bytes *args, size_t count)
{
    (void)count;
    count_range(tx, args, HF__RANGE_SCORE);
}

static void run_zlexcount(hf__tx *tx, const hf_bytes *args, size_t count)
{
    (void)count;
    count_range(tx, args, HF__RANGE_LEX);
}

const hf__command_entry hf__commands_zrange[] = {
    {"zrange", 0, run_zrange},
    {"zrevrange", 0, run_zrevrange},
    {"zrangebyscore", 0, run_zrangebyscore},
    {"zrevrangebyscore", 0, run_zrevrangebyscore},
    {"zrangebylex", 0, run_zrangebylex},
    {"zrevrangebylex", 0, run_zrevrangebylex},
    {"zcount", 0, run_zcount},
    {"zlexcount", 0, run_zlexcount},
    {NULL, 0, NULL}};
