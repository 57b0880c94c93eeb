/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waiting_async.c - the steps of waiting.h for a started call, by a stepper.
 * The first request, which most calls end with, is sent by the caller and
 * completes on any thread, unless events are to be watched before it.
 *
 * The job belongs to its call, and so may be gone once that has completed:
 * completing is the last thing that a function does.
 */
#include "core/async.h"
#include "core/client.h"
#include "core/stepper.h"
#include "core/waiting.h"
#include "util/clock.h"
#include "util/container.h"
#include "util/error.h"
#include "util/mem.h"
#include "util/order.h"

typedef struct job {
    hf__stepper stepper;
    hf__wait wait;
    hf__wait_next next; /* after FIRST */
    atomic_bool cancelled;
} job;

static job *job_of(hf__stepper *stepper)
{
    return hf__container_of(stepper, job, stepper);
}

static void end(job *self)
{
    (void)hf__stepper_stop(&self->stepper);
    hf__call_complete(self->wait.call);
}

/* ------------------------------------------------------------------- steps */

static void fail(job *self, hf_status status, const char *why)
{
    (void)hf__wait_fail(&self->wait, status, why);
    end(self);
}

static void failed(hf__stepper *stepper, hf_status status, const char *why)
{
    fail(job_of(stepper), status, why);
}

static void end_closed(job *self)
{
    fail(self, self->wait.kind->closed, "the client is closed");
}

static void closing(hf__stepper *stepper)
{
    if (stepper->state != HF__STEPPER_AT_STORE)
        end_closed(job_of(stepper));
}

static hf__request *fill(hf__stepper *stepper)
{
    hf__wait *wait = &job_of(stepper)->wait;

    hf__wait_fill(wait);
    return &wait->call->request;
}

static void ask(job *self)
{
    hf__wait *wait = &self->wait;
    int64_t by_ms =
        hf__clock_after(hf__clock_boot_ms(), self->stepper.client->request_ms);

    if (!hf__wait_listens(wait) ||
        hf__stepper_listen(&self->stepper, wait->call->key))
        hf__stepper_ask(&self->stepper, hf__at_most(by_ms, wait->limit_ms),
                        hf__wait_pause(wait));
}

static void take_step(job *self, hf__wait_next next)
{
    bool closes = hf__stepper_is_closing(&self->stepper);

    if (next != HF__WAIT_END && !closes && atomic_load(&self->cancelled) &&
        !self->wait.given_up)
        next = hf__wait_give_up(&self->wait, HF_CANCELLED, "cancelled");
    if (next == HF__WAIT_END)
        end(self);
    else if (closes)
        end_closed(self);
    else if (next == HF__WAIT_ASK)
        ask(self);
    else
        hf__stepper_sleep(&self->stepper, self->wait.wake_ms);
}

static void woken(hf__stepper *stepper, bool by_event)
{
    job *self = job_of(stepper);

    (void)by_event;
    take_step(self, hf__wait_woken(&self->wait));
}

static void answered(hf__stepper *stepper)
{
    job *self = job_of(stepper);

    hf__call_answered(self->wait.call);
    take_step(self, hf__wait_read(&self->wait));
}

static void posted(hf__stepper *stepper)
{
    job *self = job_of(stepper);

    take_step(self, self->next);
}

static const hf__stepper_kind steps = {.fill = fill,
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

    hf__call_answered(self->wait.call);
    self->next = hf__wait_read(&self->wait);
    if (self->next == HF__WAIT_END)
        end(self);
    else
        hf__stepper_post(&self->stepper);
}

/* On the loop thread. */
static void cancel(hf_call *call)
{
    job *self = call->owned;

    if (!hf__call_lock_pending(call))
        return;
    atomic_store(&self->cancelled, true);
    hf__call_unlock_pending(call);
    if (self->stepper.state == HF__STEPPER_SLEEPING)
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
    hf__stepper_init(&self->stepper, call->client, &steps);
    call->cancel = cancel;
    hf__call_start_begin(call, async);
    if (hf__wait_listens(&self->wait) || hf__wait_pause(&self->wait) > 0) {
        self->next = HF__WAIT_ASK;
        hf__stepper_post(&self->stepper);
    } else {
        hf__stepper_submit(&self->stepper, fill(&self->stepper),
                           self->wait.limit_ms, first_done);
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
