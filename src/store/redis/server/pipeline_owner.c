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
 */
#include "store/redis/server/pipeline_internal.h"
#include "util/futex.h"

enum {
    OWNER_LOOP,
    OWNER_IDLE,
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
        if (change_owner(pipe, OWNER_IDLE, OWNER_LOOP))
            return;
        (void)change_owner(pipe, OWNER_CALLER, OWNER_CALLER_AWAITED);
        hf__futex_wait(&pipe->owner, OWNER_CALLER_AWAITED, INT64_MAX, false);
    }
}

static bool is_idle(const hf__pipeline *pipe)
{
    const hf__async_conn *conn = &pipe->conn;

    return conn->state == HF__ASYNC_UP && pipe->in_flight.count == 0 &&
           pipe->due.count == 0 && pipe->wait_batch == NULL && !pipe->leaving &&
           hf__outgoing_size(&conn->out) == 0 && hf__buf_size(&conn->in) == 0 &&
           !conn->unread;
}

void hf__pipeline_end(hf__pipeline *pipe)
{
    if (--pipe->inside == 0 && is_idle(pipe))
        __atomic_store_n(&pipe->owner, OWNER_IDLE, __ATOMIC_RELEASE);
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

void hf__pipeline_give_back(hf__pipeline *pipe)
{
    uint32_t next = is_idle(pipe) ? OWNER_IDLE : OWNER_LOOP;

    if (__atomic_exchange_n(&pipe->owner, next, __ATOMIC_ACQ_REL) ==
        OWNER_CALLER_AWAITED)
        hf__futex_wake_all(&pipe->owner, false);
}
