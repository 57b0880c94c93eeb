/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waiting_async.c - the steps of waiting.h for a started call, on the loop
 * thread. The first request, which most calls end with, is sent by the caller
 * and completes on any thread, unless events are to be watched before it.
 *
 * The job belongs to its call, and so may be gone once that has completed:
 * completing is the last thing that a function does. While the job is in the
 * list of `pending` a close ends it.
 */
#include "core/async.h"
#include "core/client.h"
#include "core/waiting.h"
#include "util/clock.h"
#include "util/container.h"
#include "util/error.h"
#include "util/mem.h"
#include "util/order.h"

/* A request to a local store runs on the loop thread, which must not be late
 * for renewals. One that could not begin is tried again. */
#define LOCAL_TRY_MS 20
#define LOCAL_PAUSE_MS 5

typedef enum where {
    FIRST,   /* until the first task on the loop thread */
    ASKING,  /* a request is at the store */
    PAUSED,  /* until it is time to ask, or to ask a local store again */
    SLEEPING /* for an event, or an instant */
} where;

typedef struct job {
    hf__wait wait;
    where where;
    hf__wait_next next; /* after FIRST */
    int64_t by_ms;      /* for the tries of a request */
    atomic_bool cancelled;
    bool listed;   /* `pending`; timer and watch may be used */
    bool watching; /* the first key's events */
    bool moved;    /* since the request began */
    hf__task posted;
    hf__timer timer;
    hf__watch watch;
    hf__pending pending;
} job;

static void take_step(job *self, hf__wait_next next);
static void run_posted(hf__task *task);

static hf_client *client_of(const job *self)
{
    return self->wait.call->client;
}

static bool is_closing(const job *self)
{
    return hf__life_is_closing(&client_of(self)->life);
}

static bool is_local(const job *self)
{
    return (client_of(self)->store->capabilities & HF__CAP_LOCAL) != 0;
}

static void post(job *self)
{
    self->posted = (hf__task){.run = run_posted};
    hf__loop_post(client_of(self)->loop, &self->posted);
}

/* --------------------------------------------------------------------- end */

static void stop_waiting(job *self)
{
    hf__store *store = client_of(self)->store;

    self->listed = false;
    hf__timer_stop(&client_of(self)->timers, &self->timer);
    if (self->watching)
        store->ops->event_unwatch(store, &self->watch);
    self->watching = false;
}

static void end(job *self)
{
    if (self->listed) {
        hf__pending_remove(&self->pending);
        stop_waiting(self);
    }
    hf__call_complete(self->wait.call);
}

static void fail(job *self, hf_status status, const char *why)
{
    (void)hf__wait_fail(&self->wait, status, why);
    end(self);
}

/* ---------------------------------------------------------------- requests */

static void submit(job *self, int64_t limit_ms,
                   void (*on_done)(hf__request *request))
{
    hf_call *call = self->wait.call;
    hf_client *client = call->client;
    hf__request *request = &call->request;
    hf_error detail = HF_ERROR_INIT;
    hf_status status;

    hf__wait_fill(&self->wait);
    status = hf__request_stamp(client, request, limit_ms, &detail);
    if (status != HF_OK) {
        fail(self, status, detail.message);
        return;
    }
    request->on_done = on_done;
    request->user = self;
    client->store->ops->submit(client->store, &request, 1);
}

static void request_done(hf__request *request)
{
    post(request->user);
}

static void ask(job *self)
{
    int64_t limit_ms = self->by_ms;

    self->where = ASKING;
    if (is_local(self))
        limit_ms = hf__at_most(
            limit_ms, hf__clock_after(hf__clock_boot_ms(), LOCAL_TRY_MS));
    submit(self, limit_ms, request_done);
}

static void on_moved(hf__watch *watch)
{
    job *self = hf__container_of(watch, job, watch);

    self->moved = true;
    if (self->where == SLEEPING)
        take_step(self, hf__wait_woken(&self->wait));
}

/* Before a request of a call that is to be woken. */
static hf_status listen(job *self, hf_error *err)
{
    hf__store *store = client_of(self)->store;
    hf_status status;

    self->moved = false;
    if (self->watching || !hf__wait_listens(&self->wait))
        return HF_OK;
    self->watch = (hf__watch){.moved = on_moved};
    status =
        store->ops->event_watch(store, self->wait.call->key, &self->watch, err);
    self->watching = status == HF_OK;
    return status;
}

static void sleep_until(job *self, where state, int64_t at_ms)
{
    self->where = state;
    if (!hf__timer_set(&client_of(self)->timers, &self->timer, at_ms))
        fail(self, HF_NO_MEMORY, "a timer");
}

