/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_read.c - XREAD and XREADGROUP.
 *
 * All is checked first; then what a group delivers is noted, stream by stream;
 * then all is read for the reply, by which a script may leave the command.
 */
#include "engine/commands/stream_args.h"

#define READS_GROUP HF__VARIANT(1)

/* Entries that are listed before a group delivers them. */
#define AT_A_TIME 100u

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
    enum {
        ENTRIES, /* of the stream */
        FRESH,   /* `>`: what the group has not delivered */
        HISTORY  /* what the consumer has already */
    } asked;
    bool served;
    hf__stream_id after;
    uint64_t count;     /* of what is served */
    hf__stream_id *ids; /* HISTORY: those, in tx->arena */
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
static bool read_id(hf__open_stream *s, hf_bytes arg,
                    const stream_reading *what, one_stream *one)
{
    hf__tx *tx = s->tx;

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
    one->after = HF__STREAM_ID_LAST; /* which for Redis is `>` */
    if (!hf__arg_is(arg, ">") && !hf__arg_stream_start(s, arg, &one->after))
        return false;
    if (what->grouped)
        one->asked = hf__stream_id_compare(one->after, HF__STREAM_ID_LAST) == 0
                         ? FRESH
                         : HISTORY;
    return true;
}

static bool check_stream(hf__tx *tx, const hf_bytes *args, size_t index,
                         const stream_reading *what, one_stream *one)
{
    const hf_bytes *key = args + what->first + index;
    hf__open_stream s;

    hf__tx_trim(tx);
    return (what->grouped ? hf__need_both(&s, tx, key - 1, what->group,
                                          " in XREADGROUP with GROUP option")
                          : hf__stream_open(&s, tx, *key)) &&
           read_id(&s, key[what->count], what, one);
}

/* -------------------------------------------------------------- delivering */

/* The ids of at most so many entries that the group has not delivered. */
static uint64_t list_fresh(hf__open_stream *s, uint64_t most,
                           hf__stream_id ids[AT_A_TIME])
{
    hf__stream_id from = s->group.last;
    hf__stream_walk walk;
    hf__entry entry;
    uint64_t count = 0;

    if (!hf__stream_id_next(&from))
        return 0;
    hf__stream_walk_begin(&walk, s, from, HF__STREAM_ID_LAST, false);
    while (count < most && count < AT_A_TIME &&
           hf__stream_walk_next(&walk, &entry))
        ids[count++] = entry.id;
    return count;
}

/* The group has delivered the entry. */
static void advance_group(hf__open_stream *s, hf__stream_id id)
{
    hf__group *group = &s->group;

    if (group->read != HF__GROUP_READ_UNKNOWN && group->read < INT64_MAX &&
        !hf__stream_has_gap(s, id))
        group->read++;
    else if (s->head.added > 0)
        group->read = hf__stream_rank(s, id);
    group->last = id;
}

static void deliver_fresh(hf__open_stream *s, const stream_reading *what,
                          one_stream *one)
{
    hf__unacked pending = {hf__stream_now(s->tx), 1, 0, 0};
    hf__stream_id ids[AT_A_TIME];
    uint64_t listed;

    one->after = s->group.last;
    do {
        listed = list_fresh(s, what->most - one->count, ids);
        if (listed == 0 ||
            (one->count == 0 && !hf__need_consumer(s, what->consumer)))
            break;
        one->count += listed;
        pending.consumer = s->consumer.number;
        for (uint64_t i = 0; i < listed && s->tx->fatal == HF_OK; i++) {
            advance_group(s, ids[i]);
            if (!what->noack)
                hf__unacked_put(s, ids[i], &pending);
        }
    } while (listed == AT_A_TIME && s->tx->fatal == HF_OK);
    one->served = one->count > 0;
    if (one->served)
        hf__group_change(s);
}

/* What the consumer has after `one->after` is delivered once more. The ids are
 * kept: if the stream is named again, with `>`, the consumer then has more. */
