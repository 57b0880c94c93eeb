/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash.c - fields under one key, written together with the key's expiry.
 *
 * As in value.c no write is sent twice.
 */
#include "core/cas.h"
#include "core/client.h"
#include "util/error.h"
#include "util/mem.h"
#include "util/options.h"

#define PUT_FLAGS (HF_HASH_NX | HF_HASH_XX | HF_HASH_REPLACE | HF_HASH_PERSIST)

static hf_status load_put_options(hf_hash_put_options *options,
                                  const hf_hash_put_options *from,
                                  hf_error *err)
{
    hf_status status =
        hf__options_load(options, sizeof(*options), sizeof(*options), from,
                         "hf_hash_put_options", err);
    uint32_t flags;

    if (status != HF_OK)
        return status;
    flags = options->flags;
    if ((flags & ~(uint32_t)PUT_FLAGS) != 0 || options->reserved0 != 0)
        return hf__fail(err, HF_UNSUPPORTED,
                        "hf_hash_put_options: unknown flag 0x%x",
                        (unsigned)flags);
    if ((flags & HF_HASH_NX) != 0 && (flags & HF_HASH_XX) != 0)
        return hf__fail(err, HF_INVALID,
                        "HF_HASH_NX and HF_HASH_XX exclude each other");
    if (options->ttl_ms == 0)
        return HF_OK;
    if ((flags & HF_HASH_PERSIST) != 0)
        return hf__fail(err, HF_INVALID,
                        "ttl_ms and HF_HASH_PERSIST exclude each other");
    return hf__check_ttl(options->ttl_ms, "ttl_ms", err);
}

static hf_status check_count(size_t count, hf_error *err)
{
    if (count >= 1 && count <= HF_HASH_PUT_MAX)
        return HF_OK;
    return hf__fail(err, HF_INVALID, "field count is %zu; it must be 1..%d",
                    count, HF_HASH_PUT_MAX);
}

static hf_status check_fields(const hf_field *fields, size_t count,
                              hf_error *err)
{
    hf_status status = check_count(count, err);

    if (status == HF_OK)
        status = hf__check_out(fields, "fields", err);
    for (size_t i = 0; status == HF_OK && i < count; i++) {
        status = hf__check_field(fields[i].name, err);
        if (status == HF_OK)
            status = hf__check_value(fields[i].value, err);
    }
    return status;
}

/* The words of hash_put; the first is the call's. */
static hf_bytes *put_words(const hf_field *fields, size_t count,
                           const hf_hash_put_options *o,
                           char number[HF__NUMBER_SIZE])
{
    hf_bytes *words = hf__calloc(4 + 2 * count, sizeof(*words));
    bool persist = (o->flags & HF_HASH_PERSIST) != 0;

    if (words == NULL)
        return NULL;
    words[1] = hf_str((o->flags & HF_HASH_NX) != 0   ? "nx"
                      : (o->flags & HF_HASH_XX) != 0 ? "xx"
                                                     : "");
    words[2] = hf_str((o->flags & HF_HASH_REPLACE) != 0 ? "1" : "0");
    words[3] = hf__number(number, persist ? -1 : o->ttl_ms);
    for (size_t i = 0; i < count; i++) {
        words[4 + 2 * i] = fields[i].name;
        words[5 + 2 * i] = fields[i].value;
    }
    return words;
}

static hf_status put(hf__call *call, const hf_field *fields, size_t count,
                     const hf_hash_put_options *options, hf_error *err)
{
    char number[HF__NUMBER_SIZE];
    hf_bytes *words = put_words(fields, count, options, number);
    hf_status status;

    if (words == NULL)
        return hf__fail(err, HF_NO_MEMORY, "%zu fields", count);
    status =
        hf__call_script(call, HF__SCRIPT_HASH_PUT, words, 4 + 2 * count, err);
    hf__free(words);
    if (status != HF_OK || call->request.reply.integer != 0)
        return status;
    if ((options->flags & HF_HASH_NX) != 0)
        return hf__fail(err, HF_CONFLICT, "the key exists");
    return hf__fail(err, HF_NOT_FOUND, "no such key");
}

hf_status hf_hash_put(hf_client *client, hf_bytes key, const hf_field *fields,
                      size_t count, const hf_hash_put_options *opts,
                      hf_error *err)
{
    hf_hash_put_options options;
    hf__call call;
    hf_status status = hf__call_begin(&call, client, key, err);

    if (status == HF_OK)
        status = load_put_options(&options, opts, err);
    if (status == HF_OK)
        status = check_fields(fields, count, err);
    if (status == HF_OK)
        status = put(&call, fields, count, &options, err);
    hf__call_end(&call);
    return status;
}

hf_status hf_hash_get(hf_client *client, hf_bytes key, hf_bytes field,
                      hf_buffer *value, hf_error *err)
{
    hf_bytes words[] = {hf_str("HGET"), key, field};
    hf__call call;
    hf_status status = hf__call_begin(&call, client, key, err);

    if (status == HF_OK)
        status = hf__check_field(field, err);
    if (status == HF_OK)
        status = hf__check_out(value, "value", err);
    if (status == HF_OK)
        status = hf__call_command(&call, words, 3, true, err);
    if (status == HF_OK && call.request.reply.kind == HF_REPLY_NIL)
        status = hf__fail(err, HF_NOT_FOUND, "no such key or field");
    if (status == HF_OK)
        status = hf__buffer_set(value, &call.request.reply, err);
    hf__call_end(&call);
    return status;
}

