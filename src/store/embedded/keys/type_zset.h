/* SPDX-License-Identifier: Apache-2.0 */
/*
 * type_zset.h - what is in a sorted set, whichever form it has: members ordered
 * by score, then by their bytes.
 */
#ifndef HF__EMBEDDED_TYPE_ZSET_H
#define HF__EMBEDDED_TYPE_ZSET_H

#include "store/embedded/keys/elements.h"
#include "store/embedded/keys/members.h"

/* The set; NULL in *record: none. false: another type, said, or fatal. */
bool hf__zset_open(hf__tx *tx, hf_bytes key, hf__record **record);

bool hf__zset_score(hf__tx *tx, hf__record *record, hf_bytes member,
                    double *score);
/* Put a member that is not in it. */
void hf__zset_add(hf__tx *tx, hf__record *record, hf_bytes member,
                  double score);
/* Take a member out that is in it, with this score. The key itself stays,
 * even if nothing is left in it. `member` may be a view into the set. */
void hf__zset_remove(hf__tx *tx, hf__record *record, hf_bytes member,
                     double score);

/* Most members a small set can have: 12 bytes each besides its own. */
#define HF__SORTED_INLINE_MAX (HF__INLINE_MAX / 12u + 1u)

/* Walks it, from one end or from a score. Write nothing meanwhile. */
typedef struct hf__zset_walk {
    hf__walk walk; /* of a large set */
    /* Members of one score, all of them, that begin alike and are too long for
     * their records to be in order. */
    hf__members run;
    size_t run_next;
    /* Read beyond such a run, to be given out behind it. */
    bool has_ahead;
    hf_bytes ahead;
    double ahead_score;
    const unsigned char *content;
    bool small;
    bool backward;
    size_t count; /* of a small set's members */
    size_t next;  /* how many were given out */
    uint16_t offsets[HF__SORTED_INLINE_MAX];
} hf__zset_walk;

/* Begin at the lowest member whose score is `from` or more; backward at the
 * highest whose score is `from` or less. Infinities are the ends. */
void hf__zset_walk_begin(hf__zset_walk *walk, hf__tx *tx, hf__record *record,
                         double from, bool backward);
/* In a set whose scores are all `score`: begin at the member, or where it
 * would stand; perhaps earlier. */
void hf__zset_walk_begin_at(hf__zset_walk *walk, hf__tx *tx, hf__record *record,
                            double score, hf_bytes member, bool backward);
bool hf__zset_walk_next(hf__zset_walk *walk, hf_bytes *member, double *score);
void hf__zset_walk_end(hf__zset_walk *walk);

/* Make `key` the sorted set of these, each of which is there once; with none
 * of them the key is gone. Says how many. */
void hf__members_store(const hf__members *list, hf_bytes key);

#endif
