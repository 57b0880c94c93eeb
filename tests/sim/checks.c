/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checks.c - what must hold in each run:
 *
 * 1. No two clients believe at the same instant that they hold the lock, unless
 *    the store has lost its data since one of them was granted it.
 * 2. Who believes it holds the lock at the store: no grant is believed after
 *    its lease.
 * 3. Tokens grow.
 * 4. A loss is reported by the deadline, if the client ran.
 * 5. A lock that no one holds, or a job, is granted to a waiter within a bound.
 * 6. A call ends by its time limit.
 * 7. A call that fails leaves neither a lock nor a place in the queue, if all
 *    requests arrived in their order.
 */
#include <stdarg.h>
#include <stdio.h>

#include "holdfast/lock.h"
#include "sim.h"
#include "util/clock.h"
#include "util/order.h"

/* The lease of one that does not know of it, and the longest poll. */
#define POLL_MS 8000

void check_fail(const char *format, ...)
{
    va_list arguments;

    if (sim_world.violation[0] != '\0' || net_draining)
        return;
    va_start(arguments, format);
    vsnprintf(sim_world.violation, sizeof(sim_world.violation), format,
              arguments);
    va_end(arguments);
}

static bool believes(const handle *of)
{
    client *before = sim_client;
    bool held;

    sim_client = of->of;
    held = of->lock != NULL && !of->of->dead && hf_lock_is_held(of->lock);
    sim_client = before;
    return held;
}

/* From data that the store has lost. */
static bool is_excused(const handle *of)
{
    return !sim_cheats("loss") && sim_world.lost_data_ms >= 0 &&
           of->lock->held_ms <= sim_world.lost_data_ms;
}

/* -------------------------------------------------------------- 1. and 2. */

static bool may_share(const handle *one, const handle *other)
{
    return (one->kind == KIND_READ && other->kind == KIND_READ) ||
           jobs_differ(one, other);
}

static void check_exclusion(void)
{
    int permits = 0;

    for (size_t i = 0; i < sim_world.handle_count; i++) {
        const handle *one = &sim_world.handles[i];

        if (!one->believed || is_excused(one))
            continue;
        if (one->kind == KIND_SEMAPHORE)
            permits += (int)one->weight;
        for (size_t k = 0; k < i && one->kind != KIND_SEMAPHORE; k++) {
            const handle *other = &sim_world.handles[k];

            if (other->believed && !is_excused(other) && !may_share(one, other))
                check_fail("handles %zu and %zu both believe to hold the %s", k,
                           i, one->kind == KIND_QUEUE ? "job" : "lock");
        }
    }
    if (permits > PERMITS)
        check_fail("%d of %d permits are believed to be held", permits,
                   PERMITS);
}

static void check_truth(const handle *of, size_t index)
{
    if (of->kind != KIND_LOCK || is_excused(of) || sim_world.truth_stepped)
        return;
    if (strcmp(sim_world.truth, of->lock->owner) != 0)
        check_fail("handle %zu believes to hold the lock, but \"%s\" does",
                   index, sim_world.truth);
    else if (sim_now_ms() >= sim_world.truth_until_ms)
        check_fail("handle %zu believes to hold the lock %lld ms after its end",
                   index, (long long)(sim_now_ms() - sim_world.truth_until_ms));
}

/* ------------------------------------------------------------------ 3. 4. */

static void check_token(const handle *of)
{
    uint64_t token = hf_lock_token(of->lock);

    if (of->kind != KIND_LOCK || is_excused(of))
        return;
    if (token <= sim_world.max_token)
        check_fail("token %llu after %llu", (unsigned long long)token,
                   (unsigned long long)sim_world.max_token);
    else
        sim_world.max_token = token;
}

static void begin_belief(handle *of)
{
    check_token(of);
    of->released = of->noticed = false;
    of->acquisition = of->lock->acquisition;
}

