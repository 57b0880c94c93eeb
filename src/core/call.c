/* SPDX-License-Identifier: Apache-2.0 */
/* call.c - see call.h. */
#include "core/call.h"

#include "core/client.h"
#include "core/wrong_type.h"
#include "util/error.h"
#include "util/mem.h"

/* ----------------------------------------------------------------- prepare */

hf_status hf__call_begin_bare(hf_call *call, hf_client *client, hf_error *err)
{
    hf_status status;

    call->client = client;
    call->key.owned = NULL;
    call->words = call->fixed;
    call->finish = NULL;
    call->answered = NULL;
    call->out = NULL;
    call->note = 0;
    call->cancel = NULL;
    call->context = NULL;
    call->settled = false;
    call->words_stay = false;
    call->copies = NULL;
    call->owned = NULL;
    call->release = NULL;
    hf__request_init(&call->request);
    status = hf__client_enter(client, err);
    call->inside = status == HF_OK;
    return status;
}

hf_status hf__call_begin(hf_call *call, hf_client *client, hf_bytes key,
                         hf_error *err)
{
    hf_status status = hf__call_begin_bare(call, client, err);

    if (status == HF_OK)
        status = hf__key_init(client, key, "key", &call->key, err);
    return status;
}

hf_status hf__call_reserve(hf_call *call, size_t count, hf_error *err)
{
    if (count <= HF__CALL_WORDS)
        return HF_OK;
    call->words = hf__calloc(count, sizeof(*call->words));
    if (call->words != NULL)
        return HF_OK;
    call->words = call->fixed;
    return hf__fail(err, HF_NO_MEMORY, "%zu words", count);
}

void hf__call_command(hf_call *call, const hf__operation *operation,
                      size_t count)
{
    call->words[1] = call->key.bytes;
    hf__operation_request(&call->request, operation, call->words, count);
}

void hf__call_script(hf_call *call, uint32_t index, size_t count)
{
    call->words[0] = call->key.bytes;
    hf__request_script(&call->request, &hf__scripts[index], call->words, count,
                       1);
}

/* --------------------------------------------------------------------- run */

static hf_status run(hf_call *call, hf_status prepared, hf_error *err)
{
    hf_status status = prepared;

    if (status == HF_OK && !call->settled)
        status = hf__run(call->client, &call->request, INT64_MAX, err);
    if (prepared == HF_OK && status == HF_WRONG_TYPE) {
        hf__wrong_type_name(&call->request, err);
        hf__wrong_type_ask(call->client, &call->request,
                           call->request.deadline_ms, err);
    }
    if (prepared == HF_OK && call->answered != NULL)
        call->answered(call);
    if (status == HF_OK && call->finish != NULL)
        status = call->finish(call, err);
    return status;
}

hf_status hf__call_run(hf_call *call, hf_status prepared, hf_error *err)
{
    hf_status status = run(call, prepared, err);

    hf__call_end(call);
    hf__call_leave(call);
    return status;
}

hf_status hf__call_run_shared(hf_call *call, hf_status prepared, hf_error *err)
{
    hf_status status = run(call, prepared, err);

    hf__call_leave(call);
    hf__call_unref(call);
    return status;
}

static void free_words(hf_call *call)
{
    hf__key_done(&call->key);
    if (call->words != call->fixed)
        hf__free(call->words);
    call->words = call->fixed;
    hf__free(call->copies);
    call->copies = NULL;
    if (call->owned != NULL && call->release != NULL)
        call->release(call);
    else
        hf__free(call->owned);
    call->owned = NULL;
}

void hf__call_end(hf_call *call)
{
    hf__request_done(&call->request);
    free_words(call);
}

void hf__call_leave(hf_call *call)
{
    bool inside = call->inside;

    call->inside = false;
    if (inside)
        hf__life_leave(&call->client->life);
}

void hf__call_keep(hf_call *call)
{
    atomic_fetch_add(&call->references, 1);
    free_words(call);
}

hf_status hf__call_refused(const hf_call *call, hf_error *err)
{
    hf_status status = hf__fail_copy(err, &call->request.error);

    if (status == HF_WRONG_TYPE)
        hf__wrong_type_name(&call->request, err);
    return status;
}

hf_status hf__finish_found(hf_call *call, hf_error *err)
{
    if (call->request.reply.integer == 0)
        return hf__fail(err, HF_NOT_FOUND, "no such key");
    return HF_OK;
}

void hf__call_unref(hf_call *call)
{
    if (atomic_fetch_sub(&call->references, 1) != 1)
        return;
    hf__call_end(call);
    hf__free(call);
}
