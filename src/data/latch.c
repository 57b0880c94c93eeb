/* SPDX-License-Identifier: Apache-2.0 */
/*
 * latch.c - latches. The scripts have the semantics; awaiting is a call that
 * sleeps between requests (core/waiting.h), woken when the latch opens.
 */
#include "holdfast/latch.h"
#include "core/client.h"
#include "core/own_key.h"
#include "core/waiting.h"
#include "script/script_words.h"
#include "util/error.h"
#include "util/order.h"
#include "util/rand.h"

/* A wake-up that was lost with its message or its sender costs so much. */
#define POLL_MS 5000
#define ID_BYTES 16

static const char no_latch[] = "no such latch";

static void put_left(const hf_call *call, int64_t left)
{
    if (call->out != NULL)
        *(int64_t *)call->out = left;
}

static int64_t first_number(const hf__request *request)
{
    return hf_reply_integer(hf_reply_at(&request->reply, 0));
}

/* A word that only this call has. */
static void add_unique(hf_call *call)
{
    char *text = hf__call_alloc(call, 2 * ID_BYTES + 2);

    if (text == NULL)
        return;
    text[0] = '-';
    hf__rand_hex(text + 1, ID_BYTES);
    hf__add(call, hf_view(text, 2 * ID_BYTES + 1));
}

static void add_latch(hf_call *call, hf_bytes name)
{
    if (HF__TRY(call, hf__layout_check_ours(&call->client->layout, "a latch",
                                            call->form.err)))
        hf__add_key(call, name);
}

/* --------------------------------------------------------------------- set */

static bool was_set(const hf__request *request)
{
    return first_number(request) == 1;
}

static hf_status finish_set(hf_call *call, hf_error *err)
{
    int64_t left = hf_reply_integer(hf_reply_at(&call->request.reply, 1));

    if (was_set(&call->request))
        return HF_OK;
    put_left(call, left);
    return hf__fail(err, HF_CONFLICT, "there is a latch; its count is %lld",
                    (long long)left);
}

static const hf__operation set = {
    .script = HF__SCRIPT(LATCH_SET),
    .wrote = was_set,
    .finish = finish_set,
};

static hf_status run_set(hf__form form, hf_client *client, hf_bytes name,
                         int64_t count, int64_t ttl_ms, int64_t *left)
{
    hf_call here, *call = hf__begin(&here, form, &set, client);

    add_latch(call, name);
    hf__add_own_key(call, HF__ROLE_WAIT, name);
    (void)HF__TRY(call, hf__check_range(count, 1, HF_LATCH_COUNT_MAX, "count",
                                        call->form.err));
    (void)HF__TRY(call, hf__check_ttl(ttl_ms, "ttl_ms", call->form.err));
    hf__add_number(call, count);
    hf__add_number(call, ttl_ms);
    add_unique(call);
    hf__set_out(call, left, NULL);
    return hf__end(call);
}

HF__FORMS(hf_latch_set, run_set(form, client, name, count, ttl_ms, left),
          hf_client *client, hf_bytes name, int64_t count, int64_t ttl_ms,
          int64_t *left);

/* ------------------------------------------------------------------ arrive */

static bool wrote_arrival(const hf__request *request)
{
    return request->reply.integer >= 0;
}

static hf_status finish_arrive(hf_call *call, hf_error *err)
{
    if (!wrote_arrival(&call->request))
        return hf__fail(err, HF_NOT_FOUND, no_latch);
    put_left(call, call->request.reply.integer);
    return HF_OK;
}

static const hf__operation arrive = {
    .script = HF__SCRIPT(LATCH_ARRIVE),
    .wrote = wrote_arrival,
    .finish = finish_arrive,
};

static void add_id(hf_call *call, hf_bytes id)
{
    char *text;

    if (id.size == 0) {
        add_unique(call);
        return;
    }
    if (!HF__TRY(call, hf__check_field(id, call->form.err)))
        return;
    text = hf__call_alloc(call, id.size + 1);
    if (text == NULL)
        return;
    text[0] = '+';
    memcpy(text + 1, id.data, id.size);
    hf__add(call, hf_view(text, id.size + 1));
}

