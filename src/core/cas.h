/* SPDX-License-Identifier: Apache-2.0 */
/* cas.h - what compare-and-set and compare-and-delete have in common. */
#ifndef HF__CORE_CAS_H
#define HF__CORE_CAS_H

#include "core/call.h"
#include "holdfast.h"

/* Load the options and check all that can be checked before sending. */
hf_status hf__cas_check(hf_cas_options *options, const hf_cas_options *from,
                        const hf_bytes *expected, hf_bytes value,
                        hf_error *err);

/* The last four words of the cas scripts: is a value expected, which, the new
 * one, the time to live. */
void hf__cas_words(hf_bytes words[4], const hf_bytes *expected, hf_bytes value,
                   hf_bytes ttl);

/*
 * The call's request: the script `index` or, where answers can be lost and
 * unless `flags` have HF_CAS_ONCE, the script `once` behind it, which leaves a
 * mark. words[1] to words[count-1] are set, as for the first.
 */
hf_status hf__cas_request(hf_call *call, uint32_t flags, uint32_t index,
                          uint32_t once, size_t count, hf_error *err);

/* Finishes a call of a cas script, whose reply is 1 done, 0 nothing there, else
 * the present value, which goes to the buffer at `out` (NULL allowed) with
 * HF_CONFLICT. */
hf_status hf__finish_cas(hf_call *call, hf_error *err);

#endif
