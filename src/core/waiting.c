/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waiting.c - see waiting.h. A started call owns its wait, and so may be gone
 * once it has completed.
 */
#include "core/waiting.h"

#include <stdio.h>

#include "core/async.h"
#include "core/client.h"
#include "core/run.h"
#include "core/run_async.h"
#include "util/clock.h"
#include "util/container.h"
#include "util/error.h"
#include "util/mem.h"
#include "util/order.h"
#include "util/rand.h"

/* Without a reply, ask again after this. */
#define RETRY_MS 100
#define SPREAD_MS 20

static hf__wait *wait_of(hf__procedure *procedure)
{
    return hf__container_of(procedure, hf__wait, procedure);
}

static bool is_started(const hf__wait *wait)
{
    return wait->call->form.kind == HF__FORM_STARTED;
}

/* ------------------------------------------------------------------- steps */

/* Do events wake it? */
static bool has_joined(const hf__wait *wait)
{
    return wait->inbox != 0 && wait->call->words[wait->inbox].size > 0;
}

hf__next hf__wait_ask(hf__wait *wait)
{
    hf__procedure *procedure = &wait->procedure;

    if (has_joined(wait))
        hf__procedure_use(procedure, wait->call->key);
    procedure->pause_ms =
        wait->kind->pause == NULL ? 0 : wait->kind->pause(wait);
    return HF__ASK;
}

hf__next hf__wait_sleep(hf__wait *wait, int64_t ms)
{
    int64_t at_ms = hf__clock_after(hf__clock_boot_ms(),
                                    ms + hf__rand_between(0, SPREAD_MS));

    wait->procedure.wake_ms = hf__at_most(at_ms, wait->procedure.until_ms);
    return HF__SLEEP;
}

hf__next hf__wait_fail(hf__wait *wait, hf_status status, const char *why)
{
    hf__request *request = &wait->call->request;

    request->error = (hf_error)HF_ERROR_INIT;
    request->status = hf__fail(&request->error, status, "%s", why);
    return HF__END;
}

static hf__next give_up(hf__wait *wait, hf_status status, const char *why)
{
    if (wait->given_up)
        return HF__END;
    wait->given_up = true;
    (void)hf__wait_fail(wait, status, why);
    wait->procedure.ask_by_ms = INT64_MAX;
    return wait->kind->give_up == NULL ? HF__END : wait->kind->give_up(wait);
}

static hf__next time_out(hf__wait *wait)
{
    char why[HF_ERROR_MESSAGE_SIZE];

    (void)snprintf(why, sizeof(why), "timed out after %lld ms waiting for %s",
                   (long long)wait->wait_ms, wait->kind->what);
    return give_up(wait, HF_TIMEOUT, why);
}

hf__next hf__wait_longer(hf__wait *wait, int64_t ms)
{
    hf__store *store = wait->call->client->store;

    if (wait->wait_ms == 0)
        return time_out(wait);
    if (has_joined(wait))
        return hf__wait_sleep(wait, ms);
    wait->call->words[wait->inbox] = hf_str(store->ops->inbox(store));
    return hf__wait_ask(wait);
}

static hf__next read_answer(hf__wait *wait)
{
    const hf__request *request = &wait->call->request;

    hf__call_answered(wait->call);
    if (request->status == HF_OK || wait->given_up)
        return wait->kind->read(wait);
    if (wait->call->script->repeatable &&
        hf__many_is_silence(request->status) &&
        hf__clock_boot_ms() < wait->procedure.until_ms)
        return hf__wait_sleep(wait, RETRY_MS);
    return HF__END;
}

static hf__next ask_again(hf__wait *wait)
{
    if (hf__clock_boot_ms() < wait->procedure.until_ms)
        return hf__wait_ask(wait);
    return time_out(wait);
}

