/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_fill_async.c - hf_cache_get_or_fill_start(): the steps of cache_steps.h
 * on the loop thread. The first request, which most calls end with, completes
 * on any thread.
 *
 * There are two calls. The caller's completes with its answer, at the end or,
 * if a value may be returned during the fill, before the fill; or when it is
 * cancelled. The fill's, `base`, is delivered to begin the fill. It is counted
 * as under way until the value is stored, and delivered once more then if the
 * caller's has completed before, so that a program that dispatches until
 * nothing is under way loses no value.
 *
 * References of `base`: of the caller's call, of the steps until they end, of
 * `pending`, of each delivery. The steps have one of the caller's call too.
 * While it is FILLING theirs belong to the fill, which may end, on any thread,
 * before the close has seen the job.
 *
 * Closing the client ends what waits here; a fill under way is ended by its
 * hf_cache_fill_done(), for which it keeps the client's memory.
 */
#include "core/async.h"
#include "data/cache_job.h"
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
    PAUSED,  /* until the local store is tried again */
    WAITING, /* for the fill of another client */
    FILLING  /* from the delivery of `base` to the end of the fill */
} where;

typedef struct job {
    hf_call base; /* first: the job is freed with it */
    hf_cache_fill fill;
    where where;
    hf__cache_next next; /* after FIRST */
    hf_call *call;       /* the caller's; NULL: completed */
    hf_call *caller;     /* the same, until the steps have ended */
    hf_cache_info *info;
    hf_cache_source answer; /* before the fill; 0: there was none */
    int64_t by_ms;          /* for the tries of the request */
    bool cancelled;
    bool dropped;      /* the fill was not called */
    bool counted;      /* `base` */
    bool listed;       /* `pending`; timer and watch may be used */
    bool watching;     /* the entry's events */
    bool moved;        /* since JOIN began */
    atomic_bool taken; /* the fill was called, or is not to be */
    hf__task posted;
    hf__timer timer;
    hf__watch watch;
    hf__pending pending;
} job;

static void take_step(job *self, hf__cache_next next);
static void run_posted(hf__task *task);

static hf_client *client_of(const job *self)
{
    return self->base.client;
}

static bool is_closing(const job *self)
{
    return hf__life_is_closing(&client_of(self)->life);
}

static void post(job *self)
{
    self->posted = (hf__task){.run = run_posted};
    hf__loop_post(client_of(self)->loop, &self->posted);
}

/* --------------------------------------------------------------------- end */

static void complete(job *self, hf_status status, const hf_error *detail)
{
    hf_call *call = self->call;

    self->call = NULL;
    if (call == NULL)
        return;
    call->request.status = status;
    if (status != HF_OK)
        call->request.error = *detail;
    hf__call_complete(call);
}

static void deliver(job *self, hf_done_fn done)
{
    self->base.done = done;
    atomic_fetch_add(&self->base.references, 1);
    hf__call_complete(&self->base);
}

static void do_nothing(void *user, hf_status status, const hf_error *err)
{
    (void)user;
    (void)status;
    (void)err;
}

/* Stop timer and watch; the caller drops the reference of `pending`. */
static void stop_waiting(job *self)
{
    hf__store *store = client_of(self)->store;

    self->listed = false;
    hf__timer_stop(&client_of(self)->timers, &self->timer);
    if (self->watching)
        store->ops->event_unwatch(store, &self->watch);
    self->watching = false;
}

/* Drop the references of the steps. */
static void let_go(job *self)
{
    hf__call_unref(self->caller);
    hf__call_unref(&self->base);
}

static void end(job *self)
{
    const hf__cache_steps *steps = &self->fill.steps;

    if (self->listed) {
        hf__pending_remove(&self->pending);
        stop_waiting(self);
        hf__call_unref(&self->base);
    }
    if (self->counted && self->call == NULL)
        deliver(self, do_nothing);
    else if (self->counted)
        hf__call_uncount(&self->base);
    complete(self, steps->status, &steps->detail);
    let_go(self);
}

