/* SPDX-License-Identifier: Apache-2.0 */
/* queued.c - see queued.h. */
#include "core/queued.h"

#include "core/async.h"
#include "core/client.h"
#include "util/error.h"

hf_status hf__queued_check_client(const hf_txn *txn, const hf_client *client,
                                  hf_error *err)
{
    const hf__txn *base = (const hf__txn *)(const void *)txn;

    if (base->client == client)
        return HF_OK;
    return hf__fail(err, HF_INVALID,
                    "the transaction belongs to another client");
}

static hf_status check_queued(const hf_async *async,
                              const hf__operation *operation, hf_client *client,
                              hf_error *err)
{
    hf_status status = hf__check_struct(async->struct_size, sizeof(*async),
                                        "hf_async", "HF_ASYNC_INIT", err);

    if (status == HF_OK)
        status = hf__client_check(client, err);
    if (status == HF_OK && (operation->lease || operation->alone))
        status = hf__fail(err, HF_UNSUPPORTED,
                          "this call cannot be part of a transaction");
    if (status == HF_OK)
        status = hf__queued_check_client(async->txn, client, err);
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
