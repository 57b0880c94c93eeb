/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sort.c - SORT and SORT_RO of lists, sets and sorted sets: options and reply.
 * Sorting is in sort_order.c.
 */
#include <string.h>

#include "engine/commands/command_row.h"
#include "engine/commands/sort.h"
#include "engine/keys/pattern.h"
#include "engine/keys/type_list.h"

/* ----------------------------------------------------------------- options */

static bool read_limit(hf__tx *tx, const hf_bytes *args, hf__sort_options *what)
{
    return hf__arg_integer(tx, args[0], &what->offset) &&
           hf__arg_integer(tx, args[1], &what->count);
}

static void set_by(hf_bytes pattern, hf__sort_options *what)
{
    what->by = pattern;
    what->has_by = true;
    /* The last BY counts, but a constant one disables sorting for good. */
    if (hf__pattern_is_constant(pattern))
        what->unsorted = true;
}

/* The number of an option's arguments; 0: unknown option. */
static size_t option_size(const hf_bytes *args, size_t left, bool may_store)
{
    if (hf__arg_is(args[0], "asc") || hf__arg_is(args[0], "desc") ||
        hf__arg_is(args[0], "alpha"))
        return 1;
    if (hf__arg_is(args[0], "limit"))
        return left > 2 ? 3 : 0;
    if (hf__arg_is(args[0], "by") || hf__arg_is(args[0], "get") ||
        (may_store && hf__arg_is(args[0], "store")))
        return left > 1 ? 2 : 0;
    return 0;
}

/* false: replied with an error. */
static bool read_option(hf__tx *tx, const hf_bytes *args,
                        hf__sort_options *what)
{
    if (hf__arg_is(args[0], "limit"))
        return read_limit(tx, args + 1, what);
    if (hf__arg_is(args[0], "asc") || hf__arg_is(args[0], "desc")) {
        what->backward = hf__arg_is(args[0], "desc");
    } else if (hf__arg_is(args[0], "alpha")) {
        what->alpha = true;
    } else if (hf__arg_is(args[0], "by")) {
        set_by(args[1], what);
    } else if (hf__arg_is(args[0], "get")) {
        what->get_count++;
    } else {
        what->store = args[1];
        what->has_store = true;
    }
    return true;
}

static bool read_options(hf__tx *tx, const hf_bytes *args, size_t count,
                         bool may_store, hf__sort_options *what)
{
    size_t size;

    memset(what, 0, sizeof(*what));
    what->count = -1;
    what->args = args;
    what->arg_count = count;
    for (size_t i = 0; i < count; i += size) {
        size = option_size(args + i, count - i, may_store);
        if (size == 0)
            return hf__reply_error(tx, HF__ERROR_SYNTAX);
        if (!read_option(tx, args + i, what))
            return false;
    }
    return true;
}

/* The next GET option from *at on. false: no more. */
static bool next_get(const hf__sort_options *what, size_t *at,
                     hf_bytes *pattern)
{
    while (*at < what->arg_count) {
        const hf_bytes *args = what->args + *at;

        *at += option_size(args, what->arg_count - *at, true);
        if (hf__arg_is(args[0], "get")) {
            *pattern = args[1];
            return true;
        }
    }
    return false;
}

/* ------------------------------------------------------------------ answer */

static bool open_key(hf__tx *tx, hf_bytes key, hf__record **record)
{
    *record = hf__key_find(tx, key);
    if (tx->fatal != HF_OK)
        return false;
    if (*record == NULL || (*record)->type == HF__TYPE_LIST ||
        (*record)->type == HF__TYPE_SET || (*record)->type == HF__TYPE_ZSET)
        return true;
    return hf__reply_wrong_type(tx);
}

static void reply_gets(hf__tx *tx, const hf__sort_options *what,
                       hf_bytes member)
{
    hf_bytes pattern, value;
    size_t at = 0;

    while (next_get(what, &at, &pattern) && tx->fatal == HF_OK) {
        if (hf__pattern_value(tx, pattern, member, SIZE_MAX, &value))
            hf__reply_bytes(tx, value.data, value.size);
        else
            hf__reply_nil(tx);
        hf__tx_trim(tx);
    }
}

