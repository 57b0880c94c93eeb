/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zset_algebra.c - unions, intersections and differences of sorted sets and of
 * sets, whose members have the score 1.
 *
 * The inputs are read and copied one after another, as there may be more keys
 * than a transaction keeps in memory. As in Redis, scores are aggregated from
 * the smallest input to the largest: floating-point sums depend on the order.
 */
#include <math.h>
#include <stdlib.h>

#include "engine/commands/command_row.h"
#include "engine/keys/members.h"
#include "engine/keys/number_text.h"
#include "engine/keys/packed.h"
#include "engine/keys/type_set.h"
#include "engine/keys/type_zset.h"

typedef enum zset_operation { UNION, INTER, DIFF } zset_operation;
typedef enum aggregate { SUM, MIN, MAX } aggregate;

typedef struct source {
    hf_bytes key;
    uint64_t count; /* members */
    double weight;
    size_t index; /* index in the arguments */
} source;

typedef struct zset_algebra {
    hf__tx *tx;
    zset_operation what;
    bool only_count; /* ZINTERCARD */
    bool store;
    bool with_scores;
    aggregate how;
    int64_t limit; /* of the count; 0: none */
    source *sources;
    size_t source_count;
} zset_algebra;

/* ------------------------------------------------------------------ inputs */

/* The input; NULL in *record: none. false: another type, replied, or fatal. */
static bool open_source(hf__tx *tx, hf_bytes key, hf__record **record)
{
    hf__tx_trim(tx);
    *record = hf__key_find(tx, key);
    if (tx->fatal != HF_OK)
        return false;
    if (*record == NULL || (*record)->type == HF__TYPE_ZSET ||
        (*record)->type == HF__TYPE_SET)
        return true;
    return hf__reply_wrong_type(tx);
}

static bool has_member(hf__tx *tx, hf__record *record, hf_bytes member,
                       double *score)
{
    if (record == NULL)
        return false;
    if (record->type == HF__TYPE_ZSET)
        return hf__zset_score(tx, record, member, score);
    *score = 1;
    return hf__set_has(tx, record, member);
}

static double weigh_score(const source *from, double score)
{
    double weighed = from->weight * score;

    /* NaN, from infinity times 0, and -0 become 0. */
    return isnan(weighed) ? 0 : weighed + 0.0;
}

static void load_sorted(hf__members *list, hf__record *record,
                        const source *from)
{
    hf__zset_walk walk;
    hf_bytes member;
    double score;

    hf__zset_walk_begin(&walk, list->tx, record, -INFINITY, false);
    while (hf__zset_walk_next(&walk, &member, &score) &&
           hf__members_add(list, member, weigh_score(from, score)))
        continue;
    hf__zset_walk_end(&walk);
}

static void load_set(hf__members *list, hf__record *record, const source *from)
{
    hf__set_walk walk;
    hf_bytes member;

    hf__set_walk_begin(&walk, list->tx, record);
    while (hf__set_walk_next(&walk, &member) &&
           hf__members_add(list, member, weigh_score(from, 1)))
        continue;
    hf__set_walk_end(&walk);
}

/* Append all members. false: fatal. */
static bool load_source(hf__members *list, const source *from)
{
    hf__record *record;

    if (!open_source(list->tx, from->key, &record))
        return false;
    if (record != NULL && record->type == HF__TYPE_ZSET)
        load_sorted(list, record, from);
    else if (record != NULL)
        load_set(list, record, from);
    return list->tx->fatal == HF_OK;
}

/* -------------------------------------------------------------- operations */

static double combine_scores(aggregate how, double a, double b)
{
    double sum;

    switch (how) {
    case MIN:
        return b < a ? b : a;
    case MAX:
        return b > a ? b : a;
    default:
        sum = a + b;
        return isnan(sum) ? 0 : sum; /* infinities of both signs */
    }
}

