/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value_cas.c - what is done with a value only if it is the expected one. As in
 * value.c no write is sent twice, except with a dedup record.
 */
#include "core/expiry.h"
#include "core/form.h"

/* --------------------------------------------------------- compare and set */

static const hf__operation cas = {
    .script = HF__SCRIPT(VALUE_CAS),
    .once = HF__SCRIPT(VALUE_CAS_ONCE),
    .without = {HF__SCRIPT(VALUE_CAS), HF__RECORD_WORDS, false},
    .wrote = hf__wrote_number,
    .finish = hf__finish_cas,
};

static hf_status run_cas(hf__form form, hf_client *client, hf_bytes key,
                         const hf_bytes *expected, hf_bytes value,
                         const hf_cas_options *opts, hf_buffer *current)
{
    hf_call here, *call = hf__begin(&here, form, &cas, client);

    hf__add_key(call, key);
    hf__add_cas(call, expected, value, opts);
    hf__set_out(call, current, NULL);
    return hf__end(call);
}

hf_status hf_value_cas(hf_client *client, hf_bytes key,
                       const hf_bytes *expected, hf_bytes value,
                       const hf_cas_options *opts, hf_buffer *current,
                       hf_error *err)
{
    return run_cas(hf__blocking(err), client, key, expected, value, opts,
                   current);
}

hf_status hf_value_cas_start(hf_client *client, hf_bytes key,
                             const hf_bytes *expected, hf_bytes value,
                             const hf_cas_options *opts, hf_buffer *current,
                             const hf_async *async, hf_error *err)
{
    return run_cas(hf__started(async, err), client, key, expected, value, opts,
                   current);
}

hf_status hf_value_cas_many(hf_client *client, const hf_value_cas_item *items,
                            size_t count, const hf_cas_options *opts,
                            hf_status *statuses, hf_error *err)
{
    hf__many many;
    size_t i;

    hf__many_begin(&many, client, count, statuses, err);
    hf__many_needs(&many, items, "items");
    while (hf__many_next(&many, &i))
        (void)run_cas(hf__one_of(&many), client, items[i].key,
                      items[i].expected, items[i].value, opts,
                      items[i].current);
    return hf__many_end(&many);
}

/* ------------------------------------------------------ compare and delete */

static const hf__operation delete_if = {
    .script = HF__SCRIPT(VALUE_DELETE_IF),
    .once = HF__SCRIPT(VALUE_DELETE_IF_ONCE),
    .without = {HF__SCRIPT(VALUE_DELETE_IF), HF__RECORD_WORDS, true},
    .wrote = hf__wrote_number,
    .finish = hf__finish_cas,
};

static hf_status run_delete_if(hf__form form, hf_client *client, hf_bytes key,
                               hf_bytes expected, hf_buffer *current)
{
    hf_call here, *call = hf__begin(&here, form, &delete_if, client);

    hf__add_key(call, key);
    hf__add_value(call, expected);
    hf__set_out(call, current, NULL);
    return hf__end(call);
}

hf_status hf_value_delete_if(hf_client *client, hf_bytes key, hf_bytes expected,
                             hf_buffer *current, hf_error *err)
{
    return run_delete_if(hf__blocking(err), client, key, expected, current);
}

hf_status hf_value_delete_if_start(hf_client *client, hf_bytes key,
                                   hf_bytes expected, hf_buffer *current,
                                   const hf_async *async, hf_error *err)
{
    return run_delete_if(hf__started(async, err), client, key, expected,
                         current);
}

/* ------------------------------------------------------ compare and expire */

static const hf__operation expire_if = {
    .script = HF__SCRIPT(VALUE_EXPIRE_IF),
    .once = HF__SCRIPT(VALUE_EXPIRE_IF_ONCE),
    .without = {HF__SCRIPT(VALUE_EXPIRE_IF), HF__RECORD_WORDS, true},
    .wrote = hf__wrote_number,
    .finish = hf__finish_cas,
};

static hf_status run_expire_if(hf__form form, hf_client *client, hf_bytes key,
                               hf_bytes expected,
                               const hf_value_expire_options *opts,
                               hf_buffer *current)
{
    hf_call here, *call = hf__begin(&here, form, &expire_if, client);
    hf_value_expire_options options;

    hf__add_key(call, key);
    hf__add_value(call, expected);
    hf__set_out(call, current, NULL);
    if (hf__load_expiry(call, &options, opts)) {
        hf__add_number(call, options.ttl_ms);
        hf__add_number(call, options.expires_unix_ms);
    }
    return hf__end(call);
}

hf_status hf_value_expire_if(hf_client *client, hf_bytes key, hf_bytes expected,
                             const hf_value_expire_options *opts,
                             hf_buffer *current, hf_error *err)
{
    return run_expire_if(hf__blocking(err), client, key, expected, opts,
                         current);
}

hf_status hf_value_expire_if_start(hf_client *client, hf_bytes key,
                                   hf_bytes expected,
                                   const hf_value_expire_options *opts,
                                   hf_buffer *current, const hf_async *async,
                                   hf_error *err)
{
    return run_expire_if(hf__started(async, err), client, key, expected, opts,
                         current);
}
