/* SPDX-License-Identifier: Apache-2.0 */
/*
 * set_algebra.c - intersections, unions and differences of sets.
 *
 * The keys are read one after another, since a transaction holds only some at
 * once. The intermediate result is in scratch.
 */
#include "engine/commands/command_row.h"
#include "engine/keys/type_set.h"

typedef enum set_algebra { INTERSECTION, UNION, DIFFERENCE } set_algebra;

typedef struct result {
    hf__packed_buf buf;
    const size_t *offsets; /* of its members */
    size_t count;
} result;

/* Every key must be a set or missing. Finds the smallest, and whether one is
 * missing. false: replied with an error, or fatal. */
static bool check_keys(hf__tx *tx, const hf_bytes *keys, size_t count,
                       size_t *smallest, bool *empty)
{
    uint64_t least = UINT64_MAX;
    hf__record *record;

    *smallest = 0;
    *empty = false;
    for (size_t i = 0; i < count; i++) {
        hf__tx_trim(tx);
        if (!hf__set_open(tx, keys[i], &record))
            return false;
        if (record == NULL) {
            *empty = true;
        } else if (record->count < least) {
            least = record->count;
            *smallest = i;
        }
    }
    return true;
}

static void pile_key(hf__packed_buf *buf, hf_bytes key)
{
    hf__record *record;

    hf__tx_trim(buf->tx);
    if (hf__set_open(buf->tx, key, &record) && record != NULL)
        (void)hf__set_gather(record, buf);
}

typedef struct set_filter {
    hf__tx *tx;
    hf__record *record;
    bool wanted; /* keep members that are in it */
} set_filter;

static bool passes_filter(const void *context, hf_bytes member)
{
    const set_filter *with = context;

    return hf__set_has(with->tx, with->record, member) == with->wanted;
}

static void filter_key(hf__packed_buf *buf, hf_bytes key, bool wanted)
{
    set_filter with = {.tx = buf->tx, .wanted = wanted};

    hf__tx_trim(buf->tx);
    if (hf__set_open(buf->tx, key, &with.record) && with.record != NULL)
        hf__packed_buf_filter(buf, passes_filter, &with);
}

static int compare_members(const void *context, size_t a, size_t b)
{
    return hf__bytes_compare(hf__packed_buf_at(context, a),
                             hf__packed_buf_at(context, b));
}

static size_t drop_repeated(const hf__packed_buf *buf, size_t *offsets)
{
    size_t count = 0;

    hf__merge_sort(buf->tx, offsets, offsets + buf->count, buf->count,
                   compare_members, buf);
    for (size_t i = 0; i < buf->count; i++) {
        if (count == 0 ||
            compare_members(buf, offsets[count - 1], offsets[i]) != 0)
            offsets[count++] = offsets[i];
    }
    return count;
}

static void pile_result(hf__packed_buf *buf, set_algebra what,
                        const hf_bytes *keys, size_t count, size_t smallest)
{
    size_t first = what == INTERSECTION ? smallest : 0;

    pile_key(buf, keys[first]);
    for (size_t i = 0; i < count && buf->tx->fatal == HF_OK; i++) {
        if (i == first)
            continue;
        if (what == UNION)
            pile_key(buf, keys[i]);
        else
            filter_key(buf, keys[i], what == INTERSECTION);
    }
}

/* false: replied with an error, or fatal. */
static bool compute_result(hf__tx *tx, set_algebra what, const hf_bytes *keys,
                           size_t count, result *made)
{
    size_t smallest;
    size_t *offsets;
    bool empty;

    made->buf = (hf__packed_buf){.tx = tx};
    made->count = 0;
    if (!check_keys(tx, keys, count, &smallest, &empty))
        return false;
    if (what == INTERSECTION && empty)
        return true;
    pile_result(&made->buf, what, keys, count, smallest);
    offsets = tx->fatal == HF_OK ? hf__packed_buf_offsets(&made->buf) : NULL;
    if (offsets == NULL)
        return false;
    made->offsets = offsets;
    made->count =
        what == UNION ? drop_repeated(&made->buf, offsets) : made->buf.count;
    return true;
}

/* The variant is a set_algebra. */
static void run_algebra(hf__tx *tx, const hf_bytes *args, size_t count)
{
    result made;

    if (!compute_result(tx, (set_algebra)hf__variant(tx), args + 1, count - 1,
                        &made))
        return;
    hf__reply_set(tx, made.count);
    for (size_t i = 0; i < made.count; i++) {
        hf_bytes member = hf__packed_buf_at(&made.buf, made.offsets[i]);

        hf__reply_bytes(tx, member.data, member.size);
    }
}

static void run_algebra_store(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__record *record;
    result made;

    if (!compute_result(tx, (set_algebra)hf__variant(tx), args + 2, count - 2,
                        &made))
        return;
    hf__tx_trim(tx);
    if (made.count == 0) {
        record = hf__key_find(tx, args[1]);
        if (record != NULL)
            hf__key_delete(tx, record);
    } else {
        record = hf__key_make(tx, args[1], HF__TYPE_SET);
        for (size_t i = 0; record != NULL && i < made.count; i++)
            (void)hf__set_add(tx, record,
                              hf__packed_buf_at(&made.buf, made.offsets[i]));
        hf__key_event(tx, HF__EVENT_SET, tx->command->name, args[1]);
    }
    hf__reply_integer(tx, (int64_t)made.count);
}

/* The arguments after the keys. false: replied with an error. */
static bool read_limit(hf__tx *tx, const hf_bytes *args, size_t count,
                       int64_t *limit)
{
    *limit = 0;
    for (size_t i = 0; i < count; i += 2) {
        if (i + 1 == count || !hf__arg_is(args[i], "limit"))
            return hf__reply_error(tx, HF__ERROR_SYNTAX);
        if (!hf__arg_at_least(tx, args[i + 1], 0, "ERR LIMIT can't be negative",
                              limit))
            return false;
    }
    return true;
}

static void run_sintercard(hf__tx *tx, const hf_bytes *args, size_t count)
{
    int64_t key_count, limit, found;
    size_t keys;
    result made;

    if (!hf__arg_at_least(tx, args[1], 1, HF__ERROR_KEY_COUNT, &key_count))
        return;
    if (key_count > (int64_t)count - 2) {
        hf__reply_error(tx,
                        "ERR Number of keys can't be greater than number of "
                        "args");
        return;
    }
    keys = (size_t)key_count;
    if (!read_limit(tx, args + 2 + keys, count - 2 - keys, &limit) ||
        !compute_result(tx, INTERSECTION, args + 2, keys, &made))
        return;
    found = (int64_t)made.count;
    hf__reply_integer(tx, limit > 0 && found > limit ? limit : found);
}

#define GROWS (HF__COMMAND_WRITES | HF__COMMAND_GROWS)

const hf__command_entry hf__commands_set_algebra[] = {
    {"sinter", HF__VARIANT(INTERSECTION), run_algebra},
    {"sunion", HF__VARIANT(UNION), run_algebra},
    {"sdiff", HF__VARIANT(DIFFERENCE), run_algebra},
    {"sinterstore", GROWS | HF__VARIANT(INTERSECTION), run_algebra_store},
    {"sunionstore", GROWS | HF__VARIANT(UNION), run_algebra_store},
    {"sdiffstore", GROWS | HF__VARIANT(DIFFERENCE), run_algebra_store},
    {"sintercard", 0, run_sintercard},
    {NULL, 0, NULL}};
