/* SPDX-License-Identifier: Apache-2.0 */
/* call.c - see call.h. */
#include <stdio.h>

#include "core/client.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/fork.h"
#include "util/mem.h"
#include "util/order.h"

hf_status hf__client_check(const hf_client *client, hf_error *err)
{
    if (client == NULL)
        return hf__fail(err, HF_INVALID, "client is NULL");
    if (client->fork_generation != hf__fork_generation())
        return hf__fail(err, HF_INVALID,
                        "the client was opened before fork(); open one in "
                        "the child");
    return HF_OK;
}

static hf_status check_size(hf_bytes bytes, size_t low, size_t high,
                            const char *what, hf_error *err)
{
    if (bytes.data == NULL && bytes.size > 0)
        return hf__fail(err, HF_INVALID, "%s is NULL", what);
    if (bytes.size < low)
        return hf__fail(err, HF_INVALID, "%s is empty", what);
    if (bytes.size > high)
        return hf__fail(err, HF_INVALID,
                        "%s is %zu bytes; at most %zu are allowed", what,
                        bytes.size, high);
    return HF_OK;
}

hf_status hf__key_init(const hf_client *client, hf_bytes name, const char *what,
                       hf__key *key, hf_error *err)
{
    hf_status status;

    key->bytes = name;
    key->owned = NULL;
    status = check_size(name, 1, HF_NAME_MAX - client->prefix_size, what, err);
    if (status != HF_OK || client->prefix_size == 0)
        return status;
    key->owned = hf__alloc(client->prefix_size + name.size);
    if (key->owned == NULL)
        return hf__fail(err, HF_NO_MEMORY, "%s", what);
    memcpy(key->owned, client->prefix, client->prefix_size);
    memcpy(key->owned + client->prefix_size, name.data, name.size);
    key->bytes = hf_view(key->owned, client->prefix_size + name.size);
    return HF_OK;
}

void hf__key_done(hf__key *key)
{
    hf__free(key->owned);
    key->owned = NULL;
}

hf_status hf__check_field(hf_bytes field, hf_error *err)
{
    return check_size(field, 1, HF_NAME_MAX, "field name", err);
}

hf_status hf__check_value(hf_bytes value, hf_error *err)
{
    return check_size(value, 0, HF_VALUE_MAX, "value", err);
}

hf_status hf__check_ttl(int64_t ttl_ms, const char *what, hf_error *err)
{
    if (ttl_ms >= 1 && ttl_ms <= HF_TTL_MAX_MS)
        return HF_OK;
    return hf__fail(err, HF_INVALID, "%s is %lld ms; it must be 1..%lld", what,
                    (long long)ttl_ms, (long long)HF_TTL_MAX_MS);
}

static hf_status perform(hf_client *client, hf__request *request,
                         int64_t limit_ms, hf_error *err)
{
    hf_status status = hf__client_check(client, err);

    request->began_ms = hf__clock_boot_ms();
    if (status != HF_OK)
        return status;
    request->deadline_ms =
        hf__at_most(request->began_ms + client->request_ms, limit_ms);
    client->store->ops->perform(client->store, request);
    if (request->status != HF_OK)
        return hf__fail_copy(err, &request->error);
    return HF_OK;
}

static hf_status run_words(hf_client *client, const hf__script *script,
                           const hf_bytes *words, size_t count,
                           size_t key_count, int64_t limit_ms,
                           hf__request *request, hf_error *err)
{
    hf__request_init(request);
    request->script = script;
    request->words = words;
    request->word_count = count;
    request->key_count = key_count;
    request->repeatable = script->repeatable;
    if (script->index == HF__SCRIPT_LOCK_RELEASE ||
        script->index == HF__SCRIPT_LOCK_RENEW)
        request->lane = HF__LANE_LEASE;
    return perform(client, request, limit_ms, err);
}

