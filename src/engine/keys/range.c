/* SPDX-License-Identifier: Apache-2.0 */
/*
 * range.c - reading a range of a sorted set and walking it.
 *
 * A range by members makes sense if all scores are equal. Otherwise we return,
 * like Redis, the members from the first one not below the range to the next
 * one above it.
 */
#include "engine/keys/range.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/keys/argument.h"
#include "engine/keys/number_text.h"
#include "engine/keys/packed.h"

/* ---------------------------------------------------------------- reading */

/* Redis passes the argument to strtod(): unlike in a score, white space, an
 * empty text, overflow and underflow are accepted. */
static bool read_score(hf__tx *tx, hf_bytes arg, double *score, bool *open)
{
    const char *text = arg.data;
    size_t used;

    *open = arg.size > 0 && text[0] == '(';
    if (*open)
        arg = hf_view(text + 1, arg.size - 1);
    if (!hf__number_scan(arg, score, &used)) {
        hf__tx_no_memory(tx);
        return false;
    }
    return hf__number_ends(arg, used) && !isnan(*score);
}

/* "[a", "(a", "-" or "+". Redis checks one byte after a sign: the final NUL or
 * one within the argument. */
static bool read_text(hf_bytes arg, hf__range_text *bound, bool *open)
{
    const char *at = arg.data;

    if (arg.size == 0)
        return false;
    *open = at[0] != '[';
    switch (at[0]) {
    case '(':
    case '[':
        bound->beyond = 0;
        bound->text = hf_view(at + 1, arg.size - 1);
        return true;
    case '-':
    case '+':
        bound->beyond = at[0] == '+' ? 1 : -1;
        return arg.size == 1 || at[1] == '\0';
    default:
        return false;
    }
}

bool hf__range_bounds(hf__tx *tx, hf_bytes min, hf_bytes max, hf__range *range)
{
    switch (range->kind) {
    case HF__RANGE_RANK:
        return hf__arg_integer(tx, min, &range->start) &&
               hf__arg_integer(tx, max, &range->end);
    case HF__RANGE_SCORE:
        if (read_score(tx, min, &range->min, &range->min_open) &&
            read_score(tx, max, &range->max, &range->max_open))
            return true;
        hf__reply_error(tx, "ERR min or max is not a float");
        return false;
    case HF__RANGE_LEX:
        if (read_text(min, &range->min_text, &range->min_open) &&
            read_text(max, &range->max_text, &range->max_open))
            return true;
        hf__reply_error(tx, "ERR min or max not valid string range item");
        return false;
    }
    return false;
}

hf__range hf__range_init(hf__range_kind kind, bool backward)
{
    hf__range range;

    memset(&range, 0, sizeof(range));
    range.kind = kind;
    range.backward = backward;
    range.count = -1;
    return range;
}

static bool read_limit(hf__tx *tx, const hf_bytes *args, hf__range *range)
{
    return hf__arg_integer(tx, args[0], &range->offset) &&
           hf__arg_integer(tx, args[1], &range->count);
}

static size_t reply_syntax_error(hf__tx *tx)
{
    hf__reply_error(tx, HF__ERROR_SYNTAX);
    return 0;
}

/* Read one option; returns its number of arguments, 0: replied with an
 * error. */
static size_t read_option(hf__tx *tx, const hf_bytes *args, size_t left,
                          unsigned allowed, hf__range *range)
{
    bool any = (allowed & HF__RANGE_ANY) != 0;
    bool any_kind = any && range->kind == HF__RANGE_RANK;

    if (!(allowed & HF__RANGE_STORE) && hf__arg_is(args[0], "withscores"))
        range->with_scores = true;
    else if (left > 2 && hf__arg_is(args[0], "limit"))
        return read_limit(tx, args + 1, range) ? 3 : 0;
    else if (any && !range->backward && hf__arg_is(args[0], "rev"))
        range->backward = true;
    else if (any_kind && hf__arg_is(args[0], "bylex"))
        range->kind = HF__RANGE_LEX;
    else if (any_kind && hf__arg_is(args[0], "byscore"))
        range->kind = HF__RANGE_SCORE;
    else
        return reply_syntax_error(tx);
    return 1;
}

bool hf__range_read(hf__tx *tx, const hf_bytes *args, size_t count,
                    unsigned allowed, hf__range *range)
{
    size_t taken;
    size_t low;

    for (size_t i = 2; i < count; i += taken) {
        taken = read_option(tx, args + i, count - i, allowed, range);
        if (taken == 0)
            return false;
    }
    if (range->count != -1 && range->kind == HF__RANGE_RANK) {
        hf__reply_error(tx, "ERR syntax error, LIMIT is only supported in "
                            "combination with either BYSCORE or BYLEX");
        return false;
    }
    if (range->with_scores && range->kind == HF__RANGE_LEX) {
        hf__reply_error(tx, "ERR syntax error, WITHSCORES not supported in "
                            "combination with BYLEX");
        return false;
    }
    low = range->backward && range->kind != HF__RANGE_RANK ? 1 : 0;
    return hf__range_bounds(tx, args[low], args[1 - low], range);
}

/* ---------------------------------------------------------------- walking */

static int compare_bound(hf_bytes member, const hf__range_text *bound)
{
    return bound->beyond != 0 ? -bound->beyond
                              : hf__bytes_compare(member, bound->text);
}

