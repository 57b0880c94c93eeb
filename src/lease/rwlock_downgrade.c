/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rwlock_downgrade.c - hf_rwlock_downgrade(): the read handle of the pair takes
 * over what the write handle holds, once the store has made the owner a reader.
 * Until then the write handle holds it, and is renewed.
 */
#include "core/form.h"
#include "lease/handle.h"
#include "lease/lease.h"
#include "lease/release.h"
#include "script/script_words.h"
#include "util/error.h"
#include "util/mem.h"

/* What is changed. */
typedef struct turn {
    hf_lock *write;
    hf_lock *read;
    uint64_t acquisition;
    char owner[HF_OWNER_SIZE];
    char ttl_text[HF__NUMBER_SIZE];
} turn;

static void turn_locked(hf_lock *write, hf_lock *read, int64_t sent_ms)
{
    hf__grant grant = {.token = atomic_load(&write->token),
                       .acked = -1,
                       .sent_ms = sent_ms,
                       .lease_ms = write->lease_ms};
    bool busy;

    memcpy(grant.owner, write->owner, sizeof(grant.owner));
    hf__lease_unwatch_locked(&write->client->leases->watchdog, write);
    write->state = HF__LOCK_FREE;
    pthread_cond_broadcast(&write->changed);
    (void)!hf__lock_begin_locked(read, write->renews ? 0 : write->lease_ms,
                                 &busy, NULL);
    hf__lock_hold_locked(read, &grant);
}

/* The reply for a lease that has not ended since. */
static void read_reply_locked(const turn *of, const hf__request *request)
{
    hf__watchdog *watchdog = &of->write->client->leases->watchdog;

    if (request->reply.integer == 1 && !of->read->freed)
        turn_locked(of->write, of->read, request->began_ms);
    else if (request->reply.integer != 1)
        hf__lease_lose_locked(watchdog, of->write,
                              request->reply.integer == 0 ? HF_EXPIRED
                                                          : HF_LOST);
    hf__watchdog_arm_locked(watchdog);
}

/* What became of the write lock until the reply: the call's note. */
enum { RELEASED, KEPT, LOST };

static int fate_locked(const turn *of)
{
    const hf_lock *write = of->write;

    if (write->acquisition != of->acquisition)
        return RELEASED;
    if (write->state == HF__LOCK_LOST)
        return LOST;
    return write->state == HF__LOCK_HELD ? KEPT : RELEASED;
}

static void answered(hf_call *call)
{
    const hf__request *request = &call->request;
    const turn *of = call->owned;
    hf__watchdog *watchdog = &of->write->client->leases->watchdog;
    int fate;

    pthread_mutex_lock(&watchdog->mutex);
    fate = fate_locked(of);
    if (fate == KEPT && request->status == HF_OK)
        read_reply_locked(of, request);
    if (fate == KEPT && of->read->freed)
        fate = RELEASED;
    call->note = fate;
    pthread_mutex_unlock(&watchdog->mutex);
    if (fate != KEPT && request->status == HF_OK)
        hf__lock_undo(of->read, of->owner); /* no handle holds it */
    pthread_mutex_lock(&watchdog->mutex);
    hf__lock_unref_locked(of->write);
    hf__lock_unref_locked(of->read);
    pthread_mutex_unlock(&watchdog->mutex);
}

static hf_status finish(hf_call *call, hf_error *err)
{
    if (call->note == RELEASED)
        return hf__fail(err, HF_INVALID, "the lock was released meanwhile");
    if (call->note == LOST)
        return hf__fail(err, HF_LOST, "the lock was lost meanwhile");
    if (call->request.reply.integer == 1)
        return HF_OK;
    return call->request.reply.integer == 0
               ? hf__fail(err, HF_EXPIRED, "the lease had expired")
               : hf__fail(err, HF_LOST, "another owner holds the lock");
}

static const hf__operation downgrade = {
    .script = HF__SCRIPT(RWLOCK_DOWNGRADE),
    .finish = finish,
    .lease = true,
};

static hf_status check_locked(const hf_lock *write, hf_error *err)
{
    hf__lease_check_locked(&write->client->leases->watchdog, (hf_lock *)write);
    if (write->pair == NULL || write->kind->mode != NULL)
        return hf__fail(err, HF_INVALID,
                        "not the write handle of a pair of hf_rwlock_new()");
    if (write->state == HF__LOCK_LOST)
        return hf__fail(err, HF_LOST, "this handle has lost the lock");
    if (write->state != HF__LOCK_HELD)
        return hf__fail(err, HF_INVALID, "this handle does not hold the lock");
    if (write->holds > 1)
        return hf__fail(err, HF_INVALID,
                        "the write lock was acquired %u times: release it "
                        "until one is left",
                        write->holds);
    return HF_OK;
}

/* Both handles are referenced until it is answered. */
static hf_status fill(hf_call *call, hf_lock *write, hf_error *err)
{
    hf__watchdog *watchdog = &write->client->leases->watchdog;
    turn *of = call->owned = hf__alloc(sizeof(*of));
    hf_status status;

    if (of == NULL)
        return hf__fail(err, HF_NO_MEMORY, "downgrading a lock");
    pthread_mutex_lock(&watchdog->mutex);
    status = check_locked(write, err);
    if (status == HF_OK) {
        of->write = write;
        of->read = write->pair;
        of->acquisition = write->acquisition;
        memcpy(of->owner, write->owner, sizeof(of->owner));
        of->write->references++;
        of->read->references++;
    }
    pthread_mutex_unlock(&watchdog->mutex);
    if (status != HF_OK)
        return status;
    call->words_stay = true;
    call->answered = answered;
    hf__add_whole_key(call, write->keys.main);
    hf__add_whole_key(call, write->keys.token);
    hf__add_whole_key(call, write->keys.waiters);
    hf__add(call, hf_view(of->owner, HF_OWNER_SIZE - 1));
    hf__add(call, hf__number(of->ttl_text, write->lease_ms));
    return HF_OK;
}

static hf_status run_downgrade(hf__form form, hf_lock *write)
{
    hf_call here, *call = hf__begin(&here, form, &downgrade, write->client);

    (void)HF__TRY(call, fill(call, write, call->form.err));
    return hf__end(call);
}

hf_status hf_rwlock_downgrade(hf_lock *write, hf_error *err)
{
    hf_status status = hf__lock_check(write, err);

    return status == HF_OK ? run_downgrade(hf__blocking(err), write) : status;
}

hf_status hf_rwlock_downgrade_start(hf_lock *write, const hf_async *async,
                                    hf_error *err)
{
    hf_status status = hf__lock_check(write, err);

    return status == HF_OK ? run_downgrade(hf__started(async, err), write)
                           : status;
}
