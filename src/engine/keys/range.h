/* SPDX-License-Identifier: Apache-2.0 */
/*
 * range.h - a part of a sorted set: by rank, by score or by the bytes of its
 * members, from either end, with an offset and a count.
 */
#ifndef HF__ENGINE_RANGE_H
#define HF__ENGINE_RANGE_H

#include "engine/keys/type_zset.h"

typedef enum hf__range_kind {
    HF__RANGE_RANK,
    HF__RANGE_SCORE,
    HF__RANGE_LEX
} hf__range_kind;

/* A bound by members. */
typedef struct hf__range_text {
    int beyond; /* -1: below all members, 1: above all; 0: it is `text` */
    hf_bytes text;
} hf__range_text;

typedef struct hf__range {
    hf__range_kind kind;
    bool backward;
    bool with_scores;
    int64_t offset;     /* members to skip; negative: all */
    int64_t count;      /* members to give; negative: all */
    int64_t start, end; /* ranks; negative: from the end */
    double min, max;
    hf__range_text min_text, max_text;
    bool min_open, max_open; /* exclusive */
} hf__range;

/* Initially the whole set. */
hf__range hf__range_init(hf__range_kind kind, bool backward);

/* Read the bounds of range->kind. false: replied with an error. */
bool hf__range_bounds(hf__tx *tx, hf_bytes min, hf_bytes max, hf__range *range);

enum {
    HF__RANGE_ANY = 1u << 0,  /* BYSCORE, BYLEX and REV, each once */
    HF__RANGE_STORE = 1u << 1 /* no WITHSCORES */
};
/*
 * Read `min max` and the `count` - 2 options after them; with range->backward
 * `max min`, unless they are ranks. false: replied with an error.
 */
bool hf__range_read(hf__tx *tx, const hf_bytes *args, size_t count,
                    unsigned allowed, hf__range *range);

/* Walks a range of an existing set. No writes meanwhile. */
typedef struct hf__range_walk {
    hf__zset_walk walk;
    const hf__range *range;
    uint64_t skip; /* position in the range */
    uint64_t left; /* members to give */
    bool inside;   /* the range has begun */
    bool exact;    /* `left` is known, not only a limit */
} hf__range_walk;

void hf__range_begin(hf__range_walk *walk, hf__tx *tx, hf__record *record,
                     const hf__range *range);
bool hf__range_next(hf__range_walk *walk, hf_bytes *member, double *score);
void hf__range_end(hf__range_walk *walk);

/* The number of its members. */
uint64_t hf__range_count(hf__tx *tx, hf__record *record,
                         const hf__range *range);

#endif
