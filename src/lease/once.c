/* SPDX-License-Identifier: Apache-2.0 */
/*
 * once.c - the kind of a claim on work that is to be done once, and its record.
 *
 * The record is the key that the lease is on; it outlives the lease, so that
 * an end without a result is seen (scripts/use/once_claim.lua). What a claim is
 * on is the argument of its kind (scripts/use/once_terms.lua).
 *
 * Completing:
 *
 * 1. From HELD, or LOST, to RELEASING, which ends the renewals.
 * 2. once_complete. The script judges by the owner id alone.
 * 3. Stored: to FREE. The claim is another's, or gone: to LOST. Not known, or
 *    not applied: back to the state before, to be repeated.
 */
#include "holdfast/once.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/form.h"
#include "lease/handle.h"
#include "lease/lease.h"
#include "lease/release.h"
#include "script/script_words.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/event_fd.h"
#include "util/mem.h"
#include "util/order.h"
#include "util/sha1.h"

#define KEEP_MS_DEFAULT (INT64_C(24) * 3600000)
#define EARLY_SHARE 10
#define EARLY_MAX_MS 60000
#define TERMS_SIZE (HF__SHA1_HEX_SIZE + 3 * HF__NUMBER_SIZE + 4)

/* The form that kinds.h asks for. */
_Static_assert((int)HF__ONCE_ACQUIRE_BEGAN == HF__LOCK_ACQUIRE_BEGAN, "");
_Static_assert((int)HF__ONCE_ACQUIRE_TERMS == HF__LOCK_ACQUIRE_WORDS, "");
_Static_assert((int)HF__ONCE_RELEASE_LEAVE == HF__LOCK_RELEASE_LEAVE, "");

/* -------------------------------------------------------------------- claim */

/* What once_acquire has in place of the time that a lease has left. */
enum { DONE = -3, IN_DOUBT = -4, MISMATCH = -5 };

static hf_status keep_result(hf_lock *lock, const hf_reply *items,
                             hf_error *err)
{
    hf_buffer result = HF_BUFFER_INIT;
    hf_status status = hf__buffer_set(&result, &items[1], err);

    if (status != HF_OK)
        return status;
    hf_buffer_free(&lock->result);
    lock->result = result;
    lock->result_status = (int32_t)items[2].integer;
    return hf__fail(err, HF_CONFLICT, "the work is done");
}

static hf_status read_unclaimed(hf_lock *lock, const hf_reply *items,
                                hf_error *err)
{
    char quoted[HF__QUOTED_SIZE];

    switch (items[0].integer) {
    case DONE:
        return keep_result(lock, items, err);
    case IN_DOUBT:
        return hf__fail(err, HF_EXPIRED,
                        "the work is in doubt: a claim of %s ended without a "
                        "result",
                        hf__quoted(quoted, hf_lock_name(lock)));
    case MISMATCH:
        return hf__fail(err, HF_INVALID,
                        "%s was claimed with another fingerprint",
                        hf__quoted(quoted, hf_lock_name(lock)));
    default:
        return HF_HELD;
    }
}

static const hf__lease_kind claim = {
    .acquire = HF__SCRIPT_ONCE_ACQUIRE,
    .renew = HF__SCRIPT_ONCE_RENEW,
    .release = HF__SCRIPT_ONCE_RELEASE,
    .refused = "another owner has claimed the work",
    .held_as = "held",
    .outlives = true,
    .read_reply = read_unclaimed,
};

