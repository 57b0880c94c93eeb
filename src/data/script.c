/* SPDX-License-Identifier: Apache-2.0 */
/* script.c - the user's own Lua, loaded and run on any store. */
#include "holdfast/script.h"
#include "core/client.h"
#include "core/form.h"
#include "util/container.h"
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

/* The SHA-1 in hexadecimal digits. */
static const hf__operation load = {
    .command = "SCRIPT",
    .repeatable = true,
    .answer = {.kinds = HF__IS_STRING, .size = HF__SHA1_HEX_SIZE - 1},
    .finish = finish_load,
};

static hf_status make_script(hf_call *call, hf_bytes source, hf_error *err)
{
    hf_status status = check_source(source, err);

    if (status != HF_OK)
        return status;
    call->release = release_script;
    call->owned = script_new(call->client, source);
    if (call->owned != NULL)
        return HF_OK;
    return hf__fail(err, HF_NO_MEMORY, "a script of %zu bytes", source.size);
}

static hf_status run_load(hf__form form, hf_client *client, hf_bytes source,
                          hf_script **script)
{
    hf_call here, *call = hf__begin(&here, form, &load, client);

    hf__set_out(call, script, "script");
    if (HF__TRY(call, make_script(call, source, call->form.err))) {
        hf__add(call, hf_str("LOAD"));
        hf__add(call, source);
    }
    return hf__end(call);
}

HF__FORMS(hf_script_load, run_load(form, client, source, script),
          hf_client *client, hf_bytes source, hf_script **script);

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
                           size_t arg_count, hf_error *err)
{
    if (script == NULL)
        return hf__fail(err, HF_INVALID, "script is NULL");
    if ((keys == NULL && key_count > 0) || (args == NULL && arg_count > 0))
        return hf__fail(err, HF_INVALID, "keys or args is NULL");
    if (key_count > HF_SCRIPT_ARGUMENTS_MAX ||
        arg_count > HF_SCRIPT_ARGUMENTS_MAX ||
        key_count + arg_count > HF_SCRIPT_ARGUMENTS_MAX)
        return hf__fail(err, HF_INVALID,
                        "%zu keys and %zu arguments; at most %d together",
                        key_count, arg_count, HF_SCRIPT_ARGUMENTS_MAX);
    return HF_OK;
}

/* The keys' bytes with their prefixes; 0: as they are. */
static size_t size_with_prefix(const hf_client *client, const hf_bytes *keys,
                               size_t count)
{
    size_t size = 0;

    if (client->prefix_size == 0)
        return 0;
    for (size_t i = 0; i < count; i++)
        size += client->prefix_size + keys[i].size;
    return size;
}

static void add_keys(hf_call *call, const hf_bytes *keys, size_t count)
{
    const hf_client *client = call->client;
    hf_error *err = call->form.err;
    size_t size;
    char *at;

    for (size_t i = 0; i < count; i++)
        (void)HF__TRY(call, hf__check_key(client, keys[i], "key", err));
    if (call->prepared != HF_OK)
        return;
    size = size_with_prefix(client, keys, count);
    at = call->owned = size == 0 ? NULL : hf__alloc(size);
    if (size > 0 && at == NULL)
        call->prepared = hf__fail(err, HF_NO_MEMORY, "%zu keys", count);
    for (size_t i = 0; i < count && call->prepared == HF_OK; i++) {
        hf_bytes key = keys[i];

        if (size > 0)
            key = hf__key_put(client, keys[i], at);
        hf__add_whole_key(call, key);
        at += size > 0 ? key.size : 0;
    }
}

/* The call becomes the reply's home: small replies lie in it. */
static hf_status finish_run(hf_call *call, hf_error *err)
{
    (void)err;
    *(hf_reply **)call->out = &call->request.reply;
    hf__call_keep(call);
    return HF_OK;
}

static bool wrote_perhaps(const hf__request *request)
{
    (void)request;
    return true;
}

static const hf__operation run = {
    .wrote = wrote_perhaps,
    .finish = finish_run,
    .reply_stays = true,
};

static hf_status run_script(hf__form form, hf_script *script,
                            const hf_bytes *keys, size_t key_count,
                            const hf_bytes *args, size_t arg_count,
                            hf_reply **reply)
{
    hf_call here, *call;
    hf_status status =
        check_run(script, keys, key_count, args, arg_count, form.err);

    if (status != HF_OK)
        return status;
    call = hf__begin(&here, form, &run, script->client);
    call->script = &script->script;
    hf__set_out(call, reply, "reply");
    hf__reserve(call, key_count + arg_count);
    add_keys(call, keys, key_count);
    for (size_t i = 0; i < arg_count && call->prepared == HF_OK; i++)
        hf__add_value(call, args[i]);
    return hf__end(call);
}

HF__FORMS(hf_script_run,
          run_script(form, script, keys, key_count, args, arg_count, reply),
          hf_script *script, const hf_bytes *keys, size_t key_count,
          const hf_bytes *args, size_t arg_count, hf_reply **reply);

void hf_reply_free(hf_reply *reply)
{
    if (reply == NULL)
        return;
    hf__call_unref(hf__container_of(reply, hf_call, request.reply));
}
