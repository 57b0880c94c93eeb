/* SPDX-License-Identifier: Apache-2.0 */
/* every_lock.c - the calls of locks, semaphores, elections and claims, for
 * every_call.c. */
#include "holdfast/adopt.h"
#include "holdfast/election.h"
#include "holdfast/once.h"
#include "holdfast/queue.h"
#include "holdfast/rwlock.h"
#include "holdfast/semaphore.h"
#include "holdfast/together.h"
#include "support/every_define.h"

DEFINE(lock_try)
{
    if (async != NULL)
        return hf_lock_acquire_start(p->lock, 0, async, err);
    return hf_lock_try(p->lock, err);
}

DEFINE(lock_acquire_for)
{
    if (async != NULL)
        return hf_lock_acquire_for_start(p->lock, 0, 60000, async, err);
    return hf_lock_acquire_for(p->lock, 0, 60000, err);
}

DEFINE(lock_acquire_many)
{
    return CALL(hf_lock_acquire_many, &p->lock, 1, 0, &p->result.status);
}

DEFINE(lock_renew)
{
    return CALL(hf_lock_renew, p->lock);
}

DEFINE(lock_renew_many)
{
    return CALL(hf_lock_renew_many, &p->lock, 1, &p->result.status);
}

DEFINE(lock_release)
{
    return CALL(hf_lock_release, p->lock);
}

DEFINE(lock_release_many)
{
    return CALL(hf_lock_release_many, &p->lock, 1, &p->result.status);
}

DEFINE(lock_acquire_all)
{
    hf_status status = HF_OK;
    hf_lock *locks[2];

    if (p->second == NULL)
        status =
            hf_lock_new(p->client, hf_str("second"), NULL, &p->second, err);
    if (status != HF_OK)
        return status;
    locks[0] = p->lock;
    locks[1] = p->second;
    return CALL(hf_lock_acquire_all, locks, 2, 0);
}

/* The held lock is exported, and becomes the handle that adopts it. */
DEFINE(lock_adopt)
{
    hf_buffer text = HF_BUFFER_INIT;
    hf_status status = hf_lock_export(p->lock, &text, err);

    if (status != HF_OK)
        return status;
    hf_lock_free(p->lock);
    p->lock = NULL;
    status = CALL(hf_lock_adopt, p->client, hf_view(text.data, text.size), NULL,
                  &p->lock);
    hf_buffer_free(&text);
    return status;
}

DEFINE(lock_inspect)
{
    return CALL(hf_lock_inspect, p->client, p->key, &p->result.info);
}

DEFINE(lock_holder)
{
    return CALL(hf_lock_holder, p->client,
                hf_str("0123456789abcdef-0123456789abcde"), &p->result.holder);
}

DEFINE(lock_break)
{
    return CALL(hf_lock_break, p->client, p->key);
}

static int ignore_holder(void *user, const hf_lock_info *holder)
{
    (void)user;
    return holder->owner_size == 0;
}

DEFINE(lock_holders)
{
    return CALL(hf_lock_holders, p->client, p->key, ignore_holder, NULL);
}

DEFINE(semaphore_inspect)
{
    return CALL(hf_semaphore_inspect, p->client, p->key, 1, &p->result.permits);
}

static int ignore_lock(void *user, hf_bytes name, const hf_lock_info *info)
{
    (void)user;
    return name.size == 0 || info->remaining_ms < 0;
}

DEFINE(lock_list)
{
    (void)async;
    return hf_lock_list(p->client, hf_str(""), ignore_lock, NULL, err);
}

DEFINE(lock_acquire)
{
    if (async != NULL)
        return hf_lock_acquire_start(p->lock, 50, async, err);
    return hf_lock_acquire(p->lock, 50, err);
}

DEFINE(lock_break_owner)
{
    return CALL(hf_lock_break_owner, p->client, p->key, hf_str("another"));
}

DEFINE(rwlock_downgrade)
{
    return CALL(hf_rwlock_downgrade, p->lock);
}

DEFINE(semaphore_resize)
{
    return CALL(hf_semaphore_resize, p->client, p->key, 1);
}

DEFINE(queue_put)
{
    return CALL(hf_queue_put, p->client, p->key, hf_str("a"), hf_str("p"),
                NULL);
}

DEFINE(queue_put_many)
{
    hf_queue_put_item item = {hf_str("a"), hf_str("p")};

    return CALL(hf_queue_put_many, p->client, p->key, &item, 1, NULL,
                &p->result.status);
}

DEFINE(queue_take)
{
    hf_lock *lock = NULL;
    hf_job job = HF_JOB_INIT;
    hf_status status = hf_queue_new(p->client, p->key, NULL, &lock, err);

    (void)async;
    if (status == HF_OK)
        status = hf_lock_try(lock, err);
    if (status == HF_OK)
        status = hf_queue_job(lock, &job, err);
    hf_lock_free(lock);
    return status;
}

DEFINE(queue_done)
{
    return CALL(hf_queue_done, p->lock);
}

DEFINE(queue_again)
{
    return CALL(hf_queue_again, p->lock, 0);
}

DEFINE(queue_defer)
{
    return CALL(hf_queue_defer, p->lock, 0);
}

DEFINE(queue_fail)
{
    return CALL(hf_queue_fail, p->lock);
}

DEFINE(queue_next)
{
    return CALL(hf_queue_next, p->lock, HF_QUEUE_AGAIN, 0, 0);
}

DEFINE(queue_list)
{
    return CALL(hf_queue_list, p->client, p->key, HF_QUEUE_READY, 0, 2,
                &p->result.jobs);
}

DEFINE(queue_pause)
{
    return CALL(hf_queue_pause, p->client, p->key, false);
}

DEFINE(queue_revive)
{
    return CALL(hf_queue_revive, p->client, p->key, hf_str(""), 1,
                &p->result.number);
}

DEFINE(queue_drop)
{
    return CALL(hf_queue_drop, p->client, p->key, hf_str("1"));
}

DEFINE(queue_inspect)
{
    return CALL(hf_queue_inspect, p->client, p->key, &p->result.queue);
}

DEFINE(election_proclaim)
{
    return CALL(hf_election_proclaim, p->lock, hf_str("1"));
}

DEFINE(election_inspect)
{
    return CALL(hf_election_inspect, p->client, p->key, &p->result.leader);
}

DEFINE(once_complete)
{
    return CALL(hf_once_complete, p->lock, 1, hf_str("1"));
}

DEFINE(once_inspect)
{
    return CALL(hf_once_inspect, p->client, p->key, &p->result.once);
}

DEFINE(once_delete)
{
    return CALL(hf_once_delete, p->client, p->key);
}
