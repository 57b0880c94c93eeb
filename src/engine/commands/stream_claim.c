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

/* *consumer NULL: of all. */
static bool read_listing(hf__tx *tx, const hf_bytes *args, size_t count,
                         hf__unacked_range *what, const hf_bytes **consumer)
{
    size_t at = 3;

    *what = (hf__unacked_range){.idle_ms = 0};
    if (count < 6 || count > 9)
        return hf__reply_error(tx, HF__ERROR_SYNTAX);
    if (hf__arg_is(args[3], "idle")) {
        if (!hf__arg_integer(tx, args[4], &what->idle_ms))
            return false;
        if (count < 8)
            return hf__reply_error(tx, HF__ERROR_SYNTAX);
        at += 2;
    }
    *consumer = at + 3 < count ? &args[at + 3] : NULL;
    return hf__arg_integer(tx, args[at + 2], &what->most) &&
           hf__arg_stream_bound(tx, args[at], false, &what->from) &&
           hf__arg_stream_bound(tx, args[at + 1], true, &what->to);
}

/* The consumers that have something. */
static void reply_busy(hf__open_stream *s)
{
    char text[HF__NUMBER_TEXT_SIZE];
    hf__consumer consumer;
    hf__members list;

    hf__stream_list(s, HF__CONSUMERS, &list);
    for (size_t i = 0; i < list.count; i++) {
        hf__member *item = &list.items[i];

        hf__consumer_get(s, (uint32_t)item->score, &consumer);
        item->score = (double)consumer.state.pending;
        item->gone = consumer.state.pending == 0;
    }
    hf__members_sweep(&list);
    hf__reply_array(s->tx, list.count);
    for (size_t i = 0; i < list.count; i++) {
        hf__reply_array(s->tx, 2);
        hf__reply_bytes(s->tx, list.items[i].name.data,
                        list.items[i].name.size);
        hf__reply_bytes(
            s->tx, text,
            hf__number_put_integer(text, (int64_t)list.items[i].score));
    }
}

static void reply_summary(hf__open_stream *s)
{
    hf__stream_id first = HF__STREAM_ID_FIRST, last = HF__STREAM_ID_LAST;

    hf__reply_array(s->tx, 4);
    hf__reply_integer(s->tx, (int64_t)s->group.pending);
    if (!hf__unacked_seek(s, 0, HF__SEEK_FROM, &first) ||
        !hf__unacked_seek(s, 0, HF__SEEK_UP_TO, &last)) {
        hf__reply_nil(s->tx);
        hf__reply_nil(s->tx);
        hf__reply_nil_array(s->tx);
        return;
    }
    hf__reply_stream_id(s->tx, first);
    hf__reply_stream_id(s->tx, last);
    reply_busy(s);
}

static void run_xpending(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__unacked_range what;
    const hf_bytes *consumer = NULL;
    hf__open_stream s;

    if ((count > 3 && !read_listing(tx, args, count, &what, &consumer)) ||
        !hf__need_both(&s, tx, args, args[2], ""))
        return;
    if (count == 3) {
        reply_summary(&s);
        return;
    }
    if (consumer != NULL)
        what.consumer = hf__consumer_find(&s, *consumer);
    if (consumer != NULL && what.consumer == 0)
        what.most = 0;
    hf__reply_unacked(&s, &what);
}

/* ---------------------------------------------------------------- claiming */

typedef struct claim {
    hf__open_stream s;
    hf_bytes consumer;
    int64_t idle_ms;
    int64_t since_ms;
    int64_t deliveries; /* -1: one more than before */
    bool only_ids;
    bool force;
    hf__stream_id last;
    hf__stream_id *taken, *gone;
    size_t taken_count, gone_count;
} claim;

