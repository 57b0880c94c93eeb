/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash.c - fields under one key, written together with the key's expiry.
 *
 * As in value.c no write is sent twice.
 */
#include "core/form.h"
#include "util/error.h"
#include "util/mem.h"

#define PUT_FLAGS (HF_HASH_NX | HF_HASH_XX | HF_HASH_REPLACE | HF_HASH_PERSIST)

static hf_status check_count(const void *list, size_t count, const char *what,
                             hf_error *err)
{
    if (count >= 1 && count <= HF_HASH_FIELDS_MAX)
        return hf__check_out(list, what, err);
    return hf__fail(err, HF_INVALID, "field count is %zu; it must be 1..%d",
                    count, HF_HASH_FIELDS_MAX);
}

/* -------------------------------------------------------------------- put */

static hf_status check_put(const hf_hash_put_options *o, hf_error *err)
{
    if ((o->flags & HF_HASH_NX) != 0 && (o->flags & HF_HASH_XX) != 0)
        return hf__fail(err, HF_INVALID,
                        "HF_HASH_NX and HF_HASH_XX exclude each other");
    if (o->ttl_ms != 0 && (o->flags & HF_HASH_PERSIST) != 0)
        return hf__fail(err, HF_INVALID,
                        "ttl_ms and HF_HASH_PERSIST exclude each other");
    return o->ttl_ms == 0 ? HF_OK : hf__check_ttl(o->ttl_ms, "ttl_ms", err);
}

static hf_status finish_put(hf_call *call, hf_error *err)
{
    if (call->request.reply.integer != 0)
        return HF_OK;
    if ((call->note & HF_HASH_NX) != 0)
        return hf__fail(err, HF_CONFLICT, "the key exists");
    return hf__fail(err, HF_NOT_FOUND, "no such key");
}

static const hf__operation put = {
    .script = HF__SCRIPT(HASH_PUT),
    .wrote = hf__wrote_number,
    .finish = finish_put,
};

static void add_put(hf_call *call, const hf_field *fields, size_t count,
                    const hf_hash_put_options *o)
{
    bool persist = (o->flags & HF_HASH_PERSIST) != 0;

    call->note = o->flags;
    hf__reserve(call, 3 + 2 * count);
    hf__add(call, hf_str((o->flags & HF_HASH_NX) != 0   ? "nx"
                         : (o->flags & HF_HASH_XX) != 0 ? "xx"
                                                        : ""));
    hf__add(call, hf_str((o->flags & HF_HASH_REPLACE) != 0 ? "1" : "0"));
    hf__add_number(call, persist ? -1 : o->ttl_ms);
    for (size_t i = 0; i < count && call->prepared == HF_OK; i++) {
        hf__add_field(call, fields[i].name);
        hf__add_value(call, fields[i].value);
    }
}

static hf_status run_put(hf__form form, hf_client *client, hf_bytes key,
                         const hf_field *fields, size_t count,
                         const hf_hash_put_options *opts)
{
    hf_call here, *call = hf__begin(&here, form, &put, client);
    hf_error *err = call->form.err;
    hf_hash_put_options options;

    hf__add_key(call, key);
    if (HF__LOAD(call, &options, opts, hf_hash_put_options, PUT_FLAGS) &&
        HF__TRY(call, check_put(&options, err)) &&
        HF__TRY(call, check_count(fields, count, "fields", err)))
        add_put(call, fields, count, &options);
    return hf__end(call);
}

hf_status hf_hash_put(hf_client *client, hf_bytes key, const hf_field *fields,
                      size_t count, const hf_hash_put_options *opts,
                      hf_error *err)
{
    return run_put(hf__blocking(err), client, key, fields, count, opts);
}

hf_status hf_hash_put_start(hf_client *client, hf_bytes key,
                            const hf_field *fields, size_t count,
                            const hf_hash_put_options *opts,
                            const hf_async *async, hf_error *err)
{
    return run_put(hf__started(async, err), client, key, fields, count, opts);
}

hf_status hf_hash_put_many(hf_client *client, const hf_hash_put_item *items,
                           size_t count, const hf_hash_put_options *opts,
                           hf_status *statuses, hf_error *err)
{
    hf__many many;
    size_t i;

    hf__many_begin(&many, client, count, statuses, err);
    hf__many_needs(&many, items, "items");
    while (hf__many_next(&many, &i))
        (void)run_put(hf__one_of(&many), client, items[i].key, items[i].fields,
                      items[i].count, opts);
    return hf__many_end(&many);
}

