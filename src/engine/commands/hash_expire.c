/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash_expire.c - commands on the deadlines of fields of a hash. Replies and
 * error texts are Redis 7.4's.
 */
#include "engine/commands/command_row.h"
#include "engine/commands/expiry_args.h"
#include "engine/keys/deadlines.h"
#include "engine/keys/type_hash.h"
#include "store/limits.h"

/* Replies for one field. */
enum { NO_FIELD = -2, NO_DEADLINE = -1, UNCHANGED = 0, DONE = 1, DELETED = 2 };

/* FIELDS count field ..., the last arguments. */
typedef struct fields {
    const hf_bytes *names;
    size_t count;
} fields;

/* From args[at] on. false: replied with an error. */
static bool read_fields(hf__tx *tx, const hf_bytes *args, size_t count,
                        size_t at, const char *not_positive, fields *result)
{
    int64_t wanted;

    if (at >= count || !hf__arg_is(args[at], "fields"))
        return hf__reply_error(
            tx, "ERR Mandatory argument FIELDS is missing or not "
                "at the right position");
    if (at + 1 >= count)
        return hf__reply_arity(tx, tx->command->name);
    if (!hf__arg_at_least(tx, args[at + 1], 1, not_positive, &wanted))
        return false;
    if ((uint64_t)wanted != count - at - 2)
        return hf__reply_error(tx,
                               "ERR The `numfields` parameter must match the "
                               "number of arguments");
    *result = (fields){args + at + 2, count - at - 2};
    return true;
}

static bool has_field(hf__tx *tx, hf__record *record, hf_bytes field)
{
    hf_bytes value;

    return record != NULL && hf__hash_get(tx, record, field, &value);
}

/* ----------------------------------------------------------------- setting */

typedef struct setting {
    int64_t expire_ms;
    char condition; /* 'n', 'x', 'g', 'l' of NX, XX, GT, LT; 0: none */
} setting;

/* false: replied with an error. */
static bool read_instant(hf__tx *tx, hf_bytes arg, hf__expiry expiry,
                         int64_t *expire_ms)
{
    int64_t value, limit = HF__DEADLINE_MAX;

    if (!hf__arg_from(tx, arg, 0, "ERR invalid expire time, must be >= 0",
                      &value))
        return false;
    if (!expiry.absolute)
        limit -= hf__tx_unix_us(tx) / 1000;
    if (value > limit / (expiry.seconds ? 1000 : 1))
        return hf__reply_error(tx, "ERR invalid expire time in '%s' command",
                               tx->command->name);
    return hf__expiry_instant(tx, expiry, value, false, expire_ms);
}

static char condition_of(hf_bytes arg)
{
    static const char *const names[] = {"nx", "xx", "gt", "lt"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (hf__arg_is(arg, names[i]))
            return names[i][0];
    }
    return 0;
}

/* A field without a deadline counts as one in the far future. */
static bool may_set(const setting *what, bool expires, int64_t old_ms)
{
    switch (what->condition) {
    case 'n':
        return !expires;
    case 'x':
        return expires;
    case 'g':
        return expires && what->expire_ms > old_ms;
    case 'l':
        return !expires || what->expire_ms < old_ms;
    default:
        return true;
    }
}

static int expire_field(hf__tx *tx, hf__record *record, hf_bytes field,
                        const setting *what)
{
    int64_t old_ms = 0;
    bool expires;

    if (!has_field(tx, record, field))
        return NO_FIELD;
    expires = hf__deadline_get(tx, record, field, &old_ms);
    if (!may_set(what, expires, old_ms))
        return UNCHANGED;
    if (what->expire_ms > tx->now_ms) {
        hf__hash_expire(tx, record, field, what->expire_ms);
        return DONE;
    }
    (void)hf__hash_delete(tx, record, field);
    return DELETED;
}

static bool has_result(const int *results, size_t count, int wanted)
{
    for (size_t i = 0; i < count; i++) {
        if (results[i] == wanted)
            return true;
    }
    return false;
}

