/* SPDX-License-Identifier: Apache-2.0 */
/*
 * set.c - commands on the members of one set, and SMOVE.
 */
#include <string.h>

#include "engine/commands/command_row.h"
#include "engine/keys/type_set.h"

static void run_sadd(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__record *record = hf__set_make(tx, args[1]);
    int64_t added = 0;

    if (record == NULL)
        return;
    for (size_t i = 2; i < count && tx->fatal == HF_OK; i++)
        added += hf__set_add(tx, record, args[i]) ? 1 : 0;
    if (added > 0)
        hf__key_event(tx, HF__EVENT_SET, "sadd", args[1]);
    hf__reply_integer(tx, added);
}

static void run_srem(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__record *record;
    int64_t removed = 0;

    if (!hf__set_open(tx, args[1], &record))
        return;
    for (size_t i = 2; record != NULL && i < count && tx->fatal == HF_OK; i++) {
        if (!hf__set_remove(tx, record, args[i]))
            continue;
        removed++;
        if (record->count == 0)
            break;
    }
    if (removed > 0)
        hf__key_event(tx, HF__EVENT_SET, "srem", args[1]);
    if (record != NULL && record->count == 0)
        hf__key_delete(tx, record);
    hf__reply_integer(tx, removed);
}

static void run_scard(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__record *record;

    (void)count;
    if (hf__set_open(tx, args[1], &record))
        hf__reply_integer(tx, record == NULL ? 0 : (int64_t)record->count);
}

static void reply_has(hf__tx *tx, hf__record *record, hf_bytes member)
{
    bool has = record != NULL && hf__set_has(tx, record, member);

    hf__reply_integer(tx, has ? 1 : 0);
}

static void run_sismember(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__record *record;

    (void)count;
    if (hf__set_open(tx, args[1], &record))
        reply_has(tx, record, args[2]);
}

static void run_smismember(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__record *record;

    if (!hf__set_open(tx, args[1], &record))
        return;
    hf__reply_array(tx, count - 2);
    for (size_t i = 2; i < count; i++)
        reply_has(tx, record, args[i]);
}

/* The number of members. SRANDMEMBER has an array of them. */
static void reply_count(hf__tx *tx, uint64_t count, bool array)
{
    if (array)
        hf__reply_array(tx, (size_t)count);
    else
        hf__reply_set(tx, (size_t)count);
}

/* All of them. */
static void reply_members(hf__tx *tx, hf__record *record, bool array)
{
    uint64_t left = record == NULL ? 0 : record->count;
    hf__set_walk walk;
    hf_bytes member;

    reply_count(tx, left, array);
    if (left == 0)
        return;
    hf__set_walk_begin(&walk, tx, record);
    for (; left > 0 && hf__set_walk_next(&walk, &member); left--)
        hf__reply_bytes(tx, member.data, member.size);
    hf__set_walk_end(&walk);
    if (left > 0)
        hf__tx_fail(tx, MDB_CORRUPTED);
}

static void run_smembers(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__record *record;

    (void)count;
    if (hf__set_open(tx, args[1], &record))
        reply_members(tx, record, false);
}

static void run_smove(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__record *source;
    hf__record *target = NULL;
    bool has;

    (void)count;
    if (!hf__set_open(tx, args[1], &source))
        return;
    /* As in Redis, the target's type is not checked if there is nothing to
     * move. */
    if (source != NULL && !hf__set_open(tx, args[2], &target))
        return;
    has = source != NULL && hf__set_has(tx, source, args[3]);
    hf__reply_integer(tx, has ? 1 : 0);
    if (!has || source == target)
        return;
    (void)hf__set_remove(tx, source, args[3]);
    hf__key_event(tx, HF__EVENT_SET, "srem", args[1]);
    if (source->count == 0)
        hf__key_delete(tx, source);
    target = hf__set_make(tx, args[2]);
    if (target != NULL && hf__set_add(tx, target, args[3]))
        hf__key_event(tx, HF__EVENT_SET, "sadd", args[2]);
}

/* ------------------------------------------------------------------ chance */

/* Most members of an SRANDMEMBER with repetitions: a reply of half a
 * gigabyte. */
#define REPEAT_MAX (UINT64_C(1) << 24)
/* Up to so many are compared pairwise. */
#define FEW_MAX 64

/* Reply with one member; `pop`: and remove it. */
static void reply_any(hf__tx *tx, hf__record *record, bool pop)
{
    hf_bytes member;

    if (record == NULL) {
        hf__reply_nil(tx);
        return;
    }
    if (!hf__set_any(tx, record, &member))
        return;
    hf__reply_bytes(tx, member.data, member.size);
    if (!pop)
        return;
    if (record->count == 1)
        hf__key_delete(tx, record);
    else
        (void)hf__set_remove(tx, record, member);
}

static size_t *pile_members(hf__packed_buf *buf, hf__record *record)
{
    return hf__set_gather(record, buf) ? hf__packed_buf_offsets(buf) : NULL;
}

