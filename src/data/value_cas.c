/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value_cas.c - what is done with a value only if it is the expected one. As in
 * value.c no write is sent twice, except with a dedup record.
 *
 * The version of a value is its SHA-1. So nothing is stored for it, and a write
 * by any client changes it.
 */
#include "core/expiry.h"
#include "core/form.h"
#include "holdfast/value.h"
#include "util/error.h"
#include "util/sha1.h"

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

HF__FORMS(hf_value_cas,
          run_cas(form, client, key, expected, value, opts, current),
          hf_client *client, hf_bytes key, const hf_bytes *expected,
          hf_bytes value, const hf_cas_options *opts, hf_buffer *current);

HF__MANY(hf_value_cas_many, items,
         run_cas(form, client, items[i].key, items[i].expected, items[i].value,
                 opts, items[i].current),
         hf_client *client, const hf_value_cas_item *items, size_t count,
         const hf_cas_options *opts);

/* ---------------------------------------------- compare the version and set */

/* The new version is computed here: a call that was sent again is answered only
 * that it was done. */
static void keep_version(hf_call *call, hf_bytes value)
{
    if (call->out == NULL || call->prepared != HF_OK)
        return;
    call->context = hf__call_alloc(call, HF__SHA1_HEX_SIZE);
    if (call->context != NULL)
        hf__sha1_hex(value.data, value.size, call->context);
}

static hf_status finish_cas_versioned(hf_call *call, hf_error *err)
{
    hf_status status = hf__finish_cas(call, err);
    hf_reply version = {.kind = HF_REPLY_STRING,
                        .bytes = {call->context, HF_VALUE_VERSION_SIZE}};

    if (status != HF_OK || call->out == NULL)
        return status;
    return hf__buffer_set(call->out, &version, err);
}

static const hf__operation cas_versioned = {
    .script = HF__SCRIPT(VALUE_CAS_VERSIONED),
    .once = HF__SCRIPT(VALUE_CAS_VERSIONED_ONCE),
    .without = {HF__SCRIPT(VALUE_CAS_VERSIONED), HF__RECORD_WORDS, false},
    .wrote = hf__wrote_number,
    .finish = finish_cas_versioned,
};

static hf_status check_version(hf_bytes version, hf_error *err)
{
    if (version.size == HF_VALUE_VERSION_SIZE)
        return hf__check_value(version, err);
    return hf__fail(err, HF_INVALID, "version is %zu bytes; it must be %d",
                    version.size, HF_VALUE_VERSION_SIZE);
}

static hf_status run_cas_versioned(hf__form form, hf_client *client,
                                   hf_bytes key, const hf_bytes *expected,
                                   hf_bytes value, const hf_cas_options *opts,
                                   hf_buffer *version)
{
    hf_call here, *call = hf__begin(&here, form, &cas_versioned, client);

    hf__add_key(call, key);
    if (expected != NULL)
        (void)HF__TRY(call, check_version(*expected, call->form.err));
    hf__add_cas(call, expected, value, opts);
    hf__set_out(call, version, NULL);
    keep_version(call, value);
    return hf__end(call);
}

HF__FORMS(hf_value_cas_versioned,
          run_cas_versioned(form, client, key, expected, value, opts, version),
          hf_client *client, hf_bytes key, const hf_bytes *expected,
          hf_bytes value, const hf_cas_options *opts, hf_buffer *version);

/* ------------------------------------------------------ compare and delete */

static const hf__operation delete_if = {
    .script = HF__SCRIPT(VALUE_DELETE_IF),
    .once = HF__SCRIPT(VALUE_DELETE_IF_ONCE),
    .without = {HF__SCRIPT(VALUE_DELETE_IF), HF__RECORD_WORDS, true},
    .wrote = hf__wrote_number,
    .finish = hf__finish_cas,
};

static const hf__operation delete_versioned = {
    .script = HF__SCRIPT(VALUE_DELETE_VERSIONED),
    .once = HF__SCRIPT(VALUE_DELETE_VERSIONED_ONCE),
    .without = {HF__SCRIPT(VALUE_DELETE_VERSIONED), HF__RECORD_WORDS, true},
    .wrote = hf__wrote_number,
    .finish = hf__finish_cas,
};

static hf_status run_delete_if(hf__form form, const hf__operation *operation,
                               hf_client *client, hf_bytes key,
                               hf_bytes expected, hf_buffer *current)
{
    hf_call here, *call = hf__begin(&here, form, operation, client);

    hf__add_key(call, key);
    if (operation == &delete_versioned)
        (void)HF__TRY(call, check_version(expected, call->form.err));
    hf__add_value(call, expected);
    hf__set_out(call, current, NULL);
    return hf__end(call);
}

HF__FORMS(hf_value_delete_if,
          run_delete_if(form, &delete_if, client, key, expected, current),
          hf_client *client, hf_bytes key, hf_bytes expected,
          hf_buffer *current);

HF__FORMS(hf_value_delete_versioned,
          run_delete_if(form, &delete_versioned, client, key, expected,
                        version),
          hf_client *client, hf_bytes key, hf_bytes expected,
          hf_buffer *version);

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

HF__FORMS(hf_value_expire_if,
          run_expire_if(form, client, key, expected, opts, current),
          hf_client *client, hf_bytes key, hf_bytes expected,
          const hf_value_expire_options *opts, hf_buffer *current);
