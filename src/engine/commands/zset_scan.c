/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zset_scan.c - commands that return some members of a sorted set, unordered:
 * ZMSCORE, ZRANDMEMBER, ZSCAN.
 */
#include <math.h>
#include <string.h>

#include "engine/commands/command_row.h"
#include "engine/keys/number_text.h"
#include "engine/keys/random_sample.h"
#include "engine/keys/scan.h"
#include "engine/keys/type_zset.h"

static void reply_scores(hf__tx *tx, hf__record *record,
                         const hf_bytes *members, size_t count)
{
    double scores[HF__ELEMENTS_FEW];

    if (record != NULL)
        hf__zset_scores(tx, record, members, count, scores);
    for (size_t i = 0; i < count; i++) {
        if (record != NULL && !isnan(scores[i]))
            hf__reply_double(tx, scores[i]);
        else
            hf__reply_nil(tx);
    }
}

static void run_zmscore(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__record *record;

    if (!hf__zset_open(tx, args[1], &record))
        return;
    hf__reply_array(tx, count - 2);
    for (size_t i = 2; i < count; i += HF__ELEMENTS_FEW)
        reply_scores(tx, record, args + i,
                     count - i < HF__ELEMENTS_FEW ? count - i
                                                  : HF__ELEMENTS_FEW);
}

/* Views of all members, or those that match the scan. */
static void gather_members(hf__record *record, const hf__scan *scan,
                           hf__members *list)
{
    hf__zset_walk walk;
    hf_bytes member;
    double score;

    hf__zset_walk_begin(&walk, list->tx, record, -INFINITY, false);
    while (hf__zset_walk_next(&walk, &member, &score)) {
        if (hf__scan_fits(scan, member) &&
            !hf__members_refer(list, member, score))
            break;
    }
    hf__zset_walk_end(&walk);
}

static void run_zrandmember(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__members list;
    hf__record *record;
    hf__random_sample sample;

    if (!hf__random_sample_read(&sample, tx, args + 2, count - 2,
                                "withscores") ||
        !hf__zset_open(tx, args[1], &record))
        return;
    hf__members_init(&list, tx);
    if (record != NULL)
        gather_members(record, NULL, &list);
    hf__random_sample_reply(&sample, &list, false);
}

static bool refer_element(hf__members *list, hf_bytes member, hf_bytes value)
{
    double score;

    if (value.size != sizeof(score)) {
        hf__tx_fail(list->tx, MDB_CORRUPTED);
        return false;
    }
    memcpy(&score, value.data, sizeof(score));
    return hf__members_refer(list, member, score);
}

/* Only here, and only for small sets, Redis prints large integer scores with
 * all digits. With RESP3, too, scores are strings. */
static void reply_pairs(const hf__members *list, bool small)
{
    const double whole_max = 0x1p62;
    hf__tx *tx = list->tx;
    char text[HF__NUMBER_TEXT_SIZE];

    hf__reply_array(tx, 2 * list->count);
    for (size_t i = 0; i < list->count; i++) {
        hf_bytes member = list->items[i].name;
        double score = list->items[i].score;
        size_t size;

        hf__reply_bytes(tx, member.data, member.size);
        if (small && fabs(score) <= whole_max && score == trunc(score))
            size = hf__number_put_integer(text, (int64_t)score);
        else
            size = hf__number_put_double(text, score);
        hf__reply_bytes(tx, text, size);
    }
}

static void run_zscan(hf__tx *tx, const hf_bytes *args, size_t count)
{
    uint64_t cursor = 0;
    hf__record *record;
    hf__members list;
    hf__scan scan;

    if (!hf__scan_open(&scan, tx, args, count, hf__zset_open, &record))
        return;
    hf__members_init(&list, tx);
    if (record->form == HF__FORM_ELEMENTS)
        cursor = hf__scan_elements(&scan, record, refer_element, &list);
    else
        gather_members(record, &scan, &list);
    hf__scan_reply_cursor(tx, cursor);
    reply_pairs(&list, record->form == HF__FORM_INLINE);
}

const hf__command_entry hf__commands_zset_scan[] = {
    {"zmscore", 0, run_zmscore},
    {"zrandmember", 0, run_zrandmember},
    {"zscan", 0, run_zscan},
    {NULL, 0, NULL}};