static void deliver_history(hf__open_stream *s, const stream_reading *what,
                            one_stream *one)
{
    hf__stream_id id = one->after;
    hf__unacked pending;
    hf__entry entry;
    uint64_t most;

    one->served = hf__need_consumer(s, what->consumer);
    most = s->consumer.state.pending;
    if (most > what->most)
        most = what->most;
    if (one->served && most > 0)
        one->ids = hf__tx_alloc(s->tx, most * sizeof(*one->ids));
    while (one->ids != NULL && one->count < most && hf__stream_id_next(&id) &&
           hf__unacked_seek(s, s->consumer.number, HF__SEEK_FROM, &id)) {
        one->ids[one->count++] = id;
        if (!hf__stream_entry(s, id, &entry) ||
            !hf__unacked_get(s, id, &pending))
            continue;
        pending.since_ms = hf__stream_now(s->tx);
        pending.deliveries++;
        hf__unacked_put(s, id, &pending);
    }
    hf__consumer_save(s);
}

/* What there is after one->after. */
static void count_entries(hf__open_stream *s, const stream_reading *what,
                          one_stream *one)
{
    hf__stream_id from = one->after;

    if (hf__stream_id_compare(s->head.last, from) > 0 &&
        hf__stream_id_next(&from))
        one->count = hf__stream_count(s, from, HF__STREAM_ID_LAST, what->most);
    one->served = one->count > 0;
}

static void deliver_stream(hf__tx *tx, hf_bytes key, const stream_reading *what,
                           one_stream *one)
{
    hf__open_stream s;

    hf__tx_trim(tx);
    if (!hf__stream_open(&s, tx, key) || s.record == NULL ||
        (what->grouped && !hf__group_get(&s, what->group)))
        return;
    if (one->asked == HISTORY)
        deliver_history(&s, what, one);
    else if (one->asked == FRESH)
        deliver_fresh(&s, what, one);
    else
        count_entries(&s, what, one);
}

/* ---------------------------------------------------------------- replying */

static void reply_history(hf__open_stream *s, const one_stream *one)
{
    hf__entry entry;

    hf__reply_array(s->tx, (size_t)one->count);
    for (uint64_t i = 0; i < one->count && s->tx->fatal == HF_OK; i++) {
        if (hf__stream_entry(s, one->ids[i], &entry)) {
            hf__reply_stream_entry(s->tx, &entry);
            continue;
        }
        hf__reply_array(s->tx, 2);
        hf__reply_stream_id(s->tx, one->ids[i]);
        hf__reply_nil_array(s->tx);
    }
}

static void reply_stream(hf__tx *tx, hf_bytes key, const one_stream *one)
{
    hf__stream_id from = one->after;
    hf__open_stream s;

    hf__tx_trim(tx);
    if (!hf__stream_open(&s, tx, key) || s.record == NULL)
        return;
    if (!tx->out->resp3)
        hf__reply_array(tx, 2);
    hf__reply_bytes(tx, key.data, key.size);
    if (one->asked == HISTORY)
        reply_history(&s, one);
    else if (hf__stream_id_next(&from))
        hf__reply_stream_range(&s, from, HF__STREAM_ID_LAST, false, one->count);
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
            reply_stream(tx, args[what->first + i], &all[i]);
    }
}

/* ----------------------------------------------------------------- waiting */

/* Is there an entry for one that waits? Also if its group has gone. */
static bool is_ready(hf__tx *tx, hf__record *record, hf_bytes id,
                     const hf__block *block, const hf_bytes *words)
{
    hf__stream_id after;
    hf__entry last;
    hf__open_stream s;

    if (!hf__stream_load(&s, tx, record))
        return false;
    if (block->group == 0 ? !hf__stream_id_read(id, 0, NULL, &after)
                          : !hf__group_get(&s, words[block->group]))
        return true;
    if (block->group != 0)
        after = s.group.last;
    return hf__stream_id_compare(s.head.last, after) > 0 &&
           hf__stream_edge(&s, true, &last) &&
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
        deliver_stream(tx, args[what.first + i], &what, &all[i]);
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
