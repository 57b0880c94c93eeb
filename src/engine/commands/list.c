/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list.c - commands on one list.
 */
#include <string.h>

#include "engine/commands/pop.h"
#include "engine/keys/type_list.h"

/* ----------------------------------------------------------------- pushing */

/* The variants of a push. */
#define FRONT HF__VARIANT(1)
#define ONLY_EXISTING HF__VARIANT(2)

static void run_push(hf__tx *tx, const hf_bytes *args, size_t count)
{
    bool front = (tx->command->flags & FRONT) != 0;
    hf__record *record;

    if (!hf__list_open(tx, args[1], &record))
        return;
    if (record == NULL && (tx->command->flags & ONLY_EXISTING) != 0) {
        hf__reply_integer(tx, 0);
        return;
    }
    if (record == NULL)
        record = hf__key_make(tx, args[1], HF__TYPE_LIST);
    if (record == NULL)
        return;
    for (size_t i = 2; i < count && tx->fatal == HF_OK; i++)
        hf__list_push(tx, record, args[i], front);
    hf__key_event(tx, HF__EVENT_LIST, front ? "lpush" : "rpush", args[1]);
    hf__reply_integer(tx, (int64_t)record->count);
}

/* The first element that is equal; false: none, or fatal. */
static bool find_value(hf__tx *tx, hf__record *record, hf_bytes wanted,
                       uint64_t *index)
{
    hf__list_walk walk;
    hf_bytes value;
    bool found = false;

    *index = 0;
    hf__list_walk_begin(&walk, tx, record, 0, false);
    while (!found && hf__list_walk_next(&walk, &value)) {
        found = hf__bytes_same(value, wanted);
        *index += found ? 0 : 1;
    }
    hf__list_walk_end(&walk);
    return found;
}

static void run_linsert(hf__tx *tx, const hf_bytes *args, size_t count)
{
    bool after = hf__arg_is(args[2], "after");
    hf__record *record;
    uint64_t index;

    (void)count;
    if (!after && !hf__arg_is(args[2], "before")) {
        hf__reply_error(tx, HF__ERROR_SYNTAX);
        return;
    }
    if (!hf__list_open(tx, args[1], &record))
        return;
    if (record == NULL) {
        hf__reply_integer(tx, 0);
        return;
    }
    if (!find_value(tx, record, args[3], &index)) {
        hf__reply_integer(tx, -1);
        return;
    }
    hf__list_insert(tx, record, after ? index + 1 : index, args[4]);
    hf__key_event(tx, HF__EVENT_LIST, "linsert", args[1]);
    hf__reply_integer(tx, (int64_t)record->count);
}

/* ----------------------------------------------------------------- reading */

static void run_llen(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__record *record;

    (void)count;
    if (hf__list_open(tx, args[1], &record))
        hf__reply_integer(tx, record == NULL ? 0 : (int64_t)record->count);
}

/* A negative index counts from the end. false: outside of the list. */
static bool place_index(const hf__record *record, int64_t *index)
{
    if (*index < 0)
        *index += (int64_t)record->count;
    return *index >= 0 && *index < (int64_t)record->count;
}

static void run_lindex(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__record *record;
    hf_bytes value;
    int64_t index;

    (void)count;
    if (!hf__list_open(tx, args[1], &record))
        return;
    if (record == NULL) {
        hf__reply_nil(tx);
        return;
    }
    if (!hf__arg_integer(tx, args[2], &index))
        return;
    if (place_index(record, &index) &&
        hf__list_get(tx, record, (uint64_t)index, &value))
        hf__reply_bytes(tx, value.data, value.size);
    else
        hf__reply_nil(tx);
}

/* Both ends, as a range of the list. false: empty. */
static bool place_range(const hf__record *record, int64_t start, int64_t end,
                        uint64_t *first, uint64_t *count)
{
    int64_t size = record == NULL ? 0 : (int64_t)record->count;

    start += start < 0 ? size : 0;
    end += end < 0 ? size : 0;
    start = start < 0 ? 0 : start;
    end = end >= size ? size - 1 : end;
    if (start > end)
        return false;
    *first = (uint64_t)start;
    *count = (uint64_t)(end - start) + 1;
    return true;
}

/* Exactly `count` elements, the size of the array. */
static void reply_elements(hf__tx *tx, hf__record *record, uint64_t first,
                           bool backward, uint64_t count)
{
    hf__list_walk walk;
    hf_bytes value;

    hf__list_walk_begin(&walk, tx, record, first, backward);
    for (; count > 0 && hf__list_walk_next(&walk, &value); count--)
        hf__reply_bytes(tx, value.data, value.size);
    hf__list_walk_end(&walk);
}

