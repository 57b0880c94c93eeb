/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sentinel_round.c - rounds of queries to the sentinels.
 *
 * 1. A round begins when a connection to the master failed or met a replica, a
 *    sentinel reported a change, or POLL_MS have passed; at least GAP_MS apart.
 * 2. All sentinels are queried in parallel. Those they list are queried in the
 *    same round, so that a URL with one of three queries three.
 * 3. Each answer is counted with the others (sentinel_vote.c). ROUND_MS after
 *    the beginning the round does not wait any more; FEW_MS after it, if most
 *    have not replied.
 * 4. A decision for another address changes the master. Without a decision the
 *    known master stays, and the next round follows after AGAIN_MS, with
 *    growing pauses; also when no sentinel knows the name: they may have just
 *    been started, or the master is being set up.
 * 5. Messages from sentinels only begin a round. And every connection still
 *    checks by ROLE that the server is a master (login.c).
 *
 * A sentinel learned from others is dropped when it cannot be reached and no
 * replying sentinel lists it.
 *
 * Loop thread only. It alone writes the watch's `address` and `master`, and so
 * reads them without the lock.
 */
#include "store/redis/topology/sentinel_round.h"

#include <stdio.h>
#include <string.h>

#include "store/redis/topology/sentinel_master.h"
#include "util/clock.h"
#include "util/container.h"
#include "util/error.h"
#include "util/futex.h"

#define ROUND_MS 500
/* The same if fewer than half have replied: on a busy machine the one that is
 * cut off with the old master may be the fastest. */
#define FEW_MS 1500
#define GAP_MS 100
#define AGAIN_MS 200
#define AGAIN_MAX_MS 2000
#define POLL_MS 10000

/* How long a newer minority blocks a decision: sentinels announce a failover to
 * each other immediately and every 2 s. */
#define PATIENCE_MS 3000

static const hf__sentinel_peer_ops peer_ops;

/* ------------------------------------------------------------------ counting
 */

/* Which of the first `before` peers has this ID; -1: none, or it is "". */
static int find_id(const hf__sentinel_watch *watch, size_t before,
                   const char *id)
{
    size_t at;

    for (at = 0; id[0] != '\0' && at < before; at++) {
        if (strcmp(watch->peers[at]->answer.id, id) == 0)
            return (int)at;
    }
    return -1;
}

/* Number of sentinels, each once as far as their IDs are known. */
static size_t count_known(const hf__sentinel_watch *watch)
{
    size_t known = 0;
    size_t at;

    for (at = 0; at < watch->count; at++)
        known += find_id(watch, at, watch->peers[at]->answer.id) < 0;
    return known;
}

static size_t count_in(const hf__sentinel_watch *watch,
                       hf__sentinel_state state)
{
    size_t count = 0;
    size_t at;

    for (at = 0; at < watch->count; at++)
        count += watch->peers[at]->state == state;
    return count;
}

/* When those that have replied decide. */
static int64_t final_ms(const hf__sentinel_watch *watch)
{
    size_t answered = count_in(watch, HF__SENTINEL_ANSWERED);
    bool few = answered > 0 && 2 * answered <= count_known(watch);

    return watch->began_ms + (few ? FEW_MS : ROUND_MS);
}

static hf__sentinel_vote count_votes(hf__sentinel_watch *watch,
                                     hf__sentinel_answer *winner, bool *newer)
{
    const hf__sentinel_answer *answers[HF__SENTINEL_MAX];
    hf__sentinel_ballot ballot = {.answers = answers};
    size_t at;

    for (at = 0; at < watch->count; at++) {
        if (watch->peers[at]->state == HF__SENTINEL_ANSWERED)
            answers[ballot.count++] = &watch->peers[at]->answer;
    }
    ballot.known = count_known(watch);
    ballot.master = watch->address != NULL ? &watch->master : NULL;
    ballot.is_final = count_in(watch, HF__SENTINEL_ASKED) == 0 ||
                      hf__clock_boot_ms() >= final_ms(watch);
    return hf__sentinel_count(&ballot, winner, newer);
}

/* Of two errors, prefer the one that a retry does not cure. */
static const hf_error *graver_error(const hf_error *one, const hf_error *other)
{
    bool other_stays = hf_status_kind(other->status) != HF_KIND_RETRY;

    if (one == NULL ||
        (hf_status_kind(one->status) == HF_KIND_RETRY && other_stays))
        return other;
    return one;
}

/* No sentinel replied. One still being queried may have failed before, or have
 * an unresolvable name. */
static void explain_silence(const hf__sentinel_watch *watch, hf_error *err)
{
    const hf_error *best = NULL;
    size_t at;

    for (at = 0; at < watch->count; at++) {
        if (watch->peers[at]->conn.error.status != HF_OK)
            best = graver_error(best, &watch->peers[at]->conn.error);
    }
    if (best == NULL)
        hf__fail(err, HF_UNAVAILABLE, "no sentinel replied in time");
    else
        hf__fail(err, best->status, "no sentinel replies: %s", best->message);
}

