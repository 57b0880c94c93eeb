/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_read.c - XREAD and XREADGROUP.
 *
 * All is checked first; then what a group delivers is noted, stream by stream;
 * then all is read for the reply, by which a script may leave the command.
 */
#include "engine/commands/stream_args.h"

#define READS_GROUP HF__VARIANT(1)

typedef struct stream_reading {
    bool grouped, noack, waits;
    hf_bytes group, consumer;
    size_t group_at; /* argument */
    uint64_t most;   /* entries of each stream */
    size_t first;    /* argument that is a key */
    size_t count;    /* of streams */
    size_t served;   /* of these, with something to reply */
} stream_reading;

/* One stream of it. */
typedef struct one_stream {
    bool fresh;   /* `>` */
    bool history; /* what the consumer has already */
    bool served;
    hf__stream_id after;
    hf__stream_id to;
    uint32_t consumer; /* its number */
} one_stream;

/* ----------------------------------------------------------------- options */

static bool read_wait(hf__tx *tx, hf_bytes arg)
{
    int64_t wait_ms;

    tx->block = (hf__block){.blocked = false};
    if (!hf__arg_at_least(tx, arg, INT64_MIN,
                          "ERR timeout is not an integer or out of range",
                          &wait_ms))
        return false;
    if (wait_ms < 0)
        return hf__reply_error(tx, "ERR timeout is negative");
    tx->block.wait_ms = wait_ms;
    return true;
}

static bool read_most(hf__tx *tx, hf_bytes arg, stream_reading *what)
{
    int64_t most;

    if (!hf__arg_integer(tx, arg, &most))
        return false;
    what->most = most > 0 ? (uint64_t)most : UINT64_MAX;
    return true;
}

static bool refuse_option(hf__tx *tx, const char *name)
{
    return hf__reply_error(
        tx,
        "ERR The %s option is only supported by XREADGROUP. You "
        "called XREAD instead.",
        name);
}

/* What follows STREAMS. */
static bool read_keys(hf__tx *tx, size_t at, size_t count, stream_reading *what)
{
    what->first = at;
    what->count = (count - at) / 2;
    if ((count - at) % 2 == 0)
        return true;
    return hf__reply_error(
        tx, "ERR Unbalanced XREAD list of streams: for each stream key "
            "an ID or '$' must be specified.");
}

/* The option at args[*at], which advances. */
static bool read_option(hf__tx *tx, const hf_bytes *args, size_t count,
                        size_t *at, stream_reading *what)
{
    hf_bytes arg = args[*at];
    size_t more = count - *at - 1;

    if (more > 0 && hf__arg_is(arg, "block")) {
        what->waits = true;
        return read_wait(tx, args[++*at]);
    }
    if (more > 0 && hf__arg_is(arg, "count"))
        return read_most(tx, args[++*at], what);
    if (more > 0 && hf__arg_is(arg, "streams"))
        return read_keys(tx, *at + 1, count, what);
    if (more > 1 && hf__arg_is(arg, "group")) {
        if (!what->grouped)
            return refuse_option(tx, "GROUP");
        what->group_at = *at + 1;
        what->group = args[what->group_at];
        what->consumer = args[*at + 2];
        *at += 2;
        return true;
    }
    if (hf__arg_is(arg, "noack")) {
        what->noack = true;
        return what->grouped || refuse_option(tx, "NOACK");
    }
    return hf__reply_error(tx, HF__ERROR_SYNTAX);
}

static bool read_options(hf__tx *tx, const hf_bytes *args, size_t count,
                         stream_reading *what)
{
    *what =
        (stream_reading){.grouped = hf__variant(tx) != 0, .most = UINT64_MAX};
    what->group = what->consumer = hf_view(NULL, 0);
    for (size_t at = 1; at < count && what->first == 0; at++) {
        if (!read_option(tx, args, count, &at, what))
            return false;
    }
    if (what->first == 0)
        return hf__reply_error(tx, HF__ERROR_SYNTAX);
    if (what->grouped && what->group.data == NULL)
        return hf__reply_error(tx, "ERR Missing GROUP option for XREADGROUP");
    return true;
}

