/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash.c - fields under one key, written together with the key's expiry.
 *
 * As in value.c no write is sent twice.
 */
#include "core/async.h"
#include "core/cas.h"
#include "core/client.h"
#include "core/many.h"
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
    if (count >= 1 && count <= HF_HASH_FIELDS_MAX)
        return HF_OK;
    return hf__fail(err, HF_INVALID, "field count is %zu; it must be 1..%d",
                    count, HF_HASH_FIELDS_MAX);
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

/* The words of hash_put behind the key. */
static void put_words(hf_call *call, const hf_field *fields, size_t count,
                      const hf_hash_put_options *o)
{
    hf_bytes *words = call->words;
    bool persist = (o->flags & HF_HASH_PERSIST) != 0;

    words[1] = hf_str((o->flags & HF_HASH_NX) != 0   ? "nx"
                      : (o->flags & HF_HASH_XX) != 0 ? "xx"
                                                     : "");
    words[2] = hf_str((o->flags & HF_HASH_REPLACE) != 0 ? "1" : "0");
    words[3] = hf__number(call->number, persist ? -1 : o->ttl_ms);
    for (size_t i = 0; i < count; i++) {
        words[4 + 2 * i] = fields[i].name;
        words[5 + 2 * i] = fields[i].value;
    }
}

static hf_status finish_put(hf_call *call, hf_error *err)
{
    if (call->request.reply.integer != 0)
        return HF_OK;
    if ((call->note & HF_HASH_NX) != 0)
        return hf__fail(err, HF_CONFLICT, "the key exists");
    return hf__fail(err, HF_NOT_FOUND, "no such key");
}

static hf_status prepare_put(hf_call *call, hf_client *client, hf_bytes key,
                             const hf_field *fields, size_t count,
                             const hf_hash_put_options *opts, hf_error *err)
{
    hf_hash_put_options options;
    hf_status status = hf__call_begin(call, client, key, err);

    if (status == HF_OK)
        status = load_put_options(&options, opts, err);
    if (status == HF_OK)
        status = check_fields(fields, count, err);
    if (status == HF_OK)
        status = hf__call_reserve(call, 4 + 2 * count, err);
    if (status != HF_OK)
        return status;
    call->finish = finish_put;
    call->note = options.flags;
    put_words(call, fields, count, &options);
    hf__call_script(call, HF__SCRIPT_HASH_PUT, 4 + 2 * count);
    hf__call_replicate(call, hf__wrote_number);
    return HF_OK;
}

hf_status hf_hash_put(hf_client *client, hf_bytes key, const hf_field *fields,
                      size_t count, const hf_hash_put_options *opts,
                      hf_error *err)
{
    hf_call call;

    return hf__call_run(
        &call, prepare_put(&call, client, key, fields, count, opts, err), err);
}

hf_status hf_hash_put_start(hf_client *client, hf_bytes key,
                            const hf_field *fields, size_t count,
                            const hf_hash_put_options *opts,
                            const hf_async *async, hf_error *err)
{
    hf_call *call;
    hf_status status = hf__call_new(client, async, &call, err);

    if (status != HF_OK)
        return status;
    return hf__call_start(
        call, prepare_put(call, client, key, fields, count, opts, err), async,
        err);
}

typedef struct many_put {
    const hf_hash_put_item *items;
    const hf_hash_put_options *opts;
} many_put;

static hf_status prepare_many_put(hf_call *call, hf_client *client,
                                  const void *user, size_t index, hf_error *err)
{
    const many_put *many = user;
    const hf_hash_put_item *item = &many->items[index];

    return prepare_put(call, client, item->key, item->fields, item->count,
                       many->opts, err);
}

hf_status hf_hash_put_many(hf_client *client, const hf_hash_put_item *items,
                           size_t count, const hf_hash_put_options *opts,
                           hf_status *statuses, hf_error *err)
{
    many_put many = {items, opts};

    if (count > 0 && items == NULL)
        return hf__fail(err, HF_INVALID, "items is NULL");
    return hf__many_run(client, count, statuses, prepare_many_put, &many, err);
}

/* --------------------------------------------------------------------- get */

static hf_status finish_get(hf_call *call, hf_error *err)
{
    if (call->request.reply.kind == HF_REPLY_NIL)
        return hf__fail(err, HF_NOT_FOUND, "no such key or field");
    return hf__buffer_set(call->out, &call->request.reply, err);
}

static hf_status prepare_get(hf_call *call, hf_client *client, hf_bytes key,
                             hf_bytes field, hf_buffer *value, hf_error *err)
{
    hf_status status = hf__call_begin(call, client, key, err);

    if (status == HF_OK)
        status = hf__check_field(field, err);
    if (status == HF_OK)
        status = hf__check_out(value, "value", err);
    if (status != HF_OK)
        return status;
    call->finish = finish_get;
    call->out = value;
    call->words[2] = field;
    hf__call_command(call, &hf__op_hget, 3);
    return HF_OK;
}

hf_status hf_hash_get(hf_client *client, hf_bytes key, hf_bytes field,
                      hf_buffer *value, hf_error *err)
{
    hf_call call;

    return hf__call_run(
        &call, prepare_get(&call, client, key, field, value, err), err);
}