static void claim_one(claim *what, hf__stream_id id)
{
    hf__open_stream *s = &what->s;
    hf__unacked pending = {0, 1, 0, 0};
    bool had = hf__unacked_get(s, id, &pending);
    hf__entry entry;

    if (!hf__stream_entry(s, id, &entry)) {
        if (had && hf__unacked_delete(s, id))
            what->gone[what->gone_count++] = id;
        return;
    }
    if ((!had && !what->force) ||
        (had && what->idle_ms > 0 &&
         hf__stream_idle(s->tx, pending.since_ms) < what->idle_ms) ||
        (s->consumer.number == 0 && !hf__need_consumer(s, what->consumer)))
        return;
    pending.consumer = s->consumer.number;
    pending.since_ms = what->since_ms;
    if (what->deliveries >= 0)
        pending.deliveries = (uint64_t)what->deliveries;
    else if (!what->only_ids)
        pending.deliveries++;
    hf__unacked_put(s, id, &pending);
    what->taken[what->taken_count++] = id;
}

static void reply_taken(claim *what)
{
    hf__tx *tx = what->s.tx;
    hf__entry entry;

    hf__reply_array(tx, what->taken_count);
    for (size_t i = 0; i < what->taken_count; i++) {
        if (what->only_ids)
            hf__reply_stream_id(tx, what->taken[i]);
        else if (hf__stream_entry(&what->s, what->taken[i], &entry))
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
    what->since_ms = what->deliveries = -1;
    what->consumer = args[3];
    if (!hf__number_integer(args[4], &what->idle_ms))
        return hf__reply_error(tx, "ERR Invalid min-idle-time argument for %s",
                               name);
    return true;
}

static void run_xclaim(hf__tx *tx, const hf_bytes *args, size_t count)
{
    int64_t now_ms = hf__stream_now(tx);
    claim what = {.only_ids = false};
    size_t ids = 0, at = 5;

    if (!hf__need_both(&what.s, tx, args, args[2], "") ||
        !read_claim(tx, args, "XCLAIM", &what) || !make_room(tx, &what, count))
        return;
    while (at < count &&
           hf__stream_id_read(args[at], 0, NULL, &what.taken[ids])) {
        ids++;
        at++;
    }
    for (; at < count; at++) {
        if (!read_claim_option(tx, args, count, &at, &what))
            return;
    }
    if (what.since_ms < 0 || what.since_ms > now_ms)
        what.since_ms = now_ms;
    if (hf__stream_id_compare(what.last, what.s.group.last) > 0)
        what.s.group.last = what.last;
    for (size_t i = 0; i < ids && tx->fatal == HF_OK; i++)
        claim_one(&what, what.taken[i]); /* which has no more before it */
    hf__group_change(&what.s);
    reply_taken(&what);
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
static void claim_range(claim *what, int64_t most, hf__stream_id *id)
{
    hf__open_stream *s = &what->s;
    int64_t looks = most * LOOKS;
    bool more = true;

    while (looks-- > 0 &&
           (int64_t)(what->taken_count + what->gone_count) < most && more &&
           s->tx->fatal == HF_OK) {
        more = hf__unacked_seek(s, 0, HF__SEEK_FROM, id);
        if (more) {
            claim_one(what, *id);
            more = hf__stream_id_next(id);
        }
    }
    if (!more || !hf__unacked_seek(s, 0, HF__SEEK_FROM, id))
        *id = HF__STREAM_ID_FIRST;
}

static void run_xautoclaim(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__stream_id id;
    int64_t most;
    claim what = {.only_ids = false};

    if (!read_claim(tx, args, "XAUTOCLAIM", &what) ||
        !hf__arg_stream_bound(tx, args[5], false, &id) ||
        !read_auto_options(tx, args, count, &what, &most) ||
        !hf__need_both(&what.s, tx, args, args[2], ""))
        return;
    what.since_ms = hf__stream_now(tx);
    if ((uint64_t)most > what.s.group.pending)
        most = (int64_t)what.s.group.pending;
    if (!make_room(tx, &what, (size_t)most + 1))
        return;
    claim_range(&what, most, &id);
    hf__group_change(&what.s);
    hf__reply_array(tx, 3);
    hf__reply_stream_id(tx, id);
    reply_taken(&what);
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
