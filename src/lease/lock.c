/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock.c - a lock's handle: the public calls, and its states (handle.h).
 *
 * A thread that asks or releases at the store leaves the mutex meanwhile; the
 * states ACQUIRING and RELEASING keep the others out, who wait for `changed`.
 * Whatever is asked of the store is decided locally first: validity is
 * arithmetic on CLOCK_BOOTTIME, and the only way to HELD is a grant.
 */
#include "lease/handle.h"

#include <errno.h>

#include "lease/renewal.h"
#include "util/clock.h"
#include "util/cond.h"
#include "util/error.h"
#include "util/event_fd.h"
#include "util/fork.h"
#include "util/mem.h"
#include "util/options.h"
#include "util/order.h"

#define TTL_MS_DEFAULT 30000 /* Redisson's lockWatchdogTimeout */

/* Allowance for clock drift between here and the store: 1 % and 2 ms, as in
 * the Redlock description (Redis documentation, "Distributed locks"). */
static int64_t drift_of(int64_t ttl_ms)
{
    return ttl_ms / 100 + 2;
}

int64_t hf__lock_validity(const hf_lock *lock, int64_t sent_ms)
{
    int64_t ttl_ms = lock->options.ttl_ms;

    return sent_ms + ttl_ms - drift_of(ttl_ms) - lock->options.lost_margin_ms;
}

static hf_status check_ttl(const hf_lock_options *o, hf_error *err)
{
    if (o->ttl_ms < HF_LOCK_TTL_MIN_MS || o->ttl_ms > HF_LOCK_TTL_MAX_MS)
        return hf__fail(err, HF_INVALID,
                        "ttl_ms of a lock is %lld; it must be %lld..%lld",
                        (long long)o->ttl_ms, (long long)HF_LOCK_TTL_MIN_MS,
                        (long long)HF_LOCK_TTL_MAX_MS);
    if (o->max_hold_ms < 0)
        return hf__fail(err, HF_INVALID, "max_hold_ms is negative: %lld",
                        (long long)o->max_hold_ms);
    if (o->lost_margin_ms < 0 || o->lost_margin_ms > o->ttl_ms / 2)
        return hf__fail(err, HF_INVALID,
                        "lost_margin_ms is %lld; it must be 0..%lld, half of "
                        "ttl_ms",
                        (long long)o->lost_margin_ms,
                        (long long)(o->ttl_ms / 2));
    return HF_OK;
}

static hf_status load_options(hf_lock_options *options,
                              const hf_lock_options *from, hf_error *err)
{
    hf_status status =
        hf__options_load(options, sizeof(*options), sizeof(*options), from,
                         "hf_lock_options", err);

    if (status != HF_OK)
        return status;
    if ((options->flags & ~(uint32_t)HF_LOCK_NO_RENEW) != 0 ||
        options->reserved0 != 0 || options->reserved1 != 0)
        return hf__fail(err, HF_UNSUPPORTED,
                        "hf_lock_options: unknown flag 0x%x",
                        (unsigned)options->flags);
    if (options->ttl_ms == 0)
        options->ttl_ms = TTL_MS_DEFAULT;
    return check_ttl(options, err);
}

static hf_lock *lock_new(hf_client *client, const hf__lease_kind *kind,
                         int64_t argument, const hf_lock_options *options,
                         const hf__replicas *replicas)
{
    hf_lock *lock = hf__calloc(1, sizeof(*lock));

    if (lock == NULL)
        return NULL;
    lock->client = client;
    lock->kind = kind;
    lock->options = *options;
    lock->replicas = lock->renewal_replicas = *replicas;
    lock->replicas.within_ms =
        hf__at_most(replicas->within_ms, options->ttl_ms / 3);
    lock->renewal_replicas.within_ms =
        hf__at_most(replicas->within_ms, options->ttl_ms / 6);
    atomic_init(&lock->interruptions, 0);
    atomic_init(&lock->acked, -1);
    lock->ttl_word = hf__number(lock->ttl_text, options->ttl_ms);
    if (argument != 0)
        lock->argument = hf__number(lock->argument_text, argument);
    lock->state = HF__LOCK_FREE;
    lock->references = 1;
    lock->lost_fd = -1;
    hf__cond_init(&lock->changed);
    hf__heap_node_init(&lock->node);
    return lock;
}

