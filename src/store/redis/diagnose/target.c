/* SPDX-License-Identifier: Apache-2.0 */
/* target.c - asking one server, and no other. */
#include "store/redis/diagnose/diagnose_server.h"
#include "util/clock.h"

/* Requests about a part are not sent on to another server. */
#define THIS_SERVER 1

void hf__target_run(void *target, hf__request *request)
{
    hf__server *server = target;

    request->part = THIS_SERVER;
    if (!hf__store_context_refuse(server->node.context, request))
        hf__server_perform(server, request);
}

bool hf__target_ask(hf__target *target, const char *const *words, size_t count,
                    hf__request *request)
{
    hf_bytes views[12];

    for (size_t i = 0; i < count; i++)
        views[i] = hf_str(words[i]);
    hf__request_command(request, views, count, true);
    request->began_ms = hf__clock_boot_ms();
    request->deadline_ms =
        hf__diagnosis_until(&target->diagnosis, request->began_ms);
    hf__target_run(target->server, request);
    request->words = NULL;
    return request->status == HF_OK && request->reply.kind != HF_REPLY_ERROR;
}
