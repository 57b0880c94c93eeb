/* SPDX-License-Identifier: Apache-2.0 */
/* acquire_calls.c - hf_lock_acquire(), hf_lock_try(): on the calling thread. */
#include "core/run_blocking.h"
#include "core/wrong_type.h"
#include "holdfast/lock.h"
#include "lease/acquire.h"
#include "lease/watchdog.h"
#include "util/clock.h"
#include "util/cond.h"
#include "util/container.h"
#include "util/error.h"

/* What it takes to interrupt a call that waits for the handle. */
typedef struct hf__attempt {
    hf__interrupt_mark mark;
    hf__sleeper sleeper;
    hf_lock *lock;
} hf__attempt;

/* In state ACQUIRING, without the mutex. */
static hf_status ask(hf_lock *lock, int64_t wait_ms, int64_t until_ms,
                     hf__interrupt_mark mark, hf_error *err)
{
    hf__acquire acquire;
    hf_status status;

    hf__acquire_init(&acquire, lock, wait_ms, until_ms, mark, false);
    hf__run_blocking(&acquire.procedure, hf__acquire_first(&acquire));
    status = hf__acquire_end(&acquire, err);
    if (status == HF_WRONG_TYPE)
        hf__wrong_type_ask(lock->client, &acquire.steps.request,
                           acquire.steps.request.deadline_ms, err);
    return status;
}

/* Is the other call on the handle over after one request? */
static bool ends_soon_locked(const hf_lock *lock)
{
    return lock->state == HF__LOCK_RELEASING ||
           (lock->state == HF__LOCK_ACQUIRING && !lock->waits);
}

/* Begin, waiting for other calls on the handle; a try waits only for those that
 * end soon. */
static hf_status begin_by_locked(hf_lock *lock, int64_t lease_ms,
                                 int64_t until_ms, hf__attempt *attempt,
                                 hf_error *err)
{
    hf__watchdog *watchdog = &lock->client->leases->watchdog;
    bool busy;

    for (;;) {
        hf_status status = hf__lock_begin_locked(lock, lease_ms, &busy, err);

        if (!busy || (hf__clock_boot_ms() >= until_ms &&
                      (until_ms > 0 || !ends_soon_locked(lock))))
            return status;
        hf__sleeper_add(&lock->client->interrupts, &attempt->sleeper);
        if (hf__interrupted(lock, attempt->mark))
            return hf__fail(err, HF_CANCELLED, HF__INTERRUPTED);
        hf__cond_wait_until(&lock->changed, &watchdog->mutex,
                            until_ms > 0 ? until_ms : INT64_MAX);
    }
}

static void wake(hf__sleeper *sleeper)
{
    hf_lock *lock = hf__container_of(sleeper, hf__attempt, sleeper)->lock;

    pthread_mutex_lock(&lock->client->leases->watchdog.mutex);
    pthread_cond_broadcast(&lock->changed);
    pthread_mutex_unlock(&lock->client->leases->watchdog.mutex);
}

static hf_status acquire(hf_lock *lock, int64_t wait_ms, int64_t lease_ms,
                         hf__attempt *attempt, hf_error *err)
{
    hf__watchdog *watchdog = &lock->client->leases->watchdog;
    int64_t until_ms;
    bool acquires;
    hf_status status;

    until_ms = wait_ms == 0 ? 0 : hf__clock_after(hf__clock_boot_ms(), wait_ms);
    pthread_mutex_lock(&watchdog->mutex);
    status = begin_by_locked(lock, lease_ms, until_ms, attempt, err);
    acquires = status == HF_OK && lock->state == HF__LOCK_ACQUIRING;
    if (acquires)
        lock->waits = false;
    pthread_mutex_unlock(&watchdog->mutex);
    if (acquires)
        return ask(lock, wait_ms, until_ms, attempt->mark, err);
    if (status == HF_HELD && wait_ms > 0)
        return hf__fail(err, HF_TIMEOUT,
                        "timed out after %lld ms: another thread is using this "
                        "handle",
                        (long long)wait_ms);
    return status;
}

hf_status hf_lock_acquire_for(hf_lock *lock, int64_t wait_ms, int64_t lease_ms,
                              hf_error *err)
{
    hf__attempt attempt = {.sleeper = {.wake = wake, .about = lock},
                           .lock = lock};
    hf_status status = hf__lock_check(lock, err);

    if (status == HF_OK)
        status = hf__check_wait(wait_ms, err);
    if (status == HF_OK)
        status = hf__lock_check_lease(lease_ms, err);
    if (status == HF_OK)
        status = hf__client_enter_blocking(lock->client, err);
    if (status != HF_OK)
        return status;
    attempt.mark = hf__interrupt_mark_of(lock);
    if (hf__lease_wants_renewal(lock, lease_ms))
        status = hf__watchdog_start(&lock->client->leases->watchdog, err);
    if (status == HF_OK)
        status = acquire(lock, wait_ms, lease_ms, &attempt, err);
    hf__sleeper_remove(&lock->client->interrupts, &attempt.sleeper);
    hf__life_leave(&lock->client->life);
    return status;
}

hf_status hf_lock_acquire(hf_lock *lock, int64_t wait_ms, hf_error *err)
{
    return hf_lock_acquire_for(lock, wait_ms, 0, err);
}

hf_status hf_lock_try(hf_lock *lock, hf_error *err)
{
    return hf_lock_acquire(lock, 0, err);
}
