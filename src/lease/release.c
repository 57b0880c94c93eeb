/* SPDX-License-Identifier: Apache-2.0 */
/*
 * release.c - giving leases back.
 *
 * The handle is in state RELEASING from the local decision until the request
 * has completed; the caller gets its status afterwards.
 *
 * A lock that is released early remains in the store for its minimum
 * (hf_lock_options.min_hold_ms): the release is a renewal for what is left of
 * that. The queue stays: its head finds the lock free when it has expired.
 */
#include "lease/release.h"
#include "core/background.h"
#include "core/form.h"
#include "lease/lease.h"
#include "lease/redisson.h"
#include "lease/renewal.h"
#include "script/script_words.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/event_fd.h"
#include "util/order.h"

/* How often a release probes for other libraries: with gaps of 110 ms, 1 % of
 * the time (docs/adr/0086). */
#define PROBE_MS 10000
#define BRIEFLY_MS 5

/* What the release gives to others needs a token, or the key of the kind. */
static hf_bytes second_key(const hf_lock *lock)
{
    return lock->own_key.size > 0 ? lock->own_key : lock->keys.token;
}

void hf__lock_release_fill(const hf_lock *lock, hf__request *request,
                           hf_bytes *words, const char owner[HF_OWNER_SIZE])
{
    size_t count = HF__LOCK_RELEASE_OWNER + 1;

    words[HF__LOCK_RELEASE_LOCK] = lock->keys.main;
    words[HF__LOCK_RELEASE_LAST_TOKEN] = second_key(lock);
    words[HF__LOCK_RELEASE_WAITERS] = lock->keys.waiters;
    words[HF__LOCK_RELEASE_OWNER] = hf_str(owner);
    if (lock->kind->redisson != NULL)
        words[count++] = lock->keys.publish;
    hf__request_script(request, &hf__scripts[lock->kind->release], words, count,
                       HF__LOCK_RELEASE_KEYS);
}

static void undo_by(const hf_lock *lock, uint32_t script,
                    const char owner[HF_OWNER_SIZE])
{
    hf_bytes words[HF__LOCK_RELEASE_WORDS];
    hf__request request;

    hf__lock_release_fill(lock, &request, words, owner);
    request.script = &hf__scripts[script];
    hf__background_send(lock->client,
                        hf__background_copy(&request, lock->options.ttl_ms));
}

void hf__lock_undo(const hf_lock *lock, const char owner[HF_OWNER_SIZE])
{
    char quoted[HF__QUOTED_SIZE];

    HF__LOG(lock->client->log, HF_LOG_DEBUG,
            "releasing the lease of %s, which its call no longer waits for",
            hf__quoted(quoted, hf_lock_name(lock)));
    undo_by(lock, lock->kind->release, owner);
}

/* The store may have made the writer a reader. */
static void undo_reader(const hf_lock *lock)
{
    undo_by(lock, HF__SCRIPT_RWLOCK_RELEASE, lock->owner);
}

/* If no call on it is under way: release it and drop it. */
void hf__lock_free_deferred(hf_lock *lock)
{
    hf__watchdog *watchdog = &lock->client->leases->watchdog;
    bool held, ends;

    pthread_mutex_lock(&watchdog->mutex);
    ends = lock->free_deferred && lock->acquiring == NULL &&
           lock->state != HF__LOCK_RELEASING;
    if (ends)
        hf__lease_leave_locked(watchdog, lock);
    held = ends && (lock->state == HF__LOCK_HELD || lock->downgrading);
    if (held)
        hf__lease_unwatch_locked(watchdog, lock);
    if (ends)
        lock->free_deferred = false; /* only once */
    pthread_mutex_unlock(&watchdog->mutex);
    if (!ends)
        return;
    if (held) {
        hf__lock_undo(lock, lock->owner);
        hf__wait_queue_end_pass(&lock->client->leases->queues, lock);
    }
    if (lock->downgrading)
        undo_reader(lock);
    pthread_mutex_lock(&watchdog->mutex);
    lock->downgrading = false;
    atomic_store(&lock->valid_until_ms, 0);
    lock->state = HF__LOCK_FREE;
    hf__lock_unref_locked(lock);
    pthread_mutex_unlock(&watchdog->mutex);
    hf__watchdog_drop_handle(watchdog);
}

/* Undo one acquire. HF_OK with state RELEASING: it was the last, or what was
 * sent for that is sent `again`. */