/* "h1:6379 (epoch 4), h2:6379 (epoch 5)" */
static void explain_split(const hf__sentinel_watch *watch, hf_error *err)
{
    const hf__sentinel_answer *answer;
    char text[200];
    size_t used = 0;
    size_t at;
    int size;

    text[0] = '\0';
    for (at = 0; at < watch->count && used < sizeof(text); at++) {
        answer = &watch->peers[at]->answer;
        if (watch->peers[at]->state != HF__SENTINEL_ANSWERED ||
            answer->port == 0)
            continue;
        size = snprintf(text + used, sizeof(text) - used,
                        "%s%.60s:%d (epoch %llu)", used == 0 ? "" : ", ",
                        answer->host, answer->port,
                        (unsigned long long)answer->epoch);
        used += size > 0 ? (size_t)size : 0;
    }
    hf__fail(err, HF_UNAVAILABLE,
             "the sentinels disagree about the master \"%.60s\": %s",
             watch->place->name, text);
}

static void explain_vote(const hf__sentinel_watch *watch,
                         hf__sentinel_vote vote, hf_error *err)
{
    switch (vote) {
    case HF__BALLOT_SILENT:
        explain_silence(watch, err);
        return;
    case HF__BALLOT_NAMELESS:
        hf__fail(err, HF_UNAVAILABLE,
                 "no sentinel knows a master named \"%.100s\"; is that its "
                 "name?",
                 watch->place->name);
        return;
    case HF__BALLOT_STALE:
        hf__fail(err, HF_UNAVAILABLE,
                 "the replying sentinels know only a failover of \"%.60s\" "
                 "before %s:%d, epoch %llu",
                 watch->place->name, watch->master.host, watch->master.port,
                 (unsigned long long)watch->master.epoch);
        return;
    default:
        explain_split(watch, err);
    }
}

/* Step 3 and 4. */
static void evaluate_votes(hf__sentinel_watch *watch, int64_t now_ms)
{
    hf__sentinel_answer winner;
    hf_error err = HF_ERROR_INIT;
    bool newer;
    hf__sentinel_vote vote = count_votes(watch, &winner, &newer);

    if (vote == HF__BALLOT_OPEN)
        return;
    if (!newer)
        watch->minority_ms = 0;
    else if (watch->minority_ms == 0)
        watch->minority_ms = now_ms;
    if (newer && now_ms < watch->minority_ms + PATIENCE_MS)
        vote = HF__BALLOT_SPLIT;
    if (vote == HF__BALLOT_DECIDED) {
        watch->unsure = false;
        hf__sentinel_watch_decide(watch, &winner);
        return;
    }
    explain_vote(watch, vote, &err);
    /* A peer that reconnects starts a query itself. */
    watch->unsure = vote != HF__BALLOT_SILENT;
    hf__sentinel_watch_fail(watch, &err,
                            vote == HF__BALLOT_SILENT &&
                                count_in(watch, HF__SENTINEL_ASKED) == 0);
}

/* ------------------------------------------------------------------ rounds */

static void close_peer(hf__sentinel_watch *watch, hf__sentinel_peer *peer)
{
    __atomic_add_fetch(&watch->context.leaving, 1, __ATOMIC_RELAXED);
    hf__sentinel_peer_close(peer);
}

/* Drop learned peers that failed and are not listed any more. */
static void drop_lost(hf__sentinel_watch *watch)
{
    hf__sentinel_peer *peer;
    size_t at;

    if (count_in(watch, HF__SENTINEL_ANSWERED) == 0)
        return;
    for (at = watch->count; at-- > 0;) {
        peer = watch->peers[at];
        if (!peer->is_learned || peer->state != HF__SENTINEL_FAILED ||
            peer->listed == watch->round)
            continue;
        watch->peers[at] = watch->peers[--watch->count];
        close_peer(watch, peer);
    }
}

/* Do not wait for one between two connection attempts; it starts a query itself
 * once connected. */
static void begin_round(hf__sentinel_watch *watch, int64_t now_ms)
{
    hf__sentinel_peer *peer;
    size_t at;

    drop_lost(watch);
    watch->round++;
    watch->again_ms = watch->unsure ? watch->again_ms * 2 : AGAIN_MS;
    if (watch->again_ms > AGAIN_MAX_MS)
        watch->again_ms = AGAIN_MAX_MS;
    watch->wanted = false;
    watch->began_ms = now_ms;
    for (at = 0; at < watch->count; at++) {
        peer = watch->peers[at];
        if (peer->conn.state == HF__ASYNC_DOWN && peer->conn.resolved.count > 0)
            peer->state = HF__SENTINEL_FAILED;
        else
            peer->state = HF__SENTINEL_ASKED;
        hf__sentinel_peer_ask(peer);
        hf__async_conn_update(&peer->conn);
    }
}

