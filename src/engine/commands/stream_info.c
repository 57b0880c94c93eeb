/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_info.c - XINFO. A radix tree of Redis is our packs, and one more for
 * their root.
 */
#include "engine/commands/stream_args.h"

/* Of entries, and of those that are not acknowledged. */
#define FULL_COUNT 10

/* args[2]. false: replied: there is none, or another type; or fatal. */
static bool need_stream(hf__tx *tx, const hf_bytes *args, hf__record **record,
                        hf__stream_head *head)
{
    if (!hf__stream_open(tx, args[2], record))
        return false;
    if (*record != NULL)
        return hf__stream_head_get(tx, *record, head);
    return hf__reply_error(tx, "ERR no such key");
}

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

static void reply_progress(hf__tx *tx, hf__record *record,
                           const hf__stream_head *head, const hf__group *group)
{
    int64_t lag;

    reply_id(tx, "last-delivered-id", group->last);
    hf__reply_word(tx, "entries-read");
    if (group->read == HF__GROUP_READ_UNKNOWN)
        hf__reply_nil(tx);
    else
        hf__reply_integer(tx, group->read);
    hf__reply_word(tx, "lag");
    if (hf__group_lag(tx, record, head, group, &lag))
        hf__reply_integer(tx, lag);
    else
        hf__reply_nil(tx);
}

/* ------------------------------------------------------------------- STREAM */

/* What both forms have. */
static void reply_head(hf__tx *tx, const hf__record *record,
                       const hf__stream_head *head)
{
    hf__entry first;
    bool any = hf__stream_edge(tx, record, false, &first);

    reply_integer(tx, "length", record->count);
    reply_integer(tx, "radix-tree-keys", head->packs);
    reply_integer(tx, "radix-tree-nodes", head->packs + 1);
    reply_id(tx, "last-generated-id", head->last);
    reply_id(tx, "max-deleted-entry-id", head->deleted);
    reply_integer(tx, "entries-added", head->added);
    reply_id(tx, "recorded-first-entry-id",
             any ? first.id : HF__STREAM_ID_FIRST);
}

static void reply_edge(hf__tx *tx, const hf__record *record, bool last)
{
    hf__entry entry;

    hf__reply_word(tx, last ? "last-entry" : "first-entry");
    if (hf__stream_edge(tx, record, last, &entry))
        hf__reply_stream_entry(tx, &entry);
    else
        hf__reply_nil(tx);
}

/* How many are to be shown. */
static size_t shown_of(uint64_t count, int64_t most)
{
    return most > 0 && count > (uint64_t)most ? (size_t)most : (size_t)count;
}

/* `consumer` 0: of all. */
static void reply_pending(hf__tx *tx, const hf__record *record,
                          const hf__group *group, uint32_t consumer,
                          size_t count)
{
    hf__stream_id id = HF__STREAM_ID_FIRST;
    hf__consumer owner;
    hf_bytes name = hf_view("", 0);

    hf__reply_array(tx, count);
    for (; count > 0 && tx->fatal == HF_OK; count--) {
        hf__unacked pending = {0};

        if (!hf__unacked_seek(tx, record, group, consumer, &id) ||
            !hf__unacked_get(tx, record, group, id, &pending))
            hf__tx_fail(tx, MDB_CORRUPTED);
        hf__reply_array(tx, consumer == 0 ? 4 : 3);
        hf__reply_stream_id(tx, id);
        if (consumer == 0) {
            (void)hf__consumer_get(tx, record, group, pending.consumer, &owner,
                                   &name);
            hf__reply_bytes(tx, name.data, name.size);
        }
        hf__reply_integer(tx, pending.since_ms);
        hf__reply_integer(tx, (int64_t)pending.deliveries);
        (void)hf__stream_id_next(&id);
    }
}

static void reply_consumer(hf__tx *tx, const hf__record *record,
                           const hf__group *group, uint32_t number,
                           int64_t most)
{
    hf__consumer consumer = {0};
    hf_bytes name = hf_view("", 0);

    (void)hf__consumer_get(tx, record, group, number, &consumer, &name);
    hf__reply_map(tx, 4);
    reply_name(tx, name);
    reply_integer(tx, "seen-time", (uint64_t)consumer.seen_ms);
    reply_integer(tx, "pel-count", consumer.pending);
    hf__reply_word(tx, "pending");
    reply_pending(tx, record, group, number, shown_of(consumer.pending, most));
}

