/* SPDX-License-Identifier: Apache-2.0 */
/* fence.c - see fence.h. */
#include "core/fence.h"

#include "core/own_key.h"
#include "util/error.h"

#define LARGEST (HF__TOKEN_MAX - 1)

hf_status hf__check_token(uint64_t token, hf_error *err)
{
    if (token >= 1 && token <= LARGEST)
        return HF_OK;
    return hf__fail(err, HF_INVALID, "token is %llu; it must be 1..%lld",
                    (unsigned long long)token, (long long)LARGEST);
}

void hf__add_fenced(hf_call *call, hf_bytes key, uint64_t token)
{
    hf__add_key(call, key);
    hf__add_own_key(call, HF__ROLE_FENCE, key);
    (void)HF__TRY(call, hf__check_token(token, call->form.err));
    hf__add_number(call, (int64_t)token);
}

hf_status hf__finish_fenced(hf_call *call, hf_error *err)
{
    int64_t highest = call->request.reply.integer;

    if (highest == 0)
        return HF_OK;
    if (call->out != NULL)
        *(uint64_t *)call->out = (uint64_t)highest;
    return hf__fail(err, HF_CONFLICT,
                    "a write with the higher fencing token %lld came before",
                    (long long)highest);
}

bool hf__wrote_fenced(const hf__request *request)
{
    return request->reply.integer == 0;
}
