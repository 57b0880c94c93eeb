/* SPDX-License-Identifier: Apache-2.0 */
/*
 * together.c - acquiring several locks, all or none: hf_lock_acquire_all() and
 * its started form.
 *
 * 1. The locks are sorted by shard and key. All programs have this order, and
 *    wait only for a lock that comes after all that they hold, so none waits
 *    for itself through others.
 * 2. Exclusive locks of one shard that follow one another are taken by one
 *    script, up to the first that is not free.
 * 3. That one, and any lock which the script cannot take, is acquired by
 *    itself (acquire.h), with a place in its queue. Then go to 2.
 * 4. When all are held, some may have been lost meanwhile: release the others
 *    and begin again.
 * 5. After a failure, those that were acquired are released, and the call ends
 *    when the replies have arrived. What a step without a reply may have
 *    acquired is released without waiting; a cancelled call then says so.
 */
#include "holdfast/together.h"

#include <stdlib.h>

#include "core/async.h"
#include "core/run.h"
#include "core/run_async.h"
#include "lease/acquire.h"
#include "lease/lease.h"
#include "lease/release.h"
#include "util/clock.h"
#include "util/container.h"
#include "util/error.h"
#include "util/event_fd.h"
#include "util/mem.h"
#include "util/order.h"

/* A cancelled call awaits the reply of the script for so long. */
#define GRACE_MS 100

/* KEYS[1] and ARGV[1]; of each lock two keys and two arguments. */
#define WORDS(count) (2 + 4 * (count))

typedef struct together together;

/* One of the locks. */
typedef struct together_member {
    hf_lock *lock;
    uint32_t shard;
    bool taken; /* by this call: to be released if it fails */
    hf__interrupt_mark mark;
    hf__grant grant; /* of the script; then its owner is that to release */
    hf__request release;
    hf_bytes words[HF__LOCK_RELEASE_WORDS];
    char lease_text[HF__NUMBER_SIZE];
    together *all;
} together_member;

typedef enum stage {
    SCRIPT,   /* a request for the locks of the run, which are ACQUIRING */
    ACQUIRE,  /* the next lock, by itself: `acquire` */
    RELEASE,  /* is away until those that were taken are released; then it ends
               * with `status`, or begins again if that is HF_OK */
    RELEASING /* the same, and has begun */
} stage;

struct together {
    hf__procedure procedure;
    stage stage;
    hf_client *client;
    int64_t wait_ms;
    int64_t until_ms; /* 0: try once */
    size_t count;
    size_t at;        /* those before it are held */
    size_t run;       /* those from there on that the script is to take */
    size_t culprit;   /* because of it the call fails */
    bool silent;      /* a step had no reply, and neither had a later one */
    hf_status status; /* of the last step; `detail` with it */
    hf_error detail;
    hf__acquire acquire; /* of one lock */
    hf__request request; /* of the script */
    hf_bytes *words;
    atomic_size_t releasing; /* requests without a reply, and 1 */
    hf_call *call;           /* NULL: the call blocks */
    hf__async_run async;     /* if it does not */
    together_member members[];
};

static together *together_of(hf__procedure *procedure)
{
    return hf__container_of(procedure, together, procedure);
}

static hf__watchdog *watchdog_of(const together *self)
{
    return &self->client->leases->watchdog;
}

static bool one_interrupted(const hf__procedure *procedure)
{
    const together *self =
        hf__container_of(procedure, const together, procedure);

    for (size_t i = 0; i < self->count; i++) {
        if (hf__interrupted(self->members[i].lock, self->members[i].mark))
            return true;
    }
    return false;
}

/* ----------------------------------------------------------------- release */

static void released_one(together *self)
{
    if (atomic_fetch_sub(&self->releasing, 1) == 1)
        hf__resume(&self->procedure);
}