static void reply_group(hf__tx *tx, hf__record *record,
                        const hf__stream_head *head, hf_bytes name,
                        int64_t most)
{
    hf__members consumers;
    hf__group group = {.number = 0};

    (void)hf__group_get(tx, record, name, &group);
    hf__consumer_list(tx, record, &group, &consumers);
    hf__reply_map(tx, 7);
    reply_name(tx, name);
    reply_progress(tx, record, head, &group);
    reply_integer(tx, "pel-count", group.pending);
    hf__reply_word(tx, "pending");
    reply_pending(tx, record, &group, 0, shown_of(group.pending, most));
    hf__reply_word(tx, "consumers");
    hf__reply_array(tx, consumers.count);
    for (size_t i = 0; i < consumers.count && tx->fatal == HF_OK; i++)
        reply_consumer(tx, record, &group, (uint32_t)consumers.items[i].score,
                       most);
}

static void reply_full(hf__tx *tx, hf__record *record,
                       const hf__stream_head *head, int64_t most)
{
    hf__members groups;

    hf__group_list(tx, record, &groups);
    hf__reply_map(tx, 9);
    reply_head(tx, record, head);
    hf__reply_word(tx, "entries");
    (void)hf__reply_stream_range(tx, record, HF__STREAM_ID_FIRST,
                                 HF__STREAM_ID_LAST, false,
                                 most > 0 ? (uint64_t)most : UINT64_MAX);
    hf__reply_word(tx, "groups");
    hf__reply_array(tx, groups.count);
    for (size_t i = 0; i < groups.count && tx->fatal == HF_OK; i++)
        reply_group(tx, record, head, groups.items[i].name, most);
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
    hf__stream_head head;
    hf__record *record;
    int64_t most;

    if (!need_stream(tx, args, &record, &head) ||
        (count > 3 && !read_full(tx, args, count, &most)))
        return;
    if (count > 3) {
        reply_full(tx, record, &head, most);
        return;
    }
    hf__reply_map(tx, 10);
    reply_head(tx, record, &head);
    reply_integer(tx, "groups", head.groups);
    reply_edge(tx, record, false);
    reply_edge(tx, record, true);
}

/* ------------------------------------------------------- GROUPS, CONSUMERS */

static void info_groups(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__members groups, consumers;
    hf__stream_head head;
    hf__record *record;

    (void)count;
    if (!need_stream(tx, args, &record, &head))
        return;
    hf__group_list(tx, record, &groups);
    hf__reply_array(tx, groups.count);
    for (size_t i = 0; i < groups.count && tx->fatal == HF_OK; i++) {
        hf__group group = {.number = 0};

        (void)hf__group_get(tx, record, groups.items[i].name, &group);
        hf__consumer_list(tx, record, &group, &consumers);
        hf__reply_map(tx, 6);
        reply_name(tx, groups.items[i].name);
        reply_integer(tx, "consumers", consumers.count);
        reply_integer(tx, "pending", group.pending);
        reply_progress(tx, record, &head, &group);
    }
}

static void info_consumers(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__members consumers;
    hf__stream_head head;
    hf__record *record;
    hf__group group;

    (void)count;
    if (!need_stream(tx, args, &record, &head) ||
        !hf__need_group(tx, record, args, &group))
        return;
    hf__consumer_list(tx, record, &group, &consumers);
    hf__reply_array(tx, consumers.count);
    for (size_t i = 0; i < consumers.count && tx->fatal == HF_OK; i++) {
        hf__consumer consumer = {0};
        hf_bytes name = hf_view("", 0);

        (void)hf__consumer_get(tx, record, &group,
                               (uint32_t)consumers.items[i].score, &consumer,
                               &name);
        hf__reply_map(tx, 3);
        reply_name(tx, name);
        reply_integer(tx, "pending", consumer.pending);
        hf__reply_word(tx, "idle");
        hf__reply_integer(tx, hf__stream_idle(tx, consumer.seen_ms));
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
