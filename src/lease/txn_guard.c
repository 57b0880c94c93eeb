/* SPDX-License-Identifier: Apache-2.0 */
/* txn_guard.c - a lease that is held as a condition of a transaction. */
#include "core/queued.h"
#include "holdfast/queue.h"
#include "holdfast/txn.h"
#include "lease/handle.h"
#include "lease/lease.h"
#include "util/error.h"

/* A job under its owner: scripts/README.md. */
typedef char held_job[1 + HF_QUEUE_ID_MAX + 1];

/* Copies of the owner id, and of what it has if it may have another one of the
 * name, as the handle may be released meanwhile. */
static hf_status read_owner(hf_lock *lock, char owner[HF_OWNER_SIZE],
                            held_job job, hf_bytes *has, hf_error *err)
{
    hf__watchdog *watchdog = &lock->client->leases->watchdog;
    hf_status status;

    pthread_mutex_lock(&watchdog->mutex);
    status = hf__lease_held_locked(lock, err);
    memcpy(owner, lock->owner, HF_OWNER_SIZE);
    if (status == HF_OK && lock->kind->kept_id != NULL) {
        hf_bytes id = lock->kind->kept_id(lock);

        if (id.size > HF_QUEUE_ID_MAX) /* job.c keeps none such */
            id.size = HF_QUEUE_ID_MAX;
        job[0] = ':';
        memcpy(job + 1, id.data, id.size);
        *has = hf_view(job, 1 + id.size);
    }
    pthread_mutex_unlock(&watchdog->mutex);
    return status;
}

hf_status hf_txn_if_held(hf_txn *txn, const hf_lock *lock, hf_error *err)
{
    const hf__txn *base = (const hf__txn *)(const void *)txn;
    char owner[HF_OWNER_SIZE];
    held_job job;
    hf_bytes has = hf_str("");
    hf_status status = hf__check_out(txn, "txn", err);

    if (status == HF_OK)
        status = hf__lock_check(lock, err);
    if (status == HF_OK)
        status = hf__queued_check_client(txn, lock->client, err);
    if (status == HF_OK && lock->kind->held_as == NULL)
        status = hf__fail(err, HF_UNSUPPORTED,
                          "readers and permits of Redisson's layout cannot be "
                          "a condition");
    if (status == HF_OK)
        status = read_owner((hf_lock *)lock, owner, job, &has, err);
    if (status != HF_OK)
        return status;
    return base->guard(txn, lock->kind->held_as, hf_lock_name(lock),
                       hf_str(owner), has, err);
}
