/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rdb_write.h - writing what DUMP replies (rdb.h), in tx->scratch.
 */
#ifndef HF__ENGINE_RDB_WRITE_H
#define HF__ENGINE_RDB_WRITE_H

#include "engine/commit/tx.h"

typedef struct hf__rdb_out {
    hf__tx *tx;
    size_t size;
} hf__rdb_out;

/* Failures set tx->fatal. */
void hf__rdb_put_bytes(hf__rdb_out *to, const void *data, size_t size);
/* Little-endian, of `width` bytes. */
void hf__rdb_put_integer(hf__rdb_out *to, uint64_t value, unsigned width);
void hf__rdb_put_length(hf__rdb_out *to, uint64_t length);
void hf__rdb_put_string(hf__rdb_out *to, hf_bytes text);

/* The version and the checksum, with which it ends. */
void hf__rdb_put_tail(hf__rdb_out *to, uint64_t version);

/* A listpack, as a string: begin it; put its elements; end it. */
typedef struct hf__rdb_listpack_out {
    hf__rdb_out *to;
    size_t begins; /* in to->tx->scratch */
    uint32_t count;
} hf__rdb_listpack_out;
void hf__rdb_listpack_begin(hf__rdb_listpack_out *pack, hf__rdb_out *to);
void hf__rdb_listpack_number(hf__rdb_listpack_out *pack, int64_t value);
void hf__rdb_listpack_text(hf__rdb_listpack_out *pack, hf_bytes text);
void hf__rdb_listpack_end(hf__rdb_listpack_out *pack);

#endif