/* -------------------------------------------------------------------- get */

static const hf__operation get = {
    .command = "HGET",
    .repeatable = true,
    .answer = HF__SHAPE_KIND(HF__IS_STRING | HF__IS_NIL),
    .finish = hf__finish_value,
    .absent = "no such key or field",
};

static hf_status run_get(hf__form form, hf_client *client, hf_bytes key,
                         hf_bytes field, hf_buffer *value)
{
    hf_call here, *call = hf__begin(&here, form, &get, client);

    hf__add_key(call, key);
    hf__add_field(call, field);
    hf__set_out(call, value, "value");
    return hf__end(call);
}

hf_status hf_hash_get(hf_client *client, hf_bytes key, hf_bytes field,
                      hf_buffer *value, hf_error *err)
{
    return run_get(hf__blocking(err), client, key, field, value);
}

hf_status hf_hash_get_start(hf_client *client, hf_bytes key, hf_bytes field,
                            hf_buffer *value, const hf_async *async,
                            hf_error *err)
{
    return run_get(hf__started(async, err), client, key, field, value);
}

/* ---------------------------------------------------------------- get all */

/* The items, then their bytes, in one piece of memory. */
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

static const hf__shape pair[] = {HF__SHAPE_KIND(HF__IS_STRING),
                                 HF__SHAPE_KIND(HF__IS_STRING)};

static const hf__operation get_all = {
    .command = "HGETALL",
    .repeatable = true,
    .answer = HF__SHAPE_LIST(pair),
    .finish = finish_get_all,
};

static hf_status run_get_all(hf__form form, hf_client *client, hf_bytes key,
                             hf_fields *fields)
{
    hf_call here, *call = hf__begin(&here, form, &get_all, client);

    hf__add_key(call, key);
    hf__set_out(call, fields, "fields");
    return hf__end(call);
}

hf_status hf_hash_get_all(hf_client *client, hf_bytes key, hf_fields *fields,
                          hf_error *err)
{
    return run_get_all(hf__blocking(err), client, key, fields);
}

hf_status hf_hash_get_all_start(hf_client *client, hf_bytes key,
                                hf_fields *fields, const hf_async *async,
                                hf_error *err)
{
    return run_get_all(hf__started(async, err), client, key, fields);
}

/* ----------------------------------------------------------- delete fields */

static hf_status finish_delete_fields(hf_call *call, hf_error *err)
{
    (void)err;
    if (call->out != NULL)
        *(size_t *)call->out = (size_t)call->request.reply.integer;
    return HF_OK;
}

static const hf__operation delete_fields = {
    .command = "HDEL",
    .answer = HF__SHAPE_INTEGER(0, HF_HASH_FIELDS_MAX),
    .wrote = hf__wrote_number,
    .finish = finish_delete_fields,
};

static hf_status run_delete_fields(hf__form form, hf_client *client,
                                   hf_bytes key, const hf_bytes *names,
                                   size_t count, size_t *deleted)
{
    hf_call here, *call = hf__begin(&here, form, &delete_fields, client);

    hf__add_key(call, key);
    hf__set_out(call, deleted, NULL);
    if (HF__TRY(call, check_count(names, count, "names", call->form.err)))
        hf__reserve(call, count);
    for (size_t i = 0; i < count && call->prepared == HF_OK; i++)
        hf__add_field(call, names[i]);
    return hf__end(call);
}

hf_status hf_hash_delete_fields(hf_client *client, hf_bytes key,
                                const hf_bytes *names, size_t count,
                                size_t *deleted, hf_error *err)
{
    return run_delete_fields(hf__blocking(err), client, key, names, count,
                             deleted);
}

hf_status hf_hash_delete_fields_start(hf_client *client, hf_bytes key,
                                      const hf_bytes *names, size_t count,
                                      size_t *deleted, const hf_async *async,
                                      hf_error *err)
{
    return run_delete_fields(hf__started(async, err), client, key, names, count,
                             deleted);
}

/* ----------------------------------------------------------------- delete */

static const hf__operation delete = {
    .script = HF__SCRIPT(HASH_DELETE),
    .wrote = hf__wrote_number,
    .finish = hf__finish_found,
};

hf_status hf_hash_delete(hf_client *client, hf_bytes key, hf_error *err)
{
    return hf__run_on_key(hf__blocking(err), &delete, client, key);
}

hf_status hf_hash_delete_start(hf_client *client, hf_bytes key,
                               const hf_async *async, hf_error *err)
{
    return hf__run_on_key(hf__started(async, err), &delete, client, key);
}
