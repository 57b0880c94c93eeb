/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock_list.c - hf_lock_list(): reports the owner ids of ours in keys that
 * expire.
 */
#include "core/batch.h"
#include "core/client.h"
#include "core/listing.h"
#include "holdfast/lock.h"
#include "lease/handle.h"
#include "lease/owner.h"
#include "util/error.h"

typedef struct lock_listing {
    hf__listing listing;
    hf_lock_list_fn report;
    void *user;
    hf__request requests[HF__BATCH_MAX];
    hf__request *list[HF__BATCH_MAX];
    hf_bytes words[HF__BATCH_MAX];
} lock_listing;

static int report_holder(const hf__listing *listing, hf_bytes name,
                         const void *what)
{
    const lock_listing *self = (const lock_listing *)listing;
    hf_lock_info info;

    memcpy(&info, what, sizeof(info));
    return self->report(self->user, name, &info);
}

static hf_status find_holders(lock_listing *self, hf_bytes key,
                              const hf_reply *reply, hf_error *err)
{
    hf_status status = HF_OK;

    for (size_t i = 0; i < reply->array.count && status == HF_OK; i += 4) {
        hf_lock_info info = hf__holder_read(&reply->array.items[i]);

        if (hf__owner_is_ours(hf_view(info.owner, info.owner_size)) &&
            info.remaining_ms >= 0)
            status = hf__listing_found(&self->listing, key, &info, err);
    }
    return status;
}

static hf_status look_at(void *user, const hf_bytes *names, size_t count,
                         hf_error *err)
{
    lock_listing *self = user;
    hf_status status = HF_OK;

    for (size_t i = 0; i < count; i++) {
        self->words[i] = names[i];
        hf__request_script(&self->requests[i],
                           &hf__scripts[HF__SCRIPT_LOCK_LIST], &self->words[i],
                           1, 1);
        self->list[i] = &self->requests[i];
    }
    hf__run_all(self->listing.call->client, self->list, count, 0);
    for (size_t i = 0; i < count; i++) {
        hf__request *request = &self->requests[i];

        if (status == HF_OK)
            status = request->status == HF_OK
                         ? find_holders(self, names[i], &request->reply, err)
                         : hf__fail_copy(err, &request->error);
        hf__request_done(request);
    }
    return status;
}

static const hf__listing_kind locks = {
    .look = look_at,
    .most = HF__BATCH_MAX,
    .report = report_holder,
    .size = sizeof(hf_lock_info),
    .on_a_quorum = "not supported on a quorum: list the locks of each server",
};

static hf_status run_list(hf__form form, hf_client *client, hf_bytes pattern,
                          hf_lock_list_fn report, void *user)
{
    hf_call here, *call = hf__begin(&here, form, &hf__op_listing, client);
    lock_listing *self =
        hf__listing_new(call, &locks, sizeof(*self), pattern, report != NULL);

    if (self != NULL) {
        self->report = report;
        self->user = user;
    }
    return hf__end_listing(call);
}

HF__FORMS(hf_lock_list, run_list(form, client, pattern, report, user),
          hf_client *client, hf_bytes pattern, hf_lock_list_fn report,
          void *user);
