/* SPDX-License-Identifier: Apache-2.0 */
/*
 * round.c - see round.h.
 *
 * 1. The request goes to every node in the same turn, each with its own inbox,
 *    and with a deadline short against the lease: a node that does not answer
 *    must cost a lock little of its life.
 * 2. Every answer is tallied with those that there are (tally.h), once all
 *    were sent: what gives up must come behind what asked. An answer of a node
 *    in quarantine (nodes.h) does not count; one that came by a new connection
 *    waits for the node to say who it is.
 *    A node that did not answer the last time is not waited for.
 * 3. An acquire that a majority granted goes on: the greatest of the nodes'
 *    tokens is confirmed, by a majority of those that granted it, before the
 *    lock is handed out. Any later majority has a node in common with that
 *    one, so its greatest token is greater.
 * 4. An acquire that cannot succeed is released on all nodes that granted it or
 *    may yet do so: on each, behind the acquire on its connection. As that may
 *    come to pass late, an owner id serves for one acquire only
 *    (HF__CAP_UNDOES).
 */
#include "store/quorum/round.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/quorum/nodes.h"
#include "store/quorum/tally.h"
#include "store/quorum/undo.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/mem.h"
#include "util/order.h"

/* What a node may take to answer an acquire, and again to confirm it: a tenth
 * of the lease, within these, but no more than a third of it. */
#define NODE_MIN_MS 50
#define NODE_MAX_MS 200
#define NODE_LEAST_MS 20 /* however short the lease */

/* Words of acquire whose meaning is ours to know. */
enum { WORD_OWNER = 3, WORD_TTL = 4, WORD_INBOX = 5, ACQUIRE_WORDS = 7 };
enum { LEAVE_INBOX = 2 };

typedef struct round round;

/* One node's part. */
typedef struct part {
    round *round;
    hf__request request;
    hf_bytes *words;
    size_t node;
} part;

struct round {
    hf__quorum *quorum;
    hf__request *request; /* NULL once it has completed */
    pthread_mutex_t mutex;
    size_t open;  /* parts and confirmations under way, and the start */
    bool started; /* all parts were sent */
    bool confirming;
    bool giving_up;
    uint64_t token;
    size_t confirmed;
    size_t unconfirmed; /* nodes that cannot confirm any more */
    int64_t ttl_ms;     /* of an acquire */
    int64_t deadline_ms;
    hf__vote votes[HF__QUORUM_NODES_MAX];
    part parts[HF__QUORUM_NODES_MAX];
    part confirms[HF__QUORUM_NODES_MAX];
    hf_bytes confirm_words[4];
    char token_text[24];
    char *bytes; /* of all words */
    hf_bytes words[];
};

/* ------------------------------------------------------------------- memory */

static bool is_acquire(const hf__request *request)
{
    return request->script->index == HF__SCRIPT_LOCK_ACQUIRE &&
           request->word_count == ACQUIRE_WORDS;
}

static round *round_new(hf__quorum *quorum, hf__request *request)
{
    size_t count = request->word_count;
    size_t size = 0;
    round *self = hf__calloc(1, sizeof(*self) + (quorum->count + 1) * count *
                                                    sizeof(hf_bytes));
    char *at;

    if (self == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++)
        size += request->words[i].size;
    at = self->bytes = hf__alloc(size);
    if (at == NULL) {
        hf__free(self);
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        if (request->words[i].size > 0)
            memcpy(at, request->words[i].data, request->words[i].size);
        self->words[i] = hf_view(at, request->words[i].size);
        at += request->words[i].size;
    }
    self->quorum = quorum;
    self->request = request;
    pthread_mutex_init(&self->mutex, NULL);
    return self;
}

static void round_drop(round *self)
{
    pthread_mutex_destroy(&self->mutex);
    hf__free(self->bytes);
    hf__free(self);
}

static void round_free(round *self)
{
    hf__quorum *quorum = self->quorum;

    for (size_t i = 0; i < quorum->count; i++) {
        hf__request_done(&self->parts[i].request);
        hf__request_done(&self->confirms[i].request);
    }
    round_drop(self);
    pthread_mutex_lock(&quorum->mutex);
    hf__quorum_round_ended_locked(quorum);
    pthread_mutex_unlock(&quorum->mutex);
}