static void run_lrange(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__record *record;
    int64_t start, end;
    uint64_t first = 0;
    uint64_t wanted = 0;

    (void)count;
    if (!hf__arg_integer(tx, args[2], &start) ||
        !hf__arg_integer(tx, args[3], &end) ||
        !hf__list_open(tx, args[1], &record))
        return;
    (void)place_range(record, start, end, &first, &wanted);
    hf__reply_array(tx, (size_t)wanted);
    if (wanted > 0)
        reply_elements(tx, record, first, false, wanted);
}

/* -------------------------------------------------------------------- LPOS */

typedef struct list_search {
    int64_t rank;    /* RANK: the first match that counts; never 0 */
    int64_t count;   /* 0: all; -1: one, not in an array */
    int64_t maximum; /* elements compared; 0: all */
} list_search;

static bool read_rank(hf__tx *tx, hf_bytes arg, list_search *what)
{
    if (!hf__arg_integer(tx, arg, &what->rank))
        return false;
    if (what->rank != 0)
        return true;
    return hf__reply_error(
        tx, "ERR RANK can't be zero: use 1 to start from the first "
            "match, 2 from the second ... or use negative to start "
            "from the end of the list");
}

static bool read_search(hf__tx *tx, const hf_bytes *args, size_t count,
                        list_search *what)
{
    bool good = true;

    for (size_t i = 0; i < count && good; i += 2) {
        if (i + 1 < count && hf__arg_is(args[i], "rank")) {
            good = read_rank(tx, args[i + 1], what);
        } else if (i + 1 < count && hf__arg_is(args[i], "count")) {
            good =
                hf__arg_at_least(tx, args[i + 1], 0,
                                 "ERR COUNT can't be negative", &what->count);
        } else if (i + 1 < count && hf__arg_is(args[i], "maxlen")) {
            good = hf__arg_at_least(tx, args[i + 1], 0,
                                    "ERR MAXLEN can't be negative",
                                    &what->maximum);
        } else {
            hf__reply_error(tx, HF__ERROR_SYNTAX);
            good = false;
        }
    }
    /* Redis negates it, which leaves it unchanged. */
    if (what->rank == INT64_MIN) {
        what->rank = -1;
        what->count = what->count > 0 ? 0 : what->count;
    }
    return good;
}

static bool keep_index(hf__tx *tx, size_t count, uint64_t index)
{
    unsigned char *scratch = hf__tx_scratch(tx, (count + 1) * sizeof(uint64_t));

    if (scratch == NULL)
        return false;
    memcpy(scratch + count * sizeof(index), &index, sizeof(index));
    return true;
}

/* Put matches into scratch; returns their number. */
static size_t find_indexes(hf__tx *tx, hf__record *record, hf_bytes wanted,
                           const list_search *what)
{
    bool backward = what->rank < 0;
    uint64_t index = backward ? record->count - 1 : 0;
    int64_t skip = (backward ? -what->rank : what->rank) - 1;
    int64_t most = what->count < 0 ? 1 : what->count;
    int64_t looked = 0;
    size_t found = 0;
    hf__list_walk walk;
    hf_bytes value;

    hf__list_walk_begin(&walk, tx, record, index, backward);
    while ((what->maximum == 0 || looked++ < what->maximum) &&
           (most == 0 || (int64_t)found < most) &&
           hf__list_walk_next(&walk, &value)) {
        if (hf__bytes_same(value, wanted) && skip-- <= 0 &&
            !keep_index(tx, found++, index))
            break;
        index += backward ? UINT64_MAX : 1; /* one less */
    }
    hf__list_walk_end(&walk);
    return found;
}

static void reply_index(hf__tx *tx, size_t at)
{
    uint64_t index;

    memcpy(&index, tx->scratch + at * sizeof(index), sizeof(index));
    hf__reply_integer(tx, (int64_t)index);
}

static void run_lpos(hf__tx *tx, const hf_bytes *args, size_t count)
{
    list_search what = {.rank = 1, .count = -1};
    hf__record *record;
    size_t found = 0;

    if (!read_search(tx, args + 3, count - 3, &what) ||
        !hf__list_open(tx, args[1], &record))
        return;
    if (record != NULL)
        found = find_indexes(tx, record, args[2], &what);
    if (tx->fatal != HF_OK)
        return;
    if (what.count >= 0)
        hf__reply_array(tx, found);
    else if (found == 0)
        hf__reply_nil(tx);
    for (size_t i = 0; i < found; i++)
        reply_index(tx, i);
}

/* ---------------------------------------------------------------- changing */

static void run_lset(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__record *record;
    int64_t index;

    (void)count;
    if (!hf__list_open(tx, args[1], &record))
        return;
    if (record == NULL) {
        hf__reply_error(tx, "ERR no such key");
        return;
    }
    if (!hf__arg_integer(tx, args[2], &index))
        return;
    if (!place_index(record, &index)) {
        hf__reply_error(tx, "ERR index out of range");
        return;
    }
    hf__list_set(tx, record, (uint64_t)index, args[3]);
    hf__key_event(tx, HF__EVENT_LIST, "lset", args[1]);
    hf__reply_line(tx, "OK");
}

