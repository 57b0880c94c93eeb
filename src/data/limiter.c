/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limiter.c - rate limiters: units, and the time in which they are earned.
 *
 * The script only adds and compares times. A time of n units is n * period /
 * count: whole us, and a rest in parts of a us, of which there are `count`. The
 * burst is rounded down to whole us, and so is what is compared with it, which
 * is exact as a unit takes at least one.
 */
#include "holdfast/limiter.h"
#include "core/client.h"
#include "core/waiting.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/order.h"

#define PERIOD_MS_DEFAULT 1000
#define BURST_MAX_US (INT64_C(366) * 86400 * 1000000)

__extension__ typedef __int128 wide;

/* A rate and a cost, checked. */
typedef struct charge {
    int64_t count;
    int64_t period_us;
    int64_t burst;
    int64_t burst_us;
    int64_t cost_us;
    int64_t cost_rest; /* parts of a us */
    int64_t wait_us;
} charge;

static hf_status check_rate(const hf_limiter_options *o, hf_error *err)
{
    int64_t burst_max =
        (int64_t)((wide)BURST_MAX_US * o->count / ((wide)o->period_ms * 1000));

    if (o->count > o->period_ms * 1000)
        return hf__fail(err, HF_INVALID,
                        "%lld units in %lld ms are more than one in a "
                        "microsecond",
                        (long long)o->count, (long long)o->period_ms);
    if (o->burst > burst_max)
        return hf__fail(err, HF_INVALID,
                        "a burst of %lld takes more than a year to gain; it "
                        "must be 1..%lld",
                        (long long)o->burst, (long long)burst_max);
    return HF_OK;
}

static hf_status check_options(hf_limiter_options *o, hf_error *err)
{
    hf_status status = hf__check_range(o->count, 1, HF_LIMITER_COUNT_MAX,
                                       "count of a limiter", err);

    if (status == HF_OK)
        status = hf__check_option(o->period_ms, HF_LIMITER_PERIOD_MAX_MS,
                                  "period_ms of a limiter", err);
    if (status == HF_OK)
        status = hf__check_option(o->burst, HF_LIMITER_COUNT_MAX,
                                  "burst of a limiter", err);
    if (status == HF_OK)
        status = hf__check_range(o->wait_ms, 0, HF_LIMITER_PERIOD_MAX_MS,
                                 "wait_ms of a limiter", err);
    if (o->period_ms == 0)
        o->period_ms = PERIOD_MS_DEFAULT;
    if (o->burst == 0)
        o->burst = o->count;
    return status == HF_OK ? check_rate(o, err) : status;
}

static void set_charge(charge *c, const hf_limiter_options *o, int64_t cost)
{
    wide period_us = (wide)o->period_ms * 1000;

    c->count = o->count;
    c->period_us = (int64_t)period_us;
    c->burst = o->burst;
    c->burst_us = (int64_t)(o->burst * period_us / o->count);
    c->cost_us = (int64_t)(cost * period_us / o->count);
    c->cost_rest = (int64_t)(cost * period_us % o->count);
    c->wait_us = o->wait_ms * 1000;
}

/* ------------------------------------------------------------------- reply */

static int64_t item_at(const hf__request *request, size_t at)
{
    return hf_reply_integer(hf_reply_at(&request->reply, at));
}

static int64_t round_up_ms(int64_t us)
{
    return us <= 0 ? 0 : (us + 999) / 1000;
}

/* Of what was taken so much more than the burst is still to be earned, us. */
static int64_t too_early_us(const hf__request *request, const charge *c,
                            int64_t more_us, int64_t more_rest)
{
    return item_at(request, 1) + more_us - c->burst_us +
           (item_at(request, 2) + more_rest) / c->count;
}

static bool wrote_take(const hf__request *request)
{
    return item_at(request, 0) == 1;
}

static void set_state(const hf__request *request, const charge *c,
                      hf_limiter_state *state)
{
    wide parts = (wide)(c->burst_us + 1 - item_at(request, 1)) * c->count -
                 item_at(request, 2) - 1;

    state->remaining =
        parts < 0 ? 0 : hf__at_most((int64_t)(parts / c->period_us), c->burst);
    state->retry_ms =
        wrote_take(request)
            ? 0
            : round_up_ms(too_early_us(request, c, c->cost_us, c->cost_rest));
    state->full_ms =
        round_up_ms(item_at(request, 1) + (item_at(request, 2) > 0));
}

static hf_status finish_take(hf_call *call, hf_error *err)
{
    const charge *c = call->context;
    hf_limiter_state state;

    set_state(&call->request, c, &state);
    if (call->out != NULL)
        *(hf_limiter_state *)call->out = state;
    if (wrote_take(&call->request))
        return HF_OK;
    return hf__fail(err, HF_TIMEOUT,
                    "the limit of %lld in %lld ms is reached; retry in %lld ms",
                    (long long)c->count, (long long)(c->period_us / 1000),
                    (long long)state.retry_ms);
}