/* The id of a stream. false: replied with an error. */
static bool read_id(hf__tx *tx, hf__record *record, hf_bytes arg,
                    const stream_reading *what, one_stream *one)
{
    if (hf__arg_is(arg, "$") && what->grouped)
        return hf__reply_error(
            tx, "ERR The $ ID is meaningless in the context of "
                "XREADGROUP: you want to read the history of this "
                "consumer by specifying a proper ID, or use the > ID "
                "to get new messages. The $ ID would just return an "
                "empty result set.");
    if (hf__arg_is(arg, ">") && !what->grouped)
        return hf__reply_error(
            tx, "ERR The > ID can be specified only when calling "
                "XREADGROUP using the GROUP <group> <consumer> "
                "option.");
    one->fresh = hf__arg_is(arg, ">");
    one->history = what->grouped && !one->fresh;
    if (one->fresh)
        return true;
    if (!hf__arg_stream_start(tx, record, arg, &one->after))
        return false;
    /* For Redis the highest id is `>`. */
    one->fresh = one->history &&
                 hf__stream_id_compare(one->after, HF__STREAM_ID_LAST) == 0;
    one->history = one->history && !one->fresh;
    return true;
}

static bool check_stream(hf__tx *tx, const hf_bytes *args, size_t index,
                         const stream_reading *what, one_stream *one)
{
    const hf_bytes *key = args + what->first + index;
    hf__record *record;
    hf__group group;

    hf__tx_trim(tx);
    if (what->grouped ? !hf__arg_stream_group(
                            tx, key - 1, what->group,
                            " in XREADGROUP with GROUP option", &record, &group)
                      : !hf__stream_open(tx, *key, &record))
        return false;
    return read_id(tx, record, key[what->count], what, one);
}

/* -------------------------------------------------------------- delivering */

/* Ids of the entries that the group has not delivered, in tx->arena. */
static hf__stream_id *list_fresh(hf__tx *tx, const hf__record *record,
                                 const hf__group *group, uint64_t most,
                                 uint64_t *count)
{
    hf__stream_id from = group->last;
    hf__stream_id *ids;
    hf__stream_walk walk;
    hf__entry entry;

    *count = 0;
    if (!hf__stream_id_next(&from))
        return NULL;
    hf__stream_walk_begin(&walk, tx, record, from, HF__STREAM_ID_LAST, false);
    while (*count < most && hf__stream_walk_next(&walk, &entry))
        ++*count;
    if (*count == 0)
        return NULL;
    ids = hf__tx_alloc(tx, (size_t)*count * sizeof(*ids));
    hf__stream_walk_begin(&walk, tx, record, from, HF__STREAM_ID_LAST, false);
    for (uint64_t i = 0;
         ids != NULL && i < *count && hf__stream_walk_next(&walk, &entry); i++)
        ids[i] = entry.id;
    return ids;
}

/* The group has delivered the entry. */
static void advance_group(hf__tx *tx, hf__record *record,
                          const hf__stream_head *head, hf__group *group,
                          hf__stream_id id)
{
    if (group->read != HF__GROUP_READ_UNKNOWN && group->read < INT64_MAX &&
        !hf__stream_has_gap(tx, record, head, id))
        group->read++;
    else if (head->added > 0)
        group->read = hf__stream_rank(tx, record, head, id);
    group->last = id;
}

