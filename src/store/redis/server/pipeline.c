/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipeline.c - the shared connection as other threads see it: entering
 * requests, sleeping until they are complete, closing.
 *
 * Any thread creates entries. While the connection is idle it sends them itself
 * (pipeline_direct.c); otherwise it appends them to inbound and posts the task
 * unless it is posted, and the loop thread takes the whole list. pipeline_io.c
 * does the rest. Entries redirected from another server arrive by inbound.
 *
 * Locks: `mutex` guards inbound and posted, for moments.
 */
#include "store/redis/server/pipeline.h"

#include <assert.h>
#include <sched.h>
#include <string.h>

#include "store/redis/server/conn_log.h"
#include "store/redis/server/pipeline_internal.h"
#include "store/redis/server/retry.h"
#include "util/clock.h"
#include "util/container.h"
#include "util/error.h"
#include "util/futex.h"
#include "util/mem.h"

/* Incomplete requests; 64 Ki entries take 12 MiB. */
#define DEPTH_MAX 65536

static const hf__conn_purpose for_requests = {"requests", ""};

static void take_inbound(hf__pipeline *pipe)
{
    hf__pipeline_list taken = {NULL, NULL, 0};
    hf__pipeline_entry *entry;

    hf__wait_group_next(&pipe->context->wait_groups);
    pthread_mutex_lock(&pipe->mutex);
    hf__pipeline_list_move(&taken, &pipe->inbound);
    pipe->posted = false;
    pthread_mutex_unlock(&pipe->mutex);
    hf__pipeline_note_crowd(pipe, taken.count);
    while ((entry = hf__pipeline_list_take(&taken)) != NULL)
        hf__pipeline_accept(pipe, entry);
}

/* What a reader could not complete; a failure is read again. */
static void read_rest(hf__pipeline *pipe)
{
    hf__async_conn *conn = &pipe->conn;
    bool reads = pipe->loop_reads;

    pipe->loop_reads = false;
    if (reads && conn->state == HF__ASYNC_UP &&
        (pipe->broken || hf__buf_size(&conn->in) > 0))
        conn->ops->input(conn);
}

static void run_task(hf__task *task)
{
    hf__pipeline *pipe = hf__container_of(task, hf__pipeline, task);

    hf__pipeline_begin(pipe);
    /* While the server is busy, let callers that are about to enter do so: one
     * write serves them all. Costs nothing if there are none. */
    if (pipe->wait_batch != NULL)
        hf__wait_batch_gather(pipe);
    else if (pipe->in_flight.count > 0)
        sched_yield();
    take_inbound(pipe);
    read_rest(pipe);
    if (pipe->conn.state == HF__ASYNC_CLOSED)
        hf__pipeline_fail_all(pipe);
    /* What a caller could not send. */
    if (hf__outgoing_size(&pipe->conn.out) > 0)
        hf__async_conn_flush(&pipe->conn);
    hf__async_conn_update(&pipe->conn);
    hf__pipeline_end_callback(pipe);
    hf__pipeline_end(pipe);
}

static hf__pipeline_entry *refuse_entry(hf__request *request,
                                        const hf__attempts *attempts,
                                        hf_status status, const char *why)
{
    hf_error err = HF_ERROR_INIT;

    hf__fail(&err, status, "%s", why);
    hf__retry_fail(request, attempts->doubtful, &err);
    return NULL;
}

/* NULL: refused, and the request's outcome is set. */
static hf__pipeline_entry *make_entry(hf__pipeline *pipe, hf__request *request,
                                      const hf__attempts *attempts)
{
    hf__pipeline_entry *entry;

    if (request->lane == HF__LANE_USER && hf__pipeline_depth(pipe) >= DEPTH_MAX)
        return refuse_entry(request, attempts, HF_UNAVAILABLE,
                            "the queue is full");
    entry = hf__calloc(1, sizeof(*entry));
    if (entry == NULL)
        return refuse_entry(request, attempts, HF_NO_MEMORY, "out of memory");
    entry->request = request;
    entry->attempts = *attempts;
    entry->pipeline = pipe;
    request->driver = entry;
    entry->place = HF__ENTRY_QUEUED;
    entry->time_ms = request->deadline_ms - request->began_ms;
    hf__heap_node_init(&entry->due);
    hf__heap_node_init(&entry->again);
    atomic_fetch_add_explicit(&pipe->depth, 1, memory_order_relaxed);
    return entry;
}

static bool start_loop(hf__pipeline *pipe, hf__request *request,
                       const hf__attempts *attempts)
{
    hf_error err = HF_ERROR_INIT;

    if (hf__loop_started(pipe->context->loop) ||
        hf__loop_start(pipe->context->loop, &err) == HF_OK)
        return true;
    hf__retry_fail(request, attempts->doubtful, &err);
    return false;
}

static void refuse_request(hf__pipeline *pipe, hf__request *request)
{
    hf__unblock_left(pipe);
    request->on_done(request);
}

void hf__pipeline_submit(hf__pipeline *pipe, hf__request *const *requests,
                         size_t count)
{
    static const hf__attempts none;
    hf__pipeline_list entries = {NULL, NULL, 0};
    hf__pipeline_entry *entry;
    size_t at;

    for (at = 0; at < count; at++) {
        entry = NULL;
        if (start_loop(pipe, requests[at], &none))
            entry = make_entry(pipe, requests[at], &none);
        if (entry != NULL)
            hf__pipeline_list_append(&entries, entry);
        else
            refuse_request(pipe, requests[at]);
    }
    if (!hf__pipeline_send(pipe, &entries))
        hf__pipeline_enter(pipe, &entries);
}

