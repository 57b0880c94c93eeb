/* SPDX-License-Identifier: Apache-2.0 */
/* lease.c - see lease.h. */
#include "lease/lease.h"

#include "lease/handle.h"
#include "util/clock.h"
#include "util/container.h"
#include "util/error.h"
#include "util/event_fd.h"
#include "util/order.h"
#include "util/rand.h"

/* How early a loss is reported, for the wake-up latency of a busy machine and
 * for the notices of many other leases: 0.5 % of the lease, within limits. */
#define LEAD_SHARE 200
#define LEAD_MIN_MS 5
#define LEAD_MAX_MS 50

#define HANDED_SHARE 10

#define RETRY_MIN_MS 10
#define RETRY_MAX_MS 500

/* Allowance for clock drift between here and the store: 1 % and 2 ms, as in
 * the Redlock description (Redis documentation, "Distributed locks"). */
#define DRIFT_SHARE 100
#define DRIFT_MS 2

static int64_t drift_of(int64_t ttl_ms)
{
    return ttl_ms / DRIFT_SHARE + DRIFT_MS;
}

int64_t hf__lock_validity(const hf_lock *lock, int64_t sent_ms,
                          int64_t lease_ms)
{
    return sent_ms + lease_ms - drift_of(lease_ms) -
           hf__at_most(lock->options.lost_margin_ms, lease_ms / 2);
}

hf_lock *hf__lease_of(hf__heap_node *node)
{
    return hf__container_of(node, hf_lock, node);
}

static int64_t lead_of(const hf_lock *lock)
{
    if (lock->granted_ms < 20 * LEAD_MIN_MS)
        return 1;
    return hf__at_least(hf__at_most(lock->granted_ms / LEAD_SHARE, LEAD_MAX_MS),
                        LEAD_MIN_MS);
}

static int64_t loss_at(const hf_lock *lock)
{
    return atomic_load(&lock->valid_until_ms) - lead_of(lock);
}

bool hf__lock_renews(const hf_lock *lock)
{
    return lock->renews || lock->granted_ms < lock->lease_ms;
}

/* The least lease of which, less the margins of hf__lock_validity(), as much is
 * valid as now. */
int64_t hf__lease_kept_locked(const hf_lock *lock, int64_t wanted_ms,
                              int64_t now_ms)
{
    int64_t left_ms;

    if (lock->granted_ms <= wanted_ms)
        return wanted_ms;
    left_ms = atomic_load(&lock->valid_until_ms) - now_ms + DRIFT_MS +
              hf__at_most(lock->options.lost_margin_ms, lock->granted_ms / 2);
    return hf__at_least(wanted_ms, left_ms + (left_ms - 1) / (DRIFT_SHARE - 1));
}

int64_t hf__lease_wanted_locked(const hf_lock *lock, int64_t now_ms)
{
    if (lock->renews || !hf__lock_renews(lock))
        return hf__lease_kept_locked(lock, lock->lease_ms, now_ms);
    return hf__at_least(lock->lease_ms - (now_ms - lock->held_ms), 1);
}

int64_t hf__lease_next_event(const hf_lock *lock)
{
    if (!hf__lock_renews(lock) || lock->renewing)
        return loss_at(lock);
    return hf__at_most(loss_at(lock), lock->renew_at_ms);
}

/* A third of the lease, plus or minus a tenth of that, to spread locks that
 * were acquired together. */
static int64_t renew_after(int64_t sent_ms, int64_t ttl_ms)
{
    int64_t third_ms = ttl_ms / 3;

    return sent_ms + third_ms + hf__rand_between(-third_ms / 10, third_ms / 10);
}

/* The alarm is only set to earlier instants: setting it is a system call, and a
 * ring with nothing to do is cheap and rare. */
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

