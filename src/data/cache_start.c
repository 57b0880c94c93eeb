/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_start.c - hf_cache_get_or_fill_start(), hf_cache_get_start().
 *
 * There are two calls. The caller's completes with its answer, at the end or,
 * if a value may be returned during the fill, before the fill; or when it is
 * cancelled. The fill's, `base`, is delivered to begin the fill. It is counted
 * as under way until the value is stored, and delivered once more then if the
 * caller's has completed before, so that a program that dispatches until
 * nothing is under way loses no value.
 *
 * References of `base`: of the caller's call, of the steps until they end, of
 * the runner until it has ended or seen the close, of each delivery. The steps
 * have one of the caller's call too. While it is away, from the delivery of
 * `base` to the end of the fill, theirs belong to the fill, which may end, on
 * any thread, before the close has seen the job.
 *
 * Closing the client ends what waits here; a fill under way is ended by its
 * hf_cache_fill_done(), for which it keeps the client's memory.
 */
#include "core/async.h"
#include "core/run_async.h"
#include "data/cache_job.h"
#include "holdfast/cache.h"
#include "util/container.h"
#include "util/error.h"
#include "util/mem.h"

typedef struct fill_job {
    hf_call base; /* first: the job is freed with it */
    hf_cache_fill fill;
    hf__async_run run;
    hf_call *call;   /* the caller's; NULL: completed */
    hf_call *caller; /* the same, until the steps have ended */
    hf_cache_info *info;
    hf_cache_source answer; /* before the fill; 0: there was none */
    bool running;           /* the runner's reference is there */
    bool away;
    bool dropped;      /* the fill was not called */
    bool counted;      /* `base` */
    atomic_bool taken; /* the fill was called, or is not to be */
} fill_job;

static fill_job *job_of(hf__procedure *procedure)
{
    return hf__container_of(procedure, fill_job, fill.steps.procedure);
}

/* --------------------------------------------------------------------- end */

static void complete_call(fill_job *self, hf_status status,
                          const hf_error *detail)
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

static void deliver_value(fill_job *self, hf_done_fn done)
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
static void let_go(fill_job *self)
{
    hf__call_unref(self->caller);
    hf__call_unref(&self->base);
}

static void stop_running(fill_job *self)
{
    if (self->running)
        hf__call_unref(&self->base);
    self->running = false;
}

static void job_ended(hf__async_run *run)
{
    fill_job *self = hf__container_of(run, fill_job, run);
    const hf__cache_steps *steps = &self->fill.steps;

    (void)hf__async_stop(run);
    stop_running(self);
    if (self->counted && self->call == NULL)
        deliver_value(self, do_nothing);
    else if (self->counted)
        hf__call_uncount(&self->base);
    complete_call(self, steps->status, &steps->detail);
    let_go(self);
}

/* -------------------------------------------------------------------- fill */

/* By hf_client_dispatch(), or a close. */
static void begin_fill(void *user, hf_status status, const hf_error *err)
{
    fill_job *self = user;
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
        hf__resume(&self->fill.steps.procedure);
    hf__life_leave(&client->life);
    if (!self->dropped)
        hf__cache_job_fill(&self->fill);
}

static bool deliver_fill(hf__procedure *procedure)
{
    fill_job *self = job_of(procedure);
    const hf__cache_steps *steps = &self->fill.steps;

    self->away = true;
    self->counted = true;
    hf__call_count(&self->base);
    if (steps->answers) {
        self->answer = steps->early ? HF_CACHE_HIT : HF_CACHE_OLD;
        complete_call(self, HF_OK, NULL);
    }
    deliver_value(self, begin_fill);
    return false;
}

/* On any thread. In a forked child there is nothing to free. */
static hf_status fill_ended(hf_cache_fill *fill, hf_error *err)
{
    fill_job *self = hf__container_of(fill, fill_job, fill);
    hf_client *client = self->base.client;
    hf_status status = hf__client_enter(client, err);

    if (status == HF_OK) {
        hf__resume(&self->fill.steps.procedure);
        hf__life_leave(&client->life);
    } else if (!hf__client_forked(client)) {
        let_go(self);
    }
    return status;
}

/* ------------------------------------------------------------------- steps */

/* The fill continues, and its end may have freed the job afterwards. */
static hf__next close_away(fill_job *self)
{
    hf_error detail = HF_ERROR_INIT;

    complete_call(self,
                  hf__fail(&detail, HF_UNAVAILABLE,
                           "the client was closed during the fill"),
                  &detail);
    stop_running(self);
    return HF__STAY;
}