static void reply_sorted(hf__tx *tx, const hf__sorting *all)
{
    size_t each = all->what.get_count == 0 ? 1 : all->what.get_count;

    hf__reply_array(tx, all->wanted * each);
    for (size_t i = 0; i < all->wanted && tx->fatal == HF_OK; i++) {
        hf_bytes member = hf__sort_member(all, i);

        if (all->what.get_count == 0)
            hf__reply_bytes(tx, member.data, member.size);
        reply_gets(tx, &all->what, member);
    }
}

/* Append the values that GET names to scratch: what is stored must not be in
 * LMDB's map. false: fatal. */
static bool pile_gets(hf__sorting *all, size_t number)
{
    hf__tx *tx = all->buf.tx;
    hf_bytes pattern, value;
    size_t at = 0;

    while (next_get(&all->what, &at, &pattern)) {
        hf_bytes member = hf__sort_member(all, number);

        /* "#" is the member itself, in scratch: grow that first. */
        if (hf__packed_buf_room(&all->buf, HF__PACKED_HEAD + member.size) ==
            NULL)
            return false;
        member = hf__sort_member(all, number);
        if (!hf__pattern_value(tx, pattern, member, SIZE_MAX, &value))
            value = hf_view("", 0);
        if (tx->fatal != HF_OK || !hf__packed_buf_add(&all->buf, value))
            return false;
        hf__tx_trim(tx);
    }
    return true;
}

static void push_gets(hf__tx *tx, hf__record *record, const hf__packed_buf *buf,
                      size_t start)
{
    hf__packed at = {.offset = start};

    while (tx->fatal == HF_OK && hf__packed_buf_next(buf, &at))
        hf__list_push(tx, record, at.text, false);
}

static void store_sorted(hf__tx *tx, hf__sorting *all)
{
    bool gets = all->what.get_count > 0;
    size_t start = all->buf.size;
    hf__record *record;

    for (size_t i = 0; gets && i < all->wanted; i++) {
        if (!pile_gets(all, i))
            return;
    }
    hf__tx_trim(tx);
    record = all->wanted > 0 ? hf__key_make(tx, all->what.store, HF__TYPE_LIST)
                             : hf__key_find(tx, all->what.store);
    if (record != NULL && all->wanted == 0)
        hf__key_delete(tx, record);
    if (record != NULL && gets)
        push_gets(tx, record, &all->buf, start);
    for (size_t i = 0; record != NULL && !gets && i < all->wanted; i++)
        hf__list_push(tx, record, hf__sort_member(all, i), false);
    if (all->wanted > 0)
        hf__key_event(tx, HF__EVENT_LIST, "sortstore", all->what.store);
    hf__reply_integer(
        tx, (int64_t)(all->wanted * (gets ? all->what.get_count : 1)));
}

static void run_sort(hf__tx *tx, const hf_bytes *args, size_t count)
{
    bool may_store = (tx->command->flags & HF__COMMAND_WRITES) != 0;
    hf__sorting all = {.buf = {.tx = tx}};
    hf__record *record;

    if (!read_options(tx, args + 2, count - 2, may_store, &all.what) ||
        !open_key(tx, args[1], &record))
        return;
    /* Sets are unordered. Redis sorts them where the result must be
     * deterministic: in a script, and to store it. */
    if (record != NULL && record->type == HF__TYPE_SET && all.what.unsorted) {
        all.what.unsorted = false;
        all.what.alpha = true;
        all.what.has_by = false;
    }
    if (!hf__sort_arrange(&all, record))
        return;
    if (all.what.has_store)
        store_sorted(tx, &all);
    else
        reply_sorted(tx, &all);
}

#define GROWS (HF__COMMAND_WRITES | HF__COMMAND_GROWS)

const hf__command_entry hf__commands_sort[] = {
    {"sort", GROWS, run_sort}, {"sort_ro", 0, run_sort}, {NULL, 0, NULL}};
