/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash_put.c - fields written together with the key's expiry. As in value.c no
 * write is sent twice.
 */
#include "core/fence.h"
#include "core/fields.h"
#include "core/form.h"
#include "holdfast/hash.h"
#include "util/error.h"

#define PUT_FLAGS (HF_HASH_NX | HF_HASH_XX | HF_HASH_REPLACE | HF_HASH_PERSIST)

static hf_status check_put(const hf_hash_put_options *o, hf_error *err)
{
    if ((o->flags & HF_HASH_NX) != 0 && (o->flags & HF_HASH_XX) != 0)
        return hf__fail(err, HF_INVALID,
                        "HF_HASH_NX and HF_HASH_XX exclude each other");
    if (o->ttl_ms != 0 && (o->flags & HF_HASH_PERSIST) != 0)
        return hf__fail(err, HF_INVALID,
                        "ttl_ms and HF_HASH_PERSIST exclude each other");
    if (o->ttl_ms != 0 && hf__check_ttl(o->ttl_ms, "ttl_ms", err) != HF_OK)
        return HF_INVALID;
    return o->field_ttl_ms == 0
               ? HF_OK
               : hf__check_ttl(o->field_ttl_ms, "field_ttl_ms", err);
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

/* The words after the condition. */
static void add_put(hf_call *call, const hf_field *fields, size_t count,
                    const hf_hash_put_options *o)
{
    bool persist = (o->flags & HF_HASH_PERSIST) != 0;

    hf__reserve(call, 3 + 2 * count);
    hf__add(call, hf_str((o->flags & HF_HASH_REPLACE) != 0 ? "1" : "0"));
    hf__add_number(call, persist ? -1 : o->ttl_ms);
    hf__add_number(call, o->field_ttl_ms);
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
        HF__TRY(call, hf__check_fields(fields, count, "fields", err))) {
        call->note = options.flags;
        hf__add(call, hf_str((options.flags & HF_HASH_NX) != 0   ? "nx"
                             : (options.flags & HF_HASH_XX) != 0 ? "xx"
                                                                 : ""));
        add_put(call, fields, count, &options);
    }
    return hf__end(call);
}

HF__FORMS(hf_hash_put, run_put(form, client, key, fields, count, opts),
          hf_client *client, hf_bytes key, const hf_field *fields, size_t count,
          const hf_hash_put_options *opts);

HF__MANY(hf_hash_put_many, items,
         run_put(form, client, items[i].key, items[i].fields, items[i].count,
                 opts),
         hf_client *client, const hf_hash_put_item *items, size_t count,
         const hf_hash_put_options *opts);

/* ------------------------------------------------------------- put, fenced */

static const hf__operation put_fenced = {
    .script = HF__SCRIPT(HASH_PUT_FENCED),
    .wrote = hf__wrote_fenced,
    .finish = hf__finish_fenced,
};

static hf_status run_put_fenced(hf__form form, hf_client *client, hf_bytes key,
                                const hf_field *fields, size_t count,
                                uint64_t token, const hf_hash_put_options *opts,
                                uint64_t *highest)
{
    hf_call here, *call = hf__begin(&here, form, &put_fenced, client);
    hf_error *err = call->form.err;
    hf_hash_put_options options;

    hf__add_fenced(call, key, token);
    hf__set_out(call, highest, NULL);
    if (HF__LOAD(call, &options, opts, hf_hash_put_options,
                 HF_HASH_REPLACE | HF_HASH_PERSIST) &&
        HF__TRY(call, check_put(&options, err)) &&
        HF__TRY(call, hf__check_fields(fields, count, "fields", err)))
        add_put(call, fields, count, &options);
    return hf__end(call);
}

HF__FORMS(hf_hash_put_fenced,
          run_put_fenced(form, client, key, fields, count, token, opts,
                         highest),
          hf_client *client, hf_bytes key, const hf_field *fields, size_t count,
          uint64_t token, const hf_hash_put_options *opts, uint64_t *highest);