static void on_released(hf__request *request)
{
    together_member *one = hf__container_of(request, together_member, release);
    hf__watchdog *watchdog = watchdog_of(one->all);
    hf_lock *lock = one->lock;

    hf__request_done(request);
    pthread_mutex_lock(&watchdog->mutex);
    lock->state = HF__LOCK_FREE;
    if (lock->lost_fd >= 0)
        hf__event_fd_lower(lock->lost_fd);
    pthread_cond_broadcast(&lock->changed);
    pthread_mutex_unlock(&watchdog->mutex);
    released_one(one->all);
}

/* Undo one acquire; true: it was the last, and its owner is to be released. */
static bool leave_locked(together_member *one)
{
    hf_lock *lock = one->lock;
    bool last = one->taken && --lock->holds == 0;

    one->taken = false;
    if (!last)
        return false;
    hf__lease_unwatch_locked(watchdog_of(one->all), lock);
    lock->state = HF__LOCK_RELEASING;
    memcpy(one->grant.owner, lock->owner, HF_OWNER_SIZE);
    return true;
}

static void send_release(together_member *one)
{
    hf__store *store = one->lock->client->store;
    hf__request *request = &one->release;

    hf__lock_release_fill(one->lock, request, one->words, one->grant.owner);
    request->on_done = on_released;
    request->status = hf__request_stamp(one->lock->client, request, INT64_MAX,
                                        &request->error);
    if (request->status == HF_OK)
        store->ops->submit(store, &request, 1);
    else
        on_released(request);
}

/* Step 5; true: there is nothing to wait for. */
static bool release_taken(hf__procedure *procedure)
{
    together *self = together_of(procedure);
    hf__watchdog *watchdog = watchdog_of(self);

    self->stage = RELEASING;
    atomic_store(&self->releasing, 1);
    for (size_t i = 0; i < self->at; i++) {
        bool last;

        pthread_mutex_lock(&watchdog->mutex);
        last = leave_locked(&self->members[i]);
        pthread_mutex_unlock(&watchdog->mutex);
        if (last) {
            atomic_fetch_add(&self->releasing, 1);
            send_release(&self->members[i]);
        }
    }
    return atomic_fetch_sub(&self->releasing, 1) == 1;
}

static hf__next release_all(together *self)
{
    self->stage = RELEASE;
    self->procedure.wake_ms = INT64_MAX;
    return HF__AWAY;
}

/* `detail` says why. */
static void name_culprit(together *self)
{
    char quoted[HF__QUOTED_SIZE];

    hf__quoted(quoted, hf_lock_name(self->members[self->culprit].lock));
    if (self->wait_ms != 0 && self->status == HF_TIMEOUT)
        self->status = hf__fail(&self->detail, HF_TIMEOUT,
                                "timed out after %lld ms waiting for lock %s",
                                (long long)self->wait_ms, quoted);
    else if (self->status != HF_CANCELLED)
        hf__fail_prefix(&self->detail, "lock %s", quoted);
}

static hf__next fail_together(together *self)
{
    name_culprit(self);
    return self->at > 0 ? release_all(self) : HF__END;
}

/* ------------------------------------------------------------------ script */

/* May the script take it together with the first of the run? */
static bool fits_run(const together *self, size_t i)
{
    const hf_lock *lock = self->members[i].lock;

    return lock->state == HF__LOCK_FREE && lock->replicas.count == 0 &&
           lock->kind->acquire == HF__SCRIPT_LOCK_ACQUIRE &&
           self->members[i].shard == self->members[self->at].shard;
}

static void leave_run_locked(together *self, size_t from)
{
    for (size_t i = from; i < self->run; i++) {
        hf_lock *lock = self->members[self->at + i].lock;

        lock->state = HF__LOCK_FREE;
        pthread_cond_broadcast(&lock->changed);
    }
}

/* The locks of the run are ACQUIRING afterwards, if there are several. */
static void find_run(together *self)
{
    hf__watchdog *watchdog = watchdog_of(self);
    bool busy;

    self->run = 0;
    if ((self->client->store->capabilities & HF__CAP_UNDOES) != 0)
        return;
    pthread_mutex_lock(&watchdog->mutex);
    while (self->at + self->run < self->count &&
           fits_run(self, self->at + self->run) &&
           hf__lock_begin_locked(self->members[self->at + self->run].lock, 0,
                                 &busy, NULL) == HF_OK)
        self->run++;
    if (self->run < 2) {
        leave_run_locked(self, 0);
        self->run = 0;
    }
    pthread_mutex_unlock(&watchdog->mutex);
}