void hf__lease_watch_locked(hf__watchdog *watchdog, hf_lock *lock,
                            int64_t sent_ms)
{
    /* A hand-over grants a short lease: the sooner it is made long, the later
     * may this process be run without a loss. */
    lock->renew_at_ms = lock->granted_ms < lock->lease_ms
                            ? sent_ms + lock->granted_ms / HANDED_SHARE
                            : renew_after(sent_ms, lock->granted_ms);
    hf__heap_put(&watchdog->heap, &lock->node, hf__lease_next_event(lock));
    hf__watchdog_arm_locked(watchdog);
}

void hf__lease_unwatch_locked(hf__watchdog *watchdog, hf_lock *lock)
{
    hf__heap_remove(&watchdog->heap, &lock->node);
    atomic_store(&lock->valid_until_ms, 0);
}

void hf__lease_leave_locked(hf__watchdog *watchdog, hf_lock *lock)
{
    if (!lock->kind->outlives ||
        (lock->state != HF__LOCK_LOST &&
         (lock->state != HF__LOCK_HELD || !lock->unstored)))
        return;
    hf__lease_unwatch_locked(watchdog, lock);
    lock->state = HF__LOCK_FREE;
}

static void report_later_locked(hf__watchdog *watchdog, hf_lock *lock)
{
    *watchdog->lost_end = lock;
    watchdog->lost_end = &lock->next_lost;
    lock->next_lost = NULL;
    lock->unreported = true;
    lock->references++;
}

static const char *text_of_loss(hf_status reason)
{
    switch (reason) {
    case HF_INDETERMINATE:
        return "the store did not answer before it ended";
    case HF_LOST:
        return "another owner has it";
    case HF_TIMEOUT:
        return "max_hold_ms is over";
    default:
        return "it has expired, or was broken";
    }
}

static void report_loss(hf__log_hook *log, const hf_lock *lock,
                        hf_status reason)
{
    char quoted[HF__QUOTED_SIZE];

    HF__LOG(log, HF_LOG_ERROR, "lost the lease of %s: %s",
            hf__quoted(quoted, hf_lock_name(lock)), text_of_loss(reason));
}

void hf__lease_lose_locked(hf__watchdog *watchdog, hf_lock *lock,
                           hf_status reason)
{
    hf__lease_unwatch_locked(watchdog, lock);
    watchdog->counts.lost++;
    lock->state = HF__LOCK_LOST;
    lock->lost_reason = reason;
    HF__LOCK_PROBE(loss, lock, reason);
    report_loss(watchdog->client->log, lock, reason);
    if (lock->lost_fd >= 0)
        hf__event_fd_raise(lock->lost_fd);
    if (lock->options.on_lost != NULL && !lock->unreported)
        report_later_locked(watchdog, lock);
    hf__watchdog_arm_locked(watchdog);
    pthread_cond_broadcast(&lock->changed);
}

static void lose_to_time_locked(hf__watchdog *watchdog, hf_lock *lock,
                                int64_t now_ms)
{
    hf_status reason = lock->renews ? HF_INDETERMINATE : HF_EXPIRED;

    if (now_ms + lead_of(lock) >= lock->hold_until_ms)
        reason = HF_TIMEOUT;
    hf__lease_lose_locked(watchdog, lock, reason);
}

bool hf__lease_lose_due_locked(hf__watchdog *watchdog, hf_lock *lock,
                               int64_t now_ms)
{
    if (loss_at(lock) > now_ms)
        return false;
    lose_to_time_locked(watchdog, lock, now_ms);
    return true;
}

void hf__lease_check_locked(hf__watchdog *watchdog, hf_lock *lock)
{
    int64_t now_ms;

    if (lock->state != HF__LOCK_HELD)
        return;
    now_ms = hf__clock_boot_ms();
    if (now_ms >= atomic_load(&lock->valid_until_ms))
        lose_to_time_locked(watchdog, lock, now_ms);
}

