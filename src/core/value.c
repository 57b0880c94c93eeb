/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value.c - one key, one value: SET with its options, and compare-and-set.
 *
 * None of the writes here is sent twice: a second run could undo what another
 * client did between the two.
 */
#include "core/cas.h"
#include "core/client.h"
#include "util/error.h"
#include "util/options.h"

#define SET_FLAGS (HF_SET_NX | HF_SET_XX | HF_SET_KEEPTTL | HF_SET_GET)

/* 9999-12-31T23:59:59.999Z */
#define UNIX_MS_MAX INT64_C(253402300799999)

static hf_status check_set_expiry(const hf_value_set_options *o, hf_error *err)
{
    int given = (o->ttl_ms != 0) + (o->expires_unix_ms != 0) +
                ((o->flags & HF_SET_KEEPTTL) != 0);

    if (given > 1)
        return hf__fail(err, HF_INVALID,
                        "ttl_ms, expires_unix_ms and HF_SET_KEEPTTL exclude "
                        "each other");
    if (o->expires_unix_ms < 0 || o->expires_unix_ms > UNIX_MS_MAX)
        return hf__fail(err, HF_INVALID,
                        "expires_unix_ms is %lld; it must be 1..%lld",
                        (long long)o->expires_unix_ms, (long long)UNIX_MS_MAX);
    if (o->ttl_ms != 0)
        return hf__check_ttl(o->ttl_ms, "ttl_ms", err);
    return HF_OK;
}

static hf_status load_set_options(hf_value_set_options *options,
                                  const hf_value_set_options *from,
                                  hf_error *err)
{
    hf_status status =
        hf__options_load(options, sizeof(*options), sizeof(*options), from,
                         "hf_value_set_options", err);

    if (status != HF_OK)
        return status;
    if ((options->flags & ~(uint32_t)SET_FLAGS) != 0 || options->reserved0 != 0)
        return hf__fail(err, HF_UNSUPPORTED,
                        "hf_value_set_options: unknown flag 0x%x",
                        (unsigned)options->flags);
    if ((options->flags & HF_SET_NX) != 0 && (options->flags & HF_SET_XX) != 0)
        return hf__fail(err, HF_INVALID,
                        "HF_SET_NX and HF_SET_XX exclude each other");
    return check_set_expiry(options, err);
}

/* SET key value, a condition, GET, and an expiry of two words. */
#define SET_WORDS_MAX 7

/* Add the words of the options behind the first three; their count in all. */
static size_t set_words(hf_bytes words[SET_WORDS_MAX],
                        const hf_value_set_options *o,
                        char number[HF__NUMBER_SIZE])
{
    size_t count = 3;

    if ((o->flags & HF_SET_NX) != 0)
        words[count++] = hf_str("NX");
    if ((o->flags & HF_SET_XX) != 0)
        words[count++] = hf_str("XX");
    if ((o->flags & HF_SET_GET) != 0)
        words[count++] = hf_str("GET");
    if ((o->flags & HF_SET_KEEPTTL) != 0)
        words[count++] = hf_str("KEEPTTL");
    if (o->ttl_ms != 0) {
        words[count++] = hf_str("PX");
        words[count++] = hf__number(number, o->ttl_ms);
    }
    if (o->expires_unix_ms != 0) {
        words[count++] = hf_str("PXAT");
        words[count++] = hf__number(number, o->expires_unix_ms);
    }
    return count;
}

/*
 * Without GET, nil means refused. With GET the reply is the previous value:
 * its absence is then a refusal under XX, its presence one under NX.
 */
static hf_status set_outcome(uint32_t flags, const hf_reply *reply,
                             hf_error *err)
{
    bool nil = reply->kind == HF_REPLY_NIL;

    if ((flags & HF_SET_NX) != 0 && nil == ((flags & HF_SET_GET) == 0))
        return hf__fail(err, HF_CONFLICT, "the key exists");
    if ((flags & HF_SET_XX) != 0 && nil)
        return hf__fail(err, HF_NOT_FOUND, "no such key");
    return HF_OK;
}