static hf_status undo_acquire_locked(hf_lock *lock, bool again, hf_error *err)
{
    if (again) {
        lock->state = HF__LOCK_RELEASING;
        return HF_OK;
    }
    if (lock->state != HF__LOCK_HELD && lock->state != HF__LOCK_LOST)
        return hf__fail(err, HF_INVALID, "this handle does not hold the lock");
    if (--lock->holds > 0)
        return lock->state == HF__LOCK_HELD
                   ? HF_OK
                   : hf__fail(err, HF_LOST, "this handle has lost the lock");
    hf__lease_unwatch_locked(&lock->client->leases->watchdog, lock);
    HF__LOCK_PROBE(release, lock, atomic_load(&lock->token));
    lock->state = HF__LOCK_RELEASING;
    return HF_OK;
}

/* How the lock was held: the call's note. A greater one: the release has an
 * outcome, and the lease was valid until then (ms); KEPT + 1: it had ended.
 * Negative: so it was, and another call may have ended it before. */
enum { ENDED, VALID, DOWNGRADING, KEPT };

/* 0: the release has no outcome. */
static int64_t outcome_until(const hf_call *call)
{
    return call->note < 0 ? -call->note : call->note > KEPT ? call->note : 0;
}

static bool read_grant(const hf_call *call, hf__handed *handed)
{
    const hf_reply *reply = &call->request.reply;

    return call->owned != NULL && reply->kind == HF_REPLY_STRING &&
           hf__handed_read(hf_view(reply->bytes.data, reply->bytes.size),
                           handed) &&
           handed->what == HF__HANDED_GRANT;
}

/* The reply may grant it to the next in the local queue. */
static void pass_on(const hf_call *call)
{
    const hf_lock *lock = call->context;
    const hf__request *request = &call->request;
    hf__handed handed;
    bool granted = request->status == HF_OK && read_grant(call, &handed);

    hf__wait_queue_pass(&lock->client->leases->queues, lock,
                        granted ? &handed : NULL, request->began_ms,
                        request->status == HF_OK && !granted ? lock->gap_ms
                                                             : 0);
}

/* It remains for its minimum: the first waiter knows a later end of the lease.
 */
static void notify_first(const hf_lock *lock)
{
    const hf_bytes words[] = {lock->keys.main, lock->keys.waiters};
    hf__request request;

    if (lock->kind->redisson != NULL)
        return; /* its waiters are elsewhere */
    hf__request_script(&request, HF__SCRIPT(LOCK_NOTIFY), words, 2, 2);
    hf__background_send(lock->client,
                        hf__background_copy(&request, lock->options.ttl_ms));
}

/* For the next acquire: the lock was left to others, and none of ours waits. */
static void note_reply(hf_lock *lock, int64_t reply)
{
    if (lock->kind->redisson != NULL)
        hf__redisson_released(lock, reply);
    else if (reply == 1 && lock->gap_ms > 0)
        atomic_store(&lock->rest_ms, hf__clock_boot_ms() + lock->gap_ms);
}

static void release_answered(hf_call *call)
{
    hf_lock *lock = call->context;
    hf__watchdog *watchdog = &lock->client->leases->watchdog;
    bool deferred;

    if (call->owned != NULL)
        pass_on(call);
    if (lock->downgrading)
        undo_reader(lock);
    if (call->note == KEPT)
        hf__wait_queue_end_pass(&lock->client->leases->queues, lock);
    if (call->note == KEPT && call->request.status == HF_OK)
        notify_first(lock);
    pthread_mutex_lock(&watchdog->mutex);
    lock->downgrading = false;
    lock->state = HF__LOCK_FREE;
    lock->unended =
        outcome_until(call) != 0 && (call->request.status == HF_UNAVAILABLE ||
                                     call->request.status == HF_INDETERMINATE);
    lock->unended_sent =
        call->note < 0 || call->request.status == HF_INDETERMINATE;
    lock->unended_ms = outcome_until(call);
    if (call->request.status == HF_OK &&
        call->request.reply.kind == HF_REPLY_INTEGER)
        note_reply(lock, call->request.reply.integer);
    if (lock->lost_fd >= 0)
        hf__event_fd_lower(lock->lost_fd);
    pthread_cond_broadcast(&lock->changed);
    deferred = lock->free_deferred;
    pthread_mutex_unlock(&watchdog->mutex);
    if (deferred)
        hf__lock_free_deferred(lock);
}

static hf_status finish_release(hf_call *call, hf_error *err)
{
    const hf__request *request = &call->request;
    int64_t until_ms = outcome_until(call);
    /* Gone before the lease ended, after a resend: the first one released it,
     * and a waiter may have the lock by now. */
    bool by_first = (call->note == VALID || until_ms > 0) &&
                    (request->sends > 1 || call->note < 0);
    hf__handed handed;

    if (request->reply.kind != HF_REPLY_INTEGER)
        return read_grant(call, &handed)
                   ? HF_OK
                   : hf__bad_reply(request->script->name, err);
    if (by_first && until_ms > 0 && request->reply.integer == 0 &&
        hf__clock_boot_ms() >= until_ms)
        return hf__fail(err, HF_INDETERMINATE,
                        "the lease expired before a reply arrived");
    if (by_first)
        return HF_OK;
    if (request->reply.integer == 0)
        return hf__fail(err, HF_EXPIRED, "the lease had expired");
    if (request->reply.integer == -1 && call->note == DOWNGRADING)
        return hf__fail(err, HF_INDETERMINATE,
                        "a downgrade got no reply; if it was done, the lock "
                        "is released now");
    if (request->reply.integer == -1)
        return hf__fail(err, HF_LOST, "another owner holds the lock");
    return HF_OK;
}