static hf__request *fill_script(hf__procedure *procedure)
{
    together *self = together_of(procedure);
    size_t n = self->run;
    hf_bytes *words = self->words;
    int64_t now_ms = hf__clock_boot_ms();

    words[0] = self->members[self->at].lock->keys.token;
    words[2 * n + 1] = hf_str(self->wait_ms == 0 ? "1" : "0");
    for (size_t i = 0; i < n; i++) {
        together_member *one = &self->members[self->at + i];
        hf_lock *lock = one->lock;

        hf__owner_draw(&self->client->leases->owners, now_ms, one->grant.owner);
        words[1 + i] = lock->keys.main;
        words[1 + n + i] = lock->keys.waiters;
        words[2 * n + 2 + 2 * i] = hf_str(one->grant.owner);
        words[2 * n + 3 + 2 * i] = hf__number(
            one->lease_text, lock->lease_ms + lock->options.delay_ms);
    }
    hf__request_script(&self->request,
                       &hf__scripts[HF__SCRIPT_LOCK_ACQUIRE_ALL], words,
                       WORDS(n), 2 * n + 1);
    return &self->request;
}

/* The first `taken` of the run are held now. */
static void hold_locked(together *self, size_t taken, uint64_t token,
                        bool *watched)
{
    for (size_t i = 0; i < taken; i++) {
        together_member *one = &self->members[self->at + i];

        one->grant.token = token + i;
        one->grant.acked = -1;
        one->grant.sent_ms = self->request.began_ms;
        one->grant.lease_ms = one->lock->lease_ms;
        one->taken = true;
        hf__lock_hold_locked(one->lock, &one->grant);
        *watched = *watched || one->lock->watched;
        pthread_cond_broadcast(&one->lock->changed);
    }
}

/* A reply that came after the end of a lease does not count. */
static hf_status check_late(together *self)
{
    int64_t now_ms = hf__clock_boot_ms();

    for (size_t i = 0; i < self->run; i++) {
        const hf_lock *lock = self->members[self->at + i].lock;

        if (now_ms >=
            hf__lock_validity(lock, self->request.began_ms, lock->lease_ms))
            return hf__fail(&self->detail, HF_INDETERMINATE,
                            "the reply took longer than the lease");
    }
    return HF_OK;
}

/* Nothing is known of what the script did, or it failed half-way. */
static void undo_run(together *self)
{
    for (size_t i = 0; i < self->run; i++)
        hf__lock_undo(self->members[self->at + i].lock,
                      self->members[self->at + i].grant.owner);
}

static void note_reply(together *self, hf_status status)
{
    if (status == HF_INDETERMINATE)
        self->silent = true;
    else if (status != HF_UNAVAILABLE && status != HF_CANCELLED)
        self->silent = false;
}

/* What the shape of the reply does not say. */
static hf_status check_counts(together *self)
{
    const hf_reply *items = self->request.reply.array.items;
    int64_t room = (int64_t)self->run - (items[1].integer == 0);

    if (items[0].integer <= room &&
        (items[0].integer > 0 || items[1].integer == 0) &&
        items[1].integer <= HF__TOKEN_MAX - (int64_t)self->run)
        return check_late(self);
    return hf__bad_reply(self->request.script->name, &self->detail);
}

/* Another owner holds one, and the call does not wait. */
static void refuse_held(together *self, size_t culprit)
{
    const hf_lock *lock = self->members[culprit].lock;

    self->culprit = culprit;
    self->status =
        hf__fail(&self->detail, HF_TIMEOUT, "%s", lock->kind->refused);
}

