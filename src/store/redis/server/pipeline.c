/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipeline.c - the shared connection as other threads see it: entering
 * requests, sleeping until they are complete, closing.
 *
 * Any thread makes entries and appends them to inbound, and posts the task
 * unless it is on its way already; the loop thread takes inbound whole. What
 * happens then is in pipeline_io.c. An entry that another server sent on comes
 * in by the same door.
 *
 * Locks: `mutex` guards inbound and posted, for moments.
 */
#include "store/redis/server/pipeline.h"

#include <assert.h>
#include <sched.h>
#include <string.h>

#include "store/redis/server/pipeline_internal.h"
#include "store/redis/server/retry.h"
#include "util/clock.h"
#include "util/container.h"
#include "util/error.h"
#include "util/futex.h"
#include "util/mem.h"

/* All that is not complete; 64 Ki entries take 12 MiB. */
#define DEPTH_MAX 65536

/* The mean moves by an eighth of each batch. */
static void note_crowd(hf__mux *mux, size_t taken)
{
    size_t crowd = atomic_load_explicit(&mux->crowd, memory_order_relaxed);

    atomic_store_explicit(&mux->crowd, crowd - crowd / 8 + taken * 16 / 8,
                          memory_order_relaxed);
}

static void take_inbound(hf__mux *mux)
{
    hf__entry_list taken = {NULL, NULL, 0};
    hf__entry *entry;

    hf__parking_next(&mux->fleet->parking);
    pthread_mutex_lock(&mux->mutex);
    hf__entry_move(&taken, &mux->inbound);
    mux->posted = false;
    pthread_mutex_unlock(&mux->mutex);
    note_crowd(mux, taken.count);
    while ((entry = hf__entry_take(&taken)) != NULL)
        hf__flight_accept(mux, entry);
}

static void run_task(hf__task *task)
{
    hf__mux *mux = hf__container_of(task, hf__mux, task);

    /* While the server is busy with others anyway, let callers who are about
     * to enter do so: one write then serves them all. Free if there are none.
     */
    if (mux->turn != NULL)
        hf__turn_gather(mux);
    else if (mux->in_flight.count > 0)
        sched_yield();
    take_inbound(mux);
    if (mux->link.state == HF__LINK_CLOSED)
        hf__flight_fail_all(mux);
    hf__link_update(&mux->link);
    hf__flight_settle(mux);
}

/* NULL: refused, and the request's outcome is set. */
static hf__entry *make_entry(hf__mux *mux, hf__request *request)
{
    hf__entry *entry;

    if (request->lane == HF__LANE_USER && hf__mux_depth(mux) >= DEPTH_MAX) {
        hf__request_fail(request, HF_UNAVAILABLE, "the queue is full");
        return NULL;
    }
    entry = hf__calloc(1, sizeof(*entry));
    if (entry == NULL) {
        hf__request_fail(request, HF_NO_MEMORY, "out of memory");
        return NULL;
    }
    entry->request = request;
    entry->mux = mux;
    request->driver = entry;
    entry->place = HF__ENTRY_QUEUED;
    hf__heap_node_init(&entry->due);
    hf__heap_node_init(&entry->again);
    atomic_fetch_add_explicit(&mux->depth, 1, memory_order_relaxed);
    return entry;
}

static bool start_loop(hf__mux *mux, hf__request *request)
{
    hf_error err = HF_ERROR_INIT;

    if (hf__loop_started(mux->fleet->loop) ||
        hf__loop_start(mux->fleet->loop, &err) == HF_OK)
        return true;
    hf__retry_fail(request, false, &err);
    return false;
}

void hf__mux_submit(hf__mux *mux, hf__request *const *requests, size_t count)
{
    hf__entry_list entries = {NULL, NULL, 0};
    hf__entry *entry;
    size_t at;

    for (at = 0; at < count; at++) {
        entry = NULL;
        if (start_loop(mux, requests[at]))
            entry = make_entry(mux, requests[at]);
        if (entry != NULL)
            hf__entry_append(&entries, entry);
        else
            requests[at]->on_done(requests[at]);
    }
    hf__mux_enter(mux, &entries);
}

