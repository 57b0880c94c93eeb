/* SPDX-License-Identifier: Apache-2.0 */
/*
 * writer_lock.c - the lock of all writers of a store (ADR 0007).
 *
 * It is a robust mutex in the sidecar. First a short spin; then, for a while,
 * one thread of a process at a time waits (wait_line.h). It first naps: a
 * transaction takes microseconds, a wake-up tens of them, partly paid by the
 * process that wakes. Then it sleeps in the kernel, in slices, for two reasons:
 *
 *  - A wake-up can be lost. Unlocking wakes one sleeper, and the lock may be
 *    taken again at once; if the one woken is killed before it has run, no
 *    other sleeper is woken.
 *  - A sleeper can starve, because a running process takes the lock again
 *    before the one woken is scheduled. So a sleeper that has slept through a
 *    slice announces an instant until which those that do not sleep yet leave
 *    the lock alone. An instant expires by itself.
 */
#include <assert.h>
#include <errno.h>

#include "engine/files/front_lock.h"
#include "engine/files/give_way.h"
#include "util/clock.h"
#include "util/mutex.h"
#include "util/order.h"

/* Spins: together shorter than one short transaction. */
#define SPIN_COUNT 10

/* Shortest and longest slice. The first is much longer than a fair turn among a
 * dozen short writers. */
#define SLICE_MIN_MS 2
#define SLICE_MAX_MS 10

/* After a wait of this long in the line a thread leaves it, sleeps in the
 * kernel as the first may, and announces its instant at once: the line alone
 * hands the lock over so slowly that of 200 threads some starved. */
#define PATIENCE_MS 8