static hf_status run_arrive(hf__form form, hf_client *client, hf_bytes name,
                            hf_bytes id, int64_t count, int64_t *left)
{
    hf_call here, *call = hf__begin(&here, form, &arrive, client);

    add_latch(call, name);
    hf__add_own_key(call, HF__ROLE_WAIT, name);
    add_id(call, id);
    (void)HF__TRY(call, hf__check_range(count, 1, HF_LATCH_COUNT_MAX, "count",
                                        call->form.err));
    hf__add_number(call, count);
    hf__set_out(call, left, NULL);
    return hf__end(call);
}

HF__FORMS(hf_latch_arrive, run_arrive(form, client, name, id, count, left),
          hf_client *client, hf_bytes name, hf_bytes id, int64_t count,
          int64_t *left);

/* ------------------------------------------------------------- await, left */

static hf_status finish_await(hf_call *call, hf_error *err)
{
    int64_t left = first_number(&call->request);

    if (left < 0)
        return hf__fail(err, HF_NOT_FOUND, no_latch);
    put_left(call, left);
    return HF_OK;
}

static const hf__operation await_open = {
    .script = HF__SCRIPT(LATCH_AWAIT),
    .finish = finish_await,
    .alone = true,
};

static const hf__operation await_early = {
    .script = HF__SCRIPT(LATCH_AWAIT),
    .finish = finish_await,
    .alone = true,
};

static hf__next read_await(hf__wait *wait)
{
    const hf__request *request = &wait->call->request;
    int64_t pttl_ms = hf_reply_integer(hf_reply_at(&request->reply, 1));

    if (first_number(request) == 0 ||
        (first_number(request) < 0 && wait->call->operation != &await_early))
        return HF__END;
    return hf__wait_longer(wait, pttl_ms < 0 ? POLL_MS
                                             : hf__at_most(POLL_MS, pttl_ms));
}

static const hf__wait_kind awaiting = {
    .read = read_await, .closed = HF_UNAVAILABLE, .what = "the latch to open"};

static hf_status run_await(hf__form form, const hf__operation *operation,
                           hf_client *client, hf_bytes name, int64_t wait_ms)
{
    hf_call here, *call = hf__begin(&here, form, operation, client);

    add_latch(call, name);
    hf__add_own_key(call, HF__ROLE_WAIT, name);
    hf__add(call, hf_str(""));
    hf__add(call, hf_str(operation == &await_early ? "1" : ""));
    return hf__end_waiting(call, &awaiting, wait_ms, HF__LATCH_AWAIT_INBOX);
}

HF__FORMS(hf_latch_await, run_await(form, &await_open, client, name, wait_ms),
          hf_client *client, hf_bytes name, int64_t wait_ms);

HF__FORMS(hf_latch_await_early,
          run_await(form, &await_early, client, name, wait_ms),
          hf_client *client, hf_bytes name, int64_t wait_ms);

static hf_status run_left(hf__form form, hf_client *client, hf_bytes name,
                          int64_t *left)
{
    hf_call here, *call = hf__begin(&here, form, &await_open, client);

    add_latch(call, name);
    hf__add_own_key(call, HF__ROLE_WAIT, name);
    hf__add(call, hf_str(""));
    hf__set_out(call, left, "left");
    return hf__end(call);
}

HF__FORMS(hf_latch_inspect, run_left(form, client, name, left),
          hf_client *client, hf_bytes name, int64_t *left);

/* ------------------------------------------------------------------ delete */

static const hf__operation delete = {
    .script = HF__SCRIPT(LATCH_DELETE),
    .wrote = hf__wrote_number,
    .finish = hf__finish_found,
    .absent = no_latch,
};

static hf_status run_delete(hf__form form, hf_client *client, hf_bytes name)
{
    hf_call here, *call = hf__begin(&here, form, &delete, client);

    add_latch(call, name);
    hf__add_own_key(call, HF__ROLE_WAIT, name);
    return hf__end(call);
}

HF__FORMS(hf_latch_delete, run_delete(form, client, name), hf_client *client,
          hf_bytes name);
