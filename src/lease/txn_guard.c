/* SPDX-License-Identifier: Apache-2.0 */
/* txn_guard.c - a lease that is held as a condition of a transaction. */
#include "core/queued.h"
#include "holdfast/txn.h"
#include "lease/handle.h"
#include "lease/lease.h"
#include "script/script_words.h"
#include "util/error.h"

/* Of these of Redisson's the key of the lock does not say whether they are
 * held: readers have keys of their own, permits a number. */
static bool is_guard(const hf__lease_kind *kind)
{
    return kind->acquire != HF__SCRIPT_REDISSON_READ_ACQUIRE &&
           kind->acquire != HF__SCRIPT_REDISSON_PERMIT_ACQUIRE;
}

/* May others hold it, too? */
static bool is_shared(const hf__lease_kind *kind)
{
    return kind->acquire == HF__SCRIPT_RWLOCK_ACQUIRE ||
           kind->acquire == HF__SCRIPT_SEMAPHORE_ACQUIRE;
}

static hf_status check_guard(const hf__txn *txn, const hf_lock *lock,
                             hf_error *err)
{
    if (txn->client != lock->client)
        return hf__fail(err, HF_INVALID,
                        "the transaction belongs to another client");
    if (!is_guard(lock->kind))
        return hf__fail(err, HF_UNSUPPORTED,
                        "readers and permits of Redisson's layout cannot be a "
                        "condition");
    return HF_OK;
}

/* A copy of the owner id, as the handle may be released meanwhile. */
static hf_status read_owner(hf_lock *lock, char owner[HF_OWNER_SIZE],
                            hf_error *err)
{
    hf__watchdog *watchdog = &lock->client->leases->watchdog;
    hf_status status;

    pthread_mutex_lock(&watchdog->mutex);
    status = hf__lease_held_locked(lock, err);
    memcpy(owner, lock->owner, HF_OWNER_SIZE);
    pthread_mutex_unlock(&watchdog->mutex);
    return status;
}

hf_status hf_txn_if_held(hf_txn *txn, const hf_lock *lock, hf_error *err)
{
    const hf__txn *base = (const hf__txn *)(const void *)txn;
    char owner[HF_OWNER_SIZE];
    hf_status status = hf__check_out(txn, "txn", err);

    if (status == HF_OK)
        status = hf__lock_check(lock, err);
    if (status == HF_OK)
        status = check_guard(base, lock, err);
    if (status == HF_OK)
        status = read_owner((hf_lock *)lock, owner, err);
    if (status != HF_OK)
        return status;
    return base->guard(txn, is_shared(lock->kind) ? "shared" : "held",
                       hf_lock_name(lock), hf_str(owner), err);
}
