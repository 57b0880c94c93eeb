/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipeline_wait.c - writes that replicas must acknowledge, many with one WAIT.
 *
 * WAIT counts the replicas that have everything its connection has written so
 * far, and blocks that connection meanwhile. So replicated writes go by a
 * connection of their own (side_conns.h), in batches:
 *
 * 1. While no batch is open, queued requests are written as on any pipeline and
 *    open one. If the replicas kept up the last time, WAIT is part of the same
 *    write.
 * 2. A request that wrote nothing (a refused acquire) or failed completes with
 *    its reply; the rest is held.
 * 3. Once all is answered, something is held and no WAIT is in flight, WAIT is
 *    written. So while replicas lag, refused requests delay no others.
 * 4. WAIT's reply completes all if there are enough replicas, or if it came
 *    before its timeout; else those whose time has passed. If any are left,
 *    continue at 3.
 * 5. Nothing in flight and nothing held: the batch is over.
 *
 * A held request has been applied. It completes with HF_OK however the counting
 * ends; if the connection breaks or the deadline passes, the count is unknown.
 * It is never counted on a later connection, whose WAIT covers only its own
 * writes.
 *
 * A lease request that has waited for LEASE_MS goes by the ordinary pipeline
 * and is not counted: hanging replicas, or a new master without WAIT, must not
 * cost a lock.
 *
 * Only the loop thread is here, and holds no lock: on_done may submit.
 */
#include "store/redis/server/pipeline_internal.h"

#include <sched.h>
#include <stdio.h>

#include "util/clock.h"
#include "util/mem.h"
#include "util/order.h"

/* How much before a deadline a WAIT should end, if there is time: an idle
 * server checks timeouts ten times per second. */
#define WAY_MS 150

#define LEASE_MS 20

/* How long woken callers may take until their next call; a batch takes some 100
 * us. */
#define GATHER_US 50

/* WAIT 0 would block indefinitely. */
#define WAIT_MIN_MS 1

void hf__wait_batch_init(hf__wait_batch *batch, uint32_t replicas)
{
    batch->replicas = replicas;
    batch->held = (hf__pipeline_list){NULL, NULL, 0};
    batch->wait = NULL;
    batch->ends_ms = 0;
    batch->keeps_up = batch->resting = false;
}

bool hf__wait_batch_is_open(const hf__pipeline *pipe)
{
    return pipe->in_flight.count > 0 || pipe->wait_batch->held.count > 0 ||
           pipe->wait_batch->resting;
}

static void complete_entry(hf__pipeline *pipe, hf__pipeline_entry *entry,
                           int32_t acked)
{
    entry->request->acked = acked;
    hf__pipeline_complete(pipe, entry);
}

static void complete_held(hf__pipeline *pipe, int32_t acked)
{
    hf__pipeline_entry *entry;

    while ((entry = hf__pipeline_list_take(&pipe->wait_batch->held)) != NULL)
        complete_entry(pipe, entry, acked);
}

/* ------------------------------------------------------------------- WAIT */

/* The WAIT is in no list any more. */
static void end_wait(hf__pipeline *pipe)
{
    hf__request_done(&pipe->wait_batch->request);
    atomic_fetch_sub_explicit(&pipe->depth, 1, memory_order_relaxed);
    hf__free(pipe->wait_batch->wait);
    pipe->wait_batch->wait = NULL;
}

/* Its reply was malformed; the connection is about to be dropped, and
 * pipeline_io.c frees the entry. */
static void wait_failed(hf__request *request)
{
    hf__wait_batch *batch = request->user;

    batch->wait = NULL;
}

static const hf__shape wait_answer = HF__SHAPE_INTEGER(0, INT32_MAX);

static void fill_wait(hf__wait_batch *batch, int64_t wait_ms)
{
    snprintf(batch->count_text, sizeof(batch->count_text), "%u",
             batch->replicas);
    snprintf(batch->time_text, sizeof(batch->time_text), "%lld",
             (long long)hf__at_least(wait_ms, WAIT_MIN_MS));
    batch->words[0] = hf_str("WAIT");
    batch->words[1] = hf_str(batch->count_text);
    batch->words[2] = hf_str(batch->time_text);
    hf__request_command(&batch->request, batch->words, 3, true);
    batch->request.answer = &wait_answer;
    batch->request.on_done = wait_failed;
    batch->request.user = batch;
}