static void deliver_fresh(hf__tx *tx, hf__record *record,
                          const stream_reading *what, hf__group *group,
                          one_stream *one)
{
    hf__unacked pending = {hf__stream_now(tx), 1, 0, 0};
    hf__stream_head head;
    hf__stream_id *ids;
    uint64_t count;
    int64_t more = 0;

    ids = list_fresh(tx, record, group, what->most, &count);
    if (ids == NULL || !hf__stream_head_get(tx, record, &head) ||
        !hf__need_consumer(tx, record, group, what->consumer, &one->consumer))
        return;
    pending.consumer = one->consumer;
    one->served = true;
    one->after = group->last;
    one->to = ids[count - 1];
    for (uint64_t i = 0; i < count && tx->fatal == HF_OK; i++) {
        advance_group(tx, record, &head, group, ids[i]);
        if (!what->noack)
            more += hf__unacked_put(tx, record, group, ids[i], &pending);
    }
    if (more > 0)
        hf__consumer_change(tx, record, group, one->consumer, more, 0);
    hf__group_change(tx, record, what->group, group);
}

/* What the consumer has after `one->after` is delivered once more. */
static void deliver_history(hf__tx *tx, hf__record *record,
                            const stream_reading *what, hf__group *group,
                            one_stream *one)
{
    hf__stream_id id = one->after;
    hf__unacked pending;
    hf__entry entry;

    one->served =
        hf__need_consumer(tx, record, group, what->consumer, &one->consumer);
    for (uint64_t i = 0;
         i < what->most && hf__stream_id_next(&id) &&
         hf__unacked_seek(tx, record, group, one->consumer, &id);
         i++) {
        if (!hf__stream_entry(tx, record, id, &entry) ||
            !hf__unacked_get(tx, record, group, id, &pending))
            continue;
        pending.since_ms = hf__stream_now(tx);
        pending.deliveries++;
        (void)hf__unacked_put(tx, record, group, id, &pending);
    }
}

static void deliver_stream(hf__tx *tx, hf_bytes key, const stream_reading *what,
                           one_stream *one)
{
    hf__record *record;
    hf__group group;

    if (!hf__stream_open(tx, key, &record) || record == NULL ||
        !hf__group_get(tx, record, what->group, &group))
        return;
    if (one->history)
        deliver_history(tx, record, what, &group, one);
    else
        deliver_fresh(tx, record, what, &group, one);
}

/* Is there an entry after one->after? */
static void look_for(hf__tx *tx, hf_bytes key, one_stream *one)
{
    hf__record *record;
    hf__entry last;

    one->to = HF__STREAM_ID_LAST;
    one->served = hf__stream_open(tx, key, &record) && record != NULL &&
                  hf__stream_edge(tx, record, true, &last) &&
                  hf__stream_id_compare(last.id, one->after) > 0;
}

/* ---------------------------------------------------------------- replying */

static void reply_history(hf__tx *tx, const hf__record *record,
                          const stream_reading *what, const hf__group *group,
                          const one_stream *one)
{
    hf__stream_id id = one->after;
    hf__entry entry;
    uint64_t count = 0;

    while (count < what->most && hf__stream_id_next(&id) &&
           hf__unacked_seek(tx, record, group, one->consumer, &id))
        count++;
    hf__reply_array(tx, (size_t)count);
    id = one->after;
    for (; count > 0 && hf__stream_id_next(&id) &&
           hf__unacked_seek(tx, record, group, one->consumer, &id);
         count--) {
        if (hf__stream_entry(tx, record, id, &entry)) {
            hf__reply_stream_entry(tx, &entry);
            continue;
        }
        hf__reply_array(tx, 2);
        hf__reply_stream_id(tx, id);
        hf__reply_nil_array(tx);
    }
}

static void reply_stream(hf__tx *tx, hf_bytes key, const stream_reading *what,
                         const one_stream *one)
{
    hf__stream_id from = one->after;
    hf__record *record;
    hf__group group;

    hf__tx_trim(tx);
    if (!hf__stream_open(tx, key, &record) || record == NULL)
        return;
    if (!tx->out->resp3)
        hf__reply_array(tx, 2);
    hf__reply_bytes(tx, key.data, key.size);
    if (one->history && hf__group_get(tx, record, what->group, &group))
        reply_history(tx, record, what, &group, one);
    else if (!one->history && hf__stream_id_next(&from))
        (void)hf__reply_stream_range(tx, record, from, one->to, false,
                                     what->most);
}

