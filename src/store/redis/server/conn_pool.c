/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conn_pool.c - running a request on the calling thread.
 *
 * A thread takes a free slot with one atomic exchange and keeps it until its
 * request is complete, including pauses between attempts. A connection that
 * failed or whose reply came too late is closed. A server that cannot be
 * reached is reported after one attempt, as the caller knows how long to retry;
 * only a request that may have been applied is retried until its deadline.
 */
#include "store/redis/server/conn_pool.h"

#include "store/redis/server/conn_log.h"
#include "store/redis/server/retry.h"
#include "util/clock.h"
#include "util/error.h"

/* One run of a request. */
typedef struct inline_run {
    hf__conn_slot *slot;
    hf__request *request;
    hf__attempts *attempts;
    hf__route *route;
    bool moved; /* it continues by the route */
} inline_run;

void hf__conn_pool_init(hf__conn_pool *pool, hf__redis_node *node)
{
    size_t at;

    pool->node = node;
    for (at = 0; at < HF__POOL_COUNT; at++) {
        atomic_init(&pool->slots[at].busy, false);
        pool->slots[at].conn = &pool->slots[at].pair[0];
        hf__blocking_conn_init(&pool->slots[at].pair[0], node);
        hf__blocking_conn_init(&pool->slots[at].pair[1], node);
    }
}

void hf__conn_pool_done(hf__conn_pool *pool)
{
    size_t at;

    for (at = 0; at < HF__POOL_COUNT; at++) {
        hf__blocking_conn_done(&pool->slots[at].pair[0]);
        hf__blocking_conn_done(&pool->slots[at].pair[1]);
    }
}

/* A busy slot belongs to a thread of the parent. */
void hf__conn_pool_close_forked(hf__conn_pool *pool)
{
    size_t at;
    bool busy;

    for (at = 0; at < HF__POOL_COUNT; at++) {
        busy = atomic_load(&pool->slots[at].busy);
        hf__blocking_conn_close_forked(&pool->slots[at].pair[0], busy);
        hf__blocking_conn_close_forked(&pool->slots[at].pair[1], busy);
    }
}

hf_status hf__conn_pool_open(hf__conn_pool *pool, int64_t until_ms,
                             hf_error *err)
{
    return hf__blocking_conn_open(pool->slots[0].conn, until_ms, err);
}

/* The first free one, so that few of them are warm. */
static hf__conn_slot *take_slot(hf__conn_pool *pool)
{
    size_t at;

    for (at = 0; at < HF__POOL_COUNT; at++) {
        if (!atomic_load_explicit(&pool->slots[at].busy,
                                  memory_order_relaxed) &&
            !atomic_exchange_explicit(&pool->slots[at].busy, true,
                                      memory_order_acquire))
            return &pool->slots[at];
    }
    return NULL;
}

static void close_stale(hf__blocking_conn *conn)
{
    HF__LOG(conn->node->context->log, HF_LOG_INFO,
            "the connection for calls to %s was closed meanwhile; a new one is "
            "made",
            conn->peer);
    hf__blocking_conn_close(conn);
}

/* Make sure that the connection is open, as far as can be known. */
static hf_status make_ready(inline_run *run, hf_error *err)
{
    hf__blocking_conn *conn = run->slot->conn;
    int64_t until_ms;

    if (hf__blocking_conn_is_open(conn) &&
        (hf__blocking_conn_is_stale(conn, run->request) ||
         hf__redis_node_distrusts(conn->node, hf__blocking_conn_sent_ms(conn))))
        close_stale(conn);
    if (hf__blocking_conn_is_open(conn))
        return HF_OK;
    until_ms =
        hf__clock_after(hf__clock_boot_ms(), conn->node->context->connect_ms);
    if (until_ms > run->request->deadline_ms)
        until_ms = run->request->deadline_ms;
    return hf__blocking_conn_open(conn, until_ms, err);
}

/* With less time left there is no further attempt. */
#define LAST_MS 20

/* Pause before the next attempt; false: the deadline has passed. Pauses get
 * shorter towards the deadline, so that the request does not fail long before
 * it. */
static bool back_off(inline_run *run, unsigned tries)
{
    int64_t now_ms = hf__clock_boot_ms();
    int64_t left_ms = run->request->deadline_ms - now_ms;
    int64_t pause_ms = hf__retry_delay_ms(tries);

    if (left_ms < LAST_MS)
        return false;
    hf__clock_sleep_until(now_ms +
                          (pause_ms < left_ms / 2 ? pause_ms : left_ms / 2));
    return true;
}

static void fail_run(inline_run *run, const hf_error *err)
{
    hf__retry_fail(run->request, run->attempts->doubtful, err);
    hf__arena_free(&run->request->arena);
}

/* Let the topology decide; true: the request continues by the route. */
static bool hand_on(inline_run *run, const hf__redirect *why)
{
    run->moved = hf__route_ask(run->slot->conn->node, run->request,
                               run->attempts, why, run->route);
    return run->moved;
}

/* No connection. A local shortage is as temporary as an absent server. A server
 * that is busy is waited for, as by who has a connection. true: try again. */
static bool after_no_connection(inline_run *run, hf_error *err)
{
    static const hf__redirect why = {.kind = HF__REDIRECT_UNREACHABLE};

    if (err->status == HF_SYSTEM)
        err->status = HF_UNAVAILABLE;
    if (hf_status_kind(err->status) == HF_KIND_RETRY) {
        hf__retry_fail(run->request, run->attempts->doubtful, err);
        if (hand_on(run, &why))
            return false;
        if (run->slot->conn->busy && back_off(run, run->attempts->waits++))
            return true;
        if (run->attempts->doubtful && back_off(run, run->attempts->losses))
            return true;
    }
    fail_run(run, err);
    return false;
}

