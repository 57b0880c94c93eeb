/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash_commands.c - commands on hashes. Storing is in type_hash.c.
 */
#include "engine/commands/command_row.h"
#include "engine/keys/number_text.h"
#include "engine/keys/type_hash.h"

static int64_t put_pairs(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__record *record = hf__hash_make(tx, args[1]);
    int64_t added = 0;

    if (record == NULL)
        return -1;
    for (size_t i = 2; i < count && tx->fatal == HF_OK; i += 2)
        added += hf__hash_put(tx, record, args[i], args[i + 1]) ? 1 : 0;
    hf__key_event(tx, HF__EVENT_HASH, "hset", args[1]);
    return added;
}

static void run_hset(hf__tx *tx, const hf_bytes *args, size_t count)
{
    int64_t added;

    if (count % 2 != 0) {
        hf__reply_arity(tx, "hset");
        return;
    }
    added = put_pairs(tx, args, count);
    if (added >= 0)
        hf__reply_integer(tx, added);
}

static void run_hmset(hf__tx *tx, const hf_bytes *args, size_t count)
{
    if (count % 2 != 0)
        hf__reply_arity(tx, "hmset");
    else if (put_pairs(tx, args, count) >= 0)
        hf__reply_line(tx, "OK");
}

static void run_hsetnx(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__record *record;
    hf_bytes old;

    (void)count;
    if (!hf__hash_open(tx, args[1], &record))
        return;
    if (record != NULL && hf__hash_get(tx, record, args[2], &old)) {
        hf__reply_integer(tx, 0);
        return;
    }
    record = hf__hash_make(tx, args[1]);
    if (record == NULL)
        return;
    (void)hf__hash_put(tx, record, args[2], args[3]);
    hf__key_event(tx, HF__EVENT_HASH, "hset", args[1]);
    hf__reply_integer(tx, 1);
}

static void reply_field(hf__tx *tx, hf__record *record, hf_bytes field)
{
    hf_bytes value;

    if (record != NULL && hf__hash_get(tx, record, field, &value))
        hf__reply_bytes(tx, value.data, value.size);
    else
        hf__reply_nil(tx);
}

static void run_hget(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__record *record;

    (void)count;
    if (hf__hash_open(tx, args[1], &record))
        reply_field(tx, record, args[2]);
}

static void reply_fields(hf__tx *tx, hf__record *record, const hf_bytes *fields,
                         size_t count)
{
    hf_bytes values[HF__ELEMENTS_FEW];

    if (record != NULL)
        hf__hash_get_several(tx, record, fields, count, values);
    for (size_t i = 0; i < count; i++) {
        if (record != NULL && values[i].data != NULL)
            hf__reply_bytes(tx, values[i].data, values[i].size);
        else
            hf__reply_nil(tx);
    }
}

static void run_hmget(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__record *record;

    if (!hf__hash_open(tx, args[1], &record))
        return;
    hf__reply_array(tx, count - 2);
    for (size_t i = 2; i < count; i += HF__ELEMENTS_FEW)
        reply_fields(tx, record, args + i,
                     count - i < HF__ELEMENTS_FEW ? count - i
                                                  : HF__ELEMENTS_FEW);
}

enum { SAY_FIELDS = 1, SAY_VALUES = 2 };

static void reply_one(hf__tx *tx, hf_bytes field, hf_bytes value, unsigned what)
{
    if (what & SAY_FIELDS)
        hf__reply_bytes(tx, field.data, field.size);
    if (what & SAY_VALUES)
        hf__reply_bytes(tx, value.data, value.size);
}

/* Exactly `count` entries, as the size of the array says. */
static void reply_entries(hf__tx *tx, hf__record *record, uint64_t count,
                          unsigned what)
{
    hf__hash_walk walk;
    hf_bytes field, value;
    uint64_t said = 0;

    hf__hash_walk_begin(&walk, tx, record);
    while (said < count && hf__hash_walk_next(&walk, &field, &value)) {
        reply_one(tx, field, value, what);
        said++;
    }
    hf__hash_walk_end(&walk);
    if (said < count)
        hf__tx_fail(tx, MDB_CORRUPTED);
}

