/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watchdog.c - renewal and loss.
 *
 * One heap orders the held locks by what they need next, one alarm on
 * CLOCK_BOOTTIME rings for the first of them, on the client's background
 * thread. When it rings:
 *
 * 1. A lock whose validity is over (less LEAD_MS, so that the holder hears of
 *    it before and not after) is lost.
 * 2. Locks due for renewal, and those due within a small window behind them,
 *    go into batches of at most 128 for each shard; each batch is one script.
 *    While it is in flight a lock stays in the heap for its end.
 * 3. The answer moves the end of each renewed lock to its instant of sending
 *    plus the lease; a lock that the store does not hold for us is lost at
 *    once; no answer, or a store out of reach, means another try soon.
 * 4. Losses are told by on_lost, with no lock held.
 *
 * Owns when to renew and what is lost; renewal.c does the asking.
 */
#include "lease/watchdog.h"

#include "lease/handle.h"
#include "lease/renewal.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/event_fd.h"
#include "util/order.h"
#include "util/rand.h"

/* How early a loss is told: a thread wakes up within that on a busy machine. */
#define LEAD_MS 5

#define WINDOW_MAX_MS 50
#define RETRY_MIN_MS 10
#define RETRY_MAX_MS 500

static hf_lock *lock_of(hf__heap_node *node)
{
    return (hf_lock *)((char *)node - offsetof(hf_lock, node));
}

static int64_t loss_at(const hf_lock *lock)
{
    int64_t lead_ms = lock->options.ttl_ms < 20 * LEAD_MS ? 1 : LEAD_MS;

    return atomic_load(&lock->valid_until_ms) - lead_ms;
}

static bool renews(const hf_lock *lock)
{
    return (lock->options.flags & HF_LOCK_NO_RENEW) == 0;
}

int64_t hf__watchdog_next_event(const hf_lock *lock)
{
    if (!renews(lock) || lock->renewing)
        return loss_at(lock);
    return hf__at_most(loss_at(lock), lock->renew_at_ms);
}

/* A third of the lease, give or take a tenth of that, so that locks taken
 * together do not stay together. */
static int64_t renew_after(int64_t sent_ms, int64_t ttl_ms)
{
    int64_t third_ms = ttl_ms / 3;

    return sent_ms + third_ms + hf__rand_between(-third_ms / 10, third_ms / 10);
}

/* The alarm is only ever moved forward here: setting it costs a system call,
 * and a ring with nothing to do is cheap and rare. */
void hf__watchdog_arm_locked(hf__watchdog *watchdog)
{
    hf__heap_node *first = hf__heap_first(&watchdog->heap);
    int64_t at_ms = first == NULL ? INT64_MAX : first->at_ms;

    if (watchdog->lost != NULL)
        at_ms = 0;
    if (watchdog->alarm == NULL || at_ms >= watchdog->armed_ms)
        return;
    watchdog->armed_ms = at_ms;
    hf__alarm_set(watchdog->alarm, at_ms);
}

void hf__watchdog_watch_locked(hf__watchdog *watchdog, hf_lock *lock,
                               int64_t sent_ms)
{
    lock->renew_at_ms = renew_after(sent_ms, lock->options.ttl_ms);
    hf__heap_put(&watchdog->heap, &lock->node, hf__watchdog_next_event(lock));
    hf__watchdog_arm_locked(watchdog);
}

void hf__watchdog_unwatch_locked(hf__watchdog *watchdog, hf_lock *lock)
{
    hf__heap_remove(&watchdog->heap, &lock->node);
}

static void tell_later_locked(hf__watchdog *watchdog, hf_lock *lock)
{
    *watchdog->lost_end = lock;
    watchdog->lost_end = &lock->next_lost;
    lock->next_lost = NULL;
    lock->untold = true;
    lock->references++;
}

void hf__watchdog_lose_locked(hf__watchdog *watchdog, hf_lock *lock,
                              hf_status reason)
{
    hf__watchdog_unwatch_locked(watchdog, lock);
    atomic_store(&lock->valid_until_ms, 0);
    lock->state = HF__LOCK_LOST;
    lock->lost_reason = reason;
    if (lock->lost_fd >= 0)
        hf__event_fd_raise(lock->lost_fd);
    if (lock->options.on_lost != NULL && !lock->untold)
        tell_later_locked(watchdog, lock);
    hf__watchdog_arm_locked(watchdog);
    pthread_cond_broadcast(&lock->changed);
}

