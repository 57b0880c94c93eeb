/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outcome.c - completes the request of a round, confirms a token, undoes a
 * failed acquire. Steps are those of broadcast.c.
 *
 * A node may run an undo before the acquire that was sent first, if it rejected
 * that temporarily ("BUSY") or did not know the script. The vote then arrives
 * after the reply to the undo, which is sent again.
 */
#include "store/quorum/outcome.h"

#include <stdio.h>

#include "store/quorum/work.h"
#include "util/clock.h"
#include "util/error.h"

/* ---------------------------------------------------------------- completing
 */

/* The mutex is released around on_done(). */
static void complete_locked(hf__quorum_round *self, hf__request *request)
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

static void fail_votes(const hf__quorum_round *self, hf_status status,
                       size_t answered, size_t young)
{
    size_t count = self->quorum->count, needed = self->quorum->majority;

    if (young == 0)
        hf__request_fail(self->request, status,
                         "%zu of %zu servers answered; %zu are needed",
                         answered, count, needed);
    else
        hf__request_fail(self->request, status,
                         "%zu of %zu servers answered, %zu of those in "
                         "quarantine since they were started; %zu votes are "
                         "needed",
                         answered, count, young, needed);
}

static void fail_locked(hf__quorum_round *self, hf_status status)
{
    hf__request *request = self->request;
    size_t answered = 0, young = 0;

    for (size_t i = 0; i < self->quorum->count; i++) {
        const hf__node_vote *vote = &self->votes[i];

        if (vote->done && hf_status_kind(vote->status) == HF_KIND_USAGE &&
            vote->status == status) {
            request->status = status;
            request->error = self->parts[i].request.error;
            complete_locked(self, request);
            return;
        }
        if (vote->done && vote->status == HF_OK) {
            answered++;
            young += !vote->counts;
        }
    }
    fail_votes(self, status, answered, young);
    complete_locked(self, request);
}

static void reply_locked(hf__quorum_round *self, const hf_reply *reply)
{
    hf__request *request = self->request;

    request->status = HF_OK;
    request->reply = *reply;
    complete_locked(self, request);
}

/* --------------------------------------------------------------------- undo */

/* Has the node certainly granted nothing? */
static bool has_nothing(const hf__node_vote *vote)
{
    if (!vote->done)
        return false;
    return vote->status == HF_UNAVAILABLE ||
           (vote->status == HF_OK && vote->reply->kind == HF_REPLY_ARRAY);
}

/* The words of a script that follows the acquire. */
static void fill_follow(const hf__quorum_round *self, const hf__follow *follow,
                        hf_bytes words[HF__FOLLOW_WORDS_MAX])
{
    for (size_t i = 0; i < follow->word_count; i++) {
        uint8_t at = follow->words[i];

        if (at == HF__FOLLOW_TOKEN)
            words[i] = hf_str(self->token_text);
        else if (at == HF__FOLLOW_WAKE)
            words[i] = hf_str(self->wakes ? "1" : "0");
        else /* the last ones may have been left out */
            words[i] = at < self->parts[0].request.word_count ? self->words[at]
                                                              : hf_str("");
    }
}

static void send_undo(hf__quorum_round *self, size_t node, hf__release **noted)
{
    hf__undo undo = {.rule = self->acquire, .ttl_ms = self->ttl_ms};

    fill_follow(self, &self->acquire->undo, undo.words);
    if (noted == NULL) /* late: the caller may have stopped waiting */
        undo.words[undo.rule->undo_entry] = hf_str("");
    hf__undo_send(self->quorum, node, &undo, noted);
}

/* Undos of nodes that have voted meanwhile need not be tracked: no vote will
 * ask for them. */
static void clear_undos_locked(hf__quorum_round *self)
{
    bool done[HF__QUORUM_NODES_MAX];
    size_t count = self->quorum->count;

    for (size_t i = 0; i < count; i++)
        done[i] = self->votes[i].done;
    pthread_mutex_unlock(&self->mutex);
    for (size_t i = 0; i < count; i++) {
        if (done[i])
            (void)hf__undo_ended(self->quorum, &self->undos[i]);
    }
    pthread_mutex_lock(&self->mutex);
}

/* Undo what was granted, or may still be. */
static void undo_locked(hf__quorum_round *self)
{
    bool nothing[HF__QUORUM_NODES_MAX];
    size_t count = self->quorum->count, granted = 0;

    self->giving_up = true;
    for (size_t i = 0; i < count; i++) {
        nothing[i] = has_nothing(&self->votes[i]);
        /* What a silent one granted, no waiter has seen. */
        granted +=
            !nothing[i] && (self->votes[i].done || !self->votes[i].silent);
    }
    self->wakes = granted >= self->quorum->majority;
    pthread_mutex_unlock(&self->mutex);
    if (hf__work_enter(self->quorum)) {
        for (size_t i = 0; i < count; i++) {
            if (!nothing[i])
                send_undo(self, i, &self->undos[i]);
        }
        hf__work_leave(self->quorum);
    }
    pthread_mutex_lock(&self->mutex);
    clear_undos_locked(self);
}

