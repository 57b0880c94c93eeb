/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock_list.c - hf_lock_list(): walks all keys (key_walk.h) and reports the
 * owner ids of ours in them that expire.
 */
#include "core/batch.h"
#include "core/client.h"
#include "core/key_walk.h"
#include "holdfast/lock.h"
#include "lease/handle.h"
#include "lease/owner.h"
#include "util/error.h"
#include "util/mem.h"

typedef struct lock_listing {
    hf_client *client;
    hf_lock_list_fn tell;
    void *user;
    hf__key_list names;
    hf__request requests[HF__BATCH_MAX];
    hf__request *list[HF__BATCH_MAX];
    hf_bytes words[HF__BATCH_MAX];
} lock_listing;

/* Not 0: the callback ends the list. */
static int tell_lock(const lock_listing *self, hf_bytes key,
                     const hf_reply *reply)
{
    size_t prefix_size = self->client->prefix_size;
    int ended = 0;

    if (key.size < prefix_size)
        return 0;
    for (size_t i = 0; i < reply->array.count && ended == 0; i += 4) {
        hf_lock_info info = hf__holder_read(&reply->array.items[i]);

        if (hf__owner_is_ours(hf_view(info.owner, info.owner_size)) &&
            info.remaining_ms >= 0)
            ended = self->tell(self->user,
                               hf_view((const char *)key.data + prefix_size,
                                       key.size - prefix_size),
                               &info);
    }
    return ended;
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
    hf__run_all(self->client, self->list, count, 0);
    for (size_t i = 0; i < count; i++) {
        hf__request *request = &self->requests[i];

        if (status == HF_OK && request->status != HF_OK)
            status = hf__fail_copy(err, &request->error);
        else if (status == HF_OK &&
                 tell_lock(self, names[i], &request->reply) != 0)
            status = hf__fail(err, HF_CANCELLED, "ended by the callback");
        hf__request_done(request);
    }
    return status;
}

static hf_status check_list(const hf_client *client, hf_lock_list_fn tell_one,
                            hf_bytes pattern, hf_error *err)
{
    hf_status status = hf__key_walk_check(pattern, tell_one != NULL, err);

    if (status != HF_OK)
        return status;
    if ((client->store->capabilities & HF__CAP_UNDOES) != 0)
        return hf__fail(err, HF_UNSUPPORTED,
                        "not supported on a quorum: list the locks of each "
                        "server");
    return HF_OK;
}

static hf_status list_locks(hf_client *client, hf_bytes pattern,
                            hf_lock_list_fn tell_one, void *user, hf_error *err)
{
    hf_status status;
    lock_listing *self = hf__calloc(1, sizeof(*self));

    if (self == NULL)
        return hf__fail(err, HF_NO_MEMORY, "a list of locks");
    self->client = client;
    self->tell = tell_one;
    self->user = user;
    self->names = (hf__key_list){
        .client = client, .most = HF__BATCH_MAX, .look = look_at, .user = self};
    status = hf__key_list_run(&self->names, pattern, err);
    hf__free(self);
    return status;
}

hf_status hf_lock_list(hf_client *client, hf_bytes pattern,
                       hf_lock_list_fn tell_one, void *user, hf_error *err)
{
    hf__visit visit;
    hf_status status = hf__client_visit(client, &visit, err);

    if (status != HF_OK)
        return status;
    status = check_list(client, tell_one, pattern, err);
    if (status == HF_OK)
        status = list_locks(client, pattern, tell_one, user, err);
    hf__client_visit_end(client, &visit);
    return status;
}
