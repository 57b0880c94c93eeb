/* SPDX-License-Identifier: Apache-2.0 */
/* tally.c - see tally.h. */
#include "store/quorum/tally.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct counting {
    const hf__request *request;
    const hf__node_vote *votes;
    size_t count;
    size_t majority;
    size_t open;    /* missing, and waited for */
    size_t counted; /* votes that count */
    size_t maybe;   /* failures that may have had an effect */
    hf__arena *arena;
    hf__tally *tally;
} counting;

typedef bool rule(counting *c);

static bool decide_integer(counting *c, int64_t value)
{
    c->tally->kind = HF__TALLY_REPLY;
    hf__reply_set_integer(&c->tally->reply, value);
    return true;
}

/* Undecided: wait while votes are missing, else fail. Nodes that applied it
 * have done so. */
static bool leave_open(counting *c)
{
    bool reads = c->request->script->quorum == HF__QUORUM_READ;

    if (c->open > 0)
        return true;
    c->tally->kind = HF__TALLY_FAILED;
    c->tally->status =
        c->counted + c->maybe > 0 && !reads ? HF_INDETERMINATE : HF_UNAVAILABLE;
    return true;
}

static size_t count_integer(const counting *c, int64_t value)
{
    size_t found = 0;

    for (size_t i = 0; i < c->count; i++) {
        const hf__node_vote *vote = &c->votes[i];

        found += vote->counts && vote->reply->kind == HF_REPLY_INTEGER &&
                 vote->reply->integer == value;
    }
    return found;
}

static int64_t greatest_integer(const counting *c)
{
    int64_t greatest = INT64_MIN;

    for (size_t i = 0; i < c->count; i++) {
        const hf__node_vote *vote = &c->votes[i];

        if (vote->counts && vote->reply->kind == HF_REPLY_INTEGER &&
            vote->reply->integer > greatest)
            greatest = vote->reply->integer;
    }
    return greatest;
}

/* ------------------------------------------------------------------ acquire */

/* {pttl, holder, since, ...}. The position in one node's queue says nothing
 * about the other nodes. */
static bool is_refusal(const hf_reply *reply)
{
    return reply->kind == HF_REPLY_ARRAY && reply->array.count >= 3 &&
           reply->array.items[0].kind == HF_REPLY_INTEGER &&
           reply->array.items[1].kind == HF_REPLY_STRING &&
           reply->array.items[2].kind == HF_REPLY_INTEGER;
}

static bool same_bytes(const hf_reply *a, const hf_reply *b)
{
    return a->bytes.size == b->bytes.size &&
           memcmp(a->bytes.data, b->bytes.data, a->bytes.size) == 0;
}

/* How many refusals name the same holder as `one`. */
static size_t same_holder(const counting *c, const hf_reply *one)
{
    size_t found = 0;

    for (size_t i = 0; i < c->count; i++) {
        const hf__node_vote *vote = &c->votes[i];

        found += vote->counts && is_refusal(vote->reply) &&
                 same_bytes(&vote->reply->array.items[1], &one->array.items[1]);
    }
    return found;
}

/*
 * The holder that most nodes name, with its longest lease. If no holder has a
 * majority, the votes are split and the lock is free: a lease of 0, so that the
 * caller tries again soon.
 */
static bool decide_refusal(counting *c)
{
    const hf_reply *best = NULL;
    size_t best_votes = 0;
    hf_reply *items;

    for (size_t i = 0; i < c->count; i++) {
        const hf_reply *reply = c->votes[i].reply;
        size_t votes;

        if (!c->votes[i].counts || !is_refusal(reply))
            continue;
        votes = same_holder(c, reply);
        if (best == NULL || votes > best_votes ||
            (votes == best_votes &&
             reply->array.items[0].integer > best->array.items[0].integer)) {
            best = reply;
            best_votes = votes;
        }
    }
    c->tally->kind = HF__TALLY_REPLY;
    if (best == NULL || !hf__reply_set_array(&c->tally->reply, 3, c->arena))
        return false;
    items = c->tally->reply.array.items;
    hf__reply_set_integer(
        &items[0], best_votes < c->majority ? 0 : best->array.items[0].integer);
    hf__reply_set_integer(&items[2], best->array.items[2].integer);
    return hf__reply_set_bytes(&items[1], HF_REPLY_STRING,
                               best->array.items[1].bytes.data,
                               best->array.items[1].bytes.size, c->arena);
}