/* The variant says what is replied. */
static void run_hgetall(hf__tx *tx, const hf_bytes *args, size_t args_count)
{
    unsigned what = hf__variant(tx);
    hf__record *record;
    uint64_t count;

    (void)args_count;
    if (!hf__hash_open(tx, args[1], &record))
        return;
    count = record == NULL ? 0 : hf__hash_count(tx, record);
    if (what == (SAY_FIELDS | SAY_VALUES))
        hf__reply_map(tx, (size_t)count);
    else
        hf__reply_array(tx, (size_t)count);
    if (record != NULL)
        reply_entries(tx, record, count, what);
}

static void run_hdel(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__record *record;
    int64_t deleted = 0;
    bool emptied = false;

    if (!hf__hash_open(tx, args[1], &record))
        return;
    for (size_t i = 2;
         record != NULL && !emptied && i < count && tx->fatal == HF_OK; i++) {
        if (!hf__hash_delete(tx, record, args[i]))
            continue;
        deleted++;
        emptied = hf__hash_is_empty(tx, record);
    }
    if (deleted > 0)
        hf__key_event(tx, HF__EVENT_HASH, "hdel", args[1]);
    if (emptied)
        hf__key_delete(tx, record);
    hf__reply_integer(tx, deleted);
}

static void run_hexists(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__record *record;
    hf_bytes value;

    (void)count;
    if (hf__hash_open(tx, args[1], &record))
        hf__reply_integer(tx, record != NULL &&
                                      hf__hash_get(tx, record, args[2], &value)
                                  ? 1
                                  : 0);
}

static void run_hlen(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__record *record;

    (void)count;
    if (hf__hash_open(tx, args[1], &record))
        hf__reply_integer(
            tx, record == NULL ? 0 : (int64_t)hf__hash_count(tx, record));
}

static void run_hstrlen(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__record *record;
    hf_bytes value;

    (void)count;
    if (!hf__hash_open(tx, args[1], &record))
        return;
    if (record != NULL && hf__hash_get(tx, record, args[2], &value))
        hf__reply_integer(tx, (int64_t)value.size);
    else
        hf__reply_integer(tx, 0);
}

static void run_hincrby(hf__tx *tx, const hf_bytes *args, size_t count)
{
    char text[HF__NUMBER_TEXT_SIZE];
    hf__record *record;
    hf_bytes old;
    int64_t delta;
    int64_t value = 0;

    (void)count;
    if (!hf__arg_integer(tx, args[3], &delta) ||
        !hf__hash_open(tx, args[1], &record))
        return;
    if (record != NULL && hf__hash_get(tx, record, args[2], &old) &&
        !hf__number_integer(old, &value)) {
        hf__reply_error(tx, "ERR hash value is not an integer");
        return;
    }
    if (__builtin_add_overflow(value, delta, &value)) {
        hf__reply_error(tx, HF__ERROR_OVERFLOW);
        return;
    }
    record = hf__hash_make(tx, args[1]);
    if (record == NULL)
        return;
    (void)hf__hash_update(tx, record, args[2],
                          hf_view(text, hf__number_put_integer(text, value)));
    hf__key_event(tx, HF__EVENT_HASH, "hincrby", args[1]);
    hf__reply_integer(tx, value);
}

#define WRITES HF__COMMAND_WRITES
#define GROWS (HF__COMMAND_WRITES | HF__COMMAND_GROWS)

const hf__command_entry hf__commands_hash[] = {
    {"hset", GROWS, run_hset},
    {"hmset", GROWS, run_hmset},
    {"hsetnx", GROWS, run_hsetnx},
    {"hget", 0, run_hget},
    {"hmget", 0, run_hmget},
    {"hgetall", HF__VARIANT(SAY_FIELDS | SAY_VALUES), run_hgetall},
    {"hkeys", HF__VARIANT(SAY_FIELDS), run_hgetall},
    {"hvals", HF__VARIANT(SAY_VALUES), run_hgetall},
    {"hdel", WRITES, run_hdel},
    {"hexists", 0, run_hexists},
    {"hlen", 0, run_hlen},
    {"hstrlen", 0, run_hstrlen},
    {"hincrby", GROWS, run_hincrby},
    {NULL, 0, NULL}};
