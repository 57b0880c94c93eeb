/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipeline_io.c - entries of the shared connection on the loop thread: writing,
 * matching replies, deadlines.
 *
 * An entry is appended to its lane and then
 *
 * 1. While the socket takes them, entries are formatted, a batch at a time, the
 *    lease lane first, and join the in-flight list. Nothing is formatted while
 *    bytes wait to be written, so at its deadline an entry of a lane is known
 *    to be unsent.
 * 2. Replies belong to the list's first entry. An entry whose deadline passed
 *    stays in the list without its request, so that matching never shifts.
 * 3. When the connection breaks, entries that may be sent again (retry.c)
 *    return to the front of their lane in the old order; the rest completes
 *    (pipeline_requeue.c).
 * 4. If a server is silent for 2 s or longer (silence_limit.h) and everything
 *    in flight is repeatable, a second connection is tried, and replaces the
 *    silent one if it succeeds (pipeline_probe.c). Otherwise requests wait
 *    until their deadlines: a script that runs for minutes is silence, too.
 *
 * A script is sent whole the first time on a connection, which loads it:
 * retrying after NOSCRIPT would let later requests overtake it. That remains
 * possible when the server drops a script later.
 *
 * Only the loop thread is here, and holds no lock: on_done may submit. A caller
 * that sends itself does step 1 in its place (pipeline_direct.c), a reader step
 * 2 (pipeline_reader.c).
 */
#include "store/redis/server/pipeline_internal.h"

#include <string.h>

#include "store/redis/server/conn_log.h"
#include "store/redis/server/retry.h"
#include "store/redis/server/silence_limit.h"
#include "util/clock.h"
#include "util/container.h"
#include "util/error.h"
#include "util/futex.h"
#include "util/mem.h"
#include "util/order.h"

/* Written and not answered; leases may exceed it. A few hundred keep a server
 * busy over any network. */
#define IN_FLIGHT_MAX 4096

/* Bytes written in one turn of the loop, whatever the socket accepts: renewals
 * that come meanwhile, and other connections, have theirs in between. */
#define TURN_SIZE (1u << 20)

/* ---------------------------------------------------------------- writing */

/* Has the script been sent whole on this connection? Records that it is now. */
static bool is_known(hf__pipeline *pipe, const hf__script *script)
{
    uint64_t digest;
    uint64_t *place;

    memcpy(&digest, script->sha1, sizeof(digest));
    place = &pipe->scripts[(digest ^ digest >> 32 ^ digest >> 16) %
                           HF__PIPELINE_SCRIPTS];
    if (*place == digest)
        return true;
    *place = digest;
    return false;
}

/* What is appended to conn->out next belongs to this entry. */
static void join_flight(hf__pipeline *pipe, hf__pipeline_entry *entry)
{
    entry->place = HF__ENTRY_WRITTEN;
    entry->begins_at = pipe->conn.sent + hf__outgoing_size(&pipe->conn.out);
    if (pipe->in_flight.count == 0)
        pipe->waiting_since_ms = hf__clock_boot_ms();
    hf__pipeline_list_append(&pipe->in_flight, entry);
}

/* ASKING applies to the next command only. Its reply is ignored: that of the
 * command says everything. */
static bool put_asking(hf__pipeline *pipe)
{
    static const char *const words[] = {"ASKING"};
    hf__pipeline_entry *entry = hf__calloc(1, sizeof(*entry));

    if (entry == NULL)
        return false;
    join_flight(pipe, entry);
    if (hf__resp_put_words(&pipe->conn.out.text, words, 1))
        return true;
    hf__pipeline_list_unlink(&pipe->in_flight, entry);
    hf__free(entry);
    return false;
}

static void format_entry(hf__pipeline *pipe, hf__pipeline_entry *entry)
{
    hf__request *request = entry->request;
    bool whole = entry->attempts.whole;
    bool fits = !entry->attempts.asking || put_asking(pipe);
    hf_error err = HF_ERROR_INIT;

    entry->attempts.asking = false;
    if (request->script != NULL && !is_known(pipe, request->script))
        whole = true;
    join_flight(pipe, entry);
    if (fits && hf__resp_lend_request(&pipe->conn.out, request, whole)) {
        request->sends++;
        if (pipe->unblock != NULL)
            hf__unblock_written(pipe, entry);
        return;
    }
    hf__pipeline_list_unlink(&pipe->in_flight, entry);
    hf__fail(&err, HF_NO_MEMORY, "out of memory");
    hf__pipeline_fail(pipe, entry, &err);
}

