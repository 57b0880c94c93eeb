/* SPDX-License-Identifier: Apache-2.0 */
/* fields.c - see fields.h. */
#include "core/fields.h"

#include "holdfast/hash.h"
#include "util/error.h"

hf_status hf__check_fields(const void *list, size_t count, const char *what,
                           hf_error *err)
{
    if (count >= 1 && count <= HF_HASH_FIELDS_MAX)
        return hf__check_out(list, what, err);
    return hf__fail(err, HF_INVALID, "field count is %zu; it must be 1..%d",
                    count, HF_HASH_FIELDS_MAX);
}

void hf__add_fields(hf_call *call, const hf_bytes *names, size_t count)
{
    if (HF__TRY(call, hf__check_fields(names, count, "names", call->form.err)))
        hf__reserve(call, count);
    for (size_t i = 0; i < count && call->prepared == HF_OK; i++)
        hf__add_field(call, names[i]);
}
