/* SPDX-License-Identifier: Apache-2.0 */
/* key.c - what holds for a key of any type: its time to live. */
#include "core/async.h"
#include "core/client.h"
#include "util/error.h"

static hf_status finish_ttl(hf_call *call, hf_error *err)
{
    int64_t ttl_ms = call->request.reply.integer;

    if (ttl_ms == -2)
        return hf__fail(err, HF_NOT_FOUND, "no such key");
    *(int64_t *)call->out = ttl_ms;
    return HF_OK;
}

static hf_status prepare_ttl(hf_call *call, hf_client *client, hf_bytes key,
                             int64_t *ttl_ms, hf_error *err)
{
    hf_status status = hf__call_begin(call, client, key, err);

    if (status == HF_OK)
        status = hf__check_out(ttl_ms, "ttl_ms", err);
    if (status != HF_OK)
        return status;
    call->finish = finish_ttl;
    call->out = ttl_ms;
    hf__call_command(call, &hf__op_pttl, 2);
    return HF_OK;
}

hf_status hf_key_ttl(hf_client *client, hf_bytes key, int64_t *ttl_ms,
                     hf_error *err)
{
    hf_call call;

    return hf__call_run(&call, prepare_ttl(&call, client, key, ttl_ms, err),
                        err);
}

hf_status hf_key_ttl_start(hf_client *client, hf_bytes key, int64_t *ttl_ms,
                           const hf_async *async, hf_error *err)
{
    hf_call *call;
    hf_status status = hf__call_new(client, async, &call, err);

    if (status != HF_OK)
        return status;
    return hf__call_start(call, prepare_ttl(call, client, key, ttl_ms, err),
                          async, err);
}

static hf_status prepare_expire(hf_call *call, hf_client *client, hf_bytes key,
                                int64_t ttl_ms, hf_error *err)
{
    hf_status status = hf__call_begin(call, client, key, err);

    if (status == HF_OK && ttl_ms != -1)
        status = hf__check_ttl(ttl_ms, "ttl_ms", err);
    if (status != HF_OK)
        return status;
    call->finish = hf__finish_found;
    if (ttl_ms == -1) {
        hf__call_script(call, HF__SCRIPT_KEY_PERSIST, 1);
    } else {
        call->words[2] = hf__number(call->number, ttl_ms);
        hf__call_command(call, &hf__op_pexpire, 3);
    }
    hf__call_replicate(call, hf__wrote_number);
    return HF_OK;
}

hf_status hf_key_expire(hf_client *client, hf_bytes key, int64_t ttl_ms,
                        hf_error *err)
{
    hf_call call;

    return hf__call_run(&call, prepare_expire(&call, client, key, ttl_ms, err),
                        err);
}

hf_status hf_key_expire_start(hf_client *client, hf_bytes key, int64_t ttl_ms,
                              const hf_async *async, hf_error *err)
{
    hf_call *call;
    hf_status status = hf__call_new(client, async, &call, err);

    if (status != HF_OK)
        return status;
    return hf__call_start(call, prepare_expire(call, client, key, ttl_ms, err),
                          async, err);
}