static void take_run(together *self, size_t taken)
{
    hf__watchdog *watchdog = watchdog_of(self);
    bool watched = false;

    pthread_mutex_lock(&watchdog->mutex);
    hold_locked(self, taken,
                (uint64_t)self->request.reply.array.items[1].integer, &watched);
    leave_run_locked(self, taken);
    pthread_mutex_unlock(&watchdog->mutex);
    if (watched)
        hf__registry_note(&self->client->leases->registry);
    self->at += taken;
}

static void leave_run(together *self)
{
    hf__watchdog *watchdog = watchdog_of(self);

    pthread_mutex_lock(&watchdog->mutex);
    leave_run_locked(self, 0);
    pthread_mutex_unlock(&watchdog->mutex);
}

/* ------------------------------------------------------------------- steps */

/* Step 3. */
static hf__next acquire_next(together *self)
{
    const together_member *one = &self->members[self->at];
    int64_t wait_ms = self->wait_ms;

    if (wait_ms != 0 && wait_ms != HF_FOREVER)
        wait_ms = hf__at_least(self->until_ms - hf__clock_boot_ms(), 0);
    self->stage = ACQUIRE;
    self->culprit = self->at;
    hf__acquire_init(&self->acquire, one->lock, wait_ms,
                     wait_ms == 0 ? 0 : self->until_ms, one->mark,
                     self->call != NULL);
    return hf__procedure_call(&self->procedure, &self->acquire.procedure,
                              hf__acquire_begin(&self->acquire, 0, NULL));
}

/* Step 4. */
static hf__next check_all(together *self)
{
    size_t i = 0;

    while (i < self->count && hf_lock_is_held(self->members[i].lock))
        i++;
    if (i == self->count)
        return HF__END;
    if (self->wait_ms != 0 && hf__clock_boot_ms() < self->until_ms)
        return release_all(self);
    self->culprit = i;
    self->status = hf__fail(&self->detail, HF_LOST,
                            "lost before the others were acquired");
    return fail_together(self);
}

/* After a step, with its status; the script takes those that follow. */
static hf__next take_rest(together *self)
{
    if (self->status != HF_OK)
        return fail_together(self);
    if (self->at == self->count)
        return check_all(self);
    find_run(self);
    if (self->run == 0)
        return acquire_next(self);
    self->stage = SCRIPT;
    return HF__ASK;
}

/* A lock that the script did not take is acquired by itself: that waits, and
 * names a key of another type. */
static hf__next take_without_script(together *self)
{
    if (self->status != HF_OK)
        return fail_together(self);
    return self->at == self->count ? check_all(self) : acquire_next(self);
}

static hf__next read_failure(together *self)
{
    if (self->status != HF_UNAVAILABLE)
        undo_run(self);
    leave_run(self);
    if (self->status == HF_WRONG_TYPE ||
        (self->wait_ms != 0 && hf__steps_may_retry(self->status)))
        self->status = HF_OK;
    return take_without_script(self);
}

static hf__next read_script(together *self, hf_status status)
{
    const hf_reply *items = self->request.reply.array.items;

    self->culprit = self->at;
    self->status = status == HF_OK ? check_counts(self) : status;
    note_reply(self, self->status);
    if (self->status != HF_OK)
        return read_failure(self);
    if (items[1].integer != 0) {
        size_t taken = (size_t)items[0].integer;

        take_run(self, taken);
        return taken == self->run ? take_rest(self) : take_without_script(self);
    }
    leave_run(self);
    if (self->wait_ms == 0)
        refuse_held(self, self->at + (size_t)items[0].integer);
    return take_without_script(self);
}

static hf__next read_answer(together *self)
{
    hf__request *request = &self->request;
    hf__next next;

    if (request->status != HF_OK)
        hf__fail_copy(&self->detail, &request->error);
    next = read_script(self, request->status);
    hf__request_done(request);
    return next;
}

static hf__next read_unsent(together *self)
{
    hf__request_done(&self->request);
    return read_script(self, self->detail.status);
}

static hf__next end_acquire(together *self)
{
    self->status = hf__acquire_end(&self->acquire, &self->detail);
    note_reply(self, self->status);
    if (self->status == HF_OK)
        self->members[self->at++].taken = true;
    return take_rest(self);
}

