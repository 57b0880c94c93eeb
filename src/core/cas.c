/* SPDX-License-Identifier: Apache-2.0 */
/* cas.c - arguments and outcome of compare-and-set. */
#include "core/cas.h"

#include <string.h>

#include "core/client.h"
#include "util/error.h"

/* A mark's life, in request_ms: no request is sent again after one of them, and
 * what was sent last may be on its way for another. */
#define MARK_LIVES 2

void hf__add_cas(hf_call *call, const hf_bytes *expected, hf_bytes value,
                 const hf_cas_options *opts)
{
    hf_cas_options options;

    if (!HF__LOAD(call, &options, opts, hf_cas_options, HF_CAS_ONCE))
        return;
    if (options.ttl_ms != 0)
        (void)HF__TRY(call,
                      hf__check_ttl(options.ttl_ms, "ttl_ms", call->form.err));
    call->note = options.flags;
    hf__add(call, hf_str(expected == NULL ? "0" : "1"));
    hf__add_value(call, expected == NULL ? hf_str("") : *expected);
    hf__add_value(call, value);
    hf__add_number(call, options.ttl_ms);
}

static void give_lane(hf_call *call)
{
    hf__cas_lane_give(&call->client->cas_lanes, call->owned);
}

/* The lane's words around those of the call, whose first is its key. */
hf_status hf__cas_add_record(hf_call *call, hf_error *err)
{
    const hf__operation *operation = call->operation;
    hf_client *client = call->client;
    size_t count = call->count;
    hf_bytes *words = call->words;
    hf__cas_lane *lane;

    if ((client->store->capabilities & HF__CAP_LOCAL) != 0 ||
        (call->note & HF_CAS_ONCE) != 0)
        return HF_OK;
    lane = hf__cas_lane_take(&client->cas_lanes);
    if (lane == NULL)
        return hf__fail(err, HF_NO_MEMORY, "a call");
    call->owned = lane;
    call->release = give_lane;
    memmove(words + 1, words, count * sizeof(*words));
    words[0] = hf__cas_lane_mark(lane, client->store, call->key.bytes);
    words[count + 1] = hf__cas_lane_number(lane);
    words[count + 2] = hf__number(lane->life, MARK_LIVES * client->request_ms);
    hf__request_script(&call->request, operation->once, words, count + 3, 2);
    call->request.narrow = &operation->without;
    return HF_OK;
}

hf_status hf__finish_cas(hf_call *call, hf_error *err)
{
    const hf_reply *reply = &call->request.reply;
    hf_buffer copy = HF_BUFFER_INIT;
    hf_status status;

    if (reply->kind == HF_REPLY_INTEGER && reply->integer == 1)
        return HF_OK;
    if (reply->kind == HF_REPLY_INTEGER && reply->integer == 0)
        return hf__fail(err, HF_NOT_FOUND, "there is no value to compare");
    if (reply->kind == HF_REPLY_INTEGER)
        return hf__fail(err, HF_INDETERMINATE,
                        "the mark of this call has that of a later one");
    if (call->out != NULL) {
        status = hf__buffer_set(&copy, reply, err);
        if (status != HF_OK)
            return status;
        *(hf_buffer *)call->out = copy;
    }
    return hf__fail(err, HF_CONFLICT, "the present value is another");
}