static hf_status load_once(hf_once_options *o, const hf_once_options *from,
                           hf_error *err)
{
    hf_status status = hf__options_load(o, sizeof(*o), sizeof(*o), from,
                                        "hf_once_options", err);

    if (status == HF_OK)
        status = hf__check_flags(o->flags, HF_ONCE_RETRY_DOUBT, o->reserved0,
                                 "hf_once_options", err);
    if (status == HF_OK && o->fingerprint.data == NULL &&
        o->fingerprint.size > 0)
        status = hf__fail(err, HF_INVALID, "fingerprint is NULL");
    if (status == HF_OK)
        status = hf__check_range(o->period_ms, 0, HF_ONCE_PERIOD_MAX_MS,
                                 "period_ms", err);
    if (status == HF_OK && o->early_ms != 0 && o->period_ms == 0)
        status = hf__fail(err, HF_INVALID, "early_ms needs a period_ms");
    if (status == HF_OK)
        status = hf__check_range(
            o->early_ms, 0, hf__at_least(o->period_ms - 1, 0), "early_ms", err);
    if (status == HF_OK && o->keep_ms != 0)
        status = hf__check_range(o->keep_ms, hf__at_least(o->period_ms, 1),
                                 HF_TTL_MAX_MS, "keep_ms", err);
    if (status != HF_OK)
        return status;
    if (o->keep_ms == 0)
        o->keep_ms = o->period_ms > 0 ? 2 * o->period_ms : KEEP_MS_DEFAULT;
    if (o->early_ms == 0)
        o->early_ms = hf__at_most(o->period_ms / EARLY_SHARE, EARLY_MAX_MS);
    return status;
}

static char *print_terms(const hf_once_options *o)
{
    char digest[HF__SHA1_HEX_SIZE] = "";
    char *terms = hf__alloc(TERMS_SIZE);

    if (terms == NULL)
        return NULL;
    if (o->fingerprint.size > 0)
        hf__sha1_hex(o->fingerprint.data, o->fingerprint.size, digest);
    snprintf(terms, TERMS_SIZE, "%s/%lld/%d/%lld/%lld", digest,
             (long long)o->keep_ms, (o->flags & HF_ONCE_RETRY_DOUBT) != 0,
             (long long)o->period_ms, (long long)o->early_ms);
    return terms;
}

static hf_status check_spans(const hf_lock *lock, hf_error *err)
{
    if (lock->options.min_hold_ms == 0 && lock->options.delay_ms == 0)
        return HF_OK;
    return hf__fail(err, HF_UNSUPPORTED,
                    "min_hold_ms and delay_ms are not for a claim");
}

hf_status hf_once_new(hf_client *client, hf_bytes key,
                      const hf_once_options *once, const hf_lock_options *opts,
                      hf_lock **lock, hf_error *err)
{
    hf_once_options options;
    hf_lock *made = NULL;
    hf_status status = load_once(&options, once, err);

    if (status == HF_OK)
        status = hf__check_out(lock, "lock", err);
    if (status == HF_OK)
        status = hf__lock_make(client, &claim, key, 0, opts, &made, err);
    if (status == HF_OK)
        status = check_spans(made, err);
    if (status == HF_OK) {
        made->text = print_terms(&options);
        if (made->text == NULL)
            status = hf__fail(err, HF_NO_MEMORY, "a claim");
    }
    if (status != HF_OK) {
        hf_lock_free(made);
        return status;
    }
    made->argument = hf_str(made->text);
    *lock = made;
    return HF_OK;
}

static hf_status check_kind(const hf_lock *lock, hf_error *err)
{
    return lock->kind == &claim ? HF_OK
                                : hf__fail(err, HF_INVALID,
                                           "the handle is not from "
                                           "hf_once_new()");
}

hf_status hf_once_result(const hf_lock *lock, int32_t *status, hf_bytes *result,
                         hf_error *err)
{
    hf_status outcome = hf__lock_check(lock, err);

    if (outcome == HF_OK)
        outcome = check_kind(lock, err);
    if (outcome != HF_OK)
        return outcome;
    if (lock->result.data == NULL)
        return hf__fail(err, HF_NOT_FOUND, "this handle has found no result");
    if (status != NULL)
        *status = lock->result_status;
    if (result != NULL)
        *result = hf_view(lock->result.data, lock->result.size);
    return HF_OK;
}

/* ----------------------------------------------------------------- complete */

/* How the claim was held: the call's note. 0: it was lost; else its validity.
 */
