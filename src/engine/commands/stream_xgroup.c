/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_xgroup.c - XGROUP and XACK.
 */
#include "engine/commands/stream_args.h"

#define ERROR_KEY                                                              \
    "ERR The XGROUP subcommand requires the key to exist. Note that for "      \
    "CREATE you may want to use the MKSTREAM option to create an empty "       \
    "stream automatically."

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
            if (!hf__arg_from(
                    tx, args[++i], HF__GROUP_READ_UNKNOWN,
                    "ERR value for ENTRIESREAD must be positive or -1",
                    &o->read))
                return false;
        } else {
            return hf__reply_words(tx, "XGROUP", args[1]);
        }
    }
    return true;
}

/* The stream args[2] and its group args[3]. false: replied with an error, or
 * fatal. */
static bool need_group(hf__open_stream *s, hf__tx *tx, const hf_bytes *args)
{
    return hf__need_stream(s, tx, args[2], ERROR_KEY) &&
           hf__need_group(s, args);
}

/* What was changed, and what is replied. */
static void finish_change(hf__open_stream *s, const char *event)
{
    hf__record_event(s->tx, HF__EVENT_STREAM, event, s->record);
    hf__reply_line(s->tx, "OK");
}

static void group_create(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__stream_id id;
    xgroup_options o;
    hf__open_stream s;

    if (!read_options(tx, args, count, true, &o) ||
        !(o.makes_stream ? hf__stream_open(&s, tx, args[2])
                         : hf__need_stream(&s, tx, args[2], ERROR_KEY)) ||
        /* no option twice */
        (count > 8 && !hf__reply_words(tx, "XGROUP", args[1])) ||
        !hf__arg_stream_start(&s, args[4], &id))
        return;
    if (s.record == NULL)
        s.record = hf__stream_make(tx, args[2]);
    if (s.record == NULL)
        return;
    if (hf__group_get(&s, args[3]))
        hf__reply_error(tx, "BUSYGROUP Consumer Group name already exists");
    else if (hf__group_make(&s, args[3], id, o.read))
        finish_change(&s, "xgroup-create");
}

/* SETID knows the ends of a range, too. */
static bool is_end(hf_bytes arg)
{
    return hf__arg_is(arg, "-") || hf__arg_is(arg, "+");
}

static void group_setid(hf__tx *tx, const hf_bytes *args, size_t count)
{
    xgroup_options o;
    hf__open_stream s;

    if (!read_options(tx, args, count, false, &o) ||
        !need_group(&s, tx, args) || /* no option twice */
        (count > 7 && !hf__reply_words(tx, "XGROUP", args[1])) ||
        !(is_end(args[4])
              ? hf__arg_stream_bound(tx, args[4], false, &s.group.last)
              : hf__arg_stream_start(&s, args[4], &s.group.last)))
        return;
    s.group.read = o.read;
    hf__group_change(&s);
    finish_change(&s, "xgroup-setid");
}

static void group_destroy(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__open_stream s;
    bool found;

    (void)count;
    if (!hf__need_stream(&s, tx, args[2], ERROR_KEY))
        return;
    found = hf__group_get(&s, args[3]);
    if (found) {
        hf__group_delete(&s);
        hf__record_event(tx, HF__EVENT_STREAM, "xgroup-destroy", s.record);
        if (tx->made != NULL) /* those that wait for it get an error */
            tx->made(tx, args[2]);
    }
    hf__reply_integer(tx, found);
}

static void group_createconsumer(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__open_stream s;
    bool found;

    (void)count;
    if (!need_group(&s, tx, args))
        return;
    found = hf__consumer_find(&s, args[4]) != 0;
    if (!found && hf__need_consumer(&s, args[4]))
        hf__consumer_save(&s);
    hf__reply_integer(tx, !found);
}

static void group_delconsumer(hf__tx *tx, const hf_bytes *args, size_t count)
{
    uint64_t before;
    uint32_t number;
    hf__open_stream s;

    (void)count;
    if (!need_group(&s, tx, args))
        return;
    before = s.group.pending;
    number = hf__consumer_find(&s, args[4]);
    if (number != 0) {
        hf__consumer_delete(&s, number, args[4]);
        hf__group_change(&s);
        hf__record_event(tx, HF__EVENT_STREAM, "xgroup-delconsumer", s.record);
    }
    hf__reply_integer(tx, (int64_t)(before - s.group.pending));
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
    int64_t done = 0;
    hf__open_stream s;

    if (!hf__stream_open(&s, tx, args[1]))
        return;
    if (s.record == NULL || !hf__group_get(&s, args[2])) {
        hf__reply_integer(tx, 0);
        return;
    }
    ids = hf__arg_stream_ids(tx, args + 3, count - 3);
    if (ids == NULL)
        return;
    for (size_t i = 0; i < count - 3; i++)
        done += hf__unacked_delete(&s, ids[i]) ? 1 : 0;
    if (done > 0)
        hf__group_change(&s);
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
