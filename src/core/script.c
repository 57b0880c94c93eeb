/* SPDX-License-Identifier: Apache-2.0 */
/* script.c - the user's own Lua, loaded and run on any store. */
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
    script->client = client;
    script->script = (hf__script){.name = "user script",
                                  .source = script->source,
                                  .source_size = source.size,
                                  .sha1 = script->sha1,
                                  .index = HF__SCRIPT_USER,
                                  .repeatable = false};
    return script;
}

hf_status hf_script_load(hf_client *client, hf_bytes source, hf_script **script,
                         hf_error *err)
{
    hf__request request;
    hf_script *made;
    hf_status status = hf__client_check(client, err);

    if (status == HF_OK)
        status = check_source(source, err);
    if (status != HF_OK)
        return status;
    if (script == NULL)
        return hf__fail(err, HF_INVALID, "script is NULL");
    made = script_new(client, source);
    if (made == NULL)
        return hf__fail(err, HF_NO_MEMORY, "a script of %zu bytes",
                        source.size);
    status = hf__run_command(
        client, (hf_bytes[]){hf_str("SCRIPT"), hf_str("LOAD"), source}, 3, true,
        &request, err);
    hf__request_done(&request);
    if (status != HF_OK) {
        hf_script_free(made);
        return status;
    }
    *script = made;
    return HF_OK;
}

void hf_script_free(hf_script *script)
{
    hf__free(script);
}

/* Keys with the prefix, then the arguments. `storage` holds prefixed keys. */
static hf_status fill_words(hf_script *script, const hf_bytes *keys,
                            size_t key_count, const hf_bytes *args,
                            size_t arg_count, hf_bytes *words, hf__key *storage,
                            hf_error *err)
{
    for (size_t i = 0; i < key_count; i++) {
        hf_status status =
            hf__key_init(script->client, keys[i], "key", &storage[i], err);

        if (status != HF_OK)
            return status;
        words[i] = storage[i].bytes;
    }
    for (size_t i = 0; i < arg_count; i++) {
        hf_status status = hf__check_value(args[i], err);

        if (status != HF_OK)
            return status;
        words[key_count + i] = args[i];
    }
    return HF_OK;
}

/* The whole request becomes the reply's home: small replies lie in it. */
static hf_status run(hf_script *script, const hf_bytes *words, size_t key_count,
                     size_t word_count, hf_reply **reply, hf_error *err)
{
    hf_client *client = script->client;
    hf__request *request = hf__alloc(sizeof(*request));
    hf_status status;

    if (request == NULL)
        return hf__fail(err, HF_NO_MEMORY, "running a script");
    status = hf__run_words(client, &script->script, words, word_count,
                           key_count, request, err);
    if (status != HF_OK) {
        hf__request_done(request);
        hf__free(request);
        return status;
    }
    *reply = &request->reply;
    return HF_OK;
}

static hf_status check_run(hf_script *script, const hf_bytes *keys,
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
    if (key_count > HF_SCRIPT_WORDS_MAX || arg_count > HF_SCRIPT_WORDS_MAX ||
        key_count + arg_count > HF_SCRIPT_WORDS_MAX)
        return hf__fail(err, HF_INVALID,
                        "%zu keys and %zu arguments; at most %d together",
                        key_count, arg_count, HF_SCRIPT_WORDS_MAX);
    return hf__client_check(script->client, err);
}

hf_status hf_script_run(hf_script *script, const hf_bytes *keys,
                        size_t key_count, const hf_bytes *args,
                        size_t arg_count, hf_reply **reply, hf_error *err)
{
    size_t count = key_count + arg_count;
    hf_bytes *words;
    hf__key *storage;
    hf_status status;

    status = check_run(script, keys, key_count, args, arg_count, reply, err);
    if (status != HF_OK)
        return status;
    words = hf__calloc(count, sizeof(*words));
    storage = hf__calloc(key_count, sizeof(*storage));
    if (words == NULL || storage == NULL)
        status = hf__fail(err, HF_NO_MEMORY, "%zu words", count);
    else
        status = fill_words(script, keys, key_count, args, arg_count, words,
                            storage, err);
    if (status == HF_OK)
        status = run(script, words, key_count, count, reply, err);
    for (size_t i = 0; storage != NULL && i < key_count; i++)
        hf__key_done(&storage[i]);
    hf__free(storage);
    hf__free(words);
    return status;
}

void hf_reply_free(hf_reply *reply)
{
    hf__request *request;

    if (reply == NULL)
        return;
    request = (hf__request *)((char *)reply - offsetof(hf__request, reply));
    hf__request_done(request);
    hf__free(request);
}
