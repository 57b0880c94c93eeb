/* SPDX-License-Identifier: Apache-2.0 */
/* queued.c - see queued.h. */
#include "core/queued.h"

#include "core/async.h"
#include "core/client.h"
#include "util/error.h"

static hf_status check_queued(const hf_async *async,
                              const hf__operation *operation, hf_client *client,
                              hf_error *err)
{
    const hf__txn *txn = (const hf__txn *)(const void *)async->txn;
    hf_status status = hf__check_struct(async->struct_size, sizeof(*async),
                                        "hf_async", "HF_ASYNC_INIT", err);

    if (status == HF_OK)
        status = hf__client_check(client, err);
    if (status == HF_OK && (operation->lease || operation->alone))
        status = hf__fail(err, HF_UNSUPPORTED,
                          "this call cannot be part of a transaction");
    if (status == HF_OK && txn->client != client)
        status = hf__fail(err, HF_INVALID,
                          "the transaction belongs to another client");
    return status;
}

hf_status hf__queued_new(const hf_async *async, const hf__operation *operation,
                         hf_client *client, hf_call **call, hf_error *err)
{
    hf_status status = check_queued(async, operation, client, err);

    return status == HF_OK ? hf__call_new_shared(call, err) : status;
}

hf_status hf__queued_add(hf_txn *txn, hf_call *call)
{
    const hf__txn *base = (const hf__txn *)(const void *)txn;
    hf_error *err = call->form.err;
    hf_status status = call->prepared;

    if (status == HF_OK &&
        (call->skips_store || call->answered != NULL || call->cancel != NULL))
        status = hf__fail(err, HF_UNSUPPORTED,
                          "this call cannot be part of a transaction");
    if (status == HF_OK)
        status = hf__call_copy_words(call, err);
    if (status == HF_OK)
        status = base->take(txn, call, err);
    if (status != HF_OK)
        hf__call_unref(call);
    return status;
}

static bool copy_reply(hf_reply *to, const hf_reply *from, hf__arena *arena)
{
    *to = *from;
    switch (from->kind) {
    case HF_REPLY_NIL:
    case HF_REPLY_NIL_ARRAY:
    case HF_REPLY_INTEGER:
        return true;
    case HF_REPLY_STRING:
    case HF_REPLY_STATUS:
    case HF_REPLY_ERROR:
        return hf__reply_set_bytes(to, from->kind, from->bytes.data,
                                   from->bytes.size, arena);
    case HF_REPLY_ARRAY:
        break;
    }
    if (!hf__reply_set_array(to, from->array.count, arena))
        return false;
    for (size_t i = 0; i < from->array.count; i++) {
        if (!copy_reply(&to->array.items[i], &from->array.items[i], arena))
            return false;
    }
    return true;
}

hf_status hf__queued_finish(hf_call *call, const hf_reply *reply, hf_error *err)
{
    hf__request *request = &call->request;

    request->status = HF_OK;
    request->reply = *reply;
    if (!hf__request_accepts(request))
        return hf__fail_copy(err, &request->error);
    if (call->operation->reply_stays &&
        !copy_reply(&request->reply, reply, &request->arena))
        return hf__fail(err, HF_NO_MEMORY, "the reply");
    return call->finish != NULL ? call->finish(call, err) : HF_OK;
}
