/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape.h - the replies that a script or command may have: kinds, ranges,
 * lengths.
 *
 * A driver checks every reply against the shape of its request before the
 * request completes (store/reply_shape.h), so code that reads replies meets no
 * other kind and no number out of range, whatever a server sends.
 */
#ifndef HF__SCRIPT_SHAPE_H
#define HF__SCRIPT_SHAPE_H

#include "holdfast/reply.h"

/* Kinds, as bits. Errors have none. */
enum {
    HF__IS_NIL = 1u << HF_REPLY_NIL,
    HF__IS_INTEGER = 1u << HF_REPLY_INTEGER,
    HF__IS_STRING = 1u << HF_REPLY_STRING,
    HF__IS_STATUS = 1u << HF_REPLY_STATUS,
    HF__IS_ARRAY = 1u << HF_REPLY_ARRAY,
    HF__IS_DIGITS = 1u << 16, /* a string of 1 to 20 decimal digits */
    HF__IS_ANY = 1u << 17     /* also an error within an array */
};

typedef struct hf__shape hf__shape;
struct hf__shape {
    unsigned kinds; /* 0: nothing fits */
    int64_t low;    /* of an integer, both included ... */
    int64_t high;   /* ... or HF__KEY_COUNT */
    size_t size;    /* of a string; 0: any */
    /* Of an array: its items; the last `repeated` may occur any number of
     * times, always together. */
    const hf__shape *items;
    size_t item_count;
    size_t repeated;
    size_t count_min;
    const hf__shape *otherwise; /* an alternative; NULL: none */
};

/* As `high`: the number of keys of the request. */
#define HF__KEY_COUNT INT64_MIN

/* Greatest fencing token: the last integer that Lua counts to exactly. */
#define HF__TOKEN_MAX (INT64_C(1) << 53)

#define HF__SHAPE_INTEGER(from, to)                                            \
    {                                                                          \
        .kinds = HF__IS_INTEGER, .low = (from), .high = (to)                   \
    }
#define HF__SHAPE_KIND(bits)                                                   \
    {                                                                          \
        .kinds = (bits)                                                        \
    }
/* The items of `list`, of which `least` must be there. */
#define HF__SHAPE_TUPLE(list, least)                                           \
    {                                                                          \
        .kinds = HF__IS_ARRAY, .items = (list),                                \
        .item_count = sizeof(list) / sizeof((list)[0]), .count_min = (least)   \
    }
/* All items of `list`, any number of times. */
#define HF__SHAPE_LIST(list)                                                   \
    {                                                                          \
        .kinds = HF__IS_ARRAY, .items = (list),                                \
        .item_count = sizeof(list) / sizeof((list)[0]),                        \
        .repeated = sizeof(list) / sizeof((list)[0])                           \
    }

#endif
