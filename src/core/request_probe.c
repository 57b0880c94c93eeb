/* SPDX-License-Identifier: Apache-2.0 */
/* request_probe.c - see request_probe.h. */
#include "core/request_probe.h"

#include "util/clock.h"

/* Of the script, or of the command. */
static hf_bytes name_of(const hf__request *request)
{
    if (request->script != NULL)
        return hf_str(request->script->name);
    return request->word_count > 0 ? request->words[0] : hf_view(NULL, 0);
}

int64_t hf__request_probe_sent(const hf__request *request)
{
    hf_bytes name = name_of(request);

    HF__PROBE(3, request__begin, request, name.data, name.size);
    return hf__clock_boot_us();
}

void hf__request_probe_answered(const hf__request *request, int64_t sent_us)
{
    hf_bytes name = name_of(request);
    int64_t took_us = sent_us == 0 ? -1 : hf__clock_boot_us() - sent_us;

    HF__PROBE(5, request__end, request, name.data, name.size,
              (int)request->status, took_us);
}
