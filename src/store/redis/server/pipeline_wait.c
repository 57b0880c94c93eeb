/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipeline_wait.c - writes that replicas are to acknowledge, many with one
 * WAIT.
 *
 * WAIT counts the replicas that have all that its own connection wrote so far,
 * and holds that connection back meanwhile. So what is to be counted goes over
 * a connection of its own (replicated.h), in turns:
 *
 * 1. While no turn is open, a batch is written as on any shared connection;
 *    with that the turn is open. If the replicas kept up the last time, WAIT
 *    goes with it in the same write.
 * 2. What wrote nothing (a refused acquire) completes with its answer, as does
 *    what failed; the rest is held.
 * 3. Once all is answered, something is held and no WAIT is in flight, WAIT is
 *    written. So while replicas lag, who was refused makes nobody wait.
 * 4. WAIT's answer completes all if there are enough replicas, or if it came
 *    too early; else those whose time is over. If any are left go to 3: their
 *    time was longer.
 * 5. Nothing in flight and nothing held: the turn is over.
 *
 * What is held has happened. It completes with HF_OK however the counting
 * ends; if the connection breaks or the deadline comes, nobody knows how many
 * replicas have it. It is never counted on a later connection, whose WAIT knows
 * of its own writes only.
 *
 * A lease that waits for its turn, or for the connection, longer than LEASE_MS
 * goes by the ordinary one and is not counted: replicas that hang, or a next
 * master without WAIT, must not cost a lock.
 *
 * Only the loop thread is here, and holds no lock: on_done may submit.
 */
#include "store/redis/server/pipeline_internal.h"

#include <sched.h>
#include <stdio.h>

#include "util/clock.h"
#include "util/mem.h"
#include "util/order.h"

/* How much earlier than at a deadline a WAIT is to end, if there is so much
 * time: an idle server looks at its clock ten times in a second. */
#define WAY_MS 150

#define LEASE_MS 20

/* What callers may take from being woken to their next call; a turn takes some
 * hundred. */
#define GATHER_US 50

/* A WAIT of 0 ms would be one without end. */
#define WAIT_MIN_MS 1

void hf__turn_init(hf__turn *turn, uint32_t replicas)
{
    turn->replicas = replicas;
    turn->held = (hf__entry_list){NULL, NULL, 0};
    turn->wait = NULL;
    turn->ends_ms = 0;
    turn->keeps_up = turn->resting = false;
}

bool hf__turn_is_open(const hf__mux *mux)
{
    return mux->in_flight.count > 0 || mux->turn->held.count > 0 ||
           mux->turn->resting;
}

static void complete(hf__mux *mux, hf__entry *entry, int32_t acked)
{
    entry->request->acked = acked;
    hf__flight_complete(mux, entry);
}

static void complete_held(hf__mux *mux, int32_t acked)
{
    hf__entry *entry;

    while ((entry = hf__entry_take(&mux->turn->held)) != NULL)
        complete(mux, entry, acked);
}

/* ------------------------------------------------------------------- WAIT */

/* The WAIT is in no list any more. */
static void end_wait(hf__mux *mux)
{
    hf__request_done(&mux->turn->request);
    atomic_fetch_sub_explicit(&mux->depth, 1, memory_order_relaxed);
    hf__free(mux->turn->wait);
    mux->turn->wait = NULL;
}

/* Its answer was none; the connection is about to be dropped, and pipeline_io.c
 * frees the entry. */
static void wait_failed(hf__request *request)
{
    hf__turn *turn = request->user;

    turn->wait = NULL;
}

static const hf__shape wait_answer = HF__SHAPE_INTEGER(0, INT32_MAX);

