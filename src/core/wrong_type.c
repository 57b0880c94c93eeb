/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrong_type.c - see wrong_type.h. The store is asked only after a failure, by
 * key_read, which any store runs.
 *
 * Redisson keeps a lock as a hash: a field "UUID:THREAD" for its holder.
 */
#include "core/wrong_type.h"

#include <string.h>

#include "core/run.h"
#include "util/error.h"

/* What is read of a hash: no lock of Redisson's has more. */
#define ELEMENTS_MAX "16"
#define BYTES_MAX "4096"

/* Each costs a request. */
#define KEYS_ASKED_MAX 8

/* Behind {type, expiry, count, mark}. */
#define CONTENT_AT 4

/* Of a compare-and-set the mark comes first, of a command its name; of a lock
 * the key that has its name. NULL: the user's script knows. */
static const hf_bytes *key_of(const hf__request *request)
{
    const hf__script *script = request->script;
    size_t at = script == NULL || request->narrow != NULL ? 1 : 0;

    if (at >= request->word_count ||
        (script != NULL && script->index == HF__SCRIPT_USER))
        return NULL;
    return &request->words[at];
}

void hf__wrong_type_name(const hf__request *request, hf_error *err)
{
    const hf_bytes *key = key_of(request);
    char quoted[HF__QUOTED_SIZE];

    if (key != NULL)
        hf__fail_prefix(err, "key %s", hf__quoted(quoted, *key));
}

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/* "8-4-4-4-12:" and digits of hexadecimal */
static bool is_holder(hf_bytes field)
{
    static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx:";
    const char *text = field.data;

    if (field.size < sizeof(form))
        return false;
    for (size_t i = 0; i < sizeof(form) - 1; i++) {
        if (form[i] == 'x' ? !is_hex(text[i]) : text[i] != form[i])
            return false;
    }
    return true;
}

static bool is_redisson(const hf_reply *reply)
{
    if (!hf__reply_is(hf_reply_at(reply, 0), "hash"))
        return false;
    for (size_t i = CONTENT_AT; i < hf_reply_count(reply); i += 2) {
        if (is_holder(hf_reply_bytes(hf_reply_at(reply, i))))
            return true;
    }
    return false;
}

static void describe_holder(const hf_reply *reply, hf_bytes key, hf_error *err)
{
    hf_bytes type = hf_reply_bytes(hf_reply_at(reply, 0));
    char quoted[HF__QUOTED_SIZE];

    hf__quoted(quoted, key);
    if (is_redisson(reply))
        hf__fail(err, HF_WRONG_TYPE,
                 "key %s is held by a Redisson lock (a hash)", quoted);
    else if (hf__reply_is(hf_reply_at(reply, 0), "zset"))
        hf__fail(err, HF_WRONG_TYPE, "key %s holds a sorted set", quoted);
    else
        hf__fail(err, HF_WRONG_TYPE, "key %s holds a %.*s", quoted,
                 (int)type.size, (const char *)type.data);
}

/* NULL: any, or it is not known. */
static const char *type_wanted(const hf__script *script, size_t at)
{
    size_t last;

    if (script == NULL || script->key_type_count == 0)
        return NULL;
    last = script->key_type_count - 1;
    return script->key_types[at < last ? at : last];
}

/* It may have changed since. */
static bool type_explains(const hf_reply *reply, const char *wanted, bool alone)
{
    const hf_reply *type = hf_reply_at(reply, 0);

    if (hf__reply_is(type, "none"))
        return false;
    return wanted == NULL ? alone : !hf__reply_is(type, wanted);
}

/* true: `err` says what this key holds. */
static bool ask_type(hf_client *client, hf_bytes key, const char *wanted,
                     bool alone, int64_t limit_ms, hf_error *err)
{
    hf_bytes words[] = {key, hf_str(ELEMENTS_MAX), hf_str(BYTES_MAX)};
    hf__request request;
    bool found;

    found = hf__run_script_by(client, HF__SCRIPT_KEY_READ, words, 3, 1,
                              limit_ms, &request, NULL) == HF_OK &&
            type_explains(&request.reply, wanted, alone);
    if (found)
        describe_holder(&request.reply, key, err);
    hf__request_done(&request);
    return found;
}

void hf__wrong_type_ask(hf_client *client, const hf__request *failed,
                        int64_t limit_ms, hf_error *err)
{
    const hf__script *script = failed->script;
    const hf_bytes *key = key_of(failed);
    size_t count = script == NULL ? 1 : failed->key_count;
    bool found = false;

    if (err == NULL || key == NULL)
        return;
    if (script != NULL)
        key = failed->words;
    for (size_t i = 0; i < count && i < KEYS_ASKED_MAX && !found; i++)
        found = ask_type(client, key[i], type_wanted(script, i), count == 1,
                         limit_ms, err);
}