static hf__next resume_job(fill_job *self)
{
    self->away = false;
    if (self->dropped)
        return hf__cache_steps_give_back(&self->fill.steps);
    hf__cache_job_filled(&self->fill);
    return hf__cache_step(&self->fill.steps.procedure, HF__RESUMED);
}

static hf__next job_step(hf__procedure *procedure, hf__happened what)
{
    fill_job *self = job_of(procedure);

    if (what == HF__RESUMED)
        return resume_job(self);
    if (!self->away)
        return hf__cache_step(procedure, what);
    return what == HF__CLOSED ? close_away(self) : HF__STAY;
}

static const hf__procedure_kind started = {.step = job_step,
                                           .fill = hf__cache_request,
                                           .leave = deliver_fill,
                                           .retries = true};

/* ------------------------------------------------------------------- start */

/* On the loop thread. */
static void cancel_job(hf_call *call)
{
    fill_job *self = call->owned;
    hf_error detail = HF_ERROR_INIT;

    if (self->call == NULL)
        return;
    if (self->away)
        atomic_store(&self->taken, true);
    complete_call(self, hf__fail(&detail, HF_CANCELLED, "cancelled"), &detail);
    hf__async_cancel(&self->run);
}

static hf_status finish_job(hf_call *call, hf_error *err)
{
    fill_job *self = call->owned;
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
    fill_job *self = call->owned;

    hf__call_unref(&self->base);
}

static void release_job(hf_call *base)
{
    fill_job *self = base->owned;

    hf__cache_job_done(&self->fill);
    hf__client_unref(base->client);
}

static fill_job *new_job(hf_call *call, hf_buffer *value, hf_cache_info *info)
{
    fill_job *self = hf__calloc(1, sizeof(*self));

    if (self == NULL)
        return NULL;
    hf__call_init(&self->base, call->client);
    atomic_init(&self->base.references, 1);
    self->base.user = self->base.owned = self;
    self->base.release = release_job;
    self->base.request.status = HF_OK;
    self->info = info;
    hf__client_ref(call->client);
    call->owned = self;
    call->release = release_caller;
    call->out = value;
    call->finish = finish_job;
    call->cancel = cancel_job;
    return self;
}

static void run_job(fill_job *self, hf_call *call, const hf_async *async)
{
    hf__call_start_begin(call, async);
    self->call = self->caller = call;
    self->running = true;
    atomic_fetch_add(&call->references, 1);
    atomic_fetch_add(&self->base.references, 2);
    hf__async_init(&self->run, &self->fill.steps.procedure, job_ended);
    hf__async_begin(&self->run, HF__ASK);
    hf__call_start_end(call);
}

static hf_status start_job(hf_call *call, hf_bytes key, hf_cache_fill_fn fill,
                           void *user, const hf_cache_options *opts,
                           hf_buffer *value, hf_cache_info *info,
                           const hf_async *async, hf_error *err)
{
    hf_status status = hf__check_out(value, "value", err);
    fill_job *self;

    if (status != HF_OK)
        return status;
    self = new_job(call, value, info);
    if (self == NULL)
        return hf__fail(err, HF_NO_MEMORY, "a call");
    status = hf__cache_job_init(&self->fill, call->client, &started, key, fill,
                                user, opts, err);
    self->fill.ended = fill_ended;
    if (status == HF_OK)
        run_job(self, call, async);
    return status;
}

hf_status hf_cache_get_start(hf_client *client, hf_bytes key,
                             const hf_cache_options *opts, hf_buffer *value,
                             const hf_async *async, hf_error *err)
{
    hf_call *call;
    hf_status status = hf__call_new(client, async, &call, err);

    if (status != HF_OK)
        return status;
    hf__call_init(call, client);
    status = hf__call_enter(call, false, err);
    if (status == HF_OK)
        status =
            start_job(call, key, NULL, NULL, opts, value, NULL, async, err);
    if (status != HF_OK)
        hf__call_discard(call);
    return status;
}

hf_status hf_cache_get_or_fill_start(hf_client *client, hf_bytes key,
                                     hf_cache_fill_fn fill, void *user,
                                     const hf_cache_options *opts,
                                     hf_buffer *value, hf_cache_info *info,
                                     const hf_async *async, hf_error *err)
{
    hf_call *call;
    hf_status status = hf__call_new(client, async, &call, err);

    if (status != HF_OK)
        return status;
    hf__call_init(call, client);
    status = hf__call_enter(call, false, err);
    if (status == HF_OK && fill == NULL)
        status = hf__fail(err, HF_INVALID, "fill is NULL");
    if (status == HF_OK)
        status = hf__cache_check_info(info, err);
    if (status == HF_OK)
        status =
            start_job(call, key, fill, user, opts, value, info, async, err);
    if (status != HF_OK)
        hf__call_discard(call);
    return status;
}
