/* SPDX-License-Identifier: Apache-2.0 */
/* together_calls.c - hf_lock_acquire_all() and its started form. */
#include "core/async.h"
#include "core/client.h"
#include "holdfast/together.h"
#include "lease/together.h"
#include "util/cond.h"
#include "util/container.h"
#include "util/error.h"
#include "util/mem.h"

static hf_status check(hf_lock *const *locks, size_t count, int64_t wait_ms,
                       hf_error *err)
{
    hf_status status;

    if (count < 1 || count > HF_LOCK_ALL_MAX)
        return hf__fail(err, HF_INVALID, "count is %zu; it must be 1..%u",
                        count, HF_LOCK_ALL_MAX);
    status = hf__locks_check(locks, count, err);
    return status == HF_OK ? hf__check_wait(wait_ms, err) : status;
}

/* Threads that are needed on the way. */
static hf_status prepare(hf_lock *const *locks, size_t count, int64_t wait_ms,
                         hf__together **made, hf_error *err)
{
    hf_client *client = locks[0]->client;
    hf_status status = hf__timers_start(&client->timers, err);

    if (status == HF_OK)
        status = hf__watchdog_start(&client->leases->watchdog, err);
    if (status == HF_OK)
        status = hf__together_new(locks, count, wait_ms, made, err);
    return status;
}

/* ------------------------------------------------------------------ blocking
 */

typedef struct waiting {
    hf__together *all;
    hf__sleeper sleeper;
    hf__task cancel_task;
    pthread_mutex_t mutex; /* guards the rest */
    pthread_cond_t changed;
    bool woken; /* one may be interrupted */
    bool ended;
} waiting;

static void wake(hf__sleeper *sleeper)
{
    waiting *self = hf__container_of(sleeper, waiting, sleeper);

    pthread_mutex_lock(&self->mutex);
    self->woken = true;
    pthread_cond_signal(&self->changed);
    pthread_mutex_unlock(&self->mutex);
}

static void on_ended(hf__together *all)
{
    waiting *self = all->user;

    pthread_mutex_lock(&self->mutex);
    self->ended = true;
    pthread_cond_signal(&self->changed);
    pthread_mutex_unlock(&self->mutex);
}

static void run_cancel(hf__task *task)
{
    waiting *self = hf__container_of(task, waiting, cancel_task);

    if (hf__together_interrupted(self->all))
        hf__together_cancel(self->all);
}

static void await_end(waiting *self)
{
    pthread_mutex_lock(&self->mutex);
    self->woken = true; /* perhaps before the sleeper was added */
    while (!self->ended) {
        if (!self->woken) {
            hf__cond_wait_until(&self->changed, &self->mutex, INT64_MAX);
            continue;
        }
        self->woken = false;
        pthread_mutex_unlock(&self->mutex);
        self->cancel_task = (hf__task){.run = run_cancel};
        hf__loop_call(self->all->client->loop, &self->cancel_task);
        pthread_mutex_lock(&self->mutex);
    }
    pthread_mutex_unlock(&self->mutex);
}

static void run_on_loop(hf__together *all)
{
    hf__interrupts *interrupts = &all->client->interrupts;
    waiting self = {.all = all, .sleeper = {.wake = wake}};

    all->done = on_ended;
    all->user = &self;
    pthread_mutex_init(&self.mutex, NULL);
    hf__cond_init(&self.changed);
    hf__sleeper_add(interrupts, &self.sleeper);
    hf__together_start(all, false);
    await_end(&self);
    hf__sleeper_remove(interrupts, &self.sleeper);
    pthread_cond_destroy(&self.changed);
    pthread_mutex_destroy(&self.mutex);
}

static hf_status acquire_all(hf_lock *const *locks, size_t count,
                             int64_t wait_ms, hf_error *err)
{
    hf__together *all;
    hf_status status = prepare(locks, count, wait_ms, &all, err);

    if (status != HF_OK)
        return status;
    if (hf__together_ask(all))
        hf__together_read(
            all, hf__run(all->client, &all->request, INT64_MAX, &all->detail));
    if (!hf__together_over(all) || hf__together_interrupted(all))
        run_on_loop(all);
    status = all->status;
    if (status == HF_CANCELLED)
        hf__fail(err, HF_CANCELLED, HF__INTERRUPTED);
    else if (status != HF_OK)
        hf__fail_copy(err, &all->detail);
    hf__free(all);
    return status;
}

hf_status hf_lock_acquire_all(hf_lock *const *locks, size_t count,
                              int64_t wait_ms, hf_error *err)
{
    hf_status status = check(locks, count, wait_ms, err);

    if (status == HF_OK && count == 1)
        return hf_lock_acquire(locks[0], wait_ms, err);
    if (status == HF_OK)
        status = hf__client_enter_blocking(locks[0]->client, err);
    if (status != HF_OK)
        return status;
    status = acquire_all(locks, count, wait_ms, err);
    hf__life_leave(&locks[0]->client->life);
    return status;
}

/* ------------------------------------------------------------------- started
 */

/* On the loop thread, perhaps after the call has completed. */
static void cancel_call(hf_call *call)
{
    hf__together *all = call->owned;

    if (!hf__call_lock_pending(call))
        return;
    hf__call_unlock_pending(call);
    hf__together_cancel(all);
}

static void on_done(hf__together *all)
{
    hf_call *call = all->user;

    call->request.status = all->status;
    if (all->status != HF_OK)
        call->request.error = all->detail;
    hf__call_complete(call);
}

static hf_status start(hf_call *call, hf_lock *const *locks, size_t count,
                       int64_t wait_ms, const hf_async *async, hf_error *err)
{
    hf__together *all;
    hf_status status = prepare(locks, count, wait_ms, &all, err);

    if (status != HF_OK)
        return status;
    call->owned = all;
    call->cancel = cancel_call;
    all->done = on_done;
    all->user = call;
    hf__call_start_begin(call, async);
    hf__together_start(all, hf__together_ask(all));
    hf__call_start_end(call);
    return HF_OK;
}

hf_status hf_lock_acquire_all_start(hf_lock *const *locks, size_t count,
                                    int64_t wait_ms, const hf_async *async,
                                    hf_error *err)
{
    hf_status status = check(locks, count, wait_ms, err);
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
        status = start(call, locks, count, wait_ms, async, err);
    if (status != HF_OK)
        hf__call_discard(call);
    return status;
}