/* In a forked child `changed` may have waiters that the child does not have,
 * for whom pthread_cond_destroy() would wait for ever: it is left as it is
 * there, like everything that is shared. */
static void lock_destroy(hf_lock *lock)
{
    if (!hf__client_forked(lock->client))
        pthread_cond_destroy(&lock->changed);
    hf__event_fd_free(lock->lost_fd);
    hf__lock_keys_done(&lock->keys);
    hf__free(lock);
}

static hf_status init(hf_lock *lock, hf_bytes name, hf_error *err)
{
    hf_client *client = lock->client;
    hf_status status = hf__lock_keys_init(client, name, &lock->keys, err);

    if (status == HF_OK)
        status = hf__watchdog_add_handle(&client->leases->watchdog, err);
    if (status == HF_OK)
        hf__client_ref(client);
    return status;
}

hf_status hf__lock_make(hf_client *client, const hf__lease_kind *kind,
                        hf_bytes name, int64_t argument,
                        const hf_lock_options *opts, hf_lock **lock,
                        hf_error *err)
{
    hf_lock_options options;
    hf__replicas replicas;
    hf_lock *made = NULL;
    hf_status status = hf__client_enter(client, err);

    if (status != HF_OK)
        return status;
    if (lock == NULL)
        status = hf__fail(err, HF_INVALID, "lock is NULL");
    if (status == HF_OK)
        status = load_options(&options, opts, err);
    if (status == HF_OK)
        status = hf__replicas_of_lock(&replicas, client, &options, err);
    if (status == HF_OK) {
        made = lock_new(client, kind, argument, &options, &replicas);
        status = made == NULL ? hf__fail(err, HF_NO_MEMORY, "a lock")
                              : init(made, name, err);
    }
    if (status == HF_OK)
        *lock = made;
    else if (made != NULL)
        lock_destroy(made);
    hf__life_leave(&client->life);
    return status;
}

static const hf__lease_kind exclusive = {
    .acquire = HF__SCRIPT_LOCK_ACQUIRE,
    .renew = HF__SCRIPT_LOCK_RENEW,
    .release = HF__SCRIPT_LOCK_RELEASE,
    .leave = HF__SCRIPT_LOCK_LEAVE,
    .refused = "another owner holds the lock",
};

hf_status hf_lock_new(hf_client *client, hf_bytes name,
                      const hf_lock_options *opts, hf_lock **lock,
                      hf_error *err)
{
    return hf__lock_make(client, &exclusive, name, 0, opts, lock, err);
}

void hf__lock_unref_locked(hf_lock *lock)
{
    if (--lock->references == 0)
        lock_destroy(lock);
}

/* Calls that were started on the handle end first. */
static void end_calls_locked(hf_lock *lock)
{
    hf__watchdog *watchdog = &lock->client->leases->watchdog;

    while (lock->acquiring != NULL || lock->state == HF__LOCK_RELEASING) {
        hf__call_cancel(lock->acquiring);
        hf__cond_wait_until(&lock->changed, &watchdog->mutex, INT64_MAX);
    }
}

/* On the client's own thread, which cannot wait: what is under way ends first
 * and frees then, a lock that is held is released later (end_orphan_locked). */
static void free_here(hf_lock *lock)
{
    hf__watchdog *watchdog = &lock->client->leases->watchdog;

    pthread_mutex_lock(&watchdog->mutex);
    lock->freed = lock->orphan = true;
    if (lock->acquiring != NULL)
        hf__call_cancel(lock->acquiring);
    if (lock->state == HF__LOCK_HELD || lock->state == HF__LOCK_LOST)
        hf__watchdog_unwatch_locked(watchdog, lock);
    pthread_mutex_unlock(&watchdog->mutex);
    hf__lock_end_orphan(lock);
}