/* An instant by which a node's answer to what is sent now must be there. */
static int64_t node_deadline(const round *self, int64_t deadline_ms)
{
    int64_t third_ms = hf__at_least(self->ttl_ms / 3, NODE_LEAST_MS);
    int64_t limit_ms;

    if (self->ttl_ms == 0)
        return deadline_ms;
    limit_ms =
        hf__at_least(hf__at_most(self->ttl_ms / 10, NODE_MAX_MS), NODE_MIN_MS);
    return hf__at_most(
        deadline_ms,
        hf__clock_after(hf__clock_boot_ms(), hf__at_most(limit_ms, third_ms)));
}

/* ---------------------------------------------------------------- completing
 */

/* Hand the request back, with the mutex held, which is let go. */
static void complete_locked(round *self, hf__request *request)
{
    request->sends = 1;
    for (size_t i = 0; i < self->quorum->count; i++) {
        if (self->votes[i].done &&
            self->parts[i].request.sends > request->sends)
            request->sends = self->parts[i].request.sends;
    }
    self->request = NULL;
    request->driver = NULL;
    pthread_mutex_unlock(&self->mutex);
    request->on_done(request);
    pthread_mutex_lock(&self->mutex);
}

static void fail_locked(round *self, hf_status status)
{
    hf__request *request = self->request;
    size_t reached = 0;

    for (size_t i = 0; i < self->quorum->count; i++) {
        const hf__vote *vote = &self->votes[i];

        if (vote->done && hf_status_kind(vote->status) == HF_KIND_USAGE &&
            vote->status == status) {
            request->status = status;
            request->error = self->parts[i].request.error;
            complete_locked(self, request);
            return;
        }
        reached += vote->counts;
    }
    hf__request_fail(request, status,
                     "%zu of %zu servers answered, and may vote; %zu are "
                     "needed",
                     reached, self->quorum->count, self->quorum->majority);
    complete_locked(self, request);
}

static void reply_locked(round *self, const hf_reply *reply)
{
    hf__request *request = self->request;

    request->status = HF_OK;
    request->reply = *reply;
    complete_locked(self, request);
}

/* ----------------------------------------------------------- giving votes up
 */

/* Has the node certainly nothing of ours? */
static bool has_nothing(const hf__vote *vote)
{
    if (!vote->done)
        return false;
    return vote->status == HF_UNAVAILABLE ||
           (vote->status == HF_OK && vote->reply->kind == HF_REPLY_ARRAY);
}

/* Give up what was granted, or may yet be. With the mutex held. */
static void undo_locked(round *self)
{
    const hf__undo undo = {self->words[0], self->words[2],
                           self->words[WORD_OWNER], self->ttl_ms,
                           self->confirming};
    bool nothing[HF__QUORUM_NODES_MAX];
    size_t count = self->quorum->count;

    self->giving_up = true;
    for (size_t i = 0; i < count; i++)
        nothing[i] = has_nothing(&self->votes[i]);
    pthread_mutex_unlock(&self->mutex);
    if (hf__quorum_enter(self->quorum)) {
        for (size_t i = 0; i < count; i++) {
            if (!nothing[i])
                hf__undo_send(self->quorum, i, &undo);
        }
        hf__quorum_leave(self->quorum);
    }
    pthread_mutex_lock(&self->mutex);
}

/* ----------------------------------------------------------------- deciding */

static void confirm_done(hf__request *request);

static void fill_confirm(round *self, size_t node, int64_t deadline_ms)
{
    part *confirm = &self->confirms[node];
    hf__request *request = &confirm->request;

    hf__request_script(request, &hf__scripts[HF__SCRIPT_LOCK_CONFIRM],
                       self->confirm_words, 4, 2);
    request->lane = HF__LANE_LEASE;
    request->began_ms = hf__clock_boot_ms();
    request->deadline_ms = deadline_ms;
    request->on_done = confirm_done;
    request->user = confirm;
    confirm->round = self;
    confirm->node = node;
}

/* Which nodes have to be asked: those that granted less. */
static size_t choose_locked(round *self, size_t nodes[])
{
    size_t count = 0;

    for (size_t i = 0; i < self->quorum->count; i++) {
        const hf__vote *vote = &self->votes[i];

        if (!vote->counts || vote->reply->kind != HF_REPLY_INTEGER)
            self->unconfirmed++;
        else if ((uint64_t)vote->reply->integer == self->token)
            self->confirmed++;
        else
            nodes[count++] = i;
    }
    return count;
}

