/* SPDX-License-Identifier: Apache-2.0 */
/*
 * function_record.h - the record in which a store keeps its libraries of
 * functions: a generation (8), then what FUNCTION DUMP replies. That is for
 * each library the byte HF__RDB_FUNCTION and its text, then version and
 * checksum as of DUMP (rdb.h).
 *
 * A process compiles the libraries when it finds another generation than that
 * of what it has. Generations are drawn at random, so that one of a transaction
 * that was undone never comes again.
 */
#ifndef HF__ENGINE_FUNCTION_RECORD_H
#define HF__ENGINE_FUNCTION_RECORD_H

#include "engine/commit/tx.h"
#include "engine/keys/rdb.h"

#define HF__RDB_FUNCTION 245u /* Redis 7.0 */

/* Most bytes of the record, which each change writes again, and most libraries
 * in it. */
#define HF__FUNCTIONS_SIZE_MAX (size_t)(8u << 20)
#define HF__FUNCTIONS_LIBRARIES_MAX 1000u

/* The libraries as a payload, a view until the next write; empty: there are
 * none, and *generation is 0. false: fatal. */
bool hf__functions_get(hf__tx *tx, uint64_t *generation, hf_bytes *payload);

/* Replace them. An empty payload: there are none any more. *generation is set.
 */
void hf__functions_put(hf__tx *tx, hf_bytes payload, uint64_t *generation);

/* Keep the record while all others are dropped: copy it, put the copy. */
bool hf__functions_save(hf__tx *tx, hf_bytes *record);
void hf__functions_put_saved(hf__tx *tx, hf_bytes record);

/* Take the next library from a payload without its tail. false: it is damaged;
 * or `from->left` was 0. */
bool hf__functions_next(hf__rdb_source *from, hf_bytes *text);

/* Does a record fit, as far as can be seen without memory? For fsck. */
bool hf__functions_is_intact(const unsigned char *record, size_t size);

#endif
