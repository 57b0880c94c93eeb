/* SPDX-License-Identifier: Apache-2.0 */
/* cas.h - what compare-and-set and compare-and-delete share. */
#ifndef HF__CORE_CAS_H
#define HF__CORE_CAS_H

#include "core/call.h"

/* The last four words of the cas scripts: is a value expected, which, the new
 * one, the time to live. The call's note is the options' flags. */
void hf__add_cas(hf_call *call, const hf_bytes *expected, hf_bytes value,
                 const hf_cas_options *opts);

/* Words that a dedup record adds: its key first, two at the end. */
#define HF__RECORD_WORDS 3

/* A filled request becomes that of the operation's `once`, where answers can be
 * lost and unless the call's note has HF_CAS_ONCE. */
hf_status hf__cas_add_record(hf_call *call, hf_error *err);

/* Finishes a call of a cas script, whose reply is 1 (done), 0 (no such key), or
 * the current value: HF_CONFLICT, with the value in the buffer at `out` (NULL
 * allowed). */
hf_status hf__finish_cas(hf_call *call, hf_error *err);

#endif
