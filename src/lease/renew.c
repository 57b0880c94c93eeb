/* SPDX-License-Identifier: Apache-2.0 */
/* renew.c - hf_lock_renew() and its other forms. */
#include "core/form.h"
#include "holdfast/lock.h"
#include "lease/handle.h"
#include "lease/renewal.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/mem.h"

/* What a renewal is of. */
typedef struct target {
    hf_lock *lock;
    uint64_t acquisition;
    int64_t lease_ms;
    char owner[HF_OWNER_SIZE];
} target;

static void renew_answered(hf_call *call)
{
    const hf__request *request = &call->request;
    const target *of = call->owned;
    hf_lock *lock = of->lock;
    hf__watchdog *watchdog = &lock->client->leases->watchdog;
    hf__renewal_answer answer;

    bool read = request->status == HF_OK &&
                hf__renewal_read(&request->reply, 1, &answer);

    call->note = read ? (int64_t)answer : -1;
    pthread_mutex_lock(&watchdog->mutex);
    if (read && lock->acquisition == of->acquisition &&
        lock->state == HF__LOCK_HELD) {
        hf__lease_answer_locked(watchdog, lock, answer, request->began_ms,
                                of->lease_ms);
        if (answer == HF__RENEWED && request->replicas != NULL)
            atomic_store(&lock->acked, request->acked);
        hf__watchdog_arm_locked(watchdog);
    }
    hf__lock_unref_locked(lock);
    pthread_mutex_unlock(&watchdog->mutex);
}

static hf_status finish_renew(hf_call *call, hf_error *err)
{
    switch (call->note) {
    case HF__RENEWED:
        return HF_OK;
    case HF__TAKEN:
        return hf__fail(err, HF_LOST, "another owner holds the lock");
    case HF__UNDECIDED:
        return hf__fail(err, HF_INDETERMINATE,
                        "neither a majority of the quorum renewed the lease "
                        "nor a majority lost it");
    case HF__GONE:
        return hf__fail(err, HF_EXPIRED, "the lease had expired");
    default:
        return hf__bad_reply(call->request.script->name, err);
    }
}

static const hf__operation renew_one = {
    .finish = finish_renew,
    .lease = true,
};

/* The words stay for as long as the reference to the lock. */
static hf_status fill_renew(hf_call *call, hf_lock *lock, hf_error *err)
{
    hf__watchdog *watchdog = &lock->client->leases->watchdog;
    target *of = call->owned = hf__alloc(sizeof(*of));
    hf_status status;

    if (of == NULL)
        return hf__fail(err, HF_NO_MEMORY, "renewing a lock");
    pthread_mutex_lock(&watchdog->mutex);
    status = hf__lease_held_locked(lock, err);
    of->lock = lock;
    of->acquisition = lock->acquisition;
    of->lease_ms =
        hf__lease_kept_locked(lock, lock->lease_ms, hf__clock_boot_ms());
    memcpy(of->owner, lock->owner, HF_OWNER_SIZE);
    lock->references += status == HF_OK; /* until it completes */
    pthread_mutex_unlock(&watchdog->mutex);
    if (status != HF_OK)
        return status;
    call->words_stay = true;
    call->answered = renew_answered;
    call->script = &hf__scripts[lock->kind->renew];
    hf__add_whole_key(call, lock->keys.main);
    hf__add(call, hf_view(of->owner, HF_OWNER_SIZE - 1));
    hf__add_number(call, of->lease_ms + lock->options.delay_ms);
    return HF_OK;
}

static hf_status run_renew(hf__form form, hf_lock *lock)
{
    hf_status status = hf__lock_check(lock, form.err);
    hf_call here, *call;

    if (status != HF_OK)
        return status;
    call = hf__begin(&here, form, &renew_one, lock->client);
    if (HF__TRY(call, fill_renew(call, lock, call->form.err))) {
        hf__fill(call);
        hf__request_replicate(&call->request, &lock->renewal_replicas, NULL);
    }
    return hf__end(call);
}

HF__FORMS(hf_lock_renew, run_renew(form, lock), hf_lock *lock);

/* ------------------------------------------------------------------- batch */

static void collect_locks(hf_lock *const *locks, size_t count,
                          hf_status *statuses, hf__renewals *renewals)
{
    hf__watchdog *watchdog = &locks[0]->client->leases->watchdog;

    hf__renewals_init(renewals);
    pthread_mutex_lock(&watchdog->mutex);
    for (size_t i = 0; i < count; i++) {
        statuses[i] = hf__lease_held_locked(locks[i], NULL);
        if (statuses[i] == HF_OK &&
            !hf__renewal_add_locked(watchdog, locks[i], &statuses[i], renewals))
            statuses[i] = HF_NO_MEMORY;
    }
    pthread_mutex_unlock(&watchdog->mutex);
}

hf_status hf_lock_renew_many(hf_lock *const *locks, size_t count,
                             hf_status *statuses, hf_error *err)
{
    hf_status status = hf__locks_check(locks, count, err);
    hf__renewals renewals;

    if (status == HF_OK && count > 0)
        status = hf__check_out(statuses, "statuses", err);
    if (status == HF_OK && count > 0)
        status = hf__client_enter_blocking(locks[0]->client, err);
    if (status != HF_OK || count == 0)
        return status;
    collect_locks(locks, count, statuses, &renewals);
    hf__renewal_run(&renewals);
    hf__life_leave(&locks[0]->client->life);
    return hf__many_verdict(statuses, count, err);
}

hf_status hf_lock_renew_many_start(hf_lock *const *locks, size_t count,
                                   hf_status *statuses, const hf_async *async,
                                   hf_error *err)
{
    hf__gathering started;
    hf__many many;

    hf__locks_start(&many, &started, true, locks, count, statuses, async, err);
    HF__EACH((void)0, run_renew(form, locks[i]))
}
