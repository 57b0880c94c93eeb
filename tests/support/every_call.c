/* SPDX-License-Identifier: Apache-2.0 */
/* every_call.c - the table of every_call.h. */
#include "support/every_define.h"

#define STARTS .starts = true
#define BATCH .is_batch = true
#define NEWER .is_newer = true
#define HELD .needs_lock = true, .needs_held = true
#define CANDIDATE .needs_lock = true, .is_election = true
#define JOB HELD, .is_job = true
#define CLAIM .needs_lock = true, .is_claim = true
#define TRANSFER .keyless = true, .transfers = true

const every_call every_calls[] = {
#define EVERY(function, name, target, ...)                                     \
    {name, target, every_##function, __VA_ARGS__},
#include "support/every_rows.h"
#undef EVERY
};
const size_t every_call_count = sizeof(every_calls) / sizeof(every_calls[0]);