static bool rule_acquire(counting *c)
{
    size_t granted = 0;
    size_t refused = 0;

    for (size_t i = 0; i < c->count; i++) {
        const hf__node_vote *vote = &c->votes[i];

        granted += vote->counts && vote->reply->kind == HF_REPLY_INTEGER;
        refused += vote->counts && is_refusal(vote->reply);
    }
    if (granted >= c->majority) {
        c->tally->kind = HF__TALLY_TOKEN;
        c->tally->token = (uint64_t)greatest_integer(c);
        return true;
    }
    if (granted + c->open >= c->majority)
        return true;
    /* Impossible now: "held" if a majority refused or the votes are split, else
     * too few nodes answered. A slow vote must not make the difference. */
    if (refused + granted >= c->majority && refused > 0)
        return decide_refusal(c);
    if (refused + granted + c->open >= c->majority && refused > 0)
        return true;
    c->tally->kind = HF__TALLY_FAILED;
    c->tally->status = HF_UNAVAILABLE;
    return true;
}

/* ------------------------------------------------------- release, leave, ...
 */

static bool rule_count(counting *c)
{
    size_t released = count_integer(c, 1);
    size_t taken = count_integer(c, -1);
    size_t gone = count_integer(c, 0);

    if (released >= c->majority)
        return decide_integer(c, 1);
    if (taken >= c->majority)
        return decide_integer(c, -1);
    if (gone + taken >= c->majority)
        return decide_integer(c, 0);
    /* Released on all reachable nodes: on the others it expires, and they are
     * no majority. */
    if (c->open == 0 && released > 0 && c->counted >= c->majority)
        return decide_integer(c,
                              released + c->count - c->counted >= c->majority);
    return leave_open(c);
}

/* {i, why, ...}. A malformed reply must not count as "all renewed". */
static bool is_renewals(const counting *c, const hf_reply *reply)
{
    const hf_reply *items = reply->array.items;

    if (reply->kind != HF_REPLY_ARRAY || reply->array.count % 2 != 0)
        return false;
    for (size_t i = 0; i < reply->array.count; i += 2) {
        if (items[i].kind != HF_REPLY_INTEGER || items[i].integer < 1 ||
            items[i].integer > (int64_t)c->request->key_count ||
            items[i + 1].kind != HF_REPLY_INTEGER)
            return false;
    }
    return true;
}

static int why_not(const hf_reply *reply, size_t number)
{
    for (size_t i = 0; i + 1 < reply->array.count; i += 2) {
        if (reply->array.items[i].integer == (int64_t)number)
            return reply->array.items[i + 1].integer == 0 ? 0 : -1;
    }
    return 1;
}

/* As `why`: some nodes have renewed it, too few answered to know. */
enum { UNDECIDED = 1 };

/* Of lock `number`: 1 renewed, 0 free, -1 held by another owner, 2 unknown. */
static int renewal_outcome(const counting *c, size_t number)
{
    size_t yes = 0;
    size_t no = 0;
    size_t taken = 0;

    for (size_t i = 0; i < c->count; i++) {
        int why;

        if (!c->votes[i].counts || !is_renewals(c, c->votes[i].reply))
            continue;
        why = why_not(c->votes[i].reply, number);
        yes += why == 1;
        no += why != 1;
        taken += why == -1;
    }
    if (yes >= c->majority)
        return 1;
    if (no > c->count - c->majority)
        return taken >= c->majority ? -1 : 0;
    return 2;
}

static bool rule_renew(counting *c)
{
    size_t locks = c->request->key_count;
    size_t failed = 0;
    size_t at = 0;

    /* A lock that cannot be decided must not fail the others of its batch. */
    for (size_t i = 1; i <= locks; i++) {
        int what = renewal_outcome(c, i);

        if (what == 2 && (c->open > 0 || c->counted < c->majority))
            return leave_open(c);
        failed += what != 1;
    }
    c->tally->kind = HF__TALLY_REPLY;
    if (!hf__reply_set_array(&c->tally->reply, 2 * failed, c->arena))
        return false;
    for (size_t i = 1; i <= locks; i++) {
        int what = renewal_outcome(c, i);

        if (what == 1)
            continue;
        hf__reply_set_integer(&c->tally->reply.array.items[at++], (int64_t)i);
        hf__reply_set_integer(&c->tally->reply.array.items[at++],
                              what == 2 ? UNDECIDED : what);
    }
    return true;
}

/* Done once a majority has done it; 1 if it had an effect on any of them. */
static bool rule_any(counting *c)
{
    if (c->counted < c->majority)
        return leave_open(c);
    return decide_integer(c, greatest_integer(c) >= 1);
}

/* ------------------------------------------------------------------ inspect */

typedef struct view {
    const hf_reply *holder; /* that most nodes name */
    size_t votes;
    int64_t pttl_ms; /* the shortest among them */
    uint64_t token;
    int64_t waiters;
} view;

/* {owner, pttl, token, waiters ...}, or NULL. */
static const hf_reply *holder_parts(const hf__node_vote *vote)
{
    const hf_reply *reply = vote->reply;

    if (!vote->counts || reply->kind != HF_REPLY_ARRAY ||
        reply->array.count < 4 ||
        reply->array.items[1].kind != HF_REPLY_INTEGER ||
        reply->array.items[3].kind != HF_REPLY_INTEGER)
        return NULL;
    return reply->array.items;
}