/* The request was sent, at least partly, and not answered. true: try again. */
static bool after_loss(inline_run *run, hf_error *err)
{
    run->attempts->doubtful = true;
    run->attempts->losses++;
    if (hf__retry_is_safe(run->request) &&
        run->attempts->losses < HF__RETRY_LOSSES_MAX &&
        hf__clock_boot_ms() < run->request->deadline_ms) {
        if (err->status == HF_INDETERMINATE) /* else an older one replied */
            hf__conn_log_again(run->slot->conn->node, err->message);
        hf__arena_free(&run->request->arena);
        return true;
    }
    err->status = HF_INDETERMINATE;
    fail_run(run, err);
    return false;
}

/* true: try again. */
static bool after_reply(inline_run *run)
{
    hf__attempts *attempts = run->attempts;
    hf__redirect redirect;
    hf__verdict verdict =
        hf__retry_judge(run->request, attempts->doubtful, &redirect);

    if (verdict == HF__VERDICT_BREAK)
        hf__fail_prefix(&run->request->error, "%s", run->slot->conn->peer);
    if (verdict == HF__VERDICT_DROP || verdict == HF__VERDICT_BREAK)
        hf__blocking_conn_close(run->slot->conn);
    if (hand_on(run, &redirect))
        return false;
    switch (verdict) {
    case HF__VERDICT_LOAD:
        attempts->whole = true;
        return attempts->waits++ == 0 || back_off(run, attempts->waits);
    case HF__VERDICT_BACK_OFF:
        return back_off(run, attempts->waits++);
    case HF__VERDICT_DROP:
    case HF__VERDICT_BREAK:
    case HF__VERDICT_ANSWER:
        break;
    }
    return false;
}

/* Stop waiting for the elder's reply; what was read of it is discarded. */
static void leave_elder(inline_run *run)
{
    hf__blocking_conn *conn = run->slot->conn;

    if (conn->elder != NULL)
        hf__blocking_conn_close(conn->elder);
    conn->elder = NULL;
}

/* Silent for too long: connect again, but accept a reply on the old connection
 * in the meantime. What was read of it stays in the arena. */
static bool after_silence(inline_run *run, hf_error *err)
{
    hf__conn_slot *slot = run->slot;
    hf__blocking_conn *elder = slot->conn;

    hf__route_suspect(elder->node);
    run->attempts->doubtful = true;
    if (++run->attempts->losses >= HF__RETRY_LOSSES_MAX) {
        hf__blocking_conn_close(elder);
        fail_run(run, err);
        return false;
    }
    slot->conn = elder == &slot->pair[0] ? &slot->pair[1] : &slot->pair[0];
    slot->conn->elder = elder;
    return true;
}

/* true: try again. */
static bool after_exchange(inline_run *run, hf__blocking_conn_result result,
                           hf_error *err)
{
    switch (result) {
    case HF__CONN_OK:
        return after_reply(run);
    case HF__CONN_UNSENT:
        if (run->attempts->losses++ < HF__RETRY_LOSSES_MAX &&
            hf__clock_boot_ms() < run->request->deadline_ms) {
            hf__conn_log_again(run->slot->conn->node, err->message);
            return true;
        }
        break;
    case HF__CONN_LOST:
        return after_loss(run, err);
    case HF__CONN_SILENT:
        return after_silence(run, err);
    case HF__CONN_LATE:
        hf__route_suspect(run->slot->conn->node);
        run->attempts->doubtful = true;
        break;
    case HF__CONN_BROKEN:
        run->attempts->doubtful = true;
        break;
    case HF__CONN_NO_MEMORY:
        hf__fail(err, HF_NO_MEMORY, "out of memory");
        break;
    }
    fail_run(run, err);
    return false;
}

/* The old connection was slow, not broken. */
static bool take_up_elder(inline_run *run, hf_error *err)
{
    hf__conn_slot *slot = run->slot;
    hf__blocking_conn *younger = slot->conn;

    slot->conn = younger->elder;
    younger->elder = NULL;
    hf__blocking_conn_close(younger);
    return after_exchange(
        run, hf__blocking_conn_resume(slot->conn, run->request, err), err);
}

/* One try. true: try again. */
static bool try_once(inline_run *run)
{
    hf_error err = HF_ERROR_INIT;
    hf_status status = make_ready(run, &err);

    if (hf__blocking_conn_elder_spoke(run->slot->conn))
        return take_up_elder(run, &err);
    if (status != HF_OK)
        return after_no_connection(run, &err);
    if (run->slot->conn->elder != NULL)
        hf__redis_node_note_silence(
            run->slot->conn->node,
            hf__blocking_conn_sent_ms(run->slot->conn->elder));
    leave_elder(run);
    hf__arena_free(&run->request->arena);
    return after_exchange(run,
                          hf__blocking_conn_exchange(run->slot->conn,
                                                     run->request,
                                                     run->attempts, &err),
                          &err);
}

hf__conn_pool_result hf__conn_pool_perform(hf__conn_pool *pool,
                                           hf__request *request,
                                           hf__attempts *attempts,
                                           hf__route *route)
{
    inline_run run = {.request = request, .attempts = attempts, .route = route};

    run.slot = take_slot(pool);
    if (run.slot == NULL)
        return HF__POOL_BUSY;
    while (try_once(&run))
        continue;
    leave_elder(&run);
    if (run.moved)
        hf__arena_free(&request->arena);
    atomic_store_explicit(&run.slot->busy, false, memory_order_release);
    return run.moved ? HF__POOL_MOVED : HF__POOL_DONE;
}
