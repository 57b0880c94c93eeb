/* SPDX-License-Identifier: Apache-2.0 */
/* holder.c - hf_lock_holder(): reads the registration of the owner's client. */
#include <stdlib.h>
#include <string.h>

#include "core/client.h"
#include "core/form.h"
#include "holdfast/lock.h"
#include "lease/owner.h"
#include "lease/registry.h"
#include "util/error.h"
#include "util/order.h"

/* The lines not read yet. */
typedef struct lines {
    const char *at;
    const char *end;
} lines;

/* The next line; "" if it does not fit. */
static void take_line(lines *left, char *text, size_t size)
{
    const char *stop =
        left->at == left->end
            ? NULL
            : memchr(left->at, '\n', (size_t)(left->end - left->at));
    size_t length = (size_t)((stop == NULL ? left->end : stop) - left->at);

    if (length > 0 && length < size)
        memcpy(text, left->at, length);
    else
        length = 0;
    text[length] = '\0';
    left->at = stop == NULL ? left->end : stop + 1;
}

static int64_t take_number(lines *left)
{
    char text[24];

    take_line(left, text, sizeof(text));
    return strtoll(text, NULL, 10);
}

static hf_status finish_holder(hf_call *call, hf_error *err)
{
    const hf_reply *items = call->request.reply.array.items;
    hf_holder *holder = call->out;
    lines left;
    int64_t opened_ms;

    if (items[0].kind != HF_REPLY_STRING)
        return hf__fail(err, HF_NOT_FOUND, "the holder is not registered");
    left.at = items[0].bytes.data;
    left.end = left.at + items[0].bytes.size;
    opened_ms = hf__at_most(hf__at_least(take_number(&left), 0), INT64_MAX / 2);
    /* The owner id has the time from the client's opening to the acquire. */
    holder->asked_ms =
        hf__at_least(items[1].integer - opened_ms - call->note, 0);
    holder->pid = take_number(&left);
    take_line(&left, holder->user, sizeof(holder->user));
    take_line(&left, holder->host, sizeof(holder->host));
    take_line(&left, holder->program, sizeof(holder->program));
    take_line(&left, holder->description, sizeof(holder->description));
    return HF_OK;
}

static hf_status check_owner(const hf_client *client, hf_bytes owner,
                             const hf_holder *holder, hf_error *err)
{
    hf_status status;

    if (holder == NULL || owner.data == NULL)
        return hf__fail(err, HF_INVALID, "%s is NULL",
                        holder == NULL ? "holder" : "owner");
    status = hf__check_struct(holder->struct_size, sizeof(*holder), "hf_holder",
                              "HF_HOLDER_INIT", err);
    if (status != HF_OK)
        return status;
    if ((client->store->capabilities & HF__CAP_UNDOES) != 0)
        return hf__fail(
            err, HF_UNSUPPORTED,
            "not supported on a quorum: clients are not registered");
    if (!hf__owner_is_ours(owner))
        return hf__fail(err, HF_NOT_FOUND, "not an owner id of Holdfast");
    return HF_OK;
}

static hf_status find_key(hf_call *call, hf_bytes owner)
{
    char *key = hf__registry_key(call->client, owner.data);

    if (key == NULL)
        return hf__fail(call->form.err, HF_NO_MEMORY, "a call");
    call->owned = key;
    call->note = hf__owner_drawn_ms(owner);
    hf__add_whole_key(call, hf_str(key));
    return HF_OK;
}

static const hf__operation find = {
    .script = HF__SCRIPT(CLIENT_FIND),
    .finish = finish_holder,
};

static hf_status run_holder(hf__form form, hf_client *client, hf_bytes owner,
                            hf_holder *holder)
{
    hf_call here, *call = hf__begin(&here, form, &find, client);

    hf__set_out(call, holder, NULL);
    if (HF__TRY(call, check_owner(client, owner, holder, call->form.err)))
        (void)HF__TRY(call, find_key(call, owner));
    return hf__end(call);
}

HF__FORMS(hf_lock_holder, run_holder(form, client, owner, holder),
          hf_client *client, hf_bytes owner, hf_holder *holder);
