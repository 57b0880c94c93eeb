/* SPDX-License-Identifier: Apache-2.0 */
/* call.c - see call.h. */
#include "core/call.h"

#include "core/client.h"
#include "core/own_key.h"
#include "core/wrong_type.h"
#include "util/error.h"
#include "util/mem.h"

typedef struct hf__call_block {
    struct hf__call_block *next;
    char bytes[];
} hf__call_block;

/* ----------------------------------------------------------------- prepare */

void hf__call_init(hf_call *call, hf_client *client)
{
    call->client = client;
    call->count = 0;
    call->room = HF__CALL_WORDS;
    call->key_count = 0;
    call->number_count = 0;
    call->blocks = NULL;
    call->words = call->fixed;
    call->finish = NULL;
    call->answered = NULL;
    call->cancel = NULL;
    call->out = NULL;
    call->context = NULL;
    call->note = 0;
    call->inside = false;
    call->skips_store = false;
    call->says_cancelled = false;
    call->words_stay = false;
    call->copies = NULL;
    call->owned = NULL;
    call->release = NULL;
    hf__request_init(&call->request);
}

hf_status hf__call_new_shared(hf_call **call, hf_error *err)
{
    hf_call *made = hf__alloc(sizeof(*made));

    if (made == NULL)
        return hf__fail(err, HF_NO_MEMORY, "a call");
    atomic_init(&made->references, 1);
    *call = made;
    return HF_OK;
}

hf_status hf__call_enter(hf_call *call, bool blocking, hf_error *err)
{
    hf_status status = blocking ? hf__client_enter_blocking(call->client, err)
                                : hf__client_enter(call->client, err);

    call->inside = status == HF_OK;
    return status;
}

void hf__reserve(hf_call *call, size_t count)
{
    hf_bytes *words;

    if (call->prepared != HF_OK || call->count + count <= call->room)
        return;
    words = hf__calloc(call->count + count, sizeof(*words));
    if (words == NULL) {
        call->prepared =
            hf__fail(call->form.err, HF_NO_MEMORY, "%zu words", count);
        return;
    }
    memcpy(words, call->words, call->count * sizeof(*words));
    call->words = words;
    call->room = call->count + count;
}

void *hf__call_alloc(hf_call *call, size_t size)
{
    hf__call_block *block;

    if (call->prepared != HF_OK)
        return NULL;
    block = hf__alloc(sizeof(*block) + size);
    if (block == NULL) {
        call->prepared = hf__fail(call->form.err, HF_NO_MEMORY, "a call");
        return NULL;
    }
    block->next = call->blocks;
    call->blocks = block;
    return block->bytes;
}

void hf__add_key(hf_call *call, hf_bytes name)
{
    const hf_client *client = call->client;
    hf_bytes key = name;
    char *at;

    if (!HF__TRY(call, hf__check_key(client, name, "key", call->form.err)))
        return;
    if (client->prefix_size > 0) {
        at = hf__call_alloc(call, client->prefix_size + name.size);
        if (at == NULL)
            return;
        key = hf__key_put(client, name, at);
    }
    hf__add_whole_key(call, key);
}

void hf__add_own_key(hf_call *call, const char *role, hf_bytes name)
{
    const hf_client *client = call->client;
    char *at;

    if (!HF__TRY(call, hf__check_key(client, name, "key", call->form.err)) ||
        !HF__TRY(call, hf__check_own_key(name, "key", call->form.err)))
        return;
    at = hf__call_alloc(call, hf__own_key_size(client, role, name));
    if (at != NULL)
        hf__add_whole_key(call, hf__own_key_put(client, role, name, at));
}

void hf__add_whole_key(hf_call *call, hf_bytes key)
{
    if (call->key_count == 0)
        call->key = key;
    hf__add(call, key);
    call->key_count++;
}

void hf__add_number(hf_call *call, int64_t number)
{
    char *at = call->number_count < HF__CALL_NUMBERS
                   ? call->numbers[call->number_count++]
                   : hf__call_alloc(call, HF__NUMBER_SIZE);

    if (at != NULL)
        hf__add(call, hf__number(at, number));
}

void hf__add_field(hf_call *call, hf_bytes field)
{
    if (HF__TRY(call, hf__check_field(field, call->form.err)))
        hf__add(call, field);
}

void hf__add_value(hf_call *call, hf_bytes value)
{
    if (HF__TRY(call, hf__check_value(value, call->form.err)))
        hf__add(call, value);
}

void hf__set_out(hf_call *call, void *out, const char *name)
{
    call->out = out;
    if (name != NULL)
        (void)HF__TRY(call, hf__check_out(out, name, call->form.err));
}

/* --------------------------------------------------------------------- run */

void hf__call_answered(hf_call *call)
{
    hf__request *request = &call->request;

    if (request->status == HF_WRONG_TYPE || request->status == HF_HELD)
        hf__wrong_type_name(request, &request->error);
    if (request->status == HF_WRONG_TYPE && call->form.err != NULL &&
        (call->form.kind == HF__FORM_BLOCKING ||
         call->form.kind == HF__FORM_SHARED))
        hf__wrong_type_ask(call->client, request, request->deadline_ms,
                           &request->error);
    if (call->answered != NULL)
        call->answered(call);
}

static hf_status run_call(hf_call *call, hf_status prepared, hf_error *err)
{
    hf_status status = prepared;

    if (status == HF_OK && !call->skips_store)
        (void)!hf__run_inside(call->client, &call->request, INT64_MAX, NULL);
    if (status == HF_OK) {
        hf__call_answered(call);
        status = call->request.status;
        if (status != HF_OK)
            (void)hf__fail_copy(err, &call->request.error);
    }
    if (status == HF_OK && call->finish != NULL)
        status = call->finish(call, err);
    return status;
}

hf_status hf__call_run(hf_call *call, hf_status prepared, hf_error *err)
{
    hf_status status = run_call(call, prepared, err);

    hf__call_end(call);
    hf__call_leave(call);
    return status;
}

hf_status hf__call_run_shared(hf_call *call, hf_status prepared, hf_error *err)
{
    hf_status status = run_call(call, prepared, err);

    hf__call_leave(call);
    hf__call_unref(call);
    return status;
}

static void free_words(hf_call *call)
{
    while (call->blocks != NULL) {
        hf__call_block *block = call->blocks;

        call->blocks = block->next;
        hf__free(block);
    }
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

static hf_status not_found(const hf_call *call, hf_error *err)
{
    const char *absent = call->operation->absent;

    return hf__fail(err, HF_NOT_FOUND, "%s",
                    absent != NULL ? absent : "no such key");
}

hf_status hf__finish_value(hf_call *call, hf_error *err)
{
    if (call->request.reply.kind == HF_REPLY_NIL)
        return not_found(call, err);
    return hf__buffer_take(call->out, &call->request.reply,
                           &call->request.arena, err);
}

hf_status hf__finish_found(hf_call *call, hf_error *err)
{
    return call->request.reply.integer == 0 ? not_found(call, err) : HF_OK;
}

void hf__call_unref(hf_call *call)
{
    if (atomic_fetch_sub(&call->references, 1) != 1)
        return;
    hf__call_end(call);
    hf__free(call);
}