static void lose_to_time_locked(hf__watchdog *watchdog, hf_lock *lock,
                                int64_t now_ms)
{
    hf_status reason = renews(lock) ? HF_INDETERMINATE : HF_EXPIRED;

    if (now_ms + LEAD_MS >= lock->hold_until_ms)
        reason = HF_TIMEOUT;
    hf__watchdog_lose_locked(watchdog, lock, reason);
}

void hf__watchdog_check_locked(hf__watchdog *watchdog, hf_lock *lock)
{
    int64_t now_ms;

    if (lock->state != HF__LOCK_HELD)
        return;
    now_ms = hf__clock_boot_ms();
    if (now_ms >= atomic_load(&lock->valid_until_ms))
        lose_to_time_locked(watchdog, lock, now_ms);
}

void hf__watchdog_answer_locked(hf__watchdog *watchdog, hf_lock *lock,
                                hf__renewal_answer answer, int64_t sent_ms)
{
    int64_t valid_ms;

    if (answer == HF__UNDECIDED) {
        hf__watchdog_retry_locked(watchdog, lock);
        return;
    }
    if (answer == HF__TAKEN) {
        hf__watchdog_lose_locked(watchdog, lock, HF_LOST);
        return;
    }
    if (answer == HF__GONE) {
        hf__watchdog_lose_locked(watchdog, lock, HF_EXPIRED);
        return;
    }
    valid_ms =
        hf__at_most(hf__lock_validity(lock, sent_ms), lock->hold_until_ms);
    if (valid_ms > atomic_load(&lock->valid_until_ms))
        atomic_store(&lock->valid_until_ms, valid_ms);
    lock->renew_at_ms = renew_after(sent_ms, lock->options.ttl_ms);
    if (lock->watched)
        hf__heap_put(&watchdog->heap, &lock->node,
                     hf__watchdog_next_event(lock));
}

void hf__watchdog_retry_locked(hf__watchdog *watchdog, hf_lock *lock)
{
    int64_t pause_ms = hf__at_least(
        hf__at_most(lock->options.ttl_ms / 20, RETRY_MAX_MS), RETRY_MIN_MS);

    lock->renew_at_ms =
        hf__clock_boot_ms() + pause_ms + hf__rand_between(0, pause_ms / 2);
    if (lock->watched)
        hf__heap_put(&watchdog->heap, &lock->node,
                     hf__watchdog_next_event(lock));
}

static bool due(const hf_lock *lock, int64_t now_ms)
{
    int64_t window_ms = hf__at_most(lock->options.ttl_ms / 30, WINDOW_MAX_MS);

    return renews(lock) && !lock->renewing &&
           lock->renew_at_ms - window_ms <= now_ms;
}

/* Steps 1 and 2. Each turn takes a lock out of the front or moves it back. */
static void collect_locked(hf__watchdog *watchdog, int64_t now_ms,
                           hf__renewals *renewals)
{
    hf__heap_node *node;

    hf__renewals_init(renewals);
    while ((node = hf__heap_first(&watchdog->heap)) != NULL) {
        hf_lock *lock = lock_of(node);

        if (loss_at(lock) <= now_ms)
            lose_to_time_locked(watchdog, lock, now_ms);
        else if (due(lock, now_ms))
            (void)hf__renewal_add_locked(watchdog, lock, NULL, renewals);
        else if (node->at_ms <= now_ms)
            hf__heap_put(&watchdog->heap, node, hf__watchdog_next_event(lock));
        else
            break;
    }
}

/* Step 4. The list holds a reference for each lock. */
static void tell_losses(hf__watchdog *watchdog)
{
    hf_lock *lock;

    pthread_mutex_lock(&watchdog->mutex);
    while ((lock = watchdog->lost) != NULL) {
        hf_status reason = lock->lost_reason;

        watchdog->lost = lock->next_lost;
        if (watchdog->lost == NULL)
            watchdog->lost_end = &watchdog->lost;
        lock->untold = false;
        /* Whoever has released it since has heard of the loss by that. */
        if (!lock->freed && lock->state == HF__LOCK_LOST) {
            lock->telling = true;
            pthread_mutex_unlock(&watchdog->mutex);
            lock->options.on_lost(lock, reason, lock->options.user);
            pthread_mutex_lock(&watchdog->mutex);
            lock->telling = false;
            pthread_cond_broadcast(&lock->changed);
        }
        hf__lock_unref_locked(lock);
    }
    pthread_mutex_unlock(&watchdog->mutex);
}