static const hf__operation release_one = {
    .finish = finish_release,
    .lease = true,
};

static hf_status finish_keep(hf_call *call, hf_error *err)
{
    hf__renewal_answer answer;

    if (!hf__renewal_read(&call->request.reply, 1, &answer))
        return hf__bad_reply(call->request.script->name, err);
    if (answer == HF__GONE)
        return hf__fail(err, HF_EXPIRED, "the lease had expired");
    if (answer == HF__TAKEN)
        return hf__fail(err, HF_LOST, "another owner holds the lock");
    return HF_OK;
}

/* In which period of PROBE_MS that instant is, by the store's clock if it is
 * known: then clients agree, and of those that hold a lock in turn one probes
 * in each. */
static int64_t period_of(const hf_lock *lock, int64_t at_ms)
{
    int64_t store_ms = lock->clock_us / 1000 + at_ms - lock->asked_ms;

    return (store_ms + (int64_t)(lock->hash % PROBE_MS)) / PROBE_MS;
}

/* A lock that no one waits for and that is held briefly is often free. */
static bool release_probes(const hf_lock *lock, int64_t now_ms)
{
    return period_of(lock, now_ms) != period_of(lock, lock->held_ms) &&
           (lock->clock_us != 0 || now_ms - lock->held_ms >= BRIEFLY_MS);
}

/*
 * Other libraries poll for a free key, and between two hand-overs there is
 * none. So a release leaves the lock free for a moment if one of them uses it
 * and is behind; else rarely, so that one that comes later gets in.
 */
static int64_t gap_of(const hf_lock *lock)
{
    uint32_t capabilities = lock->client->store->capabilities;
    bool always = lock->options.gaps == HF_LOCK_GAPS_ALWAYS;
    int64_t now_ms = hf__clock_boot_ms(), gap_ms;

    if (!lock->kind->gaps || lock->options.gaps == HF_LOCK_GAPS_NEVER ||
        (capabilities & HF__CAP_ALONE) != 0)
        return 0;
    gap_ms = hf__turns_release(&lock->client->leases->turns, lock->hash,
                               now_ms - lock->held_ms, always);
    return gap_ms == 0 && (capabilities & HF__CAP_LOCAL) == 0 &&
                   release_probes(lock, now_ms)
               ? HF__TURNS_GAP_MS
               : gap_ms;
}

/* The counts for the next holder's client; empty: none. */
static hf_bytes print_turns(hf_lock *lock)
{
    hf__turns_told told;

    if (!lock->kind->gaps ||
        !hf__turns_tell(&lock->client->leases->turns, lock->hash, &told))
        return hf_str("");
    hf__handed_print(&told, lock->turns_text);
    return hf_str(lock->turns_text);
}

/* The next of this client, the gap, turns; most releases have none of them. */
static void fill_rest(hf_call *call, hf_lock *lock)
{
    hf_bytes turns = print_turns(lock);
    int64_t entered_ms = lock->asked_ms;
    char *entry = NULL;

    if (lock->kind->passes)
        entry = hf__wait_queue_take_offer(&lock->client->leases->queues, lock,
                                          &entered_ms);
    call->owned = entry;
    if (lock->gap_ms == 0 && entry == NULL && turns.size == 0)
        return;
    hf__add(call, hf_str("")); /* it leaves no queue */
    hf__add(call, hf_str(entry == NULL ? "" : entry));
    hf__add_number(call, lock->clock_us + (entered_ms - lock->asked_ms) * 1000);
    hf__add_number(call, hf__lock_rank(lock));
    if (lock->gap_ms > 0)
        hf__add_number(call, lock->gap_ms);
    else if (turns.size > 0)
        hf__add(call, hf_str(""));
    if (turns.size > 0)
        hf__add(call, turns);
}

/* What the key holds, if no one waits: the script compares that whole. */
static hf_bytes value_of(hf_lock *lock)
{
    char text[HF__NUMBER_SIZE];
    hf_bytes token = hf__number(text, (int64_t)atomic_load(&lock->token));

    memcpy(lock->value, lock->owner, HF_OWNER_SIZE - 1);
    lock->value[HF_OWNER_SIZE - 1] = '=';
    memcpy(lock->value + HF_OWNER_SIZE, token.data, token.size);
    return hf_view(lock->value, HF_OWNER_SIZE + token.size);
}

