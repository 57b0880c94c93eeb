/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dump_format.h - the bytes of a dump, as docs/internals/dump-format.md tells
 * them: a head, then records. Numbers are little-endian.
 *
 *   head    magic[8] version:16 flags:16 zero:32 clock:64 crc:32
 *   record  size:32 kind:8 payload[size] crc:32
 *
 * A record's checksum continues that of what precedes it, so that no
 * record can be lost, doubled or moved unseen.
 */
#ifndef HF__TRANSFER_DUMP_FORMAT_H
#define HF__TRANSFER_DUMP_FORMAT_H

#include <stdint.h>
#include <string.h>

#include "store/limits.h"

/* As PNG does it: a byte that is no text, and line ends that a transfer as
 * text would change. */
#define HF__DUMP_MAGIC "\x89HFD\r\n\x1a\n"
#define HF__DUMP_MAGIC_SIZE 8u

#define HF__DUMP_VERSION 1u
#define HF__DUMP_HEAD_SIZE 28u

/* Flags of the head, for which older readers refuse it. */
enum { HF__DUMP_HAS_FUNCTIONS = 1u };

/* size and kind; and the checksum after it. */
#define HF__DUMP_RECORD_HEAD 5u
#define HF__DUMP_RECORD_EXTRA (HF__DUMP_RECORD_HEAD + 4u)

/* Most payload of a record, which a reader has to hold. Writers stay below
 * PIECE unless the name of a key is long. */
#define HF__DUMP_PAYLOAD_MAX (1u << 20)
#define HF__DUMP_PIECE (256u << 10)

typedef enum hf__dump_kind {
    HF__DUMP_KEY = 1,  /* type:8 flags:8 expires:64 key_size:32 key content */
    HF__DUMP_MORE = 2, /* flags:8 content */
    HF__DUMP_DROP = 3, /* nothing: drop the key, it changed */
    HF__DUMP_END = 4   /* keys elements content left_out changed, 64 each */
} hf__dump_kind;

#define HF__DUMP_KEY_HEAD 14u
#define HF__DUMP_MORE_HEAD 1u
#define HF__DUMP_END_SIZE 40u

/* Flags of KEY and MORE. */
enum { HF__DUMP_LAST = 1u }; /* the content ends here */

/* Content is elements, size:32 and bytes, cut anywhere into records. A string
 * has one; a hash fields and values by turns, a sorted set members and
 * scores, written as the store writes them. A hash of which a field expires has
 * field, value and deadline: Unix ms, decimal; 0: none. A stream has one: what
 * DUMP replies; so have functions, a key without a name that comes first: what
 * FUNCTION DUMP replies. */
#define HF__DUMP_ELEMENT_HEAD 4u

typedef enum hf__dump_type {
    HF__DUMP_STRING = 1,
    HF__DUMP_HASH = 2,
    HF__DUMP_LIST = 3,
    HF__DUMP_SET = 4,
    HF__DUMP_ZSET = 5,
    HF__DUMP_TIMED_HASH = 6, /* older readers refuse this and what follows */
    HF__DUMP_STREAM = 7,
    HF__DUMP_FUNCTIONS = 8
} hf__dump_type;

#define HF__DUMP_TYPE_MAX HF__DUMP_FUNCTIONS

/* Longest text of a score: sign, 17 digits, point, exponent, and to spare: a
 * whole number may have all its 309 digits. */
#define HF__DUMP_SCORE_MAX 512u

/* Digits of a deadline. */
#define HF__DUMP_DEADLINE_SIZE 14u

static inline const char *hf__dump_type_name(hf__dump_type type)
{
    static const char *const names[] = {"",           "string", "hash",
                                        "list",       "set",    "zset",
                                        "timed-hash", "stream", "functions"};

    return names[type];
}

/* Is the content one element? */
static inline bool hf__dump_is_one(hf__dump_type type)
{
    return type == HF__DUMP_STRING || type >= HF__DUMP_STREAM;
}

/* Elements that belong together. */
static inline size_t hf__dump_group(hf__dump_type type)
{
    if (type == HF__DUMP_TIMED_HASH)
        return 3;
    return type == HF__DUMP_HASH || type == HF__DUMP_ZSET ? 2 : 1;
}

static inline void hf__dump_put(unsigned char *to, uint64_t value, int size)
{
    for (int i = 0; i < size; i++)
        to[i] = (unsigned char)(value >> 8 * i);
}

static inline uint64_t hf__dump_get(const unsigned char *from, int size)
{
    uint64_t value = 0;

    for (int i = size - 1; i >= 0; i--)
        value = value << 8 | from[i];
    return value;
}

#endif