static void fill_wait(hf__turn *turn, int64_t wait_ms)
{
    snprintf(turn->count_text, sizeof(turn->count_text), "%u", turn->replicas);
    snprintf(turn->time_text, sizeof(turn->time_text), "%lld",
             (long long)hf__at_least(wait_ms, WAIT_MIN_MS));
    turn->words[0] = hf_str("WAIT");
    turn->words[1] = hf_str(turn->count_text);
    turn->words[2] = hf_str(turn->time_text);
    hf__request_command(&turn->request, turn->words, 3, true);
    turn->request.answer = &wait_answer;
    turn->request.on_done = wait_failed;
    turn->request.user = turn;
}

/* Format a WAIT until `until_ms`; false: out of memory. */
static bool put_wait(hf__mux *mux, int64_t now_ms, int64_t until_ms)
{
    hf__turn *turn = mux->turn;
    hf__entry *entry = hf__calloc(1, sizeof(*entry));

    if (entry == NULL)
        return false;
    fill_wait(turn, until_ms - now_ms);
    entry->request = &turn->request;
    entry->mux = mux;
    entry->place = HF__ENTRY_WRITTEN;
    hf__heap_node_init(&entry->due);
    hf__heap_node_init(&entry->again);
    entry->begins_at = mux->link.sent + hf__buf_size(&mux->link.out);
    if (!hf__resp_put_request(&mux->link.out, &turn->request, false)) {
        hf__free(entry);
        return false;
    }
    if (mux->in_flight.count == 0)
        mux->waiting_since_ms = now_ms;
    hf__entry_append(&mux->in_flight, entry);
    atomic_fetch_add_explicit(&mux->depth, 1, memory_order_relaxed);
    turn->wait = entry;
    turn->ends_ms = until_ms;
    return true;
}

/* Until when an entry that is written now waits for replicas. */
static int64_t patience_of(const hf__request *request, int64_t now_ms)
{
    int64_t left_ms = request->deadline_ms - now_ms;

    left_ms -= hf__at_most(left_ms / 4, WAY_MS);
    return now_ms +
           hf__at_least(hf__at_most(left_ms, request->replicas->within_ms),
                        WAIT_MIN_MS);
}

/* Step 1. All that is in flight belongs to this turn. */
void hf__turn_written(hf__mux *mux)
{
    hf__turn *turn = mux->turn;
    int64_t now_ms = hf__clock_boot_ms();
    int64_t until_ms = INT64_MAX;
    hf__entry *entry;

    if (mux->in_flight.count == 0)
        return;
    for (entry = mux->in_flight.first; entry != NULL; entry = entry->next) {
        if (entry->request == NULL) /* ASKING */
            continue;
        entry->until_ms = patience_of(entry->request, now_ms);
        until_ms = hf__at_most(until_ms, entry->until_ms);
    }
    if (turn->keeps_up && until_ms != INT64_MAX)
        (void)put_wait(mux, now_ms, until_ms);
}

/* Step 3. */
void hf__turn_go_on(hf__mux *mux)
{
    hf__turn *turn = mux->turn;
    int64_t until_ms = INT64_MAX;
    const hf__entry *entry;

    if (turn->held.count == 0 || mux->in_flight.count > 0 ||
        mux->link.state != HF__LINK_UP)
        return;
    for (entry = turn->held.first; entry != NULL; entry = entry->next)
        until_ms = hf__at_most(until_ms, entry->until_ms);
    if (put_wait(mux, hf__clock_boot_ms(), until_ms))
        hf__link_flush(&mux->link);
    else
        complete_held(mux, -1);
}

/* ---------------------------------------------------------------- answers */

/* The callers that this turn has served are woken next, and those who go on at
 * once should be in the next one: else two halves of them take turns. */
static void rest(hf__mux *mux, size_t served)
{
    mux->turn->resting = true;
    mux->turn->expected = hf__mux_depth(mux) + served;
    hf__mux_poke(mux);
}

void hf__turn_gather(hf__mux *mux)
{
    int64_t until_us;

    if (!mux->turn->resting)
        return;
    until_us = hf__clock_boot_us() + GATHER_US;
    do {
        sched_yield();
    } while (hf__mux_depth(mux) < mux->turn->expected &&
             hf__clock_boot_us() < until_us);
    mux->turn->resting = false;
}