/* Nothing is under way on an orphan: release it and let it go. */
void hf__lock_end_orphan(hf_lock *lock)
{
    hf__watchdog *watchdog = &lock->client->leases->watchdog;
    bool held, ends;

    pthread_mutex_lock(&watchdog->mutex);
    ends = lock->orphan && lock->acquiring == NULL &&
           lock->state != HF__LOCK_RELEASING;
    held = ends && lock->state == HF__LOCK_HELD;
    if (held)
        hf__watchdog_unwatch_locked(watchdog, lock);
    if (ends)
        lock->orphan = false; /* by nobody else */
    pthread_mutex_unlock(&watchdog->mutex);
    if (!ends)
        return;
    if (held)
        hf__lock_undo(lock, lock->owner);
    pthread_mutex_lock(&watchdog->mutex);
    atomic_store(&lock->valid_until_ms, 0);
    lock->state = HF__LOCK_FREE;
    hf__lock_unref_locked(lock);
    pthread_mutex_unlock(&watchdog->mutex);
    hf__watchdog_drop_handle(watchdog);
}

/* The client is closed, or about to be: what is under way ends by that and
 * frees then. Nothing is released. */
static void free_closed(hf_lock *lock)
{
    hf__watchdog *watchdog = &lock->client->leases->watchdog;

    pthread_mutex_lock(&watchdog->mutex);
    lock->freed = lock->orphan = true;
    if (lock->state == HF__LOCK_HELD || lock->state == HF__LOCK_LOST) {
        hf__watchdog_unwatch_locked(watchdog, lock);
        lock->state = HF__LOCK_FREE;
    }
    while (lock->telling && !hf__loop_here(lock->client->loop))
        hf__cond_wait_until(&lock->changed, &watchdog->mutex, INT64_MAX);
    pthread_mutex_unlock(&watchdog->mutex);
    hf__lock_end_orphan(lock);
}

static void free_waiting(hf_lock *lock)
{
    hf__watchdog *watchdog = &lock->client->leases->watchdog;

    pthread_mutex_lock(&watchdog->mutex);
    end_calls_locked(lock);
    if (lock->holds > 0)
        lock->holds = 1;
    pthread_mutex_unlock(&watchdog->mutex);
    (void)!hf_lock_release(lock, NULL); /* HF_INVALID if it is not held */

    pthread_mutex_lock(&watchdog->mutex);
    lock->freed = true;
    while (lock->telling)
        hf__cond_wait_until(&lock->changed, &watchdog->mutex, INT64_MAX);
    hf__lock_unref_locked(lock);
    pthread_mutex_unlock(&watchdog->mutex);
    hf__watchdog_drop_handle(watchdog);
}

void hf_lock_free(hf_lock *lock)
{
    hf_client *client;

    if (lock == NULL)
        return;
    client = lock->client;
    if (hf__client_forked(client)) {
        lock_destroy(lock); /* nothing of it is ours */
    } else if (hf__client_enter(client, NULL) != HF_OK) {
        free_closed(lock);
    } else {
        if (hf__loop_here(client->loop))
            free_here(lock);
        else
            free_waiting(lock);
        hf__life_leave(&client->life);
    }
    hf__client_unref(client);
}

/* A loss must be told, or a renewal made, without a call of the user. */
static bool needs_watch(const hf_lock *lock)
{
    return (lock->options.flags & HF_LOCK_NO_RENEW) == 0 ||
           lock->options.on_lost != NULL || lock->lost_fd >= 0;
}