/* Reply with `count` distinct members; `pop`: and remove them. */
static void reply_some(hf__tx *tx, hf__record *record, uint64_t count, bool pop)
{
    hf__packed_buf buf = {.tx = tx};
    size_t *offsets = pile_members(&buf, record);

    if (offsets == NULL)
        return;
    reply_count(tx, count, !pop);
    for (size_t i = 0; i < count; i++) {
        size_t other = i + (size_t)hf__random_below(buf.count - i);
        size_t chosen = offsets[other];
        hf_bytes member = hf__packed_buf_at(&buf, chosen);

        offsets[other] = offsets[i];
        offsets[i] = chosen;
        hf__reply_bytes(tx, member.data, member.size);
        if (pop)
            (void)hf__set_remove(tx, record, member);
    }
}

static bool pile_has(const hf__packed_buf *buf, hf_bytes text)
{
    hf__packed at = {0};

    while (hf__packed_buf_next(buf, &at)) {
        if (hf__bytes_same(at.text, text))
            return true;
    }
    return false;
}

/* The same for a much larger set: most draws give a new member. */
static void reply_few(hf__tx *tx, hf__record *record, uint64_t count)
{
    hf__packed_buf buf = {.tx = tx};
    hf_bytes member;

    hf__reply_array(tx, (size_t)count);
    while (buf.count < count && hf__set_any(tx, record, &member)) {
        if (pile_has(&buf, member))
            continue;
        if (!hf__packed_buf_add(&buf, member))
            return;
        hf__reply_bytes(tx, member.data, member.size);
    }
}

/* Reply with `count` members, possibly repeated; or `pop` them. */
static void reply_each(hf__tx *tx, hf__record *record, uint64_t count, bool pop)
{
    reply_count(tx, count, !pop);
    for (; count > 0 && tx->fatal == HF_OK; count--)
        reply_any(tx, record, pop);
}

static void reply_repeated(hf__tx *tx, hf__record *record, uint64_t count)
{
    hf__packed_buf buf = {.tx = tx};
    const size_t *offsets;

    if (count > REPEAT_MAX) {
        hf__tx_no_memory(tx);
        return;
    }
    if (hf__set_prefers_sampling(record, count)) {
        reply_each(tx, record, count, false);
        return;
    }
    offsets = pile_members(&buf, record);
    if (offsets == NULL)
        return;
    hf__reply_array(tx, (size_t)count);
    for (; count > 0; count--) {
        size_t chosen = offsets[hf__random_below(buf.count)];
        hf_bytes member = hf__packed_buf_at(&buf, chosen);

        hf__reply_bytes(tx, member.data, member.size);
    }
}

static void run_spop(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__record *record;
    int64_t wanted = 1;

    if (count > 3) {
        hf__reply_error(tx, HF__ERROR_SYNTAX);
        return;
    }
    if ((count == 3 &&
         !hf__arg_at_least(tx, args[2], 0, HF__ERROR_POSITIVE, &wanted)) ||
        !hf__set_open(tx, args[1], &record))
        return;
    if (record != NULL && wanted > 0)
        hf__key_event(tx, HF__EVENT_SET, "spop", args[1]);
    if (count < 3) {
        reply_any(tx, record, true);
    } else if (record == NULL || wanted == 0) {
        hf__reply_set(tx, 0);
    } else if ((uint64_t)wanted >= record->count) {
        reply_members(tx, record, false);
        hf__key_delete(tx, record);
    } else if (hf__set_prefers_sampling(record, (uint64_t)wanted)) {
        reply_each(tx, record, (uint64_t)wanted, true);
    } else {
        reply_some(tx, record, (uint64_t)wanted, true);
    }
}

static void run_srandmember(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__record *record;
    int64_t wanted = 1;

    if (count > 3) {
        hf__reply_error(tx, HF__ERROR_SYNTAX);
        return;
    }
    if ((count == 3 && !hf__arg_signed(tx, args[2], &wanted)) ||
        !hf__set_open(tx, args[1], &record))
        return;
    if (count < 3)
        reply_any(tx, record, false);
    else if (record == NULL || wanted == 0)
        hf__reply_array(tx, 0);
    else if (wanted < 0)
        reply_repeated(tx, record, (uint64_t)-wanted);
    else if ((uint64_t)wanted >= record->count)
        reply_members(tx, record, true);
    else if (wanted <= FEW_MAX &&
             hf__set_prefers_sampling(record, (uint64_t)wanted))
        reply_few(tx, record, (uint64_t)wanted);
    else
        reply_some(tx, record, (uint64_t)wanted, false);
}

#define WRITES HF__COMMAND_WRITES
#define GROWS (HF__COMMAND_WRITES | HF__COMMAND_GROWS)

const hf__command_entry hf__commands_set[] = {
    {"sadd", GROWS, run_sadd},
    {"srem", WRITES, run_srem},
    {"scard", 0, run_scard},
    {"sismember", 0, run_sismember},
    {"smismember", 0, run_smismember},
    {"smembers", 0, run_smembers},
    {"smove", WRITES, run_smove},
    {"spop", WRITES, run_spop},
    {"srandmember", 0, run_srandmember},
    {NULL, 0, NULL}};
