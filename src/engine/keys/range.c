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
#include "engine/keys/counts.h"
#include "engine/keys/number_text.h"
#include "engine/keys/packed.h"
#include "engine/keys/score.h"

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
        return hf__reply_error(tx, "ERR min or max is not a float");
    case HF__RANGE_LEX:
        if (read_text(min, &range->min_text, &range->min_open) &&
            read_text(max, &range->max_text, &range->max_open))
            return true;
        return hf__reply_error(tx,
                               "ERR min or max not valid string range item");
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
    if (range->count != -1 && range->kind == HF__RANGE_RANK)
        return hf__reply_error(tx,
                               "ERR syntax error, LIMIT is only supported in "
                               "combination with either BYSCORE or BYLEX");
    if (range->with_scores && range->kind == HF__RANGE_LEX)
        return hf__reply_error(tx,
                               "ERR syntax error, WITHSCORES not supported in "
                               "combination with BYLEX");
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

/* Are the members of the range together? With several scores, those of one by
 * members are not. */
static bool is_together(hf__tx *tx, hf__record *record, const hf__range *range,
                        double *score)
{
    hf_bytes member;
    double last;

    if (range->kind != HF__RANGE_LEX)
        return true;
    return find_end(tx, record, false, &member, score) &&
           find_end(tx, record, true, &member, &last) && *score >= last;
}

/* How many members come before a bound: the minimum, or the end of those up to
 * the maximum. `score` is that of all members of a range by members. */
static uint64_t rank_of_bound(hf__tx *tx, hf__record *record,
                              const hf__range *range, double score, bool max)
{
    const hf__range_text *text = max ? &range->max_text : &range->min_text;
    double from = max ? range->max : range->min;
    bool behind = max != (max ? range->max_open : range->min_open);
    double found;

    if (range->kind == HF__RANGE_LEX) {
        if (text->beyond != 0)
            return text->beyond < 0 ? 0 : record->count;
        return hf__zset_rank(tx, record, score, text->text) +
               (behind && hf__zset_score(tx, record, text->text, &found) ? 1
                                                                         : 0);
    }
    if (behind && isinf(from) && from > 0)
        return record->count;
    if (behind)
        from = hf__score_of(hf__order_of(from) + 1);
    return hf__zset_rank(tx, record, from, hf_view(NULL, 0));
}

/* By ranks: where the range begins, in its direction, and how many members it
 * has. */
static uint64_t rank_range(hf__tx *tx, hf__record *record,
                           const hf__range *range, double score, uint64_t *rank)
{
    uint64_t low = rank_of_bound(tx, record, range, score, false);
    uint64_t high = rank_of_bound(tx, record, range, score, true);

    *rank = range->backward ? record->count - high : low;
    return low < high ? high - low : 0;
}

/* Begin at the bound if the members are in byte order. With several scores they
 * are not, and Redis first looks at both ends. */
static void begin_lex(hf__range_walk *walk, hf__tx *tx, hf__record *record,
                      const hf__range *range)
{
    const hf__range_text *from =
        range->backward ? &range->max_text : &range->min_text;
    bool near = range->backward;
    hf_bytes ends[2] = {{NULL, 0}, {NULL, 0}}; /* first, last */
    double scores[2] = {0, 0};

    /* A reader's cursor stays at the end that is found last. */
    if (!find_end(tx, record, !near, &ends[!near], &scores[!near]) ||
        !find_end(tx, record, near, &ends[near], &scores[near]))
        walk->left = 0;
    else if (scores[0] < scores[1] && (is_below(range, ends[1], scores[1]) ||
                                       is_above(range, ends[0], scores[0])))
        walk->left = 0;
    if (scores[0] < scores[1] || from->beyond != 0)
        hf__zset_walk_begin(&walk->walk, tx, record,
                            range->backward ? INFINITY : -INFINITY,
                            range->backward);
    else
        hf__zset_walk_begin_at(&walk->walk, tx, record, scores[0], from->text,
                               range->backward);
}

/* From ranks, which may count from the end, to the number of members and the
 * rank of the first. */
static uint64_t read_ranks(const hf__record *record, const hf__range *range,
                           uint64_t *rank)
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
    if (start > end || start >= size)
        return 0;
    *rank = (uint64_t)start;
    return (uint64_t)(end - start) + 1;
}

/* Begin where it is known by ranks. */
static void begin_exact(hf__range_walk *walk, hf__tx *tx, hf__record *record,
                        uint64_t rank, uint64_t count)
{
    walk->exact = true;
    walk->skip = 0;
    walk->left = count;
    hf__zset_walk_begin_rank(&walk->walk, tx, record, count > 0 ? rank : 0,
                             walk->range->backward);
}

/* Begin a range by score or members at its offset. false: it is walked to. */
static bool begin_far(hf__range_walk *walk, hf__tx *tx, hf__record *record,
                      const hf__range *range)
{
    uint64_t skip = walk->skip;
    uint64_t count, rank;
    double score = 0;

    if (walk->left == 0 || skip < HF__ZSET_NEAR || !hf__counts_exist(record) ||
        !is_together(tx, record, range, &score))
        return false;
    count = rank_range(tx, record, range, score, &rank);
    count = count > skip ? count - skip : 0;
    begin_exact(walk, tx, record, rank + skip,
                count < walk->left ? count : walk->left);
    return true;
}

void hf__range_begin(hf__range_walk *walk, hf__tx *tx, hf__record *record,
                     const hf__range *range)
{
    uint64_t count;
    uint64_t rank = 0;

    walk->range = range;
    walk->inside = false;
    walk->exact = false;
    /* As in Redis, the range is empty for a negative offset. */
    walk->skip = range->offset < 0 ? 0 : (uint64_t)range->offset;
    walk->left = range->count < 0 ? UINT64_MAX : (uint64_t)range->count;
    if (range->offset < 0)
        walk->left = 0;
    if (range->kind == HF__RANGE_RANK) {
        count = read_ranks(record, range, &rank);
        begin_exact(walk, tx, record, rank, count);
    } else if (begin_far(walk, tx, record, range)) {
        return;
    } else if (range->kind == HF__RANGE_LEX)
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

/* So many members are counted sooner than the ranks of both ends are found. */
#define COUNT_NEAR 128u

uint64_t hf__range_count(hf__tx *tx, hf__record *record, const hf__range *range)
{
    bool far = hf__counts_exist(record);
    hf__range_walk walk;
    hf_bytes member;
    uint64_t skip, limit, rank, all;
    uint64_t count = 0;
    double score = 0;

    if (range->kind == HF__RANGE_RANK)
        return read_ranks(record, range, &rank);
    hf__range_begin(&walk, tx, record, range);
    skip = walk.skip;
    limit = walk.left;
    if (walk.exact)
        count = walk.left;
    else
        while ((!far || count < COUNT_NEAR) &&
               hf__range_next(&walk, &member, &score))
            count++;
    far = far && !walk.exact && walk.left > 0;
    hf__range_end(&walk);
    if (!far)
        return count;
    if (is_together(tx, record, range, &score)) {
        all = rank_range(tx, record, range, score, &rank);
        all = all > skip ? all - skip : 0;
        return all < limit ? all : limit;
    }
    hf__range_begin(&walk, tx, record, range);
    for (count = 0; hf__range_next(&walk, &member, &score);)
        count++;
    hf__range_end(&walk);
    return count;
}
