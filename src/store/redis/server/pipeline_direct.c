/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipeline_direct.c - a caller sends its requests itself while the shared
 * connection is idle, which saves waking the loop thread for it.
 *
 * It takes the pipeline (pipeline_owner.c), formats, sends once without
 * waiting, and returns it. The reply is read by the loop thread, or by a thread
 * that waits for it (pipeline_reader.c). The task is posted if not all was
 * sent, or if the loop thread would not wake in time for the deadlines.
 *
 * A batch that needs more than one write is left to the loop thread, where
 * renewals come between the writes. What the loop thread submits itself waits
 * for its own turn. Sending completes nothing, so it calls no on_done.
 */
#include "store/redis/server/pipeline_internal.h"

#include "util/clock.h"
#include "util/order.h"

/* Do entries fit in one write? *size: bytes; *until_ms: the first deadline. */
static bool fits_write(const hf__pipeline_list *entries, size_t *size,
                       int64_t *until_ms)
{
    const hf__pipeline_entry *entry;
    size_t bound;

    *size = 0;
    *until_ms = INT64_MAX;
    for (entry = entries->first; entry != NULL; entry = entry->next) {
        bound = hf__resp_request_bound(entry->request);
        if (bound > HF__PIPELINE_BATCH_SIZE - *size || entry->attempts.asking)
            return false;
        *size += bound;
        *until_ms = hf__at_most(*until_ms, entry->request->deadline_ms);
    }
    return true;
}

/* Then nothing fails, so that no on_done is called here. */
static bool reserve_all(hf__pipeline *pipe, size_t count, size_t size)
{
    hf__outgoing *out = &pipe->conn.out;

    return hf__heap_reserve(&pipe->due, count) &&
           hf__heap_reserve(&pipe->again, count) &&
           hf__buf_reserve(&out->text, size) != NULL &&
           hf__outgoing_reserve(out, size / HF__OUTGOING_LOAN_MIN);
}

/* Is the connection as good as the loop thread would want it? It would read
 * that the server has closed it before it sends. */
static bool is_usable(hf__pipeline *pipe)
{
    hf__async_conn *conn = &pipe->conn;

    return conn->epoch == hf__redis_node_epoch(conn->node) &&
           !hf__redis_node_distrusts(conn->node, conn->alive_ms) &&
           !atomic_load_explicit(&pipe->retired, memory_order_acquire) &&
           !hf__channel_is_stale(&conn->channel);
}

static void send_entries(hf__pipeline *pipe, hf__pipeline_list *entries)
{
    hf__pipeline_entry *entry;

    hf__wait_group_next(&pipe->context->wait_groups);
    hf__pipeline_note_crowd(pipe, entries->count);
    while ((entry = hf__pipeline_list_take(entries)) != NULL)
        hf__pipeline_accept(pipe, entry);
    hf__pipeline_format(pipe, HF__PIPELINE_BATCH_SIZE);
    if (hf__outgoing_size(&pipe->conn.out) > 0)
        hf__async_conn_send(&pipe->conn);
}

bool hf__pipeline_send(hf__pipeline *pipe, hf__pipeline_list *entries)
{
    int64_t now_ms, until_ms;
    bool sends, late;
    size_t size;

    if (entries->count == 0 || hf__loop_here(pipe->context->loop) ||
        !hf__pipeline_take(pipe))
        return false;
    now_ms = hf__clock_boot_ms();
    sends = fits_write(entries, &size, &until_ms) && until_ms > now_ms &&
            is_usable(pipe) && reserve_all(pipe, entries->count, size);
    if (sends)
        send_entries(pipe, entries);
    late =
        sends && (hf__outgoing_size(&pipe->conn.out) > 0 ||
                  pipe->conn.timer_ms >
                      hf__at_most(until_ms, now_ms + HF__PIPELINE_SUSPECT_MS));
    hf__pipeline_give_back(pipe);
    if (late)
        hf__pipeline_wake(pipe);
    return sends;
}