static int64_t next_round(const hf__sentinel_watch *watch)
{
    if (watch->wanted)
        return watch->began_ms + GAP_MS;
    return watch->began_ms + (watch->unsure ? watch->again_ms : POLL_MS);
}

static void run_turn(hf__task *task)
{
    hf__sentinel_watch *watch =
        hf__container_of(task, hf__sentinel_watch, turn_task);
    int64_t now_ms = hf__clock_boot_ms();
    int64_t next_ms;

    watch->turning = false;
    if (watch->alarm == NULL)
        return;
    if (now_ms >= next_round(watch))
        begin_round(watch, now_ms);
    evaluate_votes(watch, now_ms);
    next_ms = next_round(watch);
    if (count_in(watch, HF__SENTINEL_ASKED) > 0 && now_ms < final_ms(watch) &&
        final_ms(watch) < next_ms)
        next_ms = final_ms(watch);
    hf__alarm_set(watch->alarm, next_ms);
}

/* Evaluate later, when the callback has returned. */
static void turn_soon(hf__sentinel_watch *watch)
{
    if (watch->turning || watch->alarm == NULL)
        return;
    watch->turning = true;
    hf__loop_post(watch->context.loop, &watch->turn_task);
}

void hf__sentinel_round_alarm(void *user)
{
    turn_soon(user);
}

void hf__sentinel_round_want(hf__sentinel_watch *watch)
{
    watch->wanted = true;
    turn_soon(watch);
}

/* ------------------------------------------------------------------- peers */

static void on_heard(hf__sentinel_peer *peer)
{
    turn_soon(peer->user);
}

static void on_hinted(hf__sentinel_peer *peer)
{
    hf__sentinel_round_want(peer->user);
}

static hf_status add_peer(hf__sentinel_watch *watch,
                          const hf__redis_where *where, bool is_learned,
                          hf_error *err)
{
    hf__sentinel_peer *peer;
    hf_status status = hf__sentinel_peer_new(
        &watch->context, watch->place, where, &peer_ops, watch, &peer, err);

    if (status != HF_OK)
        return status;
    peer->is_learned = is_learned;
    peer->listed = watch->round;
    watch->peers[watch->count++] = peer;
    return HF_OK;
}

static hf__sentinel_peer *find_peer(const hf__sentinel_watch *watch,
                                    const hf__sentinel_answer *other)
{
    int same = find_id(watch, watch->count, other->id);
    size_t at;

    if (same >= 0)
        return watch->peers[same];
    for (at = 0; at < watch->count; at++) {
        if (watch->peers[at]->where.port == other->port &&
            strcmp(watch->peers[at]->where.host, other->host) == 0)
            return watch->peers[at];
    }
    return NULL;
}

/* Without memory for it now, it is learned the next time. */
static void on_listed(hf__sentinel_peer *peer, const hf__sentinel_answer *other)
{
    hf__sentinel_watch *watch = peer->user;
    hf__sentinel_peer *known = find_peer(watch, other);
    hf__redis_where where;

    if (known != NULL) {
        known->listed = watch->round;
        return;
    }
    if (watch->count == HF__SENTINEL_MAX || watch->alarm == NULL ||
        hf__redis_where_init(&where, other->host, other->port, NULL) != HF_OK)
        return;
    if (add_peer(watch, &where, true, NULL) == HF_OK)
        hf__async_conn_update(&watch->peers[watch->count - 1]->conn);
    hf__redis_where_done(&where);
}

static void on_closed(hf__sentinel_peer *peer)
{
    hf__sentinel_watch *watch = peer->user;

    hf__sentinel_peer_free(peer);
    if (__atomic_sub_fetch(&watch->context.leaving, 1, __ATOMIC_RELEASE) == 0)
        hf__futex_wake_all(&watch->context.leaving, false);
}

static const hf__sentinel_peer_ops peer_ops = {
    .heard = on_heard,
    .hinted = on_hinted,
    .listed = on_listed,
    .closed = on_closed,
};

/* ------------------------------------------------------------- begin, end */

hf_status hf__sentinel_round_begin(hf__sentinel_watch *watch, hf_error *err)
{
    const hf__sentinel_url *place = watch->place;
    hf_status status = HF_OK;
    size_t at;

    watch->turn_task.run = run_turn;
    for (at = 0; at < place->count && status == HF_OK; at++)
        status = add_peer(watch, &place->sentinels[at], false, err);
    if (status != HF_OK)
        return status;
    begin_round(watch, hf__clock_boot_ms());
    turn_soon(watch);
    return HF_OK;
}

void hf__sentinel_round_end(hf__sentinel_watch *watch)
{
    while (watch->count > 0)
        close_peer(watch, watch->peers[--watch->count]);
}