/* -------------------------------------------------------------------- take */

static const hf__operation take = {
    .script = HF__SCRIPT(LIMITER_TAKE),
    .wrote = wrote_take,
    .finish = finish_take,
    .alone = true,
};

/* What was taken in advance is waited for. */
static hf__next read_take(hf__wait *wait)
{
    const hf__request *request = &wait->call->request;
    int64_t early_us = too_early_us(request, wait->call->context, 0, 0);

    if (!wrote_take(request) || early_us <= 0)
        return HF__END;
    wait->procedure.until_ms = wait->procedure.wake_ms =
        hf__clock_after(hf__clock_boot_ms(), round_up_ms(early_us));
    return HF__SLEEP;
}

static hf__next end_take(hf__wait *wait)
{
    hf__request *request = &wait->call->request;

    if (request->status == HF_TIMEOUT)
        request->status = HF_OK;
    else
        (void)hf__wait_fail(wait, HF_CANCELLED,
                            "interrupted; the units stay taken");
    return HF__END;
}

static const hf__wait_kind taking = {.read = read_take,
                                     .give_up = end_take,
                                     .closed = HF_INDETERMINATE,
                                     .what = "units"};

static void add_charge(hf_call *call, const hf_limiter_options *o, int64_t cost)
{
    charge *c = hf__call_alloc(call, sizeof(*c));

    if (c == NULL)
        return;
    set_charge(c, o, cost);
    call->context = c;
    hf__add_number(call, c->cost_us);
    hf__add_number(call, c->cost_rest);
    hf__add_number(call, c->count);
    hf__add_number(call, c->burst_us);
    hf__add_number(call, c->wait_us);
}

/* What both calls send. */
static void add_words(hf_call *call, hf_bytes name,
                      const hf_limiter_options *opts, hf_limiter_options *o)
{
    hf__add_key(call, name);
    (void)HF__TRY(call, hf__check_out(opts, "opts", call->form.err));
    if (HF__LOAD(call, o, opts, hf_limiter_options, 0))
        (void)HF__TRY(call, check_options(o, call->form.err));
}

static hf_status run_take(hf__form form, hf_client *client, hf_bytes name,
                          int64_t cost, const hf_limiter_options *opts,
                          hf_limiter_state *state)
{
    hf_call here, *call = hf__begin(&here, form, &take, client);
    hf_limiter_options o;

    add_words(call, name, opts, &o);
    hf__set_out(call, state, NULL);
    if (call->prepared == HF_OK &&
        HF__TRY(call, hf__check_range(cost, 1, o.burst, "cost of a limiter",
                                      call->form.err)))
        add_charge(call, &o, cost);
    if (call->prepared == HF_OK && o.wait_ms > 0 && form.is_item)
        call->prepared =
            hf__fail(call->form.err, HF_INVALID, "wait_ms of a batch is not 0");
    if (call->prepared == HF_OK && o.wait_ms > 0)
        return hf__end_waiting(call, &taking, o.wait_ms, 0);
    return hf__end(call);
}

HF__FORMS(hf_limiter_take, run_take(form, client, name, cost, opts, state),
          hf_client *client, hf_bytes name, int64_t cost,
          const hf_limiter_options *opts, hf_limiter_state *state);

HF__MANY(hf_limiter_take_many, items,
         run_take(form, client, items[i].name, items[i].cost, opts,
                  items[i].state),
         hf_client *client, const hf_limiter_item *items, size_t count,
         const hf_limiter_options *opts);

/* ----------------------------------------------------------------- inspect */

/* That of a smaller burst than was taken with is refused, too. */
static hf_status finish_inspect(hf_call *call, hf_error *err)
{
    hf_limiter_state *state = call->out;

    (void)err;
    set_state(&call->request, call->context, state);
    state->retry_ms = 0;
    return HF_OK;
}

/* A cost of 0, with which nothing is written. */
static const hf__operation inspect = {
    .script = HF__SCRIPT(LIMITER_TAKE),
    .finish = finish_inspect,
    .alone = true,
};

static hf_status run_inspect(hf__form form, hf_client *client, hf_bytes name,
                             const hf_limiter_options *opts,
                             hf_limiter_state *state)
{
    hf_call here, *call = hf__begin(&here, form, &inspect, client);
    hf_limiter_options o;

    add_words(call, name, opts, &o);
    hf__set_out(call, state, "state");
    if (call->prepared == HF_OK)
        add_charge(call, &o, 0);
    return hf__end(call);
}

HF__FORMS(hf_limiter_inspect, run_inspect(form, client, name, opts, state),
          hf_client *client, hf_bytes name, const hf_limiter_options *opts,
          hf_limiter_state *state);
