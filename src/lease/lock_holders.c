/* SPDX-License-Identifier: Apache-2.0 */
/* lock_holders.c - hf_lock_holders(). */
#include "core/form.h"
#include "holdfast/semaphore.h"
#include "lease/handle.h"
#include "script/script_words.h"
#include "util/error.h"

typedef struct holder_listing {
    hf_lock_holder_fn report;
    void *user;
} holder_listing;

hf_lock_info hf__holder_read(const hf_reply *items)
{
    hf_lock_info info = HF_LOCK_INFO_INIT;
    size_t size = items[0].bytes.size;

    info.held_ms = -1;
    info.owner_size = size;
    memcpy(info.owner, items[0].bytes.data,
           size < HF_LOCK_INFO_OWNER_MAX ? size : HF_LOCK_INFO_OWNER_MAX);
    info.remaining_ms = items[1].integer;
    info.holders = items[2].integer;
    info.token = hf__token_read(&items[3]);
    return info;
}

static hf_status finish_holders(hf_call *call, hf_error *err)
{
    const hf_reply *reply = &call->request.reply;
    const holder_listing *to = call->out;

    for (size_t i = 0; i < reply->array.count; i += 4) {
        hf_lock_info info = hf__holder_read(&reply->array.items[i]);

        if (to->report(to->user, &info) != 0)
            return hf__fail(err, HF_CANCELLED, "ended by the callback");
    }
    return HF_OK;
}

static const hf__operation holders = {
    .script = HF__SCRIPT(LOCK_HOLDERS),
    .finish = finish_holders,
};

static hf_status run_holders(hf__form form, hf_client *client, hf_bytes name,
                             hf_lock_holder_fn report, void *user)
{
    hf_call here, *call = hf__begin(&here, form, &holders, client);
    holder_listing *to;

    if (report == NULL)
        (void)HF__TRY(call,
                      hf__fail(call->form.err, HF_INVALID, "report is NULL"));
    hf__add_key(call, name);
    hf__add_number(call, HF_SEMAPHORE_PERMITS_MAX);
    hf__add(call, hf__layout_flag(client));
    to = hf__call_alloc(call, sizeof(*to));
    if (to != NULL)
        *to = (holder_listing){report, user};
    hf__set_out(call, to, NULL);
    return hf__end(call);
}

HF__FORMS(hf_lock_holders, run_holders(form, client, name, report, user),
          hf_client *client, hf_bytes name, hf_lock_holder_fn report,
          void *user);
