/* SPDX-License-Identifier: Apache-2.0 */
/* listing.c - see listing.h. */
#include "core/listing.h"

#include "core/client.h"
#include "util/error.h"
#include "util/mem.h"

/* Before each name that was found. */
typedef struct found_head {
    size_t name_size;
} found_head;

static void release_listing(hf_call *call)
{
    hf__listing *self = call->owned;

    hf__buf_done(&self->found);
    hf__free(self);
}

static hf_status report_one(const hf__listing *self, hf_bytes name,
                            const void *what, hf_error *err)
{
    if (self->kind->report(self, name, what) == 0)
        return HF_OK;
    return hf__fail(err, HF_CANCELLED, "ended by the callback");
}

static hf_status keep_one(hf__listing *self, hf_bytes name, const void *what,
                          hf_error *err)
{
    size_t size = self->kind->size;
    found_head head = {name.size};
    unsigned char *at =
        hf__buf_reserve(&self->found, size + sizeof(head) + name.size);

    if (at == NULL)
        return hf__fail(err, HF_NO_MEMORY, "a list");
    memcpy(at, &head, sizeof(head));
    at += sizeof(head);
    if (size > 0)
        memcpy(at, what, size);
    if (name.size > 0)
        memcpy(at + size, name.data, name.size);
    hf__buf_added(&self->found, sizeof(head) + size + name.size);
    return HF_OK;
}

hf_status hf__listing_found(hf__listing *self, hf_bytes key, const void *what,
                            hf_error *err)
{
    size_t prefix_size = self->call->client->prefix_size;
    hf_bytes name;

    if (key.size < prefix_size)
        return HF_OK;
    name =
        hf_view((const char *)key.data + prefix_size, key.size - prefix_size);
    return hf__is_aside(self->call) ? keep_one(self, name, what, err)
                                    : report_one(self, name, what, err);
}

/* In hf_client_dispatch(). */
static hf_status report_found(hf_call *call, hf_error *err)
{
    hf__listing *self = call->owned;
    const unsigned char *at = hf__buf_front(&self->found);
    const unsigned char *end = at + hf__buf_size(&self->found);
    hf_status status = HF_OK;

    while (at < end && status == HF_OK) {
        const unsigned char *name = at + sizeof(found_head) + self->kind->size;
        found_head head;

        memcpy(&head, at, sizeof(head));
        status = report_one(self, hf_view(name, head.name_size),
                            at + sizeof(head), err);
        at = name + head.name_size;
    }
    return status;
}

const hf__operation hf__op_listing = {.finish = report_found, .alone = true};

static hf_status check_pattern(const hf_call *call,
                               const hf__listing_kind *kind, hf_bytes pattern,
                               bool reports)
{
    hf_error *err = call->form.err;
    hf_status status = hf__key_walk_check(pattern, reports, err);

    if (status == HF_OK &&
        (call->client->store->capabilities & HF__CAP_UNDOES) != 0)
        status = hf__fail(err, HF_UNSUPPORTED, "%s", kind->on_a_quorum);
    return status;
}

void *hf__listing_new(hf_call *call, const hf__listing_kind *kind, size_t size,
                      hf_bytes pattern, bool reports)
{
    hf__listing *self;
    char *copy;

    if (!HF__TRY(call, check_pattern(call, kind, pattern, reports)))
        return NULL;
    copy = hf__call_alloc(call, pattern.size);
    self = copy != NULL ? hf__calloc(1, size) : NULL;
    if (self == NULL) {
        (void)HF__TRY(call, hf__fail(call->form.err, HF_NO_MEMORY, "a list"));
        return NULL;
    }
    if (pattern.size > 0)
        memcpy(copy, pattern.data, pattern.size);
    self->kind = kind;
    self->call = call;
    self->pattern = hf_view(copy, pattern.size);
    self->names = (hf__key_list){.client = call->client,
                                 .call = call,
                                 .most = kind->most,
                                 .look = kind->look,
                                 .user = self};
    hf__buf_init(&self->found, SIZE_MAX);
    call->owned = self;
    call->release = release_listing;
    return self;
}

static hf_status list_names(hf_call *call, hf_error *err)
{
    hf__listing *self = call->owned;

    return hf__key_list_run(&self->names, self->pattern, err);
}

hf_status hf__end_listing(hf_call *call)
{
    return hf__end_aside(call, list_names);
}
