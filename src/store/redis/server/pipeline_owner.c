/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipeline_owner.c - who may touch the shared connection. All of a pipeline but
 * what its mutex guards belongs to its owner:
 *
 * 1. The loop thread owns it in each of its callbacks, from begin() to end(),
 *    and between them while anything is under way.
 * 2. end() makes it idle if the connection is up and nothing is under way.
 * 3. A caller takes it while it is idle, if no task is posted: what was entered
 *    before must be sent before.
 * 4. begin() waits for a caller, which never blocks while it is the owner.
 * 5. While one request is under way that may complete on any thread, and
 *    nothing else, it is open: a reader takes it (pipeline_reader.c), or the
 *    loop thread. Who leaves it in another state reclaims it from its
 *    reader.
 */
#include "store/redis/server/pipeline_internal.h"
#include "util/event_fd.h"
#include "util/futex.h"

enum {
    OWNER_LOOP,
    OWNER_IDLE,
    OWNER_OPEN,
    OWNER_CALLER,
    OWNER_CALLER_AWAITED /* the loop thread sleeps on the word */
};

static bool change_owner(hf__pipeline *pipe, uint32_t from, uint32_t to)
{
    return __atomic_compare_exchange_n(&pipe->owner, &from, to, false,
                                       __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE);
}

void hf__pipeline_begin(hf__pipeline *pipe)
{
    if (pipe->inside++ > 0)
        return;
    while (__atomic_load_n(&pipe->owner, __ATOMIC_ACQUIRE) != OWNER_LOOP) {
        if (change_owner(pipe, OWNER_IDLE, OWNER_LOOP) ||
            change_owner(pipe, OWNER_OPEN, OWNER_LOOP))
            return;
        (void)change_owner(pipe, OWNER_CALLER, OWNER_CALLER_AWAITED);
        hf__futex_wait(&pipe->owner, OWNER_CALLER_AWAITED, INT64_MAX, false);
    }
}

/* Nothing is to be written or parsed. */
static bool is_quiet(const hf__pipeline *pipe)
{
    const hf__async_conn *conn = &pipe->conn;

    return conn->state == HF__ASYNC_UP && pipe->wait_batch == NULL &&
           !pipe->leaving && hf__outgoing_size(&conn->out) == 0 &&
           hf__buf_size(&conn->in) == 0 && !conn->unread;
}

static bool is_idle(const hf__pipeline *pipe)
{
    return pipe->in_flight.count == 0 && pipe->due.count == 0 && is_quiet(pipe);
}

/* What is in a lane, or to be sent again, is in the heap `due`, too. */
static bool is_open(const hf__pipeline *pipe)
{
    const hf__pipeline_entry *entry = pipe->in_flight.first;

    return pipe->in_flight.count == 1 && pipe->due.count == 1 &&
           entry->request != NULL && entry->request->any_thread &&
           pipe->conn.channel.secure == NULL && !pipe->parsing &&
           !pipe->loop_reads && !hf__probe_is_on(pipe) && is_quiet(pipe);
}

void hf__pipeline_reclaim(hf__pipeline *pipe, bool wake)
{
    atomic_store(&pipe->lent, false);
    hf__async_conn_reclaim(&pipe->conn);
    if (!wake)
        return;
    /* In this order: a reader that lowers it too early returns early once. */
    hf__event_fd_raise(pipe->reader_fd);
    atomic_store(&pipe->woken, true);
}

static uint32_t next_owner(hf__pipeline *pipe)
{
    uint32_t next = is_idle(pipe)   ? OWNER_IDLE
                    : is_open(pipe) ? OWNER_OPEN
                                    : OWNER_LOOP;
    bool deserted = atomic_load(&pipe->deserted);

    if (atomic_load(&pipe->lent) && (deserted || next == OWNER_LOOP))
        hf__pipeline_reclaim(pipe, !deserted);
    return next;
}

void hf__pipeline_end(hf__pipeline *pipe)
{
    uint32_t next;

    if (--pipe->inside > 0)
        return;
    next = next_owner(pipe);
    if (next != OWNER_LOOP)
        __atomic_store_n(&pipe->owner, next, __ATOMIC_RELEASE);
}

bool hf__pipeline_take(hf__pipeline *pipe)
{
    bool taken;

    if (__atomic_load_n(&pipe->owner, __ATOMIC_RELAXED) != OWNER_IDLE)
        return false;
    pthread_mutex_lock(&pipe->mutex);
    taken = !pipe->posted && change_owner(pipe, OWNER_IDLE, OWNER_CALLER);
    pthread_mutex_unlock(&pipe->mutex);
    return taken;
}

bool hf__pipeline_take_open(hf__pipeline *pipe)
{
    return change_owner(pipe, OWNER_OPEN, OWNER_CALLER) ||
           (atomic_load(&pipe->lent) &&
            change_owner(pipe, OWNER_IDLE, OWNER_CALLER));
}

void hf__pipeline_give_back(hf__pipeline *pipe)
{
    uint32_t next = next_owner(pipe);

    if (__atomic_exchange_n(&pipe->owner, next, __ATOMIC_ACQ_REL) ==
        OWNER_CALLER_AWAITED)
        hf__futex_wake_all(&pipe->owner, false);
}
