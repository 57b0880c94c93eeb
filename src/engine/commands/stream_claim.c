/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_claim.c - XPENDING, XCLAIM and XAUTOCLAIM: entries that a group has
 * delivered and that were not acknowledged.
 */
#include "engine/commands/stream_args.h"
#include "engine/keys/number_text.h"

/* XAUTOCLAIM looks at so many times COUNT entries. */
#define LOOKS 10
#define COUNT_DEFAULT 100
#define COUNT_MAX (INT64_MAX / 16)
#define ERROR_COUNT "ERR COUNT must be > 0"

/* ---------------------------------------------------------------- XPENDING */

typedef struct listing {
    int64_t idle_ms;
    int64_t most;
    hf__stream_id from, to;
    bool has_consumer;
    hf_bytes consumer;
} listing;

static bool read_listing(hf__tx *tx, const hf_bytes *args, size_t count,
                         listing *what)
{
    size_t at = 3;

    *what = (listing){.idle_ms = 0};
    if (count < 6 || count > 9)
        return hf__reply_error(tx, HF__ERROR_SYNTAX);
    if (hf__arg_is(args[3], "idle")) {
        if (!hf__arg_integer(tx, args[4], &what->idle_ms))
            return false;
        if (count < 8)
            return hf__reply_error(tx, HF__ERROR_SYNTAX);
        at += 2;
    }
    what->has_consumer = at + 3 < count;
    if (what->has_consumer)
        what->consumer = args[at + 3];
    return hf__arg_integer(tx, args[at + 2], &what->most) &&
           hf__arg_stream_bound(tx, args[at], false, &what->from) &&
           hf__arg_stream_bound(tx, args[at + 1], true, &what->to);
}

/* Its consumers that have something; `list` becomes these. */
static void list_busy(hf__tx *tx, const hf__record *record,
                      const hf__group *group, hf__members *list)
{
    hf__consumer consumer;
    hf_bytes name;

    hf__consumer_list(tx, record, group, list);
    for (size_t i = 0; i < list->count; i++) {
        hf__member *item = &list->items[i];

        if (!hf__consumer_get(tx, record, group, (uint32_t)item->score,
                              &consumer, &name))
            return;
        item->score = (double)consumer.pending;
        item->gone = consumer.pending == 0;
    }
    hf__members_sweep(list);
}

static void reply_summary(hf__tx *tx, const hf__record *record,
                          const hf__group *group)
{
    hf__stream_id first = HF__STREAM_ID_FIRST, last = HF__STREAM_ID_FIRST;
    char text[HF__STREAM_ID_TEXT_SIZE];
    hf__members list;

    hf__reply_array(tx, 4);
    hf__reply_integer(tx, (int64_t)group->pending);
    if (!hf__unacked_seek(tx, record, group, 0, &first) ||
        !hf__unacked_last(tx, record, group, &last)) {
        hf__reply_nil(tx);
        hf__reply_nil(tx);
        hf__reply_nil_array(tx);
        return;
    }
    list_busy(tx, record, group, &list);
    hf__reply_stream_id(tx, first);
    hf__reply_stream_id(tx, last);
    hf__reply_array(tx, list.count);
    for (size_t i = 0; i < list.count; i++) {
        hf__reply_array(tx, 2);
        hf__reply_bytes(tx, list.items[i].name.data, list.items[i].name.size);
        hf__reply_bytes(
            tx, text,
            hf__number_put_integer(text, (int64_t)list.items[i].score));
    }
}

/* The next one that is listed, from *id on. */
static bool next_listed(hf__tx *tx, const hf__record *record,
                        const hf__group *group, uint32_t number,
                        const listing *what, hf__stream_id *id,
                        hf__unacked *pending)
{
    while (hf__unacked_seek(tx, record, group, number, id) &&
           hf__stream_id_compare(*id, what->to) <= 0 &&
           hf__unacked_get(tx, record, group, *id, pending)) {
        if (hf__stream_idle(tx, pending->since_ms) >= what->idle_ms)
            return true;
        if (!hf__stream_id_next(id))
            return false;
    }
    return false;
}

static void reply_pending(hf__tx *tx, const hf__record *record,
                          const hf__group *group, hf__stream_id id,
                          const hf__unacked *pending)
{
    hf__consumer consumer;
    hf_bytes name = hf_view("", 0);

    (void)hf__consumer_get(tx, record, group, pending->consumer, &consumer,
                           &name);
    hf__reply_array(tx, 4);
    hf__reply_stream_id(tx, id);
    hf__reply_bytes(tx, name.data, name.size);
    hf__reply_integer(tx, hf__stream_idle(tx, pending->since_ms));
    hf__reply_integer(tx, (int64_t)pending->deliveries);
}