/* Hand out the previous value and say what became of the call. */
static hf_status finish_set(uint32_t flags, const hf_reply *reply,
                            hf_buffer *previous, hf_error *err)
{
    hf_buffer copy = HF_BUFFER_INIT;
    hf_status status;

    if ((flags & HF_SET_GET) != 0 && previous != NULL) {
        status = hf__buffer_set(&copy, reply, err);
        if (status != HF_OK)
            return status;
        *previous = copy;
    }
    return set_outcome(flags, reply, err);
}

hf_status hf_value_set(hf_client *client, hf_bytes key, hf_bytes value,
                       const hf_value_set_options *opts, hf_buffer *previous,
                       hf_error *err)
{
    char number[HF__NUMBER_SIZE];
    hf_bytes words[SET_WORDS_MAX] = {hf_str("SET"), key, value};
    hf_value_set_options options;
    hf__call call;
    hf_status status = hf__call_begin(&call, client, key, err);

    if (status == HF_OK)
        status = load_set_options(&options, opts, err);
    if (status == HF_OK)
        status = hf__check_value(value, err);
    if (status == HF_OK)
        status = hf__call_command(
            &call, words, set_words(words, &options, number), false, err);
    if (status == HF_OK)
        status = finish_set(options.flags, &call.request.reply, previous, err);
    hf__call_end(&call);
    return status;
}

hf_status hf_value_get(hf_client *client, hf_bytes key, hf_buffer *value,
                       hf_error *err)
{
    hf_bytes words[] = {hf_str("GET"), key};
    hf__call call;
    hf_status status = hf__call_begin(&call, client, key, err);

    if (status == HF_OK)
        status = hf__check_out(value, "value", err);
    if (status == HF_OK)
        status = hf__call_command(&call, words, 2, true, err);
    if (status == HF_OK && call.request.reply.kind == HF_REPLY_NIL)
        status = hf__fail(err, HF_NOT_FOUND, "no such key");
    if (status == HF_OK)
        status = hf__buffer_set(value, &call.request.reply, err);
    hf__call_end(&call);
    return status;
}

hf_status hf_value_delete(hf_client *client, hf_bytes key, hf_error *err)
{
    return hf__delete(client, key, HF__SCRIPT_VALUE_DELETE, err);
}

hf_status hf_value_cas(hf_client *client, hf_bytes key,
                       const hf_bytes *expected, hf_bytes value,
                       const hf_cas_options *opts, hf_buffer *current,
                       hf_error *err)
{
    char number[HF__NUMBER_SIZE];
    hf_bytes words[5] = {key};
    hf_cas_options options;
    hf__call call;
    hf_status status = hf__call_begin(&call, client, key, err);

    if (status == HF_OK)
        status = hf__cas_check(&options, opts, expected, value, err);
    if (status == HF_OK) {
        hf__cas_words(words + 1, expected, value,
                      hf__number(number, options.ttl_ms));
        status = hf__call_script(&call, HF__SCRIPT_VALUE_CAS, words, 5, err);
    }
    if (status == HF_OK)
        status = hf__cas_outcome(&call.request.reply, current, err);
    hf__call_end(&call);
    return status;
}

hf_status hf_value_delete_if(hf_client *client, hf_bytes key, hf_bytes expected,
                             hf_buffer *current, hf_error *err)
{
    hf_bytes words[] = {key, expected};
    hf__call call;
    hf_status status = hf__call_begin(&call, client, key, err);

    if (status == HF_OK)
        status = hf__check_value(expected, err);
    if (status == HF_OK)
        status =
            hf__call_script(&call, HF__SCRIPT_VALUE_DELETE_IF, words, 2, err);
    if (status == HF_OK)
        status = hf__cas_outcome(&call.request.reply, current, err);
    hf__call_end(&call);
    return status;
}