static hf__pipeline_entry *take_next(hf__pipeline *pipe)
{
    hf__pipeline_entry *entry =
        hf__pipeline_list_take(&pipe->lanes[HF__LANE_LEASE]);

    if (entry == NULL && pipe->in_flight.count < IN_FLIGHT_MAX)
        entry = hf__pipeline_list_take(&pipe->lanes[HF__LANE_USER]);
    return entry;
}

/* One that is cancelled is not written: its deadline has come. */
static bool may_write(const hf__pipeline *pipe)
{
    return pipe->conn.state == HF__ASYNC_UP && !pipe->leaving &&
           !hf__probe_is_on(pipe) && !hf__unblock_is_cancelled(pipe) &&
           !atomic_load_explicit(&pipe->retired, memory_order_acquire) &&
           (pipe->wait_batch == NULL || !hf__wait_batch_is_open(pipe));
}

void hf__pipeline_format(hf__pipeline *pipe, size_t most)
{
    hf__pipeline_entry *entry;

    while (hf__outgoing_size(&pipe->conn.out) < most &&
           (entry = take_next(pipe)) != NULL)
        format_entry(pipe, entry);
}

/* Write as much as the socket accepts, in turns. */
static void write_requests(hf__pipeline *pipe)
{
    hf__async_conn *conn = &pipe->conn;
    uint64_t turn_ends = conn->sent + TURN_SIZE;
    size_t most = pipe->wait_batch == NULL ? HF__PIPELINE_BATCH_SIZE
                                           : HF__WAIT_BATCH_SIZE;

    if (pipe->wait_batch != NULL)
        hf__wait_batch_continue(pipe);
    while (may_write(pipe) && hf__outgoing_size(&conn->out) == 0) {
        hf__pipeline_format(pipe, most);
        if (pipe->wait_batch != NULL)
            hf__wait_batch_written(pipe);
        if (hf__outgoing_size(&conn->out) == 0)
            return;
        hf__async_conn_flush(conn);
        if (conn->sent >= turn_ends && hf__outgoing_size(&conn->out) == 0 &&
            may_write(pipe)) {
            hf__async_conn_pause(conn);
            return;
        }
    }
}

static void on_up(hf__async_conn *conn)
{
    hf__conn_log_up(conn);
    atomic_fetch_add(&hf__container_of(conn, hf__pipeline, conn)->generation,
                     1);
    write_requests(hf__container_of(conn, hf__pipeline, conn));
}

static void on_drained(hf__async_conn *conn)
{
    hf__pipeline *pipe = hf__container_of(conn, hf__pipeline, conn);

    write_requests(pipe);
    hf__pipeline_end_callback(pipe);
}

/* ---------------------------------------------------------------- reading */

/* The last reply does not match its request. */
static void lose_place(hf__pipeline *pipe, hf_error *err)
{
    hf__fail_prefix(err, "%s", pipe->conn.peer);
    pipe->conn.error = *err;
    pipe->broken = true;
}

/* The request of an entry that is in no list has its reply. */
static void entry_answered(hf__pipeline *pipe, hf__pipeline_entry *entry)
{
    hf__redirect redirect;
    hf__verdict verdict;

    if (pipe->wait_batch != NULL && hf__wait_batch_answered(pipe, entry))
        return;
    if (entry->request == NULL) {
        hf__free(entry);
        return;
    }
    if (pipe->unblock != NULL)
        hf__unblock_answered(pipe, entry);
    verdict =
        hf__retry_judge(entry->request, entry->attempts.doubtful, &redirect);
    if (verdict == HF__VERDICT_DROP)
        pipe->leaving = true;
    if (verdict == HF__VERDICT_BREAK)
        lose_place(pipe, &entry->request->error);
    if (hf__pipeline_hand_on(pipe, entry, &redirect))
        return;
    if (hf__unblock_is_last(pipe))
        verdict = HF__VERDICT_ANSWER;
    switch (verdict) {
    case HF__VERDICT_LOAD:
        memset(pipe->scripts, 0, sizeof(pipe->scripts));
        entry->attempts.whole = true;
        hf__pipeline_put_back(pipe, entry);
        return;
    case HF__VERDICT_BACK_OFF:
        entry->place = HF__ENTRY_LATER;
        hf__heap_put(&pipe->again, &entry->again,
                     hf__clock_boot_ms() +
                         hf__retry_delay_ms(entry->attempts.waits++));
        return;
    case HF__VERDICT_DROP:
    case HF__VERDICT_BREAK:
    case HF__VERDICT_ANSWER:
        break;
    }
    hf__pipeline_complete(pipe, entry);
}

