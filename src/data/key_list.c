/* SPDX-License-Identifier: Apache-2.0 */
/* key_list.c - hf_key_list(): walks all keys of the store (key_walk.h). */
#include "core/check.h"
#include "core/client.h"
#include "core/key_walk.h"
#include "core/own_key.h"
#include "holdfast/key.h"
#include "util/error.h"

typedef struct key_listing {
    hf_client *client;
    bool all;
    hf_key_list_fn report;
    void *user;
} key_listing;

/* Not 0: the callback ends the list. */
static int report_key(const key_listing *self, hf_bytes name)
{
    size_t prefix_size = self->client->prefix_size;

    if (name.size < prefix_size || (!self->all && hf__is_own_key(name)))
        return 0;
    return self->report(self->user,
                        hf_view((const char *)name.data + prefix_size,
                                name.size - prefix_size));
}

static hf_status look_at(void *user, const hf_bytes *names, size_t count,
                         hf_error *err)
{
    const key_listing *self = user;

    for (size_t i = 0; i < count; i++) {
        if (report_key(self, names[i]) != 0)
            return hf__fail(err, HF_CANCELLED, "ended by the callback");
    }
    return HF_OK;
}

static hf_status check_list(const hf_client *client, hf_key_list_fn told,
                            hf_bytes pattern, uint32_t flags, hf_error *err)
{
    hf_status status = hf__key_walk_check(pattern, told != NULL, err);

    if (status == HF_OK)
        status = hf__check_flags(flags, HF_KEY_LIST_ALL, 0, "hf_key_list", err);
    if (status == HF_OK && (client->store->capabilities & HF__CAP_UNDOES) != 0)
        status = hf__fail(err, HF_UNSUPPORTED,
                          "not supported on a quorum: list the keys of each "
                          "server");
    return status;
}

hf_status hf_key_list(hf_client *client, hf_bytes pattern, uint32_t flags,
                      hf_key_list_fn told, void *user, hf_error *err)
{
    key_listing self = {client, (flags & HF_KEY_LIST_ALL) != 0, told, user};
    hf__key_list names = {
        .client = client, .most = SIZE_MAX, .look = look_at, .user = &self};
    hf__visit visit;
    hf_status status = hf__client_visit(client, &visit, err);

    if (status != HF_OK)
        return status;
    status = check_list(client, told, pattern, flags, err);
    if (status == HF_OK)
        status = hf__key_list_run(&names, pattern, err);
    hf__client_visit_end(client, &visit);
    return status;
}
