/* SPDX-License-Identifier: Apache-2.0 */
/* run_async.c - see run_async.h. */
#include "core/run_async.h"

#include <assert.h>

#include "core/client.h"
#include "util/clock.h"
#include "util/container.h"
#include "util/error.h"
#include "util/order.h"

/* A request to a local store runs on the loop thread, which must not be late
 * for renewals. One that could not begin is tried again. */
#define LOCAL_TRY_MS 20
#define LOCAL_PAUSE_MS 5

static hf_client *client_of(const hf__async_run *self)
{
    return self->procedure->client;
}

static bool is_local(const hf__async_run *self)
{
    return (client_of(self)->store->capabilities & HF__CAP_LOCAL) != 0;
}

static bool is_closing(const hf__async_run *self)
{
    return hf__life_is_closing(&client_of(self)->life);
}

static hf__next take_step(hf__async_run *self, hf__happened what)
{
    return self->procedure->kind->step(self->procedure, what);
}

/* ------------------------------------------------------------ timer, events */

static void proceed_with(hf__async_run *self, hf__next next);

void hf__async_wake(hf__async_run *self)
{
    self->moved = true;
    if (self->state == HF__ASYNC_SLEEPING) {
        self->moved = false;
        proceed_with(self, take_step(self, HF__EVENT));
    }
}

static void on_moved(hf__watch *watch)
{
    hf__async_wake(hf__container_of(watch, hf__async_run, watch));
}

static void stop_watch(hf__async_run *self)
{
    hf__store *store = client_of(self)->store;

    if (self->watching)
        store->ops->event_unwatch(store, &self->watch);
    self->watching = false;
}

/* false: `failure` says why. */
static bool listen_to_topic(hf__async_run *self)
{
    hf__procedure *procedure = self->procedure;
    hf__store *store = procedure->client->store;

    if (self->watching)
        return true;
    self->watch = (hf__watch){.moved = on_moved};
    self->watching =
        store->ops->event_watch(store, procedure->topic, &self->watch,
                                procedure->failure) == HF_OK;
    return self->watching;
}

static void halt_waits(hf__async_run *self)
{
    self->listed = false;
    hf__timer_stop(&client_of(self)->timers, &self->timer);
    stop_watch(self);
}

bool hf__async_stop(hf__async_run *self)
{
    if (!self->listed)
        return false;
    hf__pending_remove(&self->pending);
    halt_waits(self);
    return true;
}

/* ---------------------------------------------------------------- requests */

/* true: it will complete. */
static bool stamp_request(hf__async_run *self, hf__request *request,
                          int64_t limit_ms,
                          void (*on_done)(hf__request *request))
{
    hf_status status = hf__request_stamp(client_of(self), request, limit_ms,
                                         self->procedure->failure);

    self->request = request;
    request->on_done = on_done;
    request->user = self;
    if (status == HF_OK)
        self->probed_us = hf__request_probe_begin(request);
    return status == HF_OK;
}

static void post_task(hf__async_run *self, void (*run)(hf__task *task))
{
    self->task = (hf__task){.run = run};
    hf__loop_post(client_of(self)->loop, &self->task);
}

static void run_answered(hf__task *task);

static void request_done(hf__request *request)
{
    hf__async_run *self = request->user;

    hf__request_probe_end(request, self->probed_us);
    post_task(self, run_answered);
}

/* false: take_step() is to be called with HF__FAILED. */
static bool send_request(hf__async_run *self)
{
    hf__procedure *procedure = self->procedure;
    hf__store *store = procedure->client->store;
    int64_t limit_ms = self->by_ms;
    hf__request *request;

    self->state = HF__ASYNC_AT_STORE;
    if (is_local(self))
        limit_ms = hf__at_most(
            limit_ms, hf__clock_after(hf__clock_boot_ms(), LOCAL_TRY_MS));
    request = procedure->kind->fill(procedure);
    if (!stamp_request(self, request, limit_ms, request_done))
        return false;
    store->ops->submit(store, &request, 1);
    return true;
}

static void cut_request(hf__async_run *self)
{
    hf__store *store = client_of(self)->store;

    if (store->ops->cancel != NULL && self->request != NULL)
        store->ops->cancel(store, self->request);
}