static void reply_streams(hf__tx *tx, const hf_bytes *args,
                          const stream_reading *what, const one_stream *all)
{
    if (tx->out->resp3)
        hf__reply_map(tx, what->served);
    else
        hf__reply_array(tx, what->served);
    for (size_t i = 0; i < what->count && tx->fatal == HF_OK; i++) {
        if (all[i].served)
            reply_stream(tx, args[what->first + i], what, &all[i]);
    }
}

/* ----------------------------------------------------------------- waiting */

/* Is there an entry for one that waits? Also if its group has gone. */
static bool is_ready(hf__tx *tx, hf__record *record, hf_bytes id,
                     const hf__block *block, const hf_bytes *words)
{
    hf__stream_id after;
    hf__stream_head head;
    hf__group group;
    hf__entry last;

    if (!hf__stream_head_get(tx, record, &head))
        return false;
    if (block->group == 0 && !hf__stream_id_read(id, 0, NULL, &after))
        return true;
    if (block->group != 0) {
        if (!hf__group_get(tx, record, words[block->group], &group))
            return true;
        after = group.last;
    }
    return hf__stream_id_compare(head.last, after) > 0 &&
           hf__stream_edge(tx, record, true, &last) &&
           hf__stream_id_compare(last.id, after) > 0;
}

/* Wait with the ids as they are now: `$` means what comes after this. */
static void wait_for(hf__tx *tx, const hf_bytes *args,
                     const stream_reading *what, const one_stream *all)
{
    hf_bytes *ids = hf__tx_alloc(tx, what->count * sizeof(*ids));

    for (size_t i = 0; ids != NULL && i < what->count; i++) {
        char *text;

        ids[i] = args[what->first + what->count + i];
        if (!hf__arg_is(ids[i], "$"))
            continue;
        text = hf__tx_alloc(tx, HF__STREAM_ID_TEXT_SIZE);
        if (text == NULL)
            return;
        ids[i] = hf_view(text, hf__stream_id_put(text, all[i].after));
    }
    if (ids == NULL)
        return;
    hf__block_on(tx, HF__TYPE_STREAM, what->first, what->count);
    tx->block.ids = ids;
    tx->block.ready = is_ready;
    tx->block.group = what->group_at;
    if (what->grouped)
        tx->block.gone = "UNBLOCKED the stream key no longer exists";
}

static void run_xread(hf__tx *tx, const hf_bytes *args, size_t count)
{
    stream_reading what;
    one_stream *all;

    if (!read_options(tx, args, count, &what))
        return;
    all = hf__tx_alloc(tx, what.count * sizeof(*all));
    if (all == NULL)
        return;
    memset(all, 0, what.count * sizeof(*all));
    for (size_t i = 0; i < what.count; i++) {
        if (!check_stream(tx, args, i, &what, &all[i]))
            return;
    }
    for (size_t i = 0; i < what.count && tx->fatal == HF_OK; i++) {
        hf__tx_trim(tx);
        if (what.grouped)
            deliver_stream(tx, args[what.first + i], &what, &all[i]);
        else
            look_for(tx, args[what.first + i], &all[i]);
        what.served += all[i].served ? 1 : 0;
    }
    if (what.served > 0) {
        reply_streams(tx, args, &what, all);
        return;
    }
    hf__reply_nil_array(tx);
    if (what.waits)
        wait_for(tx, args, &what, all);
}

const hf__command_entry hf__commands_stream_read[] = {
    {"xread", 0, run_xread},
    {"xreadgroup", HF__COMMAND_WRITES | HF__COMMAND_GROWS | READS_GROUP,
     run_xread},
    {NULL, 0, NULL}};
