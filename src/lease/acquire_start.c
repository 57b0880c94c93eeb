/* SPDX-License-Identifier: Apache-2.0 */
/* acquire_start.c - hf_lock_acquire_start(), hf_lock_acquire_many(). */
#include "core/async.h"
#include "core/client.h"
#include "core/many.h"
#include "holdfast/lock.h"
#include "lease/acquire_begin.h"
#include "util/cond.h"
#include "util/container.h"
#include "util/error.h"
#include "util/mem.h"

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
    hf__acquiring *acquiring = call->context;

    if (!hf__call_lock_pending(call))
        return;
    atomic_store(&acquiring->run.cancelled, true);
    hf__call_unlock_pending(call);
    if (!hf__acquiring_first(acquiring) ||
        call->client->store->ops->cancel != NULL)
        hf__acquiring_cancel(acquiring);
}

static hf_status start(hf_call *call, hf_lock *lock, int64_t wait_ms,
                       int64_t lease_ms, const hf_async *async, hf_error *err)
{
    hf__store *store = lock->client->store;
    hf__acquiring *acquiring = hf__acquiring_new(lock, wait_ms, lease_ms);
    hf__request *request;

    if (acquiring == NULL)
        return hf__fail(err, HF_NO_MEMORY, "acquiring a lock");
    call->context = acquiring;
    call->cancel = cancel_call;
    hf__call_start_begin(call, async);
    acquiring->done = call_done;
    acquiring->user = acquiring->call = call;
    request = hf__acquiring_begin(acquiring);
    if (request != NULL)
        store->ops->submit(store, &request, 1);
    hf__call_start_end(call);
    return HF_OK;
}

hf_status hf_lock_acquire_for_start(hf_lock *lock, int64_t wait_ms,
                                    int64_t lease_ms, const hf_async *async,
                                    hf_error *err)
{
    hf_status status = hf__lock_check(lock, err);
    hf_call *call;

    if (status == HF_OK)
        status = hf__check_wait(wait_ms, err);
    if (status == HF_OK)
        status = hf__lock_check_lease(lease_ms, err);
    if (status == HF_OK)
        status = hf__call_new(lock->client, async, &call, err);
    if (status != HF_OK)
        return status;
    hf__call_init(call, lock->client);
    status = hf__call_enter(call, false, err);
    if (status == HF_OK)
        status = start(call, lock, wait_ms, lease_ms, async, err);
    if (status != HF_OK)
        hf__call_discard(call);
    return status;
}

hf_status hf_lock_acquire_start(hf_lock *lock, int64_t wait_ms,
                                const hf_async *async, hf_error *err)
{
    return hf_lock_acquire_for_start(lock, wait_ms, 0, async, err);
}

/* ------------------------------------------------------------------- batch */

typedef struct member member;

typedef struct batch {
    hf_client *client;
    member *members;
    size_t count;
    hf__sleeper sleeper;
    hf__task cancel_task;
    pthread_mutex_t mutex; /* guards the rest, and members' `acquiring` */
    pthread_cond_t changed;
    bool interrupted; /* some may be */
    size_t open;      /* not complete */
    size_t trying;    /* first tries at the store */
    bool answers;     /* the store has answered one, or got none */
} batch;

struct member {
    batch *all;
    hf_status *status;
    hf__acquiring *acquiring; /* NULL: complete */
};

static void member_done(void *user, hf_status status, const hf_error *detail)
{
    member *self = user;
    batch *all = self->all;

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
    batch *all = ((member *)user)->all;

    pthread_mutex_lock(&all->mutex);
    if (!hf__many_is_silence(status))
        all->answers = true;
    if (--all->trying == 0)
        pthread_cond_signal(&all->changed);
    pthread_mutex_unlock(&all->mutex);
}

/* ---- interrupted */

static void wake(hf__sleeper *sleeper)
{
    batch *all = hf__container_of(sleeper, batch, sleeper);

    pthread_mutex_lock(&all->mutex);
    all->interrupted = true;
    pthread_cond_signal(&all->changed);
    pthread_mutex_unlock(&all->mutex);
}

/* As when a call is cancelled (async.c): an acquire completes only on this
 * thread, except in the first try on a store without cancel. */
static void cancel_member(member *self)
{
    batch *all = self->all;
    hf__acquiring *acquiring;

    pthread_mutex_lock(&all->mutex);
    acquiring = self->acquiring;
    if (acquiring != NULL && (atomic_load(&acquiring->run.cancelled) ||
                              !hf__interrupted(acquiring->acquire.steps.lock,
                                               acquiring->acquire.steps.mark)))
        acquiring = NULL;
    if (acquiring != NULL)
        atomic_store(&acquiring->run.cancelled, true);
    if (acquiring != NULL && hf__acquiring_first(acquiring) &&
        all->client->store->ops->cancel == NULL)
        acquiring = NULL;
    pthread_mutex_unlock(&all->mutex);
    if (acquiring != NULL)
        hf__acquiring_cancel(acquiring);
}

static void run_cancel(hf__task *task)
{
    batch *all = hf__container_of(task, batch, cancel_task);

    for (size_t i = 0; i < all->count; i++)
        cancel_member(&all->members[i]);
}

/* Until all are complete. */
static void await_all(batch *all)
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
static void begin_window(batch *all, hf_lock *const *locks, size_t count,
                         int64_t wait_ms, member *members,
                         hf__request **requests)
{
    hf__store *store = locks[0]->client->store;
    size_t ready = 0;

    for (size_t i = 0; i < count; i++) {
        hf__acquiring *acquiring = hf__acquiring_new(locks[i], wait_ms, 0);
        hf__request *request;

        if (acquiring == NULL) {
            member_done(&members[i], HF_NO_MEMORY, NULL);
            continue;
        }
        acquiring->done = member_done;
        acquiring->acquire.tried = member_tried;
        acquiring->user = acquiring->acquire.user = &members[i];
        members[i].acquiring = acquiring;
        request = hf__acquiring_begin(acquiring);
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

static void begin_all(batch *all, hf_lock *const *locks, size_t count,
                      int64_t wait_ms, member *members, hf__request **requests)
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
    batch all = {.client = locks[0]->client,
                 .count = count,
                 .sleeper = {.wake = wake},
                 .open = count};
    member *members = hf__calloc(count, sizeof(*members));
    hf__request **requests =
        hf__calloc(count < HF__MANY_WINDOW ? count : HF__MANY_WINDOW,
                   sizeof(hf__request *));
    hf_status status = HF_OK;

    if (members == NULL || requests == NULL) {
        status = hf__fail(err, HF_NO_MEMORY, "%zu locks", count);
        goto free_members;
    }
    for (size_t i = 0; i < count; i++)
        members[i] = (member){&all, &statuses[i], NULL};
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
