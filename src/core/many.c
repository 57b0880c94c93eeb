/* SPDX-License-Identifier: Apache-2.0 */
/*
 * many.c - see many.h.
 *
 * Each window goes to the store by one submit(), so that its calls share writes
 * on a connection, or a transaction; then this thread sleeps until all of them
 * have completed.
 */
#include "core/many.h"

#include "core/batch.h"
#include "core/client.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/mem.h"

/* The status of a call that is refused is known before those in front of it
 * have run. */
static void note_status(hf__many *many, size_t at, hf_status status,
                        const hf_error *detail)
{
    size_t index = many->first + at;

    many->statuses[index] = status;
    if (hf__many_is_answer(status) ||
        (many->failed != HF_OK && many->failed_at < index))
        return;
    many->failed_at = index;
    many->failed =
        hf__fail(many->err, status, "item %zu: %s", index, detail->message);
}

void hf__many_begin(hf__many *many, hf_client *client, size_t count,
                    hf_status *statuses, hf_error *err)
{
    size_t room = count < HF__MANY_WINDOW ? count : HF__MANY_WINDOW;

    *many = (hf__many){.client = client,
                       .count = count,
                       .statuses = statuses,
                       .err = err,
                       .room = room};
    many->failed = hf__client_enter_blocking(client, err);
    many->inside = many->failed == HF_OK;
    hf__many_needs(many, statuses, "statuses");
    if (many->failed != HF_OK || count == 0)
        return;
    many->calls = hf__calloc(room, sizeof(*many->calls));
    many->requests = hf__calloc(room, sizeof(hf__request *));
    if (many->calls == NULL || many->requests == NULL)
        many->failed = hf__fail(err, HF_NO_MEMORY, "%zu calls", room);
    if (many->failed != HF_OK)
        many->count = 0;
}

void hf__many_start(hf__many *many, hf__gathering *started, hf_client *client,
                    bool leases, size_t count, hf_status *statuses,
                    const hf_async *async, hf_error *err)
{
    *many = (hf__many){.client = client, .count = count, .err = err};
    hf__many_needs(many, statuses, "statuses");
    if (many->failed != HF_OK)
        return;
    many->failed =
        hf__gather_begin(started, client, leases, count, statuses, async, err);
    if (many->failed == HF_OK)
        many->started = started;
    else
        many->count = 0;
}

void hf__many_needs(hf__many *many, const void *input, const char *name)
{
    if (many->failed == HF_OK && many->count > 0)
        many->failed = hf__check_out(input, name, many->err);
    if (many->failed != HF_OK)
        many->count = 0;
}

static hf_call *call_at(const hf__many *many, size_t at)
{
    if (many->homes != NULL && many->homes[at] != NULL)
        return many->homes[at];
    return &many->calls[at];
}

/* The call outlives its window, as the home of its reply. */
static hf_status add_home(hf__many *many)
{
    if (many->homes == NULL)
        many->homes = hf__calloc(many->room, sizeof(hf_call *));
    if (many->homes == NULL)
        return hf__fail(&many->detail, HF_NO_MEMORY, "%zu calls", many->room);
    return hf__call_new_shared(&many->homes[many->at], &many->detail);
}

hf_status hf__many_call(hf__many *many, bool reply_stays, hf_call **call)
{
    hf_status status = reply_stays ? add_home(many) : HF_OK;

    *call = call_at(many, many->at);
    return status;
}

hf_status hf__many_add(hf__many *many, hf_call *call)
{
    hf_status status = call->prepared;

    if (status == HF_OK)
        status = hf__request_stamp(many->client, &call->request, many->limit_ms,
                                   &many->detail);
    note_status(many, many->at++, status, &many->detail);
    if (status == HF_OK && !call->skips_store)
        many->requests[many->ready++] = &call->request;
    return status;
}

/* ------------------------------------------------------------------ windows */

static void finish_call(hf__many *many, size_t at)
{
    hf_error detail = HF_ERROR_INIT;
    hf_call *call = call_at(many, at);
    hf_status before = many->statuses[many->first + at];
    hf_status status = before;

    if (call->prepared == HF_OK)
        hf__call_answered(call);
    if (status == HF_OK && !call->skips_store)
        status = call->request.status == HF_OK
                     ? HF_OK
                     : hf__fail_copy(&detail, &call->request.error);
    if (status == HF_OK && call->finish != NULL)
        status = call->finish(call, &detail);
    if (status != before)
        note_status(many, at, status, &detail);
    hf__call_leave(call);
    if (call == &many->calls[at]) {
        hf__call_end(call);
        return;
    }
    many->homes[at] = NULL;
    hf__call_unref(call);
}

static void run_window(hf__many *many)
{
    hf__submit_all(many->client, many->requests, many->ready);
    for (size_t at = 0; at < many->at; at++)
        finish_call(many, at);
}

/* Has the store answered none of the window? Then the others have no time of
 * their own: the caller should not wait for each in turn. */
static bool is_silent(const hf__many *many)
{
    for (size_t at = 0; at < many->at; at++) {
        if (!hf__many_is_silence(many->statuses[many->first + at]))
            return false;
    }
    return many->at > 0;
}

static void begin_window(hf__many *many)
{
    if (!is_silent(many))
        many->limit_ms =
            hf__clock_after(hf__clock_boot_ms(), many->client->request_ms);
    many->first += many->at;
    many->at = 0;
    many->ready = 0;
}

static bool start_next(hf__many *many, size_t *index)
{
    if (many->at == many->count)
        return false;
    *index = many->at;
    hf__gather_next(many->started, many->at);
    return true;
}

void hf__many_ran(hf__many *many, hf_status status)
{
    if (many->started != NULL)
        hf__gather_ran(many->started, many->at++, status);
}

static bool run_next(hf__many *many, size_t *index)
{
    size_t begun = many->first + many->at;

    if (many->at == HF__MANY_WINDOW || (begun == many->count && many->at > 0))
        run_window(many);
    if (begun == many->count)
        return false;
    if (many->at == HF__MANY_WINDOW || begun == 0)
        begin_window(many);
    many->detail = (hf_error)HF_ERROR_INIT;
    *index = many->first + many->at;
    return true;
}

bool hf__many_next(hf__many *many, size_t *index)
{
    if (many->started != NULL)
        return start_next(many, index);
    return run_next(many, index);
}

hf_status hf__many_end(hf__many *many)
{
    if (many->started != NULL && many->failed == HF_OK)
        hf__gather_end(many->started);
    else if (many->started != NULL)
        hf__gather_discard(many->started);
    hf__free(many->requests);
    hf__free(many->homes);
    hf__free(many->calls);
    if (many->inside)
        hf__life_leave(&many->client->life);
    return many->failed;
}

hf_status hf__many_verdict(const hf_status *statuses, size_t count,
                           hf_error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (!hf__many_is_answer(statuses[i]))
            return hf__fail(err, statuses[i], "item %zu: %s", i,
                            hf_status_text(statuses[i]));
    }
    return HF_OK;
}