/* Format a WAIT until `until_ms`; false: out of memory. */
static bool put_wait(hf__pipeline *pipe, int64_t now_ms, int64_t until_ms)
{
    hf__wait_batch *batch = pipe->wait_batch;
    hf__pipeline_entry *entry = hf__calloc(1, sizeof(*entry));

    if (entry == NULL)
        return false;
    fill_wait(batch, until_ms - now_ms);
    entry->request = &batch->request;
    entry->pipeline = pipe;
    entry->place = HF__ENTRY_WRITTEN;
    hf__heap_node_init(&entry->due);
    hf__heap_node_init(&entry->again);
    entry->begins_at = pipe->conn.sent + hf__outgoing_size(&pipe->conn.out);
    if (!hf__resp_put_request(&pipe->conn.out.text, &batch->request, false)) {
        hf__free(entry);
        return false;
    }
    if (pipe->in_flight.count == 0)
        pipe->waiting_since_ms = now_ms;
    hf__pipeline_list_append(&pipe->in_flight, entry);
    atomic_fetch_add_explicit(&pipe->depth, 1, memory_order_relaxed);
    batch->wait = entry;
    batch->ends_ms = until_ms;
    return true;
}

/* Until when an entry written now waits for replicas. */
static int64_t patience_of(const hf__request *request, int64_t now_ms)
{
    int64_t left_ms = request->deadline_ms - now_ms;

    left_ms -= hf__at_most(left_ms / 4, WAY_MS);
    return now_ms +
           hf__at_least(hf__at_most(left_ms, request->replicas->within_ms),
                        WAIT_MIN_MS);
}

/* Step 1. All that is in flight belongs to this batch. */
void hf__wait_batch_written(hf__pipeline *pipe)
{
    hf__wait_batch *batch = pipe->wait_batch;
    int64_t now_ms = hf__clock_boot_ms();
    int64_t until_ms = INT64_MAX;
    hf__pipeline_entry *entry;

    if (pipe->in_flight.count == 0)
        return;
    for (entry = pipe->in_flight.first; entry != NULL; entry = entry->next) {
        if (entry->request == NULL) /* ASKING */
            continue;
        entry->until_ms = patience_of(entry->request, now_ms);
        until_ms = hf__at_most(until_ms, entry->until_ms);
    }
    if (batch->keeps_up && until_ms != INT64_MAX)
        (void)put_wait(pipe, now_ms, until_ms);
}

/* Step 3. */
void hf__wait_batch_continue(hf__pipeline *pipe)
{
    hf__wait_batch *batch = pipe->wait_batch;
    int64_t until_ms = INT64_MAX;
    const hf__pipeline_entry *entry;

    if (batch->held.count == 0 || pipe->in_flight.count > 0 ||
        pipe->conn.state != HF__ASYNC_UP)
        return;
    for (entry = batch->held.first; entry != NULL; entry = entry->next)
        until_ms = hf__at_most(until_ms, entry->until_ms);
    if (put_wait(pipe, hf__clock_boot_ms(), until_ms))
        hf__async_conn_flush(&pipe->conn);
    else
        complete_held(pipe, -1);
}

/* ---------------------------------------------------------------- answers */

/* The callers served by this batch are woken next. Give them time to join the
 * next one: otherwise two halves of them would alternate. */
static void rest_batch(hf__pipeline *pipe, size_t served)
{
    pipe->wait_batch->resting = true;
    pipe->wait_batch->expected = hf__pipeline_depth(pipe) + served;
    hf__pipeline_wake(pipe);
}

void hf__wait_batch_gather(hf__pipeline *pipe)
{
    int64_t until_us;

    if (!pipe->wait_batch->resting)
        return;
    until_us = hf__clock_boot_us() + GATHER_US;
    do {
        sched_yield();
    } while (hf__pipeline_depth(pipe) < pipe->wait_batch->expected &&
             hf__clock_boot_us() < until_us);
    pipe->wait_batch->resting = false;
}

/* Step 4. An error counts as 0 replicas; a missing permission was reported at
 * login. */