static bool is_below(const hf__range *range, hf_bytes member, double score)
{
    int order;

    if (range->kind == HF__RANGE_RANK)
        return false;
    if (range->kind == HF__RANGE_SCORE)
        return score < range->min || (range->min_open && score <= range->min);
    order = compare_bound(member, &range->min_text);
    return order < 0 || (range->min_open && order == 0);
}

static bool is_above(const hf__range *range, hf_bytes member, double score)
{
    int order;

    if (range->kind == HF__RANGE_RANK)
        return false;
    if (range->kind == HF__RANGE_SCORE)
        return score > range->max || (range->max_open && score >= range->max);
    order = compare_bound(member, &range->max_text);
    return order > 0 || (range->max_open && order == 0);
}

/* Before the range in walking direction; and after it. */
static bool is_before(const hf__range *range, hf_bytes member, double score)
{
    return range->backward ? is_above(range, member, score)
                           : is_below(range, member, score);
}

static bool is_behind(const hf__range *range, hf_bytes member, double score)
{
    return range->backward ? is_below(range, member, score)
                           : is_above(range, member, score);
}

/* The member at one end; false: empty. */
static bool find_end(hf__tx *tx, hf__record *record, bool last,
                     hf_bytes *member, double *score)
{
    hf__zset_walk walk;
    bool found;

    hf__zset_walk_begin(&walk, tx, record, last ? INFINITY : -INFINITY, last);
    found = hf__zset_walk_next(&walk, member, score);
    hf__zset_walk_end(&walk);
    return found;
}

/* Begin at the bound if the members are in byte order. With several scores they
 * are not, and Redis first looks at both ends. */
static void begin_lex(hf__range_walk *walk, hf__tx *tx, hf__record *record,
                      const hf__range *range)
{
    const hf__range_text *from =
        range->backward ? &range->max_text : &range->min_text;
    hf_bytes first = hf_view(NULL, 0);
    hf_bytes last = first;
    double low = 0;
    double high = 0;

    if (!find_end(tx, record, false, &first, &low) ||
        !find_end(tx, record, true, &last, &high))
        walk->left = 0;
    else if (low < high &&
             (is_below(range, last, high) || is_above(range, first, low)))
        walk->left = 0;
    if (low < high || from->beyond != 0)
        hf__zset_walk_begin(&walk->walk, tx, record,
                            range->backward ? INFINITY : -INFINITY,
                            range->backward);
    else
        hf__zset_walk_begin_at(&walk->walk, tx, record, low, from->text,
                               range->backward);
}

/* From ranks, which may count from the end, to numbers of members. */
static void begin_rank(hf__range_walk *walk, hf__tx *tx, hf__record *record,
                       const hf__range *range)
{
    int64_t size = (int64_t)record->count;
    int64_t start = range->start;
    int64_t end = range->end;

    if (start < 0)
        start = start + size < 0 ? 0 : start + size;
    if (end < 0)
        end += size;
    if (end >= size)
        end = size - 1;
    walk->skip = (uint64_t)start;
    walk->left = start > end || start >= size ? 0 : (uint64_t)(end - start) + 1;
    hf__zset_walk_begin(&walk->walk, tx, record,
                        range->backward ? INFINITY : -INFINITY,
                        range->backward);
}

void hf__range_begin(hf__range_walk *walk, hf__tx *tx, hf__record *record,
                     const hf__range *range)
{
    walk->range = range;
    walk->inside = false;
    /* As in Redis, the range is empty for a negative offset. */
    walk->skip = range->offset < 0 ? 0 : (uint64_t)range->offset;
    walk->left = range->count < 0 ? UINT64_MAX : (uint64_t)range->count;
    if (range->offset < 0)
        walk->left = 0;
    if (range->kind == HF__RANGE_RANK)
        begin_rank(walk, tx, record, range);
    else if (range->kind == HF__RANGE_LEX)
        begin_lex(walk, tx, record, range);
    else
        hf__zset_walk_begin(&walk->walk, tx, record,
                            range->backward ? range->max : range->min,
                            range->backward);
}

bool hf__range_next(hf__range_walk *walk, hf_bytes *member, double *score)
{
    const hf__range *range = walk->range;

    while (walk->left > 0 && hf__zset_walk_next(&walk->walk, member, score)) {
        bool behind = is_behind(range, *member, *score);

        if (!walk->inside && is_before(range, *member, *score))
            continue;
        /* Once the range has begun, skipped members may be outside of it; by
         * score nothing can follow. */
        if (behind && (!walk->inside || walk->skip == 0 ||
                       range->kind == HF__RANGE_SCORE))
            break;
        walk->inside = true;
        if (walk->skip > 0) {
            walk->skip--;
            continue;
        }
        walk->left--;
        return true;
    }
    walk->left = 0;
    return false;
}

void hf__range_end(hf__range_walk *walk)
{
    hf__zset_walk_end(&walk->walk);
}

uint64_t hf__range_count(hf__tx *tx, hf__record *record, const hf__range *range)
{
    hf__range_walk walk;
    hf_bytes member;
    double score;
    uint64_t count = 0;

    hf__range_begin(&walk, tx, record, range);
    if (range->kind == HF__RANGE_RANK)
        count = walk.left;
    else
        while (hf__range_next(&walk, &member, &score))
            count++;
    hf__range_end(&walk);
    return count;
}
