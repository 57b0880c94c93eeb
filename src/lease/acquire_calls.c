/* SPDX-License-Identifier: Apache-2.0 */
/*
 * acquire_calls.c - the calls that acquire a lock: on the calling thread,
 * started, and many at once.
 */
#include "core/async.h"
#include "core/client.h"
#include "core/form.h"
#include "core/run.h"
#include "core/run_async.h"
#include "core/wrong_type.h"
#include "holdfast/lock.h"
#include "lease/acquire.h"
#include "lease/lease.h"
#include "util/clock.h"
#include "util/cond.h"
#include "util/container.h"
#include "util/error.h"
#include "util/mem.h"

static hf_status check_acquire(const hf_lock *lock, int64_t wait_ms,
                               int64_t lease_ms, hf_error *err)
{
    hf_status status = hf__lock_check(lock, err);

    if (status == HF_OK)
        status = hf__check_wait(wait_ms, err);
    return status == HF_OK ? hf__lock_check_lease(lease_ms, err) : status;
}

/* ---------------------------------------------------------------- blocking */

/* What it takes to interrupt a call that waits for the handle. */
typedef struct hf__attempt {
    hf__interrupt_mark mark;
    hf__sleeper sleeper;
    hf_lock *lock;
    hf__end_first end;
} hf__attempt;

/* In state ACQUIRING, without the mutex. */
static hf_status run_acquire(hf_lock *lock, int64_t wait_ms, int64_t until_ms,
                             const hf__attempt *attempt, hf_error *err)
{
    hf__acquire acquire;
    hf_status status;

    hf__acquire_init(&acquire, lock, wait_ms, until_ms, attempt->mark, false);
    acquire.steps.end = attempt->end;
    hf__run_blocking(&acquire.procedure, hf__acquire_first(&acquire));
    status = hf__acquire_end(&acquire, err);
    if (status == HF_WRONG_TYPE)
        hf__wrong_type_ask(lock->client, &acquire.steps.request,
                           acquire.steps.request.deadline_ms, err);
    return status;
}

/* Is the other call on the handle over after one request? */
static bool ends_soon_locked(const hf_lock *lock)
{
    return lock->state == HF__LOCK_RELEASING ||
           (lock->state == HF__LOCK_ACQUIRING && !lock->waits);
}

/* Begin, waiting for other calls on the handle; a try waits only for those that
 * end soon. */
static hf_status begin_by_locked(hf_lock *lock, int64_t lease_ms,
                                 int64_t until_ms, hf__attempt *attempt,
                                 hf_error *err)
{
    hf__watchdog *watchdog = &lock->client->leases->watchdog;
    bool busy;

    /* Now: what another thread takes while this one waits is not its to end. */
    hf__steps_let_go_locked(lock, &attempt->end);
    for (;;) {
        hf_status status = hf__lock_begin_locked(lock, lease_ms, &busy, err);

        if (!busy || (hf__clock_boot_ms() >= until_ms &&
                      (until_ms > 0 || !ends_soon_locked(lock))))
            return status;
        hf__sleeper_add(&lock->client->interrupts, &attempt->sleeper);
        if (hf__interrupted(lock, attempt->mark))
            return hf__fail(err, HF_CANCELLED, HF__INTERRUPTED);
        hf__cond_wait_until(&lock->changed, &watchdog->mutex,
                            until_ms > 0 ? until_ms : INT64_MAX);
    }
}

static void wake_attempt(hf__sleeper *sleeper)
{
    hf_lock *lock = hf__container_of(sleeper, hf__attempt, sleeper)->lock;

    pthread_mutex_lock(&lock->client->leases->watchdog.mutex);
    pthread_cond_broadcast(&lock->changed);
    pthread_mutex_unlock(&lock->client->leases->watchdog.mutex);
}

