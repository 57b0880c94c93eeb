/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_tally.c - anything that the servers of a quorum may reply to each script
 * of a lock: the tally is one of the defined outcomes, more replies never undo
 * a decision, and a decision never rests on less than a majority.
 *
 * The first byte chooses the number of nodes, the next ones (one per node) the
 * status of each request; replies follow, one for each that got one.
 */
#include <string.h>

#include "parse.h"
#include "store/quorum/tally.h"

#define LOCKS 3

typedef struct ballot {
    hf_reply replies[HF__QUORUM_NODES_MAX];
    hf__node_vote votes[HF__QUORUM_NODES_MAX];
    size_t count;
    size_t majority;
} ballot;

/* Meaning of a node's byte. */
static void fill_vote(hf__node_vote *vote, unsigned what, const hf_reply *reply,
                      bool has_reply)
{
    static const hf_status failures[] = {HF_UNAVAILABLE, HF_INDETERMINATE,
                                         HF_WRONG_TYPE,  HF_DENIED,
                                         HF_FULL,        HF_CORRUPT};

    memset(vote, 0, sizeof(*vote));
    vote->reply = reply;
    vote->silent = (what & 8) != 0;
    if ((what & 1) == 0)
        return; /* outstanding */
    vote->done = true;
    vote->status = HF_OK;
    if ((what & 2) != 0 || !has_reply)
        vote->status = failures[what / 16 % 6];
    else
        vote->counts = (what & 4) == 0; /* otherwise in quarantine */
}

static size_t read_ballot(ballot *self, const uint8_t *data, size_t size,
                          hf__arena *arena)
{
    size_t used;
    replies from;

    if (size == 0)
        return 0;
    self->count = 1 + data[0] % HF__QUORUM_NODES_MAX;
    self->majority = self->count / 2 + 1;
    used = 1 + self->count;
    if (size < used)
        return 0;
    replies_begin(&from, data + used, size - used);
    for (size_t i = 0; i < self->count; i++) {
        unsigned what = data[1 + i];
        bool wants = (what & 3) == 1;
        bool has = wants && replies_next(&from, arena, &self->replies[i]) &&
                   self->replies[i].kind != HF_REPLY_ERROR;

        if (!has)
            hf__reply_set_nil(&self->replies[i]);
        fill_vote(&self->votes[i], what, &self->replies[i], has);
    }
    replies_end(&from);
    return used;
}

static size_t counted(const ballot *self)
{
    size_t found = 0;

    for (size_t i = 0; i < self->count; i++)
        found += self->votes[i].counts;
    return found;
}

static size_t open_votes(const ballot *self)
{
    size_t found = 0;

    for (size_t i = 0; i < self->count; i++)
        found += !self->votes[i].done && !self->votes[i].silent;
    return found;
}

static size_t granted(const ballot *self)
{
    size_t found = 0;

    for (size_t i = 0; i < self->count; i++)
        found +=
            self->votes[i].counts && self->replies[i].kind == HF_REPLY_INTEGER;
    return found;
}

static void check_renewals(const hf_reply *reply)
{
    int64_t before = 0;

    PROMISE(reply->array.count % 2 == 0 && reply->array.count <= 2 * LOCKS);
    for (size_t i = 0; i < reply->array.count; i += 2) {
        const hf_reply *items = reply->array.items + i;

        PROMISE(items[0].kind == HF_REPLY_INTEGER &&
                items[1].kind == HF_REPLY_INTEGER);
        PROMISE(items[0].integer > before && items[0].integer <= LOCKS);
        PROMISE(items[1].integer >= -1 && items[1].integer <= 1);
        before = items[0].integer;
    }
}

static void check_reply(uint32_t script, const hf_reply *reply)
{
    const hf_reply *items = reply->array.items;

    switch (script) {
    case HF__SCRIPT_LOCK_ACQUIRE:
        PROMISE(reply->kind == HF_REPLY_ARRAY && reply->array.count == 3);
        PROMISE(items[0].kind == HF_REPLY_INTEGER &&
                items[1].kind == HF_REPLY_STRING &&
                items[2].kind == HF_REPLY_INTEGER);
        break;
    case HF__SCRIPT_LOCK_RENEW:
        PROMISE(reply->kind == HF_REPLY_ARRAY);
        check_renewals(reply);
        break;
    case HF__SCRIPT_LOCK_INSPECT:
        PROMISE(reply->kind == HF_REPLY_ARRAY && reply->array.count == 4);
        PROMISE(items[1].kind == HF_REPLY_INTEGER &&
                items[3].kind == HF_REPLY_INTEGER);
        break;
    case HF__SCRIPT_LOCK_RELEASE:
    case HF__SCRIPT_LOCK_UNDO:
        PROMISE(reply->kind == HF_REPLY_INTEGER && reply->integer >= -1 &&
                reply->integer <= 1);
        break;
    default:
        PROMISE(reply->kind == HF_REPLY_INTEGER && reply->integer >= 0 &&
                reply->integer <= 1);
    }
}

static void tally(const ballot *self, uint32_t script)
{
    hf_bytes words[8] = {{"k", 1}};
    hf__request request;
    hf__arena arena;
    hf__tally out;

    hf__arena_init(&arena);
    hf__request_script(&request, &hf__scripts[script], words, 8, LOCKS);
    PROMISE(hf__tally_votes(&request, self->votes, self->count, self->majority,
                            &arena, &out));
    PROMISE(out.reached == counted(self));
    switch (out.kind) {
    case HF__TALLY_OPEN:
        PROMISE(open_votes(self) > 0);
        break;
    case HF__TALLY_TOKEN:
        PROMISE(script == HF__SCRIPT_LOCK_ACQUIRE);
        PROMISE(granted(self) >= self->majority);
        break;
    case HF__TALLY_REPLY:
        PROMISE(counted(self) >= self->majority ||
                script == HF__SCRIPT_LOCK_ACQUIRE);
        check_reply(script, &out.reply);
        break;
    case HF__TALLY_FAILED:
        PROMISE(out.status != HF_OK);
        break;
    }
    hf__arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint32_t scripts[] = {
        HF__SCRIPT_LOCK_ACQUIRE, HF__SCRIPT_LOCK_RELEASE, HF__SCRIPT_LOCK_RENEW,
        HF__SCRIPT_LOCK_INSPECT, HF__SCRIPT_LOCK_BREAK,   HF__SCRIPT_LOCK_UNDO};
    hf__arena arena;
    ballot votes;

    hf__arena_init(&arena);
    memset(&votes, 0, sizeof(votes));
    if (read_ballot(&votes, data, size, &arena) > 0) {
        for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++)
            tally(&votes, scripts[i]);
    }
    hf__arena_free(&arena);
    return 0;
}