static void check_notice(const handle *of, size_t index)
{
    hf__lock_state state = of->lock->state;

    if (of->lock->options.on_lost == NULL || of->noticed || of->released ||
        of->stalled || of->of->dead ||
        (state != HF__LOCK_HELD && state != HF__LOCK_LOST) ||
        of->acquisition != of->lock->acquisition ||
        sim_now_ms() <= of->deadline_ms)
        return;
    check_fail("handle %zu: no notice of the loss by the deadline", index);
}

static void look(handle *of, size_t index)
{
    bool held = believes(of);

    of->stalled = !world_runs(of->of) || (of->stalled && !held);
    if (held && of->acquisition != of->lock->acquisition)
        begin_belief(of);
    of->believed = held;
    if (held) {
        of->deadline_ms =
            atomic_load(&of->lock->valid_until_ms) + of->of->slept_us / 1000;
        check_truth(of, index);
    } else if (of->acquisition != 0 && of->lock != NULL) {
        check_notice(of, index);
    }
}

/* ------------------------------------------------------------------ 5. 6. */

static int64_t longest_lease(void)
{
    int64_t longest_ms = 0;

    for (size_t i = 0; i < sim_world.handle_count; i++)
        longest_ms = hf__at_least(longest_ms, sim_world.of->handles[i].ttl_ms);
    return longest_ms;
}

static bool is_busy(void)
{
    for (size_t i = 0; i < sim_world.handle_count; i++) {
        if (sim_world.handles[i].believed)
            return true;
    }
    for (size_t i = 0; i < sim_world.client_count; i++) {
        if (!sim_world.clients[i].dead && !world_runs(&sim_world.clients[i]))
            return true;
    }
    if (sim_world.handles[0].kind == KIND_QUEUE && !jobs_wanted())
        return true;
    return strcmp(sim_world.truth, "redis-py") == 0 &&
           sim_now_ms() < sim_world.truth_until_ms;
}

static void check_waiter(const program *of, size_t index)
{
    int64_t from_ms = hf__at_least(sim_world.busy_ms, of->waiting_since_ms);

    if (of->waiting_since_ms == 0 || !world_runs(of->of))
        return;
    if (sim_now_ms() > of->latest_ms)
        check_fail("program %zu: its call does not end", index);
    if (sim_now_ms() > from_ms + longest_lease() + POLL_MS)
        check_fail("program %zu waits for a lock that is free", index);
}

void check_now(void)
{
    for (size_t i = 0; i < sim_world.handle_count; i++)
        look(&sim_world.handles[i], i);
    check_exclusion();
    if (is_busy())
        sim_world.busy_ms = sim_now_ms();
    for (size_t i = 0; i < sim_world.program_count; i++)
        check_waiter(&sim_world.programs[i], i);
}

/* An acquire has returned HF_OK. */
void check_acquired(handle *of)
{
    if (of->lock->state != HF__LOCK_HELD && of->lock->state != HF__LOCK_LOST)
        check_fail("granted, but the handle does not hold it");
    for (size_t i = 0; i < sim_world.handle_count; i++)
        look(&sim_world.handles[i], i);
    check_exclusion(); /* it may be released before the next move */
}

/* ---------------------------------------------------------------------- 7. */

static bool is_held(void)
{
    for (size_t i = 0; i < sim_world.handle_count; i++) {
        const hf_lock *lock = sim_world.handles[i].lock;

        if (lock == NULL || lock->state == HF__LOCK_HELD ||
            lock->options.min_hold_ms > 0)
            return true;
    }
    return false;
}

void check_end(void)
{
    if (sim_world.lossy || sim_world.killed || sim_world.out_of_memory ||
        sim_world.lost_data_ms >= 0 || sim_world.handle_count == 0)
        return;
    world_refresh();
    if (sim_world.truth[0] != '\0' &&
        strcmp(sim_world.truth, "redis-py") != 0 && !is_held())
        check_fail("the lock is left with \"%s\"", sim_world.truth);
    if (server_waiters() > 0)
        check_fail("an entry is left in the queue");
}
