/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sort_order.c - sorting for SORT.
 *
 * Members and then weights are copied to scratch: looking up one key makes
 * views of another stale, and there may be any number of keys. Texts are
 * compared bytewise up to a NUL, as by Redis in the C locale. The sort is
 * stable.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "engine/commands/command_row.h"
#include "engine/commands/sort.h"
#include "engine/keys/number_text.h"
#include "engine/keys/pattern.h"
#include "engine/keys/type_list.h"
#include "engine/keys/type_set.h"
#include "engine/keys/type_string.h"
#include "engine/keys/type_zset.h"
#include "util/mem.h"

/* ----------------------------------------------------------------- members */

/* Apply LIMIT to `whole` members; *first is the first one. */
static size_t limit_count(const hf__sort_options *what, uint64_t whole,
                          size_t *first)
{
    uint64_t offset = what->offset < 0 ? 0 : (uint64_t)what->offset;
    uint64_t left;

    *first = (size_t)offset;
    if (offset >= whole)
        return 0;
    left = whole - offset;
    if (what->count >= 0 && left > (uint64_t)what->count)
        left = (uint64_t)what->count;
    return (size_t)left;
}

static void pile_list(hf__packed_buf *buf, hf__record *record, size_t first,
                      size_t count, bool backward)
{
    hf__list_walk walk;
    hf_bytes value;

    hf__list_walk_begin(&walk, buf->tx, record,
                        backward ? record->count - 1 - first : first, backward);
    while (buf->count < count && hf__list_walk_next(&walk, &value) &&
           hf__packed_buf_add(buf, value))
        continue;
    hf__list_walk_end(&walk);
}

static void pile_zset(hf__packed_buf *buf, hf__record *record, size_t first,
                      size_t count, bool backward)
{
    hf__zset_walk walk;
    hf_bytes member;
    double score;

    hf__zset_walk_begin_rank(&walk, buf->tx, record, first, backward);
    while (buf->count < count && hf__zset_walk_next(&walk, &member, &score) &&
           hf__packed_buf_add(buf, member))
        continue;
    hf__zset_walk_end(&walk);
}

/* Copy the members, without sorting only those within LIMIT. false: fatal. */
static bool pile_members(hf__packed_buf *buf, hf__record *record,
                         const hf__sort_options *what)
{
    size_t first = 0;
    size_t count = (size_t)record->count;
    bool backward = what->unsorted && what->backward;

    if (what->unsorted)
        count = limit_count(what, record->count, &first);
    if (count == 0)
        return true;
    if (record->type == HF__TYPE_LIST)
        pile_list(buf, record, first, count, backward);
    else if (record->type == HF__TYPE_ZSET)
        pile_zset(buf, record, first, count, backward);
    else
        (void)hf__set_gather(record, buf);
    if (buf->count != count)
        hf__tx_fail(buf->tx, MDB_CORRUPTED);
    return buf->tx->fatal == HF_OK;
}

/* ----------------------------------------------------------------- weights */

#define NO_TEXT SIZE_MAX

typedef struct weight {
    size_t member; /* offsets in scratch, see packed.h */
    size_t text;   /* NO_TEXT: none */
    double number;
} weight;

static weight *weight_at(const hf__sorting *all, size_t index)
{
    weight *weights = (void *)(all->buf.tx->scratch + all->weights);

    return &weights[index];
}

static size_t *order_of(const hf__sorting *all)
{
    return (void *)weight_at(all, all->count);
}

/* What ends later is no number; of a string in chunks no more is read. */
#define NUMBER_MAX HF__STRING_WHOLE_MAX

/* As strtod(), which stops at a NUL: leading white space and an empty text are
 * accepted. */
static bool read_number(hf__tx *tx, hf_bytes text, double *number)
{
    size_t used;

    if (!hf__number_scan(text, number, &used)) {
        hf__tx_no_memory(tx);
        return false;
    }
    return used < NUMBER_MAX && hf__number_ends(text, used) &&
           errno != ERANGE && !isnan(*number);
}

