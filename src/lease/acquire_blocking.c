/* SPDX-License-Identifier: Apache-2.0 */
/* acquire_blocking.c - hf_lock_acquire(), hf_lock_try(): the steps of
 * acquire_steps.h on the calling thread. */
#include "core/blocking_wait.h"
#include "core/wrong_type.h"
#include "lease/acquire_steps.h"
#include "lease/redisson.h"
#include "lease/watchdog.h"
#include "util/clock.h"
#include "util/cond.h"
#include "util/container.h"
#include "util/error.h"
#include "util/order.h"

/* What it takes to interrupt a call. */
typedef struct hf__attempt {
    hf__interrupt_mark mark;
    hf__sleeper sleeper;
    hf_lock *lock;
} hf__attempt;

/* After a try or a grant: it may have been interrupted. */
static hf_status settle(hf__steps *steps, hf_status status, hf_error *err)
{
    hf_client *client = steps->lock->client;

    if (!steps->returning)
        status = hf__steps_check_interrupt(steps, status, err);
    if (steps->returning) {
        hf__steps_fill_return(steps);
        hf__steps_read_return(
            steps, hf__run(client, &steps->request, steps->return_by_ms, NULL));
    }
    return status;
}

static hf_status ask_once(hf__steps *steps, hf_error *err)
{
    hf_status status;

    hf__steps_fill(steps);
    status =
        hf__run(steps->lock->client, &steps->request, steps->limit_ms, err);
    return settle(steps, hf__steps_read(steps, status, err), err);
}

static void pause_for(const hf__steps *steps, int64_t pause_ms)
{
    if (pause_ms > 0)
        hf__clock_sleep_until(
            hf__at_most(steps->until_ms, hf__clock_boot_ms() + pause_ms));
}

/* Only an interruption, which moves the counter too, ends the sleep early, or
 * events that are worth a try now. */
static void sleep_ignoring_events(const hf__steps *steps, hf_status status,
                                  int64_t until_ms)
{
    hf__store *store = steps->lock->client->store;
    hf_bytes topic = steps->lock->keys.topic;

    while (hf__clock_boot_ms() < until_ms) {
        uint32_t seq = store->ops->event_seq(store, topic, 0);

        if (hf__interrupted(steps->lock, steps->mark) ||
            hf__steps_use_events(steps, status))
            return;
        (void)store->ops->event_wait(store, topic, seq, until_ms);
    }
}

/* Step 5; true: an event has come, which may be a grant. */
static bool wait_for_event(hf__steps *steps, hf_status status, uint32_t seq,
                           int64_t until_ms)
{
    hf__store *store = steps->lock->client->store;

    if (hf__steps_use_events(steps, status))
        return store->ops->event_wait(store, steps->lock->keys.topic, seq,
                                      until_ms);
    sleep_ignoring_events(steps, status, until_ms);
    return false;
}

/* An event says that another library has taken it. */
static void leave_to_others(hf__steps *steps, uint32_t seq, int64_t pause_ms)
{
    hf__store *store = steps->lock->client->store;

    hf__steps_left(steps, store->ops->event_wait(
                              store, steps->lock->keys.topic, seq,
                              hf__at_most(steps->until_ms,
                                          hf__clock_boot_ms() + pause_ms)));
}

static void pause_after_event(hf__steps *steps)
{
    hf__store *store = steps->lock->client->store;
    hf_bytes topic = steps->lock->keys.topic;

    for (;;) {
        uint32_t seq = store->ops->event_seq(store, topic, 0);
        int64_t pause_ms = hf__steps_event_delay(steps);

        if (steps->left_ms != 0) {
            leave_to_others(steps, seq, pause_ms);
            return;
        }
        if (steps->gather_ms == 0) {
            pause_for(steps, pause_ms);
            return;
        }
        if (pause_ms == 0 || hf__interrupted(steps->lock, steps->mark))
            return;
        (void)store->ops->event_wait(store, topic, seq,
                                     hf__clock_boot_ms() + pause_ms);
    }
}

/* Steps 4 and 5, at the head of the local wait queue. */
static hf_status wait_at_store(hf__steps *steps, hf_error *err)
{
    hf_bytes topic = steps->lock->keys.topic;
    hf_status status;

    for (int round = 0;; round++) {
        uint32_t seq;
        bool moved;

        hf__redisson_listen(steps->lock, steps->grant.owner);
        seq = hf__topic_seq(steps->lock->client, topic, steps->until_ms);

        status = ask_once(steps, err);
        if (!hf__steps_may_retry(status) ||
            hf__clock_boot_ms() >= steps->until_ms)
            return status;
        hf__steps_watch_holder(steps, status, round);
        moved = wait_for_event(steps, status, seq,
                               hf__steps_next_try(steps, status, round));
        if (hf__steps_take_grant(steps))
            return settle(steps, HF_OK, err);
        if (moved) {
            pause_after_event(steps);
            round = -1;
        }
        status = hf__steps_check_interrupt(steps, status, err);
        if (!hf__steps_may_retry(status) ||
            hf__interrupted(steps->lock, steps->mark))
            return status;
    }
}

