/* SPDX-License-Identifier: Apache-2.0 */
/* call.c - see call.h. */
#include "core/call.h"

#include "core/async.h"
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

/* ------------------------------------------------------------------- start */

static hf_status check_async(hf_client *client, const hf_async *async,
                             hf_error *err)
{
    hf_status status = hf__client_check(client, err);

    if (status == HF_OK)
        status = hf__check_out(async, "async", err);
    if (status == HF_OK && async->done == NULL)
        status = hf__fail(err, HF_INVALID, "async->done is NULL");
    if (status == HF_OK && async->struct_size < sizeof(*async))
        status = hf__fail(err, HF_INVALID,
                          "hf_async: struct_size is %zu; start it with "
                          "HF_ASYNC_INIT",
                          async->struct_size);
    return status;
}

static hf_status new_call(hf_client *client, const hf_async *async, bool lease,
                          hf_call **call, hf_error *err)
{
    hf_status status = check_async(client, async, err);
    hf_call *made;

    if (status == HF_OK)
        status = hf__dispatch_enter(&client->dispatch, lease, err);
    if (status != HF_OK)
        return status;
    made = hf__alloc(sizeof(*made));
    if (made == NULL) {
        hf__dispatch_leave(&client->dispatch, 0);
        return hf__fail(err, HF_NO_MEMORY, "a call");
    }
    made->client = client;
    made->inside = false;
    made->bytes = 0;
    *call = made;
    return HF_OK;
}

hf_status hf__call_new(hf_client *client, const hf_async *async, hf_call **call,
                       hf_error *err)
{
    return new_call(client, async, false, call, err);
}

hf_status hf__call_new_lease(hf_client *client, const hf_async *async,
                             hf_call **call, hf_error *err)
{
    return new_call(client, async, true, call, err);
}

void hf__call_discard(hf_call *call)
{
    hf__dispatch_leave(&call->client->dispatch, call->bytes);
    hf__call_end(call);
    hf__call_leave(call);
    hf__free(call);
}

/* The words are views of what the caller may reuse once the call was started:
 * copy their bytes. */
static hf_status own_words(hf_call *call, hf_error *err)
{
    size_t count = call->request.word_count;
    size_t size = 0;
    char *copy, *at;
    hf_status status;

    for (size_t i = 0; i < count; i++)
        size += call->words[i].size;
    status = hf__dispatch_hold(call, size, err);
    if (status != HF_OK)
        return status;
    at = copy = hf__alloc(size);
    if (copy == NULL)
        return hf__fail(err, HF_NO_MEMORY, "a request of %zu bytes", size);
    for (size_t i = 0; i < count; i++) {
        if (call->words[i].size > 0)
            memcpy(at, call->words[i].data, call->words[i].size);
        call->words[i].data = at;
        at += call->words[i].size;
    }
    call->copies = copy;
    return HF_OK;
}

hf_status hf__call_start(hf_call *call, hf_status prepared,
                         const hf_async *async, hf_error *err)
{
    hf_status status = prepared;

    if (status == HF_OK && !call->words_stay)
        status = own_words(call, err);
    if (status == HF_OK)
        status =
            hf__request_stamp(call->client, &call->request, INT64_MAX, err);
    if (status == HF_OK) {
        hf__dispatch_start(call, async);
        return HF_OK;
    }
    if (prepared == HF_OK && call->answered != NULL)
        call->answered(call);
    hf__call_discard(call);
    return status;
}

void hf__call_unref(hf_call *call)
{
    if (atomic_fetch_sub(&call->references, 1) != 1)
        return;
    hf__call_end(call);
    hf__free(call);
}

/* ------------------------------------------------------------------ delete */

static hf_status prepare_delete(hf_call *call, hf_client *client, hf_bytes key,
                                uint32_t index, hf_error *err)
{
    hf_status status = hf__call_begin(call, client, key, err);

    if (status != HF_OK)
        return status;
    call->finish = hf__finish_found;
    hf__call_script(call, index, 1);
    hf__call_replicate(call, hf__wrote_number);
    return HF_OK;
}

hf_status hf__delete(hf_client *client, hf_bytes key, uint32_t index,
                     hf_error *err)
{
    hf_call call;

    return hf__call_run(&call, prepare_delete(&call, client, key, index, err),
                        err);
}

hf_status hf__delete_start(hf_client *client, hf_bytes key, uint32_t index,
                           const hf_async *async, hf_error *err)
{
    hf_call *call;
    hf_status status = hf__call_new(client, async, &call, err);

    if (status != HF_OK)
        return status;
    return hf__call_start(call, prepare_delete(call, client, key, index, err),
                          async, err);
}
