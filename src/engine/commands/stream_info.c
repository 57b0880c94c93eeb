/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_info.c - XINFO. A radix tree of Redis is our packs, and one more for
 * their root.
 */
#include "engine/commands/stream_args.h"

/* Of entries, and of those that are not acknowledged. */
#define FULL_COUNT 10

#define ERROR_KEY "ERR no such key"

static void reply_integer(hf__tx *tx, const char *name, uint64_t value)
{
    hf__reply_word(tx, name);
    hf__reply_integer(tx, (int64_t)value);
}

static void reply_id(hf__tx *tx, const char *name, hf__stream_id id)
{
    hf__reply_word(tx, name);
    hf__reply_stream_id(tx, id);
}

static void reply_name(hf__tx *tx, hf_bytes name)
{
    hf__reply_word(tx, "name");
    hf__reply_bytes(tx, name.data, name.size);
}

static void reply_known(hf__tx *tx, const char *name, bool known, int64_t value)
{
    hf__reply_word(tx, name);
    if (known)
        hf__reply_integer(tx, value);
    else
        hf__reply_nil(tx);
}

static void reply_progress(hf__open_stream *s)
{
    int64_t read = s->group.read, lag;
    bool known = hf__group_lag(s, &lag);

    reply_id(s->tx, "last-delivered-id", s->group.last);
    reply_known(s->tx, "entries-read", read != HF__GROUP_READ_UNKNOWN, read);
    reply_known(s->tx, "lag", known, lag);
}

/* ------------------------------------------------------------------- STREAM */

/* What both forms have. */
static void reply_head(hf__open_stream *s)
{
    hf__entry first = {.id = HF__STREAM_ID_FIRST};

    (void)hf__stream_edge(s, false, &first);
    reply_integer(s->tx, "length", s->record->count);
    reply_integer(s->tx, "radix-tree-keys", s->head.packs);
    reply_integer(s->tx, "radix-tree-nodes", s->head.packs + 1);
    reply_id(s->tx, "last-generated-id", s->head.last);
    reply_id(s->tx, "max-deleted-entry-id", s->head.deleted);
    reply_integer(s->tx, "entries-added", s->head.added);
    reply_id(s->tx, "recorded-first-entry-id", first.id);
}

static void reply_edge(hf__open_stream *s, bool last)
{
    hf__entry entry;

    hf__reply_word(s->tx, last ? "last-entry" : "first-entry");
    if (hf__stream_edge(s, last, &entry))
        hf__reply_stream_entry(s->tx, &entry);
    else
        hf__reply_nil(s->tx);
}

/* What is not acknowledged; `consumer` 0: of all. */
static void reply_pending(hf__open_stream *s, uint32_t consumer, uint64_t count,
                          int64_t most)
{
    hf__unacked_range what = {.consumer = consumer,
                              .to = HF__STREAM_ID_LAST,
                              .most = most > 0 ? most : INT64_MAX,
                              .info = true};

    reply_integer(s->tx, "pel-count", count);
    hf__reply_word(s->tx, "pending");
    hf__reply_unacked(s, &what);
}

static void reply_consumer(hf__open_stream *s, uint32_t number, int64_t most)
{
    hf__consumer consumer;

    hf__consumer_get(s, number, &consumer);
    hf__reply_map(s->tx, 4);
    reply_name(s->tx, consumer.name);
    reply_integer(s->tx, "seen-time", (uint64_t)consumer.state.seen_ms);
    reply_pending(s, number, consumer.state.pending, most);
}

static void reply_group(hf__open_stream *s, hf_bytes name, int64_t most)
{
    hf__members consumers;

    (void)hf__group_get(s, name);
    hf__stream_list(s, HF__CONSUMERS, &consumers);
    hf__reply_map(s->tx, 7);
    reply_name(s->tx, name);
    reply_progress(s);
    reply_pending(s, 0, s->group.pending, most);
    hf__reply_word(s->tx, "consumers");
    hf__reply_array(s->tx, consumers.count);
    for (size_t i = 0; i < consumers.count && s->tx->fatal == HF_OK; i++)
        reply_consumer(s, (uint32_t)consumers.items[i].score, most);
}

