/* SPDX-License-Identifier: Apache-2.0 */
/* script.c - the user's own Lua, loaded and run on any store. */
#include "core/async.h"
#include "core/client.h"
#include "util/error.h"
#include "util/mem.h"
#include "util/sha1.h"

struct hf_script {
    hf_client *client;
    hf__script script;
    char sha1[HF__SHA1_HEX_SIZE];
    char source[]; /* NUL-terminated */
};

static hf_status check_source(hf_bytes source, hf_error *err)
{
    if (source.data == NULL || source.size == 0)
        return hf__fail(err, HF_INVALID, "the script is empty");
    if (source.size > HF_SCRIPT_MAX)
        return hf__fail(err, HF_INVALID,
                        "the script is %zu bytes; at most %d are allowed",
                        source.size, HF_SCRIPT_MAX);
    /* ESC begins precompiled Lua, which no store may be given. */
    if (memchr(source.data, '\0', source.size) != NULL ||
        *(const char *)source.data == '\x1b')
        return hf__fail(err, HF_INVALID, "the script is not text");
    return HF_OK;
}

static hf_script *script_new(hf_client *client, hf_bytes source)
{
    hf_script *script = hf__alloc(sizeof(*script) + source.size + 1);

    if (script == NULL)
        return NULL;
    memcpy(script->source, source.data, source.size);
    script->source[source.size] = '\0';
    hf__sha1_hex(source.data, source.size, script->sha1);
    hf__client_ref(client);
    script->client = client;
    script->script =
        (hf__script)HF__USER_SCRIPT(script->source, source.size, script->sha1);
    return script;
}

static hf_status finish_load(hf_call *call, hf_error *err)
{
    (void)err;
    *(hf_script **)call->out = call->owned;
    call->owned = NULL;
    return HF_OK;
}

static void release_script(hf_call *call)
{
    hf_script_free(call->owned);
}

static hf_status prepare_load(hf_call *call, hf_client *client, hf_bytes source,
                              hf_script **script, hf_error *err)
{
    hf_status status = hf__call_begin_bare(call, client, err);

    if (status == HF_OK)
        status = check_source(source, err);
    if (status == HF_OK)
        status = hf__check_out(script, "script", err);
    if (status != HF_OK)
        return status;
    call->release = release_script;
    call->owned = script_new(client, source);
    if (call->owned == NULL)
        return hf__fail(err, HF_NO_MEMORY, "a script of %zu bytes",
                        source.size);
    call->finish = finish_load;
    call->out = script;
    call->words[1] = hf_str("LOAD");
    call->words[2] = source;
    hf__operation_request(&call->request, &hf__op_script_load, call->words, 3);
    return HF_OK;
}

hf_status hf_script_load(hf_client *client, hf_bytes source, hf_script **script,
                         hf_error *err)
{
    hf_call call;

    return hf__call_run(&call, prepare_load(&call, client, source, script, err),
                        err);
}

hf_status hf_script_load_start(hf_client *client, hf_bytes source,
                               hf_script **script, const hf_async *async,
                               hf_error *err)
{
    hf_call *call;
    hf_status status = hf__call_new(client, async, &call, err);

    if (status != HF_OK)
        return status;
    return hf__call_start(call, prepare_load(call, client, source, script, err),
                          async, err);
}

void hf_script_free(hf_script *script)
{
    hf_client *client;

    if (script == NULL)
        return;
    client = script->client;
    hf__free(script);
    hf__client_unref(client);
}

static hf_status check_run(const hf_script *script, const hf_bytes *keys,
                           size_t key_count, const hf_bytes *args,
                           size_t arg_count, hf_reply *const *reply,
                           hf_error *err)
{
    if (script == NULL)
        return hf__fail(err, HF_INVALID, "script is NULL");
    if (reply == NULL)
        return hf__fail(err, HF_INVALID, "reply is NULL");
    if ((keys == NULL && key_count > 0) || (args == NULL && arg_count > 0))
        return hf__fail(err, HF_INVALID, "keys or args is NULL");
    if (key_count > HF_SCRIPT_ARGUMENTS_MAX ||
        arg_count > HF_SCRIPT_ARGUMENTS_MAX ||
        key_count + arg_count > HF_SCRIPT_ARGUMENTS_MAX)
        return hf__fail(err, HF_INVALID,
                        "%zu keys and %zu arguments; at most %d together",
                        key_count, arg_count, HF_SCRIPT_ARGUMENTS_MAX);
    return hf__client_check(script->client, err);
}

