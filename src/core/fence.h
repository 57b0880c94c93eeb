/* SPDX-License-Identifier: Apache-2.0 */
/* fence.h - what writes with a fencing token share. */
#ifndef HF__CORE_FENCE_H
#define HF__CORE_FENCE_H

#include "core/call.h"

/* Is it one? */
hf_status hf__check_token(uint64_t token, hf_error *err);

/* Three words: the key, that of its fence, the token, which is checked. */
void hf__add_fenced(hf_call *call, hf_bytes key, uint64_t token);

/* Their scripts answer with 0, or the highest token: HF_CONFLICT, with the
 * token at `out` (NULL allowed). */
hf_status hf__finish_fenced(hf_call *call, hf_error *err);
bool hf__wrote_fenced(const hf__request *request);

#endif