/* Parse one reply; false: it is incomplete, or malformed (broken). */
static bool read_reply(hf__pipeline *pipe)
{
    hf__async_conn *conn = &pipe->conn;
    hf__pipeline_entry *head = pipe->in_flight.first;
    hf__request *request = head == NULL ? NULL : head->request;
    hf__resp_result parsed;

    if (!pipe->parsing)
        hf__resp_begin(&conn->resp, request != NULL ? &request->arena : NULL,
                       request != NULL ? &request->reply : NULL);
    parsed = hf__resp_feed(&conn->resp, &conn->in);
    pipe->parsing = parsed == HF__RESP_MORE;
    if (pipe->parsing)
        return false;
    if (parsed == HF__RESP_DONE && conn->resp.push) {
        if (request != NULL)
            hf__arena_free(&request->arena);
        return true;
    }
    if (parsed == HF__RESP_DONE && head != NULL) {
        hf__pipeline_list_unlink(&pipe->in_flight, head);
        entry_answered(pipe, head);
        return !pipe->broken;
    }
    if (parsed == HF__RESP_NO_MEMORY)
        hf__fail(&conn->error, HF_NO_MEMORY, "out of memory");
    else
        hf__fail(&conn->error, HF_CORRUPT, "%s sent a malformed reply",
                 conn->peer);
    if (request != NULL) {
        hf__pipeline_list_unlink(&pipe->in_flight, head);
        hf__pipeline_fail(pipe, head, &conn->error);
    }
    pipe->broken = true;
    return false;
}

/* The silence is over. How long a script takes says nothing about the
 * server. */
static void note_silence(hf__pipeline *pipe)
{
    const hf__pipeline_entry *head = pipe->in_flight.first;
    int64_t since_ms = pipe->heard_ms;

    if (since_ms < pipe->waiting_since_ms)
        since_ms = pipe->waiting_since_ms;
    pipe->heard_ms = pipe->conn.alive_ms;
    if (head != NULL && head->request != NULL && pipe->unblock == NULL &&
        hf__retry_is_safe(head->request))
        hf__silence_learn(pipe->conn.node, pipe->heard_ms - since_ms);
    hf__probe_end(pipe);
}

static void on_input(hf__async_conn *conn)
{
    hf__pipeline *pipe = hf__container_of(conn, hf__pipeline, conn);

    note_silence(pipe);

    while (hf__buf_size(&conn->in) > 0 && read_reply(pipe))
        continue;
    if (pipe->leaving && pipe->in_flight.count == 0)
        hf__fail(&conn->error, HF_UNAVAILABLE, "%s is not used any more",
                 conn->peer);
    if (pipe->broken || (pipe->leaving && pipe->in_flight.count == 0))
        hf__async_conn_drop(conn);
    write_requests(pipe);
    hf__pipeline_end_callback(pipe);
}

/* An error may have the request sent again, and a push is no reply. */
static bool is_plain(const hf__buf *in)
{
    return strchr("+:$*_", (char)*hf__buf_front(in)) != NULL;
}

void hf__pipeline_read(hf__pipeline *pipe)
{
    hf__async_conn *conn = &pipe->conn;
    ssize_t got = hf__async_conn_receive(conn);

    if (got > 0) {
        note_silence(pipe);
        /* The connection has worked. */
        if (is_plain(&conn->in) && read_reply(pipe))
            conn->delay_ms = 0;
    }
    pipe->loop_reads = got < 0 || pipe->broken || hf__buf_size(&conn->in) > 0;
}

static bool is_wanted(hf__async_conn *conn)
{
    const hf__pipeline *pipe = hf__container_of(conn, hf__pipeline, conn);

    return pipe->lanes[HF__LANE_LEASE].count > 0 ||
           pipe->lanes[HF__LANE_USER].count > 0;
}

/* ------------------------------------------------------------------- time */

