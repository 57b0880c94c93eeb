/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape.h - what a request may be answered with, as a constant that stands
 * beside the script or command: kinds, ranges, lengths.
 *
 * A driver compares every answer with its request's shape before the request
 * completes (store/reply_shape.h). So whoever reads a reply meets no other kind
 * and no number out of range, whatever a server sends.
 */
#ifndef HF__SCRIPT_SHAPE_H
#define HF__SCRIPT_SHAPE_H

#include "holdfast/script.h"

/* Kinds, as bits. Errors are no answers. */
enum {
    HF__IS_NIL = 1u << HF_REPLY_NIL,
    HF__IS_INTEGER = 1u << HF_REPLY_INTEGER,
    HF__IS_STRING = 1u << HF_REPLY_STRING,
    HF__IS_STATUS = 1u << HF_REPLY_STATUS,
    HF__IS_ARRAY = 1u << HF_REPLY_ARRAY,
    HF__IS_DIGITS = 1u << 16 /* a string of 1 to 20 decimal digits */
};

typedef struct hf__shape hf__shape;
struct hf__shape {
    unsigned kinds; /* 0: nothing fits */
    int64_t low;    /* of an integer, both included ... */
    int64_t high;   /* ... or HF__KEY_COUNT */
    size_t size;    /* of a string; 0: any */
    /* Of an array: its items, of which the last `repeated` may come again and
     * again, always all of them. */
    const hf__shape *items;
    size_t item_count;
    size_t repeated;
    size_t count_min;
    const hf__shape *otherwise; /* what fits as well; NULL: nothing */
};

/* As `high`: how many keys the request has. */
#define HF__KEY_COUNT INT64_MIN

/* Greatest fencing token: Lua counts no further without gaps. */
#define HF__TOKEN_MAX (INT64_C(1) << 53)

#define HF__SHAPE_INTEGER(from, to)                                            \
    {                                                                          \
        .kinds = HF__IS_INTEGER, .low = (from), .high = (to)                   \
    }
#define HF__SHAPE_KIND(bits)                                                   \
    {                                                                          \
        .kinds = (bits)                                                        \
    }
/* `least` items at least, and all that `list` has at most. */
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