/* If the lock, which was valid, is to remain: true. */
static bool keep_minimum(hf_call *call, const hf_lock *lock)
{
    int64_t passed_ms = hf__clock_boot_ms() - lock->held_ms;
    int64_t left_ms = lock->options.min_hold_ms - passed_ms;

    if (left_ms <= 0)
        return false;
    call->script = &hf__scripts[lock->kind->renew];
    call->finish = finish_keep;
    hf__add_whole_key(call, lock->keys.main);
    hf__add(call, hf_str(lock->owner));
    hf__add_number(call, left_ms);
    return true;
}

/* In state RELEASING, in which the handle cannot be freed. `valid_ms`: until
 * when the lease was valid; 0: it had ended. */
static void fill_release(hf_call *call, hf_lock *lock, int64_t valid_ms,
                         const hf__outcome *outcome)
{
    call->context = lock;
    call->words_stay = true;
    call->answered = release_answered;
    lock->gap_ms = 0;
    call->note = lock->downgrading ? DOWNGRADING : valid_ms > 0 ? VALID : ENDED;
    if (outcome != NULL)
        call->note = valid_ms > 0 ? valid_ms : KEPT + 1;
    if (valid_ms > 0 && lock->options.min_hold_ms > 0 &&
        keep_minimum(call, lock)) {
        call->note = KEPT;
        return;
    }
    call->script = &hf__scripts[lock->kind->release];
    hf__add_whole_key(call, lock->keys.main);
    hf__add_whole_key(call, second_key(lock));
    hf__add_whole_key(call, lock->keys.waiters);
    hf__add(call, lock->kind->is_string ? value_of(lock) : hf_str(lock->owner));
    lock->gap_ms = gap_of(lock);
    if (outcome != NULL) {
        hf__add(call, hf_str("")); /* it leaves no queue */
        hf__add(call, hf_str(outcome->what));
        hf__add_number(call, outcome->delay_ms);
        hf__add(call, lock->kind->kept_id(lock));
    } else {
        fill_rest(call, lock);
    }
    if (lock->kind->redisson != NULL)
        hf__add(call, lock->keys.publish);
}

static hf_status run_checked(hf__form form, hf_lock *lock,
                             const hf__outcome *outcome)
{
    hf__watchdog *watchdog = &lock->client->leases->watchdog;
    hf_call here, *call = hf__begin(&here, form, &release_one, lock->client);
    int64_t valid_ms = 0;
    bool again, sent;

    if (call->prepared != HF_OK)
        return hf__end(call);
    pthread_mutex_lock(&watchdog->mutex);
    hf__lease_check_locked(watchdog, lock);
    again = outcome != NULL && lock->unended && lock->state == HF__LOCK_FREE;
    sent = again && lock->unended_sent;
    if (again)
        valid_ms = lock->unended_ms;
    else if (lock->state == HF__LOCK_HELD)
        valid_ms = atomic_load(&lock->valid_until_ms);
    call->prepared = undo_acquire_locked(lock, again, call->form.err);
    call->skips_store = lock->state != HF__LOCK_RELEASING;
    pthread_mutex_unlock(&watchdog->mutex);
    if (call->prepared == HF_OK && !call->skips_store)
        fill_release(call, lock, valid_ms, outcome);
    if (sent)
        call->note = -call->note;
    return hf__end(call);
}

static hf_status run_release(hf__form form, hf_lock *lock)
{
    hf_status status = hf__lock_check(lock, form.err);

    return status == HF_OK ? run_checked(form, lock, NULL) : status;
}

hf_status hf__lock_release_as(hf__form form, hf_lock *lock,
                              const hf__outcome *outcome)
{
    return run_checked(form, lock, outcome);
}

HF__FORMS(hf_lock_release, run_release(form, lock), hf_lock *lock);

hf_status hf_lock_release_many(hf_lock *const *locks, size_t count,
                               hf_status *statuses, hf_error *err)
{
    hf_status status = hf__locks_check(locks, count, err);
    hf__many many;

    if (status != HF_OK || count == 0)
        return status;
    hf__many_begin(&many, locks[0]->client, count, statuses, err);
    HF__EACH((void)0, run_checked(form, locks[i], NULL))
}

hf_status hf_lock_release_many_start(hf_lock *const *locks, size_t count,
                                     hf_status *statuses, const hf_async *async,
                                     hf_error *err)
{
    hf__gathering started;
    hf__many many;

    hf__locks_start(&many, &started, true, locks, count, statuses, async, err);
    HF__EACH((void)0, run_checked(form, locks[i], NULL))
}
