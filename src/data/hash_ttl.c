/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash_ttl.c - the time to live of fields. A server without HPEXPIRE refuses
 * these, before anything is written.
 */
#include "core/fields.h"
#include "core/form.h"
#include "holdfast/hash.h"
#include "util/error.h"

/* What the store replies for a field that does not exist. */
#define NO_FIELD (-2)

static const hf__shape changed[] = {HF__SHAPE_INTEGER(NO_FIELD, 2)};
static const hf__shape left[] = {HF__SHAPE_INTEGER(NO_FIELD, INT64_MAX)};

static bool wrote_field(const hf__request *request)
{
    const hf_reply *reply = &request->reply;

    for (size_t i = 0; i < reply->array.count; i++) {
        if (reply->array.items[i].integer > 0)
            return true;
    }
    return false;
}

/* How many of the fields exist. */
static hf_status count_found(const hf_call *call, size_t *found, hf_error *err)
{
    const hf_reply *reply = &call->request.reply;

    if (reply->array.count != (size_t)call->note)
        return hf__fail(err, HF_CORRUPT, "%zu replies for %zu fields",
                        reply->array.count, (size_t)call->note);
    *found = 0;
    for (size_t i = 0; i < reply->array.count; i++)
        *found += reply->array.items[i].integer != NO_FIELD;
    if (*found == 0)
        return hf__fail(err, HF_NOT_FOUND, "no such key or field");
    return HF_OK;
}

static void add_names(hf_call *call, const hf_bytes *names, size_t count)
{
    call->note = (int64_t)count;
    hf__add(call, hf_str("FIELDS"));
    hf__add_number(call, (int64_t)count);
    hf__add_fields(call, names, count);
}

/* ------------------------------------------------------------------ expire */

static hf_status finish_expire(hf_call *call, hf_error *err)
{
    size_t found;
    hf_status status = count_found(call, &found, err);

    if (status == HF_OK && call->out != NULL)
        *(size_t *)call->out = found;
    return status;
}

/* Not sent twice: another client may have set another in between. */
static const hf__operation expire = {
    .command = "HPEXPIRE",
    .answer = HF__SHAPE_LIST(changed),
    .wrote = wrote_field,
    .finish = finish_expire,
};

static const hf__operation persist = {
    .command = "HPERSIST",
    .answer = HF__SHAPE_LIST(changed),
    .wrote = wrote_field,
    .finish = finish_expire,
};

static hf_status run_expire(hf__form form, hf_client *client, hf_bytes key,
                            int64_t ttl_ms, const hf_bytes *names, size_t count,
                            size_t *found)
{
    bool never = ttl_ms == -1;
    hf_call here,
        *call = hf__begin(&here, form, never ? &persist : &expire, client);

    hf__add_key(call, key);
    hf__set_out(call, found, NULL);
    if (!never &&
        HF__TRY(call, hf__check_ttl(ttl_ms, "ttl_ms", call->form.err)))
        hf__add_number(call, ttl_ms);
    add_names(call, names, count);
    return hf__end(call);
}

HF__FORMS(hf_hash_expire_fields,
          run_expire(form, client, key, ttl_ms, names, count, found),
          hf_client *client, hf_bytes key, int64_t ttl_ms,
          const hf_bytes *names, size_t count, size_t *found);

/* --------------------------------------------------------------------- ttl */

static hf_status finish_ttl(hf_call *call, hf_error *err)
{
    const hf_reply *reply = &call->request.reply;
    int64_t *ttls_ms = call->out;
    size_t found;
    hf_status status = count_found(call, &found, err);

    for (size_t i = 0; status == HF_OK && i < reply->array.count; i++)
        ttls_ms[i] = reply->array.items[i].integer;
    return status;
}

static const hf__operation ttl = {
    .command = "HPTTL",
    .repeatable = true,
    .answer = HF__SHAPE_LIST(left),
    .finish = finish_ttl,
};

static hf_status run_ttl(hf__form form, hf_client *client, hf_bytes key,
                         const hf_bytes *names, size_t count, int64_t *ttls_ms)
{
    hf_call here, *call = hf__begin(&here, form, &ttl, client);

    hf__add_key(call, key);
    hf__set_out(call, ttls_ms, "ttls_ms");
    add_names(call, names, count);
    return hf__end(call);
}

HF__FORMS(hf_hash_ttl_fields, run_ttl(form, client, key, names, count, ttls_ms),
          hf_client *client, hf_bytes key, const hf_bytes *names, size_t count,
          int64_t *ttls_ms);