/* false: out of memory. */
static bool set_timer(hf__async_run *self, hf__async_state state, int64_t at_ms)
{
    self->state = state;
    if (at_ms == INT64_MAX) {
        hf__timer_stop(&client_of(self)->timers, &self->timer);
        return true;
    }
    assert(self->listed);
    if (hf__timer_set(&client_of(self)->timers, &self->timer, at_ms))
        return true;
    (void)hf__fail(self->procedure->failure, HF_NO_MEMORY, "a timer");
    return false;
}

static bool pause_for(hf__async_run *self, int64_t pause_ms)
{
    return set_timer(self, HF__ASYNC_PAUSED,
                     hf__clock_after(hf__clock_boot_ms(), pause_ms));
}

static void run_answered(hf__task *task)
{
    hf__async_run *self = hf__container_of(task, hf__async_run, task);

    if (self->procedure->kind->retries &&
        self->request->status == HF_UNAVAILABLE && self->listed &&
        is_local(self) && hf__clock_boot_ms() < self->by_ms &&
        pause_for(self, LOCAL_PAUSE_MS))
        return;
    proceed_with(self, take_step(self, HF__ANSWERED));
}

static void on_timer(hf__timer *timer)
{
    hf__async_run *self = hf__container_of(timer, hf__async_run, timer);

    if (self->state == HF__ASYNC_AT_STORE)
        cut_request(self);
    else if (self->state != HF__ASYNC_PAUSED)
        proceed_with(self, take_step(self, HF__TIME));
    else if (!send_request(self))
        proceed_with(self, take_step(self, HF__FAILED));
}

/* -------------------------------------------------------------- what is next
 */

static bool ask_store(hf__async_run *self)
{
    hf__procedure *procedure = self->procedure;

    if (procedure->kind->prepare != NULL)
        procedure->kind->prepare(procedure);
    if (procedure->topic.size > 0 && !listen_to_topic(self))
        return false;
    self->moved = false;
    self->by_ms = hf__at_most(
        procedure->ask_by_ms,
        hf__clock_after(hf__clock_boot_ms(), procedure->client->request_ms));
    hf__timer_stop(&procedure->client->timers, &self->timer);
    return procedure->pause_ms > 0 ? pause_for(self, procedure->pause_ms)
                                   : send_request(self);
}

static hf__happened start_listening(hf__async_run *self)
{
    if (!listen_to_topic(self))
        return HF__FAILED;
    self->moved = false;
    return HF__LISTENS;
}

/* Begin it; true: something has happened already. */
static bool begin_next(hf__async_run *self, hf__next next, hf__happened *what)
{
    hf__procedure *procedure = self->procedure;
    bool moved = self->moved;

    *what = HF__FAILED;
    switch (next) {
    case HF__ASK:
        return !ask_store(self);
    case HF__LISTEN:
        *what = start_listening(self);
        return true;
    case HF__SLEEP:
        if (!set_timer(self, HF__ASYNC_SLEEPING, procedure->wake_ms))
            return true;
        self->moved = false;
        *what = HF__EVENT;
        return moved;
    case HF__AWAY:
        if (!set_timer(self, HF__ASYNC_AWAY, procedure->wake_ms))
            return true;
        *what = HF__RESUMED;
        return procedure->kind->leave(procedure);
    case HF__STAY:
    case HF__CALL:
    case HF__END:
        break;
    }
    return false;
}

static void resume_on_loop(hf__procedure *procedure);

/* Events of the topic of the one before are not counted any more. */
static void run_from_now(hf__async_run *self, hf__procedure *procedure)
{
    procedure->runner = self;
    procedure->resume = resume_on_loop;
    if (self->watching)
        stop_watch(self);
    self->procedure = procedure;
}

static hf__next call_inner(hf__async_run *self)
{
    hf__procedure *outer = self->procedure;

    outer->inner->outer = outer;
    run_from_now(self, outer->inner);
    return outer->inner_next;
}

/* An interruption or a close that is to be reported first. */
static bool is_stopped(hf__async_run *self, hf__happened *what)
{
    hf__procedure *procedure = self->procedure;

    if (is_closing(self) && !procedure->closed) {
        procedure->closed = true;
        *what = HF__CLOSED;
        return true;
    }
    if (!atomic_load(&self->cancelled) || procedure->cancelled)
        return false;
    procedure->cancelled = true;
    *what = HF__CANCELLED;
    return true;
}

