/* SPDX-License-Identifier: Apache-2.0 */
/* client.c - who may use a client, and for how long there is one. */
#include "core/client.h"

#include "util/error.h"
#include "util/fork.h"

bool hf__client_forked(const hf_client *client)
{
    return client->fork_generation != hf__fork_generation();
}

hf_status hf__client_check(const hf_client *client, hf_error *err)
{
    if (client == NULL)
        return hf__fail(err, HF_INVALID, "client is NULL");
    if (hf__client_forked(client))
        return hf__fail(err, HF_INVALID,
                        "the client was opened before fork(); open one in "
                        "the child");
    if (atomic_load_explicit(&client->life.over, memory_order_acquire))
        return hf__fail(err, HF_INVALID, "the client is closed");
    return HF_OK;
}

hf_status hf__client_may_block(const hf_client *client, hf_error *err)
{
    hf_status status = hf__client_check(client, err);

    if (status == HF_OK && hf__loop_here(client->loop))
        return hf__fail(err, HF_INVALID,
                        "called on the library's own thread, from on_lost; "
                        "start it (hf_..._start()) or call it on another");
    return status;
}

hf_status hf__client_enter(hf_client *client, hf_error *err)
{
    hf_status status = hf__client_check(client, err);

    if (status == HF_OK && !hf__life_enter(&client->life))
        return hf__fail(err, HF_INVALID, "the client is closed");
    return status;
}

hf_status hf__client_enter_blocking(hf_client *client, hf_error *err)
{
    hf_status status = hf__client_may_block(client, err);

    if (status == HF_OK && !hf__life_enter(&client->life))
        return hf__fail(err, HF_INVALID, "the client is closed");
    return status;
}

hf_status hf__client_visit(hf_client *client, hf__visit *visit, hf_error *err)
{
    hf_status status = hf__client_enter_blocking(client, err);

    if (status == HF_OK)
        hf__visit_begin(visit, &client->life);
    return status;
}

void hf__client_visit_end(hf_client *client, const hf__visit *visit)
{
    hf__visit_end(visit);
    hf__life_leave(&client->life);
}

void hf__client_ref(hf_client *client)
{
    atomic_fetch_add_explicit(&client->life.references, 1,
                              memory_order_relaxed);
}

void hf__client_unref(hf_client *client)
{
    if (atomic_fetch_sub(&client->life.references, 1) == 1)
        client->free(client);
}
