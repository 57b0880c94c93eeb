/* SPDX-License-Identifier: Apache-2.0 */
/* target.c - asking one server, and no other. */
#include "store/redis/diagnose/diagnose.h"
#include "util/clock.h"

/* Requests about a part are not sent on to another server. */
#define THIS_SERVER 1

void hf__patient_run(void *target, hf__request *request)
{
    hf__server *server = target;

    request->part = THIS_SERVER;
    if (!hf__fleet_refuse(server->node.fleet, request))
        hf__server_perform(server, request);
}

bool hf__patient_ask(hf__patient *patient, const char *const *words,
                     size_t count, hf__request *request)
{
    hf_bytes views[12];

    for (size_t i = 0; i < count; i++)
        views[i] = hf_str(words[i]);
    hf__request_init(request);
    hf__request_command(request, views, count, true);
    request->began_ms = hf__clock_boot_ms();
    request->deadline_ms =
        hf__examination_until(&patient->examination, request->began_ms);
    hf__patient_run(patient->server, request);
    request->words = NULL;
    return request->status == HF_OK && request->reply.kind != HF_REPLY_ERROR;
}
