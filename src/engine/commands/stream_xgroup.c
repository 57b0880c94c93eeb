/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_xgroup.c - XGROUP and XACK.
 */
#include "engine/commands/stream_args.h"

/* The words after the id of CREATE and SETID. */
typedef struct xgroup_options {
    bool makes_stream;
    int64_t read;
} xgroup_options;

static bool read_options(hf__tx *tx, const hf_bytes *args, size_t count,
                         bool creates, xgroup_options *o)
{
    *o = (xgroup_options){.read = HF__GROUP_READ_UNKNOWN};
    for (size_t i = 5; i < count; i++) {
        if (creates && hf__arg_is(args[i], "mkstream")) {
            o->makes_stream = true;
        } else if (i + 1 < count && hf__arg_is(args[i], "entriesread")) {
            if (!hf__arg_integer(tx, args[++i], &o->read))
                return false;
            if (o->read < HF__GROUP_READ_UNKNOWN)
                return hf__reply_error(tx, "ERR value for ENTRIESREAD must be "
                                           "positive or -1");
        } else {
            return hf__reply_words(tx, "XGROUP", args[1]);
        }
    }
    return true;
}

/* No option may be given twice, which is checked after the key. */
static bool check_count(hf__tx *tx, const hf_bytes *args, bool fits)
{
    if (!fits)
        hf__reply_words(tx, "XGROUP", args[1]);
    return fits;
}

/* false: replied: there is no stream, or another type; or fatal. */
static bool need_stream(hf__tx *tx, hf_bytes key, hf__record **record)
{
    if (!hf__stream_open(tx, key, record))
        return false;
    if (*record != NULL)
        return true;
    return hf__reply_error(
        tx, "ERR The XGROUP subcommand requires the key to exist. "
            "Note that for CREATE you may want to use the MKSTREAM "
            "option to create an empty stream automatically.");
}

/* args[2] and args[3]. */
static bool need_group(hf__tx *tx, const hf_bytes *args, hf__record **record,
                       hf__group *group)
{
    return need_stream(tx, args[2], record) &&
           hf__need_group(tx, *record, args, group);
}

static void group_create(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__record *record;
    hf__group group;
    hf__stream_id id;
    xgroup_options o;

    if (!read_options(tx, args, count, true, &o) ||
        !(o.makes_stream ? hf__stream_open(tx, args[2], &record)
                         : need_stream(tx, args[2], &record)) ||
        !check_count(tx, args, count <= 8) ||
        !hf__arg_stream_start(tx, record, args[4], &id))
        return;
    if (record == NULL)
        record = hf__stream_make(tx, args[2]);
    if (record == NULL)
        return;
    if (hf__group_get(tx, record, args[3], &group)) {
        hf__reply_error(tx, "BUSYGROUP Consumer Group name already exists");
        return;
    }
    hf__group_make(tx, record, args[3], id, o.read);
    hf__record_event(tx, HF__EVENT_STREAM, "xgroup-create", record);
    hf__reply_line(tx, "OK");
}

/* SETID knows the ends of a range, too. */
static bool is_end(hf_bytes arg)
{
    return hf__arg_is(arg, "-") || hf__arg_is(arg, "+");
}

static void group_setid(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__record *record;
    hf__group group;
    xgroup_options o;

    if (!read_options(tx, args, count, false, &o) ||
        !need_group(tx, args, &record, &group) ||
        !check_count(tx, args, count <= 7) ||
        !(is_end(args[4])
              ? hf__arg_stream_bound(tx, args[4], false, &group.last)
              : hf__arg_stream_start(tx, record, args[4], &group.last)))
        return;
    group.read = o.read;
    hf__group_change(tx, record, args[3], &group);
    hf__record_event(tx, HF__EVENT_STREAM, "xgroup-setid", record);
    hf__reply_line(tx, "OK");
}