/* All of it before the reply, by which a script may leave the command. */
static const int *expire_fields(hf__tx *tx, hf__record *record,
                                const fields *which, const setting *what)
{
    int *results = hf__tx_alloc(tx, which->count * sizeof(*results));

    if (results == NULL)
        return NULL;
    for (size_t i = 0; i < which->count && tx->fatal == HF_OK; i++)
        results[i] = expire_field(tx, record, which->names[i], what);
    if (has_result(results, which->count, DONE))
        hf__record_event(tx, HF__EVENT_HASH, "hexpire", record);
    if (has_result(results, which->count, DELETED))
        hf__record_event(tx, HF__EVENT_HASH, "hdel", record);
    if (record != NULL && tx->fatal == HF_OK && hf__hash_is_empty(tx, record))
        hf__key_delete(tx, record);
    return tx->fatal == HF_OK ? results : NULL;
}

static void run_hexpire(hf__tx *tx, const hf_bytes *args, size_t count)
{
    setting what = {0, 0};
    hf__record *record;
    const int *results;
    fields which;

    if (!hf__hash_open(tx, args[1], &record) ||
        !read_instant(tx, args[2], hf__expiry_of(tx), &what.expire_ms))
        return;
    what.condition = condition_of(args[3]);
    if (!read_fields(tx, args, count, what.condition != 0 ? 4 : 3,
                     "ERR Parameter `numFields` should be greater than 0",
                     &which))
        return;
    results = expire_fields(tx, record, &which, &what);
    if (results == NULL)
        return;
    hf__reply_array(tx, which.count);
    for (size_t i = 0; i < which.count; i++)
        hf__reply_integer(tx, results[i]);
}

/* ---------------------------------------------------- reading and removing */

/* Reply with what `of` returns for each field. */
static void reply_each(hf__tx *tx, const hf_bytes *args, size_t count,
                       int64_t (*of)(hf__tx *tx, hf__record *record,
                                     hf_bytes field))
{
    hf__record *record;
    fields which;

    if (!hf__hash_open(tx, args[1], &record) ||
        !read_fields(tx, args, count, 2,
                     "ERR Number of fields must be a positive integer", &which))
        return;
    hf__reply_array(tx, which.count);
    for (size_t i = 0; i < which.count && tx->fatal == HF_OK; i++)
        hf__reply_integer(tx, of(tx, record, which.names[i]));
}

static int64_t expiry_of(hf__tx *tx, hf__record *record, hf_bytes field)
{
    hf__expiry expiry = hf__expiry_of(tx);
    int64_t value;

    if (!has_field(tx, record, field))
        return NO_FIELD;
    if (!hf__deadline_get(tx, record, field, &value))
        return NO_DEADLINE;
    value = expiry.absolute ? hf__tx_to_unix(tx, value) : value - tx->now_ms;
    return expiry.seconds ? (value + 999) / 1000 : value;
}

static void run_httl(hf__tx *tx, const hf_bytes *args, size_t count)
{
    reply_each(tx, args, count, expiry_of);
}

static int64_t persist_field(hf__tx *tx, hf__record *record, hf_bytes field)
{
    if (!has_field(tx, record, field))
        return NO_FIELD;
    if (!hf__deadline_clear(tx, record, field))
        return NO_DEADLINE;
    hf__record_event(tx, HF__EVENT_HASH, "hpersist", record);
    return DONE;
}

static void run_hpersist(hf__tx *tx, const hf_bytes *args, size_t count)
{
    reply_each(tx, args, count, persist_field);
}

#define WRITES HF__COMMAND_WRITES
#define SECONDS HF__EXPIRY_SECONDS
#define ABSOLUTE HF__EXPIRY_ABSOLUTE

/* A full store refuses none of these, so that a script which has written a
 * field can always give it a deadline; Redis asks for memory before a script's
 * first write only. */
const hf__command_entry hf__commands_hash_expire[] = {
    {"hexpire", WRITES | SECONDS, run_hexpire},
    {"hpexpire", WRITES, run_hexpire},
    {"hexpireat", WRITES | SECONDS | ABSOLUTE, run_hexpire},
    {"hpexpireat", WRITES | ABSOLUTE, run_hexpire},
    {"httl", SECONDS, run_httl},
    {"hpttl", 0, run_httl},
    {"hexpiretime", SECONDS | ABSOLUTE, run_httl},
    {"hpexpiretime", ABSOLUTE, run_httl},
    {"hpersist", WRITES, run_hpersist},
    {NULL, 0, NULL}};
