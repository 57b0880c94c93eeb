/* SPDX-License-Identifier: Apache-2.0 */
/*
 * set.c - commands on the members of one set, and moving one to another.
 * Algebra is in set_algebra.c, storing in type_set.c.
 */
#include <string.h>

#include "store/embedded/commands/command.h"
#include "store/embedded/keys/type_set.h"

static void run_sadd(hf__tx *tx, const hf_bytes *words, size_t count)
{
    hf__record *record = hf__distinct_make(tx, words[1]);
    int64_t added = 0;

    if (record == NULL)
        return;
    for (size_t i = 2; i < count && tx->fatal == HF_OK; i++)
        added += hf__distinct_add(tx, record, words[i]) ? 1 : 0;
    hf__say_integer(tx, added);
}

static void run_srem(hf__tx *tx, const hf_bytes *words, size_t count)
{
    hf__record *record;
    int64_t removed = 0;

    if (!hf__distinct_open(tx, words[1], &record))
        return;
    for (size_t i = 2; record != NULL && i < count && tx->fatal == HF_OK; i++) {
        if (!hf__distinct_remove(tx, record, words[i]))
            continue;
        removed++;
        if (record->count == 0) {
            hf__key_delete(tx, record);
            record = NULL;
        }
    }
    hf__say_integer(tx, removed);
}

static void run_scard(hf__tx *tx, const hf_bytes *words, size_t count)
{
    hf__record *record;

    (void)count;
    if (hf__distinct_open(tx, words[1], &record))
        hf__say_integer(tx, record == NULL ? 0 : (int64_t)record->count);
}

static void say_has(hf__tx *tx, hf__record *record, hf_bytes member)
{
    bool has = record != NULL && hf__distinct_has(tx, record, member);

    hf__say_integer(tx, has ? 1 : 0);
}

static void run_sismember(hf__tx *tx, const hf_bytes *words, size_t count)
{
    hf__record *record;

    (void)count;
    if (hf__distinct_open(tx, words[1], &record))
        say_has(tx, record, words[2]);
}

static void run_smismember(hf__tx *tx, const hf_bytes *words, size_t count)
{
    hf__record *record;

    if (!hf__distinct_open(tx, words[1], &record))
        return;
    hf__say_array(tx, count - 2);
    for (size_t i = 2; i < count; i++)
        say_has(tx, record, words[i]);
}

/* Exactly record->count members, as is promised by the array. */
static void say_members(hf__tx *tx, hf__record *record)
{
    uint64_t left = record == NULL ? 0 : record->count;
    hf__distinct_walk walk;
    hf_bytes member;

    hf__say_array(tx, (size_t)left);
    if (left == 0)
        return;
    hf__distinct_walk_begin(&walk, tx, record);
    for (; left > 0 && hf__distinct_walk_next(&walk, &member); left--)
        hf__say_bytes(tx, member.data, member.size);
    hf__distinct_walk_end(&walk);
    if (left > 0)
        hf__tx_fail(tx, MDB_CORRUPTED);
}

static void run_smembers(hf__tx *tx, const hf_bytes *words, size_t count)
{
    hf__record *record;

    (void)count;
    if (hf__distinct_open(tx, words[1], &record))
        say_members(tx, record);
}

static void run_smove(hf__tx *tx, const hf_bytes *words, size_t count)
{
    hf__record *source;
    hf__record *target = NULL;
    bool has;

    (void)count;
    if (!hf__distinct_open(tx, words[1], &source))
        return;
    /* Redis does not look at the target when there is nothing to move. */
    if (source != NULL && !hf__distinct_open(tx, words[2], &target))
        return;
    has = source != NULL && hf__distinct_has(tx, source, words[3]);
    hf__say_integer(tx, has ? 1 : 0);
    if (!has || source == target)
        return;
    (void)hf__distinct_remove(tx, source, words[3]);
    if (source->count == 0)
        hf__key_delete(tx, source);
    target = hf__distinct_make(tx, words[2]);
    if (target != NULL)
        (void)hf__distinct_add(tx, target, words[3]);
}

/* ------------------------------------------------------------------ chance */

/* Members said by one SRANDMEMBER that may repeat them: a reply of them takes
 * half a gigabyte. */
#define REPEAT_MAX (UINT64_C(1) << 24)
/* Members compared each with each. */
#define FEW_MAX 64

/* Say one member; `pop`: and take it out. */
static void say_any(hf__tx *tx, hf__record *record, bool pop)
{
    hf_bytes member;

    if (record == NULL) {
        hf__say_nil(tx);
        return;
    }
    if (!hf__distinct_any(tx, record, &member))
        return;
    hf__say_bytes(tx, member.data, member.size);
    if (!pop)
        return;
    if (record->count == 1)
        hf__key_delete(tx, record);
    else
        (void)hf__distinct_remove(tx, record, member);
}

static size_t *pile_members(hf__pile *pile, hf__record *record)
{
    return hf__distinct_pile(record, pile) ? hf__pile_offsets(pile) : NULL;
}

