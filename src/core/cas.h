/* SPDX-License-Identifier: Apache-2.0 */
/* cas.h - what compare-and-set of values and of hash fields have in common. */
#ifndef HF__CORE_CAS_H
#define HF__CORE_CAS_H

#include "store/reply.h"

/* Load the options and check all that can be checked before sending. */
hf_status hf__cas_check(hf_cas_options *options, const hf_cas_options *from,
                        const hf_bytes *expected, hf_bytes value,
                        hf_error *err);

/* The last four words of the cas scripts: is a value expected, which, the new
 * one, the time to live. */
void hf__cas_words(hf_bytes words[4], const hf_bytes *expected, hf_bytes value,
                   hf_bytes ttl);

/* Reply of the cas scripts: 1 done, 0 nothing there, else the present value,
 * which goes to `*current` (NULL allowed) with HF_CONFLICT. */
hf_status hf__cas_outcome(const hf_reply *reply, hf_buffer *current,
                          hf_error *err);

#endif