void hf__mux_perform(hf__mux *mux, hf__request *request,
                     const hf__attempts *attempts)
{
    hf__parking *parking = &mux->fleet->parking;
    hf__entry_list entries = {NULL, NULL, 0};
    uint32_t parked = 0;
    unsigned group;
    hf__entry *entry;

    if (hf__loop_here(mux->fleet->loop)) { /* it would never end */
        hf__request_fail(request, HF_UNAVAILABLE,
                         "a call that waits was made by on_lost");
        return;
    }
    entry = start_loop(mux, request) ? make_entry(mux, request) : NULL;
    if (entry == NULL)
        return;
    group = hf__parking_enter(parking);
    entry->attempts = *attempts;
    entry->parked = &parked;
    entry->group = group;
    hf__entry_append(&entries, entry);
    hf__mux_enter(mux, &entries);
    hf__parking_sleep(parking, group, &parked);
}

void hf__mux_cancel(hf__request *request)
{
    hf__entry *entry = request->driver;
    hf__mux *mux;

    /* It has completed, and who was told has not drawn its conclusions. */
    if (entry == NULL)
        return;
    mux = entry->mux;
    request->deadline_ms = hf__clock_boot_ms();
    /* One that was not taken yet is expired when it is. Neither happens here,
     * as the caller may be an on_done in the middle of a list. */
    if (entry->due.index != HF__HEAP_NONE)
        hf__heap_put(&mux->due, &entry->due, request->deadline_ms);
    hf__mux_poke(mux);
}

/* -------------------------------------------------------------- life, end */

void hf__mux_init(hf__mux *mux, hf__redis_node *node)
{
    memset(mux, 0, sizeof(*mux));
    hf__link_init(&mux->link, &hf__flight_link_ops, node, HF__RESP_REQUEST_MAX);
    mux->fleet = node->fleet;
    pthread_mutex_init(&mux->mutex, NULL);
    mux->task.run = run_task;
    hf__heap_init(&mux->due);
    hf__heap_init(&mux->again);
}

void hf__mux_retire(hf__mux *mux)
{
    atomic_store(&mux->retired, true);
    hf__mux_poke(mux);
}

static void on_link_closed(hf__link *link)
{
    hf__probe_close((hf__mux *)(void *)link);
}

/* What is in flight does not wait for its answer. */
void hf__mux_close_here(hf__mux *mux, void (*closed)(hf__mux *mux))
{
    mux->closed = closed;
    take_inbound(mux);
    hf__probe_end(mux);
    hf__fail(&mux->link.error, HF_UNAVAILABLE, "the client was closed");
    hf__link_drop(&mux->link);
    hf__flight_fail_all(mux);
    hf__link_close(&mux->link, on_link_closed);
}

static void on_closed(hf__mux *mux)
{
    __atomic_store_n(&mux->is_closed, 1, __ATOMIC_RELEASE);
    hf__futex_wake_all(&mux->is_closed, false);
}

static void run_close(hf__task *task)
{
    hf__mux_close_here(hf__container_of(task, hf__mux, close_task), on_closed);
}

static void run_nothing(hf__task *task)
{
    (void)task;
}

void hf__mux_close(hf__mux *mux)
{
    hf__task last = {.run = run_nothing};

    if (!hf__loop_started(mux->fleet->loop))
        return;
    mux->close_task.run = run_close;
    hf__loop_post(mux->fleet->loop, &mux->close_task);
    while (__atomic_load_n(&mux->is_closed, __ATOMIC_ACQUIRE) == 0)
        hf__futex_wait(&mux->is_closed, 0, INT64_MAX, false);
    /* Should an on_done have submitted more, its task runs before this. */
    hf__loop_call(mux->fleet->loop, &last);
}

void hf__mux_done(hf__mux *mux)
{
    assert(hf__mux_depth(mux) == 0);
    pthread_mutex_destroy(&mux->mutex);
    hf__heap_done(&mux->due);
    hf__heap_done(&mux->again);
    hf__link_done(&mux->link);
}

void hf__mux_abandon(hf__mux *mux)
{
    hf__link_abandon(&mux->link);
    hf__probe_abandon(mux);
}