/* Step 3. With the mutex held. */
static void begin_confirming_locked(round *self, uint64_t token)
{
    hf__quorum *quorum = self->quorum;
    int64_t deadline_ms = node_deadline(self, self->request->deadline_ms);
    size_t nodes[HF__QUORUM_NODES_MAX];
    size_t count;

    self->confirming = true;
    self->token = token;
    self->confirm_words[0] = self->words[0];
    self->confirm_words[1] = self->words[1];
    self->confirm_words[2] = self->words[WORD_OWNER];
    snprintf(self->token_text, sizeof(self->token_text), "%llu",
             (unsigned long long)token);
    self->confirm_words[3] = hf_str(self->token_text);
    count = choose_locked(self, nodes);
    for (size_t i = 0; i < count; i++)
        fill_confirm(self, nodes[i], deadline_ms);
    self->open += count;
    pthread_mutex_unlock(&self->mutex);
    if (hf__quorum_enter(quorum)) {
        for (size_t i = 0; i < count; i++) {
            hf__store *store = quorum->nodes[nodes[i]].store;
            hf__request *request = &self->confirms[nodes[i]].request;

            store->ops->submit(store, &request, 1);
        }
        hf__quorum_leave(quorum);
        count = 0;
    }
    pthread_mutex_lock(&self->mutex);
    self->open -= count; /* none of them, if the quorum is being closed */
    self->unconfirmed += count;
}

/* Give up what was granted, and say why not. With the mutex held. */
static void lose_locked(round *self, const hf__tally *tally)
{
    undo_locked(self);
    if (tally != NULL && tally->kind == HF__TALLY_REPLY)
        reply_locked(self, &tally->reply);
    else
        fail_locked(self, tally != NULL ? tally->status : HF_UNAVAILABLE);
}

static void judge_confirms_locked(round *self)
{
    const hf__quorum *quorum = self->quorum;
    hf_reply reply;

    if (self->request == NULL || self->giving_up)
        return;
    if (self->confirmed >= quorum->majority) {
        hf__reply_set_integer(&reply, (int64_t)self->token);
        reply_locked(self, &reply);
    } else if (self->unconfirmed > quorum->count - quorum->majority) {
        lose_locked(self, NULL);
    }
}

/* Step 2. With the mutex held. */
static void judge_locked(round *self)
{
    hf__request *request = self->request;
    hf__tally tally;

    if (!self->started || request == NULL || self->confirming ||
        self->giving_up)
        return;
    if (!hf__tally_votes(request, self->votes, self->quorum->count,
                         self->quorum->majority, &request->arena, &tally)) {
        hf__request_fail(request, HF_NO_MEMORY, "the answer of a quorum");
        complete_locked(self, request);
        return;
    }
    if (tally.kind == HF__TALLY_OPEN)
        return;
    if (tally.kind == HF__TALLY_TOKEN) {
        begin_confirming_locked(self, tally.token);
        judge_confirms_locked(self);
    } else if (is_acquire(request)) {
        lose_locked(self, &tally);
    } else if (tally.kind == HF__TALLY_REPLY) {
        reply_locked(self, &tally.reply);
    } else {
        fail_locked(self, tally.status);
    }
}

/* One part less under way; the last one ends the round. The mutex is held. */
static void leave_locked(round *self)
{
    bool last = --self->open == 0;

    assert(!last || self->request == NULL);
    pthread_mutex_unlock(&self->mutex);
    if (last)
        round_free(self);
}

static void confirm_done(hf__request *request)
{
    part *confirm = request->user;
    round *self = confirm->round;
    bool yes = request->status == HF_OK && request->reply.integer == 1;

    pthread_mutex_lock(&self->mutex);
    self->confirmed += yes;
    self->unconfirmed += !yes;
    judge_confirms_locked(self);
    leave_locked(self);
}

static void count_vote(part *done, bool counts)
{
    round *self = done->round;
    hf__vote *vote = &self->votes[done->node];

    pthread_mutex_lock(&self->mutex);
    vote->done = true;
    vote->counts = counts;
    vote->status = done->request.status;
    judge_locked(self);
    leave_locked(self);
}

static void part_identified(void *user)
{
    part *done = user;

    count_vote(done, hf__node_standing(done->round->quorum, done->node) ==
                         HF__NODE_VOTES);
}

