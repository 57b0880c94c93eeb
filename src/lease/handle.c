/* SPDX-License-Identifier: Apache-2.0 */
/* handle.c - see handle.h: what needs no request. */
#include "lease/handle.h"

#include "util/clock.h"
#include "util/error.h"
#include "util/event_fd.h"
#include "util/mem.h"

/* In a forked child `changed` may have waiters that do not exist there, and
 * pthread_cond_destroy() would wait for them: it is left alone. */
void hf__lock_destroy(hf_lock *lock)
{
    if (!hf__client_forked(lock->client))
        pthread_cond_destroy(&lock->changed);
    if (lock->pair != NULL)
        lock->pair->pair = NULL;
    hf__event_fd_free(lock->lost_fd);
    hf__lock_keys_done(&lock->keys);
    hf__free((void *)lock->own_key.data);
    hf__free(lock->kept);
    hf__free(lock->text);
    hf_buffer_free(&lock->result);
    hf__free(lock);
}

void hf__lock_unref_locked(hf_lock *lock)
{
    if (--lock->references == 0)
        hf__lock_destroy(lock);
}

hf_status hf__lock_check(const hf_lock *lock, hf_error *err)
{
    if (lock == NULL)
        return hf__fail(err, HF_INVALID, "lock is NULL");
    return hf__client_check(lock->client, err);
}

hf_status hf__locks_check(hf_lock *const *locks, size_t count, hf_error *err)
{
    hf_status status;

    if (count > 0 && locks == NULL)
        return hf__fail(err, HF_INVALID, "locks is NULL");
    for (size_t i = 0; i < count; i++) {
        status = hf__lock_check(locks[i], err);
        if (status != HF_OK)
            return status;
        if (locks[i]->client != locks[0]->client)
            return hf__fail(err, HF_INVALID,
                            "lock %zu is of another client than the first", i);
    }
    return HF_OK;
}

void hf__locks_start(hf__many *many, hf__gathering *started, bool leases,
                     hf_lock *const *locks, size_t count, hf_status *statuses,
                     const hf_async *async, hf_error *err)
{
    hf_status status = hf__locks_check(locks, count, err);

    if (status == HF_OK && count == 0)
        status = hf__fail(err, HF_INVALID, "there is no lock in the batch");
    if (status == HF_OK)
        hf__many_start(many, started, locks[0]->client, leases, count, statuses,
                       async, err);
    else
        *many = (hf__many){.failed = status};
}

hf_status hf__lock_check_lease(int64_t lease_ms, hf_error *err)
{
    if (lease_ms == 0 ||
        (lease_ms >= HF_LOCK_TTL_MIN_MS && lease_ms <= HF_LOCK_TTL_MAX_MS))
        return HF_OK;
    return hf__fail(err, HF_INVALID,
                    "lease_ms is %lld; it must be 0 or %lld..%lld",
                    (long long)lease_ms, (long long)HF_LOCK_TTL_MIN_MS,
                    (long long)HF_LOCK_TTL_MAX_MS);
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

hf_bytes hf_lock_name(const hf_lock *lock)
{
    size_t prefix_size;

    if (lock == NULL)
        return hf_view(NULL, 0);
    prefix_size = lock->client->prefix_size;
    return hf_view((const char *)lock->keys.main.data + prefix_size,
                   lock->keys.main.size - prefix_size);
}

uint32_t hf_lock_holds(const hf_lock *lock)
{
    hf__watchdog *watchdog;
    uint32_t holds;

    if (hf__lock_check(lock, NULL) != HF_OK)
        return 0;
    watchdog = &lock->client->leases->watchdog;
    pthread_mutex_lock(&watchdog->mutex);
    holds = lock->holds;
    pthread_mutex_unlock(&watchdog->mutex);
    return holds;
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

hf_status hf_lock_interrupt(hf_lock *lock, hf_error *err)
{
    hf_status status = hf__lock_check(lock, err);

    if (status == HF_OK)
        status = hf__client_enter(lock->client, err);
    if (status != HF_OK)
        return status;
    atomic_fetch_add(&lock->interruptions, 1);
    hf__interrupts_wake(&lock->client->interrupts, lock);
    hf__life_leave(&lock->client->life);
    return HF_OK;
}
