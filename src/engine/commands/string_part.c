/* SPDX-License-Identifier: Apache-2.0 */
/*
 * string_part.c - commands on a part of a string.
 */
#include "engine/commands/command_row.h"
#include "engine/keys/type_string.h"
#include "store/limits.h"

/* Positions may count from the end; makes them those of the first and the last
 * byte. false: empty range. */
static bool place_range(int64_t size, int64_t *start, int64_t *end)
{
    /* In this order: otherwise both would become the first byte. */
    if (*start < 0 && *end < 0 && *start > *end)
        return false;
    if (*start < 0)
        *start = *start + size < 0 ? 0 : *start + size;
    if (*end < 0)
        *end = *end + size < 0 ? 0 : *end + size;
    if (*end >= size)
        *end = size - 1;
    return *start <= *end;
}

static void run_getrange(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__record *record;
    int64_t start, end;
    hf_bytes part;

    (void)count;
    if (!hf__arg_integer(tx, args[2], &start) ||
        !hf__arg_integer(tx, args[3], &end) ||
        !hf__key_of_type(tx, args[1], HF__TYPE_STRING, &record))
        return;
    if (record == NULL ||
        !place_range((int64_t)hf__string_size(record), &start, &end)) {
        hf__reply_bytes(tx, "", 0);
        return;
    }
    part =
        hf__string_part(tx, record, (size_t)start, (size_t)(end - start) + 1);
    if (part.data != NULL)
        hf__reply_bytes(tx, part.data, part.size);
}

/* false: too long, replied. */
static bool check_size(hf__tx *tx, int64_t offset, size_t size)
{
    if (hf__is_value_size(size) && hf__is_value_size((uint64_t)offset + size))
        return true;
    return hf__reply_error(tx, HF__ERROR_TOO_LONG);
}

static void run_setrange(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__record *record;
    int64_t offset;

    (void)count;
    if (!hf__arg_from(tx, args[2], 0, "ERR offset is out of range", &offset) ||
        !hf__key_of_type(tx, args[1], HF__TYPE_STRING, &record))
        return;
    if (args[3].size == 0) {
        hf__reply_integer(
            tx, record == NULL ? 0 : (int64_t)hf__string_size(record));
        return;
    }
    if (!check_size(tx, offset, args[3].size))
        return;
    if (record == NULL)
        record = hf__key_make(tx, args[1], HF__TYPE_STRING);
    if (record == NULL ||
        !hf__string_write(tx, record, (size_t)offset, args[3]))
        return;
    hf__key_event(tx, HF__EVENT_STRING, "setrange", args[1]);
    hf__reply_integer(tx, (int64_t)hf__string_size(record));
}

#define GROWS (HF__COMMAND_WRITES | HF__COMMAND_GROWS)

const hf__command_entry hf__commands_string_part[] = {
    {"getrange", 0, run_getrange},
    {"substr", 0, run_getrange},
    {"setrange", GROWS, run_setrange},
    {NULL, 0, NULL}};