void hf__lock_hold_locked(hf_lock *lock, const hf__grant *grant)
{
    hf__watchdog *watchdog = &lock->client->leases->watchdog;
    int64_t valid_ms = hf__lock_validity(lock, grant->sent_ms);

    lock->hold_until_ms = INT64_MAX;
    if (lock->options.max_hold_ms > 0)
        lock->hold_until_ms =
            hf__clock_after(grant->sent_ms, lock->options.max_hold_ms);
    if (valid_ms > lock->hold_until_ms)
        valid_ms = lock->hold_until_ms;
    lock->state = HF__LOCK_HELD;
    lock->holds = 1;
    lock->acquisition++;
    lock->renewing = false;
    memcpy(lock->owner, grant->owner, sizeof(lock->owner));
    atomic_store(&lock->token, grant->token);
    atomic_store(&lock->acked, grant->acked);
    atomic_store(&lock->valid_until_ms, valid_ms);
    /* hf_lock_lost_fd() may have been called meanwhile. */
    lock->watched = lock->watched || needs_watch(lock);
    if (lock->watched)
        hf__watchdog_watch_locked(watchdog, lock, grant->sent_ms);
}

hf_status hf__lock_begin_locked(hf_lock *lock, bool *busy, hf_error *err)
{
    *busy =
        lock->state == HF__LOCK_ACQUIRING || lock->state == HF__LOCK_RELEASING;
    if (*busy)
        return hf__fail(err, HF_HELD, "another call is using this handle");
    hf__watchdog_check_locked(&lock->client->leases->watchdog, lock);
    if (lock->state == HF__LOCK_LOST)
        return hf__fail(err, HF_LOST,
                        "this handle has lost the lock; release it first");
    if (lock->state == HF__LOCK_HELD)
        lock->holds++;
    else
        lock->state = HF__LOCK_ACQUIRING;
    if (lock->state == HF__LOCK_ACQUIRING)
        lock->waits = true;
    lock->watched = lock->watched || needs_watch(lock);
    return HF_OK;
}

/* Another call on the handle, which one request ends. */
static bool ends_soon_locked(const hf_lock *lock)
{
    return lock->state == HF__LOCK_RELEASING ||
           (lock->state == HF__LOCK_ACQUIRING && !lock->waits);
}

/* The same, waiting for other calls that use the handle; a try for those alone
 * that end soon. */
