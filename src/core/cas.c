/* SPDX-License-Identifier: Apache-2.0 */
/* cas.c - arguments and outcome of compare-and-set. */
#include "core/cas.h"

#include <string.h>

#include "core/client.h"
#include "util/error.h"
#include "util/options.h"

/* A mark's life, in request_ms: no request is sent again after one of them, and
 * what was sent last may be on its way for another. */
#define MARK_LIVES 2

hf_status hf__cas_check(hf_cas_options *options, const hf_cas_options *from,
                        const hf_bytes *expected, hf_bytes value, hf_error *err)
{
    hf_status status =
        hf__options_load(options, sizeof(*options), sizeof(*options), from,
                         "hf_cas_options", err);

    if (status == HF_OK && ((options->flags & ~(uint32_t)HF_CAS_ONCE) != 0 ||
                            options->reserved0 != 0))
        status =
            hf__fail(err, HF_UNSUPPORTED, "hf_cas_options: unknown flag 0x%x",
                     (unsigned)options->flags);
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

static void give_lane(hf_call *call)
{
    hf__cas_lane_give(&call->client->cas_lanes, call->owned);
}

/* The lane's words around those of the call, which stand behind words[0]. */
static hf_status add_mark(hf_call *call, uint32_t once, size_t count,
                          hf_error *err)
{
    hf_client *client = call->client;
    hf__cas_lane *lane = hf__cas_lane_take(&client->cas_lanes);
    hf_bytes *words = call->words;

    if (lane == NULL)
        return hf__fail(err, HF_NO_MEMORY, "a call");
    call->owned = lane;
    call->release = give_lane;
    memmove(words + 2, words + 1, (count - 1) * sizeof(*words));
    words[0] = hf__cas_lane_mark(lane, client->store, call->key.bytes);
    words[1] = call->key.bytes;
    words[count + 1] = hf__cas_lane_number(lane);
    words[count + 2] = hf__number(lane->life, MARK_LIVES * client->request_ms);
    hf__request_script(&call->request, &hf__scripts[once], words, count + 3, 2);
    return HF_OK;
}

/* The script that does without the three words of a mark. */
static const hf__narrow *without_mark(uint32_t index)
{
    static const hf__narrow scripts[] = {
        {&hf__scripts[HF__SCRIPT_VALUE_CAS], 3, false},
        {&hf__scripts[HF__SCRIPT_VALUE_DELETE_IF], 3, true},
        {&hf__scripts[HF__SCRIPT_HASH_CAS], 3, false},
    };
    size_t at = 0;

    while (scripts[at].script->index != index)
        at++;
    return &scripts[at];
}

hf_status hf__cas_request(hf_call *call, uint32_t flags, uint32_t index,
                          uint32_t once, size_t count, hf_error *err)
{
    bool local = (call->client->store->capabilities & HF__CAP_LOCAL) != 0;
    hf_status status;

    hf__call_script(call, index, count);
    hf__call_replicate(call, hf__wrote_number);
    if (local || (flags & HF_CAS_ONCE) != 0)
        return HF_OK;
    status = add_mark(call, once, count, err);
    if (status != HF_OK)
        return status;
    call->request.narrow = without_mark(index);
    hf__call_replicate(call, hf__wrote_number);
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
