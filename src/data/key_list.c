/* SPDX-License-Identifier: Apache-2.0 */
/* key_list.c - hf_key_list(): walks all keys of the store (key_walk.h). */
#include "core/batch.h"
#include "core/client.h"
#include "core/key_walk.h"
#include "core/own_key.h"
#include "util/error.h"

typedef struct listing {
    hf_client *client;
    hf_key_list_fn report;
    void *user;
    hf__key_walk walk;
} listing;

/* Not 0: the callback ends the list. */
static int report(const listing *self, hf_bytes name)
{
    size_t prefix_size = self->client->prefix_size;

    if (name.size < prefix_size || hf__is_own_key(name))
        return 0;
    return self->report(self->user,
                        hf_view((const char *)name.data + prefix_size,
                                name.size - prefix_size));
}

static hf_status walk_once(void *user, hf_error *err)
{
    listing *self = user;
    hf__key_walk *walk = &self->walk;
    hf_status status = hf__key_walk_start(walk, self->client, err);

    while (status == HF_OK && !walk->over) {
        hf__run_one(self->client, hf__key_walk_request(walk), 0);
        status = hf__key_walk_turn(walk, err);
        for (size_t at = 0; at < walk->count && status == HF_OK; at++) {
            if (report(self, walk->names[at]) != 0)
                status = hf__fail(err, HF_CANCELLED, "ended by the callback");
        }
    }
    return status;
}

static hf_status check(const hf_client *client, hf_key_list_fn told,
                       hf_bytes pattern, hf_error *err)
{
    hf_status status = hf__key_walk_check(pattern, told != NULL, err);

    if (status == HF_OK && (client->store->capabilities & HF__CAP_UNDOES) != 0)
        status = hf__fail(err, HF_UNSUPPORTED,
                          "not supported on a quorum: list the keys of each "
                          "server");
    return status;
}

static hf_status list(listing *self, hf_bytes pattern, hf_error *err)
{
    hf__buf whole;
    hf_status status = hf__key_walk_pattern(self->client, pattern, &whole, err);

    hf__key_walk_begin(&self->walk,
                       hf_view(hf__buf_front(&whole), hf__buf_size(&whole)));
    if (status == HF_OK)
        status = hf__key_walk_until_whole(
            &self->walk, self->client, walk_once, self,
            "slots moved between servers during the list; try again later",
            err);
    hf__key_walk_done(&self->walk);
    hf__buf_done(&whole);
    return status;
}

hf_status hf_key_list(hf_client *client, hf_bytes pattern, hf_key_list_fn told,
                      void *user, hf_error *err)
{
    hf__visit visit;
    listing self;
    hf_status status = hf__client_visit(client, &visit, err);

    if (status != HF_OK)
        return status;
    self.client = client;
    self.report = told;
    self.user = user;
    status = check(client, told, pattern, err);
    if (status == HF_OK)
        status = list(&self, pattern, err);
    hf__client_visit_end(client, &visit);
    return status;
}