static hf_status begin_by_locked(hf_lock *lock, int64_t until_ms,
                                 hf__attempt *attempt, hf_error *err)
{
    hf__watchdog *watchdog = &lock->client->leases->watchdog;
    bool busy;

    for (;;) {
        hf_status status = hf__lock_begin_locked(lock, &busy, err);

        if (!busy || (hf__clock_boot_ms() >= until_ms &&
                      (until_ms > 0 || !ends_soon_locked(lock))))
            return status;
        hf__sleeper_add(&lock->client->leases->interrupts, &attempt->sleeper);
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
        status = hf__lock_ask(lock, wait_ms, until_ms, attempt, &grant, err);
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

hf_status hf__lock_check(const hf_lock *lock, hf_error *err)
{
    if (lock == NULL)
        return hf__fail(err, HF_INVALID, "lock is NULL");
    return hf__client_check(lock->client, err);
}

/* Whatever it sleeps on. */
static void wake(hf__sleeper *sleeper)
{
    hf_lock *lock = sleeper->lock;
    hf_client *client = lock->client;

    pthread_mutex_lock(&client->leases->watchdog.mutex);
    pthread_cond_broadcast(&lock->changed);
    pthread_mutex_unlock(&client->leases->watchdog.mutex);
    hf__gates_wake(&client->leases->gates, lock->keys.main);
    client->store->ops->event_wake(client->store, lock->keys.main);
}

static hf_status acquire(hf_lock *lock, int64_t wait_ms, hf__attempt *attempt,
                         hf_error *err)
{
    hf__watchdog *watchdog = &lock->client->leases->watchdog;
    int64_t until_ms;
    bool asking;
    hf_status status;

    until_ms = wait_ms == 0 ? 0 : hf__clock_after(hf__clock_boot_ms(), wait_ms);
    pthread_mutex_lock(&watchdog->mutex);
    status = begin_by_locked(lock, until_ms, attempt, err);
    asking = status == HF_OK && lock->state == HF__LOCK_ACQUIRING;
    if (asking)
        lock->waits = false;
    pthread_mutex_unlock(&watchdog->mutex);
    if (asking)
        return ask(lock, wait_ms, until_ms, attempt, err);
    if (status == HF_HELD && wait_ms > 0)
        return hf__fail(err, HF_TIMEOUT,
                        "another thread used this handle for all of %lld ms",
                        (long long)wait_ms);
    return status;
}

hf_status hf_lock_acquire(hf_lock *lock, int64_t wait_ms, hf_error *err)
{
    hf__attempt attempt = {.sleeper = {.wake = wake, .lock = lock}};
    hf_status status = hf__lock_check(lock, err);

    if (status != HF_OK)
        return status;
    if (wait_ms < 0)
        return hf__fail(err, HF_INVALID, "wait_ms is negative: %lld",
                        (long long)wait_ms);
    status = hf__client_enter_blocking(lock->client, err);
    if (status != HF_OK)
        return status;
    attempt.mark = hf__interrupt_mark_of(lock);
    status = acquire(lock, wait_ms, &attempt, err);
    hf__sleeper_remove(&lock->client->leases->interrupts, &attempt.sleeper);
    hf__life_leave(&lock->client->life);
    return status;
}

hf_status hf_lock_try(hf_lock *lock, hf_error *err)
{
    return hf_lock_acquire(lock, 0, err);
}

int64_t hf_lock_remaining_ms(const hf_lock *lock)
{
    int64_t left_ms;

    if (hf__lock_check(lock, NULL) != HF_OK)
        return 0;
    left_ms = atomic_load(&lock->valid_until_ms);
    if (left_ms != 0)
        left_ms -= hf__clock_boot_ms();
    return left_ms > 0 ? left_ms : 0;
}

bool hf_lock_is_held(const hf_lock *lock)
{
    return hf_lock_remaining_ms(lock) > 0;
}

uint64_t hf_lock_token(const hf_lock *lock)
{
    return lock == NULL ? 0 : atomic_load(&lock->token);
}

int hf_lock_replicas(const hf_lock *lock)
{
    return lock == NULL ? -1 : atomic_load(&lock->acked);
}

void hf_lock_owner(const hf_lock *lock, char owner[HF_OWNER_SIZE])
{
    hf__watchdog *watchdog;

    owner[0] = '\0';
    if (hf__lock_check(lock, NULL) != HF_OK)
        return;
    watchdog = &lock->client->leases->watchdog;
    pthread_mutex_lock(&watchdog->mutex);
    memcpy(owner, lock->owner, sizeof(lock->owner));
    pthread_mutex_unlock(&watchdog->mutex);
}

/* A handle that nobody watched while it is held must be watched from now. */
static hf_status lost_fd_locked(hf_lock *lock, hf_error *err)
{
    hf__watchdog *watchdog = &lock->client->leases->watchdog;

    if (lock->lost_fd >= 0)
        return HF_OK;
    lock->lost_fd = hf__event_fd_new();
    if (lock->lost_fd < 0)
        return hf__fail_errno(err, HF_SYSTEM, errno, "eventfd");
    if (lock->state == HF__LOCK_LOST)
        hf__event_fd_raise(lock->lost_fd);
    if (lock->state == HF__LOCK_HELD && !lock->watched) {
        lock->watched = true;
        hf__watchdog_watch_locked(watchdog, lock, hf__clock_boot_ms());
    }
    return HF_OK;
}

hf_status hf_lock_lost_fd(hf_lock *lock, int *fd, hf_error *err)
{
    hf__watchdog *watchdog;
    hf_status status = hf__lock_check(lock, err);

    if (status == HF_OK)
        status = hf__check_out(fd, "fd", err);
    if (status == HF_OK)
        status = hf__client_enter(lock->client, err);
    if (status != HF_OK)
        return status;
    watchdog = &lock->client->leases->watchdog;
    status = hf__watchdog_start(watchdog, err);
    if (status == HF_OK) {
        pthread_mutex_lock(&watchdog->mutex);
        status = lost_fd_locked(lock, err);
        if (status == HF_OK)
            *fd = lock->lost_fd;
        pthread_mutex_unlock(&watchdog->mutex);
    }
    hf__life_leave(&lock->client->life);
    return status;
}