static hf_status begin_complete(hf_call *call, hf_lock *lock, char *owner)
{
    hf__watchdog *watchdog = &lock->client->leases->watchdog;
    hf_status status = HF_OK;

    pthread_mutex_lock(&watchdog->mutex);
    hf__lease_check_locked(watchdog, lock);
    if (lock->state == HF__LOCK_HELD || lock->state == HF__LOCK_LOST) {
        call->note = atomic_load(&lock->valid_until_ms);
        if (lock->state == HF__LOCK_LOST)
            call->note = 0;
        memcpy(owner, lock->owner, HF_OWNER_SIZE);
        hf__lease_unwatch_locked(watchdog, lock);
        lock->state = HF__LOCK_RELEASING;
    } else {
        status = hf__fail(call->form.err, HF_INVALID,
                          "this handle does not hold a claim");
    }
    pthread_mutex_unlock(&watchdog->mutex);
    return status;
}

static void end_complete_locked(hf_lock *lock, const hf_call *call)
{
    hf__watchdog *watchdog = &lock->client->leases->watchdog;
    const hf__request *request = &call->request;
    bool answered =
        request->status == HF_OK && request->reply.kind == HF_REPLY_INTEGER;

    lock->unstored = !answered;
    if (answered && request->reply.integer == 1) {
        lock->state = HF__LOCK_FREE;
        lock->holds = 0;
        if (lock->lost_fd >= 0)
            hf__event_fd_lower(lock->lost_fd);
    } else if (call->note == 0) {
        lock->state = HF__LOCK_LOST;
    } else if (answered) {
        hf__lease_lose_locked(
            watchdog, lock, request->reply.integer == 0 ? HF_EXPIRED : HF_LOST);
    } else {
        lock->state = HF__LOCK_HELD;
        lock->renewing = false; /* one that was answered meanwhile left it */
        atomic_store(&lock->valid_until_ms, call->note);
        hf__lease_retry_locked(watchdog, lock, 0);
        hf__watchdog_arm_locked(watchdog);
    }
}

static void complete_answered(hf_call *call)
{
    hf_lock *lock = call->context;
    hf__watchdog *watchdog = &lock->client->leases->watchdog;
    bool deferred;

    pthread_mutex_lock(&watchdog->mutex);
    end_complete_locked(lock, call);
    pthread_cond_broadcast(&lock->changed);
    deferred = lock->free_deferred;
    pthread_mutex_unlock(&watchdog->mutex);
    if (deferred)
        hf__lock_free_deferred(lock);
}

static bool was_stored(const hf__request *request)
{
    return request->reply.integer == 1;
}

static hf_status finish_complete(hf_call *call, hf_error *err)
{
    if (call->request.reply.integer == 0)
        return hf__fail(err, HF_EXPIRED, "the record of the claim has expired");
    if (call->request.reply.integer < 0)
        return hf__fail(err, HF_LOST, "another owner has claimed the work");
    return HF_OK;
}

static const hf__operation complete = {
    .script = HF__SCRIPT(ONCE_COMPLETE),
    .wrote = was_stored,
    .finish = finish_complete,
    .lease = true,
    .alone = true,
};

static hf_status check_result(hf_bytes result, hf_error *err)
{
    if (result.data == NULL && result.size > 0)
        return hf__fail(err, HF_INVALID, "result is NULL");
    if (result.size > HF_ONCE_RESULT_MAX)
        return hf__fail(err, HF_INVALID,
                        "result has %zu bytes; allowed are up to %d",
                        result.size, HF_ONCE_RESULT_MAX);
    return HF_OK;
}

static hf_status run_complete(hf__form form, hf_lock *lock, int32_t number,
                              hf_bytes result)
{
    hf_status status = hf__lock_check(lock, form.err);
    hf_call here, *call;
    char *owner;

    if (status == HF_OK)
        status = check_kind(lock, form.err);
    if (status != HF_OK)
        return status;
    call = hf__begin(&here, form, &complete, lock->client);
    (void)HF__TRY(call, check_result(result, call->form.err));
    owner = hf__call_alloc(call, HF_OWNER_SIZE);
    hf__add_whole_key(call, lock->keys.main);
    hf__add_whole_key(call, lock->keys.waiters);
    hf__add(call, hf_view(owner, HF_OWNER_SIZE - 1));
    hf__add_number(call, number);
    hf__add(call, result);
    call->context = lock;
    if (HF__TRY(call, begin_complete(call, lock, owner)))
        call->answered = complete_answered;
    return hf__end(call);
}

