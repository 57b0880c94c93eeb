/* SPDX-License-Identifier: Apache-2.0 */
/* cas.c - arguments and outcome of compare-and-set. */
#include "core/cas.h"

#include "core/client.h"
#include "util/error.h"
#include "util/options.h"

hf_status hf__cas_check(hf_cas_options *options, const hf_cas_options *from,
                        const hf_bytes *expected, hf_bytes value, hf_error *err)
{
    hf_status status =
        hf__options_load(options, sizeof(*options), sizeof(*options), from,
                         "hf_cas_options", err);

    if (status == HF_OK && options->ttl_ms != 0)
        status = hf__check_ttl(options->ttl_ms, "ttl_ms", err);
    if (status == HF_OK && expected != NULL)
        status = hf__check_value(*expected, err);
    if (status == HF_OK)
        status = hf__check_value(value, err);
    return status;
}

void hf__cas_words(hf_bytes words[4], const hf_bytes *expected, hf_bytes value,
                   hf_bytes ttl)
{
    words[0] = hf_str(expected == NULL ? "0" : "1");
    words[1] = expected == NULL ? hf_str("") : *expected;
    words[2] = value;
    words[3] = ttl;
}

hf_status hf__finish_cas(hf_call *call, hf_error *err)
{
    const hf_reply *reply = &call->request.reply;
    hf_buffer copy = HF_BUFFER_INIT;
    hf_status status;

    if (reply->kind == HF_REPLY_INTEGER && reply->integer == 1)
        return HF_OK;
    if (reply->kind == HF_REPLY_INTEGER)
        return hf__fail(err, HF_NOT_FOUND, "there is no value to compare");
    if (reply->kind != HF_REPLY_STRING)
        return hf__bad_reply("compare-and-set", err);
    if (call->out != NULL) {
        status = hf__buffer_set(&copy, reply, err);
        if (status != HF_OK)
            return status;
        *(hf_buffer *)call->out = copy;
    }
    return hf__fail(err, HF_CONFLICT, "the present value is another");
}
