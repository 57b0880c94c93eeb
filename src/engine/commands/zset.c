/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zset.c - commands on single members of sorted sets.
 */
#include <math.h>
#include <string.h>

#include "engine/commands/command_row.h"
#include "engine/commands/zadd.h"
#include "engine/keys/number_text.h"
#include "engine/keys/packed.h"
#include "engine/keys/type_zset.h"
#include "store/limits.h"

/* -------------------------------------------------------------------- ZADD */

typedef struct zadd_options {
    bool nx;
    bool xx;
    bool gt;
    bool lt;
    bool ch;
    bool incr;
    size_t first; /* index of the first pair */
} zadd_options;

static void read_options(const hf_bytes *args, size_t count,
                         zadd_options *options)
{
    size_t i;

    memset(options, 0, sizeof(*options));
    for (i = 2; i < count; i++) {
        if (hf__arg_is(args[i], "nx"))
            options->nx = true;
        else if (hf__arg_is(args[i], "xx"))
            options->xx = true;
        else if (hf__arg_is(args[i], "gt"))
            options->gt = true;
        else if (hf__arg_is(args[i], "lt"))
            options->lt = true;
        else if (hf__arg_is(args[i], "ch"))
            options->ch = true;
        else if (hf__arg_is(args[i], "incr"))
            options->incr = true;
        else
            break;
    }
    options->first = i;
}

static bool check_options(hf__tx *tx, const zadd_options *options, size_t count)
{
    size_t left = count - options->first;

    if (left == 0 || left % 2 != 0)
        return hf__reply_error(tx, HF__ERROR_SYNTAX);
    if (options->nx && options->xx)
        return hf__reply_error(tx,
                               "ERR XX and NX options at the same time are not "
                               "compatible");
    if ((options->gt && options->nx) || (options->lt && options->nx) ||
        (options->gt && options->lt))
        return hf__reply_error(
            tx, "ERR GT, LT, and/or NX options at the same time are "
                "not compatible");
    if (options->incr && left > 2)
        return hf__reply_error(tx, "ERR INCR option supports a single "
                                   "increment-element pair");
    return true;
}

typedef struct zadd_result {
    int64_t added;
    int64_t updated;
    bool applied; /* the last pair was */
    double score; /* of the last pair */
} zadd_result;

/* false: replied with an error. */
static bool add_member(hf__tx *tx, hf__record *record,
                       const zadd_options *options, hf_bytes member,
                       double score, zadd_result *result)
{
    double old = 0;

    result->applied = false;
    if (options->xx && !hf__zset_score(tx, record, member, &old))
        return true;
    if (!options->xx && hf__zset_add_new(tx, record, member, score, &old)) {
        result->added++;
    } else {
        if (options->nx || tx->fatal != HF_OK)
            return true;
        if (options->incr)
            score += old;
        if (!hf__is_score(score))
            return hf__reply_error(tx,
                                   "ERR resulting score is not a number (NaN)");
        if ((options->lt && score >= old) || (options->gt && score <= old))
            return true;
        if (score < old || score > old) {
            hf__zset_move(tx, record, member, old, score);
            result->updated++;
        }
    }
    result->applied = true;
    result->score = score;
    return true;
}

static bool check_scores(hf__tx *tx, const hf_bytes *args, size_t count,
                         size_t first)
{
    double score;

    for (size_t i = first; i < count; i += 2) {
        if (!hf__arg_double(tx, args[i], HF__ERROR_FLOAT, &score))
            return false;
    }
    return true;
}

static void reply_added(hf__tx *tx, const zadd_options *options,
                        const zadd_result *result)
{
    if (options->incr && result->applied)
        hf__reply_double(tx, result->score);
    else if (options->incr)
        hf__reply_nil(tx);
    else
        hf__reply_integer(tx,
                          result->added + (options->ch ? result->updated : 0));
}

