/* SPDX-License-Identifier: Apache-2.0 */
/* lock_admin.c - looking at locks from outside, and breaking them. */
#include <stdlib.h>

#include "core/lock.h"
#include "util/error.h"

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

static hf_status fill_info(hf_lock_info *info, const hf_reply *reply,
                           hf_error *err)
{
    const hf_reply *items = reply->array.items;

    if (reply->kind != HF_REPLY_ARRAY || reply->array.count != 4 ||
        items[1].kind != HF_REPLY_INTEGER || items[3].kind != HF_REPLY_INTEGER)
        return hf__bad_reply("lock_inspect", err);
    info->token = 0;
    if (items[2].kind == HF_REPLY_STRING)
        info->token = strtoull(items[2].bytes.data, NULL, 10);
    info->waiters = (uint64_t)items[3].integer;
    if (items[0].kind != HF_REPLY_STRING)
        return hf__fail(err, HF_NOT_FOUND, "nobody holds the lock");
    info->remaining_ms = items[1].integer;
    fill_owner(info, &items[0]);
    return HF_OK;
}

hf_status hf_lock_inspect(hf_client *client, hf_bytes name, hf_lock_info *info,
                          hf_error *err)
{
    hf__lock_keys keys;
    hf__request request;
    hf_status status = hf__client_check(client, err);

    if (status == HF_OK)
        status = check_info(info, err);
    if (status == HF_OK)
        status = hf__lock_keys_init(client, name, &keys, err);
    if (status != HF_OK)
        return status;
    status = hf__run_script(client, HF__SCRIPT_LOCK_INSPECT,
                            (hf_bytes[]){keys.main, keys.token, keys.waiters},
                            3, 3, &request, err);
    if (status == HF_OK)
        status = fill_info(info, &request.reply, err);
    hf__request_done(&request);
    hf__lock_keys_done(&keys);
    return status;
}

hf_status hf_lock_break(hf_client *client, hf_bytes name, hf_error *err)
{
    hf__lock_keys keys;
    hf__request request;
    hf_status status = hf__client_check(client, err);

    if (status == HF_OK)
        status = hf__lock_keys_init(client, name, &keys, err);
    if (status != HF_OK)
        return status;
    status = hf__run_script(client, HF__SCRIPT_LOCK_BREAK,
                            (hf_bytes[]){keys.main, keys.token, keys.waiters},
                            3, 3, &request, err);
    if (status == HF_OK && request.reply.integer == 0)
        status = hf__fail(err, HF_NOT_FOUND, "nobody holds the lock");
    hf__request_done(&request);
    hf__lock_keys_done(&keys);
    return status;
}
