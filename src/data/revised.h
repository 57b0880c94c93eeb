/* SPDX-License-Identifier: Apache-2.0 */
/* revised.h - the keys of values that have a revision. */
#ifndef HF__DATA_REVISED_H
#define HF__DATA_REVISED_H

#include "core/call.h"

/* The key of the last token of the slot of a key that has the prefix. */
void hf__add_last_token(hf_call *call, hf_bytes near);

/* The keys of what has changed in that slot: names by revision, names by when
 * they expire, who waits. */
void hf__add_changes(hf_call *call, hf_bytes near);

#endif
