/* SPDX-License-Identifier: Apache-2.0 */
/*
 * barrier.c - barriers. A waiting party is a call that sleeps between requests
 * (core/waiting.h): each request is the same arrival, which renews its lease,
 * and which finds that the generation has ended.
 */
#include "holdfast/barrier.h"
#include "core/client.h"
#include "core/own_key.h"
#include "core/waiting.h"
#include "script/script_words.h"
#include "util/error.h"
#include "util/rand.h"

#define TTL_MS_MIN 100
#define TTL_MS_DEFAULT 30000
#define TTL_MS_MAX 86400000
#define ID_BYTES 16

/* States in replies. */
enum { WAITING, PASSED, BROKEN, OTHER_COUNT };

typedef struct party {
    char id[2 * ID_BYTES + 1];
    char generation[HF__NUMBER_SIZE]; /* that it waits in */
    int64_t ttl_ms;
    hf_error given_up; /* why; with its status */
} party;

static int64_t number_at(const hf__request *request, size_t at)
{
    return hf_reply_integer(hf_reply_at(&request->reply, at));
}

/* Words that both scripts begin with: keys, id, generation. */
static void add_party(hf_call *call, hf_bytes name)
{
    party *self = hf__call_alloc(call, sizeof(*self));

    hf__add_key(call, name);
    hf__add_own_key(call, HF__ROLE_BARRIER, name);
    hf__add_own_key(call, HF__ROLE_PASSED, name);
    hf__add_own_key(call, HF__ROLE_WAIT, name);
    if (self == NULL)
        return;
    hf__rand_hex(self->id, ID_BYTES);
    self->given_up = (hf_error)HF_ERROR_INIT;
    call->context = self;
    hf__add(call, hf_str(self->id));
    hf__add(call, hf_str("0"));
}

/* -------------------------------------------------------------------- wait */

/* The barrier was left: unless it has passed, the call ends as it was going
 * to. */
static hf__next read_leave(hf__wait *wait)
{
    hf__request *request = &wait->call->request;
    const party *self = wait->call->context;

    if (request->status == HF_OK && number_at(request, 0) == PASSED)
        return HF__END;
    return hf__wait_fail(wait, self->given_up.status, self->given_up.message);
}

static hf__next read_wait(hf__wait *wait)
{
    hf_call *call = wait->call;
    party *self = call->context;

    if (wait->given_up)
        return read_leave(wait);
    if (number_at(&call->request, 0) != WAITING)
        return HF__END;
    call->words[HF__BARRIER_ARRIVE_WAITS] =
        hf__number(self->generation, number_at(&call->request, 1));
    return hf__wait_sleep(wait, self->ttl_ms / 3);
}

static hf__next leave_barrier(hf__wait *wait)
{
    hf_call *call = wait->call;
    party *self = call->context;

    self->given_up = call->request.error;
    call->script = HF__SCRIPT(BARRIER_LEAVE);
    call->count = HF__BARRIER_LEAVE_WORDS;
    wait->inbox = 0;
    return HF__ASK;
}

static const hf__wait_kind waiting = {.read = read_wait,
                                      .give_up = leave_barrier,
                                      .closed = HF_INDETERMINATE,
                                      .what = "the other parties"};

static hf_status finish_wait(hf_call *call, hf_error *err)
{
    const hf__request *request = &call->request;
    hf_barrier_pass *pass = call->out;

    switch (number_at(request, 0)) {
    case PASSED:
        if (pass != NULL)
            *pass = (hf_barrier_pass){number_at(request, 1),
                                      number_at(request, 2) == 1};
        return HF_OK;
    case OTHER_COUNT:
        return hf__fail(err, HF_CONFLICT, "those that wait are of %lld parties",
                        (long long)number_at(request, 2));
    default:
        return hf__fail(err, HF_LOST,
                        "the barrier is broken: a party has left or died, or "
                        "it was reset");
    }
}

static bool was_open(const hf__request *request)
{
    return number_at(request, 0) < BROKEN;
}

static const hf__operation arrive = {
    .script = HF__SCRIPT(BARRIER_ARRIVE),
    .wrote = was_open,
    .finish = finish_wait,
    .alone = true,
};

static hf_status check_party(int64_t parties, hf_barrier_options *o,
                             hf_error *err)
{
    hf_status status;

    if (o->ttl_ms == 0)
        o->ttl_ms = TTL_MS_DEFAULT;
    status =
        hf__check_range(parties, 1, HF_BARRIER_PARTIES_MAX, "parties", err);
    if (status == HF_OK)
        status = hf__check_range(o->ttl_ms, TTL_MS_MIN, TTL_MS_MAX,
                                 "ttl_ms of a party", err);
    return status;
}

static hf_status run_wait(hf__form form, hf_client *client, hf_bytes name,
                          int64_t parties, int64_t wait_ms,
                          const hf_barrier_options *opts, hf_barrier_pass *pass)
{
    hf_call here, *call = hf__begin(&here, form, &arrive, client);
    hf_barrier_options o;

    add_party(call, name);
    if (HF__LOAD(call, &o, opts, hf_barrier_options, 0) &&
        HF__TRY(call, check_party(parties, &o, call->form.err))) {
        ((party *)call->context)->ttl_ms = o.ttl_ms;
        hf__add_number(call, o.ttl_ms);
        hf__add_number(call, parties);
        hf__add(call, hf_str(client->store->ops->inbox(client->store)));
    }
    hf__set_out(call, pass, NULL);
    return hf__end_waiting(call, &waiting, wait_ms, HF__BARRIER_ARRIVE_INBOX);
}

HF__FORMS(hf_barrier_wait,
          run_wait(form, client, name, parties, wait_ms, opts, pass),
          hf_client *client, hf_bytes name, int64_t parties, int64_t wait_ms,
          const hf_barrier_options *opts, hf_barrier_pass *pass);

/* ------------------------------------------------------------------- reset */

static hf_status finish_reset(hf_call *call, hf_error *err)
{
    int64_t generation = call->request.reply.integer;

    if (generation == 0)
        return hf__fail(err, HF_NOT_FOUND, "no such barrier");
    if (call->out != NULL)
        *(int64_t *)call->out = generation;
    return HF_OK;
}

static const hf__operation reset = {
    .script = HF__SCRIPT(BARRIER_RESET),
    .wrote = hf__wrote_number,
    .finish = finish_reset,
};

static hf_status run_reset(hf__form form, hf_client *client, hf_bytes name,
                           int64_t *generation)
{
    hf_call here, *call = hf__begin(&here, form, &reset, client);

    hf__add_key(call, name);
    hf__add_own_key(call, HF__ROLE_BARRIER, name);
    hf__add_own_key(call, HF__ROLE_PASSED, name);
    hf__add_own_key(call, HF__ROLE_WAIT, name);
    hf__set_out(call, generation, NULL);
    return hf__end(call);
}

HF__FORMS(hf_barrier_reset, run_reset(form, client, name, generation),
          hf_client *client, hf_bytes name, int64_t *generation);
