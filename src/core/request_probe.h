/* SPDX-License-Identifier: Apache-2.0 */
/* request_probe.h - the probes around a request of a call (util/probe.h). */
#ifndef HF__CORE_REQUEST_PROBE_H
#define HF__CORE_REQUEST_PROBE_H

#include "store/request.h"
#include "util/probe.h"

int64_t hf__request_probe_sent(const hf__request *request);
void hf__request_probe_answered(const hf__request *request, int64_t sent_us);

/* Before it is given to the store. What end() needs; 0: no tracer looks. */
static inline int64_t hf__request_probe_begin(const hf__request *request)
{
    if (HF__PROBED(request__begin) || HF__PROBED(request__end))
        return hf__request_probe_sent(request);
    return 0;
}

/* It has completed. */
static inline void hf__request_probe_end(const hf__request *request,
                                         int64_t sent_us)
{
    if (HF__PROBED(request__end))
        hf__request_probe_answered(request, sent_us);
}

#endif
