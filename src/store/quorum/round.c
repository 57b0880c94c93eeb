/* SPDX-License-Identifier: Apache-2.0 */
/*
 * round.c - see round.h.
 *
 * 1. The request goes to every node in the same turn, with a deadline short
 * against the lease: a node that does not answer must cost a lock little of its
 * life.
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
 *
 * Steps 2 to 4 are outcome.c's.
 */
#include "store/quorum/round.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "store/quorum/nodes.h"
#include "store/quorum/outcome.h"
#include "store/quorum/work.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/mem.h"
#include "util/order.h"

/* What a node may take to answer an acquire, and again to confirm it: a tenth
 * of the lease, within these, but no more than a third of it. */
#define NODE_MIN_MS 50
#define NODE_MAX_MS 200
#define NODE_LEAST_MS 20 /* however short the lease */

/* -------------------------------------------------------------------- life */

int64_t hf__round_ttl(const hf__request *acquire)
{
    hf_bytes word = acquire->words[acquire->script->acquire->ttl];
    char text[24] = "";

    if (word.size > 0 && word.size < sizeof(text))
        memcpy(text, word.data, word.size);
    return strtoll(text, NULL, 10);
}

static hf__round *round_new(hf__quorum *quorum, hf__request *request)
{
    size_t count = request->word_count;
    size_t size = 0;
    hf__round *self = hf__calloc(
        1, sizeof(*self) + (quorum->count + 1) * count * sizeof(hf_bytes));
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
    self->acquire = request->script->acquire;
    pthread_mutex_init(&self->mutex, NULL);
    return self;
}

static void round_drop(hf__round *self)
{
    pthread_mutex_destroy(&self->mutex);
    hf__free(self->bytes);
    hf__free(self);
}

static void round_free(hf__round *self)
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

void hf__round_leave_locked(hf__round *self)
{
    bool last = --self->open == 0;

    assert(!last || self->request == NULL);
    pthread_mutex_unlock(&self->mutex);
    if (last)
        round_free(self);
}

int64_t hf__round_node_deadline(const hf__round *self, int64_t deadline_ms)
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

/* ------------------------------------------------------------------- votes */

static void count_vote(hf__round_part *done, bool counts)
{
    hf__round *self = done->round;
    hf__vote *vote = &self->votes[done->node];

    pthread_mutex_lock(&self->mutex);
    vote->done = true;
    vote->counts = counts;
    vote->status = done->request.status;
    if (self->giving_up)
        hf__outcome_late_locked(self, done->node);
    else
        hf__outcome_judge_locked(self);
    hf__round_leave_locked(self);
}

static void part_identified(void *user)
{
    hf__round_part *done = user;

    count_vote(done, hf__node_standing(done->round->quorum, done->node) ==
                         HF__NODE_VOTES);
}

static void part_done(hf__request *request)
{
    hf__round_part *done = request->user;
    hf__round *self = done->round;
    hf__standing standing = HF__NODE_SUSPECT;

    hf__node_answered(self->quorum, done->node,
                      request->status != HF_UNAVAILABLE &&
                          request->status != HF_INDETERMINATE);
    if (request->status == HF_OK)
        standing = hf__node_standing(self->quorum, done->node);
    if (standing == HF__NODE_UNKNOWN)
        hf__node_ask(self->quorum, done->node,
                     hf__round_node_deadline(self, self->deadline_ms),
                     part_identified, done);
    else
        count_vote(done, standing == HF__NODE_VOTES);
}

/* ----------------------------------------------------------------- starting */

static void fill_part(hf__round *self, size_t node, const hf__request *request,
                      int64_t deadline_ms)
{
    size_t count = request->word_count;
    hf__round_part *mine = &self->parts[node];

    mine->words = self->words + (node + 1) * count;
    memcpy(mine->words, self->words, count * sizeof(hf_bytes));
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

/* All at once; the round lives until `open` is 0. */
static void send_parts(hf__round *self)
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
    hf__outcome_judge_locked(self);
    hf__round_leave_locked(self);
}

void hf__round_start(hf__quorum *quorum, hf__request *request)
{
    hf__round *self = round_new(quorum, request);
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
    if (self->acquire != NULL)
        self->ttl_ms = hf__round_ttl(request);
    deadline_ms = hf__round_node_deadline(self, request->deadline_ms);
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
    hf__round *self = request->driver;

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