hf_status hf__run_words(hf_client *client, const hf__script *script,
                        const hf_bytes *words, size_t count, size_t key_count,
                        hf__request *request, hf_error *err)
{
    return run_words(client, script, words, count, key_count, INT64_MAX,
                     request, err);
}

hf_status hf__run_script(hf_client *client, uint32_t index,
                         const hf_bytes *words, size_t count, size_t key_count,
                         hf__request *request, hf_error *err)
{
    return run_words(client, &hf__scripts[index], words, count, key_count,
                     INT64_MAX, request, err);
}

hf_status hf__run_script_by(hf_client *client, uint32_t index,
                            const hf_bytes *words, size_t count,
                            size_t key_count, int64_t limit_ms,
                            hf__request *request, hf_error *err)
{
    return run_words(client, &hf__scripts[index], words, count, key_count,
                     limit_ms, request, err);
}

hf_status hf__run_command(hf_client *client, const hf_bytes *words,
                          size_t count, bool repeatable, hf__request *request,
                          hf_error *err)
{
    hf__request_init(request);
    request->words = words;
    request->word_count = count;
    request->repeatable = repeatable;
    return perform(client, request, INT64_MAX, err);
}

hf_status hf__check_out(const void *pointer, const char *what, hf_error *err)
{
    if (pointer != NULL)
        return HF_OK;
    return hf__fail(err, HF_INVALID, "%s is NULL", what);
}

hf_status hf__call_begin(hf__call *call, hf_client *client, hf_bytes key,
                         hf_error *err)
{
    hf_status status = hf__client_check(client, err);

    call->client = client;
    call->key.owned = NULL;
    hf__request_init(&call->request);
    if (status == HF_OK)
        status = hf__key_init(client, key, "key", &call->key, err);
    return status;
}

void hf__call_end(hf__call *call)
{
    hf__request_done(&call->request);
    hf__key_done(&call->key);
}

hf_status hf__call_command(hf__call *call, hf_bytes *words, size_t count,
                           bool repeatable, hf_error *err)
{
    words[1] = call->key.bytes;
    return hf__run_command(call->client, words, count, repeatable,
                           &call->request, err);
}

hf_status hf__call_script(hf__call *call, uint32_t index, hf_bytes *words,
                          size_t count, hf_error *err)
{
    words[0] = call->key.bytes;
    return hf__run_script(call->client, index, words, count, 1, &call->request,
                          err);
}

hf_status hf__delete(hf_client *client, hf_bytes key, uint32_t index,
                     hf_error *err)
{
    hf_bytes words[1];
    hf__call call;
    hf_status status = hf__call_begin(&call, client, key, err);

    if (status == HF_OK)
        status = hf__call_script(&call, index, words, 1, err);
    if (status == HF_OK && call.request.reply.integer == 0)
        status = hf__fail(err, HF_NOT_FOUND, "no such key");
    hf__call_end(&call);
    return status;
}

hf_bytes hf__number(char text[HF__NUMBER_SIZE], int64_t value)
{
    int size = snprintf(text, HF__NUMBER_SIZE, "%lld", (long long)value);

    return hf_view(text, (size_t)size);
}

hf_status hf__buffer_set(hf_buffer *buffer, const hf_reply *reply,
                         hf_error *err)
{
    void *copy;

    if (reply->kind == HF_REPLY_NIL) {
        buffer->data = NULL;
        buffer->size = 0;
        return HF_OK;
    }
    copy = hf__memdup(reply->bytes.data, reply->bytes.size);
    if (copy == NULL)
        return hf__fail(err, HF_NO_MEMORY, "a value of %zu bytes",
                        reply->bytes.size);
    buffer->data = copy;
    buffer->size = reply->bytes.size;
    return HF_OK;
}

hf_status hf__bad_reply(const char *what, hf_error *err)
{
    return hf__fail(err, HF_CORRUPT, "%s gave a reply of an unknown form",
                    what);
}
