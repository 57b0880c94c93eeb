/* SPDX-License-Identifier: Apache-2.0 */
/*
 * type_set.h - sets of either form: distinct members in no particular order.
 */
#ifndef HF__ENGINE_TYPE_SET_H
#define HF__ENGINE_TYPE_SET_H

#include "engine/keys/elements.h"
#include "engine/keys/packed.h"

/* The set; NULL in *record: none. false: another type, replied, or fatal. */
bool hf__set_open(hf__tx *tx, hf_bytes key, hf__record **record);
/* The set, created if missing. NULL: replied with an error, or fatal. */
hf__record *hf__set_make(hf__tx *tx, hf_bytes key);

bool hf__set_has(hf__tx *tx, hf__record *record, hf_bytes member);
/* true: it is new. The member must not be in LMDB's map or in the set. */
bool hf__set_add(hf__tx *tx, hf__record *record, hf_bytes member);
/* true: it existed. The key stays, even if it is now empty. `member` may be a
 * view into the set. */
bool hf__set_remove(hf__tx *tx, hf__record *record, hf_bytes member);

/* The position of a member of a large set: its hash, as a score. */
double hf__set_position(hf_bytes member);

/* A random member of a non-empty set; false: fatal. The view is valid until the
 * next write. */
bool hf__set_any(hf__tx *tx, hf__record *record, hf_bytes *member);
/* Is drawing `count` random members cheaper than copying the set? */
bool hf__set_prefers_sampling(const hf__record *record, uint64_t count);
/* A random number below `bound`, which is not 0. */
uint64_t hf__random_below(uint64_t bound);

/* Walks it. No writes meanwhile. */
typedef struct hf__set_walk {
    hf__walk walk; /* of a large set */
    bool small;
    const unsigned char *content;
    size_t content_size;
    hf__packed at;
    uint64_t place; /* of the last member returned of a large set */
} hf__set_walk;

void hf__set_walk_begin(hf__set_walk *walk, hf__tx *tx, hf__record *record);
/* Begin at a position. A large set's members are in the order of their
 * positions, which never change and rarely coincide. A small set starts from
 * the beginning. */
void hf__set_walk_begin_at(hf__set_walk *walk, hf__tx *tx, hf__record *record,
                           uint64_t place);
bool hf__set_walk_next(hf__set_walk *walk, hf_bytes *member);
void hf__set_walk_end(hf__set_walk *walk);

/* Copy all members to the buffer. false: fatal. */
bool hf__set_gather(hf__record *record, hf__packed_buf *buf);

#endif
