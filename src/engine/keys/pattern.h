/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pattern.h - the patterns of SORT's BY and GET, which name a value for each
 * member: that of the key made by replacing the first '*' with the member or,
 * if "->field" follows, of that field of a hash.
 */
#ifndef HF__ENGINE_PATTERN_H
#define HF__ENGINE_PATTERN_H

#include "engine/commit/tx.h"

/* Is it the same for all members? */
bool hf__pattern_is_constant(hf_bytes pattern);

/*
 * The value; of a string its first `most` bytes. false: no such value, or
 * fatal. "#" names the member itself. The view is valid until the next write or
 * hf__tx_trim(), which the caller calls.
 */
bool hf__pattern_value(hf__tx *tx, hf_bytes pattern, hf_bytes member,
                       size_t most, hf_bytes *value);

#endif
