/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packed.h - length-prefixed texts, u32 size and bytes each: the content of a
 * small list or set, and a buffer of a command in tx->scratch.
 */
#ifndef HF__ENGINE_PACKED_H
#define HF__ENGINE_PACKED_H

#include "engine/keys/keyspace.h"
#include "util/bytes.h"

#define HF__PACKED_HEAD 4u

/* Most texts in a record. */
#define HF__PACKED_INLINE_MAX (HF__INLINE_MAX / HF__PACKED_HEAD + 1u)

/* Position of a walk; begin with zeros. */
typedef struct hf__packed {
    size_t offset;
    size_t size; /* head and text */
    hf_bytes text;
} hf__packed;

/* The next text. false: at the end, or damaged. */
bool hf__packed_next(const unsigned char *data, size_t size, hf__packed *at);

/* Replace `old` bytes of the content by room for `size`. NULL: fatal. */
unsigned char *hf__content_splice(hf__tx *tx, hf__record *record, size_t offset,
                                  size_t old, size_t size);
/* Does the record have room for a text instead of `old` bytes? */
bool hf__packed_fits(const hf__record *record, size_t old, size_t size);
/* Replace `old` bytes of the content by a text. false: fatal. */
bool hf__packed_put(hf__tx *tx, hf__record *record, size_t offset, size_t old,
                    hf_bytes text);
/* Remove `old` bytes from the content. */
void hf__packed_cut(hf__tx *tx, hf__record *record, size_t offset, size_t old);

/* ------------------------------------------------------------------ piles */

/* Texts in tx->scratch, of which there is one buffer at a time. They move when
 * it grows. It needs no cleanup: scratch is the transaction's. */
typedef struct hf__packed_buf {
    hf__tx *tx;
    size_t size;
    size_t count;
} hf__packed_buf;

/* false: fatal. The text may be in LMDB's map, but not in the buffer. */
bool hf__packed_buf_add(hf__packed_buf *buf, hf_bytes text);
bool hf__packed_buf_next(const hf__packed_buf *buf, hf__packed *at);
/* Aligned room after the texts; adding texts overwrites it. NULL: fatal. */
void *hf__packed_buf_room(hf__packed_buf *buf, size_t size);
/* The text at an offset given by hf__packed_buf_next(). */
hf_bytes hf__packed_buf_at(const hf__packed_buf *buf, size_t offset);
/* Keep only the texts for which `keep`, which must not use scratch, is true. */
void hf__packed_buf_filter(hf__packed_buf *buf,
                           bool (*keep)(const void *context, hf_bytes text),
                           const void *context);
/* Offsets of the texts, in hf__packed_buf_room(), followed by room for as many
 * numbers. NULL: fatal. */
size_t *hf__packed_buf_offsets(hf__packed_buf *buf);

/* By bytes, the shorter first. */
int hf__bytes_compare(hf_bytes a, hf_bytes b);

/*
 * Stable sort of `count` numbers, whose meaning is `compare`'s. `room` has
 * space for as many numbers.
 */
typedef int (*hf__order)(const void *context, size_t a, size_t b);
void hf__merge_sort(hf__tx *tx, size_t *items, size_t *room, size_t count,
                    hf__order order, const void *context);

#endif
