/* SPDX-License-Identifier: Apache-2.0 */
/* list_move.c - commands that move an element from list to list. */
#include <string.h>

#include "engine/commands/command_row.h"
#include "engine/keys/type_list.h"

/* Read LEFT or RIGHT. false: replied with an error. */
static bool read_end(hf__tx *tx, hf_bytes arg, bool *last)
{
    *last = hf__arg_is(arg, "right");
    if (*last || hf__arg_is(arg, "left"))
        return true;
    return hf__reply_error(tx, HF__ERROR_SYNTAX);
}

/* Move an element from an end to scratch. false: fatal. */
static bool pop_value(hf__tx *tx, hf__record *record, bool last,
                      hf_bytes *value)
{
    unsigned char *copy;
    hf_bytes found;

    if (!hf__list_get(tx, record, last ? record->count - 1 : 0, &found))
        return false;
    copy = hf__tx_scratch(tx, found.size + 1);
    if (copy == NULL)
        return false;
    if (found.size > 0)
        memcpy(copy, found.data, found.size);
    *value = hf_view(copy, found.size);
    hf__list_keep(tx, record, last ? 0 : 1, record->count - 1);
    return tx->fatal == HF_OK;
}

/* false: there is no list. */
static bool move_value(hf__tx *tx, hf_bytes from, hf_bytes to, bool from_last,
                       bool to_last)
{
    hf__record *source, *target;
    hf_bytes value;

    if (!hf__list_open(tx, from, &source))
        return true;
    if (source == NULL) {
        hf__reply_nil(tx);
        return false;
    }
    /* Both may be one list, which must not be deleted in between. */
    target = hf__list_make(tx, to);
    if (target == NULL || !pop_value(tx, source, from_last, &value))
        return true;
    hf__list_push(tx, target, value, !to_last);
    hf__key_event(tx, HF__EVENT_LIST, to_last ? "rpush" : "lpush", to);
    hf__key_event(tx, HF__EVENT_LIST, from_last ? "rpop" : "lpop", from);
    if (source->count == 0)
        hf__key_delete(tx, source);
    hf__reply_bytes(tx, value.data, value.size);
    return true;
}

static void run_lmove(hf__tx *tx, const hf_bytes *args, size_t count)
{
    bool from_last, to_last;

    (void)count;
    if (read_end(tx, args[3], &from_last) && read_end(tx, args[4], &to_last))
        (void)move_value(tx, args[1], args[2], from_last, to_last);
}

static void run_rpoplpush(hf__tx *tx, const hf_bytes *args, size_t count)
{
    (void)count;
    (void)move_value(tx, args[1], args[2], true, false);
}

static void block_move(hf__tx *tx, const hf_bytes *args, bool from_last,
                       bool to_last)
{
    if (!move_value(tx, args[1], args[2], from_last, to_last))
        hf__block_on(tx, HF__TYPE_LIST, 1, 1);
}

static void run_blmove(hf__tx *tx, const hf_bytes *args, size_t count)
{
    bool from_last, to_last;

    (void)count;
    if (read_end(tx, args[3], &from_last) && read_end(tx, args[4], &to_last) &&
        hf__arg_wait(tx, args[5]))
        block_move(tx, args, from_last, to_last);
}

static void run_brpoplpush(hf__tx *tx, const hf_bytes *args, size_t count)
{
    (void)count;
    if (hf__arg_wait(tx, args[3]))
        block_move(tx, args, true, false);
}

#define GROWS (HF__COMMAND_WRITES | HF__COMMAND_GROWS)

const hf__command_entry hf__commands_list_move[] = {
    {"lmove", GROWS, run_lmove},
    {"rpoplpush", GROWS, run_rpoplpush},
    {"blmove", GROWS, run_blmove},
    {"brpoplpush", GROWS, run_brpoplpush},
    {NULL, 0, NULL}};