static hf__next wait_step(hf__procedure *procedure, hf__happened what)
{
    hf__wait *wait = wait_of(procedure);

    switch (what) {
    case HF__ANSWERED:
        return read_answer(wait);
    case HF__CANCELLED:
        return give_up(wait, HF_CANCELLED,
                       is_started(wait) ? "cancelled" : HF__INTERRUPTED);
    case HF__CLOSED:
        return hf__wait_fail(wait, wait->kind->closed, "the client is closed");
    case HF__FAILED:
        wait->call->request.status = procedure->failure->status;
        return HF__END;
    case HF__EVENT:
    case HF__TIME:
    case HF__LISTENS:
    case HF__RESUMED:
    case HF__RETURNED:
        break;
    }
    return ask_again(wait);
}

static hf__request *fill_wait(hf__procedure *procedure)
{
    hf_call *call = wait_of(procedure)->call;

    hf__request_done(&call->request);
    hf__request_init(&call->request);
    hf__fill(call);
    return &call->request;
}

static const hf__procedure_kind procedure_kind = {
    .step = wait_step, .fill = fill_wait, .retries = true};

static void init_wait(hf__wait *wait, hf_call *call, const hf__wait_kind *kind,
                      int64_t wait_ms, size_t inbox)
{
    hf__procedure *procedure = &wait->procedure;

    hf__procedure_init(procedure, call->client, &procedure_kind,
                       &call->request.error);
    procedure->until_ms = hf__clock_after(hf__clock_boot_ms(), wait_ms);
    procedure->ask_by_ms =
        hf__clock_after(procedure->until_ms, call->client->request_ms);
    procedure->wake_ms = procedure->until_ms;
    wait->call = call;
    wait->kind = kind;
    wait->wait_ms = wait_ms;
    wait->inbox = inbox;
    wait->given_up = false;
}

/* ---------------------------------------------------------------- blocking */

static hf_status run_blocked(hf_call *call, const hf__wait_kind *kind,
                             int64_t wait_ms, size_t inbox)
{
    hf_error *err = call->form.err;
    hf_status status = call->prepared;
    hf__wait wait;

    if (status == HF_OK) {
        init_wait(&wait, call, kind, wait_ms, inbox);
        hf__run_blocking(&wait.procedure, hf__wait_ask(&wait));
        status = call->request.status;
        if (status != HF_OK)
            (void)hf__fail_copy(err, &call->request.error);
        else if (call->finish != NULL)
            status = call->finish(call, err);
    }
    hf__call_end(call);
    hf__call_leave(call);
    return status;
}

/* ----------------------------------------------------------------- started */

typedef struct wait_job {
    hf__wait wait;
    hf__async_run run;
} wait_job;

static void wait_ended(hf__async_run *run)
{
    (void)hf__async_stop(run);
    hf__call_complete(hf__container_of(run, wait_job, run)->wait.call);
}

static void cancel_wait(hf_call *call)
{
    hf__async_cancel_call(&((wait_job *)call->owned)->run, call);
}

/* Everything that can fail. */
static hf_status prepare_wait(hf_call *call, hf_error *err)
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
    call->owned = hf__calloc(1, sizeof(wait_job));
    return call->owned != NULL ? HF_OK : hf__fail(err, HF_NO_MEMORY, "a call");
}

static hf_status start_waiting(hf_call *call, const hf__wait_kind *kind,
                               int64_t wait_ms, size_t inbox)
{
    hf_status status = prepare_wait(call, call->form.err);
    wait_job *self;

    if (status != HF_OK) {
        if (call->form.kind == HF__FORM_STARTED)
            hf__call_discard(call);
        return status;
    }
    self = call->owned;
    init_wait(&self->wait, call, kind, wait_ms, inbox);
    hf__async_init(&self->run, &self->wait.procedure, wait_ended);
    call->cancel = cancel_wait;
    hf__call_start_begin(call, call->form.async);
    hf__async_begin(&self->run, hf__wait_ask(&self->wait));
    hf__call_start_end(call);
    return HF_OK;
}

hf_status hf__end_waiting(hf_call *call, const hf__wait_kind *kind,
                          int64_t wait_ms, size_t inbox)
{
    (void)HF__TRY(call, hf__check_wait(wait_ms, call->form.err));
    return call->form.kind == HF__FORM_STARTED
               ? start_waiting(call, kind, wait_ms, inbox)
               : run_blocked(call, kind, wait_ms, inbox);
}
