/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rwlock_downgrade.c - hf_rwlock_downgrade(): the read handle of the pair takes
 * over what the write handle holds, once the store has made the owner a reader.
 *
 * 1. Before the request is sent, the write handle stops holding the lock, and
 *    is not renewed any more: the store may let in readers before the reply
 *    arrives. State RELEASING keeps other calls away from it, `downgrading`
 *    also those on the read handle.
 * 2. The reply says that the owner reads: the read handle holds it. Or that it
 *    holds nothing: the write handle is LOST.
 * 3. Without a reply the owner may be a writer or a reader at the store. The
 *    write handle is LOST and stays `downgrading`: it can be downgraded again,
 *    as the script may be repeated, and a release ends both (release.c).
 *
 * on_lost is not called: the caller learns by the status.
 */
#include "core/form.h"
#include "holdfast/rwlock.h"
#include "lease/handle.h"
#include "lease/lease.h"
#include "lease/release.h"
#include "script/script_words.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/event_fd.h"
#include "util/mem.h"

/* What is changed. */
typedef struct turn {
    hf_lock *write;
    hf_lock *read;
    char owner[HF_OWNER_SIZE];
    char ttl_text[HF__NUMBER_SIZE];
} turn;

/* What came of it: the call's note. */
enum { DONE, EXPIRED, TAKEN, LATE, FREED, UNKNOWN };

static void hold_locked(hf_lock *write, hf_lock *read, int64_t sent_ms)
{
    hf__grant grant = {.token = atomic_load(&write->token),
                       .acked = -1,
                       .sent_ms = sent_ms,
                       .lease_ms = write->lease_ms};
    bool busy;

    memcpy(grant.owner, write->owner, sizeof(grant.owner));
    (void)!hf__lock_begin_locked(read, write->renews ? 0 : write->lease_ms,
                                 &busy, NULL);
    hf__lock_hold_locked(read, &grant);
    hf__watchdog_arm_locked(&read->client->leases->watchdog);
}

static int read_reply_locked(const turn *of, const hf__request *request)
{
    if (request->status != HF_OK || request->reply.kind != HF_REPLY_INTEGER)
        return UNKNOWN;
    if (request->reply.integer != 1)
        return request->reply.integer == 0 ? EXPIRED : TAKEN;
    if (of->read->freed)
        return FREED;
    return hf__clock_boot_ms() < hf__lock_validity(of->read, request->began_ms,
                                                   of->write->lease_ms)
               ? DONE
               : LATE;
}

static void lose_locked(hf_lock *write, int note)
{
    write->state = HF__LOCK_LOST;
    write->lost_reason = note == UNKNOWN   ? HF_INDETERMINATE
                         : note == EXPIRED ? HF_EXPIRED
                                           : HF_LOST;
    if (write->lost_fd >= 0)
        hf__event_fd_raise(write->lost_fd);
}

/* Steps 2 and 3. */
static void conclude_locked(const turn *of, int note, int64_t sent_ms)
{
    hf_lock *write = of->write;

    write->downgrading = note == UNKNOWN;
    if (note == DONE || note == FREED) {
        write->state = HF__LOCK_FREE;
        if (write->lost_fd >= 0)
            hf__event_fd_lower(write->lost_fd);
    } else {
        lose_locked(write, note);
    }
    if (note == DONE)
        hold_locked(write, of->read, sent_ms);
    pthread_cond_broadcast(&write->changed);
}

static void downgrade_answered(hf_call *call)
{
    const hf__request *request = &call->request;
    const turn *of = call->owned;
    hf__watchdog *watchdog = &of->write->client->leases->watchdog;
    bool deferred;
    int note;

    pthread_mutex_lock(&watchdog->mutex);
    call->note = note = read_reply_locked(of, request);
    conclude_locked(of, note, request->began_ms);
    deferred = of->write->free_deferred;
    pthread_mutex_unlock(&watchdog->mutex);
    if (note == LATE || note == FREED)
        hf__lock_undo(of->read, of->owner); /* no handle holds it */
    if (deferred)
        hf__lock_free_deferred(of->write);
    pthread_mutex_lock(&watchdog->mutex);
    hf__lock_unref_locked(of->write);
    hf__lock_unref_locked(of->read);
    pthread_mutex_unlock(&watchdog->mutex);
}

static hf_status finish_downgrade(hf_call *call, hf_error *err)
{
    switch (call->note) {
    case DONE:
        return HF_OK;
    case EXPIRED:
        return hf__fail(err, HF_EXPIRED, "the lease had expired");
    case TAKEN:
        return hf__fail(err, HF_LOST, "another owner holds the lock");
    case LATE:
        return hf__fail(err, HF_LOST, "the lease ended before the reply");
    case FREED:
        return hf__fail(err, HF_INVALID, "the read handle was freed meanwhile");
    default:
        return hf__bad_reply(call->request.script->name, err);
    }
}

static const hf__operation downgrade = {
    .script = HF__SCRIPT(RWLOCK_DOWNGRADE),
    .finish = finish_downgrade,
    .lease = true,
};

static hf_status check_locked(const hf_lock *write, hf_error *err)
{
    hf__lease_check_locked(&write->client->leases->watchdog, (hf_lock *)write);
    if (write->pair == NULL || write->kind->mode != NULL)
        return hf__fail(err, HF_INVALID,
                        "not the write handle of a pair of hf_rwlock_new()");
    if (write->state == HF__LOCK_LOST && write->downgrading)
        return HF_OK; /* again */
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

/* Step 1. Both handles are referenced until it is answered. */
static void begin_locked(turn *of, hf_lock *write)
{
    of->write = write;
    of->read = write->pair;
    memcpy(of->owner, write->owner, sizeof(of->owner));
    of->write->references++;
    of->read->references++;
    hf__lease_unwatch_locked(&write->client->leases->watchdog, write);
    write->state = HF__LOCK_RELEASING;
    write->downgrading = true;
}

static hf_status fill_downgrade(hf_call *call, hf_lock *write, hf_error *err)
{
    hf__watchdog *watchdog = &write->client->leases->watchdog;
    turn *of = call->owned = hf__alloc(sizeof(*of));
    hf_status status;

    if (of == NULL)
        return hf__fail(err, HF_NO_MEMORY, "downgrading a lock");
    pthread_mutex_lock(&watchdog->mutex);
    status = check_locked(write, err);
    if (status == HF_OK)
        begin_locked(of, write);
    pthread_mutex_unlock(&watchdog->mutex);
    if (status != HF_OK)
        return status;
    call->words_stay = true;
    call->answered = downgrade_answered;
    hf__add_whole_key(call, write->keys.main);
    hf__add_whole_key(call, write->keys.token);
    hf__add_whole_key(call, write->keys.waiters);
    hf__add(call, hf_view(of->owner, HF_OWNER_SIZE - 1));
    hf__add(call, hf__number(of->ttl_text, write->lease_ms));
    return HF_OK;
}

static hf_status run_downgrade(hf__form form, hf_lock *write)
{
    hf_status status = hf__lock_check(write, form.err);
    hf_call here, *call;

    if (status != HF_OK)
        return status;
    call = hf__begin(&here, form, &downgrade, write->client);
    (void)HF__TRY(call, fill_downgrade(call, write, call->form.err));
    return hf__end(call);
}

HF__FORMS(hf_rwlock_downgrade, run_downgrade(form, write), hf_lock *write);
