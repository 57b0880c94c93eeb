/* SPDX-License-Identifier: Apache-2.0 */
/*
 * type_zset.h - sorted sets of either form: members ordered by score, then by
 * bytes.
 */
#ifndef HF__ENGINE_TYPE_ZSET_H
#define HF__ENGINE_TYPE_ZSET_H

#include "engine/keys/elements.h"
#include "engine/keys/members.h"

/* The set; NULL in *record: none. false: another type, replied, or fatal. */
bool hf__zset_open(hf__tx *tx, hf_bytes key, hf__record **record);

bool hf__zset_score(hf__tx *tx, hf__record *record, hf_bytes member,
                    double *score);
/* Those of up to HF__ELEMENTS_FEW members; NaN: no member. */
void hf__zset_scores(hf__tx *tx, hf__record *record, const hf_bytes *members,
                     size_t count, double *scores);
/* Add a new member. */
void hf__zset_add(hf__tx *tx, hf__record *record, hf_bytes member,
                  double score);
/* Add the member, unless the set has it: then its score is *old. false: it has
 * it, or fatal. */
bool hf__zset_add_new(hf__tx *tx, hf__record *record, hf_bytes member,
                      double score, double *old);
/* Remove an existing member of this score. The key stays, even if it is now
 * empty. `member` may be a view into the set. */
void hf__zset_remove(hf__tx *tx, hf__record *record, hf_bytes member,
                     double score);

/* Remove a member, which is not a view into the set. The key stays. false:
 * there is none, or fatal. */
bool hf__zset_take(hf__tx *tx, hf__record *record, hf_bytes member);

/* The number of members before this one, which need not exist. */
uint64_t hf__zset_rank(hf__tx *tx, hf__record *record, double score,
                       hf_bytes member);
/* So many members are walked over sooner than a rank is found. */
#define HF__ZSET_NEAR 64u

/* Give an existing member of the score `old` another one. `member` is not a
 * view into the set. */
void hf__zset_move(hf__tx *tx, hf__record *record, hf_bytes member, double old,
                   double score);

/* Most members of a small set: each has 12 bytes of overhead. */
#define HF__SORTED_INLINE_MAX (HF__INLINE_MAX / 12u + 1u)

/* Walks it, from one end or from a score. No writes meanwhile. */
typedef struct hf__zset_walk {
    hf__walk walk; /* of a large set */
    /* A run of members of one score with equal beginnings, too long for their
     * records to be sorted. */
    hf__members run;
    size_t run_next;
    /* The member read after a run, to be returned after it. */
    bool has_ahead;
    hf_bytes ahead;
    double ahead_score;
    const unsigned char *content;
    bool small;
    bool backward;
    size_t count; /* of a small set's members */
    size_t next;  /* how many were returned */
    uint16_t offsets[HF__SORTED_INLINE_MAX];
} hf__zset_walk;

/* Begin at the lowest member whose score is `from` or more; backward at the
 * highest whose score is `from` or less. Infinities are the ends. */
void hf__zset_walk_begin(hf__zset_walk *walk, hf__tx *tx, hf__record *record,
                         double from, bool backward);
/* If all scores are `score`: begin at the member, or where it would be, or
 * earlier. */
void hf__zset_walk_begin_at(hf__zset_walk *walk, hf__tx *tx, hf__record *record,
                            double score, hf_bytes member, bool backward);
bool hf__zset_walk_next(hf__zset_walk *walk, hf_bytes *member, double *score);
/* Begin at the member that has `rank` others before it, in walking
 * direction. */
void hf__zset_walk_begin_rank(hf__zset_walk *walk, hf__tx *tx,
                              hf__record *record, uint64_t rank, bool backward);
void hf__zset_walk_end(hf__zset_walk *walk);

/* Store these distinct members as `key`, or delete it if there are none.
 * Replies with their number. */
void hf__members_store(const hf__members *list, hf_bytes key);

#endif
