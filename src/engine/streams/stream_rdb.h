/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_rdb.h - streams as DUMP returns them (keys/rdb.h): in the form of
 * Redis 7.0, and from those of Redis 5 to 7.2.
 */
#ifndef HF__ENGINE_STREAM_RDB_H
#define HF__ENGINE_STREAM_RDB_H

#include "engine/keys/rdb_write.h"
#include "engine/streams/stream_group.h"

/* With its type. */
void hf__stream_dump(hf__rdb_out *to, hf__record *record);

/* Can this be restored? `data` is a whole value with its type and without the
 * tail. false: replied with an error, or fatal. */
bool hf__stream_check(hf__tx *tx, hf_bytes data);
/* Put it, which was checked, into a stream that was just made. */
void hf__stream_restore(hf__tx *tx, hf__record *record, hf_bytes data);

#endif
