/* SPDX-License-Identifier: Apache-2.0 */
/*
 * broadcast.c - see broadcast.h.
 *
 * 1. The request is sent to all nodes at once, with a deadline that is short
 *    compared with the lease: a node that does not answer must not use up much
 *    of it.
 * 2. Once all were sent (an undo must follow its acquire), each vote is added
 *    to the tally (tally.h). A node in quarantine (nodes.h) has no vote. A vote
 *    that came over a new connection waits until the node is identified. A node
 *    that did not answer the last time is not waited for.
 * 3. An acquire that a majority granted is confirmed: a majority of the nodes
 *    that granted it stores the greatest of their tokens before the caller gets
 *    it. Any later majority has a node in common with that one, so its greatest
 *    token is greater.
 * 4. An acquire that cannot succeed is undone on all nodes that granted it or
 *    may still do so, on each behind the acquire on the same connection. As
 *    this may happen late, each acquire has an owner id of its own
 *    (HF__CAP_UNDOES).
 *
 * outcome.c does steps 2 to 4.
 */
#include "store/quorum/broadcast.h"

#include <string.h>

#include "store/quorum/nodes.h"
#include "store/quorum/outcome.h"
#include "store/quorum/quorum_round.h"
#include "store/quorum/work.h"
#include "util/error.h"

/* ------------------------------------------------------------------- votes */

static void count_vote(hf__quorum_part *done, bool counts)
{
    hf__quorum_round *self = done->round;
    hf__node_vote *vote = &self->votes[done->node];

    pthread_mutex_lock(&self->mutex);
    vote->done = true;
    vote->counts = counts;
    vote->status = done->request.status;
    if (self->giving_up)
        hf__outcome_late_locked(self, done->node);
    else
        hf__outcome_judge_locked(self);
    hf__quorum_round_leave_locked(self);
}

static void part_identified(void *user)
{
    hf__quorum_part *done = user;

    count_vote(done, hf__node_standing(done->round->quorum, done->node) ==
                         HF__NODE_VOTES);
}

static void part_done(hf__request *request)
{
    hf__quorum_part *done = request->user;
    hf__quorum_round *self = done->round;
    hf__standing standing = HF__NODE_QUARANTINED;

    hf__node_answered(self->quorum, done->node,
                      request->status != HF_UNAVAILABLE &&
                          request->status != HF_INDETERMINATE);
    if (request->status == HF_OK)
        standing = hf__node_standing(self->quorum, done->node);
    if (standing == HF__NODE_UNKNOWN)
        hf__node_identify(
            self->quorum, done->node,
            hf__quorum_round_node_deadline(self, self->deadline_ms),
            part_identified, done);
    else
        count_vote(done, standing == HF__NODE_VOTES);
}

/* ----------------------------------------------------------------- starting */

static void fill_part(hf__quorum_round *self, size_t node,
                      const hf__request *request, int64_t deadline_ms)
{
    size_t count = request->word_count;
    hf__quorum_part *mine = &self->parts[node];

    mine->words = self->words + (node + 1) * count;
    memcpy(mine->words, self->words, count * sizeof(hf_bytes));
    mine->round = self;
    mine->node = node;
    hf__request_script(&mine->request, request->script, mine->words, count,
                       request->key_count);
    mine->request.repeatable = request->repeatable;
    /* All of a lock in one lane: a release must not overtake its acquire. */
    mine->request.lane = HF__LANE_LEASE;
    mine->request.began_ms = request->began_ms;
    mine->request.deadline_ms = deadline_ms;
    mine->request.on_done = part_done;
    mine->request.user = mine;
    self->votes[node].reply = &mine->request.reply;
}

/* The round lives until `open` is 0. */
static void send_parts(hf__quorum_round *self)
{
    hf__quorum *quorum = self->quorum;

    for (size_t i = 0; i < quorum->count; i++) {
        hf__request *mine = &self->parts[i].request;
        hf__store *store = quorum->nodes[i].store;

        hf__node_identify_early(quorum, i);
        store->ops->submit(store, &mine, 1);
    }
    hf__work_leave(quorum);
    pthread_mutex_lock(&self->mutex);
    self->started = true;
    hf__outcome_judge_locked(self);
    hf__quorum_round_leave_locked(self);
}

void hf__broadcast(hf__quorum *quorum, hf__request *request)
{
    hf__quorum_round *self = hf__quorum_round_new(quorum, request);
    bool silent[HF__QUORUM_NODES_MAX];
    int64_t deadline_ms;

    if (self == NULL || !hf__work_enter(quorum)) {
        if (self != NULL)
            hf__quorum_round_drop(self);
        hf__request_fail(
            request, self == NULL ? HF_NO_MEMORY : HF_UNAVAILABLE, "%s",
            self == NULL ? "a request to a quorum" : "the client was closed");
        request->on_done(request);
        return;
    }
    request->driver = self;
    self->deadline_ms = request->deadline_ms;
    if (self->acquire != NULL)
        self->ttl_ms = hf__quorum_round_ttl(request);
    deadline_ms = hf__quorum_round_node_deadline(self, request->deadline_ms);
    hf__work_begins(quorum);
    hf__nodes_silent(quorum, silent);
    for (size_t i = 0; i < quorum->count; i++) {
        self->votes[i].silent = silent[i];
        fill_part(self, i, request, deadline_ms);
    }
    self->open = quorum->count + 1;
    send_parts(self);
}

void hf__broadcast_cancel(hf__quorum *quorum, hf__request *request)
{
    hf__quorum_round *self = request->driver;

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
