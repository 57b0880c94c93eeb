/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rdb_write.h - writing what DUMP replies (rdb.h), in tx->scratch; or a value
 * of an RDB file, which a key follows its type in, in pieces.
 */
#ifndef HF__ENGINE_RDB_WRITE_H
#define HF__ENGINE_RDB_WRITE_H

#include "engine/commit/tx.h"

typedef struct hf__rdb_out {
    hf__tx *tx;
    size_t size;
    /* Of a file: the key; takes away what tx->scratch has, and sets `size` to
     * 0. NULL: none. */
    hf_bytes key;
    void (*flush)(struct hf__rdb_out *to);
} hf__rdb_out;

/* From so many bytes on it is called, where a value may be cut. */
#define HF__RDB_PIECE (size_t)(256u << 10)
static inline void hf__rdb_flush(hf__rdb_out *to)
{
    if (to->flush != NULL && to->size >= HF__RDB_PIECE)
        to->flush(to);
}

/* Failures set tx->fatal. */
void hf__rdb_put_bytes(hf__rdb_out *to, const void *data, size_t size);
/* Little-endian, of `width` bytes. */
void hf__rdb_put_integer(hf__rdb_out *to, uint64_t value, unsigned width);
void hf__rdb_put_length(hf__rdb_out *to, uint64_t length);
void hf__rdb_put_string(hf__rdb_out *to, hf_bytes text);
/* A part of a string behind its length. */
void hf__rdb_put_part(hf__rdb_out *to, hf_bytes part);
/* A value begins. */
void hf__rdb_put_type(hf__rdb_out *to, unsigned type);

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