static void load_weight(hf__sorting *all, size_t index)
{
    weight *of = weight_at(all, index);
    hf_bytes value = hf__packed_buf_at(&all->buf, of->member);
    size_t text = of->member;
    size_t most = all->what.alpha ? SIZE_MAX : NUMBER_MAX;

    if (all->what.has_by &&
        !hf__pattern_value(all->buf.tx, all->what.by, value, most, &value))
        return;
    if (!all->what.alpha) {
        if (!read_number(all->buf.tx, value, &of->number))
            all->not_number = true;
        return;
    }
    if (all->what.has_by) {
        text = all->buf.size;
        if (!hf__packed_buf_add(&all->buf, value))
            return;
    }
    weight_at(all, index)->text = text; /* scratch may have moved */
}

/* Load missing weights and sort the members. false: fatal. */
static bool make_weights(hf__sorting *all)
{
    size_t each = sizeof(weight) + 2 * sizeof(size_t);
    unsigned char *room = hf__packed_buf_room(&all->buf, all->count * each);
    hf__packed at = {0};

    if (room == NULL)
        return false;
    all->weights = (size_t)(room - all->buf.tx->scratch);
    for (size_t i = 0; i < all->count && hf__packed_buf_next(&all->buf, &at);
         i++) {
        *weight_at(all, i) = (weight){at.offset, NO_TEXT, 0};
        order_of(all)[i] = i;
    }
    all->buf.size = all->weights + all->count * each;
    return true;
}

/* ------------------------------------------------------------------- order */

static hf_bytes cut_at_nul(hf_bytes text)
{
    return hf_view(text.data,
                   text.size == 0 ? 0 : strnlen(text.data, text.size));
}

static int compare_texts(const hf__sorting *all, size_t a, size_t b)
{
    hf_bytes left, right;

    if (a == NO_TEXT || b == NO_TEXT)
        return (a != NO_TEXT) - (b != NO_TEXT);
    left = hf__packed_buf_at(&all->buf, a);
    right = hf__packed_buf_at(&all->buf, b);
    if (all->what.has_store)
        return hf__bytes_compare(left, right);
    return hf__bytes_compare(cut_at_nul(left), cut_at_nul(right));
}

static int compare_weights(const void *context, size_t a, size_t b)
{
    const hf__sorting *all = context;
    const weight *left = weight_at(all, a);
    const weight *right = weight_at(all, b);
    int order;

    if (all->what.alpha)
        order = compare_texts(all, left->text, right->text);
    else if (left->number < right->number || left->number > right->number)
        order = left->number < right->number ? -1 : 1;
    else
        order = hf__bytes_compare(hf__packed_buf_at(&all->buf, left->member),
                                  hf__packed_buf_at(&all->buf, right->member));
    return all->what.backward ? -order : order;
}

bool hf__sort_arrange(hf__sorting *all, hf__record *record)
{
    hf__tx *tx = all->buf.tx;
    bool sorted = !all->what.unsorted;

    if (record == NULL)
        return true;
    if (!pile_members(&all->buf, record, &all->what))
        return false;
    all->count = all->buf.count;
    all->wanted = all->count;
    if (sorted)
        all->wanted = limit_count(&all->what, all->count, &all->first);
    if (!make_weights(all))
        return false;
    for (size_t i = 0; sorted && i < all->count && tx->fatal == HF_OK; i++) {
        load_weight(all, i);
        hf__tx_trim(tx);
    }
    if (all->not_number)
        hf__reply_error(tx, "ERR One or more scores can't be converted into "
                            "double");
    if (all->not_number || tx->fatal != HF_OK)
        return false;
    if (sorted)
        hf__merge_sort(tx, order_of(all), order_of(all) + all->count,
                       all->count, compare_weights, all);
    return true;
}

hf_bytes hf__sort_member(const hf__sorting *all, size_t number)
{
    size_t index = order_of(all)[all->first + number];

    return hf__packed_buf_at(&all->buf, weight_at(all, index)->member);
}