static void group_destroy(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__record *record;
    hf__group group;
    bool found;

    (void)count;
    if (!need_stream(tx, args[2], &record))
        return;
    found = hf__group_get(tx, record, args[3], &group);
    if (found) {
        hf__group_delete(tx, record, args[3], &group);
        hf__record_event(tx, HF__EVENT_STREAM, "xgroup-destroy", record);
        if (tx->made != NULL) /* those that wait for it get an error */
            tx->made(tx, args[2]);
    }
    hf__reply_integer(tx, found);
}

static void group_createconsumer(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__record *record;
    hf__group group;
    uint32_t number;
    bool found;

    (void)count;
    if (!need_group(tx, args, &record, &group))
        return;
    found = hf__consumer_find(tx, record, &group, args[4], &number);
    if (!found && tx->fatal == HF_OK) {
        hf__consumer_make(tx, record, &group, args[4], hf__stream_now(tx),
                          &number);
        hf__record_event(tx, HF__EVENT_STREAM, "xgroup-createconsumer", record);
    }
    hf__reply_integer(tx, !found);
}

static void group_delconsumer(hf__tx *tx, const hf_bytes *args, size_t count)
{
    uint64_t before;
    hf__record *record;
    hf__group group;
    uint32_t number;

    (void)count;
    if (!need_group(tx, args, &record, &group))
        return;
    before = group.pending;
    if (hf__consumer_find(tx, record, &group, args[4], &number)) {
        hf__consumer_delete(tx, record, &group, args[4], number);
        hf__group_change(tx, record, args[3], &group);
        hf__record_event(tx, HF__EVENT_STREAM, "xgroup-delconsumer", record);
    }
    hf__reply_integer(tx, (int64_t)(before - group.pending));
}

static void group_help(hf__tx *tx, const hf_bytes *args, size_t count)
{
    static const char *const lines[] = {
        "CREATE <key> <groupname> <id|$> [option]",
        "    Create a new consumer group. Options are:",
        "    * MKSTREAM",
        "      Create the empty stream if it does not exist.",
        "    * ENTRIESREAD entries_read",
        "      Set the group's entries_read counter (internal use).",
        "CREATECONSUMER <key> <groupname> <consumer>",
        "    Create a new consumer in the specified group.",
        "DELCONSUMER <key> <groupname> <consumer>",
        "    Remove the specified consumer.",
        "DESTROY <key> <groupname>",
        "    Remove the specified group.",
        "SETID <key> <groupname> <id|$> [ENTRIESREAD entries_read]",
        "    Set the current group ID and entries_read counter.",
        NULL};

    (void)args;
    (void)count;
    hf__reply_help(tx, lines);
}

static void run_xack(hf__tx *tx, const hf_bytes *args, size_t count)
{
    const hf__stream_id *ids;
    hf__record *record;
    hf__group group;
    int64_t done = 0;

    if (!hf__stream_open(tx, args[1], &record))
        return;
    if (record == NULL || !hf__group_get(tx, record, args[2], &group)) {
        hf__reply_integer(tx, 0);
        return;
    }
    ids = hf__arg_stream_ids(tx, args + 3, count - 3);
    if (ids == NULL)
        return;
    for (size_t i = 0; i < count - 3; i++)
        done += hf__unacked_delete(tx, record, &group, ids[i]) ? 1 : 0;
    if (done > 0) {
        hf__group_change(tx, record, args[2], &group);
    }
    hf__reply_integer(tx, done);
}

#define WRITES HF__COMMAND_WRITES
#define GROWS (HF__COMMAND_WRITES | HF__COMMAND_GROWS)

const hf__command_entry hf__commands_stream_group[] = {
    {"xgroup", WRITES | HF__COMMAND_GROUP, hf__subcommand_run},
    {"xgroup|create", GROWS, group_create},
    {"xgroup|createconsumer", GROWS, group_createconsumer},
    {"xgroup|delconsumer", WRITES, group_delconsumer},
    {"xgroup|destroy", WRITES, group_destroy},
    {"xgroup|setid", WRITES, group_setid},
    {"xgroup|help", 0, group_help},
    {"xack", WRITES, run_xack},
    {NULL, 0, NULL}};