static void reply_listing(hf__tx *tx, const hf__record *record,
                          const hf__group *group, uint32_t number,
                          const listing *what)
{
    hf__stream_id id = what->from;
    hf__unacked pending;
    int64_t count = 0;

    while (count < what->most &&
           next_listed(tx, record, group, number, what, &id, &pending)) {
        count++;
        if (!hf__stream_id_next(&id))
            break;
    }
    hf__reply_array(tx, (size_t)count);
    id = what->from;
    for (; count > 0 &&
           next_listed(tx, record, group, number, what, &id, &pending);
         count--) {
        reply_pending(tx, record, group, id, &pending);
        (void)hf__stream_id_next(&id);
    }
}

static void run_xpending(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__record *record;
    hf__group group;
    uint32_t number = 0;
    listing what;

    if ((count > 3 && !read_listing(tx, args, count, &what)) ||
        !hf__arg_stream_group(tx, args, args[2], "", &record, &group))
        return;
    if (count == 3)
        reply_summary(tx, record, &group);
    else if (what.has_consumer &&
             !hf__consumer_find(tx, record, &group, what.consumer, &number))
        hf__reply_array(tx, 0);
    else
        reply_listing(tx, record, &group, number, &what);
}

/* ---------------------------------------------------------------- claiming */

typedef struct claim {
    hf__record *record;
    hf__group group;
    hf_bytes consumer;
    uint32_t number; /* the consumer's, once it is known; else 0 */
    int64_t idle_ms;
    int64_t since_ms;
    int64_t deliveries; /* -1: one more than before */
    bool only_ids;
    bool force;
    hf__stream_id last;
    int64_t more; /* pending entries of the consumer */
    hf__stream_id *taken, *gone;
    size_t taken_count, gone_count;
} claim;

static void claim_one(hf__tx *tx, claim *what, hf__stream_id id)
{
    hf__unacked pending = {0, 1, 0, 0};
    bool had = hf__unacked_get(tx, what->record, &what->group, id, &pending);
    hf__entry entry;

    if (!hf__stream_entry(tx, what->record, id, &entry)) {
        if (had && hf__unacked_delete(tx, what->record, &what->group, id))
            what->gone[what->gone_count++] = id;
        return;
    }
    if ((!had && !what->force) ||
        (had && what->idle_ms > 0 &&
         hf__stream_idle(tx, pending.since_ms) < what->idle_ms) ||
        (what->number == 0 &&
         !hf__need_consumer(tx, what->record, &what->group, what->consumer,
                            &what->number)))
        return;
    pending.consumer = what->number;
    pending.since_ms = what->since_ms;
    if (what->deliveries >= 0)
        pending.deliveries = (uint64_t)what->deliveries;
    else if (!what->only_ids)
        pending.deliveries++;
    what->more += hf__unacked_put(tx, what->record, &what->group, id, &pending);
    what->taken[what->taken_count++] = id;
}

static void finish_claim(hf__tx *tx, claim *what, hf_bytes group)
{
    if (what->more != 0)
        hf__consumer_change(tx, what->record, &what->group, what->number,
                            what->more, 0);
    hf__group_change(tx, what->record, group, &what->group);
}

static void reply_taken(hf__tx *tx, const claim *what)
{
    hf__entry entry;

    hf__reply_array(tx, what->taken_count);
    for (size_t i = 0; i < what->taken_count; i++) {
        if (what->only_ids)
            hf__reply_stream_id(tx, what->taken[i]);
        else if (hf__stream_entry(tx, what->record, what->taken[i], &entry))
            hf__reply_stream_entry(tx, &entry);
        else
            hf__reply_nil(tx); /* not reached: all were there */
    }
}

/* Room for `count` ids in both lists. false: fatal. */
static bool make_room(hf__tx *tx, claim *what, size_t count)
{
    what->taken = hf__tx_alloc(tx, 2 * count * sizeof(*what->taken));
    what->gone = what->taken != NULL ? what->taken + count : NULL;
    return what->taken != NULL;
}

/* ------------------------------------------------------------------ XCLAIM */

/* How many ids begin args[5]. */
static size_t count_ids(const hf_bytes *args, size_t count)
{
    hf__stream_id id;
    size_t i = 5;

    while (i < count && hf__stream_id_read(args[i], 0, NULL, &id))
        i++;
    return i - 5;
}

static bool read_claim_number(hf__tx *tx, hf_bytes arg, const char *name,
                              int64_t *value)
{
    if (hf__number_integer(arg, value))
        return true;
    return hf__reply_error(tx, "ERR Invalid %s option argument for XCLAIM",
                           name);
}

/* One option at args[*at], which advances. */
static bool read_claim_option(hf__tx *tx, const hf_bytes *args, size_t count,
                              size_t *at, claim *what)
{
    hf_bytes arg = args[*at];
    bool more = *at + 1 < count;
    bool idle = more && hf__arg_is(arg, "idle");

    if (hf__arg_is(arg, "force")) {
        what->force = true;
    } else if (hf__arg_is(arg, "justid")) {
        what->only_ids = true;
    } else if (idle || (more && hf__arg_is(arg, "time"))) {
        if (!read_claim_number(tx, args[++*at], idle ? "IDLE" : "TIME",
                               &what->since_ms))
            return false;
        if (idle && __builtin_sub_overflow(hf__stream_now(tx), what->since_ms,
                                           &what->since_ms))
            what->since_ms = 0;
    } else if (more && hf__arg_is(arg, "retrycount")) {
        return read_claim_number(tx, args[++*at], "RETRYCOUNT",
                                 &what->deliveries);
    } else if (more && hf__arg_is(arg, "lastid")) {
        return hf__arg_stream_id(tx, args[++*at], 0, NULL, &what->last);
    } else {
        return hf__reply_error(tx, "ERR Unrecognized XCLAIM option '%.*s'",
                               HF__SHOWN(arg));
    }
    return true;
}

