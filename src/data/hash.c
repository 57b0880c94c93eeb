/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash.c - reading and deleting the fields under one key. As in value.c no
 * write is sent twice.
 */
#include "holdfast/hash.h"
#include "core/fields.h"
#include "core/form.h"
#include "util/error.h"
#include "util/mem.h"

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

HF__FORMS(hf_hash_get, run_get(form, client, key, field, value),
          hf_client *client, hf_bytes key, hf_bytes field, hf_buffer *value);

/* ------------------------------------------------------------- get fields */

static hf_status finish_get_fields(hf_call *call, hf_error *err)
{
    const hf_reply *reply = &call->request.reply;
    hf_buffer *values = call->out;
    hf_status status = HF_OK;
    bool any = false;
    size_t i;

    if (reply->array.count != (size_t)call->note)
        return hf__bad_reply("HMGET", err);
    for (i = 0; i < reply->array.count && !any; i++)
        any = reply->array.items[i].kind != HF_REPLY_NIL;
    if (!any)
        return hf__fail(err, HF_NOT_FOUND, "no such key or fields");
    for (i = 0; i < reply->array.count && status == HF_OK; i++)
        status = hf__buffer_take(&values[i], &reply->array.items[i],
                                 &call->request.arena, err);
    for (i--; status != HF_OK && i > 0; i--)
        hf_buffer_free(&values[i - 1]);
    return status;
}

static const hf__shape maybe[] = {HF__SHAPE_KIND(HF__IS_STRING | HF__IS_NIL)};

static const hf__operation get_fields = {
    .command = "HMGET",
    .repeatable = true,
    .answer = HF__SHAPE_LIST(maybe),
    .finish = finish_get_fields,
};

static hf_status run_get_fields(hf__form form, hf_client *client, hf_bytes key,
                                const hf_bytes *names, size_t count,
                                hf_buffer *values)
{
    hf_call here, *call = hf__begin(&here, form, &get_fields, client);

    hf__add_key(call, key);
    hf__set_out(call, values, "values");
    hf__add_fields(call, names, count);
    call->note = (int64_t)count;
    return hf__end(call);
}

HF__FORMS(hf_hash_get_fields,
          run_get_fields(form, client, key, names, count, values),
          hf_client *client, hf_bytes key, const hf_bytes *names, size_t count,
          hf_buffer *values);

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

HF__FORMS(hf_hash_get_all, run_get_all(form, client, key, fields),
          hf_client *client, hf_bytes key, hf_fields *fields);

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
    hf__add_fields(call, names, count);
    return hf__end(call);
}

HF__FORMS(hf_hash_delete_fields,
          run_delete_fields(form, client, key, names, count, deleted),
          hf_client *client, hf_bytes key, const hf_bytes *names, size_t count,
          size_t *deleted);

/* ----------------------------------------------------------------- delete */

static const hf__operation delete = {
    .script = HF__SCRIPT(HASH_DELETE),
    .wrote = hf__wrote_number,
    .finish = hf__finish_found,
};

HF__FORMS(hf_hash_delete, hf__run_on_key(form, &delete, client, key),
          hf_client *client, hf_bytes key);