static hf_status acquire_by(hf_lock *lock, int64_t wait_ms, int64_t lease_ms,
                            hf__attempt *attempt, hf_error *err)
{
    hf__watchdog *watchdog = &lock->client->leases->watchdog;
    int64_t until_ms;
    bool acquires;
    hf_status status;

    until_ms = wait_ms == 0 ? 0 : hf__clock_after(hf__clock_boot_ms(), wait_ms);
    pthread_mutex_lock(&watchdog->mutex);
    status = begin_by_locked(lock, lease_ms, until_ms, attempt, err);
    acquires = status == HF_OK && lock->state == HF__LOCK_ACQUIRING;
    if (acquires)
        lock->waits = false;
    pthread_mutex_unlock(&watchdog->mutex);
    if (acquires)
        return run_acquire(lock, wait_ms, until_ms, attempt, err);
    if (status == HF_HELD && wait_ms > 0)
        return hf__fail(err, HF_TIMEOUT,
                        "timed out after %lld ms: another thread is using this "
                        "handle",
                        (long long)wait_ms);
    return status == HF_HELD ? hf__fail_as(err, HF_TIMEOUT) : status;
}

static hf_status acquire_after(hf_lock *lock, const hf__outcome *outcome,
                               int64_t wait_ms, int64_t lease_ms, hf_error *err)
{
    hf__attempt attempt = {.sleeper = {.wake = wake_attempt, .about = lock},
                           .lock = lock,
                           .end.outcome = *outcome};
    hf_status status = check_acquire(lock, wait_ms, lease_ms, err);

    if (status == HF_OK)
        status = hf__client_enter_blocking(lock->client, err);
    if (status != HF_OK)
        return status;
    attempt.mark = hf__interrupt_mark_of(lock);
    if (hf__lease_wants_renewal(lock, lease_ms))
        status = hf__watchdog_start(&lock->client->leases->watchdog, err);
    if (status == HF_OK)
        status = acquire_by(lock, wait_ms, lease_ms, &attempt, err);
    hf__sleeper_remove(&lock->client->interrupts, &attempt.sleeper);
    hf__life_leave(&lock->client->life);
    return status;
}

static const hf__outcome no_outcome;

hf_status hf_lock_acquire_for(hf_lock *lock, int64_t wait_ms, int64_t lease_ms,
                              hf_error *err)
{
    return acquire_after(lock, &no_outcome, wait_ms, lease_ms, err);
}

hf_status hf__lock_end_and_acquire(hf_lock *lock, const hf__outcome *outcome,
                                   int64_t wait_ms, hf_error *err)
{
    return acquire_after(lock, outcome, wait_ms, 0, err);
}

hf_status hf_lock_acquire(hf_lock *lock, int64_t wait_ms, hf_error *err)
{
    return hf_lock_acquire_for(lock, wait_ms, 0, err);
}

hf_status hf_lock_try(hf_lock *lock, hf_error *err)
{
    hf_status status = hf_lock_acquire(lock, 0, err);

    return status == HF_TIMEOUT ? hf__fail_as(err, HF_HELD) : status;
}

/* ----------------------------------------------------------------- started */

/* An acquire that blocks no thread. */
typedef struct acquiring {
    hf__acquire acquire;
    hf__async_run run;
    int64_t lease_ms; /* 0: of the handle */
    /* Called with the outcome, on any thread, perhaps before begin_acquiring()
     * returns; then this is freed. */
    void (*done)(void *user, hf_status status, const hf_error *detail);
    void *user;
    hf_call *call; /* that can be cancelled; NULL: none */
} acquiring;

static void on_ended(hf__async_run *run)
{
    acquiring *self = hf__container_of(run, acquiring, run);
    hf_error error = HF_ERROR_INIT;
    hf_status status;

    (void)hf__async_stop(run);
    if (atomic_load(&run->cancelled)) /* also during the first try */
        self->acquire.procedure.cancelled = true;
    status = hf__acquire_end(&self->acquire, &error);
    self->done(self->user, status, &error);
    hf__free(self);
}

/* The request of the first try, which the caller submits; NULL: there is none,
 * and done() was perhaps called. */