static void part_done(hf__request *request)
{
    part *done = request->user;
    round *self = done->round;
    hf__standing standing = HF__NODE_SUSPECT;

    hf__node_answered(self->quorum, done->node,
                      request->status != HF_UNAVAILABLE &&
                          request->status != HF_INDETERMINATE);
    if (request->status == HF_OK)
        standing = hf__node_standing(self->quorum, done->node);
    if (standing == HF__NODE_UNKNOWN)
        hf__node_ask(self->quorum, done->node,
                     node_deadline(self, self->deadline_ms), part_identified,
                     done);
    else
        count_vote(done, standing == HF__NODE_VOTES);
}

/* ----------------------------------------------------------------- starting */

/* The node's own words: the same, but for its own inbox. */
static void fill_part(round *self, size_t node, const hf__request *request,
                      int64_t deadline_ms)
{
    size_t count = request->word_count;
    part *mine = &self->parts[node];
    hf__store *store = self->quorum->nodes[node].store;
    hf_bytes inbox = hf_str(store->ops->inbox(store));

    mine->words = self->words + (node + 1) * count;
    memcpy(mine->words, self->words, count * sizeof(hf_bytes));
    if (is_acquire(request) && mine->words[WORD_INBOX].size > 0)
        mine->words[WORD_INBOX] = inbox;
    if (request->script->index == HF__SCRIPT_LOCK_LEAVE)
        mine->words[LEAVE_INBOX] = inbox;
    mine->round = self;
    mine->node = node;
    hf__request_script(&mine->request, request->script, mine->words, count,
                       request->key_count);
    mine->request.repeatable = request->repeatable;
    /* One lane for all of a lock: a release must not overtake its acquire. */
    mine->request.lane = HF__LANE_LEASE;
    mine->request.began_ms = request->began_ms;
    mine->request.deadline_ms = deadline_ms;
    mine->request.on_done = part_done;
    mine->request.user = mine;
    self->votes[node].reply = &mine->request.reply;
}

static int64_t read_ttl(hf_bytes word)
{
    char text[24] = "";

    if (word.size < sizeof(text))
        memcpy(text, word.data, word.size);
    return strtoll(text, NULL, 10);
}

/* All at once; the round lives until `open` is 0. */
static void send_parts(round *self)
{
    hf__quorum *quorum = self->quorum;

    for (size_t i = 0; i < quorum->count; i++) {
        hf__request *mine = &self->parts[i].request;
        hf__store *store = quorum->nodes[i].store;

        hf__node_check(quorum, i);
        store->ops->submit(store, &mine, 1);
    }
    hf__quorum_leave(quorum);
    pthread_mutex_lock(&self->mutex);
    self->started = true;
    judge_locked(self);
    leave_locked(self);
}

void hf__round_start(hf__quorum *quorum, hf__request *request)
{
    round *self = round_new(quorum, request);
    bool away[HF__QUORUM_NODES_MAX];
    int64_t deadline_ms;

    if (self == NULL || !hf__quorum_enter(quorum)) {
        if (self != NULL)
            round_drop(self);
        hf__request_fail(
            request, self == NULL ? HF_NO_MEMORY : HF_UNAVAILABLE, "%s",
            self == NULL ? "a request to a quorum" : "the client was closed");
        request->on_done(request);
        return;
    }
    request->driver = self;
    self->deadline_ms = request->deadline_ms;
    if (is_acquire(request))
        self->ttl_ms = read_ttl(self->words[WORD_TTL]);
    deadline_ms = node_deadline(self, request->deadline_ms);
    hf__quorum_round_begins(quorum);
    hf__nodes_away(quorum, away);
    for (size_t i = 0; i < quorum->count; i++) {
        self->votes[i].away = away[i];
        fill_part(self, i, request, deadline_ms);
    }
    self->open = quorum->count + 1;
    send_parts(self);
}

/* On the thread on which all completes, once it was submitted. */
void hf__round_cancel(hf__quorum *quorum, hf__request *request)
{
    round *self = request->driver;

    if (self == NULL)
        return;
    for (size_t i = 0; i < quorum->count; i++) {
        hf__store *store = quorum->nodes[i].store;

        if (!self->votes[i].done)
            store->ops->cancel(store, &self->parts[i].request);
        if (self->confirming)
            store->ops->cancel(store, &self->confirms[i].request);
    }
}
