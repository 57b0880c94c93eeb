/* SPDX-License-Identifier: Apache-2.0 */
/* lock_admin.c - looking at locks from outside, and breaking them. */
#include <stdlib.h>

#include "core/async.h"
#include "lease/handle.h"
#include "util/error.h"
#include "util/order.h"

static hf_status check_info(const hf_lock_info *info, hf_error *err)
{
    if (info == NULL)
        return hf__fail(err, HF_INVALID, "info is NULL");
    if (info->struct_size < sizeof(*info))
        return hf__fail(err, HF_INVALID,
                        "hf_lock_info: struct_size is %zu; start it with "
                        "HF_LOCK_INFO_INIT",
                        info->struct_size);
    return HF_OK;
}

static void fill_owner(hf_lock_info *info, const hf_reply *owner)
{
    size_t shown = owner->bytes.size;

    if (shown > HF_LOCK_INFO_OWNER_MAX)
        shown = HF_LOCK_INFO_OWNER_MAX;
    memcpy(info->owner, owner->bytes.data, shown);
    info->owner[shown] = '\0';
    info->owner_size = owner->bytes.size;
}

/* Whoever may write the key may put anything there; what no script of ours
 * would, is none. */
static uint64_t read_token(const hf_reply *reply)
{
    unsigned long long token;
    char *end;

    if (reply->kind != HF_REPLY_STRING)
        return 0;
    token = strtoull(reply->bytes.data, &end, 10);
    return end == reply->bytes.data + reply->bytes.size &&
                   token < (uint64_t)HF__TOKEN_MAX
               ? token
               : 0;
}

static hf_status fill_info(hf_lock_info *info, const hf_reply *reply,
                           hf_error *err)
{
    const hf_reply *items = reply->array.items;

    info->last_token = read_token(&items[2]);
    info->waiters = (uint64_t)items[3].integer;
    if (items[0].kind != HF_REPLY_STRING)
        return hf__fail(err, HF_NOT_FOUND, "nobody holds the lock");
    info->remaining_ms = hf__at_least(items[1].integer, -1);
    fill_owner(info, &items[0]);
    return HF_OK;
}

static hf_status finish_inspect(hf_call *call, hf_error *err)
{
    return fill_info(call->out, &call->request.reply, err);
}

static hf_status finish_break(hf_call *call, hf_error *err)
{
    if (call->request.reply.integer == 0)
        return hf__fail(err, HF_NOT_FOUND, "nobody holds the lock");
    return HF_OK;
}

static hf_status begin(hf_call *call, hf_client *client, hf_bytes name,
                       hf__lock_keys *keys, hf_error *err)
{
    hf_status status = hf__call_begin_bare(call, client, err);

    if (status == HF_OK)
        status = hf__lock_keys_init(client, name, keys, err);
    if (status == HF_OK)
        call->owned = keys->storage;
    return status;
}

static hf_status prepare_inspect(hf_call *call, hf_client *client,
                                 hf_bytes name, hf_lock_info *info,
                                 hf_error *err)
{
    hf__lock_keys keys;
    hf_status status = begin(call, client, name, &keys, err);

    call->finish = finish_inspect;
    call->out = info;
    if (status == HF_OK)
        status = check_info(info, err);
    if (status != HF_OK)
        return status;
    call->words[0] = keys.main;
    call->words[1] = keys.token;
    call->words[2] = keys.waiters;
    hf__request_script(&call->request, &hf__scripts[HF__SCRIPT_LOCK_INSPECT],
                       call->words, 3, 3);
    return HF_OK;
}

hf_status hf_lock_inspect(hf_client *client, hf_bytes name, hf_lock_info *info,
                          hf_error *err)
{
    hf_call call;

    return hf__call_run(&call, prepare_inspect(&call, client, name, info, err),
                        err);
}

hf_status hf_lock_inspect_start(hf_client *client, hf_bytes name,
                                hf_lock_info *info, const hf_async *async,
                                hf_error *err)
{
    hf_call *call;
    hf_status status = hf__call_new(client, async, &call, err);

    if (status != HF_OK)
        return status;
    return hf__call_start(call, prepare_inspect(call, client, name, info, err),
                          async, err);
}

static hf_status prepare_break(hf_call *call, hf_client *client, hf_bytes name,
                               hf_error *err)
{
    hf__lock_keys keys;
    hf_status status = begin(call, client, name, &keys, err);

    call->finish = finish_break;
    if (status != HF_OK)
        return status;
    call->words[0] = keys.main;
    call->words[1] = keys.waiters;
    hf__request_script(&call->request, &hf__scripts[HF__SCRIPT_LOCK_BREAK],
                       call->words, 2, 2);
    hf__call_replicate(call, hf__wrote_number);
    return HF_OK;
}

hf_status hf_lock_break(hf_client *client, hf_bytes name, hf_error *err)
{
    hf_call call;

    return hf__call_run(&call, prepare_break(&call, client, name, err), err);
}

hf_status hf_lock_break_start(hf_client *client, hf_bytes name,
                              const hf_async *async, hf_error *err)
{
    hf_call *call;
    hf_status status = hf__call_new(client, async, &call, err);

    if (status != HF_OK)
        return status;
    return hf__call_start(call, prepare_break(call, client, name, err), async,
                          err);
}