static void pause_cpu(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

static int try_for_a_moment(pthread_mutex_t *mutex)
{
    int rc = pthread_mutex_trylock(mutex);

    for (int i = 0; rc == EBUSY && i < SPIN_COUNT; i++) {
        pause_cpu();
        rc = pthread_mutex_trylock(mutex);
    }
    return rc;
}

static int try_between_naps(hf__sidecar *sidecar, int64_t deadline_ms)
{
    pthread_mutex_t *mutex = &sidecar->map->writer;
    int rc = try_for_a_moment(mutex);

    for (int i = 0; rc == EBUSY && i < HF__NAPS_MAX; i++) {
        if (hf__clock_boot_ms() + 1 >= deadline_ms)
            break;
        hf__clock_nap_us(HF__NAP_US);
        hf__give_way(sidecar, deadline_ms);
        rc = try_for_a_moment(mutex);
    }
    return rc;
}

/* EBUSY: not by deadline_ms, or the front lock must be taken first. */
static int sleep_for_it(hf__sidecar *sidecar, bool overdue, int64_t deadline_ms)
{
    hf__sidecar_map *map = sidecar->map;
    int64_t slice_ms = SLICE_MIN_MS;
    int64_t yield_ms = overdue ? hf__give_way_ask(sidecar, 0) : 0;
    int64_t began_ms = hf__clock_boot_ms();
    int64_t now_ms = began_ms;
    int rc = EBUSY;

    while (now_ms < deadline_ms && hf__front_lock_state(map) == 0) {
        int64_t until_ms = now_ms + slice_ms;

        if (until_ms > deadline_ms)
            until_ms = deadline_ms;
        rc = hf__mutex_lock_until(&map->writer, until_ms);
        if (rc != ETIMEDOUT)
            break;
        rc = EBUSY;
        now_ms = hf__clock_boot_ms();
        yield_ms = hf__give_way_ask(sidecar, now_ms - began_ms);
        slice_ms = 2 * slice_ms < SLICE_MAX_MS ? 2 * slice_ms : SLICE_MAX_MS;
    }
    /* Unless another sleeper has announced a later one. */
    if (yield_ms != 0)
        (void)__atomic_compare_exchange_n(&map->yield_ms, &yield_ms, 0, false,
                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return rc;
}

/* Behind the threads of this process that came before, for a while. EBUSY as
 * above. */
static int wait_for_it(hf__sidecar *sidecar, int64_t deadline_ms)
{
    int64_t until_ms =
        hf__at_most(hf__clock_boot_ms() + PATIENCE_MS, deadline_ms);
    hf__line_place place;
    int rc;

    if (!hf__wait_line_enter(&sidecar->line, &place, until_ms))
        return sleep_for_it(sidecar, true, deadline_ms);
    rc = try_between_naps(sidecar, deadline_ms);
    if (rc == EBUSY)
        rc = sleep_for_it(sidecar, false, deadline_ms);
    hf__wait_line_leave(&sidecar->line);
    return rc;
}

/* A thread that is cancelled within would stay in the line. */
static int wait_to_the_end(hf__sidecar *sidecar, int64_t deadline_ms)
{
    int state;
    int rc;

    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    rc = wait_for_it(sidecar, deadline_ms);
    (void)pthread_setcancelstate(state, NULL);
    return rc;
}

static bool is_locked(int rc)
{
    return rc == 0 || rc == EOWNERDEAD;
}

static void release_mutex(pthread_mutex_t *mutex, int rc)
{
    if (rc == EOWNERDEAD)
        (void)pthread_mutex_consistent(mutex);
    (void)pthread_mutex_unlock(mutex);
}

/* EBUSY: not by deadline_ms, or the front lock must be taken first. */
static int lock_directly(hf__sidecar *sidecar, int64_t deadline_ms)
{
    pthread_mutex_t *mutex = &sidecar->map->writer;
    int rc = try_for_a_moment(mutex);

    if (rc == EBUSY)
        rc = wait_to_the_end(sidecar, deadline_ms);
    if (is_locked(rc) &&
        hf__front_lock_state(sidecar->map) == HF__FRONT_IN_USE) {
        release_mutex(mutex, rc);
        return EBUSY;
    }
    return rc;
}

static int poll_mutex(pthread_mutex_t *mutex, int64_t deadline_ms)
{
    int64_t now_ms;
    int rc;

    while ((rc = pthread_mutex_trylock(mutex)) == EBUSY &&
           (now_ms = hf__clock_boot_ms()) + 1 < deadline_ms)
        hf__clock_sleep_until(now_ms + 1);
    return rc;
}

/* Wait for the last thread that holds it without the front lock. Those that
 * get it later see the state and let go. */
static int retire_mutex(hf__sidecar_map *map, int64_t deadline_ms)
{
    int rc = poll_mutex(&map->writer, deadline_ms);

    if (is_locked(rc)) {
        __atomic_store_n(&map->front.state, HF__FRONT_IN_USE, __ATOMIC_SEQ_CST);
        release_mutex(&map->writer, rc);
    }
    return rc;
}

/* The front lock keeps all others from its mutex, which is free or left by a
 * dead thread. */
static int lock_behind_front(hf__sidecar *sidecar, int64_t deadline_ms)
{
    hf__sidecar_map *map = sidecar->map;
    int retired = 0;
    int rc;

    if (!hf__front_lock_take(sidecar, deadline_ms))
        return EBUSY;
    rc = poll_mutex(&map->front.writer, deadline_ms);
    if (is_locked(rc) && hf__front_lock_state(map) != HF__FRONT_IN_USE)
        retired = retire_mutex(map, deadline_ms);
    if (is_locked(rc) && is_locked(retired))
        return rc == 0 ? retired : rc;
    if (is_locked(rc))
        release_mutex(&map->front.writer, rc);
    hf__front_lock_drop(sidecar);
    return EBUSY;
}

bool hf__sidecar_lock(hf__sidecar *sidecar, int64_t deadline_ms, bool *died)
{
    bool fronted = hf__front_lock_state(sidecar->map) != 0;
    int rc = EBUSY;

    hf__give_way(sidecar, deadline_ms);
    if (!fronted) {
        rc = lock_directly(sidecar, deadline_ms);
        fronted = !is_locked(rc) && hf__front_lock_state(sidecar->map) != 0;
    }
    if (fronted)
        rc = lock_behind_front(sidecar, deadline_ms);
    *died = rc == EOWNERDEAD;
    if (!is_locked(rc))
        return false;
    sidecar->fronted = fronted;
    return true;
}

static pthread_mutex_t *held_mutex(const hf__sidecar *sidecar)
{
    hf__sidecar_map *map = sidecar->map;

    return sidecar->fronted ? &map->front.writer : &map->writer;
}

void hf__sidecar_lock_mended(hf__sidecar *sidecar)
{
    (void)pthread_mutex_consistent(held_mutex(sidecar));
}

void hf__sidecar_unlock(hf__sidecar *sidecar)
{
    bool fronted = sidecar->fronted;
    int rc;

    rc = pthread_mutex_unlock(held_mutex(sidecar));
    assert(rc == 0);
    (void)rc;
    if (fronted)
        hf__front_lock_drop(sidecar);
}
