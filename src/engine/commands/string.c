/* SPDX-License-Identifier: Apache-2.0 */
/*
 * string.c - commands on strings.
 */
#include <string.h>

#include "engine/commands/command_row.h"
#include "engine/commands/expiry_args.h"
#include "engine/keys/number_text.h"
#include "engine/keys/type_string.h"
#include "store/limits.h"

static void reply_content(hf__tx *tx, hf__record *record)
{
    hf_bytes value = hf__string_bytes(tx, record);

    if (value.data != NULL)
        hf__reply_bytes(tx, value.data, value.size);
}

/* Reply with the value or nil; false: replied with an error. */
static bool reply_value(hf__tx *tx, hf_bytes key, hf__record **record)
{
    if (!hf__key_of_type(tx, key, HF__TYPE_STRING, record))
        return false;
    if (*record == NULL)
        hf__reply_nil(tx);
    else
        reply_content(tx, *record);
    return true;
}

static void run_get(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__record *record;

    (void)count;
    (void)reply_value(tx, args[1], &record);
}

/* Store a value, replacing any key. false: fatal, or too long, replied. */
static bool store_value(hf__tx *tx, hf__record *record, hf_bytes value,
                        int64_t expire_ms)
{
    if (!hf__is_value_size(value.size))
        return hf__reply_error(tx, HF__ERROR_TOO_LONG);
    if ((!record->live || record->type != HF__TYPE_STRING) &&
        !hf__record_make(tx, record, HF__TYPE_STRING))
        return false;
    hf__record_event(tx, HF__EVENT_STRING, "set", record);
    /* An instant in the past: the key is gone at once. */
    if (expire_ms != 0 && expire_ms <= tx->now_ms) {
        hf__key_delete(tx, record);
        return true;
    }
    record->expire_ms = expire_ms;
    return hf__string_set(tx, record, value.data, value.size);
}

static bool store_string(hf__tx *tx, hf_bytes key, hf_bytes value)
{
    hf__record *record = hf__key_record(tx, key);

    return record != NULL && store_value(tx, record, value, 0);
}

/* --------------------------------------------------------------------- SET */

typedef struct set_options {
    bool nx;
    bool xx;
    bool get;
    bool keep;
    bool expires;
    hf__expiry expiry;
    hf_bytes expiry_word;
} set_options;

static bool read_flag(set_options *options, hf_bytes arg)
{
    if (hf__arg_is(arg, "nx") && !options->xx)
        options->nx = true;
    else if (hf__arg_is(arg, "xx") && !options->nx)
        options->xx = true;
    else if (hf__arg_is(arg, "get"))
        options->get = true;
    else if (hf__arg_is(arg, "keepttl") && !options->expires)
        options->keep = true;
    else
        return false;
    return true;
}

/* As in Redis, an option may be repeated, and the last one counts. */
static bool read_expiry(set_options *options, hf_bytes arg, hf_bytes value)
{
    hf__expiry expiry;

    if (hf__arg_is(arg, "px"))
        expiry = (hf__expiry){false, false};
    else if (hf__arg_is(arg, "ex"))
        expiry = (hf__expiry){true, false};
    else if (hf__arg_is(arg, "pxat"))
        expiry = (hf__expiry){false, true};
    else if (hf__arg_is(arg, "exat"))
        expiry = (hf__expiry){true, true};
    else
        return false;
    if (options->keep ||
        (options->expires && (options->expiry.seconds != expiry.seconds ||
                              options->expiry.absolute != expiry.absolute)))
        return false;
    options->expiry = expiry;
    options->expires = true;
    options->expiry_word = value;
    return true;
}

static bool read_set_options(hf__tx *tx, const hf_bytes *args, size_t count,
                             set_options *options)
{
    memset(options, 0, sizeof(*options));
    for (size_t i = 3; i < count; i++) {
        if (read_flag(options, args[i]))
            continue;
        if (i + 1 == count || !read_expiry(options, args[i], args[i + 1]))
            return hf__reply_error(tx, HF__ERROR_SYNTAX);
        i++;
    }
    return true;
}