void hf__outcome_late_locked(hf__quorum_round *self, size_t node)
{
    bool nothing = has_nothing(&self->votes[node]);

    pthread_mutex_unlock(&self->mutex);
    if (hf__undo_ended(self->quorum, &self->undos[node]) && !nothing &&
        hf__work_enter(self->quorum)) {
        send_undo(self, node, NULL);
        hf__work_leave(self->quorum);
    }
    pthread_mutex_lock(&self->mutex);
}

/* ----------------------------------------------------------------- deciding */

static void confirm_done(hf__request *request);

static void fill_confirm(hf__quorum_round *self, size_t node,
                         int64_t deadline_ms)
{
    const hf__follow *rule = &self->acquire->confirm;
    hf__quorum_part *confirm = &self->confirms[node];
    hf__request *request = &confirm->request;

    hf__request_script(request, rule->script, self->confirm_words,
                       rule->word_count, rule->key_count);
    request->lane = HF__LANE_LEASE;
    request->began_ms = hf__clock_boot_ms();
    request->deadline_ms = deadline_ms;
    request->on_done = confirm_done;
    request->user = confirm;
    confirm->round = self;
    confirm->node = node;
}

/* The nodes that have to store the token: those that granted a smaller one. */
static size_t choose_locked(hf__quorum_round *self, size_t nodes[])
{
    size_t count = 0;

    for (size_t i = 0; i < self->quorum->count; i++) {
        const hf__node_vote *vote = &self->votes[i];

        if (!vote->counts || vote->reply->kind != HF_REPLY_INTEGER)
            self->unconfirmed++;
        else if ((uint64_t)vote->reply->integer == self->token)
            self->confirmed++;
        else
            nodes[count++] = i;
    }
    return count;
}

/* Step 3. */
static void begin_confirming_locked(hf__quorum_round *self, uint64_t token)
{
    hf__quorum *quorum = self->quorum;
    int64_t deadline_ms =
        hf__quorum_round_node_deadline(self, self->request->deadline_ms);
    size_t nodes[HF__QUORUM_NODES_MAX];
    size_t count;

    self->confirming = true;
    self->token = token;
    snprintf(self->token_text, sizeof(self->token_text), "%llu",
             (unsigned long long)token);
    fill_follow(self, &self->acquire->confirm, self->confirm_words);
    count = choose_locked(self, nodes);
    for (size_t i = 0; i < count; i++)
        fill_confirm(self, nodes[i], deadline_ms);
    self->open += count;
    pthread_mutex_unlock(&self->mutex);
    if (hf__work_enter(quorum)) {
        for (size_t i = 0; i < count; i++) {
            hf__store *store = quorum->nodes[nodes[i]].store;
            hf__request *request = &self->confirms[nodes[i]].request;

            store->ops->submit(store, &request, 1);
        }
        hf__work_leave(quorum);
        count = 0;
    }
    pthread_mutex_lock(&self->mutex);
    self->open -= count; /* none was sent if the quorum is being closed */
    self->unconfirmed += count;
}

/* Step 4. */
static void lose_locked(hf__quorum_round *self, const hf__tally *tally)
{
    undo_locked(self);
    if (tally != NULL && tally->kind == HF__TALLY_REPLY)
        reply_locked(self, &tally->reply);
    else
        fail_locked(self, tally != NULL ? tally->status : HF_UNAVAILABLE);
}

static void judge_confirms_locked(hf__quorum_round *self)
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

/* Step 2. */
void hf__outcome_judge_locked(hf__quorum_round *self)
{
    hf__request *request = self->request;
    hf__tally tally;

    if (!self->started || request == NULL || self->confirming ||
        self->giving_up)
        return;
    if (!hf__tally_votes(request, self->votes, self->quorum->count,
                         self->quorum->majority, &request->arena, &tally)) {
        if (self->acquire != NULL)
            undo_locked(self);
        hf__request_fail(request, HF_NO_MEMORY, "the answer of a quorum");
        complete_locked(self, request);
        return;
    }
    if (tally.kind == HF__TALLY_OPEN)
        return;
    if (tally.kind == HF__TALLY_TOKEN) {
        begin_confirming_locked(self, tally.token);
        judge_confirms_locked(self);
    } else if (self->acquire != NULL) {
        lose_locked(self, &tally);
    } else if (tally.kind == HF__TALLY_REPLY) {
        reply_locked(self, &tally.reply);
    } else {
        fail_locked(self, tally.status);
    }
}

static void confirm_done(hf__request *request)
{
    hf__quorum_part *confirm = request->user;
    hf__quorum_round *self = confirm->round;
    bool yes = request->status == HF_OK &&
               request->reply.kind == HF_REPLY_INTEGER &&
               request->reply.integer == 1;

    pthread_mutex_lock(&self->mutex);
    self->confirmed += yes;
    self->unconfirmed += !yes;
    judge_confirms_locked(self);
    hf__quorum_round_leave_locked(self);
}
