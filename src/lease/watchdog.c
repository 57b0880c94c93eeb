/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watchdog.c - renewal and loss.
 *
 * One heap orders the held locks by what they need next, one alarm on
 * CLOCK_BOOTTIME rings for the first of them, on the client's background
 * thread. When it rings:
 *
 * 1. A lock whose validity is over (lease.c) is lost.
 * 2. Locks that are due for renewal, now or within a small window, go into
 *    batches of at most 128 per shard and kind; a batch is one script. While it
 *    is in flight a lock stays in the heap for another try after a sixth of the
 *    lease, as a master may hang that has been replaced. Those that are due
 *    first are sent first. A local store runs a batch at once: no other try is
 *    made meanwhile, and the alarm rings again after each.
 * 3. The reply, to any of the tries, extends the validity of each renewed lock,
 *    counted from when the request was sent. A lock that the store does not
 *    hold for us is lost at once. After a failure it is tried again soon.
 * 4. Losses are reported by on_lost, with no mutex held.
 *
 * lease.c decides what is due and what is lost, renewal.c sends the requests.
 */
#include "lease/handle.h"
#include "lease/lease.h"
#include "lease/renewal.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/mem.h"
#include "util/order.h"

#define WINDOW_MAX_MS 50

static bool is_due(const hf_lock *lock, int64_t now_ms)
{
    int64_t window_ms = hf__at_most(lock->granted_ms / 30, WINDOW_MAX_MS);

    return hf__lock_renews(lock) && !lock->renewing &&
           lock->renew_at_ms - window_ms <= now_ms;
}

/* Steps 1 and 2. Each turn removes the first lock or moves it back. */
static void collect_locked(hf__watchdog *watchdog, int64_t now_ms,
                           hf__renewals *renewals)
{
    hf__heap_node *node;

    while ((node = hf__heap_first(&watchdog->heap)) != NULL) {
        hf_lock *lock = hf__lease_of(node);

        if (hf__lease_lose_due_locked(watchdog, lock, now_ms))
            continue;
        if (is_due(lock, now_ms))
            (void)hf__renewal_add_locked(watchdog, lock, NULL, renewals);
        else if (node->at_ms <= now_ms)
            hf__heap_put(&watchdog->heap, node, hf__lease_next_event(lock));
        else
            break;
    }
}

/* Step 4. The list holds a reference for each lock. */
static void report_losses(hf__watchdog *watchdog)
{
    hf_lock *lock;

    pthread_mutex_lock(&watchdog->mutex);
    while ((lock = watchdog->lost) != NULL) {
        hf_status reason = lock->lost_reason;

        watchdog->lost = lock->next_lost;
        if (watchdog->lost == NULL)
            watchdog->lost_end = &watchdog->lost;
        lock->unreported = false;
        /* If it was released since, the release has reported the loss. */
        if (!lock->freed && lock->state == HF__LOCK_LOST) {
            lock->reporting = true;
            pthread_mutex_unlock(&watchdog->mutex);
            lock->options.on_lost(lock, reason, lock->options.user);
            pthread_mutex_lock(&watchdog->mutex);
            lock->reporting = false;
            pthread_cond_broadcast(&lock->changed);
        }
        hf__lock_unref_locked(lock);
    }
    pthread_mutex_unlock(&watchdog->mutex);
}

/* Steps 1, 2 and 4. Returns when this thread is needed again. */
static int64_t attend_locks(hf__watchdog *watchdog)
{
    hf__heap_node *first;
    int64_t next_ms;

    pthread_mutex_lock(&watchdog->mutex);
    watchdog->armed_ms = INT64_MAX;
    collect_locked(watchdog, hf__clock_boot_ms(), watchdog->renewals);
    first = hf__heap_first(&watchdog->heap);
    next_ms = first == NULL ? INT64_MAX : first->at_ms;
    hf__watchdog_arm_locked(watchdog);
    pthread_mutex_unlock(&watchdog->mutex);
    report_losses(watchdog);
    return next_ms;
}

static void ring_again(hf__watchdog *watchdog)
{
    pthread_mutex_lock(&watchdog->mutex);
    if (watchdog->alarm != NULL) {
        watchdog->armed_ms = 0;
        hf__alarm_set(watchdog->alarm, 0);
    }
    pthread_mutex_unlock(&watchdog->mutex);
}

/* A local store runs each batch on this thread, perhaps for as long as another
 * process has the writer lock; meanwhile more leases may have ended, and calls
 * wait for the thread. */
static void ring_watchdog(void *user)
{
    hf__watchdog *watchdog = user;
    bool local = (watchdog->client->store->capabilities & HF__CAP_LOCAL) != 0;
    int64_t next_ms = attend_locks(watchdog);

    while (hf__renewal_send(watchdog->renewals, next_ms) && !local)
        ;
    if (watchdog->renewals->first != NULL)
        ring_again(watchdog);
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
    if (watchdog->renewals != NULL && !hf__client_forked(watchdog->client))
        hf__renewal_drop(watchdog->renewals);
    hf__free(watchdog->renewals);
    watchdog->renewals = NULL;
}

static bool make_renewals(hf__watchdog *watchdog)
{
    if (watchdog->renewals != NULL)
        return true;
    watchdog->renewals = hf__alloc(sizeof(*watchdog->renewals));
    if (watchdog->renewals != NULL)
        hf__renewals_init(watchdog->renewals);
    return watchdog->renewals != NULL;
}

static hf_status start_watchdog(hf__watchdog *watchdog, hf_error *err)
{
    hf__loop *loop = watchdog->client->loop;
    hf__alarm *alarm;
    hf_status status = hf__loop_start(loop, err);

    if (status == HF_OK && !make_renewals(watchdog))
        status = hf__fail(err, HF_NO_MEMORY, "renewing locks");
    if (status == HF_OK)
        status = hf__alarm_new(loop, ring_watchdog, watchdog, &alarm, err);
    if (status != HF_OK)
        return status;
    pthread_mutex_lock(&watchdog->mutex);
    watchdog->alarm = alarm;
    hf__watchdog_arm_locked(watchdog);
    pthread_mutex_unlock(&watchdog->mutex);
    atomic_store(&watchdog->started, true);
    return HF_OK;
}

hf_status hf__watchdog_start_now(hf__watchdog *watchdog, hf_error *err)
{
    hf_status status = HF_OK;

    pthread_mutex_lock(&watchdog->start_mutex);
    if (!atomic_load(&watchdog->started))
        status = start_watchdog(watchdog, err);
    pthread_mutex_unlock(&watchdog->start_mutex);
    return status;
}