static void fail(job *self, hf_status status, const char *why)
{
    (void)hf__cache_steps_fail(&self->fill.steps, status, why);
    end(self);
}

/* ---------------------------------------------------------------- requests */

static void request_done(hf__request *request)
{
    post(request->user);
}

static void submit(job *self, int64_t limit_ms,
                   void (*on_done)(hf__request *request))
{
    hf_client *client = client_of(self);
    hf__request *request = hf__cache_steps_ask(&self->fill.steps);
    hf_error detail = HF_ERROR_INIT;
    hf_status status = hf__request_stamp(client, request, limit_ms, &detail);

    if (status != HF_OK) {
        fail(self, status, detail.message);
        return;
    }
    request->on_done = on_done;
    request->user = self;
    client->store->ops->submit(client->store, &request, 1);
}

static bool is_local(const job *self)
{
    return (client_of(self)->store->capabilities & HF__CAP_LOCAL) != 0;
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
    if (self->where == WAITING)
        take_step(self, hf__cache_steps_waited(&self->fill.steps));
}

/* Before JOIN. */
static hf_status watch_entry(job *self, hf_error *err)
{
    hf__store *store = client_of(self)->store;
    hf_status status = HF_OK;

    self->moved = false;
    if (self->watching)
        return HF_OK;
    self->watch = (hf__watch){.moved = on_moved};
    status = store->ops->event_watch(store, hf__cache_topic(&self->fill.steps),
                                     &self->watch, err);
    self->watching = status == HF_OK;
    return status;
}

static void begin_asking(job *self)
{
    const hf__cache_steps *steps = &self->fill.steps;
    hf_error detail = HF_ERROR_INIT;

    self->by_ms =
        hf__clock_after(hf__clock_boot_ms(), client_of(self)->request_ms);
    if (steps->stage != HF__CACHE_STORE)
        self->by_ms = hf__at_most(self->by_ms, steps->limit_ms);
    if (steps->stage == HF__CACHE_JOIN && watch_entry(self, &detail) != HF_OK)
        fail(self, detail.status, detail.message);
    else
        ask(self);
}

/* -------------------------------------------------------------------- fill */

/* The call was cancelled before the fill: end the lease. */
static void give_back(job *self)
{
    hf__cache_steps *steps = &self->fill.steps;

    steps->options.error_ms = 0;
    steps->filled = HF_CANCELLED;
    take_step(self, hf__cache_steps_filled(steps));
}

/* By hf_client_dispatch(), or a close. */
static void begin_fill(void *user, hf_status status, const hf_error *err)
{
    job *self = user;
    hf_client *client = client_of(self);

    (void)status;
    (void)err;
    hf__call_count(&self->base);
    if (hf__client_enter(client, NULL) != HF_OK) {
        let_go(self);
        return;
    }
    self->dropped =
        atomic_exchange(&self->taken, true) ||
        (atomic_load(&self->caller->progress) & HF__CALL_CANCELLED) != 0;
    if (self->dropped)
        post(self);
    hf__life_leave(&client->life);
    if (!self->dropped)
        self->fill.fill(self->fill.user, &self->fill);
}

static void deliver_fill(job *self)
{
    const hf__cache_steps *steps = &self->fill.steps;

    if (self->cancelled) {
        give_back(self);
        return;
    }
    self->where = FILLING;
    self->counted = true;
    hf__call_count(&self->base);
    if (steps->answers) {
        self->answer = steps->early ? HF_CACHE_HIT : HF_CACHE_OLD;
        complete(self, HF_OK, NULL);
    }
    deliver(self, begin_fill);
}

