/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unblock.c - ending the wait of a command at the server.
 *
 *  1. When the wait is cancelled, or the server is late to end it, CLIENT
 *     UNBLOCK is sent on the pipeline of the same server. The reply to the
 *     command decides what has happened: nil, or the element that came before.
 *  2. If the server knows of no wait then, the command has not arrived yet, or
 *     its reply is on its way: ask again after a moment.
 *  3. If it may not be asked, or nothing comes, the connection is dropped, and
 *     the outcome is unknown.
 *
 * UNBLOCK names a connection by a number, which may be that of another program
 * at another server. So it is not sent, or not any more, once the pipeline's
 * connection has broken: the next one may be to the server that took over.
 *
 * The connection is taken again only when both have been answered: an UNBLOCK
 * that is late would end the next wait.
 */
#include "store/redis/server/unblock.h"

#include "util/clock.h"
#include "util/container.h"
#include "util/digits.h"
#include "util/order.h"

#define AGAIN_MS 20

static const hf__shape unblock_answer = HF__SHAPE_INTEGER(0, 1);

static hf__pipeline_entry *find_entry(hf__pipeline *pipe)
{
    hf__heap_node *node = hf__heap_first(&pipe->due);

    return node == NULL ? NULL
                        : hf__container_of(node, hf__pipeline_entry, due);
}

static void put_due(hf__pipeline *pipe, int64_t at_ms)
{
    hf__pipeline_entry *entry = find_entry(pipe);

    if (entry != NULL && entry->place == HF__ENTRY_WRITTEN)
        hf__heap_put(&pipe->due, &entry->due, at_ms);
}

static void unblock_done(hf__request *request)
{
    hf__pipeline *pipe = request->user;
    hf__unblock *self = pipe->unblock;
    bool unknown = request->status != HF_OK;
    bool ended = !unknown && request->reply.integer == 1;
    int64_t now_ms = hf__clock_boot_ms();

    hf__request_done(request);
    hf__pipeline_begin(pipe);
    self->under_way = false;
    if (unknown)
        self->give_up_ms = now_ms;
    if (hf__pipeline_depth(pipe) == 0 && unknown)
        hf__unblock_drop(pipe, "a wait may still be ended");
    put_due(pipe, ended ? self->give_up_ms
                        : hf__at_most(self->give_up_ms, now_ms + AGAIN_MS));
    hf__unblock_left(pipe);
    hf__pipeline_wake(pipe);
    hf__pipeline_end(pipe);
}

static void send_unblock(hf__pipeline *pipe, int64_t now_ms)
{
    hf__unblock *self = pipe->unblock;
    hf__redis_node *node = pipe->conn.node;
    hf__request *request = &self->request;

    if (pipe->conn.login.id <= 0 ||
        pipe->conn.epoch != hf__redis_node_epoch(node) ||
        self->losses != hf__unblock_losses(pipe)) {
        self->give_up_ms = now_ms;
        return;
    }
    (void)hf__decimal_put(self->id, pipe->conn.login.id);
    self->words[0] = hf_str("CLIENT");
    self->words[1] = hf_str("UNBLOCK");
    self->words[2] = hf_str(self->id);
    self->words[3] = hf_str("TIMEOUT");
    hf__request_command(request, self->words, 4, false);
    request->answer = &unblock_answer;
    request->began_ms = now_ms;
    request->deadline_ms = self->give_up_ms;
    request->part = UINT32_MAX; /* of no other server */
    request->on_done = unblock_done;
    request->user = pipe;
    self->under_way = true;
    hf__pipeline_submit(node->pipeline(node, 0), &request, 1);
}

void hf__unblock_due(hf__pipeline *pipe, hf__pipeline_entry *entry)
{
    hf__unblock *self = pipe->unblock;
    int64_t now_ms = hf__clock_boot_ms();

    if (!self->asked) {
        self->asked = true;
        self->give_up_ms = hf__clock_after(now_ms, entry->time_ms);
    }
    if (!self->under_way && now_ms < self->give_up_ms)
        send_unblock(pipe, now_ms);
    if (now_ms >= self->give_up_ms)
        hf__unblock_drop(pipe, "the wait could not be ended");
    else if (self->under_way)
        put_due(pipe, self->give_up_ms);
}

void hf__unblock_lost(hf__pipeline *pipe)
{
    if (pipe->unblock == NULL)
        return;
    if (pipe->unblock->under_way)
        hf__pipeline_cancel(&pipe->unblock->request);
    hf__pipeline_begin(pipe);
    if (pipe->conn.state == HF__ASYNC_UP && pipe->in_flight.count == 0) {
        hf__unblock_drop(pipe, "the server may have been replaced");
        hf__pipeline_wake(pipe);
    }
    hf__pipeline_end(pipe);
}

void hf__unblock_end_all(hf__pipeline *pipe)
{
    hf__pipeline_entry *entry = find_entry(pipe);

    if (pipe->unblock != NULL && entry != NULL)
        hf__pipeline_cancel(entry->request);
}
