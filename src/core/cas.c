/* SPDX-License-Identifier: Apache-2.0 */
/* cas.c - arguments and outcome of compare-and-set. */
#include "core/cas.h"

#include <string.h>

#include "core/client.h"
#include "util/error.h"

/* Life of a dedup record, in request_ms: no request is sent again after one of
 * them, and the last sending may take another to arrive. */
#define RECORD_LIVES 2

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

static void release_session(hf_call *call)
{
    hf__cas_session_release(&call->client->cas_sessions, call->owned);
}

/* The session's words go around those of the call, whose first is its key. */
hf_status hf__cas_add_record(hf_call *call, hf_error *err)
{
    const hf__operation *operation = call->operation;
    hf_client *client = call->client;
    size_t count = call->count;
    hf_bytes *words = call->words;
    hf__cas_session *session;

    if ((client->store->capabilities & HF__CAP_LOCAL) != 0 ||
        (call->note & HF_CAS_ONCE) != 0)
        return HF_OK;
    session = hf__cas_session_take(&client->cas_sessions);
    if (session == NULL)
        return hf__fail(err, HF_NO_MEMORY, "a call");
    call->owned = session;
    call->release = release_session;
    memmove(words + 1, words, count * sizeof(*words));
    words[0] = hf__cas_session_key(session, client->store, call->key);
    words[count + 1] = hf__cas_session_number(session);
    words[count + 2] =
        hf__number(session->ttl, RECORD_LIVES * client->request_ms);
    hf__request_script(&call->request, operation->once, words, count + 3,
                       call->key_count + 1);
    call->request.narrow = &operation->without;
    return HF_OK;
}

hf_status hf__finish_cas(hf_call *call, hf_error *err)
{
    const hf_reply *reply = &call->request.reply;
    hf_status status = HF_OK;

    if (reply->kind == HF_REPLY_INTEGER && reply->integer == 1)
        return HF_OK;
    if (reply->kind == HF_REPLY_INTEGER && reply->integer == 0)
        return hf__fail(err, HF_NOT_FOUND, "no such key");
    if (reply->kind == HF_REPLY_INTEGER)
        return hf__fail(err, HF_INDETERMINATE,
                        "a later call of this client overtook this one; "
                        "outcome unknown");
    if (call->out != NULL)
        status = hf__buffer_take(call->out, reply, &call->request.arena, err);
    if (status != HF_OK)
        return status;
    return hf__fail(err, HF_CONFLICT,
                    "current value differs from the expected one");
}