/* On any thread. In a forked child there is nothing to free. */
static hf_status fill_ended(hf_cache_fill *fill, hf_error *err)
{
    job *self = hf__container_of(fill, job, fill);
    hf_client *client = client_of(self);
    hf_status status = hf__client_enter(client, err);

    if (status == HF_OK) {
        post(self);
        hf__life_leave(&client->life);
    } else if (!hf__client_forked(client)) {
        let_go(self);
    }
    return status;
}

static void store_value(job *self)
{
    hf_cache_fill *fill = &self->fill;

    fill->steps.filled = fill->filled;
    fill->steps.value = hf_view(fill->result.data, fill->result.size);
    take_step(self, hf__cache_steps_filled(&fill->steps));
}

/* ------------------------------------------------------------------- steps */

static void sleep_until(job *self, where state, int64_t at_ms)
{
    self->where = state;
    if (!hf__timer_set(&client_of(self)->timers, &self->timer, at_ms))
        fail(self, HF_NO_MEMORY, "a timer");
}

static void on_timer(hf__timer *timer)
{
    job *self = hf__container_of(timer, job, timer);

    if (self->where == PAUSED)
        ask(self);
    else if (self->where == WAITING)
        take_step(self, hf__cache_steps_waited(&self->fill.steps));
}

/* On the loop thread. Once a call is cancelled only what ends a lease is done.
 */
static void take_step(job *self, hf__cache_next next)
{
    hf__cache_steps *steps = &self->fill.steps;

    if (next == HF__CACHE_END)
        end(self);
    else if (is_closing(self))
        fail(self, HF_UNAVAILABLE, "the client is closed");
    else if (next == HF__CACHE_FILL)
        deliver_fill(self);
    else if (self->cancelled && steps->stage != HF__CACHE_STORE)
        end(self);
    else if (next == HF__CACHE_ASK)
        begin_asking(self);
    else if (self->moved)
        take_step(self, hf__cache_steps_waited(steps));
    else
        sleep_until(self, WAITING, steps->wake_ms);
}

static void read_reply(job *self)
{
    hf__cache_steps *steps = &self->fill.steps;
    const hf__request *request =
        steps->stage == HF__CACHE_LOOK ? &steps->look : &steps->ask;
    int64_t now_ms = hf__clock_boot_ms();

    if (request->status == HF_UNAVAILABLE && !is_closing(self) &&
        is_local(self) && now_ms < self->by_ms)
        sleep_until(self, PAUSED, now_ms + LOCAL_PAUSE_MS);
    else
        take_step(self, hf__cache_steps_read(steps));
}

static void on_closing(hf__pending *pending)
{
    job *self = hf__container_of(pending, job, pending);
    hf_error detail = HF_ERROR_INIT;

    stop_waiting(self);
    if (self->where == PAUSED || self->where == WAITING)
        fail(self, HF_UNAVAILABLE, "the client is closed");
    else if (self->where == FILLING)
        complete(self,
                 hf__fail(&detail, HF_UNAVAILABLE,
                          "the client was closed during the fill"),
                 &detail);
    hf__call_unref(&self->base);
}

static void begin_on_loop(job *self)
{
    if (!is_closing(self)) {
        self->listed = true;
        atomic_fetch_add(&self->base.references, 1);
        self->pending.close = on_closing;
        hf__pending_add(client_of(self), &self->pending);
    }
    take_step(self, self->next);
}

static void run_posted(hf__task *task)
{
    job *self = hf__container_of(task, job, posted);

    if (self->where == FIRST)
        begin_on_loop(self);
    else if (self->where == ASKING)
        read_reply(self);
    else if (self->dropped)
        give_back(self);
    else
        store_value(self);
}

/* ------------------------------------------------------------------- start */

static void first_done(hf__request *request)
{
    job *self = request->user;
    hf_error detail = HF_ERROR_INIT;

    self->next = hf__cache_steps_read(&self->fill.steps);
    if (self->next == HF__CACHE_END)
        end(self);
    else if (hf__timers_start(&client_of(self)->timers, &detail) != HF_OK)
        fail(self, detail.status, detail.message);
    else
        post(self);
}

