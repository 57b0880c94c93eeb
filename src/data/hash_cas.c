/* SPDX-License-Identifier: Apache-2.0 */
/* hash_cas.c - a field that is replaced only if it has the expected value. */
#include "core/form.h"
#include "holdfast/hash.h"

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

HF__FORMS(hf_hash_cas,
          run_cas(form, client, key, field, expected, value, opts, current),
          hf_client *client, hf_bytes key, hf_bytes field,
          const hf_bytes *expected, hf_bytes value, const hf_cas_options *opts,
          hf_buffer *current);