static hf__request *begin_acquiring(acquiring *self)
{
    return hf__async_begin_with(
        &self->run,
        hf__acquire_begin(&self->acquire, self->lease_ms, self->call));
}

/* NULL: out of memory. The handle must live until done() is called. */
static acquiring *acquiring_new(hf_lock *lock, int64_t wait_ms,
                                int64_t lease_ms)
{
    acquiring *self = hf__calloc(1, sizeof(*self));
    int64_t until_ms =
        wait_ms == 0 ? 0 : hf__clock_after(hf__clock_boot_ms(), wait_ms);

    if (self == NULL)
        return NULL;
    hf__acquire_init(&self->acquire, lock, wait_ms, until_ms,
                     hf__interrupt_mark_of(lock), true);
    hf__async_init(&self->run, &self->acquire.procedure, on_ended);
    self->lease_ms = lease_ms;
    return self;
}

/* -------------------------------------------------------------------- start */

static void call_done(void *user, hf_status status, const hf_error *detail)
{
    hf_call *call = user;

    call->request.status = status;
    if (status != HF_OK)
        call->request.error = *detail;
    hf__call_complete(call);
}

static void cancel_call(hf_call *call)
{
    hf__async_cancel_call(&((acquiring *)call->context)->run, call);
}

static hf_status start_acquiring(hf_call *call, hf_lock *lock,
                                 const hf__outcome *outcome, int64_t wait_ms,
                                 int64_t lease_ms, const hf_async *async,
                                 hf_error *err)
{
    hf__store *store = lock->client->store;
    acquiring *made = acquiring_new(lock, wait_ms, lease_ms);
    hf__request *request;

    if (made == NULL)
        return hf__fail(err, HF_NO_MEMORY, "acquiring a lock");
    made->acquire.steps.end.outcome = *outcome;
    call->context = made;
    call->says_cancelled = outcome->what != NULL; /* what it had was ended */
    call->cancel = cancel_call;
    hf__call_start_begin(call, async);
    made->done = call_done;
    made->user = made->call = call;
    request = begin_acquiring(made);
    if (request != NULL)
        store->ops->submit(store, &request, 1);
    hf__call_start_end(call);
    return HF_OK;
}

static hf_status start_after(hf_lock *lock, const hf__outcome *outcome,
                             int64_t wait_ms, int64_t lease_ms,
                             const hf_async *async, hf_error *err)
{
    hf_status status = check_acquire(lock, wait_ms, lease_ms, err);
    hf_call *call;

    if (status == HF_OK)
        status = hf__call_new(lock->client, async, &call, err);
    if (status != HF_OK)
        return status;
    hf__call_init(call, lock->client);
    status = hf__call_enter(call, false, err);
    if (status == HF_OK)
        status =
            start_acquiring(call, lock, outcome, wait_ms, lease_ms, async, err);
    if (status != HF_OK)
        hf__call_discard(call);
    return status;
}

hf_status hf_lock_acquire_for_start(hf_lock *lock, int64_t wait_ms,
                                    int64_t lease_ms, const hf_async *async,
                                    hf_error *err)
{
    return start_after(lock, &no_outcome, wait_ms, lease_ms, async, err);
}

hf_status hf__lock_end_and_acquire_start(hf_lock *lock,
                                         const hf__outcome *outcome,
                                         int64_t wait_ms, const hf_async *async,
                                         hf_error *err)
{
    return start_after(lock, outcome, wait_ms, 0, async, err);
}

hf_status hf_lock_acquire_start(hf_lock *lock, int64_t wait_ms,
                                const hf_async *async, hf_error *err)
{
    return hf_lock_acquire_for_start(lock, wait_ms, 0, async, err);
}

/* ------------------------------------------------------------------- batch */

typedef struct batch_member batch_member;

