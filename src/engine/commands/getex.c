/* SPDX-License-Identifier: Apache-2.0 */
/*
 * getex.c - GETEX: reading a string and setting its expiry.
 */
#include "engine/commands/command_row.h"
#include "engine/commands/expiry_args.h"
#include "engine/keys/type_string.h"

typedef struct getex_options {
    bool persist;
    bool expires;
    hf__expiry expiry;
    hf_bytes arg;
} getex_options;

/* As in SET, a unit may be repeated, and the last one counts. */
static bool read_expiry(getex_options *options, hf_bytes unit, hf_bytes arg)
{
    hf__expiry expiry;

    if (hf__arg_is(unit, "ex"))
        expiry = (hf__expiry){true, false};
    else if (hf__arg_is(unit, "px"))
        expiry = (hf__expiry){false, false};
    else if (hf__arg_is(unit, "exat"))
        expiry = (hf__expiry){true, true};
    else if (hf__arg_is(unit, "pxat"))
        expiry = (hf__expiry){false, true};
    else
        return false;
    if (options->persist ||
        (options->expires && (options->expiry.seconds != expiry.seconds ||
                              options->expiry.absolute != expiry.absolute)))
        return false;
    options->expiry = expiry;
    options->expires = true;
    options->arg = arg;
    return true;
}

static bool read_options(hf__tx *tx, const hf_bytes *args, size_t count,
                         getex_options *options)
{
    for (size_t i = 2; i < count; i++) {
        if (hf__arg_is(args[i], "persist") && !options->expires) {
            options->persist = true;
        } else if (i + 1 < count &&
                   read_expiry(options, args[i], args[i + 1])) {
            i++;
        } else {
            return hf__reply_error(tx, HF__ERROR_SYNTAX);
        }
    }
    return true;
}

static void set_expiry(hf__tx *tx, hf__record *record, int64_t expire_ms)
{
    if (expire_ms != 0 && expire_ms <= tx->now_ms) {
        hf__key_delete(tx, record);
    } else if (expire_ms != record->expire_ms) {
        record->expire_ms = expire_ms;
        hf__key_touch(tx, record);
        hf__record_event(tx, HF__EVENT_GENERIC,
                         expire_ms != 0 ? "expire" : "persist", record);
    }
}

static void run_getex(hf__tx *tx, const hf_bytes *args, size_t count)
{
    getex_options options = {0};
    hf__record *record;
    int64_t value;
    int64_t expire_ms = 0;
    hf_bytes text;

    if (!read_options(tx, args, count, &options) ||
        !hf__key_of_type(tx, args[1], HF__TYPE_STRING, &record))
        return;
    if (record == NULL) {
        hf__reply_nil(tx);
        return;
    }
    if (options.expires &&
        (!hf__arg_integer(tx, options.arg, &value) ||
         !hf__expiry_instant(tx, options.expiry, value, true, &expire_ms)))
        return;
    text = hf__string_bytes(tx, record);
    if (text.data == NULL)
        return;
    hf__reply_bytes(tx, text.data, text.size);
    if (options.expires || options.persist)
        set_expiry(tx, record, expire_ms);
}

const hf__command_entry hf__commands_getex[] = {
    {"getex", HF__COMMAND_WRITES, run_getex}, {NULL, 0, NULL}};
