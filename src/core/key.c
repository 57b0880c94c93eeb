/* SPDX-License-Identifier: Apache-2.0 */
/* key.c - what holds for a key of any type: its time to live. */
#include "core/client.h"
#include "util/error.h"

hf_status hf_key_ttl(hf_client *client, hf_bytes key, int64_t *ttl_ms,
                     hf_error *err)
{
    hf_bytes words[] = {hf_str("PTTL"), key};
    hf__call call;
    const hf_reply *reply = &call.request.reply;
    hf_status status = hf__call_begin(&call, client, key, err);

    if (status == HF_OK)
        status = hf__check_out(ttl_ms, "ttl_ms", err);
    if (status == HF_OK)
        status = hf__call_command(&call, words, 2, true, err);
    if (status == HF_OK && reply->kind != HF_REPLY_INTEGER)
        status = hf__bad_reply("PTTL", err);
    if (status == HF_OK && reply->integer == -2)
        status = hf__fail(err, HF_NOT_FOUND, "no such key");
    if (status == HF_OK)
        *ttl_ms = reply->integer;
    hf__call_end(&call);
    return status;
}

/* A command that answers 0 for a key that is not there. */
static hf_status run(hf_client *client, hf_bytes key, hf_bytes *words,
                     size_t count, hf_error *err)
{
    hf__call call;
    hf_status status = hf__call_begin(&call, client, key, err);

    if (status == HF_OK)
        status = hf__call_command(&call, words, count, true, err);
    if (status == HF_OK && call.request.reply.integer == 0)
        status = hf__fail(err, HF_NOT_FOUND, "no such key");
    hf__call_end(&call);
    return status;
}

/* PERSIST answers 0 also for a key that has no expiry to remove. */
static hf_status persist(hf_client *client, hf_bytes key, hf_error *err)
{
    hf_bytes words[] = {hf_str("PERSIST"), key};
    hf_error detail = HF_ERROR_INIT;
    int64_t ttl_ms;
    hf_status status = run(client, key, words, 2, &detail);

    if (status == HF_NOT_FOUND)
        return hf_key_ttl(client, key, &ttl_ms, err);
    return status == HF_OK ? HF_OK : hf__fail_copy(err, &detail);
}

hf_status hf_key_touch(hf_client *client, hf_bytes key, int64_t ttl_ms,
                       hf_error *err)
{
    char number[HF__NUMBER_SIZE];
    hf_bytes words[] = {hf_str("PEXPIRE"), key, hf__number(number, ttl_ms)};
    hf_status status;

    if (ttl_ms == -1)
        return persist(client, key, err);
    status = hf__check_ttl(ttl_ms, "ttl_ms", err);
    if (status != HF_OK)
        return status;
    return run(client, key, words, 3, err);
}