static void ring(void *user)
{
    hf__watchdog *watchdog = user;
    hf__heap_node *first;
    hf__renewals renewals;
    int64_t next_ms;

    pthread_mutex_lock(&watchdog->mutex);
    watchdog->armed_ms = INT64_MAX;
    collect_locked(watchdog, hf__clock_boot_ms(), &renewals);
    first = hf__heap_first(&watchdog->heap);
    next_ms = first == NULL ? INT64_MAX : first->at_ms;
    hf__watchdog_arm_locked(watchdog);
    pthread_mutex_unlock(&watchdog->mutex);

    tell_losses(watchdog);
    hf__renewal_send(&renewals, next_ms);
}

void hf__watchdog_init(hf__watchdog *watchdog, hf_client *client)
{
    watchdog->client = client;
    pthread_mutex_init(&watchdog->mutex, NULL);
    pthread_mutex_init(&watchdog->start_mutex, NULL);
    hf__heap_init(&watchdog->heap);
    watchdog->lost_end = &watchdog->lost;
    watchdog->armed_ms = INT64_MAX;
}

void hf__watchdog_stop(hf__watchdog *watchdog)
{
    hf__alarm *alarm = watchdog->alarm;

    if (!hf__client_forked(watchdog->client)) {
        pthread_mutex_lock(&watchdog->mutex);
        watchdog->alarm = NULL;
        pthread_mutex_unlock(&watchdog->mutex);
    }
    hf__alarm_free(alarm);
}

void hf__watchdog_done(hf__watchdog *watchdog)
{
    hf__heap_node *node;
    hf_lock *lock;

    if (hf__client_forked(watchdog->client))
        return;
    pthread_mutex_lock(&watchdog->mutex);
    while ((lock = watchdog->lost) != NULL) { /* there is nobody to tell them */
        watchdog->lost = lock->next_lost;
        hf__lock_unref_locked(lock);
    }
    watchdog->lost_end = &watchdog->lost;
    while ((node = hf__heap_first(&watchdog->heap)) != NULL) {
        hf__heap_remove(&watchdog->heap, node);
        atomic_store(&lock_of(node)->valid_until_ms, 0);
    }
    pthread_mutex_unlock(&watchdog->mutex);
}

void hf__watchdog_free(hf__watchdog *watchdog)
{
    if (hf__client_forked(watchdog->client))
        return;
    hf__heap_done(&watchdog->heap);
    pthread_mutex_destroy(&watchdog->start_mutex);
    pthread_mutex_destroy(&watchdog->mutex);
}

hf_status hf__watchdog_add_handle(hf__watchdog *watchdog, hf_error *err)
{
    bool room;

    pthread_mutex_lock(&watchdog->mutex);
    room = hf__heap_reserve(&watchdog->heap, watchdog->handles + 1);
    if (room)
        watchdog->handles++;
    pthread_mutex_unlock(&watchdog->mutex);
    return room ? HF_OK : hf__fail(err, HF_NO_MEMORY, "a lock");
}

void hf__watchdog_drop_handle(hf__watchdog *watchdog)
{
    pthread_mutex_lock(&watchdog->mutex);
    watchdog->handles--;
    pthread_mutex_unlock(&watchdog->mutex);
}

static hf_status start(hf__watchdog *watchdog, hf_error *err)
{
    hf__loop *loop = watchdog->client->loop;
    hf__alarm *alarm;
    hf_status status = hf__loop_start(loop, err);

    if (status == HF_OK)
        status = hf__alarm_new(loop, ring, watchdog, &alarm, err);
    if (status != HF_OK)
        return status;
    pthread_mutex_lock(&watchdog->mutex);
    watchdog->alarm = alarm;
    hf__watchdog_arm_locked(watchdog);
    pthread_mutex_unlock(&watchdog->mutex);
    atomic_store(&watchdog->started, true);
    return HF_OK;
}

hf_status hf__watchdog_start(hf__watchdog *watchdog, hf_error *err)
{
    hf_status status = HF_OK;

    if (atomic_load(&watchdog->started))
        return HF_OK;
    pthread_mutex_lock(&watchdog->start_mutex);
    if (!atomic_load(&watchdog->started))
        status = start(watchdog, err);
    pthread_mutex_unlock(&watchdog->start_mutex);
    return status;
}
