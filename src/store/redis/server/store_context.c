/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_context.c - what is common to all topologies. Owns no server: `leaving`
 * counts those that are being removed.
 */
#include "store/redis/server/store_context.h"

#include <string.h>

#include "store/redis/wire/resp.h"
#include "util/clock.h"
#include "util/fork.h"
#include "util/futex.h"
#include "util/rand.h"

void hf__store_context_init(hf__store_context *context,
                            const hf__store_config *config,
                            struct hf__router *router)
{
    char drawn[HF__STORE_ID_SIZE];
    const char *id = config->client_id;

    memset(context, 0, sizeof(*context));
    if (id == NULL) {
        hf__rand_hex(drawn, sizeof(drawn) / 2);
        id = drawn;
    }
    hf__store_channel(context->channel, config->prefix, id);
    context->loop = config->loop;
    context->connect_ms = config->connect_ms;
    context->fork_generation = hf__fork_generation();
    context->router = router;
    context->on_message = config->on_message;
    context->on_message_user = config->on_message_user;
    context->log = config->log;
    hf__wait_group_init(&context->wait_groups);
}

bool hf__store_context_is_forked(const hf__store_context *context)
{
    return context->fork_generation != hf__fork_generation();
}

bool hf__store_context_refuse(const hf__store_context *context,
                              hf__request *request)
{
    request->sends = 0;
    if (hf__store_context_is_forked(context))
        hf__request_fail(request, HF_INVALID,
                         "the client was opened before fork()");
    else if (hf__resp_request_bound(request) == SIZE_MAX)
        hf__request_fail(request, HF_INVALID,
                         "the request is longer than %zu bytes",
                         HF__RESP_REQUEST_MAX);
    else if (request->deadline_ms <= hf__clock_boot_ms())
        hf__request_fail(request, HF_UNAVAILABLE, "no time left");
    else
        return false;
    return true;
}

void hf__store_context_change(hf__store_context *context)
{
    __atomic_add_fetch(&context->changes, 1, __ATOMIC_RELEASE);
    hf__futex_wake_all(&context->changes, false);
}

void hf__store_context_drain(hf__store_context *context)
{
    uint32_t leaving;

    while ((leaving = __atomic_load_n(&context->leaving, __ATOMIC_ACQUIRE)) !=
           0)
        hf__futex_wait(&context->leaving, leaving, INT64_MAX, false);
}
