/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock.c - making a handle and freeing it.
 */
#include "lease/handle.h"

#include <errno.h>

#include "core/async.h"
#include "core/own_key.h"
#include "holdfast/lock.h"
#include "lease/lease.h"
#include "lease/redisson.h"
#include "lease/release.h"
#include "util/clock.h"
#include "util/cond.h"
#include "util/error.h"
#include "util/event_fd.h"
#include "util/hash_bytes.h"
#include "util/mem.h"
#include "util/options.h"
#include "util/order.h"

#define TTL_MS_DEFAULT 30000 /* Redisson's lockWatchdogTimeout */

static hf_status check_ttl(const hf_lock_options *o, hf_error *err)
{
    hf_status status =
        hf__check_range(o->ttl_ms, HF_LOCK_TTL_MIN_MS, HF_LOCK_TTL_MAX_MS,
                        "ttl_ms of a lock", err);

    if (status != HF_OK)
        return status;
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

static hf_status check_priority(const hf_lock_options *o,
                                const hf_client *client, hf_error *err)
{
    hf_status status =
        hf__check_range(o->priority, 0, HF_LOCK_PRIORITY_MAX, "priority", err);

    if (status == HF_OK && o->priority > 0 &&
        (client->store->capabilities & HF__CAP_UNDOES) != 0)
        return hf__fail(err, HF_UNSUPPORTED,
                        "priority: a quorum has no queue that all its servers "
                        "agree on");
    return status;
}

static hf_status check_span(int64_t ms, const char *name,
                            const hf_client *client, hf_error *err)
{
    hf_status status = hf__check_range(ms, 0, HF_LOCK_TTL_MAX_MS, name, err);

    if (status == HF_OK && ms > 0 &&
        (client->store->capabilities & HF__CAP_UNDOES) != 0)
        return hf__fail(err, HF_UNSUPPORTED,
                        "%s: on a quorum, the servers that a request did not "
                        "reach end the lease at another time",
                        name);
    return status;
}

static hf_status check_gaps(const hf_lock_options *o, const hf_client *client,
                            hf_error *err)
{
    if (o->gaps > HF_LOCK_GAPS_ALWAYS)
        return hf__fail(err, HF_UNSUPPORTED, "hf_lock_options: unknown gaps %u",
                        (unsigned)o->gaps);
    if (o->gaps == HF_LOCK_GAPS_ALWAYS &&
        (client->store->capabilities & HF__CAP_ALONE) != 0)
        return hf__fail(err, HF_UNSUPPORTED,
                        "gaps: other libraries share no locks of this store");
    return HF_OK;
}

static hf_status load_options(hf_lock_options *options, const hf_client *client,
                              const hf_lock_options *from, hf_error *err)
{
    hf_status status =
        hf__options_load(options, sizeof(*options), sizeof(*options), from,
                         "hf_lock_options", err);

    if (status != HF_OK)
        return status;
    if ((options->flags & ~(uint32_t)HF_LOCK_NO_RENEW) != 0)
        return hf__fail(err, HF_UNSUPPORTED,
                        "hf_lock_options: unknown flag 0x%x",
                        (unsigned)options->flags);
    if (options->ttl_ms == 0)
        options->ttl_ms = TTL_MS_DEFAULT;
    status = check_gaps(options, client, err);
    if (status == HF_OK)
        status = check_ttl(options, err);
    if (status == HF_OK)
        status = check_priority(options, client, err);
    if (status == HF_OK)
        status = check_span(options->min_hold_ms, "min_hold_ms", client, err);
    if (status == HF_OK)
        status = check_span(options->delay_ms, "delay_ms", client, err);
    return status;
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
    atomic_init(&lock->rest_ms, 0);
    atomic_init(&lock->acked, -1);
    atomic_init(&lock->ended, HF_NOT_FOUND);
    if (argument != 0)
        lock->argument = hf__number(lock->argument_text, argument);
    lock->state = HF__LOCK_FREE;
    lock->references = 1;
    lock->lost_fd = -1;
    hf__cond_init(&lock->changed);
    hf__heap_node_init(&lock->node);
    return lock;
}

static hf_status init_own_key(hf_lock *lock, hf_bytes name, hf_error *err)
{
    const char *role = lock->kind->role;
    char *text = hf__alloc(hf__own_key_size(lock->client, role, name));

    if (text == NULL)
        return hf__fail(err, HF_NO_MEMORY, "a lock");
    lock->own_key = hf__own_key_put(lock->client, role, name, text);
    return HF_OK;
}

static hf_status init_lock(hf_lock *lock, hf_bytes name, hf_error *err)
{
    hf_client *client = lock->client;
    hf_status status = hf__lock_keys_init(client, lock->kind->redisson, name,
                                          &lock->keys, err);
    const hf__redisson *redisson = lock->kind->redisson;

    if (redisson != NULL)
        lock->argument = redisson->argument == NULL
                             ? lock->keys.publish
                             : hf_str(redisson->argument);
    if (status == HF_OK && lock->kind->role != NULL)
        status = init_own_key(lock, name, err);
    if (status == HF_OK)
        status = hf__watchdog_add_handle(&client->leases->watchdog, err);
    if (status == HF_OK)
        hf__client_ref(client);
    lock->hash = hf__turns_lock(lock->keys.main);
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
    if (status == HF_OK && !kind->on_quorum &&
        (client->store->capabilities & HF__CAP_UNDOES) != 0)
        status = hf__fail(err, HF_UNSUPPORTED, "a quorum has locks only");
    if (status == HF_OK)
        status = kind->redisson == NULL
                     ? hf__layout_check_ours(&client->layout, "a lock", err)
                     : hf__layout_check_redisson(client->store, err);
    if (status == HF_OK)
        status = load_options(&options, client, opts, err);
    if (status == HF_OK)
        status = hf__replicas_of_lock(&replicas, client, &options, err);
    if (status == HF_OK) {
        made = lock_new(client, kind, argument, &options, &replicas);
        status = made == NULL ? hf__fail(err, HF_NO_MEMORY, "a lock")
                              : init_lock(made, name, err);
    }
    if (status == HF_OK)
        *lock = made;
    else if (made != NULL)
        hf__lock_destroy(made);
    hf__life_leave(&client->life);
    return status;
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

/* On the client's own thread, which cannot wait: calls under way free the
 * handle when they end, and a held lock is released in the background. */
static void free_here(hf_lock *lock)
{
    hf__watchdog *watchdog = &lock->client->leases->watchdog;

    pthread_mutex_lock(&watchdog->mutex);
    lock->freed = lock->free_deferred = true;
    if (lock->acquiring != NULL)
        hf__call_cancel(lock->acquiring);
    hf__lease_check_locked(watchdog, lock);
    hf__lease_leave_locked(watchdog, lock);
    if (lock->state == HF__LOCK_HELD || lock->state == HF__LOCK_LOST)
        hf__lease_unwatch_locked(watchdog, lock);
    pthread_mutex_unlock(&watchdog->mutex);
    hf__lock_free_deferred(lock);
}

/* The client is closed or closing, which ends calls under way; they free the
 * handle. Nothing is released. */
static void free_closed(hf_lock *lock)
{
    hf__watchdog *watchdog = &lock->client->leases->watchdog;

    pthread_mutex_lock(&watchdog->mutex);
    lock->freed = lock->free_deferred = true;
    if (lock->state == HF__LOCK_HELD || lock->state == HF__LOCK_LOST) {
        hf__lease_unwatch_locked(watchdog, lock);
        lock->state = HF__LOCK_FREE;
        lock->downgrading = false;
    }
    while (lock->reporting && !hf__loop_here(lock->client->loop))
        hf__cond_wait_until(&lock->changed, &watchdog->mutex, INT64_MAX);
    pthread_mutex_unlock(&watchdog->mutex);
    hf__lock_free_deferred(lock);
}

static void free_waiting(hf_lock *lock)
{
    hf__watchdog *watchdog = &lock->client->leases->watchdog;

    pthread_mutex_lock(&watchdog->mutex);
    end_calls_locked(lock);
    lock->freed = true; /* a downgrade under way gives it nothing */
    if (lock->holds > 0)
        lock->holds = 1;
    hf__lease_check_locked(watchdog, lock);
    hf__lease_leave_locked(watchdog, lock);
    pthread_mutex_unlock(&watchdog->mutex);
    (void)!hf_lock_release(lock, NULL); /* HF_INVALID if it is not held */

    pthread_mutex_lock(&watchdog->mutex);
    while (lock->reporting)
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
        hf__lock_destroy(lock); /* nothing is shared with the parent */
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

/* A held lock that is not watched is watched from now on. */
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
        hf__lease_watch_locked(watchdog, lock, hf__clock_boot_ms());
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
