/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mux.c - the shared connection as other threads see it: entering requests,
 * sleeping until they are complete, closing.
 *
 * Any thread makes entries and appends them to inbound, and posts the task
 * unless it is on its way already; the loop thread takes inbound whole. What
 * happens then is in flight.c.
 *
 * A caller that waits sleeps on the word of its entry's group. Entries that
 * come in at about the same time share a group, as their answers are likely to
 * be read together: one wake-up serves them all.
 *
 * Locks: `mutex` guards inbound and posted, for moments.
 */
#include "store/redis/mux.h"

#include <assert.h>
#include <sched.h>
#include <string.h>

#include "store/redis/flight.h"
#include "store/redis/retry.h"
#include "util/error.h"
#include "util/futex.h"
#include "util/mem.h"

/* All that is not complete; 64 Ki entries take 12 MiB. */
#define DEPTH_MAX 65536

/* clang-format off */
#define OF_TASK(pointer, member)                                               \
    ((hf__mux *)(void *)((char *)(pointer) - offsetof(hf__mux, member)))
/* clang-format on */

static void take_inbound(hf__mux *mux)
{
    hf__entry_list taken = {NULL, NULL, 0};
    hf__entry *entry;

    atomic_fetch_add_explicit(&mux->batch, 1, memory_order_relaxed);
    pthread_mutex_lock(&mux->mutex);
    hf__entry_move(&taken, &mux->inbound);
    mux->posted = false;
    pthread_mutex_unlock(&mux->mutex);
    while ((entry = hf__entry_take(&taken)) != NULL)
        hf__flight_accept(mux, entry);
}

static void run_task(hf__task *task)
{
    hf__mux *mux = OF_TASK(task, task);

    /* While the server is busy with others anyway, let callers who are about
     * to enter do so: one write then serves them all. Free if there are none.
     */
    if (mux->in_flight.count > 0)
        sched_yield();
    take_inbound(mux);
    if (mux->link.state == HF__LINK_CLOSED)
        hf__flight_fail_all(mux);
    hf__link_update(&mux->link);
    hf__flight_wake(mux);
}

/* Put entries into inbound and see to it that they are taken. */
static void enter(hf__mux *mux, hf__entry_list *entries)
{
    bool post;

    if (entries->count == 0)
        return;
    pthread_mutex_lock(&mux->mutex);
    hf__entry_move(&mux->inbound, entries);
    post = !mux->posted;
    mux->posted = true;
    pthread_mutex_unlock(&mux->mutex);
    if (post)
        hf__loop_post(mux->loop, &mux->task);
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
    entry->place = HF__ENTRY_QUEUED;
    hf__heap_node_init(&entry->due);
    hf__heap_node_init(&entry->again);
    atomic_fetch_add_explicit(&mux->depth, 1, memory_order_relaxed);
    return entry;
}

static bool start_loop(hf__mux *mux, hf__request *request)
{
    hf_error err = HF_ERROR_INIT;

    if (hf__loop_started(mux->loop) || hf__loop_start(mux->loop, &err) == HF_OK)
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
    enter(mux, &entries);
}

void hf__mux_perform(hf__mux *mux, hf__request *request)
{
    hf__entry_list entries = {NULL, NULL, 0};
    uint32_t parked = 0;
    hf__mux_group *group;
    hf__entry *entry;
    uint32_t turn;

    if (hf__loop_here(mux->loop)) { /* on_lost must not; it would never end */
        hf__request_fail(request, HF_UNAVAILABLE,
                         "a call that waits was made by on_lost");
        return;
    }
    entry = start_loop(mux, request) ? make_entry(mux, request) : NULL;
    if (entry == NULL)
        return;
    entry->parked = &parked;
    entry->group = atomic_load_explicit(&mux->batch, memory_order_relaxed) %
                   HF__MUX_GROUPS;
    group = &mux->groups[entry->group];
    hf__entry_append(&entries, entry);
    __atomic_add_fetch(&group->sleepers, 1, __ATOMIC_SEQ_CST);
    enter(mux, &entries);
    for (;;) {
        turn = __atomic_load_n(&group->turn, __ATOMIC_SEQ_CST);
        if (__atomic_load_n(&parked, __ATOMIC_ACQUIRE) != 0)
            break;
        hf__futex_wait(&group->turn, turn, INT64_MAX, false);
    }
    __atomic_sub_fetch(&group->sleepers, 1, __ATOMIC_SEQ_CST);
}

/* -------------------------------------------------------------- life, end */

void hf__mux_init(hf__mux *mux, const hf__redis_node *node)
{
    memset(mux, 0, sizeof(*mux));
    hf__link_init(&mux->link, &hf__flight_link_ops, node, HF__RESP_REQUEST_MAX);
    mux->loop = node->loop;
    pthread_mutex_init(&mux->mutex, NULL);
    mux->task.run = run_task;
    hf__heap_init(&mux->due);
    hf__heap_init(&mux->again);
}

static void on_closed(hf__link *link)
{
    hf__mux *mux = (hf__mux *)(void *)link;

    __atomic_store_n(&mux->is_closed, 1, __ATOMIC_RELEASE);
    hf__futex_wake_all(&mux->is_closed, false);
}

/* What is in flight does not wait for its answer. */
static void run_close(hf__task *task)
{
    hf__mux *mux = OF_TASK(task, close_task);

    take_inbound(mux);
    hf__fail(&mux->link.error, HF_UNAVAILABLE, "the client was closed");
    hf__link_drop(&mux->link);
    hf__flight_fail_all(mux);
    hf__link_close(&mux->link, on_closed);
}

static void run_nothing(hf__task *task)
{
    (void)task;
}

void hf__mux_close(hf__mux *mux)
{
    hf__task last = {.run = run_nothing};

    if (hf__loop_started(mux->loop)) {
        mux->close_task.run = run_close;
        hf__loop_post(mux->loop, &mux->close_task);
        while (__atomic_load_n(&mux->is_closed, __ATOMIC_ACQUIRE) == 0)
            hf__futex_wait(&mux->is_closed, 0, INT64_MAX, false);
        /* Should an on_done have submitted more, its task runs before this. */
        hf__loop_call(mux->loop, &last);
    }
    assert(hf__mux_depth(mux) == 0);
    pthread_mutex_destroy(&mux->mutex);
    hf__heap_done(&mux->due);
    hf__heap_done(&mux->again);
    hf__link_done(&mux->link);
}

void hf__mux_abandon(hf__mux *mux)
{
    hf__link_abandon(&mux->link);
}