hf_status hf__lease_held_locked(hf_lock *lock, hf_error *err)
{
    hf__lease_check_locked(&lock->client->leases->watchdog, lock);
    if (lock->state == HF__LOCK_HELD)
        return HF_OK;
    if (lock->state != HF__LOCK_LOST)
        return hf__fail(err, HF_INVALID, "this handle does not hold the lock");
    if (lock->lost_reason == HF_TIMEOUT)
        return hf__fail(err, HF_TIMEOUT, "max_hold_ms has passed");
    return hf__fail(err, HF_LOST, "this handle has lost the lock");
}

void hf__lease_answer_locked(hf__watchdog *watchdog, hf_lock *lock,
                             hf__renewal_answer answer, int64_t sent_ms,
                             int64_t lease_ms)
{
    int64_t valid_ms;

    if (answer == HF__UNDECIDED) {
        watchdog->counts.unrenewed++;
        hf__lease_retry_locked(watchdog, lock, 0);
        return;
    }
    if (answer == HF__TAKEN) {
        hf__lease_lose_locked(watchdog, lock, HF_LOST);
        return;
    }
    if (answer == HF__GONE) {
        hf__lease_lose_locked(watchdog, lock, HF_EXPIRED);
        return;
    }
    watchdog->counts.renewed++;
    valid_ms = hf__at_most(hf__lock_validity(lock, sent_ms, lease_ms),
                           lock->hold_until_ms);
    if (valid_ms > atomic_load(&lock->valid_until_ms))
        atomic_store(&lock->valid_until_ms, valid_ms);
    lock->granted_ms = lock->renews ? lease_ms : lock->lease_ms;
    lock->renew_at_ms = renew_after(sent_ms, lease_ms);
    if (lock->watched)
        hf__heap_put(&watchdog->heap, &lock->node, hf__lease_next_event(lock));
}

void hf__lease_retry_locked(hf__watchdog *watchdog, hf_lock *lock,
                            int64_t after_ms)
{
    int64_t pause_ms = hf__at_least(
        hf__at_most(lock->granted_ms / 20, RETRY_MAX_MS), RETRY_MIN_MS);

    lock->renew_at_ms = hf__clock_boot_ms() + after_ms + pause_ms +
                        hf__rand_between(0, pause_ms / 2);
    if (lock->watched)
        hf__heap_put(&watchdog->heap, &lock->node, hf__lease_next_event(lock));
}

/* ------------------------------------------------------------------ states */

/* Must it be renewed, or its loss reported, without a call of the user? */
static bool needs_watch(const hf_lock *lock)
{
    return hf__lock_renews(lock) || lock->options.on_lost != NULL ||
           lock->lost_fd >= 0;
}

bool hf__lease_wants_renewal(const hf_lock *lock, int64_t lease_ms)
{
    return lease_ms == 0 && (lock->options.flags & HF_LOCK_NO_RENEW) == 0;
}

static void begin_new(hf_lock *lock, int64_t lease_ms)
{
    hf_buffer_free(&lock->result);
    lock->state = HF__LOCK_ACQUIRING;
    lock->waits = true;
    lock->renews = hf__lease_wants_renewal(lock, lease_ms);
    lock->lease_ms = lease_ms == 0 ? lock->options.ttl_ms : lease_ms;
    lock->granted_ms = lock->lease_ms;
}

/* The first acquire had a lease of its own. What is left of it is not
 * shortened. */
static void renew_from_now_locked(hf_lock *lock)
{
    hf__watchdog *watchdog = &lock->client->leases->watchdog;
    int64_t ttl_ms = lock->options.ttl_ms;

    lock->renews = lock->watched = true;
    lock->lease_ms = ttl_ms;
    lock->renew_at_ms =
        hf__at_least(atomic_load(&lock->valid_until_ms) - ttl_ms / 3 * 2,
                     hf__clock_boot_ms());
    hf__heap_put(&watchdog->heap, &lock->node, hf__lease_next_event(lock));
    hf__watchdog_arm_locked(watchdog);
}