static size_t same_owner(const counting *c, const hf_reply *owner)
{
    size_t votes = 0;

    for (size_t i = 0; i < c->count; i++) {
        const hf_reply *items = holder_parts(&c->votes[i]);

        votes += items != NULL && items[0].kind == HF_REPLY_STRING &&
                 same_bytes(&items[0], owner);
    }
    return votes;
}

/* How many nodes have at least so many. */
static size_t with_waiters(const counting *c, int64_t waiters)
{
    size_t found = 0;

    for (size_t i = 0; i < c->count; i++) {
        const hf_reply *items = holder_parts(&c->votes[i]);

        found += items != NULL && items[3].integer >= waiters;
    }
    return found;
}

static void read_votes(const counting *c, view *seen)
{
    for (size_t i = 0; i < c->count; i++) {
        const hf_reply *items = holder_parts(&c->votes[i]);
        size_t votes;

        if (items == NULL)
            continue;
        if (items[2].kind == HF_REPLY_STRING &&
            strtoull(items[2].bytes.data, NULL, 10) > seen->token)
            seen->token = strtoull(items[2].bytes.data, NULL, 10);
        if (items[3].integer > seen->waiters &&
            with_waiters(c, items[3].integer) >= c->majority)
            seen->waiters = items[3].integer;
        if (items[0].kind != HF_REPLY_STRING)
            continue;
        votes = same_owner(c, &items[0]);
        if (votes < seen->votes ||
            (votes == seen->votes && items[1].integer >= seen->pttl_ms))
            continue;
        seen->holder = items;
        seen->votes = votes;
        seen->pttl_ms = items[1].integer;
    }
}

static bool rule_read(counting *c)
{
    view seen = {.pttl_ms = INT64_MAX};
    char token[24];
    hf_reply *items;
    bool ok = true;

    if (c->counted < c->majority)
        return leave_open(c);
    read_votes(c, &seen);
    /* Missing votes may give a holder its majority. */
    if (seen.votes > 0 && seen.votes < c->majority &&
        seen.votes + c->open >= c->majority)
        return true;
    c->tally->kind = HF__TALLY_REPLY;
    if (!hf__reply_set_array(&c->tally->reply, 4, c->arena))
        return false;
    items = c->tally->reply.array.items;
    hf__reply_set_nil(&items[0]);
    hf__reply_set_integer(&items[1], -2);
    if (seen.votes >= c->majority) {
        ok = hf__reply_set_bytes(&items[0], HF_REPLY_STRING,
                                 seen.holder->bytes.data,
                                 seen.holder->bytes.size, c->arena);
        items[1].integer = seen.pttl_ms;
    }
    hf__reply_set_nil(&items[2]);
    if (seen.token > 0) {
        int size = snprintf(token, sizeof(token), "%llu",
                            (unsigned long long)seen.token);

        ok = ok && hf__reply_set_bytes(&items[2], HF_REPLY_STRING, token,
                                       (size_t)size, c->arena);
    }
    hf__reply_set_integer(&items[3], seen.waiters);
    return ok;
}

/* -------------------------------------------------------------------- rules */

static rule *const rules[] = {
    [HF__QUORUM_NONE] = NULL,        [HF__QUORUM_ACQUIRE] = rule_acquire,
    [HF__QUORUM_COUNT] = rule_count, [HF__QUORUM_RENEW] = rule_renew,
    [HF__QUORUM_READ] = rule_read,   [HF__QUORUM_ANY] = rule_any};

bool hf__tally_knows(const hf__script *script)
{
    return script != NULL && rules[script->quorum] != NULL;
}

/* An error such as WRONGTYPE or NOPERM is the caller's mistake: it is the
 * quorum's if the nodes without it are too few to decide. */
static bool decide_mistake(counting *c)
{
    for (size_t i = 0; i < c->count; i++) {
        const hf__node_vote *vote = &c->votes[i];

        if (vote->done && hf_status_kind(vote->status) == HF_KIND_USAGE &&
            c->counted + c->open < c->majority) {
            c->tally->kind = HF__TALLY_FAILED;
            c->tally->status = vote->status;
            return true;
        }
    }
    return false;
}

bool hf__tally_votes(const hf__request *request, const hf__node_vote *votes,
                     size_t count, size_t majority, hf__arena *arena,
                     hf__tally *tally)
{
    counting c = {.request = request,
                  .votes = votes,
                  .count = count,
                  .majority = majority,
                  .arena = arena,
                  .tally = tally};

    memset(tally, 0, sizeof(*tally));
    for (size_t i = 0; i < count; i++) {
        c.open += !votes[i].done && !votes[i].silent;
        c.counted += votes[i].counts;
        c.maybe += votes[i].done && (votes[i].status == HF_INDETERMINATE ||
                                     votes[i].status == HF_CORRUPT);
    }
    tally->reached = c.counted;
    if (decide_mistake(&c))
        return true;
    return rules[request->script->quorum](&c);
}
