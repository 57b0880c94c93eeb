/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gather.h - many started calls as one: what many.h uses for the
 * `_many_start` functions.
 *
 *     begin; while (next) ran(start a call as `async` of it says); end
 *
 * Each is a call of its own, which writes its results when it is delivered. The
 * caller's completes when the last of them was.
 */
#ifndef HF__CORE_GATHER_H
#define HF__CORE_GATHER_H

#include "core/call.h"

struct hf__gather;

/* While the calls are started. */
typedef struct hf__gathering {
    struct hf__gather *all;
    const hf_async *outer;
    hf_async async; /* of the one that is started ... */
    hf_call *call;
    hf_error detail;
} hf__gathering;

/* HF_OK: nothing is started yet, and it must be ended. `leases`: of calls that
 * renew or release (async.h). */
hf_status hf__gather_begin(hf__gathering *g, hf_client *client, bool leases,
                           size_t count, hf_status *statuses,
                           const hf_async *async, hf_error *err);

/* Before the start of call number `at`, and after it, with its status. */
void hf__gather_next(hf__gathering *g, size_t at);
void hf__gather_ran(hf__gathering *g, size_t at, hf_status status);

/* All were started: done() will be called. Or none was. */
void hf__gather_end(hf__gathering *g);
void hf__gather_discard(hf__gathering *g);

#endif