static void proceed_with(hf__async_run *self, hf__next next)
{
    hf__happened what;

    while (next != HF__STAY) {
        if (next == HF__END && self->procedure->outer == NULL) {
            self->ended(self);
            return;
        }
        if (next == HF__END) {
            run_from_now(self, self->procedure->outer);
            what = HF__RETURNED;
        } else if (!is_stopped(self, &what)) {
            if (next == HF__CALL) {
                next = call_inner(self);
                continue;
            }
            if (!begin_next(self, next, &what))
                return;
        }
        next = take_step(self, what);
    }
}

/* -------------------------------------------------------------- cancel, close
 */

void hf__async_cancel(hf__async_run *self)
{
    int64_t grace_ms = self->procedure->kind->grace_ms;

    atomic_store(&self->cancelled, true);
    if (self->procedure->cancelled)
        return;
    if (self->state != HF__ASYNC_FIRST && self->state != HF__ASYNC_AT_STORE) {
        self->procedure->cancelled = true;
        proceed_with(self, take_step(self, HF__CANCELLED));
    } else if (grace_ms > 0 &&
               (!self->listed ||
                !hf__timer_set(
                    &client_of(self)->timers, &self->timer,
                    hf__clock_after(hf__clock_boot_ms(), grace_ms)))) {
        cut_request(self);
    }
}

bool hf__async_may_end(const hf__async_run *self)
{
    return self->state == HF__ASYNC_FIRST &&
           client_of(self)->store->ops->cancel == NULL;
}

void hf__async_cancel_call(hf__async_run *self, hf_call *call)
{
    bool may_end;

    if (!hf__call_lock_pending(call))
        return;
    atomic_store(&self->cancelled, true);
    may_end = hf__async_may_end(self);
    hf__call_unlock_pending(call);
    if (!may_end)
        hf__async_cancel(self);
}

/* A request under way is completed by the close. */
static void on_closing(hf__pending *pending)
{
    hf__async_run *self = hf__container_of(pending, hf__async_run, pending);

    halt_waits(self);
    if (self->state == HF__ASYNC_AT_STORE)
        return;
    self->procedure->closed = true;
    proceed_with(self, take_step(self, HF__CLOSED));
}

/* -------------------------------------------------------------------- begin */

static void run_resumed(hf__task *task)
{
    hf__async_run *self = hf__container_of(task, hf__async_run, task);

    proceed_with(self, take_step(self, HF__RESUMED));
}

static void resume_on_loop(hf__procedure *procedure)
{
    post_task(procedure->runner, run_resumed);
}

static void run_first(hf__task *task)
{
    hf__async_run *self = hf__container_of(task, hf__async_run, task);

    if (!is_closing(self)) {
        self->listed = true;
        self->pending.close = on_closing;
        hf__pending_add(client_of(self), &self->pending);
    }
    proceed_with(self, self->next);
}

static void post_first(hf__async_run *self, hf__next next)
{
    hf__procedure *procedure = self->procedure;

    if (next != HF__END && hf__timers_start(&procedure->client->timers,
                                            procedure->failure) == HF_OK) {
        self->next = next;
        post_task(self, run_first);
        return;
    }
    if (next != HF__END)
        (void)take_step(self, HF__FAILED);
    self->ended(self);
}

static void first_done(hf__request *request)
{
    hf__async_run *self = request->user;

    hf__request_probe_end(request, self->probed_us);
    post_first(self, take_step(self, HF__ANSWERED));
}

hf__request *hf__async_begin_with(hf__async_run *self, hf__next next)
{
    hf__procedure *procedure = self->procedure;
    hf__request *request;

    if (next != HF__ASK || procedure->topic.size > 0 ||
        procedure->pause_ms > 0) {
        post_first(self, next);
        return NULL;
    }
    request = procedure->kind->fill(procedure);
    if (stamp_request(self, request, procedure->ask_by_ms, first_done))
        return request;
    (void)take_step(self, HF__FAILED);
    self->ended(self);
    return NULL;
}

void hf__async_begin(hf__async_run *self, hf__next next)
{
    hf__store *store = client_of(self)->store;
    hf__request *request = hf__async_begin_with(self, next);

    if (request != NULL)
        store->ops->submit(store, &request, 1);
}

void hf__async_init(hf__async_run *self, hf__procedure *procedure,
                    void (*ended)(hf__async_run *self))
{
    *self = (hf__async_run){.procedure = procedure, .ended = ended};
    hf__timer_init(&self->timer, on_timer);
    run_from_now(self, procedure);
}
