/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packed.h - texts one behind another, u32 size and bytes each: the content of
 * a small list or set, and what a command piles up in tx->scratch.
 */
#ifndef HF__EMBEDDED_PACKED_H
#define HF__EMBEDDED_PACKED_H

#include "store/embedded/keys/keyspace.h"

#define HF__PACKED_HEAD 4u

/* Most texts that a record keeps inline. */
#define HF__PACKED_INLINE_MAX (HF__INLINE_MAX / HF__PACKED_HEAD + 1u)

/* Where a walk is; begin with zeros. */
typedef struct hf__packed {
    size_t offset;
    size_t size; /* head and text */
    hf_bytes text;
} hf__packed;

/* Step on. false: at the end, or what is there is damaged. */
bool hf__packed_next(const unsigned char *data, size_t size, hf__packed *at);

/* Is there room in the record itself for a text in place of `old` bytes? */
bool hf__packed_fits(const hf__record *record, size_t old, size_t size);
/* Put a text in place of `old` bytes of the content. false: fatal. */
bool hf__packed_put(hf__tx *tx, hf__record *record, size_t offset, size_t old,
                    hf_bytes text);
/* Take `old` bytes out of the content. */
void hf__packed_cut(hf__tx *tx, hf__record *record, size_t offset, size_t old);

/* ------------------------------------------------------------------ piles */

/* Texts in tx->scratch, which belongs to the pile until it is done with. They
 * move when the pile grows. No cleaning up: scratch is the transaction's. */
typedef struct hf__packed_buf {
    hf__tx *tx;
    size_t size;
    size_t count;
} hf__packed_buf;

/* false: fatal. The text may lie in LMDB's map, not in the pile. */
bool hf__packed_buf_add(hf__packed_buf *buf, hf_bytes text);
bool hf__packed_buf_next(const hf__packed_buf *buf, hf__packed *at);
/* Room behind the texts, aligned for anything, which further texts would
 * overwrite. NULL: fatal. */
void *hf__packed_buf_room(hf__packed_buf *buf, size_t size);
/* The text at an offset that hf__packed_buf_next() gave. */
hf_bytes hf__packed_buf_at(const hf__packed_buf *buf, size_t offset);
/* Leave only the texts for which `keep` says so; it may not use scratch. */
void hf__packed_buf_filter(hf__packed_buf *buf,
                           bool (*keep)(const void *context, hf_bytes text),
                           const void *context);
/* Where the texts are, in hf__packed_buf_room(), with room for as many numbers
 * behind. NULL: fatal. */
size_t *hf__packed_buf_offsets(hf__packed_buf *buf);

/* By bytes, the shorter first. */
int hf__bytes_compare(hf_bytes a, hf_bytes b);
bool hf__bytes_same(hf_bytes a, hf_bytes b);

/*
 * Sort `count` numbers, whatever they mean to `compare`; what is equal stays
 * in its order. `room` is for as many numbers.
 */
typedef int (*hf__order)(const void *context, size_t a, size_t b);
void hf__merge_sort(hf__tx *tx, size_t *items, size_t *room, size_t count,
                    hf__order order, const void *context);

#endif