/* A release of this client has left it free for others. */
static void rest(hf__steps *steps)
{
    int64_t rest_ms = hf__steps_rest(steps);
    uint32_t seq;

    if (rest_ms <= 0)
        return;
    seq = hf__topic_seq(steps->lock->client, steps->lock->keys.topic,
                        steps->until_ms);
    hf__steps_leave(steps);
    leave_to_others(steps, seq, rest_ms);
}

static void leave_queue(hf__steps *steps)
{
    hf_client *client = steps->lock->client;

    hf__steps_fill_leave(steps);
    (void)!hf__run(client, &steps->request, steps->limit_ms, NULL);
    hf__request_done(&steps->request);
}

static hf_status wait_in_turn(hf__steps *steps, hf_error *err)
{
    hf_client *client = steps->lock->client;
    hf_status status = hf__watchdog_start(&client->leases->watchdog, err);

    if (status == HF_OK)
        status = hf__wait_queue_enter(
            &client->leases->queues, steps->lock, steps->mark, steps->until_ms,
            hf__steps_offer(steps), &steps->queue, err);
    if (status != HF_OK)
        return status;
    if (hf__steps_await_pass(steps)) {
        status = settle(steps, HF_OK, err);
    } else {
        rest(steps);
        status = wait_at_store(steps, err);
    }
    if (status != HF_OK && steps->queued)
        leave_queue(steps);
    hf__wait_queue_leave(&client->leases->queues, steps->queue,
                         status == HF_OK && steps->clock_us != 0 ? steps->lock
                                                                 : NULL);
    return status;
}

static hf_status ask_store(hf_lock *lock, int64_t wait_ms, int64_t until_ms,
                           hf__attempt *attempt, hf__grant *grant,
                           hf_error *err)
{
    hf_error detail = HF_ERROR_INIT; /* failed tries before a success fill it */
    hf__steps steps;
    hf_status status = HF_HELD;

    hf__steps_init(&steps, lock, wait_ms, until_ms);
    steps.mark = attempt->mark;
    if (until_ms > 0)
        pause_for(&steps, hf__redisson_yield(lock));
    if (until_ms == 0 ||
        (!hf__steps_listens(&steps) && hf__steps_rest(&steps) <= 0))
        status = ask_once(&steps, &detail);
    if (steps.until_ms > 0 && hf__steps_may_retry(status)) {
        hf__sleeper_add(&lock->client->interrupts, &attempt->sleeper);
        pthread_mutex_lock(&lock->client->leases->watchdog.mutex);
        lock->waits = true;
        pthread_cond_broadcast(&lock->changed);
        pthread_mutex_unlock(&lock->client->leases->watchdog.mutex);
        status = wait_in_turn(&steps, &detail);
    }
    if (status == HF_OK)
        *grant = steps.grant;
    status = hf__steps_end(&steps, status, &detail, err);
    if (status == HF_WRONG_TYPE)
        hf__wrong_type_ask(lock->client, &steps.request,
                           steps.request.deadline_ms, err);
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

/* In state ACQUIRING, without the mutex. */
static hf_status ask(hf_lock *lock, int64_t wait_ms, int64_t until_ms,
                     hf__attempt *attempt, hf_error *err)
{
    hf__watchdog *watchdog = &lock->client->leases->watchdog;
    hf__grant grant;
    bool watched;
    hf_status status = HF_OK;

    if (lock->watched)
        status = hf__watchdog_start(watchdog, err);
    if (status == HF_OK)
        status = ask_store(lock, wait_ms, until_ms, attempt, &grant, err);
    pthread_mutex_lock(&watchdog->mutex);
    if (status == HF_OK)
        hf__lock_hold_locked(lock, &grant);
    else
        lock->state = HF__LOCK_FREE;
    watched = lock->watched;
    pthread_cond_broadcast(&lock->changed);
    pthread_mutex_unlock(&watchdog->mutex);
    if (status == HF_OK && watched)
        hf__registry_note(&lock->client->leases->registry);
    return status;
}

/* It may sleep on any of these. */
static void wake(hf__sleeper *sleeper)
{
    hf__attempt *attempt = hf__container_of(sleeper, hf__attempt, sleeper);
    hf_lock *lock = attempt->lock;
    hf_client *client = lock->client;

    pthread_mutex_lock(&client->leases->watchdog.mutex);
    pthread_cond_broadcast(&lock->changed);
    pthread_mutex_unlock(&client->leases->watchdog.mutex);
    hf__wait_queues_wake(&client->leases->queues, lock->keys.topic);
    client->store->ops->event_wake(client->store, lock->keys.topic);
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
        return ask(lock, wait_ms, until_ms, attempt, err);
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
