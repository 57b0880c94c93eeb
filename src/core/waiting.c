/* SPDX-License-Identifier: Apache-2.0 */
/* waiting.c - see waiting.h; and running a call on the caller's thread. */
#include "core/waiting.h"

#include "core/blocking_wait.h"
#include "core/client.h"
#include "core/wrong_type.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/order.h"
#include "util/rand.h"

/* Without a reply, ask again after this. */
#define RETRY_MS 100
#define SPREAD_MS 20

/* ------------------------------------------------------------------- steps */

void hf__wait_init(hf__wait *wait, hf_call *call, const hf__wait_kind *kind,
                   int64_t wait_ms, size_t inbox)
{
    wait->call = call;
    wait->kind = kind;
    wait->inbox = inbox;
    wait->until_ms = hf__clock_after(hf__clock_boot_ms(), wait_ms);
    wait->limit_ms = hf__clock_after(wait->until_ms, call->client->request_ms);
    wait->wake_ms = wait->until_ms;
    wait->given_up = false;
}

bool hf__wait_listens(const hf__wait *wait)
{
    return wait->inbox != 0 && wait->call->words[wait->inbox].size > 0;
}

int64_t hf__wait_pause(const hf__wait *wait)
{
    return wait->kind->pause == NULL ? 0 : wait->kind->pause(wait);
}

hf__wait_next hf__wait_join(hf__wait *wait)
{
    hf__store *store = wait->call->client->store;

    wait->call->words[wait->inbox] = hf_str(store->ops->inbox(store));
    return HF__WAIT_ASK;
}

hf__wait_next hf__wait_sleep(hf__wait *wait, int64_t ms)
{
    int64_t at_ms = hf__clock_after(hf__clock_boot_ms(),
                                    ms + hf__rand_between(0, SPREAD_MS));

    wait->wake_ms = hf__at_most(at_ms, wait->until_ms);
    return HF__WAIT_SLEEP;
}

hf__wait_next hf__wait_fail(hf__wait *wait, hf_status status, const char *why)
{
    hf__request *request = &wait->call->request;

    request->error = (hf_error)HF_ERROR_INIT;
    request->status = hf__fail(&request->error, status, "%s", why);
    return HF__WAIT_END;
}

void hf__wait_fill(hf__wait *wait)
{
    hf_call *call = wait->call;

    hf__request_done(&call->request);
    hf__request_init(&call->request);
    hf__fill(call);
}

hf__wait_next hf__wait_read(hf__wait *wait)
{
    const hf__request *request = &wait->call->request;

    if (request->status == HF_OK || wait->given_up)
        return wait->kind->read(wait);
    if (wait->call->script->repeatable &&
        hf__many_is_silence(request->status) &&
        hf__clock_boot_ms() < wait->until_ms)
        return hf__wait_sleep(wait, RETRY_MS);
    return HF__WAIT_END;
}

hf__wait_next hf__wait_give_up(hf__wait *wait, hf_status status,
                               const char *why)
{
    if (wait->given_up)
        return HF__WAIT_END;
    wait->given_up = true;
    (void)hf__wait_fail(wait, status, why);
    wait->limit_ms = INT64_MAX;
    return wait->kind->give_up == NULL ? HF__WAIT_END
                                       : wait->kind->give_up(wait);
}

hf__wait_next hf__wait_woken(hf__wait *wait)
{
    if (hf__clock_boot_ms() < wait->until_ms)
        return HF__WAIT_ASK;
    return hf__wait_give_up(wait, HF_TIMEOUT, "timed out");
}

/* ---------------------------------------------------------------- blocking */

static hf__wait_next ask(hf__wait *wait, hf__blocking_wait *self)
{
    hf_call *call = wait->call;
    hf__request *request = &call->request;
    int64_t pause_ms = hf__wait_pause(wait);

    if (pause_ms > 0)
        hf__clock_sleep_until(hf__at_most(
            wait->until_ms, hf__clock_after(hf__clock_boot_ms(), pause_ms)));
    if (hf__wait_listens(wait))
        hf__blocking_wait_listen(self, call->key, wait->until_ms);
    hf__wait_fill(wait);
    (void)!hf__run_inside(call->client, request, wait->limit_ms, NULL);
    if (request->status == HF_WRONG_TYPE) {
        hf__wrong_type_name(request, &request->error);
        hf__wrong_type_ask(call->client, request, request->deadline_ms,
                           &request->error);
    }
    return hf__wait_read(wait);
}

static hf__wait_next sleep_until_woken(hf__wait *wait, hf__blocking_wait *self)
{
    if (!hf__blocking_wait_sleep(self, wait->wake_ms))
        return hf__wait_give_up(wait, HF_CANCELLED, HF__INTERRUPTED);
    return hf__wait_woken(wait);
}

static void run(hf__wait *wait)
{
    hf__blocking_wait self;
    hf__wait_next next = HF__WAIT_ASK;

    hf__blocking_wait_init(&self, wait->call->client);
    while (next != HF__WAIT_END)
        next = next == HF__WAIT_ASK ? ask(wait, &self)
                                    : sleep_until_woken(wait, &self);
    hf__blocking_wait_done(&self);
}

hf_status hf__wait_run(hf_call *call, const hf__wait_kind *kind,
                       int64_t wait_ms, size_t inbox)
{
    hf_error *err = call->form.err;
    hf_status status = call->prepared;
    hf__wait wait;

    if (status == HF_OK) {
        hf__wait_init(&wait, call, kind, wait_ms, inbox);
        run(&wait);
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