/* Step 4. An error counts as none: who may not WAIT was told at the login. */
static void count(hf__mux *mux)
{
    hf__turn *turn = mux->turn;
    const hf_reply *reply = &turn->request.reply;
    hf__entry_list held = {NULL, NULL, 0};
    int64_t now_ms = hf__clock_boot_ms();
    bool given_up = now_ms < turn->ends_ms; /* it does not wait */
    int32_t acked = 0;
    size_t served = 0;
    hf__entry *entry;

    if (reply->kind == HF_REPLY_INTEGER)
        acked = (int32_t)reply->integer;
    turn->keeps_up = acked >= (int32_t)turn->replicas;
    end_wait(mux);
    hf__entry_move(&held, &turn->held);
    while ((entry = hf__entry_take(&held)) != NULL) {
        if (turn->keeps_up || given_up || entry->until_ms <= now_ms) {
            served += entry->parked != NULL;
            complete(mux, entry, acked);
        } else {
            hf__entry_append(&turn->held, entry);
        }
    }
    if (turn->held.count == 0 && served > 1)
        rest(mux, served);
}

/* Step 2. */
bool hf__turn_answered(hf__mux *mux, hf__entry *entry)
{
    hf__turn *turn = mux->turn;
    hf__request *request = entry->request;

    /* What is no answer breaks the connection: pipeline_io.c. */
    if (request == NULL ||
        (request->reply.kind != HF_REPLY_ERROR && !hf__request_fits(request)))
        return false;
    if (entry == turn->wait) {
        count(mux);
        return true;
    }
    if (request->reply.kind == HF_REPLY_ERROR ||
        (request->wrote != NULL && !request->wrote(request)))
        return false;
    request->status = HF_OK;
    entry->place = HF__ENTRY_HELD;
    hf__entry_append(&turn->held, entry);
    return true;
}

void hf__turn_expire(hf__mux *mux, hf__entry *entry)
{
    hf__entry_unlink(&mux->turn->held, entry);
    complete(mux, entry, -1);
}

/* ------------------------------------------------------------------- leases */

/* Those that were handed over by then, or earlier, go by the ordinary
 * connection. */
static void send_leases_around(hf__mux *mux, int64_t began_ms)
{
    hf__entry_list *lane = &mux->lanes[HF__LANE_LEASE];
    hf__route route = {.server = mux->link.node->server};
    hf__entry *entry;

    while (lane->count > 0 && lane->first->request->began_ms <= began_ms) {
        entry = hf__entry_take(lane);
        entry->uncounted = true;
        entry->request->acked = -1;
        hf__server_hold(route.server);
        hf__mux_move(mux, entry, &route);
    }
}

int64_t hf__turn_next(const hf__mux *mux)
{
    const hf__entry *entry = mux->lanes[HF__LANE_LEASE].first;

    return entry == NULL ? INT64_MAX : entry->request->began_ms + LEASE_MS;
}

void hf__turn_tick(hf__mux *mux, int64_t now_ms)
{
    send_leases_around(mux, now_ms - LEASE_MS);
}

/* --------------------------------------------------------------- connection */

/* If it cannot be had, as the server has no WAIT perhaps, that is for those to
 * hear who asked for replicas: a lease needs none. */
void hf__turn_down(hf__mux *mux)
{
    mux->turn->resting = false;
    if (mux->turn->wait != NULL) {
        hf__entry_unlink(&mux->in_flight, mux->turn->wait);
        end_wait(mux);
    }
    complete_held(mux, -1);
    send_leases_around(mux, INT64_MAX);
}

/* A WAIT that is all that is missing may take as long as it was given. */
int64_t hf__turn_owes_since(const hf__mux *mux, int64_t since_ms)
{
    if (mux->turn->wait == NULL || mux->in_flight.first != mux->turn->wait)
        return since_ms;
    return hf__at_least(since_ms, mux->turn->ends_ms);
}