/* An entry's deadline has passed. */
static void expire_entry(hf__pipeline *pipe, hf__pipeline_entry *entry)
{
    const hf__async_conn *conn = &pipe->conn;
    hf_error err = HF_ERROR_INIT;

    if (entry->place == HF__ENTRY_HELD) {
        hf__wait_batch_expire(pipe, entry);
        return;
    }
    if (entry->place == HF__ENTRY_WRITTEN && pipe->unblock != NULL) {
        pipe->unblock->due(pipe, entry);
        return;
    }
    if (entry->place == HF__ENTRY_WRITTEN) {
        if (pipe->parsing && entry == pipe->in_flight.first)
            hf__resp_drop(&pipe->conn.resp);
        hf__fail(&err, HF_INDETERMINATE, "no reply from %s in time",
                 conn->peer);
        hf__pipeline_expire(pipe, entry, &err);
        return;
    }
    if (entry->place == HF__ENTRY_QUEUED)
        hf__pipeline_list_unlink(hf__pipeline_lane(pipe, entry), entry);
    if (entry->place == HF__ENTRY_LATER)
        err = entry->request->error;
    else if (conn->state != HF__ASYNC_UP && conn->error.status != HF_OK)
        hf__fail(&err, HF_UNAVAILABLE, "%s", conn->error.message);
    else
        hf__fail(&err, HF_UNAVAILABLE, "not sent to %s in time", conn->peer);
    hf__pipeline_fail(pipe, entry, &err);
}

/* The first instant in a heap, or never. */
static int64_t first_of(const hf__heap *heap)
{
    const hf__heap_node *node = hf__heap_first(heap);

    return node == NULL ? INT64_MAX : node->at_ms;
}

/* Since when it owes a reply and is silent; INT64_MAX: it is not. */
static int64_t silent_since(const hf__pipeline *pipe)
{
    const hf__async_conn *conn = &pipe->conn;
    int64_t since_ms = conn->alive_ms;

    if (conn->state != HF__ASYNC_UP || pipe->in_flight.count == 0 ||
        pipe->unblock != NULL)
        return INT64_MAX;
    if (since_ms < pipe->waiting_since_ms)
        since_ms = pipe->waiting_since_ms;
    if (pipe->wait_batch != NULL)
        since_ms = hf__wait_batch_owes_since(pipe, since_ms);
    return since_ms;
}

/* When another connection is tried if the silence continues. */
static int64_t dead_at(const hf__pipeline *pipe)
{
    int64_t since_ms = silent_since(pipe);

    if (since_ms == INT64_MAX || hf__probe_is_on(pipe))
        return INT64_MAX;
    return since_ms + hf__silence_limit(pipe->conn.node, HF__RETRY_SILENCE_MS);
}

/* When to report the silence to the topology, first or again. */
static int64_t suspect_at(const hf__pipeline *pipe)
{
    int64_t since_ms = silent_since(pipe);

    if (since_ms == INT64_MAX)
        return INT64_MAX;
    if (pipe->suspected_ms > since_ms)
        return pipe->suspected_ms + HF__PIPELINE_SUSPECT_MS;
    return since_ms + HF__PIPELINE_SUSPECT_MS;
}

static void check_suspicion(hf__pipeline *pipe, int64_t now_ms)
{
    if (now_ms < suspect_at(pipe))
        return;
    pipe->suspected_ms = now_ms;
    hf__route_suspect(pipe->conn.node);
}

static bool all_repeatable(const hf__pipeline *pipe)
{
    const hf__pipeline_entry *entry;

    for (entry = pipe->in_flight.first; entry != NULL; entry = entry->next) {
        if (entry->request != NULL && !entry->request->repeatable)
            return false;
    }
    return true;
}

/* Drop a connection that is silent while the server responds, if everything in
 * flight is repeatable. */
static void leave_silent(hf__pipeline *pipe)
{
    hf__async_conn *conn = &pipe->conn;
    int64_t now_ms = hf__clock_boot_ms();
    int64_t since_ms = silent_since(pipe);

    if (since_ms == INT64_MAX)
        return;
    if (!all_repeatable(pipe)) {
        pipe->waiting_since_ms = now_ms; /* look again later */
        return;
    }
    hf__silence_learn(conn->node, now_ms - since_ms);
    hf__redis_node_note_silence(conn->node, since_ms);
    hf__fail(&conn->error, HF_UNAVAILABLE, "%s was silent for %lld ms",
             conn->peer, (long long)(now_ms - since_ms));
    hf__async_conn_drop(conn);
}

static void on_probe_up(hf__pipeline *pipe)
{
    /* Input that was not read yet is no silence. */
    if (!hf__channel_is_stale(&pipe->conn.channel))
        leave_silent(pipe);
    hf__async_conn_update(&pipe->conn);
}

static void on_probe_failed(hf__pipeline *pipe)
{
    hf__requeue_unsent(pipe);
    hf__pipeline_end_callback(pipe);
}

static void check_silence(hf__pipeline *pipe, int64_t now_ms)
{
    if (now_ms < dead_at(pipe))
        return;
    if (!all_repeatable(pipe) ||
        !hf__probe_begin(pipe, on_probe_up, on_probe_failed))
        leave_silent(pipe);
}