typedef struct acquire_batch {
    hf_client *client;
    batch_member *members;
    size_t count;
    hf__sleeper sleeper;
    hf__task cancel_task;
    pthread_mutex_t mutex; /* guards the rest, and members' `acquiring` */
    pthread_cond_t changed;
    bool interrupted; /* some may be */
    size_t open;      /* not complete */
    size_t trying;    /* first tries at the store */
    bool answers;     /* the store has answered one, or got none */
} acquire_batch;

struct batch_member {
    acquire_batch *all;
    hf_status *status;
    acquiring *acquiring; /* NULL: complete */
};

static void member_done(void *user, hf_status status, const hf_error *detail)
{
    batch_member *self = user;
    acquire_batch *all = self->all;

    (void)detail;
    /* By its own step or by run_cancel(), whichever is first to see it. */
    if (status == HF_UNAVAILABLE && hf__life_is_closing(&all->client->life))
        status = HF_CANCELLED;
    *self->status = status;
    pthread_mutex_lock(&all->mutex);
    self->acquiring = NULL;
    if (--all->open == 0)
        pthread_cond_signal(&all->changed);
    pthread_mutex_unlock(&all->mutex);
}

static void member_tried(void *user, hf_status status)
{
    acquire_batch *all = ((batch_member *)user)->all;

    pthread_mutex_lock(&all->mutex);
    if (!hf__many_is_silence(status))
        all->answers = true;
    if (--all->trying == 0)
        pthread_cond_signal(&all->changed);
    pthread_mutex_unlock(&all->mutex);
}

/* ---- interrupted */

static void wake_batch(hf__sleeper *sleeper)
{
    acquire_batch *all = hf__container_of(sleeper, acquire_batch, sleeper);

    pthread_mutex_lock(&all->mutex);
    all->interrupted = true;
    pthread_cond_signal(&all->changed);
    pthread_mutex_unlock(&all->mutex);
}

/* As when a call is cancelled (async.c): an acquire completes only on this
 * thread, except in the first try on a store without cancel. */
static void cancel_member(batch_member *self)
{
    acquire_batch *all = self->all;
    acquiring *one;

    pthread_mutex_lock(&all->mutex);
    one = self->acquiring;
    if (one != NULL &&
        (atomic_load(&one->run.cancelled) ||
         !hf__interrupted(one->acquire.steps.lock, one->acquire.steps.mark)))
        one = NULL;
    if (one != NULL)
        atomic_store(&one->run.cancelled, true);
    if (one != NULL && hf__async_may_end(&one->run))
        one = NULL;
    pthread_mutex_unlock(&all->mutex);
    if (one != NULL)
        hf__async_cancel(&one->run);
}

static void run_cancel(hf__task *task)
{
    acquire_batch *all = hf__container_of(task, acquire_batch, cancel_task);

    for (size_t i = 0; i < all->count; i++)
        cancel_member(&all->members[i]);
}

/* Until all are complete. */
static void await_all(acquire_batch *all)
{
    hf__interrupts *interrupts = &all->client->interrupts;

    hf__sleeper_add(interrupts, &all->sleeper);
    pthread_mutex_lock(&all->mutex);
    all->interrupted = true; /* perhaps before it was added */
    while (all->open > 0) {
        if (!all->interrupted) {
            hf__cond_wait_until(&all->changed, &all->mutex, INT64_MAX);
            continue;
        }
        all->interrupted = false;
        pthread_mutex_unlock(&all->mutex);
        all->cancel_task = (hf__task){.run = run_cancel};
        if (hf__loop_started(all->client->loop))
            hf__loop_call(all->client->loop, &all->cancel_task);
        pthread_mutex_lock(&all->mutex);
    }
    pthread_mutex_unlock(&all->mutex);
    hf__sleeper_remove(interrupts, &all->sleeper);
}

