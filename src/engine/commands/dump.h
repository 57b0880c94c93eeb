/* SPDX-License-Identifier: Apache-2.0 */
/* dump.h - the value of a key, as DUMP returns it and as RDB files have it. */
#ifndef HF__ENGINE_DUMP_H
#define HF__ENGINE_DUMP_H

#include "engine/keys/keyspace.h"
#include "engine/keys/rdb_write.h"

/* With its type, without the tail. The version of RDB that it needs. */
unsigned hf__dump_value(hf__rdb_out *to, hf__record *record);

#endif