static bool read_instant(hf__tx *tx, hf_bytes arg, hf__expiry expiry,
                         int64_t *expire_ms)
{
    int64_t value;

    return hf__arg_integer(tx, arg, &value) &&
           hf__expiry_instant(tx, expiry, value, true, expire_ms);
}

/* The old value, for GET. false: replied with an error, or fatal. */
static bool reply_old(hf__tx *tx, hf__record *record)
{
    if (!record->live) {
        hf__reply_nil(tx);
        return true;
    }
    if (record->type != HF__TYPE_STRING)
        return hf__reply_wrong_type(tx);
    reply_content(tx, record);
    return tx->fatal == HF_OK;
}

static void run_set(hf__tx *tx, const hf_bytes *args, size_t count)
{
    set_options options;
    hf__record *record;
    int64_t expire_ms = 0;

    if (!read_set_options(tx, args, count, &options))
        return;
    if (options.expires &&
        !read_instant(tx, options.expiry_word, options.expiry, &expire_ms))
        return;
    record = hf__key_record(tx, args[1]);
    if (record == NULL || (options.get && !reply_old(tx, record)))
        return;
    if (record->live ? options.nx : options.xx) {
        if (!options.get)
            hf__reply_nil(tx);
        return;
    }
    if (options.keep && record->live)
        expire_ms = record->expire_ms;
    if (!store_value(tx, record, args[2], expire_ms))
        return;
    if (options.expires)
        hf__key_event(tx, HF__EVENT_GENERIC, "expire", args[1]);
    if (!options.get)
        hf__reply_line(tx, "OK");
}

static void run_setnx(hf__tx *tx, const hf_bytes *args, size_t count)
{
    (void)count;
    if (hf__key_find(tx, args[1]) != NULL) {
        hf__reply_integer(tx, 0);
        return;
    }
    if (store_string(tx, args[1], args[2]))
        hf__reply_integer(tx, 1);
}

static void run_setex(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__record *record;
    int64_t expire_ms;

    (void)count;
    if (!read_instant(tx, args[2], hf__expiry_of(tx), &expire_ms))
        return;
    record = hf__key_record(tx, args[1]);
    if (record == NULL || !store_value(tx, record, args[3], expire_ms))
        return;
    hf__key_event(tx, HF__EVENT_GENERIC, "expire", args[1]);
    hf__reply_line(tx, "OK");
}

static void run_getset(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__record *record;

    (void)count;
    if (reply_value(tx, args[1], &record))
        (void)store_string(tx, args[1], args[2]);
}

static void run_getdel(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__record *record;

    (void)count;
    if (reply_value(tx, args[1], &record) && record != NULL)
        hf__key_delete(tx, record);
}

/* ----------------------------------------------------------------- several */

static void run_mget(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__reply_array(tx, count - 1);
    for (size_t i = 1; i < count && tx->fatal == HF_OK; i++) {
        hf__record *record = hf__key_find(tx, args[i]);

        if (record != NULL && record->type == HF__TYPE_STRING)
            reply_content(tx, record);
        else
            hf__reply_nil(tx);
        hf__tx_trim(tx);
    }
}

static void run_mset(hf__tx *tx, const hf_bytes *args, size_t count)
{
    if (count % 2 == 0) {
        hf__reply_arity(tx, "mset");
        return;
    }
    for (size_t i = 1; i < count && tx->fatal == HF_OK; i += 2) {
        (void)store_string(tx, args[i], args[i + 1]);
        hf__tx_trim(tx);
    }
    hf__reply_line(tx, "OK");
}

static void run_msetnx(hf__tx *tx, const hf_bytes *args, size_t count)
{
    if (count % 2 == 0) {
        hf__reply_arity(tx, "msetnx");
        return;
    }
    for (size_t i = 1; i < count && tx->fatal == HF_OK; i += 2) {
        if (hf__key_find(tx, args[i]) != NULL) {
            hf__reply_integer(tx, 0);
            return;
        }
        hf__tx_trim(tx);
    }
    for (size_t i = 1; i < count && tx->fatal == HF_OK; i += 2) {
        (void)store_string(tx, args[i], args[i + 1]);
        hf__tx_trim(tx);
    }
    hf__reply_integer(tx, 1);
}