static void unite_sources(const zset_algebra *what, hf__members *list)
{
    for (size_t i = 0; i < what->source_count; i++) {
        if (!load_source(list, &what->sources[i]))
            return;
    }
    hf__members_sort_names(list);
    for (size_t i = 0, first = 0; i < list->count; i++) {
        hf__member *kept = &list->items[first];
        hf__member *next = &list->items[i];

        if (i == first || !hf__bytes_same(kept->name, next->name)) {
            first = i;
            continue;
        }
        kept->score = combine_scores(what->how, kept->score, next->score);
        next->gone = true;
    }
    hf__members_sweep(list);
}

/* Keep members that are in the input, or for DIFF those that are not. */
static bool filter_members(const zset_algebra *what, const source *from,
                           hf__members *list)
{
    hf__record *record;
    double score;

    if (!open_source(what->tx, from->key, &record))
        return false;
    for (size_t i = 0; i < list->count && what->tx->fatal == HF_OK; i++) {
        hf__member *member = &list->items[i];
        bool found = has_member(what->tx, record, member->name, &score);

        member->gone = found == (what->what == DIFF);
        if (found && what->what == INTER)
            member->score = combine_scores(what->how, member->score,
                                           from->weight * score + 0.0);
    }
    hf__members_sweep(list);
    return what->tx->fatal == HF_OK;
}

static void compute_members(const zset_algebra *what, hf__members *list)
{
    if (what->what == UNION) {
        unite_sources(what, list);
        return;
    }
    if (!load_source(list, &what->sources[0]))
        return;
    for (size_t i = 1; i < what->source_count && list->count > 0; i++) {
        if (!filter_members(what, &what->sources[i], list))
            return;
    }
}

/* ------------------------------------------------------------------- words */

/* Read `numkeys key ...`; returns the number of arguments read, 0: error. */
static size_t read_keys(zset_algebra *what, const hf_bytes *args, size_t count)
{
    int64_t number;

    if (!hf__arg_integer(what->tx, args[0], &number))
        return 0;
    if (number < 1) {
        hf__reply_error(what->tx,
                        "ERR at least 1 input key is needed for '%s' command",
                        what->tx->command->name);
        return 0;
    }
    if ((uint64_t)number > count - 1) {
        hf__reply_error(what->tx, HF__ERROR_SYNTAX);
        return 0;
    }
    what->source_count = (size_t)number;
    what->sources = hf__tx_alloc(what->tx, what->source_count * sizeof(source));
    if (what->sources == NULL)
        return 0;
    for (size_t i = 0; i < what->source_count; i++)
        what->sources[i] = (source){args[1 + i], 0, 1, i};
    return 1 + what->source_count;
}

/* Types are checked before the options, as in Redis. */
static bool check_sources(const zset_algebra *what)
{
    hf__record *record;

    for (size_t i = 0; i < what->source_count; i++) {
        if (!open_source(what->tx, what->sources[i].key, &record))
            return false;
        what->sources[i].count = record == NULL ? 0 : record->count;
    }
    return true;
}

static bool read_weights(const zset_algebra *what, const hf_bytes *args)
{
    for (size_t i = 0; i < what->source_count; i++) {
        if (!hf__arg_double(what->tx, args[i],
                            "ERR weight value is not a float",
                            &what->sources[i].weight))
            return false;
    }
    return true;
}

static bool read_aggregate(zset_algebra *what, hf_bytes arg)
{
    if (hf__arg_is(arg, "sum"))
        what->how = SUM;
    else if (hf__arg_is(arg, "min"))
        what->how = MIN;
    else if (hf__arg_is(arg, "max"))
        what->how = MAX;
    else
        hf__reply_error(what->tx, HF__ERROR_SYNTAX);
    return !what->tx->out->failed;
}

static bool read_limit(zset_algebra *what, hf_bytes arg)
{
    if (hf__number_integer(arg, &what->limit) && what->limit >= 0)
        return true;
    return hf__reply_error(what->tx, "ERR LIMIT can't be negative");
}

