/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format.h - what is stored in LMDB: the kinds of records and their names.
 *
 * Records in LMDB, by first byte. A name that is too long for LMDB is truncated
 * and hashed, and the value then begins with the whole name.
 *
 *   f                       the libraries of functions (keys/function_record.h)
 *   h                       the header of the store
 *   m key                   a key: head (type, expiry, ...), then its content
 *                           or, for a large hash or (sorted) set, nothing
 *   e keyid field           an element of such a key: value, or score; or the
 *                           deadline of a field, ordered like a score; or a
 group of a stream, or the number of a consumer of one
 *   z keyid score member    the order of such a sorted set; members of one
 *                           score by their first HF__ORDER_KEPT bytes only, so
 *                           that those alike must be sorted when read; or a
 *                           member of a large set, its hash being the score
 *   c keyid level position  of so many records of that order, or counts of the
 *                           level below, from there on: how many members
 *   l keyid index           an element of a large list; or so many bytes of a
 *                           string in chunks
 *   s keyid what ...        a part of a stream (streams/stream_records.h)
 *   o keyid                 elements to be removed: their key is gone
 *   128 + n, key            like `m`, of database n, 1..15
 */
#ifndef HF__ENGINE_FORMAT_H
#define HF__ENGINE_FORMAT_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    HF__RECORD_FUNCTIONS = 'f',
    HF__RECORD_HEADER = 'h',
    HF__RECORD_KEY = 'm',
    HF__RECORD_ELEMENT = 'e',
    HF__RECORD_ORDER = 'z',
    HF__RECORD_COUNT = 'c',
    HF__RECORD_PENDING_DELETE = 'o',
    HF__RECORD_LIST = 'l',
    HF__RECORD_STREAM = 's',
    HF__RECORD_KEY_OTHER = 128 /* and the number of its database */
};

/* The kinds of records that belong to a key's id, each followed by that. */
#define HF__RECORDS_OF_ID                                                      \
    HF__RECORD_ELEMENT, HF__RECORD_ORDER, HF__RECORD_LIST, HF__RECORD_STREAM,  \
        HF__RECORD_COUNT

/* Numbered from 0. */
#define HF__DATABASES 16u

/* Stored: never renumber. */
typedef enum hf__type {
    HF__TYPE_STRING = 1,
    HF__TYPE_HASH = 2,
    HF__TYPE_ZSET = 3,
    HF__TYPE_LIST = 4,
    HF__TYPE_SET = 5,
    HF__TYPE_STREAM = 6
} hf__type;

/* Stored: where the content is. DEADLINES: that of a hash, as ELEMENTS, some of
 * whose fields have deadlines (keyhead.h). */
enum { HF__FORM_INLINE = 0, HF__FORM_ELEMENTS = 1, HF__FORM_DEADLINES = 2 };

/* Content larger than this moves to records of its own: a quarter page, so
 * that a key record never needs an overflow page. */
#define HF__INLINE_MAX 1000u

/* Bytes of a chunk of a string: a page less LMDB's head of 16 and the checksum
 * (sum.h), which is before them. */
#define HF__CHUNK_SUM 4u
#define HF__STRING_CHUNK (4096u - 16u - HF__CHUNK_SUM)

/* A keyid is the number of a transaction, then these bits: ids made by one
 * transaction. A stream and a string in chunks take one for a few bytes. */
#define HF__KEYID_BITS 16

/* LMDB's limit on a key, as built. */
#define HF__LMDB_KEY_MAX 511u

/* Bytes of a member by which records of an order are sorted: LMDB's limit less
 * kind, id, score and the digits of a folded name. */
#define HF__ORDER_KEPT (HF__LMDB_KEY_MAX - 17u - 40u)

/* The kind of a key's record. */
static inline unsigned char hf__key_kind(unsigned database)
{
    return database == 0 ? (unsigned char)HF__RECORD_KEY
                         : (unsigned char)(HF__RECORD_KEY_OTHER + database);
}

static inline bool hf__kind_is_key(unsigned char kind)
{
    return kind == HF__RECORD_KEY ||
           (kind > HF__RECORD_KEY_OTHER &&
            kind < HF__RECORD_KEY_OTHER + HF__DATABASES);
}

static inline uint8_t hf__kind_database(unsigned char kind)
{
    return kind == HF__RECORD_KEY ? 0 : (uint8_t)(kind - HF__RECORD_KEY_OTHER);
}

/* Numbers in names, so that they sort. */
static inline void hf__put_be64(unsigned char *at, uint64_t value)
{
    value = htobe64(value);
    memcpy(at, &value, sizeof(value));
}

static inline uint64_t hf__get_be64(const unsigned char *at)
{
    uint64_t value;

    memcpy(&value, at, sizeof(value));
    return be64toh(value);
}

#endif