HF__FORMS(hf_once_complete, run_complete(form, lock, status, result),
          hf_lock *lock, int32_t status, hf_bytes result);

/* ------------------------------------------------------------------- record */

void hf_once_info_free(hf_once_info *info)
{
    if (info != NULL)
        hf_buffer_free(&info->result);
}

static int64_t number_of(const hf_reply *digits)
{
    return strtoll(digits->bytes.data, NULL, 10);
}

static hf_status finish_inspect(hf_call *call, hf_error *err)
{
    const hf_reply *items = call->request.reply.array.items;
    hf_once_info *info = call->out;
    size_t size = items[4].bytes.size;
    hf_buffer result = HF_BUFFER_INIT;
    hf_status status;

    if (items[0].integer == HF_ONCE_ABSENT)
        return hf__fail(err, HF_NOT_FOUND, "no such record");
    status = hf__buffer_set(&result, &items[7], err);
    if (status != HF_OK)
        return status;
    hf_buffer_free(&info->result);
    info->result = result;
    info->state = (hf_once_state)items[0].integer;
    info->remaining_ms = hf__at_least(items[1].integer, 0);
    info->waiters = items[2].integer;
    info->tick_ms = number_of(&items[3]);
    if (size != HF_OWNER_SIZE - 1)
        size = 0; /* `-`: no one's */
    memcpy(info->owner, items[4].bytes.data, size);
    info->owner[size] = '\0';
    info->token = (uint64_t)number_of(&items[5]);
    info->status = (int32_t)number_of(&items[6]);
    return HF_OK;
}

static const hf__operation inspect = {
    .script = HF__SCRIPT(ONCE_INSPECT),
    .finish = finish_inspect,
    .alone = true,
};

/* The keys of the record, as the scripts take them. */
static void add_keys(hf_call *call, hf_bytes key, bool issues)
{
    hf__lock_keys keys;

    if ((call->client->store->capabilities & HF__CAP_UNDOES) != 0)
        (void)HF__TRY(call, hf__fail(call->form.err, HF_UNSUPPORTED,
                                     "a quorum has locks only"));
    if (!HF__TRY(call, hf__layout_check_ours(&call->client->layout, "a claim",
                                             call->form.err)) ||
        !HF__TRY(call, hf__lock_keys_init(call->client, NULL, key, &keys,
                                          call->form.err)))
        return;
    call->owned = keys.storage;
    hf__add_whole_key(call, keys.main);
    if (issues)
        hf__add_whole_key(call, keys.token);
    hf__add_whole_key(call, keys.waiters);
}

static hf_status run_inspect(hf__form form, hf_client *client, hf_bytes key,
                             hf_once_info *info)
{
    hf_call here, *call = hf__begin(&here, form, &inspect, client);

    hf__set_out(call, info, "info");
    if (call->prepared == HF_OK &&
        HF__TRY(call, hf__check_struct(info->struct_size, sizeof(*info),
                                       "hf_once_info", "HF_ONCE_INFO_INIT",
                                       call->form.err)))
        add_keys(call, key, false);
    return hf__end(call);
}

HF__FORMS(hf_once_inspect, run_inspect(form, client, key, info),
          hf_client *client, hf_bytes key, hf_once_info *info);

static const hf__operation delete = {
    .script = HF__SCRIPT(ONCE_DELETE),
    .wrote = hf__wrote_number,
    .finish = hf__finish_found,
    .absent = "no such record",
    .alone = true, /* a grant that it publishes cannot be undone */
};

static hf_status run_delete(hf__form form, hf_client *client, hf_bytes key)
{
    hf_call here, *call = hf__begin(&here, form, &delete, client);

    if (call->prepared == HF_OK)
        add_keys(call, key, true);
    return hf__end(call);
}

HF__FORMS(hf_once_delete, run_delete(form, client, key), hf_client *client,
          hf_bytes key);