hf_status hf_hash_get_start(hf_client *client, hf_bytes key, hf_bytes field,
                            hf_buffer *value, const hf_async *async,
                            hf_error *err)
{
    hf_call *call;
    hf_status status = hf__call_new(client, async, &call, err);

    if (status != HF_OK)
        return status;
    return hf__call_start(
        call, prepare_get(call, client, key, field, value, err), async, err);
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

static hf_status finish_get_all(hf_call *call, hf_error *err)
{
    const hf_reply *reply = &call->request.reply;

    if (reply->array.count == 0)
        return hf__fail(err, HF_NOT_FOUND, "no such key");
    return fields_set(call->out, reply, err);
}

static hf_status prepare_get_all(hf_call *call, hf_client *client, hf_bytes key,
                                 hf_fields *fields, hf_error *err)
{
    hf_status status = hf__call_begin(call, client, key, err);

    if (status == HF_OK)
        status = hf__check_out(fields, "fields", err);
    if (status != HF_OK)
        return status;
    call->finish = finish_get_all;
    call->out = fields;
    hf__call_command(call, &hf__op_hgetall, 2);
    return HF_OK;
}

hf_status hf_hash_get_all(hf_client *client, hf_bytes key, hf_fields *fields,
                          hf_error *err)
{
    hf_call call;

    return hf__call_run(&call, prepare_get_all(&call, client, key, fields, err),
                        err);
}

hf_status hf_hash_get_all_start(hf_client *client, hf_bytes key,
                                hf_fields *fields, const hf_async *async,
                                hf_error *err)
{
    hf_call *call;
    hf_status status = hf__call_new(client, async, &call, err);

    if (status != HF_OK)
        return status;
    return hf__call_start(call, prepare_get_all(call, client, key, fields, err),
                          async, err);
}

/* --------------------------------------------------------- compare and set */

static hf_status prepare_cas(hf_call *call, hf_client *client, hf_bytes key,
                             hf_bytes field, const hf_bytes *expected,
                             hf_bytes value, const hf_cas_options *opts,
                             hf_buffer *current, hf_error *err)
{
    hf_cas_options options;
    hf_status status = hf__call_begin(call, client, key, err);

    if (status == HF_OK)
        status = hf__check_field(field, err);
    if (status == HF_OK)
        status = hf__cas_check(&options, opts, expected, value, err);
    if (status != HF_OK)
        return status;
    call->finish = hf__finish_cas;
    call->out = current;
    call->words[1] = field;
    hf__cas_words(call->words + 2, expected, value,
                  hf__number(call->number, options.ttl_ms));
    return hf__cas_request(call, options.flags, HF__SCRIPT_HASH_CAS,
                           HF__SCRIPT_HASH_CAS_ONCE, 6, err);
}

hf_status hf_hash_cas(hf_client *client, hf_bytes key, hf_bytes field,
                      const hf_bytes *expected, hf_bytes value,
                      const hf_cas_options *opts, hf_buffer *current,
                      hf_error *err)
{
    hf_call call;

    return hf__call_run(&call,
                        prepare_cas(&call, client, key, field, expected, value,
                                    opts, current, err),
                        err);
}

hf_status hf_hash_cas_start(hf_client *client, hf_bytes key, hf_bytes field,
                            const hf_bytes *expected, hf_bytes value,
                            const hf_cas_options *opts, hf_buffer *current,
                            const hf_async *async, hf_error *err)
{
    hf_call *call;
    hf_status status = hf__call_new(client, async, &call, err);

    if (status != HF_OK)
        return status;
    return hf__call_start(call,
                          prepare_cas(call, client, key, field, expected, value,
                                      opts, current, err),
                          async, err);
}

/* ----------------------------------------------------------- delete fields */

static hf_status check_names(const hf_bytes *names, size_t count, hf_error *err)
{
    hf_status status = check_count(count, err);

    if (status == HF_OK)
        status = hf__check_out(names, "names", err);
    for (size_t i = 0; status == HF_OK && i < count; i++)
        status = hf__check_field(names[i], err);
    return status;
}

static hf_status finish_delete_fields(hf_call *call, hf_error *err)
{
    (void)err;
    if (call->out != NULL)
        *(size_t *)call->out = (size_t)call->request.reply.integer;
    return HF_OK;
}

static hf_status prepare_delete_fields(hf_call *call, hf_client *client,
                                       hf_bytes key, const hf_bytes *names,
                                       size_t count, size_t *deleted,
                                       hf_error *err)
{
    hf_status status = hf__call_begin(call, client, key, err);

    if (status == HF_OK)
        status = check_names(names, count, err);
    if (status == HF_OK)
        status = hf__call_reserve(call, 2 + count, err);
    if (status != HF_OK)
        return status;
    call->finish = finish_delete_fields;
    call->out = deleted;
    memcpy(call->words + 2, names, count * sizeof(*names));
    hf__call_command(call, &hf__op_hdel, 2 + count);
    hf__call_replicate(call, hf__wrote_number);
    return HF_OK;
}

hf_status hf_hash_delete_fields(hf_client *client, hf_bytes key,
                                const hf_bytes *names, size_t count,
                                size_t *deleted, hf_error *err)
{
    hf_call call;

    return hf__call_run(
        &call,
        prepare_delete_fields(&call, client, key, names, count, deleted, err),
        err);
}

hf_status hf_hash_delete_fields_start(hf_client *client, hf_bytes key,
                                      const hf_bytes *names, size_t count,
                                      size_t *deleted, const hf_async *async,
                                      hf_error *err)
{
    hf_call *call;
    hf_status status = hf__call_new(client, async, &call, err);

    if (status != HF_OK)
        return status;
    return hf__call_start(
        call,
        prepare_delete_fields(call, client, key, names, count, deleted, err),
        async, err);
}

hf_status hf_hash_delete(hf_client *client, hf_bytes key, hf_error *err)
{
    return hf__delete(client, key, HF__SCRIPT_HASH_DELETE, err);
}

hf_status hf_hash_delete_start(hf_client *client, hf_bytes key,
                               const hf_async *async, hf_error *err)
{
    return hf__delete_start(client, key, HF__SCRIPT_HASH_DELETE, async, err);
}
