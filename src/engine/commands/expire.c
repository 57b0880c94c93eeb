/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expire.c - commands on the expiry of keys.
 */
#include "engine/commands/command_row.h"
#include "engine/commands/expiry_args.h"

typedef struct conditions {
    bool nx;
    bool xx;
    bool gt;
    bool lt;
} conditions;

static bool read_conditions(hf__tx *tx, const hf_bytes *args, size_t count,
                            conditions *when)
{
    for (size_t i = 3; i < count; i++) {
        if (hf__arg_is(args[i], "nx")) {
            when->nx = true;
        } else if (hf__arg_is(args[i], "xx")) {
            when->xx = true;
        } else if (hf__arg_is(args[i], "gt")) {
            when->gt = true;
        } else if (hf__arg_is(args[i], "lt")) {
            when->lt = true;
        } else {
            return hf__reply_error(tx, "ERR Unsupported option %.*s",
                                   HF__SHOWN(args[i]));
        }
    }
    if (when->nx && (when->xx || when->gt || when->lt))
        return hf__reply_error(
            tx, "ERR NX and XX, GT or LT options at the same time "
                "are not compatible");
    if (when->gt && when->lt)
        return hf__reply_error(tx,
                               "ERR GT and LT options at the same time are not "
                               "compatible");
    return true;
}

static bool may_expire(const conditions *when, const hf__record *record,
                       int64_t expire_ms)
{
    bool expires = record->expire_ms != 0;

    if ((when->nx && expires) || (when->xx && !expires))
        return false;
    if (when->gt && (!expires || expire_ms <= record->expire_ms))
        return false;
    return !(when->lt && expires && expire_ms >= record->expire_ms);
}

static void run_expire(hf__tx *tx, const hf_bytes *args, size_t count)
{
    conditions when = {false, false, false, false};
    hf__record *record;
    int64_t value, expire_ms;

    if (!read_conditions(tx, args, count, &when) ||
        !hf__arg_integer(tx, args[2], &value) ||
        !hf__expiry_instant(tx, hf__expiry_of(tx), value, false, &expire_ms))
        return;
    record = hf__key_find(tx, args[1]);
    if (record == NULL || !may_expire(&when, record, expire_ms)) {
        hf__reply_integer(tx, 0);
        return;
    }
    if (expire_ms <= tx->now_ms) {
        hf__key_delete(tx, record);
    } else {
        record->expire_ms = expire_ms;
        hf__key_touch(tx, record);
        hf__key_event(tx, HF__EVENT_GENERIC, "expire", args[1]);
    }
    hf__reply_integer(tx, 1);
}

/* Reply with the time left or the instant; -2: no key, -1: no expiry. */
static void run_ttl(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__record *record = hf__key_find(tx, args[1]);
    hf__expiry expiry = hf__expiry_of(tx);
    int64_t value;

    (void)count;
    if (record == NULL || record->expire_ms == 0) {
        hf__reply_integer(tx, record == NULL ? -2 : -1);
        return;
    }
    if (expiry.absolute)
        value = hf__tx_to_unix(tx, record->expire_ms);
    else
        value = record->expire_ms - tx->now_ms;
    /* Rounded to seconds without overflow. */
    if (expiry.seconds)
        value = value / 1000 + (value % 1000 >= 500 ? 1 : 0);
    hf__reply_integer(tx, value);
}

static void run_persist(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__record *record = hf__key_find(tx, args[1]);

    (void)count;
    if (record == NULL || record->expire_ms == 0) {
        hf__reply_integer(tx, 0);
        return;
    }
    record->expire_ms = 0;
    hf__key_touch(tx, record);
    hf__key_event(tx, HF__EVENT_GENERIC, "persist", args[1]);
    hf__reply_integer(tx, 1);
}

#define WRITES HF__COMMAND_WRITES
#define SECONDS HF__EXPIRY_SECONDS
#define ABSOLUTE HF__EXPIRY_ABSOLUTE

const hf__command_entry hf__commands_expire[] = {
    {"expire", WRITES | SECONDS, run_expire},
    {"pexpire", WRITES, run_expire},
    {"expireat", WRITES | SECONDS | ABSOLUTE, run_expire},
    {"pexpireat", WRITES | ABSOLUTE, run_expire},
    {"ttl", SECONDS, run_ttl},
    {"pttl", 0, run_ttl},
    {"expiretime", SECONDS | ABSOLUTE, run_ttl},
    {"pexpiretime", ABSOLUTE, run_ttl},
    {"persist", WRITES, run_persist},
    {NULL, 0, NULL}};
