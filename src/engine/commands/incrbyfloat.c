/* SPDX-License-Identifier: Apache-2.0 */
/*
 * incrbyfloat.c - INCRBYFLOAT and HINCRBYFLOAT.
 */
#include <math.h>

#include "engine/commands/command_row.h"
#include "engine/keys/long_float.h"
#include "engine/keys/type_hash.h"
#include "engine/keys/type_string.h"

#define ERROR_INFINITE "ERR increment would produce NaN or Infinity"

static void run_incrbyfloat(hf__tx *tx, const hf_bytes *args, size_t count)
{
    char text[HF__LONG_FLOAT_SIZE];
    hf_bytes old = {NULL, 0};
    hf__record *record;
    long double value = 0;
    long double delta;
    size_t size;

    (void)count;
    if (!hf__key_of_type(tx, args[1], HF__TYPE_STRING, &record))
        return;
    if (record != NULL)
        old = hf__string_start(tx, record, sizeof(text));
    if ((old.data != NULL && !hf__long_float_read(old, &value)) ||
        !hf__long_float_read(args[2], &delta)) {
        hf__reply_error(tx, HF__ERROR_FLOAT);
        return;
    }
    value += delta;
    if (!isfinite(value)) {
        hf__reply_error(tx, ERROR_INFINITE);
        return;
    }
    if (record == NULL)
        record = hf__key_make(tx, args[1], HF__TYPE_STRING);
    size = hf__long_float_put(text, value);
    if (record == NULL || !hf__string_set(tx, record, text, size))
        return;
    hf__key_event(tx, HF__EVENT_STRING, "incrbyfloat", args[1]);
    hf__reply_bytes(tx, text, size);
}

static void run_hincrbyfloat(hf__tx *tx, const hf_bytes *args, size_t count)
{
    char text[HF__LONG_FLOAT_SIZE];
    hf__record *record;
    hf_bytes old;
    long double value = 0;
    long double delta;
    size_t size;

    (void)count;
    if (!hf__long_float_read(args[3], &delta)) {
        hf__reply_error(tx, HF__ERROR_FLOAT);
        return;
    }
    if (!isfinite(delta)) {
        hf__reply_error(tx, "ERR value is NaN or Infinity");
        return;
    }
    if (!hf__hash_open(tx, args[1], &record))
        return;
    if (record != NULL && hf__hash_get(tx, record, args[2], &old) &&
        !hf__long_float_read(old, &value)) {
        hf__reply_error(tx, "ERR hash value is not a float");
        return;
    }
    value += delta;
    if (!isfinite(value)) {
        hf__reply_error(tx, ERROR_INFINITE);
        return;
    }
    record = hf__hash_make(tx, args[1]);
    if (record == NULL)
        return;
    size = hf__long_float_put(text, value);
    (void)hf__hash_update(tx, record, args[2], hf_view(text, size));
    hf__key_event(tx, HF__EVENT_HASH, "hincrbyfloat", args[1]);
    hf__reply_bytes(tx, text, size);
}

#define GROWS (HF__COMMAND_WRITES | HF__COMMAND_GROWS)

const hf__command_entry hf__commands_incrbyfloat[] = {
    {"incrbyfloat", GROWS, run_incrbyfloat},
    {"hincrbyfloat", GROWS, run_hincrbyfloat},
    {NULL, 0, NULL}};
