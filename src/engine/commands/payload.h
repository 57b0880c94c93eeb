/* SPDX-License-Identifier: Apache-2.0 */
/*
 * payload.h - a key's value as DUMP returns it, for others than its commands.
 */
#ifndef HF__ENGINE_PAYLOAD_H
#define HF__ENGINE_PAYLOAD_H

#include "engine/keys/keyspace.h"
#include "engine/keys/rdb_write.h"

/* With its type, without the tail, as RDB files also have it. The version of
 * RDB that it needs. */
unsigned hf__dump_value(hf__rdb_out *to, hf__record *record);

/* The value of a live key, in tx->scratch; invalid if fatal. */
hf_bytes hf__payload_put(hf__tx *tx, hf__record *record);

/* Replies as RESTORE with REPLACE and ABSTTL does; `expire_ms` is on the
 * store's clock, 0: never. */
void hf__payload_get(hf__tx *tx, hf_bytes key, hf_bytes payload,
                     int64_t expire_ms);

#endif