static void reply_full(hf__open_stream *s, int64_t most)
{
    uint64_t count =
        hf__stream_count(s, HF__STREAM_ID_FIRST, HF__STREAM_ID_LAST,
                         most > 0 ? (uint64_t)most : UINT64_MAX);
    hf__members groups;

    hf__stream_list(s, HF__GROUPS, &groups);
    hf__reply_map(s->tx, 9);
    reply_head(s);
    hf__reply_word(s->tx, "entries");
    hf__reply_stream_range(s, HF__STREAM_ID_FIRST, HF__STREAM_ID_LAST, false,
                           count);
    hf__reply_word(s->tx, "groups");
    hf__reply_array(s->tx, groups.count);
    for (size_t i = 0; i < groups.count && s->tx->fatal == HF_OK; i++)
        reply_group(s, groups.items[i].name, most);
}

/* After the key. false: replied with an error. */
static bool read_full(hf__tx *tx, const hf_bytes *args, size_t count,
                      int64_t *most)
{
    *most = FULL_COUNT;
    if ((count != 4 && count != 6) || !hf__arg_is(args[3], "full") ||
        (count == 6 && !hf__arg_is(args[4], "count")))
        return hf__reply_words(tx, "XINFO", args[1]);
    if (count == 6 && !hf__arg_integer(tx, args[5], most))
        return false;
    if (*most < 0)
        *most = FULL_COUNT;
    return true;
}

static void info_stream(hf__tx *tx, const hf_bytes *args, size_t count)
{
    int64_t most;
    hf__open_stream s;

    if (!hf__need_stream(&s, tx, args[2], ERROR_KEY) ||
        (count > 3 && !read_full(tx, args, count, &most)))
        return;
    if (count > 3) {
        reply_full(&s, most);
        return;
    }
    hf__reply_map(tx, 10);
    reply_head(&s);
    reply_integer(tx, "groups", s.head.groups);
    reply_edge(&s, false);
    reply_edge(&s, true);
}

/* ------------------------------------------------------- GROUPS, CONSUMERS */

static void info_groups(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__members groups, consumers;
    hf__open_stream s;

    (void)count;
    if (!hf__need_stream(&s, tx, args[2], ERROR_KEY))
        return;
    hf__stream_list(&s, HF__GROUPS, &groups);
    hf__reply_array(tx, groups.count);
    for (size_t i = 0; i < groups.count && tx->fatal == HF_OK; i++) {
        (void)hf__group_get(&s, groups.items[i].name);
        hf__stream_list(&s, HF__CONSUMERS, &consumers);
        hf__reply_map(tx, 6);
        reply_name(tx, groups.items[i].name);
        reply_integer(tx, "consumers", consumers.count);
        reply_integer(tx, "pending", s.group.pending);
        reply_progress(&s);
    }
}

static void info_consumers(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__members consumers;
    hf__consumer consumer;
    hf__open_stream s;

    (void)count;
    if (!hf__need_stream(&s, tx, args[2], ERROR_KEY) ||
        !hf__need_group(&s, args))
        return;
    hf__stream_list(&s, HF__CONSUMERS, &consumers);
    hf__reply_array(tx, consumers.count);
    for (size_t i = 0; i < consumers.count && tx->fatal == HF_OK; i++) {
        hf__consumer_get(&s, (uint32_t)consumers.items[i].score, &consumer);
        hf__reply_map(tx, 3);
        reply_name(tx, consumer.name);
        reply_integer(tx, "pending", consumer.state.pending);
        reply_integer(tx, "idle",
                      (uint64_t)hf__stream_idle(tx, consumer.state.seen_ms));
    }
}

static void info_help(hf__tx *tx, const hf_bytes *args, size_t count)
{
    static const char *const lines[] = {
        "CONSUMERS <key> <groupname>",
        "    Show consumers of <groupname>.",
        "GROUPS <key>",
        "    Show the stream consumer groups.",
        "STREAM <key> [FULL [COUNT <count>]",
        "    Show information about the stream.",
        NULL};

    (void)args;
    (void)count;
    hf__reply_help(tx, lines);
}

const hf__command_entry hf__commands_stream_info[] = {
    {"xinfo", HF__COMMAND_GROUP, hf__subcommand_run},
    {"xinfo|consumers", 0, info_consumers},
    {"xinfo|groups", 0, info_groups},
    {"xinfo|stream", 0, info_stream},
    {"xinfo|help", 0, info_help},
    {NULL, 0, NULL}};
