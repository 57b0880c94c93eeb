/* SPDX-License-Identifier: Apache-2.0 */
/* delete.c - deleting a key of one type. */
#include "core/async.h"
#include "core/client.h"
#include "util/error.h"

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
