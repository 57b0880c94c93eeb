/* SPDX-License-Identifier: Apache-2.0 */
/*
 * records.h - the key records that a transaction has in memory: writing them
 * out and letting go of them.
 */
#ifndef HF__EMBEDDED_RECORDS_H
#define HF__EMBEDDED_RECORDS_H

#include "store/embedded/keys/keyspace.h"

/* Write the records out without committing; false: fatal. */
bool hf__tx_flush(hf__tx *tx);
/* They were written out: keep what may be wanted again, and let go. */
void hf__records_put_away(hf__tx *tx);
/* Let go of a reader's records. */
void hf__records_drop(hf__tx *tx);
/* Forget all records in memory: LMDB's may be others from here on. */
void hf__tx_forget(hf__tx *tx);
/*
 * Write out and forget if there are many. Between commands, and between the
 * keys of a command that takes any number: no record may be in use.
 */
void hf__tx_trim(hf__tx *tx);

#endif
