/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inline.c - running a request on the calling thread.
 *
 * A thread takes a free slot with one exchange of a flag and keeps it until
 * its request is complete, pauses between tries included. A connection that
 * failed or whose answer came too late is closed, never used again. A server
 * that cannot be reached is reported after one attempt, as callers know better
 * how long it is worth trying; only a request that may have been applied
 * already is tried to its deadline.
 */
#include "store/redis/inline.h"

#include <unistd.h>

#include "store/redis/retry.h"
#include "store/redis/socket.h"
#include "util/clock.h"
#include "util/error.h"

/* One run of a request. */
typedef struct inline_run {
    hf__inline_slot *slot;
    hf__request *request;
    bool whole;      /* send the script's text */
    bool doubtful;   /* sent before, without an answer */
    unsigned losses; /* connections that broke */
    unsigned waits;  /* refusals for now */
} inline_run;

void hf__inline_init(hf__inline *inlines, const hf__redis_node *node)
{
    size_t at;

    inlines->node = node;
    for (at = 0; at < HF__INLINE_COUNT; at++) {
        atomic_init(&inlines->slots[at].busy, false);
        hf__conn_init(&inlines->slots[at].conn, node);
    }
}

void hf__inline_done(hf__inline *inlines)
{
    size_t at;

    for (at = 0; at < HF__INLINE_COUNT; at++)
        hf__conn_done(&inlines->slots[at].conn);
}

/* A slot that is busy belongs to a thread that the child does not have. */
void hf__inline_abandon(hf__inline *inlines)
{
    size_t at;

    for (at = 0; at < HF__INLINE_COUNT; at++) {
        if (!atomic_load(&inlines->slots[at].busy))
            hf__conn_done(&inlines->slots[at].conn);
        else if (inlines->slots[at].conn.fd >= 0)
            close(inlines->slots[at].conn.fd);
    }
}

hf_status hf__inline_open(hf__inline *inlines, hf_error *err)
{
    int64_t now_ms = hf__clock_boot_ms();

    return hf__conn_open(&inlines->slots[0].conn,
                         hf__clock_after(now_ms, inlines->node->connect_ms),
                         err);
}

/* The first free one, so that few of them are warm. */
static hf__inline_slot *take_slot(hf__inline *inlines)
{
    size_t at;

    for (at = 0; at < HF__INLINE_COUNT; at++) {
        if (!atomic_load_explicit(&inlines->slots[at].busy,
                                  memory_order_relaxed) &&
            !atomic_exchange_explicit(&inlines->slots[at].busy, true,
                                      memory_order_acquire))
            return &inlines->slots[at];
    }
    return NULL;
}

/*
 * Have a connection that is open as far as can be known. A server that has
 * closed a TCP connection meanwhile would take the request and answer with a
 * reset, which leaves its outcome unknown; looking first costs one short call.
 * A unix socket refuses the write itself.
 */
static hf_status make_ready(inline_run *run, int64_t now_ms, hf_error *err)
{
    hf__conn *conn = &run->slot->conn;
    int64_t until_ms;

    if (conn->fd >= 0 && conn->node->address.path == NULL &&
        hf__socket_is_stale(conn->fd))
        hf__conn_close(conn);
    if (conn->fd >= 0)
        return HF_OK;
    until_ms = hf__clock_after(now_ms, conn->node->connect_ms);
    if (until_ms > run->request->deadline_ms)
        until_ms = run->request->deadline_ms;
    return hf__conn_open(conn, until_ms, err);
}

/* Pause before the next try; false: the deadline comes first. */
static bool back_off(inline_run *run, unsigned tries)
{
    int64_t until_ms = hf__clock_boot_ms() + hf__retry_delay_ms(tries);

    if (until_ms >= run->request->deadline_ms)
        return false;
    hf__clock_sleep_until(until_ms);
    return true;
}

static void fail(inline_run *run, const hf_error *err)
{
    hf__retry_fail(run->request, run->doubtful, err);
    hf__arena_free(&run->request->arena);
}

/* No connection. That this process is short of something passes, like a
 * server's absence. true: try again. */
static bool after_no_connection(inline_run *run, hf_error *err)
{
    if (err->status == HF_SYSTEM)
        err->status = HF_UNAVAILABLE;
    if (run->doubtful && hf_status_kind(err->status) == HF_KIND_RETRY &&
        back_off(run, run->losses))
        return true;
    fail(run, err);
    return false;
}

/* The request was sent, in part at least, and not answered. true: try again. */
static bool after_loss(inline_run *run, hf_error *err)
{
    run->doubtful = true;
    run->losses++;
    if (hf__retry_is_safe(run->request) && run->losses < HF__RETRY_LOSSES_MAX &&
        hf__clock_boot_ms() < run->request->deadline_ms) {
        hf__arena_free(&run->request->arena);
        return true;
    }
    err->status = HF_INDETERMINATE;
    fail(run, err);
    return false;
}

/* true: try again. */
static bool after_reply(inline_run *run)
{
    switch (hf__retry_judge(run->request, run->doubtful)) {
    case HF__VERDICT_LOAD:
        run->whole = true;
        return run->waits++ == 0 || back_off(run, run->waits);
    case HF__VERDICT_BACK_OFF:
        return back_off(run, run->waits++);
    case HF__VERDICT_DROP:
        hf__conn_close(&run->slot->conn);
        return false;
    case HF__VERDICT_ANSWER:
        break;
    }
    return false;
}

/* One try. true: try again. */
static bool try_once(inline_run *run)
{
    hf_error err = HF_ERROR_INIT;
    int64_t now_ms = hf__clock_boot_ms();
    hf__conn_result result;

    if (make_ready(run, now_ms, &err) != HF_OK)
        return after_no_connection(run, &err);
    result =
        hf__conn_exchange(&run->slot->conn, run->request, run->whole, &err);
    switch (result) {
    case HF__CONN_OK:
        return after_reply(run);
    case HF__CONN_UNSENT:
        if (run->losses++ < HF__RETRY_LOSSES_MAX &&
            hf__clock_boot_ms() < run->request->deadline_ms)
            return true;
        break;
    case HF__CONN_LOST:
        return after_loss(run, &err);
    case HF__CONN_LATE:
    case HF__CONN_BROKEN:
        run->doubtful = true;
        break;
    case HF__CONN_NO_MEMORY:
        hf__fail(&err, HF_NO_MEMORY, "out of memory");
        break;
    }
    fail(run, &err);
    return false;
}

bool hf__inline_perform(hf__inline *inlines, hf__request *request)
{
    inline_run run = {.request = request};

    run.slot = take_slot(inlines);
    if (run.slot == NULL)
        return false;
    while (try_once(&run))
        continue;
    atomic_store_explicit(&run.slot->busy, false, memory_order_release);
    return true;
}