static void count_replicas(hf__pipeline *pipe)
{
    hf__wait_batch *batch = pipe->wait_batch;
    const hf_reply *reply = &batch->request.reply;
    hf__pipeline_list held = {NULL, NULL, 0};
    int64_t now_ms = hf__clock_boot_ms();
    bool given_up = now_ms < batch->ends_ms; /* it does not wait */
    int32_t acked = 0;
    size_t served = 0;
    hf__pipeline_entry *entry;

    if (reply->kind == HF_REPLY_INTEGER)
        acked = (int32_t)reply->integer;
    batch->keeps_up = acked >= (int32_t)batch->replicas;
    end_wait(pipe);
    hf__pipeline_list_move(&held, &batch->held);
    while ((entry = hf__pipeline_list_take(&held)) != NULL) {
        if (batch->keeps_up || given_up || entry->until_ms <= now_ms) {
            served += entry->parked != NULL;
            complete_entry(pipe, entry, acked);
        } else {
            hf__pipeline_list_append(&batch->held, entry);
        }
    }
    if (batch->held.count == 0 && served > 1)
        rest_batch(pipe, served);
}

/* Step 2. */
bool hf__wait_batch_answered(hf__pipeline *pipe, hf__pipeline_entry *entry)
{
    hf__wait_batch *batch = pipe->wait_batch;
    hf__request *request = entry->request;

    /* A malformed reply breaks the connection: pipeline_io.c. */
    if (request == NULL ||
        (request->reply.kind != HF_REPLY_ERROR && !hf__request_fits(request)))
        return false;
    if (entry == batch->wait) {
        count_replicas(pipe);
        return true;
    }
    if (request->reply.kind == HF_REPLY_ERROR ||
        (request->wrote != NULL && !request->wrote(request)))
        return false;
    request->status = HF_OK;
    entry->place = HF__ENTRY_HELD;
    hf__pipeline_list_append(&batch->held, entry);
    return true;
}

void hf__wait_batch_expire(hf__pipeline *pipe, hf__pipeline_entry *entry)
{
    hf__pipeline_list_unlink(&pipe->wait_batch->held, entry);
    complete_entry(pipe, entry, -1);
}

/* ------------------------------------------------------------------- leases */

/* Lease requests that began by then go by the ordinary pipeline. */
static void send_leases_around(hf__pipeline *pipe, int64_t began_ms)
{
    hf__pipeline_list *lane = &pipe->lanes[HF__LANE_LEASE];
    hf__route route = {.server = pipe->conn.node->server};
    hf__pipeline_entry *entry;

    while (lane->count > 0 && lane->first->request->began_ms <= began_ms) {
        entry = hf__pipeline_list_take(lane);
        entry->uncounted = true;
        entry->request->acked = -1;
        hf__server_hold(route.server);
        (void)hf__pipeline_move(pipe, entry, &route);
    }
}

int64_t hf__wait_batch_next(const hf__pipeline *pipe)
{
    const hf__pipeline_entry *entry = pipe->lanes[HF__LANE_LEASE].first;

    return entry == NULL ? INT64_MAX : entry->request->began_ms + LEASE_MS;
}

void hf__wait_batch_tick(hf__pipeline *pipe, int64_t now_ms)
{
    send_leases_around(pipe, now_ms - LEASE_MS);
}

/* --------------------------------------------------------------- connection */

/* If it cannot be made (no WAIT, perhaps), writes that need replicas fail;
 * leases do not need them. */
void hf__wait_batch_down(hf__pipeline *pipe)
{
    pipe->wait_batch->resting = false;
    if (pipe->wait_batch->wait != NULL) {
        hf__pipeline_list_unlink(&pipe->in_flight, pipe->wait_batch->wait);
        end_wait(pipe);
    }
    complete_held(pipe, -1);
    send_leases_around(pipe, INT64_MAX);
}

/* If only WAIT is outstanding, it may use its whole timeout. */
int64_t hf__wait_batch_owes_since(const hf__pipeline *pipe, int64_t since_ms)
{
    if (pipe->wait_batch->wait == NULL ||
        pipe->in_flight.first != pipe->wait_batch->wait)
        return since_ms;
    return hf__at_least(since_ms, pipe->wait_batch->ends_ms);
}