/* Check the keys, and put the prefix before each, in memory of the call. */
static hf_status fill_keys(hf_call *call, const hf_bytes *keys, size_t count,
                           hf_error *err)
{
    const hf_client *client = call->client;
    size_t size = 0;
    hf__key key;
    char *at;

    for (size_t i = 0; i < count; i++) {
        hf_status status = hf__key_init(client, keys[i], "key", &key, err);

        if (status != HF_OK)
            return status;
        hf__key_done(&key);
        call->words[i] = keys[i];
        size += client->prefix_size + keys[i].size;
    }
    if (client->prefix_size == 0 || count == 0)
        return HF_OK;
    at = call->owned = hf__alloc(size);
    if (at == NULL)
        return hf__fail(err, HF_NO_MEMORY, "%zu keys", count);
    for (size_t i = 0; i < count; i++) {
        memcpy(at, client->prefix, client->prefix_size);
        memcpy(at + client->prefix_size, keys[i].data, keys[i].size);
        call->words[i] = hf_view(at, client->prefix_size + keys[i].size);
        at += call->words[i].size;
    }
    return HF_OK;
}

static hf_status fill_args(hf_call *call, size_t first, const hf_bytes *args,
                           size_t count, hf_error *err)
{
    for (size_t i = 0; i < count; i++) {
        hf_status status = hf__check_value(args[i], err);

        if (status != HF_OK)
            return status;
        call->words[first + i] = args[i];
    }
    return HF_OK;
}

/* The call becomes the reply's home: small replies lie in it. */
static hf_status finish_run(hf_call *call, hf_error *err)
{
    (void)err;
    *(hf_reply **)call->out = &call->request.reply;
    hf__call_keep(call);
    return HF_OK;
}

static hf_status prepare_run(hf_call *call, hf_script *script,
                             const hf_bytes *keys, size_t key_count,
                             const hf_bytes *args, size_t arg_count,
                             hf_reply **reply, hf_error *err)
{
    size_t count = key_count + arg_count;
    hf_status status = hf__call_begin_bare(call, script->client, err);

    if (status == HF_OK)
        status = hf__call_reserve(call, count, err);
    if (status == HF_OK)
        status = fill_keys(call, keys, key_count, err);
    if (status == HF_OK)
        status = fill_args(call, key_count, args, arg_count, err);
    if (status != HF_OK)
        return status;
    call->finish = finish_run;
    call->out = reply;
    hf__request_script(&call->request, &script->script, call->words, count,
                       key_count);
    hf__call_replicate(call, NULL);
    return HF_OK;
}

hf_status hf_script_run(hf_script *script, const hf_bytes *keys,
                        size_t key_count, const hf_bytes *args,
                        size_t arg_count, hf_reply **reply, hf_error *err)
{
    hf_call *call;
    hf_status status =
        check_run(script, keys, key_count, args, arg_count, reply, err);

    if (status != HF_OK)
        return status;
    call = hf__alloc(sizeof(*call));
    if (call == NULL)
        return hf__fail(err, HF_NO_MEMORY, "running a script");
    atomic_init(&call->references, 1);
    return hf__call_run_shared(
        call,
        prepare_run(call, script, keys, key_count, args, arg_count, reply, err),
        err);
}

hf_status hf_script_run_start(hf_script *script, const hf_bytes *keys,
                              size_t key_count, const hf_bytes *args,
                              size_t arg_count, hf_reply **reply,
                              const hf_async *async, hf_error *err)
{
    hf_call *call;
    hf_status status =
        check_run(script, keys, key_count, args, arg_count, reply, err);

    if (status == HF_OK)
        status = hf__call_new(script->client, async, &call, err);
    if (status != HF_OK)
        return status;
    return hf__call_start(
        call,
        prepare_run(call, script, keys, key_count, args, arg_count, reply, err),
        async, err);
}

void hf_reply_free(hf_reply *reply)
{
    if (reply == NULL)
        return;
    hf__call_unref(
        (hf_call *)((char *)reply - offsetof(hf_call, request.reply)));
}
