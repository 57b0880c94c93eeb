/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipeline_unblock.c - a connection for one command that waits for an element:
 * when its wait should end, and what the reply means then. unblock.c ends it.
 *
 * While it waits the server sends nothing: silence is no reason to leave the
 * connection. A dead peer is found by TCP's own probes.
 *
 * One that is refused after it has waited, at a failover or because the slot
 * has moved, waits at the other server. But XREAD with `$` would begin there
 * with what is added from then on, and miss what came in between: it ends.
 */
#include "store/redis/server/pipeline_internal.h"

#include <string.h>

#include "store/known_commands.h"
#include "util/clock.h"
#include "util/error.h"

/* How much later than the command says its wait is ended from here. */
#define LATE_MS 500
/* A refusal after that was of a command that had waited. */
#define WAITED_MS 1000
/* The same where what it would miss matters more than that it ends. */
#define MISSED_MS 100
/* An unused connection is closed. */
#define IDLE_MS 10000

/* ------------------------------------------------------------------- taken */

void hf__unblock_left(hf__pipeline *pipe)
{
    hf__unblock *self = pipe->unblock;

    if (self == NULL || hf__pipeline_depth(pipe) > 0 || self->under_way)
        return;
    self->asked = self->cancelled = self->missed = false;
    self->left(pipe);
}

bool hf__unblock_is_cancelled(const hf__pipeline *pipe)
{
    return pipe->unblock != NULL && pipe->unblock->cancelled;
}

bool hf__unblock_is_last(const hf__pipeline *pipe)
{
    return pipe->unblock != NULL &&
           (pipe->unblock->cancelled || pipe->unblock->missed);
}

void hf__unblock_judge(const hf__pipeline *pipe, hf__request *request)
{
    if (pipe->unblock != NULL && pipe->unblock->missed &&
        request->status != HF_OK)
        hf__request_fail(request, HF_UNAVAILABLE,
                         "%s ended the wait; sent again, the command would "
                         "miss what was added since",
                         pipe->conn.peer);
    if (!hf__unblock_is_cancelled(pipe) ||
        (request->status != HF_UNAVAILABLE &&
         (request->status != HF_OK || request->reply.kind != HF_REPLY_NIL)))
        return;
    hf__request_fail(request, HF_CANCELLED, "cancelled");
}

/* ----------------------------------------------------------------- instants */

static int64_t until_ms(const hf__request *request)
{
    return hf__clock_after(hf__clock_after(request->began_ms, request->wait_ms),
                           LATE_MS);
}

unsigned hf__unblock_losses(hf__pipeline *pipe)
{
    hf__redis_node *node = pipe->conn.node;

    return atomic_load(&node->pipeline(node, 0)->losses);
}

void hf__unblock_written(hf__pipeline *pipe, hf__pipeline_entry *entry)
{
    hf__unblock *self = pipe->unblock;
    int64_t at_ms = until_ms(entry->request);

    self->losses = hf__unblock_losses(pipe);
    self->written_ms = hf__clock_boot_ms();
    hf__heap_put(&pipe->due, &entry->due,
                 self->asked ? self->written_ms : at_ms);
}

void hf__unblock_unsent(hf__pipeline *pipe, hf__pipeline_entry *entry)
{
    hf__unblock *self = pipe->unblock;

    self->asked = false;
    hf__heap_put(&pipe->due, &entry->due,
                 self->cancelled ? hf__clock_boot_ms()
                                 : entry->request->deadline_ms);
}

/* Has it waited, and was refused then? One that the server unblocks has. */
static bool has_missed(const hf__request *request, int64_t waited_ms)
{
    static const char unblocked[] = "UNBLOCKED ";
    const hf_reply *reply = &request->reply;

    if (reply->kind != HF_REPLY_ERROR ||
        !hf__known_reads_new(hf__known_find(request->words[0]), request->words,
                             request->word_count))
        return false;
    return waited_ms > MISSED_MS ||
           (reply->bytes.size > strlen(unblocked) &&
            memcmp(reply->bytes.data, unblocked, strlen(unblocked)) == 0);
}

/* One that is refused now, after it has waited, has as long as a new one. */
void hf__unblock_answered(hf__pipeline *pipe, hf__pipeline_entry *entry)
{
    hf__request *request = entry->request;
    int64_t now_ms = hf__clock_boot_ms();
    int64_t waited_ms = now_ms - pipe->unblock->written_ms;

    pipe->unblock->missed = has_missed(request, waited_ms);
    if (waited_ms > WAITED_MS)
        request->deadline_ms = hf__clock_after(now_ms, entry->time_ms);
    hf__heap_put(&pipe->due, &entry->due, request->deadline_ms);
}

int64_t hf__unblock_tick(hf__pipeline *pipe, int64_t now_ms)
{
    hf__async_conn *conn = &pipe->conn;
    int64_t at_ms = conn->alive_ms + IDLE_MS;

    if (conn->state != HF__ASYNC_UP || hf__pipeline_depth(pipe) > 0)
        return INT64_MAX;
    if (now_ms < at_ms)
        return at_ms;
    hf__fail(&conn->error, HF_UNAVAILABLE, "%s was not used", conn->peer);
    hf__async_conn_drop(conn);
    return INT64_MAX;
}

/* -------------------------------------------------------------------- ends */

void hf__unblock_cancel(hf__pipeline *pipe, hf__pipeline_entry *entry)
{
    pipe->unblock->cancelled = true;
    if (entry->place == HF__ENTRY_WRITTEN && !pipe->unblock->asked)
        hf__heap_put(&pipe->due, &entry->due, hf__clock_boot_ms());
}

void hf__unblock_drop(hf__pipeline *pipe, const char *why)
{
    hf__fail(&pipe->conn.error, HF_UNAVAILABLE, "%s: %s", pipe->conn.peer, why);
    hf__async_conn_drop(&pipe->conn);
}

void hf__unblock_retired(hf__pipeline *pipe)
{
    if (pipe->unblock != NULL && pipe->in_flight.count > 0)
        hf__unblock_drop(pipe, "the server is no longer part of the store");
}
