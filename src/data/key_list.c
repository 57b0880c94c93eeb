/* SPDX-License-Identifier: Apache-2.0 */
/* key_list.c - hf_key_list(). */
#include "core/listing.h"
#include "core/own_key.h"
#include "holdfast/key.h"

typedef struct key_listing {
    hf__listing listing;
    bool all;
    hf_key_list_fn report;
    void *user;
} key_listing;

static int report_key(const hf__listing *listing, hf_bytes name,
                      const void *what)
{
    const key_listing *self = (const key_listing *)listing;

    (void)what;
    return self->report(self->user, name);
}

static hf_status look_at(void *user, const hf_bytes *names, size_t count,
                         hf_error *err)
{
    key_listing *self = user;
    hf_status status = HF_OK;

    for (size_t i = 0; i < count && status == HF_OK; i++) {
        if (self->all || !hf__is_own_key(names[i]))
            status = hf__listing_found(&self->listing, names[i], NULL, err);
    }
    return status;
}

static const hf__listing_kind keys = {
    .look = look_at,
    .most = SIZE_MAX,
    .report = report_key,
    .on_a_quorum = "not supported on a quorum: list the keys of each server",
};

static hf_status run_list(hf__form form, hf_client *client, hf_bytes pattern,
                          uint32_t flags, hf_key_list_fn report, void *user)
{
    hf_call here, *call = hf__begin(&here, form, &hf__op_listing, client);
    key_listing *self =
        hf__listing_new(call, &keys, sizeof(*self), pattern, report != NULL);

    (void)HF__TRY(call, hf__check_flags(flags, HF_KEY_LIST_ALL, 0,
                                        "hf_key_list", call->form.err));
    if (self != NULL) {
        self->all = (flags & HF_KEY_LIST_ALL) != 0;
        self->report = report;
        self->user = user;
    }
    return hf__end_listing(call);
}

HF__FORMS(hf_key_list, run_list(form, client, pattern, flags, report, user),
          hf_client *client, hf_bytes pattern, uint32_t flags,
          hf_key_list_fn report, void *user);