/* Begin some, submit their first tries together and wait for the replies. */
static void begin_window(acquire_batch *all, hf_lock *const *locks,
                         size_t count, int64_t wait_ms, batch_member *members,
                         hf__request **requests)
{
    hf__store *store = locks[0]->client->store;
    size_t ready = 0;

    for (size_t i = 0; i < count; i++) {
        acquiring *one = acquiring_new(locks[i], wait_ms, 0);
        hf__request *request;

        if (one == NULL) {
            member_done(&members[i], HF_NO_MEMORY, NULL);
            continue;
        }
        one->done = member_done;
        one->acquire.tried = member_tried;
        one->user = one->acquire.user = &members[i];
        members[i].acquiring = one;
        request = begin_acquiring(one);
        if (request != NULL)
            requests[ready++] = request;
    }
    all->trying = ready;
    all->answers = ready == 0;
    if (ready > 0)
        store->ops->submit(store, requests, ready);
    pthread_mutex_lock(&all->mutex);
    while (all->trying > 0)
        hf__cond_wait_until(&all->changed, &all->mutex, INT64_MAX);
    pthread_mutex_unlock(&all->mutex);
}

static void begin_all(acquire_batch *all, hf_lock *const *locks, size_t count,
                      int64_t wait_ms, batch_member *members,
                      hf__request **requests)
{
    size_t at;

    all->answers = true;
    for (at = 0; at < count && all->answers; at += HF__MANY_WINDOW) {
        size_t left = count - at;

        begin_window(all, locks + at,
                     left < HF__MANY_WINDOW ? left : HF__MANY_WINDOW, wait_ms,
                     members + at, requests);
    }
    for (; at < count; at++) /* do not wait for each in turn */
        member_done(&members[at], HF_UNAVAILABLE, NULL);
    await_all(all);
}

static hf_status acquire_all(hf_lock *const *locks, size_t count,
                             int64_t wait_ms, hf_status *statuses,
                             hf_error *err)
{
    acquire_batch all = {.client = locks[0]->client,
                         .count = count,
                         .sleeper = {.wake = wake_batch},
                         .open = count};
    batch_member *members = hf__calloc(count, sizeof(*members));
    hf__request **requests =
        hf__calloc(count < HF__MANY_WINDOW ? count : HF__MANY_WINDOW,
                   sizeof(hf__request *));
    hf_status status = HF_OK;

    if (members == NULL || requests == NULL) {
        status = hf__fail(err, HF_NO_MEMORY, "%zu locks", count);
        goto free_members;
    }
    for (size_t i = 0; i < count; i++)
        members[i] = (batch_member){&all, &statuses[i], NULL};
    all.members = members;
    pthread_mutex_init(&all.mutex, NULL);
    hf__cond_init(&all.changed);
    begin_all(&all, locks, count, wait_ms, members, requests);
    pthread_cond_destroy(&all.changed);
    pthread_mutex_destroy(&all.mutex);
free_members:
    hf__free(requests);
    hf__free(members);
    return status;
}

hf_status hf_lock_acquire_many(hf_lock *const *locks, size_t count,
                               int64_t wait_ms, hf_status *statuses,
                               hf_error *err)
{
    hf_status status = hf__locks_check(locks, count, err);

    if (status == HF_OK)
        status = hf__check_wait(wait_ms, err);
    if (status == HF_OK && count > 0)
        status = hf__check_out(statuses, "statuses", err);
    if (status == HF_OK && count > 0)
        status = hf__client_enter_blocking(locks[0]->client, err);
    if (status == HF_OK && count > 0) {
        status = acquire_all(locks, count, wait_ms, statuses, err);
        hf__life_leave(&locks[0]->client->life);
    }
    return status == HF_OK ? hf__many_verdict(statuses, count, err) : status;
}

hf_status hf_lock_acquire_many_start(hf_lock *const *locks, size_t count,
                                     int64_t wait_ms, hf_status *statuses,
                                     const hf_async *async, hf_error *err)
{
    hf__gathering started;
    hf__many many;

    hf__locks_start(&many, &started, false, locks, count, statuses, async, err);
    HF__EACH((void)0,
             hf_lock_acquire_start(locks[i], wait_ms, form.async, form.err))
}
