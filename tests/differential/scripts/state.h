/* SPDX-License-Identifier: Apache-2.0 */
/* state.h - what a script left in an open transaction, as text. */
#ifndef STATE_H
#define STATE_H

#include "engine/commit/tx.h"
#include "store/request.h"
#include "util/buf.h"

/* Append all keys, with their contents and deadlines, and what is noted for
 * those who watch or listen. */
void state_print(hf__buf *to, hf__tx *tx);
/* Only the keys. */
void keys_print(hf__buf *to, hf__tx *tx);
/* Run a command in the transaction. The caller ends the request. */
const hf_reply *state_ask(hf__tx *tx, hf__request *request, hf_bytes *words,
                          size_t count);
void reply_print(hf__buf *to, const hf_reply *reply);
void bytes_print(hf__buf *to, const void *data, size_t size);

#endif
