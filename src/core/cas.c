/* SPDX-License-Identifier: Apache-2.0 */
/* cas.c - arguments and outcome of compare-and-set. */
#include "core/cas.h"

#include <string.h>

#include "core/client.h"
#include "core/lock.h"
#include "util/error.h"
#include "util/mem.h"
#include "util/options.h"
#include "util/rand.h"

#define MARK_ROLE "hf:cas:"

/* Bytes of a mark's random number; no two calls may share one. */
#define MARK_RANDOM 16

hf_status hf__cas_check(hf_cas_options *options, const hf_cas_options *from,
                        const hf_bytes *expected, hf_bytes value, hf_error *err)
{
    hf_status status =
        hf__options_load(options, sizeof(*options), sizeof(*options), from,
                         "hf_cas_options", err);

    if (status == HF_OK && ((options->flags & ~(uint32_t)HF_CAS_RESOLVE) != 0 ||
                            options->reserved0 != 0))
        status =
            hf__fail(err, HF_UNSUPPORTED, "hf_cas_options: unknown flag 0x%x",
                     (unsigned)options->flags);
    if (status == HF_OK && options->ttl_ms != 0)
        status = hf__check_ttl(options->ttl_ms, "ttl_ms", err);
    if (status == HF_OK && expected != NULL)
        status = hf__check_value(*expected, err);
    if (status == HF_OK)
        status = hf__check_value(value, err);
    return status;
}

void hf__cas_words(hf_bytes words[4], const hf_bytes *expected, hf_bytes value,
                   hf_bytes ttl)
{
    words[0] = hf_str(expected == NULL ? "0" : "1");
    words[1] = expected == NULL ? hf_str("") : *expected;
    words[2] = value;
    words[3] = ttl;
}

/* hf:cas:<random>{key}, or, for a key with a hash tag of its own,
 * hf:cas:<random>:key: in the key's slot. Behind it there is room for a
 * number. */
static hf_status make_mark(hf_call *call, hf_bytes *mark, hf_error *err)
{
    hf_bytes key = call->key.bytes;
    bool tagged = hf__has_hash_tag(key);
    char *text, *at;

    if (!tagged && memchr(key.data, '}', key.size) != NULL)
        return hf__fail(err, HF_INVALID,
                        "HF_CAS_RESOLVE: the key has a '}' but no hash tag");
    text = hf__alloc(sizeof(MARK_ROLE) + 2 * MARK_RANDOM + key.size + 2 +
                     HF__NUMBER_SIZE);
    if (text == NULL)
        return hf__fail(err, HF_NO_MEMORY, "a call");
    call->owned_words = text;
    memcpy(text, MARK_ROLE, sizeof(MARK_ROLE) - 1);
    at = text + sizeof(MARK_ROLE) - 1;
    hf__rand_hex(at, MARK_RANDOM);
    at += 2 * MARK_RANDOM;
    *at++ = tagged ? ':' : '{';
    memcpy(at, key.data, key.size);
    at += key.size;
    if (!tagged)
        *at++ = '}';
    *mark = hf_view(text, (size_t)(at - text));
    return HF_OK;
}

hf_status hf__cas_request(hf_call *call, const hf_cas_options *options,
                          uint32_t index, uint32_t once, size_t count,
                          hf_error *err)
{
    bool local = (call->client->store->capabilities & HF__CAP_LOCAL) != 0;
    hf_status status;
    hf_bytes mark;

    hf__call_script(call, index, count);
    if ((options->flags & HF_CAS_RESOLVE) == 0)
        return HF_OK;
    status = make_mark(call, &mark, err);
    if (status != HF_OK || local)
        return status;
    memmove(call->words + 2, call->words + 1,
            (count - 1) * sizeof(*call->words));
    call->words[1] = mark;
    call->words[count + 1] = hf__number((char *)call->owned_words + mark.size,
                                        2 * call->client->request_ms);
    hf__request_script(&call->request, &hf__scripts[once], call->words,
                       count + 2, 2);
    return HF_OK;
}

hf_status hf__finish_cas(hf_call *call, hf_error *err)
{
    const hf_reply *reply = &call->request.reply;
    hf_buffer copy = HF_BUFFER_INIT;
    hf_status status;

    if (reply->kind == HF_REPLY_INTEGER && reply->integer == 1)
        return HF_OK;
    if (reply->kind == HF_REPLY_INTEGER)
        return hf__fail(err, HF_NOT_FOUND, "there is no value to compare");
    if (reply->kind != HF_REPLY_STRING)
        return hf__bad_reply("compare-and-set", err);
    if (call->out != NULL) {
        status = hf__buffer_set(&copy, reply, err);
        if (status != HF_OK)
            return status;
        *(hf_buffer *)call->out = copy;
    }
    return hf__fail(err, HF_CONFLICT, "the present value is another");
}