static void run_lrem(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__record *record;
    uint64_t removed = 0;
    uint64_t most;
    int64_t wanted;

    (void)count;
    if (!hf__arg_integer(tx, args[2], &wanted) ||
        !hf__list_open(tx, args[1], &record))
        return;
    most = wanted < 0 ? 0 - (uint64_t)wanted : (uint64_t)wanted;
    if (wanted == 0)
        most = UINT64_MAX;
    if (record != NULL)
        removed = hf__list_remove(tx, record, args[3], wanted < 0, most);
    if (removed > 0)
        hf__key_event(tx, HF__EVENT_LIST, "lrem", args[1]);
    if (record != NULL && record->count == 0)
        hf__key_delete(tx, record);
    hf__reply_integer(tx, (int64_t)removed);
}

static void run_ltrim(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__record *record;
    int64_t start, end;
    uint64_t first, kept;

    (void)count;
    if (!hf__arg_integer(tx, args[2], &start) ||
        !hf__arg_integer(tx, args[3], &end) ||
        !hf__list_open(tx, args[1], &record))
        return;
    if (record != NULL)
        hf__key_event(tx, HF__EVENT_LIST, "ltrim", args[1]);
    if (record != NULL && !place_range(record, start, end, &first, &kept))
        hf__key_delete(tx, record);
    else if (record != NULL && kept < record->count)
        hf__list_keep(tx, record, first, kept);
    hf__reply_line(tx, "OK");
}

/* ----------------------------------------------------------------- popping */

/* Reply with elements from an end and remove them. */
static void pop_some(hf__tx *tx, hf__record *record, bool last, uint64_t count)
{
    uint64_t left = record->count - count;

    reply_elements(tx, record, last ? record->count - 1 : 0, last, count);
    if (count > 0)
        hf__record_event(tx, HF__EVENT_LIST, last ? "rpop" : "lpop", record);
    if (left == 0)
        hf__key_delete(tx, record);
    else if (count > 0)
        hf__list_keep(tx, record, last ? 0 : count, left);
}

static uint64_t at_most(uint64_t count, int64_t wanted)
{
    return count < (uint64_t)wanted ? count : (uint64_t)wanted;
}

static void run_pop(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__record *record;
    int64_t wanted = 1;

    if (count > 3) {
        hf__reply_arity(tx, tx->command->name);
        return;
    }
    if ((count == 3 &&
         !hf__arg_at_least(tx, args[2], 0, HF__ERROR_POSITIVE, &wanted)) ||
        !hf__list_open(tx, args[1], &record))
        return;
    if (record == NULL) {
        if (count == 3)
            hf__reply_nil_array(tx);
        else
            hf__reply_nil(tx);
        return;
    }
    if (count == 3)
        hf__reply_array(tx, (size_t)at_most(record->count, wanted));
    pop_some(tx, record, hf__pops_last(tx), at_most(record->count, wanted));
}

static void pop_key(hf__tx *tx, hf_bytes key, hf__record *record, bool last,
                    int64_t count)
{
    uint64_t popped = at_most(record->count, count == 0 ? 1 : count);

    hf__reply_array(tx, 2);
    hf__reply_bytes(tx, key.data, key.size);
    if (count > 0)
        hf__reply_array(tx, (size_t)popped);
    pop_some(tx, record, last, popped);
}

static const hf__pop_kind of_list = {HF__TYPE_LIST, "left", "right", pop_key};

static void run_lmpop(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__pop_counted(tx, args, count, &of_list);
}

static void run_blpop(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__pop_blocking(tx, args, count, &of_list);
}

#define WRITES HF__COMMAND_WRITES
#define GROWS (HF__COMMAND_WRITES | HF__COMMAND_GROWS)

const hf__command_entry hf__commands_list[] = {
    {"lpush", GROWS | FRONT, run_push},
    {"rpush", GROWS, run_push},
    {"lpushx", GROWS | FRONT | ONLY_EXISTING, run_push},
    {"rpushx", GROWS | ONLY_EXISTING, run_push},
    {"linsert", GROWS, run_linsert},
    {"lset", GROWS, run_lset},
    {"llen", 0, run_llen},
    {"lindex", 0, run_lindex},
    {"lrange", 0, run_lrange},
    {"lpos", 0, run_lpos},
    {"lrem", WRITES, run_lrem},
    {"ltrim", WRITES, run_ltrim},
    {"lpop", WRITES, run_pop},
    {"rpop", WRITES | HF__POP_LAST, run_pop},
    {"lmpop", WRITES, run_lmpop},
    {"blpop", WRITES, run_blpop},
    {"brpop", WRITES | HF__POP_LAST, run_blpop},
    {"blmpop", WRITES, run_lmpop},
    {NULL, 0, NULL}};
