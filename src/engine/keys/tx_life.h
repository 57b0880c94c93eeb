/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tx_life.h - beginning and ending a transaction's context.
 */
#ifndef HF__ENGINE_TX_LIFE_H
#define HF__ENGINE_TX_LIFE_H

#include "engine/commit/tx.h"

hf__tx *hf__tx_new(hf__env *env, bool writable); /* NULL: no memory */
void hf__tx_free(hf__tx *tx);

/* Begin; the LMDB transaction `tx->txn` is open. `boot_ms` is now. */
void hf__tx_start(hf__tx *tx, int64_t boot_ms);
/* Between two requests that share the transaction, after hf__tx_flush(): the
 * next has its own time and sees what the previous one wrote. */
void hf__tx_next(hf__tx *tx, int64_t boot_ms);
/*
 * Write the records and commit, or abort if `fatal` is set or nothing changed.
 * Ends the LMDB transaction. Returns `fatal`.
 */
hf_status hf__tx_finish(hf__tx *tx);

#endif