static void begin_asking(job *self)
{
    hf_error detail = HF_ERROR_INIT;
    int64_t pause_ms;

    self->by_ms = hf__at_most(
        hf__clock_after(hf__clock_boot_ms(), client_of(self)->request_ms),
        self->wait.limit_ms);
    pause_ms = hf__wait_pause(&self->wait);
    if (listen(self, &detail) != HF_OK)
        fail(self, detail.status, detail.message);
    else if (pause_ms > 0)
        sleep_until(self, PAUSED,
                    hf__clock_after(hf__clock_boot_ms(), pause_ms));
    else
        ask(self);
}

/* ------------------------------------------------------------------- steps */

static void on_timer(hf__timer *timer)
{
    job *self = hf__container_of(timer, job, timer);

    if (self->where == PAUSED)
        ask(self);
    else if (self->where == SLEEPING)
        take_step(self, hf__wait_woken(&self->wait));
}

static void take_step(job *self, hf__wait_next next)
{
    if (next != HF__WAIT_END && !is_closing(self) &&
        atomic_load(&self->cancelled) && !self->wait.given_up)
        next = hf__wait_give_up(&self->wait, HF_CANCELLED, "cancelled");
    if (next == HF__WAIT_END)
        end(self);
    else if (is_closing(self))
        fail(self, self->wait.kind->closed, "the client is closed");
    else if (next == HF__WAIT_ASK)
        begin_asking(self);
    else if (self->moved)
        take_step(self, hf__wait_woken(&self->wait));
    else
        sleep_until(self, SLEEPING, self->wait.wake_ms);
}

static void read_reply(job *self)
{
    const hf__request *request = &self->wait.call->request;
    int64_t now_ms = hf__clock_boot_ms();

    if (request->status == HF_UNAVAILABLE && !is_closing(self) &&
        is_local(self) && now_ms < self->by_ms) {
        sleep_until(self, PAUSED, now_ms + LOCAL_PAUSE_MS);
        return;
    }
    hf__call_answered(self->wait.call);
    take_step(self, hf__wait_read(&self->wait));
}

static void on_closing(hf__pending *pending)
{
    job *self = hf__container_of(pending, job, pending);

    stop_waiting(self);
    if (self->where == PAUSED || self->where == SLEEPING)
        fail(self, self->wait.kind->closed, "the client is closed");
}

static void run_posted(hf__task *task)
{
    job *self = hf__container_of(task, job, posted);

    if (self->where != FIRST) {
        read_reply(self);
        return;
    }
    if (!is_closing(self)) {
        self->listed = true;
        self->pending.close = on_closing;
        hf__pending_add(client_of(self), &self->pending);
    }
    take_step(self, self->next);
}

/* ------------------------------------------------------------------- start */

static void first_done(hf__request *request)
{
    job *self = request->user;

    hf__call_answered(self->wait.call);
    self->next = hf__wait_read(&self->wait);
    if (self->next == HF__WAIT_END)
        end(self);
    else
        post(self);
}

/* On the loop thread. */
static void cancel(hf_call *call)
{
    job *self = call->owned;

    if (!hf__call_lock_pending(call))
        return;
    atomic_store(&self->cancelled, true);
    hf__call_unlock_pending(call);
    if (self->where == SLEEPING)
        take_step(self, HF__WAIT_SLEEP);
}

/* Everything that can fail. */
static hf_status prepare(hf_call *call, hf_error *err)
{
    hf_status status = call->prepared;

    if (status == HF_OK)
        status = hf__timers_start(&call->client->timers, err);
    if (status == HF_OK) {
        hf__fill(call);
        status = hf__call_copy_words(call, err);
    }
    if (status != HF_OK)
        return status;
    call->key = call->words[0];
    call->owned = hf__calloc(1, sizeof(job));
    return call->owned != NULL ? HF_OK : hf__fail(err, HF_NO_MEMORY, "a call");
}

static hf_status start(hf_call *call, const hf__wait_kind *kind,
                       int64_t wait_ms, size_t inbox)
{
    const hf_async *async = call->form.async;
    hf_status status = prepare(call, call->form.err);
    job *self;

    if (status != HF_OK) {
        if (call->form.kind == HF__FORM_STARTED)
            hf__call_discard(call);
        return status;
    }
    self = call->owned;
    hf__wait_init(&self->wait, call, kind, wait_ms, inbox);
    atomic_init(&self->cancelled, false);
    hf__timer_init(&self->timer, on_timer);
    call->cancel = cancel;
    hf__call_start_begin(call, async);
    if (hf__wait_listens(&self->wait) || hf__wait_pause(&self->wait) > 0) {
        self->next = HF__WAIT_ASK;
        post(self);
    } else {
        submit(self, self->wait.limit_ms, first_done);
    }
    hf__call_start_end(call);
    return HF_OK;
}

hf_status hf__end_waiting(hf_call *call, const hf__wait_kind *kind,
                          int64_t wait_ms, size_t inbox)
{
    return call->form.kind == HF__FORM_STARTED
               ? start(call, kind, wait_ms, inbox)
               : hf__wait_run(call, kind, wait_ms, inbox);
}
