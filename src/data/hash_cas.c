/* SPDX-License-Identifier: Apache-2.0 */
/* hash_cas.c - a field that is replaced only if it has the expected value. */
#include "core/form.h"

static const hf__operation cas = {
    .script = HF__SCRIPT(HASH_CAS),
    .once = HF__SCRIPT(HASH_CAS_ONCE),
    .without = {HF__SCRIPT(HASH_CAS), HF__RECORD_WORDS, false},
    .wrote = hf__wrote_number,
    .finish = hf__finish_cas,
};

static hf_status run_cas(hf__form form, hf_client *client, hf_bytes key,
                         hf_bytes field, const hf_bytes *expected,
                         hf_bytes value, const hf_cas_options *opts,
                         hf_buffer *current)
{
    hf_call here, *call = hf__begin(&here, form, &cas, client);

    hf__add_key(call, key);
    hf__add_field(call, field);
    hf__add_cas(call, expected, value, opts);
    hf__set_out(call, current, NULL);
    return hf__end(call);
}

hf_status hf_hash_cas(hf_client *client, hf_bytes key, hf_bytes field,
                      const hf_bytes *expected, hf_bytes value,
                      const hf_cas_options *opts, hf_buffer *current,
                      hf_error *err)
{
    return run_cas(hf__blocking(err), client, key, field, expected, value, opts,
                   current);
}

hf_status hf_hash_cas_start(hf_client *client, hf_bytes key, hf_bytes field,
                            const hf_bytes *expected, hf_bytes value,
                            const hf_cas_options *opts, hf_buffer *current,
                            const hf_async *async, hf_error *err)
{
    return run_cas(hf__started(async, err), client, key, field, expected, value,
                   opts, current);
}