static void add_members(hf__tx *tx, const hf_bytes *args, size_t count,
                        const zadd_options *options)
{
    zadd_result result = {0, 0, false, 0};
    hf__record *record;
    double score;

    if (!check_scores(tx, args, count, options->first) ||
        !hf__zset_open(tx, args[1], &record))
        return;
    if (record == NULL && !options->xx)
        record = hf__key_make(tx, args[1], HF__TYPE_ZSET);
    if (record != NULL) {
        for (size_t i = options->first; i < count && tx->fatal == HF_OK;
             i += 2) {
            if (!hf__arg_double(tx, args[i], HF__ERROR_FLOAT, &score) ||
                !add_member(tx, record, options, args[i + 1], score, &result))
                return;
        }
        /* With GT, LT and NaN a new key may remain empty. */
        if (record->count == 0)
            hf__key_drop(tx, record);
    }
    if (result.added + result.updated > 0)
        hf__key_event(tx, HF__EVENT_ZSET, options->incr ? "zincr" : "zadd",
                      args[1]);
    reply_added(tx, options, &result);
}

void hf__zadd_run(hf__tx *tx, const hf_bytes *args, size_t count)
{
    zadd_options options;

    read_options(args, count, &options);
    if (check_options(tx, &options, count))
        add_members(tx, args, count, &options);
}

static void run_zincrby(hf__tx *tx, const hf_bytes *args, size_t count)
{
    zadd_options options;

    /* As in Redis, accepts ZADD's options. */
    read_options(args, count, &options);
    options.incr = true;
    if (check_options(tx, &options, count))
        add_members(tx, args, count, &options);
}

/* ------------------------------------------------------------------ others */

static void run_zrem(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__record *record;
    int64_t removed = 0;

    if (!hf__zset_open(tx, args[1], &record))
        return;
    for (size_t i = 2; record != NULL && i < count && tx->fatal == HF_OK; i++) {
        if (!hf__zset_take(tx, record, args[i]))
            continue;
        removed++;
        if (record->count == 0)
            break;
    }
    if (removed > 0)
        hf__key_event(tx, HF__EVENT_ZSET, "zrem", args[1]);
    if (record != NULL && record->count == 0)
        hf__key_delete(tx, record);
    hf__reply_integer(tx, removed);
}

static void run_zscore(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__record *record;
    double score;

    (void)count;
    if (!hf__zset_open(tx, args[1], &record))
        return;
    if (record != NULL && hf__zset_score(tx, record, args[2], &score))
        hf__reply_double(tx, score);
    else
        hf__reply_nil(tx);
}

static void run_zcard(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__record *record;

    (void)count;
    if (hf__zset_open(tx, args[1], &record))
        hf__reply_integer(tx, record == NULL ? 0 : (int64_t)record->count);
}

/* The variant of ZREVRANK. */
#define BACKWARD HF__VARIANT(1)

static void run_zrank(hf__tx *tx, const hf_bytes *args, size_t count)
{
    bool backward = (tx->command->flags & BACKWARD) != 0;
    hf__record *record;
    double score;
    uint64_t rank;

    (void)count;
    if (!hf__zset_open(tx, args[1], &record))
        return;
    if (record == NULL || !hf__zset_score(tx, record, args[2], &score)) {
        hf__reply_nil(tx);
        return;
    }
    rank = hf__zset_rank(tx, record, score, args[2]);
    hf__reply_integer(tx,
                      (int64_t)(backward ? record->count - 1 - rank : rank));
}

#define WRITES HF__COMMAND_WRITES
#define GROWS (HF__COMMAND_WRITES | HF__COMMAND_GROWS)

const hf__command_entry hf__commands_zset[] = {
    {"zadd", GROWS, hf__zadd_run},     {"zincrby", GROWS, run_zincrby},
    {"zrem", WRITES, run_zrem},        {"zscore", 0, run_zscore},
    {"zcard", 0, run_zcard},           {"zrank", 0, run_zrank},
    {"zrevrank", BACKWARD, run_zrank}, {NULL, 0, NULL}};
