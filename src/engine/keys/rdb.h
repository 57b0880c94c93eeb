/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rdb.h - the values of Redis's RDB files, as DUMP returns them: a type, the
 * value, a version (2 bytes), a CRC-64 of all before it. Little-endian but for
 * lengths.
 *
 * What is written is readable by Redis 7.0; a hash whose fields have deadlines
 * by Redis 7.4. What is read is what any Redis from 2.6 on writes for strings,
 * lists, sets, hashes, sorted sets and streams.
 */
#ifndef HF__ENGINE_RDB_H
#define HF__ENGINE_RDB_H

#include "engine/files/format.h"
#include "engine/keys/members.h"

enum {
    HF__RDB_STRING = 0,
    HF__RDB_LIST = 1,
    HF__RDB_SET = 2,
    HF__RDB_ZSET_TEXT = 3, /* before Redis 4.0: scores as text */
    HF__RDB_HASH = 4,
    HF__RDB_ZSET = 5, /* scores as doubles */
    HF__RDB_LIST_ZIPLIST = 10,
    HF__RDB_SET_INTSET = 11,
    HF__RDB_ZSET_ZIPLIST = 12,
    HF__RDB_HASH_ZIPLIST = 13,
    HF__RDB_LIST_ZIPLISTS = 14,
    HF__RDB_HASH_LISTPACK = 16,
    HF__RDB_ZSET_LISTPACK = 17,
    HF__RDB_STREAM = 15, /* of Redis 5 */
    HF__RDB_LIST_LISTPACKS = 18,
    HF__RDB_STREAM_2 = 19, /* Redis 7.0 */
    HF__RDB_SET_LISTPACK = 20,
    HF__RDB_STREAM_3 = 21, /* Redis 7.2 */
    HF__RDB_HASH_DEADLINES = 24
};

#define HF__RDB_VERSION 10u           /* Redis 7.0 */
#define HF__RDB_VERSION_DEADLINES 12u /* Redis 7.4 */
#define HF__RDB_TAIL 10u              /* version and checksum */

/* Do version and checksum, the last bytes of what DUMP replied, fit? */
bool hf__rdb_tail_fits(hf_bytes data);
#define HF__ERROR_RDB_TAIL "ERR DUMP payload version or checksum are wrong"

/* First two bits of a length, or the whole first byte. */
enum {
    HF__RDB_14_BITS = 0x40,
    HF__RDB_32_BITS = 0x80,
    HF__RDB_64_BITS = 0x81,
    HF__RDB_SPECIAL = 0xc0
};

/* Sizes of the text of a score that have no text. */
enum { HF__RDB_NAN = 253, HF__RDB_INF = 254, HF__RDB_MINUS_INF = 255 };

typedef struct hf__rdb_value {
    hf__type type;
    /* A string alone; of a hash fields and values by turns, the score of a
     * field being its deadline, Unix ms, or 0. Views of the bytes read, or in
     * tx->arena. */
    hf__members list;
    hf_bytes data; /* of a stream: all of it; see stream_rdb.h */
} hf__rdb_value;

/* Read a value, with its type and without the tail; of a stream only its type.
 * false: damaged, unknown, or not within limits.h: replied; or fatal. */
bool hf__rdb_read(hf__tx *tx, hf_bytes data, hf__rdb_value *value);

/* The bytes of a value that are still to be read. */
typedef struct hf__rdb_source {
    hf__tx *tx;
    const unsigned char *at;
    size_t left;
    uint64_t room; /* bytes that the store could hold at all */
    hf__members *list;
    bool replied; /* with an error */
} hf__rdb_source;

/* Least bytes of an element of a large collection, with its LMDB record. */
#define HF__RDB_ELEMENT_SIZE 27u
/* A short value may announce a large one: nothing is read that the store could
 * not hold. */
bool hf__rdb_claim(hf__rdb_source *from, uint64_t size);

/* Each takes something away. false: there is none. */
bool hf__rdb_take_bytes(hf__rdb_source *from, uint64_t size,
                        const unsigned char **data);
bool hf__rdb_take_count(hf__rdb_source *from, uint64_t *count);
/* A view, or in tx->arena. */
bool hf__rdb_take_string(hf__rdb_source *from, hf_bytes *text);

/* --------------------------------------------------- packed (rdb_packed.c) */

/* Elements in one piece of memory: a listpack, a ziplist, or an intset. */
typedef struct hf__rdb_packed {
    hf__tx *tx;
    bool (*next)(struct hf__rdb_packed *packed, hf_bytes *text);
    const unsigned char *at;
    size_t left;
    unsigned width; /* of an intset's numbers */
    char *digits;   /* next text of a number goes here; NULL: into tx->arena */
    bool bad;
} hf__rdb_packed;

bool hf__rdb_listpack(hf__rdb_packed *packed, hf__tx *tx, hf_bytes data);
bool hf__rdb_ziplist(hf__rdb_packed *packed, hf__tx *tx, hf_bytes data);
bool hf__rdb_intset(hf__rdb_packed *packed, hf__tx *tx, hf_bytes data);

/* A little-endian signed number of 1 to 8 bytes. */
int64_t hf__rdb_integer(const unsigned char *at, unsigned width);
/* Its text, in tx->arena. */
bool hf__rdb_number(hf__tx *tx, int64_t number, hf_bytes *text);
/* Decompress into `size` bytes, all of them. false: damaged. */
bool hf__rdb_decompress(hf_bytes from, unsigned char *to, size_t size);

#endif