/* On the loop thread. */
static void cancel(hf_call *call)
{
    job *self = call->owned;
    hf_error detail = HF_ERROR_INIT;

    if (self->call == NULL)
        return;
    self->cancelled = true;
    if (self->where == FILLING)
        atomic_store(&self->taken, true);
    complete(self, hf__fail(&detail, HF_CANCELLED, "cancelled"), &detail);
    if (self->where == WAITING ||
        (self->where == PAUSED && self->fill.steps.stage != HF__CACHE_STORE))
        end(self);
}

static hf_status finish(hf_call *call, hf_error *err)
{
    job *self = call->owned;
    hf_status status;

    if (self->answer == 0)
        return hf__cache_job_result(&self->fill, call->out, self->info, err);
    status = hf__buffer_set(call->out, self->fill.steps.found, err);
    if (status == HF_OK && self->info != NULL) {
        self->info->source = self->answer;
        self->info->fill_status = HF_OK;
    }
    return status;
}

static void release_caller(hf_call *call)
{
    job *self = call->owned;

    hf__call_unref(&self->base);
}

static void release_job(hf_call *base)
{
    job *self = base->owned;

    hf__cache_job_done(&self->fill);
    hf__client_unref(base->client);
}

static job *new_job(hf_client *client)
{
    job *self = hf__calloc(1, sizeof(*self));

    if (self == NULL)
        return NULL;
    hf__call_init(&self->base, client);
    atomic_init(&self->base.references, 1);
    self->base.user = self->base.owned = self;
    self->base.release = release_job;
    self->base.request.status = HF_OK;
    hf__timer_init(&self->timer, on_timer);
    hf__client_ref(client);
    return self;
}

static hf_status check(hf_call *call, hf_cache_fill_fn fill,
                       const hf_buffer *value, const hf_cache_info *info,
                       hf_error *err)
{
    hf_status status = hf__call_enter(call, false, err);

    if (status == HF_OK && fill == NULL)
        status = hf__fail(err, HF_INVALID, "fill is NULL");
    if (status == HF_OK)
        status = hf__check_out(value, "value", err);
    if (status == HF_OK)
        status = hf__cache_check_info(info, err);
    return status;
}

static void own_job(hf_call *call, job *self, hf_buffer *value,
                    hf_cache_info *info)
{
    call->owned = self;
    call->release = release_caller;
    call->out = value;
    call->finish = finish;
    call->cancel = cancel;
    self->info = info;
}

static void start(job *self, hf_call *call, const hf_async *async)
{
    hf__call_start_begin(call, async);
    self->call = self->caller = call;
    atomic_fetch_add(&call->references, 1);
    atomic_fetch_add(&self->base.references, 1);
    submit(self, INT64_MAX, first_done);
    hf__call_start_end(call);
}

hf_status hf_cache_get_or_fill_start(hf_client *client, hf_bytes key,
                                     hf_cache_fill_fn fill, void *user,
                                     const hf_cache_options *opts,
                                     hf_buffer *value, hf_cache_info *info,
                                     const hf_async *async, hf_error *err)
{
    hf_call *call;
    job *self = NULL;
    hf_status status = hf__call_new(client, async, &call, err);

    if (status != HF_OK)
        return status;
    hf__call_init(call, client);
    status = check(call, fill, value, info, err);
    if (status == HF_OK) {
        self = new_job(client);
        if (self == NULL)
            status = hf__fail(err, HF_NO_MEMORY, "a call");
    }
    if (status == HF_OK) {
        own_job(call, self, value, info);
        status =
            hf__cache_job_init(&self->fill, client, key, fill, user, opts, err);
        self->fill.ended = fill_ended;
    }
    if (status == HF_OK)
        start(self, call, async);
    else
        hf__call_discard(call);
    return status;
}