/* Read one option; returns the number of arguments read, 0: error. */
static size_t read_option(zset_algebra *what, const hf_bytes *args, size_t left)
{
    bool weighted = what->what != DIFF && !what->only_count;

    if (weighted && left > what->source_count && hf__arg_is(args[0], "weights"))
        return read_weights(what, args + 1) ? 1 + what->source_count : 0;
    if (weighted && left > 1 && hf__arg_is(args[0], "aggregate"))
        return read_aggregate(what, args[1]) ? 2 : 0;
    if (!what->store && !what->only_count &&
        hf__arg_is(args[0], "withscores")) {
        what->with_scores = true;
        return 1;
    }
    if (what->only_count && left > 1 && hf__arg_is(args[0], "limit"))
        return read_limit(what, args[1]) ? 2 : 0;
    hf__reply_error(what->tx, HF__ERROR_SYNTAX);
    return 0;
}

static bool read_options(zset_algebra *what, const hf_bytes *args, size_t count)
{
    size_t taken;

    for (size_t i = 0; i < count; i += taken) {
        taken = read_option(what, args + i, count - i);
        if (taken == 0)
            return false;
    }
    return true;
}

static int by_count(const void *left, const void *right)
{
    const source *a = left;
    const source *b = right;

    if (a->count != b->count)
        return a->count < b->count ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

/* ---------------------------------------------------------------- commands */

static void reply_result(const zset_algebra *what, hf__members *list,
                         hf_bytes target)
{
    uint64_t count = list->count;

    if (what->only_count) {
        if (what->limit > 0 && count > (uint64_t)what->limit)
            count = (uint64_t)what->limit;
        hf__reply_integer(what->tx, (int64_t)count);
        return;
    }
    hf__members_sort(list);
    if (what->store)
        hf__members_store(list, target);
    else
        hf__members_reply(list, what->with_scores);
    if (what->store && list->count > 0)
        hf__key_event(list->tx, HF__EVENT_ZSET, list->tx->command->name,
                      target);
}

/* Variants: which operation, and these. */
#define KIND(kind) HF__VARIANT(kind)
#define STORE HF__VARIANT(1 << 2)
#define CARD HF__VARIANT(1 << 3) /* only the number of members */

/* args[1] is the target of a STORE form. */
static void run_algebra(hf__tx *tx, const hf_bytes *args, size_t count)
{
    unsigned flags = tx->command->flags;
    zset_algebra what = {.tx = tx,
                         .what = hf__variant(tx) % 4,
                         .store = (flags & STORE) != 0,
                         .only_count = (flags & CARD) != 0};
    size_t first = what.store ? 2 : 1;
    hf__members list;
    size_t taken;

    taken = read_keys(&what, args + first, count - first);
    first += taken;
    if (taken > 0 && check_sources(&what) &&
        read_options(&what, args + first, count - first)) {
        if (what.what != DIFF)
            qsort(what.sources, what.source_count, sizeof(source), by_count);
        hf__members_init(&list, tx);
        compute_members(&what, &list);
        if (tx->fatal == HF_OK)
            reply_result(&what, &list, args[1]);
    }
}

#define GROWS (HF__COMMAND_WRITES | HF__COMMAND_GROWS)

const hf__command_entry hf__commands_zset_algebra[] = {
    {"zunion", KIND(UNION), run_algebra},
    {"zinter", KIND(INTER), run_algebra},
    {"zdiff", KIND(DIFF), run_algebra},
    {"zintercard", KIND(INTER) | CARD, run_algebra},
    {"zunionstore", GROWS | KIND(UNION) | STORE, run_algebra},
    {"zinterstore", GROWS | KIND(INTER) | STORE, run_algebra},
    {"zdiffstore", GROWS | KIND(DIFF) | STORE, run_algebra},
    {NULL, 0, NULL}};
