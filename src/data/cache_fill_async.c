/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_fill_async.c - hf_cache_get_or_fill_start(): the steps of cache_steps.h
 * by a stepper. The first request, which most calls end with, completes on any
 * thread.
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
 * While it is AWAY, from the delivery of `base` to the end of the fill, theirs
 * belong to the fill, which may end, on any thread, before the close has seen
 * the job.
 *
 * Closing the client ends what waits here; a fill under way is ended by its
 * hf_cache_fill_done(), for which it keeps the client's memory.
 */
#include "core/async.h"
#include "core/stepper.h"
#include "data/cache_job.h"
#include "util/clock.h"
#include "util/container.h"
#include "util/error.h"
#include "util/mem.h"
#include "util/order.h"

typedef struct job {
    hf_call base; /* first: the job is freed with it */
    hf_cache_fill fill;
    hf__stepper stepper;
    hf__cache_next next; /* after FIRST */
    hf_call *call;       /* the caller's; NULL: completed */
    hf_call *caller;     /* the same, until the steps have ended */
    hf_cache_info *info;
    hf_cache_source answer; /* before the fill; 0: there was none */
    bool cancelled;
    bool dropped;      /* the fill was not called */
    bool counted;      /* `base` */
    atomic_bool taken; /* the fill was called, or is not to be */
} job;

static void take_step(job *self, hf__cache_next next);

static job *job_of(hf__stepper *stepper)
{
    return hf__container_of(stepper, job, stepper);
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

/* Drop the references of the steps. */
static void let_go(job *self)
{
    hf__call_unref(self->caller);
    hf__call_unref(&self->base);
}

static void end(job *self)
{
    const hf__cache_steps *steps = &self->fill.steps;

    if (hf__stepper_stop(&self->stepper))
        hf__call_unref(&self->base);
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

static hf__request *fill_request(hf__stepper *stepper)
{
    return hf__cache_steps_ask(&job_of(stepper)->fill.steps);
}

static void ask(job *self)
{
    const hf__cache_steps *steps = &self->fill.steps;
    int64_t by_ms =
        hf__clock_after(hf__clock_boot_ms(), self->base.client->request_ms);

    if (steps->stage != HF__CACHE_STORE)
        by_ms = hf__at_most(by_ms, steps->limit_ms);
    if (steps->stage != HF__CACHE_JOIN ||
        hf__stepper_listen(&self->stepper, hf__cache_topic(steps)))
        hf__stepper_ask(&self->stepper, by_ms, 0);
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
    hf_client *client = self->base.client;

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
        hf__stepper_post(&self->stepper);
    hf__life_leave(&client->life);
    if (!self->dropped)
        hf__cache_job_fill(&self->fill);
}

static void deliver_fill(job *self)
{
    const hf__cache_steps *steps = &self->fill.steps;

    if (self->cancelled) {
        give_back(self);
        return;
    }
    self->stepper.state = HF__STEPPER_AWAY;
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
    hf_client *client = self->base.client;
    hf_status status = hf__client_enter(client, err);

    if (status == HF_OK) {
        hf__stepper_post(&self->stepper);
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

/* On the loop thread. Once a call is cancelled only what ends a lease is done.
 */
static void take_step(job *self, hf__cache_next next)
{
    hf__cache_steps *steps = &self->fill.steps;

    if (next == HF__CACHE_END)
        end(self);
    else if (hf__stepper_is_closing(&self->stepper))
        fail(self, HF_UNAVAILABLE, "the client is closed");
    else if (next == HF__CACHE_FILL)
        deliver_fill(self);
    else if (self->cancelled && steps->stage != HF__CACHE_STORE)
        end(self);
    else if (next == HF__CACHE_ASK)
        ask(self);
    else
        hf__stepper_sleep(&self->stepper, steps->wake_ms);
}

static void answered(hf__stepper *stepper)
{
    job *self = job_of(stepper);

    take_step(self, hf__cache_steps_read(&self->fill.steps));
}

static void woken(hf__stepper *stepper, bool by_event)
{
    job *self = job_of(stepper);

    (void)by_event;
    take_step(self, hf__cache_steps_waited(&self->fill.steps));
}

static void failed(hf__stepper *stepper, hf_status status, const char *why)
{
    fail(job_of(stepper), status, why);
}

static void closing(hf__stepper *stepper)
{
    job *self = job_of(stepper);
    hf_error detail = HF_ERROR_INIT;

    if (stepper->state == HF__STEPPER_AWAY)
        complete(self,
                 hf__fail(&detail, HF_UNAVAILABLE,
                          "the client was closed during the fill"),
                 &detail);
    else if (stepper->state != HF__STEPPER_AT_STORE)
        fail(self, HF_UNAVAILABLE, "the client is closed");
    hf__call_unref(&self->base);
}

static void posted(hf__stepper *stepper)
{
    job *self = job_of(stepper);

    if (stepper->state == HF__STEPPER_FIRST) {
        if (stepper->listed)
            atomic_fetch_add(&self->base.references, 1);
        take_step(self, self->next);
    } else if (self->dropped) {
        give_back(self);
    } else {
        store_value(self);
    }
}

static const hf__stepper_kind stepping = {.fill = fill_request,
                                          .answered = answered,
                                          .posted = posted,
                                          .woken = woken,
                                          .failed = failed,
                                          .closing = closing,
                                          .retries = true};

/* ------------------------------------------------------------------- start */

static void first_done(hf__request *request)
{
    job *self = job_of(request->user);
    hf_error detail = HF_ERROR_INIT;

    self->next = hf__cache_steps_read(&self->fill.steps);
    if (self->next == HF__CACHE_END)
        end(self);
    else if (hf__timers_start(&self->base.client->timers, &detail) != HF_OK)
        fail(self, detail.status, detail.message);
    else
        hf__stepper_post(&self->stepper);
}

/* On the loop thread. */
static void cancel(hf_call *call)
{
    job *self = call->owned;
    hf__stepper_state state = self->stepper.state;
    hf_error detail = HF_ERROR_INIT;

    if (self->call == NULL)
        return;
    self->cancelled = true;
    if (state == HF__STEPPER_AWAY)
        atomic_store(&self->taken, true);
    complete(self, hf__fail(&detail, HF_CANCELLED, "cancelled"), &detail);
    if (state == HF__STEPPER_SLEEPING ||
        (state == HF__STEPPER_PAUSED &&
         self->fill.steps.stage != HF__CACHE_STORE))
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
    hf__stepper_init(&self->stepper, client, &stepping);
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
    hf__stepper_submit(&self->stepper, fill_request(&self->stepper), INT64_MAX,
                       first_done);
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