/* Nothing is under way but releases. */
static hf__next stop_together(together *self, hf_status status, const char *why)
{
    if (self->status == HF_OK || hf__steps_may_retry(self->status))
        self->status = hf__fail(&self->detail, status, "%s", why);
    switch (self->stage) {
    case RELEASE:
        return HF__AWAY;
    case RELEASING:
        return HF__STAY;
    case ACQUIRE:
        (void)hf__acquire_end(&self->acquire, NULL);
        break;
    case SCRIPT:
        leave_run(self);
        break;
    }
    return fail_together(self);
}

static hf__next cancel_together(together *self)
{
    if (self->silent)
        return stop_together(self, HF_INDETERMINATE,
                             "cancelled while a try had no reply");
    return stop_together(self, HF_CANCELLED,
                         self->call == NULL ? HF__INTERRUPTED : "cancelled");
}

static hf__next end_release(together *self)
{
    if (self->status != HF_OK)
        return HF__END;
    self->at = 0;
    return take_rest(self);
}

static hf__next together_step(hf__procedure *procedure, hf__happened what)
{
    together *self = together_of(procedure);

    switch (what) {
    case HF__ANSWERED:
        return read_answer(self);
    case HF__RETURNED:
        return end_acquire(self);
    case HF__RESUMED:
        return end_release(self);
    case HF__CANCELLED:
        return cancel_together(self);
    case HF__CLOSED:
        return stop_together(self, HF_UNAVAILABLE, "the client was closed");
    case HF__FAILED:
        return read_unsent(self);
    case HF__LISTENS:
    case HF__EVENT:
    case HF__TIME:
        break;
    }
    return HF__STAY;
}

static const hf__procedure_kind kind = {.step = together_step,
                                        .fill = fill_script,
                                        .leave = release_taken,
                                        .interrupted = one_interrupted,
                                        .grace_ms = GRACE_MS};

/* -------------------------------------------------------------------- make */

static int compare_members(const void *a, const void *b)
{
    const together_member *x = a, *y = b;
    hf_bytes p = x->lock->keys.main, q = y->lock->keys.main;
    int order;

    if (x->shard != y->shard)
        return x->shard < y->shard ? -1 : 1;
    order = memcmp(p.data, q.data, p.size < q.size ? p.size : q.size);
    return order != 0 ? order : (p.size > q.size) - (p.size < q.size);
}

static hf_status sort_members(together *self, hf_error *err)
{
    char quoted[HF__QUOTED_SIZE];

    qsort(self->members, self->count, sizeof(self->members[0]),
          compare_members);
    for (size_t i = 1; i < self->count; i++) {
        if (compare_members(&self->members[i - 1], &self->members[i]) == 0)
            return hf__fail(
                err, HF_INVALID, "lock %s is given twice",
                hf__quoted(quoted, hf_lock_name(self->members[i].lock)));
    }
    return HF_OK;
}

static together *allocate_together(hf_client *client, size_t count)
{
    together *self =
        hf__calloc(1, sizeof(*self) + count * sizeof(self->members[0]) +
                          WORDS(count) * sizeof(hf_bytes));

    if (self == NULL)
        return NULL;
    self->client = client;
    self->count = count;
    self->words = (hf_bytes *)(void *)&self->members[count];
    self->detail = (hf_error)HF_ERROR_INIT;
    hf__procedure_init(&self->procedure, client, &kind, &self->detail);
    hf__request_init(&self->request);
    return self;
}