hf_status hf__lock_begin_locked(hf_lock *lock, int64_t lease_ms, bool *busy,
                                hf_error *err)
{
    *busy =
        lock->state == HF__LOCK_ACQUIRING || lock->state == HF__LOCK_RELEASING;
    if (*busy)
        return hf__fail(err, HF_HELD, "another call is using this handle");
    hf__lease_check_locked(&lock->client->leases->watchdog, lock);
    if (lock->state == HF__LOCK_LOST)
        return hf__fail(err, HF_LOST,
                        "this handle has lost the lock; release it first");
    if (lock->state != HF__LOCK_HELD && lock->pair != NULL &&
        (lock->pair->state == HF__LOCK_HELD || lock->pair->downgrading))
        return hf__fail(err, HF_INVALID, "%s", lock->kind->pair_holds);
    if (lock->state == HF__LOCK_HELD && lock->kind->held_again != NULL)
        return hf__fail(err, HF_INVALID, "%s", lock->kind->held_again);
    if (lock->state == HF__LOCK_HELD) {
        lock->holds++;
        if (!lock->renews && hf__lease_wants_renewal(lock, lease_ms))
            renew_from_now_locked(lock);
    } else {
        begin_new(lock, lease_ms);
    }
    lock->watched = lock->watched || needs_watch(lock);
    return HF_OK;
}

void hf__lock_hold_locked(hf_lock *lock, const hf__grant *grant)
{
    hf__watchdog *watchdog = &lock->client->leases->watchdog;
    int64_t valid_ms = hf__lock_validity(lock, grant->sent_ms, grant->lease_ms);

    lock->hold_until_ms = INT64_MAX;
    if (lock->options.max_hold_ms > 0)
        lock->hold_until_ms =
            hf__clock_after(grant->sent_ms, lock->options.max_hold_ms);
    if (valid_ms > lock->hold_until_ms)
        valid_ms = lock->hold_until_ms;
    HF__LOCK_PROBE(acquire__granted, lock, grant->token);
    watchdog->counts.granted++;
    lock->state = HF__LOCK_HELD;
    lock->holds = 1;
    lock->acquisition++;
    lock->held_ms = grant->sent_ms;
    lock->asked_ms = grant->asked_ms;
    lock->clock_us = grant->clock_us;
    lock->granted_ms = grant->lease_ms;
    lock->renewing = lock->unstored = false;
    memcpy(lock->owner, grant->owner, sizeof(lock->owner));
    atomic_store(&lock->token, grant->token);
    atomic_store(&lock->acked, grant->acked);
    atomic_store(&lock->valid_until_ms, valid_ms);
    /* hf_lock_lost_fd() may have been called meanwhile. */
    lock->watched = lock->watched || needs_watch(lock);
    if (lock->watched)
        hf__lease_watch_locked(watchdog, lock, grant->sent_ms);
}

/* -------------------------------------------------------------------- life */

void hf__watchdog_init(hf__watchdog *watchdog, hf_client *client)
{
    watchdog->client = client;
    pthread_mutex_init(&watchdog->mutex, NULL);
    pthread_mutex_init(&watchdog->start_mutex, NULL);
    hf__heap_init(&watchdog->heap);
    watchdog->lost_end = &watchdog->lost;
    watchdog->armed_ms = INT64_MAX;
}

void hf__watchdog_done(hf__watchdog *watchdog)
{
    hf__heap_node *node;
    hf_lock *lock;

    if (hf__client_forked(watchdog->client))
        return;
    pthread_mutex_lock(&watchdog->mutex);
    while ((lock = watchdog->lost) != NULL) { /* not reported any more */
        watchdog->lost = lock->next_lost;
        hf__lock_unref_locked(lock);
    }
    watchdog->lost_end = &watchdog->lost;
    while ((node = hf__heap_first(&watchdog->heap)) != NULL) {
        hf__heap_remove(&watchdog->heap, node);
        atomic_store(&hf__lease_of(node)->valid_until_ms, 0);
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
