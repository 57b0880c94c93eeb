/* SPDX-License-Identifier: Apache-2.0 */
/* form.c - see form.h. */
#include "core/form.h"

#include "core/async.h"
#include "core/client.h"
#include "core/queued.h"
#include "util/error.h"
#include "util/mem.h"

/* Where the call lies; on a failure in `here`. */
static hf_status place_call(hf_call **call, hf__form *form,
                            const hf__operation *operation, hf_client *client)
{
    hf_status status = HF_OK;

    if (form->kind == HF__FORM_MANY)
        return hf__many_call(form->many, operation->reply_stays, call);
    if (form->kind == HF__FORM_STARTED && form->async != NULL &&
        form->async->struct_size >= sizeof(*form->async) &&
        form->async->txn != NULL) {
        form->kind = HF__FORM_QUEUED;
        status =
            hf__queued_new(form->async, operation, client, call, form->err);
    } else if (form->kind == HF__FORM_STARTED) {
        status = operation->lease
                     ? hf__call_new_lease(client, form->async, call, form->err)
                     : hf__call_new(client, form->async, call, form->err);
    } else if (operation->reply_stays) {
        status = hf__call_new_shared(call, form->err);
        if (status == HF_OK)
            form->kind = HF__FORM_SHARED;
    }
    if (status != HF_OK)
        form->kind = HF__FORM_FAILED;
    return status;
}

hf_call *hf__begin(hf_call *here, hf__form form, const hf__operation *operation,
                   hf_client *client)
{
    hf_call *call = here;
    hf_status status = place_call(&call, &form, operation, client);

    hf__call_init(call, client);
    call->form = form;
    call->operation = operation;
    call->script = operation->script;
    call->finish = operation->finish;
    if (operation->command != NULL)
        call->words[call->count++] = hf_str(operation->command);
    if (status == HF_OK && form.kind != HF__FORM_QUEUED)
        status = hf__call_enter(call, form.kind != HF__FORM_STARTED, form.err);
    call->prepared = status;
    return call;
}

void hf__fill(hf_call *call)
{
    const hf__operation *operation = call->operation;

    if (call->script != NULL) {
        hf__request_set_script(&call->request, call->script, call->words,
                               call->count, call->key_count);
    } else {
        hf__request_set_command(&call->request, call->words, call->count,
                                operation->repeatable);
        call->request.answer = &operation->answer;
    }
    if (call->form.kind == HF__FORM_QUEUED)
        return;
    if (operation->once != NULL)
        call->prepared = hf__cas_add_record(call, call->form.err);
    if (operation->wrote != NULL && call->client->replicas.count > 0)
        hf__call_replicate(call, operation->wrote);
}

hf_status hf__end(hf_call *call)
{
    hf__form form = call->form;

    if (call->skips_store)
        call->finish = NULL;
    else if (call->prepared == HF_OK && call->request.words == NULL)
        hf__fill(call);
    switch (form.kind) {
    case HF__FORM_STARTED:
        return hf__call_start(call, call->prepared, form.async, form.err);
    case HF__FORM_MANY:
        return hf__many_add(form.many, call);
    case HF__FORM_QUEUED:
        return hf__queued_add(form.async->txn, call);
    case HF__FORM_SHARED:
        return hf__call_run_shared(call, call->prepared, form.err);
    case HF__FORM_BLOCKING:
    case HF__FORM_FAILED:
        break;
    }
    return hf__call_run(call, call->prepared, form.err);
}

hf_status hf__run_on_key(hf__form form, const hf__operation *operation,
                         hf_client *client, hf_bytes key)
{
    hf_call here, *call = hf__begin(&here, form, operation, client);

    hf__add_key(call, key);
    return hf__end(call);
}