/* Nothing is owed: another connection's silence is reason enough. */
static void check_other_silence(hf__pipeline *pipe)
{
    hf__async_conn *conn = &pipe->conn;

    if (conn->state != HF__ASYNC_UP || pipe->in_flight.count > 0 ||
        !is_wanted(conn) ||
        !hf__redis_node_distrusts(conn->node, conn->alive_ms))
        return;
    hf__fail(&conn->error, HF_UNAVAILABLE,
             "%s was left: another connection to it was silent", conn->peer);
    hf__async_conn_drop(conn);
}

static int64_t on_tick(hf__async_conn *conn, int64_t now_ms)
{
    hf__pipeline *pipe = hf__container_of(conn, hf__pipeline, conn);
    hf__pipeline_entry *entry;
    int64_t next_ms;

    while (first_of(&pipe->due) <= now_ms)
        expire_entry(pipe, hf__container_of(hf__heap_first(&pipe->due),
                                            hf__pipeline_entry, due));
    while (first_of(&pipe->again) <= now_ms) {
        entry = hf__container_of(hf__heap_first(&pipe->again),
                                 hf__pipeline_entry, again);
        hf__heap_remove(&pipe->again, &entry->again);
        hf__pipeline_put_back(pipe, entry);
    }
    check_suspicion(pipe, now_ms);
    check_silence(pipe, now_ms);
    check_other_silence(pipe);
    if (pipe->wait_batch != NULL)
        hf__wait_batch_tick(pipe, now_ms);
    write_requests(pipe);
    hf__pipeline_end_callback(pipe);
    next_ms = first_of(&pipe->due);
    if (first_of(&pipe->again) < next_ms)
        next_ms = first_of(&pipe->again);
    if (suspect_at(pipe) < next_ms)
        next_ms = suspect_at(pipe);
    if (dead_at(pipe) < next_ms)
        next_ms = dead_at(pipe);
    if (pipe->wait_batch != NULL && hf__wait_batch_next(pipe) < next_ms)
        next_ms = hf__wait_batch_next(pipe);
    if (pipe->unblock != NULL)
        next_ms = hf__at_most(next_ms, hf__unblock_tick(pipe, now_ms));
    return next_ms;
}

/* ------------------------------------------------------- coming, closing */

void hf__pipeline_accept(hf__pipeline *pipe, hf__pipeline_entry *entry)
{
    size_t count = pipe->due.count + 1;
    hf_error err = HF_ERROR_INIT;

    if (!hf__heap_reserve(&pipe->due, count) ||
        !hf__heap_reserve(&pipe->again, count)) {
        hf__fail(&err, HF_NO_MEMORY, "out of memory");
        hf__pipeline_fail(pipe, entry, &err);
        return;
    }
    hf__heap_put(&pipe->due, &entry->due, entry->request->deadline_ms);
    if (entry->not_before_ms > hf__clock_boot_ms()) {
        entry->place = HF__ENTRY_LATER;
        hf__heap_put(&pipe->again, &entry->again, entry->not_before_ms);
    } else {
        hf__pipeline_list_append(hf__pipeline_lane(pipe, entry), entry);
    }
}

void hf__pipeline_fail_all(hf__pipeline *pipe)
{
    hf_error err = HF_ERROR_INIT;
    hf__pipeline_entry *entry;

    hf__fail(&err, HF_UNAVAILABLE, "the client was closed");
    while (pipe->due.count > 0) {
        entry = hf__container_of(hf__heap_first(&pipe->due), hf__pipeline_entry,
                                 due);
        if (entry->place == HF__ENTRY_QUEUED)
            hf__pipeline_list_unlink(hf__pipeline_lane(pipe, entry), entry);
        hf__pipeline_fail(pipe, entry, &err);
    }
    hf__pipeline_end_callback(pipe);
}

static void on_enter(hf__async_conn *conn)
{
    hf__pipeline_begin(hf__container_of(conn, hf__pipeline, conn));
}

static void on_leave(hf__async_conn *conn)
{
    hf__pipeline_end(hf__container_of(conn, hf__pipeline, conn));
}

const hf__async_conn_ops hf__pipeline_conn_ops = {
    .enter = on_enter,
    .leave = on_leave,
    .up = on_up,
    .input = on_input,
    .drained = on_drained,
    .down = hf__requeue_down,
    .wanted = is_wanted,
    .tick = on_tick,
};