/* Say so many members, all different; `pop`: and take them out. */
static void say_some(hf__tx *tx, hf__record *record, uint64_t count, bool pop)
{
    hf__pile pile = {.tx = tx};
    size_t *offsets = pile_members(&pile, record);

    if (offsets == NULL)
        return;
    hf__say_array(tx, (size_t)count);
    for (size_t i = 0; i < count; i++) {
        size_t other = i + (size_t)hf__distinct_random(pile.count - i);
        size_t chosen = offsets[other];
        hf_bytes member = hf__pile_text(&pile, chosen);

        offsets[other] = offsets[i];
        offsets[i] = chosen;
        hf__say_bytes(tx, member.data, member.size);
        if (pop)
            (void)hf__distinct_remove(tx, record, member);
    }
}

static bool pile_has(const hf__pile *pile, hf_bytes text)
{
    hf__packed at = {0};

    while (hf__pile_next(pile, &at)) {
        if (hf__bytes_same(at.text, text))
            return true;
    }
    return false;
}

/* The same, of a set with very many more. Every try but a few finds one. */
static void say_few(hf__tx *tx, hf__record *record, uint64_t count)
{
    hf__pile pile = {.tx = tx};
    hf_bytes member;

    hf__say_array(tx, (size_t)count);
    while (pile.count < count && hf__distinct_any(tx, record, &member)) {
        if (pile_has(&pile, member))
            continue;
        if (!hf__pile_add(&pile, member))
            return;
        hf__say_bytes(tx, member.data, member.size);
    }
}

/* Say so many members, whether or not they were said before; or `pop` them. */
static void say_each(hf__tx *tx, hf__record *record, uint64_t count, bool pop)
{
    hf__say_array(tx, (size_t)count);
    for (; count > 0 && tx->fatal == HF_OK; count--)
        say_any(tx, record, pop);
}

static void say_repeated(hf__tx *tx, hf__record *record, uint64_t count)
{
    hf__pile pile = {.tx = tx};
    const size_t *offsets;

    if (count > REPEAT_MAX) {
        hf__tx_no_memory(tx);
        return;
    }
    if (hf__distinct_is_few(record, count)) {
        say_each(tx, record, count, false);
        return;
    }
    offsets = pile_members(&pile, record);
    if (offsets == NULL)
        return;
    hf__say_array(tx, (size_t)count);
    for (; count > 0; count--) {
        size_t chosen = offsets[hf__distinct_random(pile.count)];
        hf_bytes member = hf__pile_text(&pile, chosen);

        hf__say_bytes(tx, member.data, member.size);
    }
}

static void run_spop(hf__tx *tx, const hf_bytes *words, size_t count)
{
    hf__record *record;
    int64_t wanted = 1;

    if (count > 3) {
        hf__say_error(tx, HF__ERROR_SYNTAX);
        return;
    }
    if ((count == 3 &&
         !hf__word_at_least(tx, words[2], 0, HF__ERROR_POSITIVE, &wanted)) ||
        !hf__distinct_open(tx, words[1], &record))
        return;
    if (count < 3) {
        say_any(tx, record, true);
    } else if (record == NULL || wanted == 0) {
        hf__say_array(tx, 0);
    } else if ((uint64_t)wanted >= record->count) {
        say_members(tx, record);
        hf__key_delete(tx, record);
    } else if (hf__distinct_is_few(record, (uint64_t)wanted)) {
        say_each(tx, record, (uint64_t)wanted, true);
    } else {
        say_some(tx, record, (uint64_t)wanted, true);
    }
}

static void run_srandmember(hf__tx *tx, const hf_bytes *words, size_t count)
{
    hf__record *record;
    int64_t wanted = 1;

    if (count > 3) {
        hf__say_error(tx, HF__ERROR_SYNTAX);
        return;
    }
    if ((count == 3 && !hf__word_signed(tx, words[2], &wanted)) ||
        !hf__distinct_open(tx, words[1], &record))
        return;
    if (count < 3)
        say_any(tx, record, false);
    else if (record == NULL || wanted == 0)
        hf__say_array(tx, 0);
    else if (wanted < 0)
        say_repeated(tx, record, (uint64_t)-wanted);
    else if ((uint64_t)wanted >= record->count)
        say_members(tx, record);
    else if (wanted <= FEW_MAX && hf__distinct_is_few(record, (uint64_t)wanted))
        say_few(tx, record, (uint64_t)wanted);
    else
        say_some(tx, record, (uint64_t)wanted, false);
}

#define WRITES HF__COMMAND_WRITES
#define GROWS (HF__COMMAND_WRITES | HF__COMMAND_GROWS)

const hf__command hf__commands_set[] = {{"sadd", -3, GROWS, run_sadd},
                                        {"srem", -3, WRITES, run_srem},
                                        {"scard", 2, 0, run_scard},
                                        {"sismember", 3, 0, run_sismember},
                                        {"smismember", -3, 0, run_smismember},
                                        {"smembers", 2, 0, run_smembers},
                                        {"smove", 4, WRITES, run_smove},
                                        {"spop", -2, WRITES, run_spop},
                                        {"srandmember", -2, 0, run_srandmember},
                                        {NULL, 0, 0, NULL}};