void hf__pipeline_perform(hf__pipeline *pipe, hf__request *request,
                          const hf__attempts *attempts)
{
    hf__wait_groups *groups = &pipe->context->wait_groups;
    hf__pipeline_list entries = {NULL, NULL, 0};
    uint32_t parked = 0;
    unsigned group;
    hf__pipeline_entry *entry;

    if (hf__loop_here(pipe->context->loop)) { /* it would never end */
        (void)refuse_entry(request, attempts, HF_UNAVAILABLE,
                           "a blocking call was made in on_lost");
        return;
    }
    entry = start_loop(pipe, request, attempts)
                ? make_entry(pipe, request, attempts)
                : NULL;
    if (entry == NULL)
        return;
    group = hf__wait_group_enter(groups);
    entry->parked = &parked;
    entry->group = group;
    hf__pipeline_list_append(&entries, entry);
    if (!hf__pipeline_send(pipe, &entries))
        hf__pipeline_enter(pipe, &entries);
    hf__wait_group_sleep(groups, group, &parked);
}

static void expire_soon(hf__pipeline *pipe, hf__pipeline_entry *entry)
{
    hf__request *request = entry->request;

    request->deadline_ms = hf__clock_boot_ms();
    /* One still in inbound expires when it is taken. Nothing completes here, as
     * the caller may be an on_done within a list. */
    if (entry->due.index != HF__HEAP_NONE)
        hf__heap_put(&pipe->due, &entry->due, request->deadline_ms);
}

void hf__pipeline_cancel(hf__request *request)
{
    hf__pipeline_entry *entry = request->driver;
    hf__pipeline *pipe;

    /* It has completed, but its owner has not processed that yet. */
    if (entry == NULL)
        return;
    pipe = entry->pipeline;
    hf__pipeline_begin(pipe);
    if (pipe->unblock != NULL)
        hf__unblock_cancel(pipe, entry);
    if (pipe->unblock == NULL || entry->place != HF__ENTRY_WRITTEN)
        expire_soon(pipe, entry);
    hf__pipeline_wake(pipe);
    hf__pipeline_end(pipe);
}

/* -------------------------------------------------------------- life, end */

void hf__pipeline_init(hf__pipeline *pipe, hf__redis_node *node)
{
    memset(pipe, 0, sizeof(*pipe));
    hf__async_conn_init(&pipe->conn, &hf__pipeline_conn_ops, node,
                        HF__RESP_REQUEST_MAX);
    pipe->conn.purpose = &for_requests;
    pipe->context = node->context;
    pthread_mutex_init(&pipe->mutex, NULL);
    pthread_mutex_init(&pipe->reading, NULL);
    pipe->task.run = run_task;
    hf__heap_init(&pipe->due);
    hf__heap_init(&pipe->again);
}

void hf__pipeline_retire(hf__pipeline *pipe)
{
    atomic_store(&pipe->retired, true);
    hf__pipeline_wake(pipe);
}

static void on_link_closed(hf__async_conn *conn)
{
    hf__probe_close((hf__pipeline *)(void *)conn);
}

/* Requests in flight do not wait for their replies. */
void hf__pipeline_close_here(hf__pipeline *pipe,
                             void (*closed)(hf__pipeline *pipe))
{
    hf__pipeline_begin(pipe); /* for good */
    pipe->closed = closed;
    take_inbound(pipe);
    hf__probe_end(pipe);
    pipe->conn.purpose = NULL; /* its end is no loss */
    hf__fail(&pipe->conn.error, HF_UNAVAILABLE, "the client was closed");
    hf__async_conn_drop(&pipe->conn);
    hf__pipeline_fail_all(pipe);
    hf__async_conn_close(&pipe->conn, on_link_closed);
}

static void on_closed(hf__pipeline *pipe)
{
    __atomic_store_n(&pipe->is_closed, 1, __ATOMIC_RELEASE);
    hf__futex_wake_all(&pipe->is_closed, false);
}

static void run_close(hf__task *task)
{
    hf__pipeline_close_here(hf__container_of(task, hf__pipeline, close_task),
                            on_closed);
}

void hf__pipeline_close(hf__pipeline *pipe)
{
    if (!hf__loop_started(pipe->context->loop))
        return;
    pipe->close_task.run = run_close;
    hf__loop_post(pipe->context->loop, &pipe->close_task);
    while (__atomic_load_n(&pipe->is_closed, __ATOMIC_ACQUIRE) == 0)
        hf__futex_wait(&pipe->is_closed, 0, INT64_MAX, false);
    /* If an on_done has submitted more, that task runs before this one. */
    hf__loop_call(pipe->context->loop, NULL);
}

void hf__pipeline_done(hf__pipeline *pipe)
{
    assert(hf__pipeline_depth(pipe) == 0);
    pthread_mutex_destroy(&pipe->mutex);
    pthread_mutex_destroy(&pipe->reading);
    hf__heap_done(&pipe->due);
    hf__heap_done(&pipe->again);
    hf__async_conn_done(&pipe->conn);
}

void hf__pipeline_close_forked(hf__pipeline *pipe)
{
    hf__async_conn_close_forked(&pipe->conn);
    hf__probe_close_forked(pipe);
}