static bool read_claim(hf__tx *tx, const hf_bytes *args, const char *name,
                       claim *what)
{
    *what = (claim){.since_ms = -1, .deliveries = -1, .consumer = args[3]};
    if (!hf__number_integer(args[4], &what->idle_ms))
        return hf__reply_error(tx, "ERR Invalid min-idle-time argument for %s",
                               name);
    return true;
}

static void run_xclaim(hf__tx *tx, const hf_bytes *args, size_t count)
{
    size_t ids = count_ids(args, count);
    int64_t now_ms = hf__stream_now(tx);
    hf__record *record;
    hf__group group;
    hf__stream_id id;
    claim what;

    if (!hf__arg_stream_group(tx, args, args[2], "", &record, &group) ||
        !read_claim(tx, args, "XCLAIM", &what))
        return;
    for (size_t at = 5 + ids; at < count; at++) {
        if (!read_claim_option(tx, args, count, &at, &what))
            return;
    }
    if (!make_room(tx, &what, ids + 1))
        return;
    what.record = record;
    what.group = group;
    if (what.since_ms < 0 || what.since_ms > now_ms)
        what.since_ms = now_ms;
    if (hf__stream_id_compare(what.last, group.last) > 0)
        what.group.last = what.last;
    for (size_t i = 0; i < ids && tx->fatal == HF_OK; i++) {
        if (hf__stream_id_read(args[5 + i], 0, NULL, &id))
            claim_one(tx, &what, id);
    }
    finish_claim(tx, &what, args[2]);
    reply_taken(tx, &what);
}

/* -------------------------------------------------------------- XAUTOCLAIM */

static bool read_auto_options(hf__tx *tx, const hf_bytes *args, size_t count,
                              claim *what, int64_t *most)
{
    *most = COUNT_DEFAULT;
    for (size_t i = 6; i < count; i++) {
        if (i + 1 < count && hf__arg_is(args[i], "count")) {
            if (!hf__arg_at_least(tx, args[++i], 1, ERROR_COUNT, most))
                return false;
            if (*most > COUNT_MAX)
                return hf__reply_error(tx, ERROR_COUNT);
        } else if (hf__arg_is(args[i], "justid")) {
            what->only_ids = true;
        } else {
            return hf__reply_error(tx, HF__ERROR_SYNTAX);
        }
    }
    return true;
}

/* Claim from `id` on; it becomes the next that was not looked at, or 0-0. */
static void claim_range(hf__tx *tx, claim *what, int64_t most,
                        hf__stream_id *id)
{
    int64_t looks = most * LOOKS;
    bool more = true;

    while (looks-- > 0 &&
           (int64_t)(what->taken_count + what->gone_count) < most && more &&
           tx->fatal == HF_OK) {
        more = hf__unacked_seek(tx, what->record, &what->group, 0, id);
        if (more) {
            claim_one(tx, what, *id);
            more = hf__stream_id_next(id);
        }
    }
    if (!more || !hf__unacked_seek(tx, what->record, &what->group, 0, id))
        *id = HF__STREAM_ID_FIRST;
}

static void run_xautoclaim(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__record *record;
    hf__group group;
    hf__stream_id id;
    int64_t most;
    claim what;

    if (!read_claim(tx, args, "XAUTOCLAIM", &what) ||
        !hf__arg_stream_bound(tx, args[5], false, &id) ||
        !read_auto_options(tx, args, count, &what, &most) ||
        !hf__arg_stream_group(tx, args, args[2], "", &record, &group))
        return;
    what.record = record;
    what.group = group;
    what.since_ms = hf__stream_now(tx);
    if ((uint64_t)most > group.pending)
        most = (int64_t)group.pending;
    if (!make_room(tx, &what, (size_t)most + 1))
        return;
    claim_range(tx, &what, most, &id);
    finish_claim(tx, &what, args[2]);
    hf__reply_array(tx, 3);
    hf__reply_stream_id(tx, id);
    reply_taken(tx, &what);
    hf__reply_array(tx, what.gone_count);
    for (size_t i = 0; i < what.gone_count; i++)
        hf__reply_stream_id(tx, what.gone[i]);
}

#define GROWS (HF__COMMAND_WRITES | HF__COMMAND_GROWS)

const hf__command_entry hf__commands_stream_claim[] = {
    {"xpending", 0, run_xpending},
    {"xclaim", GROWS, run_xclaim},
    {"xautoclaim", GROWS, run_xautoclaim},
    {NULL, 0, NULL}};
