/* SPDX-License-Identifier: Apache-2.0 */
/*
 * records.h - the key records that a transaction has in memory: writing and
 * dropping them.
 */
#ifndef HF__ENGINE_RECORDS_H
#define HF__ENGINE_RECORDS_H

#include "engine/keys/keyspace.h"
#include "util/private_api.h"

/* Write the records to LMDB without committing; false: fatal. */
HF__PRIVATE_API bool hf__tx_flush(hf__tx *tx);
/* Move the records, which were written, to the cache. */
void hf__records_put_away(hf__tx *tx);
/* The same, at the end of a transaction. A few small ones stay, if no other
 * process writes before the next: then they need no search in the cache, and
 * are not copied. */
void hf__records_leave(hf__tx *tx);
/* A transaction begins, whose time is set; those that stayed are LMDB's state
 * if the cache is `current`. */
void hf__records_return(hf__tx *tx, bool current);
/* Drop a reader's records. */
void hf__records_drop(hf__tx *tx);
/* Drop all records and the cache: they no longer match LMDB. */
void hf__tx_drop_records(hf__tx *tx);
/*
 * Write and drop the records if there are many. Called between commands, and
 * between the keys of a variadic command: no record may be in use.
 */
HF__PRIVATE_API void hf__tx_trim_now(hf__tx *tx);
static inline void hf__tx_trim(hf__tx *tx)
{
    if (tx->gathered_size > 0 || hf__tx_is_placed(tx) ||
        tx->record_count >= HF__RECORD_MAX - HF__RECORD_HEADROOM ||
        tx->dirty_size >= HF__DIRTY_MAX)
        hf__tx_trim_now(tx);
}

#endif