/* Items first, their bytes behind them, in one piece of memory. */
static hf_status fields_set(hf_fields *fields, const hf_reply *reply,
                            hf_error *err)
{
    size_t count = reply->array.count / 2;
    size_t size = count * sizeof(hf_field);
    hf_field *items;
    char *at;

    for (size_t i = 0; i < 2 * count; i++)
        size += reply->array.items[i].bytes.size + 1;
    items = hf__alloc(size);
    if (items == NULL)
        return hf__fail(err, HF_NO_MEMORY, "%zu fields of %zu bytes", count,
                        size);
    at = (char *)(items + count);
    for (size_t i = 0; i < 2 * count; i++) {
        const hf_reply *part = &reply->array.items[i];
        hf_bytes *view = i % 2 == 0 ? &items[i / 2].name : &items[i / 2].value;

        memcpy(at, part->bytes.data, part->bytes.size);
        at[part->bytes.size] = '\0';
        *view = hf_view(at, part->bytes.size);
        at += part->bytes.size + 1;
    }
    fields->items = items;
    fields->count = count;
    return HF_OK;
}

static bool all_strings(const hf_reply *reply)
{
    if (reply->kind != HF_REPLY_ARRAY || reply->array.count % 2 != 0)
        return false;
    for (size_t i = 0; i < reply->array.count; i++) {
        if (reply->array.items[i].kind != HF_REPLY_STRING)
            return false;
    }
    return true;
}

hf_status hf_hash_get_all(hf_client *client, hf_bytes key, hf_fields *fields,
                          hf_error *err)
{
    hf_bytes words[] = {hf_str("HGETALL"), key};
    hf__call call;
    const hf_reply *reply = &call.request.reply;
    hf_status status = hf__call_begin(&call, client, key, err);

    if (status == HF_OK)
        status = hf__check_out(fields, "fields", err);
    if (status == HF_OK)
        status = hf__call_command(&call, words, 2, true, err);
    if (status == HF_OK && !all_strings(reply))
        status = hf__bad_reply("HGETALL", err);
    if (status == HF_OK && reply->array.count == 0)
        status = hf__fail(err, HF_NOT_FOUND, "no such key");
    if (status == HF_OK)
        status = fields_set(fields, reply, err);
    hf__call_end(&call);
    return status;
}

hf_status hf_hash_cas(hf_client *client, hf_bytes key, hf_bytes field,
                      const hf_bytes *expected, hf_bytes value,
                      const hf_cas_options *opts, hf_buffer *current,
                      hf_error *err)
{
    char number[HF__NUMBER_SIZE];
    hf_bytes words[6] = {key, field};
    hf_cas_options options;
    hf__call call;
    hf_status status = hf__call_begin(&call, client, key, err);

    if (status == HF_OK)
        status = hf__check_field(field, err);
    if (status == HF_OK)
        status = hf__cas_check(&options, opts, expected, value, err);
    if (status == HF_OK) {
        hf__cas_words(words + 2, expected, value,
                      hf__number(number, options.ttl_ms));
        status = hf__call_script(&call, HF__SCRIPT_HASH_CAS, words, 6, err);
    }
    if (status == HF_OK)
        status = hf__cas_outcome(&call.request.reply, current, err);
    hf__call_end(&call);
    return status;
}

static hf_status check_names(const hf_bytes *names, size_t count, hf_error *err)
{
    hf_status status = check_count(count, err);

    if (status == HF_OK)
        status = hf__check_out(names, "names", err);
    for (size_t i = 0; status == HF_OK && i < count; i++)
        status = hf__check_field(names[i], err);
    return status;
}

static hf_status remove_names(hf__call *call, const hf_bytes *names,
                              size_t count, hf_error *err)
{
    hf_bytes *words = hf__calloc(2 + count, sizeof(*words));
    hf_status status;

    if (words == NULL)
        return hf__fail(err, HF_NO_MEMORY, "%zu fields", count);
    words[0] = hf_str("HDEL");
    memcpy(words + 2, names, count * sizeof(*words));
    status = hf__call_command(call, words, 2 + count, false, err);
    hf__free(words);
    return status;
}

hf_status hf_hash_remove(hf_client *client, hf_bytes key, const hf_bytes *names,
                         size_t count, size_t *removed, hf_error *err)
{
    hf__call call;
    hf_status status = hf__call_begin(&call, client, key, err);

    if (status == HF_OK)
        status = check_names(names, count, err);
    if (status == HF_OK)
        status = remove_names(&call, names, count, err);
    if (status == HF_OK && removed != NULL)
        *removed = (size_t)call.request.reply.integer;
    hf__call_end(&call);
    return status;
}

hf_status hf_hash_delete(hf_client *client, hf_bytes key, hf_error *err)
{
    return hf__delete(client, key, HF__SCRIPT_HASH_DELETE, err);
}