/* ----------------------------------------------------------------- lengths */

static void run_strlen(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__record *record;

    (void)count;
    if (hf__key_of_type(tx, args[1], HF__TYPE_STRING, &record))
        hf__reply_integer(
            tx, record == NULL ? 0 : (int64_t)hf__string_size(record));
}

static void run_append(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__record *record;
    size_t size;

    (void)count;
    if (!hf__key_of_type(tx, args[1], HF__TYPE_STRING, &record))
        return;
    if (record == NULL)
        record = hf__key_make(tx, args[1], HF__TYPE_STRING);
    if (record == NULL)
        return;
    size = hf__string_size(record);
    if (!hf__is_value_size((uint64_t)size + args[2].size)) {
        hf__reply_error(tx, HF__ERROR_TOO_LONG);
        return;
    }
    if (args[2].size == 0)
        hf__key_touch_watched(tx, record);
    else if (!hf__string_write(tx, record, size, args[2]))
        return;
    hf__key_event(tx, HF__EVENT_STRING, "append", args[1]);
    hf__reply_integer(tx, (int64_t)hf__string_size(record));
}

/* ----------------------------------------------------------------- numbers */

static void add_integer(hf__tx *tx, hf_bytes key, int64_t delta)
{
    char text[HF__NUMBER_TEXT_SIZE];
    hf__record *record;
    int64_t value = 0;
    hf_bytes old;

    if (!hf__key_of_type(tx, key, HF__TYPE_STRING, &record))
        return;
    if (record != NULL) {
        old = hf__string_start(tx, record, sizeof(text));
        if (old.data == NULL || !hf__arg_integer(tx, old, &value))
            return;
    }
    if (__builtin_add_overflow(value, delta, &value)) {
        hf__reply_error(tx, HF__ERROR_OVERFLOW);
        return;
    }
    if (record == NULL)
        record = hf__key_make(tx, key, HF__TYPE_STRING);
    if (record == NULL ||
        !hf__string_set(tx, record, text, hf__number_put_integer(text, value)))
        return;
    hf__key_event(tx, HF__EVENT_STRING, "incrby", key);
    hf__reply_integer(tx, value);
}

static void run_incr(hf__tx *tx, const hf_bytes *args, size_t count)
{
    (void)count;
    add_integer(tx, args[1], 1);
}

static void run_decr(hf__tx *tx, const hf_bytes *args, size_t count)
{
    (void)count;
    add_integer(tx, args[1], -1);
}

static void run_incrby(hf__tx *tx, const hf_bytes *args, size_t count)
{
    int64_t delta;

    (void)count;
    if (hf__arg_integer(tx, args[2], &delta))
        add_integer(tx, args[1], delta);
}

static void run_decrby(hf__tx *tx, const hf_bytes *args, size_t count)
{
    int64_t delta;

    (void)count;
    if (!hf__arg_integer(tx, args[2], &delta))
        return;
    if (delta == INT64_MIN)
        hf__reply_error(tx, "ERR decrement would overflow");
    else
        add_integer(tx, args[1], -delta);
}

#define WRITES HF__COMMAND_WRITES
#define GROWS (HF__COMMAND_WRITES | HF__COMMAND_GROWS)

const hf__command_entry hf__commands_string[] = {
    {"get", 0, run_get},
    {"set", GROWS, run_set},
    {"setnx", GROWS, run_setnx},
    {"setex", GROWS | HF__EXPIRY_SECONDS, run_setex},
    {"psetex", GROWS, run_setex},
    {"getset", GROWS, run_getset},
    {"getdel", WRITES, run_getdel},
    {"mget", 0, run_mget},
    {"mset", GROWS, run_mset},
    {"msetnx", GROWS, run_msetnx},
    {"strlen", 0, run_strlen},
    {"append", GROWS, run_append},
    {"incr", GROWS, run_incr},
    {"decr", GROWS, run_decr},
    {"incrby", GROWS, run_incrby},
    {"decrby", GROWS, run_decrby},
    {NULL, 0, NULL}};