/* With the threads that are needed on the way. Free it with hf__free(). */
static hf_status make_together(hf_lock *const *locks, size_t count,
                               int64_t wait_ms, together **made, hf_error *err)
{
    hf_client *client = locks[0]->client;
    hf_status status = hf__watchdog_start(&client->leases->watchdog, err);
    together *self;

    if (status != HF_OK)
        return status;
    self = allocate_together(client, count);
    if (self == NULL)
        return hf__fail(err, HF_NO_MEMORY, "%zu locks", count);
    self->wait_ms = wait_ms;
    self->until_ms =
        wait_ms == 0 ? 0 : hf__clock_after(hf__clock_boot_ms(), wait_ms);
    for (size_t i = 0; i < count; i++) {
        self->members[i].lock = locks[i];
        self->members[i].shard =
            client->store->ops->shard(client->store, locks[i]->keys.main);
        self->members[i].mark = hf__interrupt_mark_of(locks[i]);
        self->members[i].all = self;
    }
    status = sort_members(self, err);
    if (status == HF_OK)
        *made = self;
    else
        hf__free(self);
    return status;
}

static hf_status check_all_locks(hf_lock *const *locks, size_t count,
                                 int64_t wait_ms, hf_error *err)
{
    hf_status status;

    if (count < 1 || count > HF_LOCK_ALL_MAX)
        return hf__fail(err, HF_INVALID, "count is %zu; it must be 1..%u",
                        count, HF_LOCK_ALL_MAX);
    status = hf__locks_check(locks, count, err);
    return status == HF_OK ? hf__check_wait(wait_ms, err) : status;
}

/* -------------------------------------------------------------- both forms */

static hf_status run_together(hf_lock *const *locks, size_t count,
                              int64_t wait_ms, hf_error *err)
{
    together *self;
    hf_status status = make_together(locks, count, wait_ms, &self, err);

    if (status != HF_OK)
        return status;
    hf__run_blocking(&self->procedure, take_rest(self));
    status = self->status;
    if (status != HF_OK)
        hf__fail_copy(err, &self->detail);
    hf__free(self);
    return status;
}

hf_status hf_lock_acquire_all(hf_lock *const *locks, size_t count,
                              int64_t wait_ms, hf_error *err)
{
    hf_status status = check_all_locks(locks, count, wait_ms, err);

    if (status == HF_OK && count == 1)
        return hf_lock_acquire(locks[0], wait_ms, err);
    if (status == HF_OK)
        status = hf__client_enter_blocking(locks[0]->client, err);
    if (status != HF_OK)
        return status;
    status = run_together(locks, count, wait_ms, err);
    hf__life_leave(&locks[0]->client->life);
    return status;
}

static void on_ended(hf__async_run *async)
{
    together *self = hf__container_of(async, together, async);
    hf_call *call = self->call;

    (void)hf__async_stop(async);
    call->request.status = self->status;
    if (self->status != HF_OK)
        call->request.error = self->detail;
    hf__call_complete(call);
}

static void cancel_call(hf_call *call)
{
    hf__async_cancel_call(&((together *)call->owned)->async, call);
}

static hf_status start_together(hf_call *call, hf_lock *const *locks,
                                size_t count, int64_t wait_ms,
                                const hf_async *async, hf_error *err)
{
    hf_status status = hf__timers_start(&call->client->timers, err);
    together *self;

    if (status == HF_OK)
        status = make_together(locks, count, wait_ms, &self, err);
    if (status != HF_OK)
        return status;
    self->call = call;
    hf__async_init(&self->async, &self->procedure, on_ended);
    call->owned = self;
    call->cancel = cancel_call;
    hf__call_start_begin(call, async);
    hf__async_begin(&self->async, take_rest(self));
    hf__call_start_end(call);
    return HF_OK;
}

hf_status hf_lock_acquire_all_start(hf_lock *const *locks, size_t count,
                                    int64_t wait_ms, const hf_async *async,
                                    hf_error *err)
{
    hf_status status = check_all_locks(locks, count, wait_ms, err);
    hf_call *call;

    if (status == HF_OK && count == 1)
        return hf_lock_acquire_start(locks[0], wait_ms, async, err);
    if (status == HF_OK)
        status = hf__call_new(locks[0]->client, async, &call, err);
    if (status != HF_OK)
        return status;
    hf__call_init(call, locks[0]->client);
    status = hf__call_enter(call, false, err);
    if (status == HF_OK)
        status = start_together(call, locks, count, wait_ms, async, err);
    if (status != HF_OK)
        hf__call_discard(call);
    return status;
}
