/* SPDX-License-Identifier: Apache-2.0 */
/*
 * type_set.h - what is in a set, whichever form it has: distinct members, in
 * an order that means nothing.
 */
#ifndef HF__EMBEDDED_TYPE_SET_H
#define HF__EMBEDDED_TYPE_SET_H

#include "store/embedded/keys/elements.h"
#include "store/embedded/keys/packed.h"

/* The set; NULL in *record: none. false: another type, said, or fatal. */
bool hf__set_open(hf__tx *tx, hf_bytes key, hf__record **record);
/* The set, made if it is not there. NULL: an error was said, or fatal. */
hf__record *hf__set_make(hf__tx *tx, hf_bytes key);

bool hf__set_has(hf__tx *tx, hf__record *record, hf_bytes member);
/* true: it is new. The member may not lie in LMDB's map or in the set. */
bool hf__set_add(hf__tx *tx, hf__record *record, hf_bytes member);
/* true: it was there. The key itself stays, even if nothing is left in it.
 * `member` may be a view into the set. */
bool hf__set_remove(hf__tx *tx, hf__record *record, hf_bytes member);

/* Where a member of a large set stands: its hash, as a score. */
double hf__set_position(hf_bytes member);

/* Any member of a set that has some; false: fatal. The view holds until the
 * next write. */
bool hf__set_any(hf__tx *tx, hf__record *record, hf_bytes *member);
/* Does it cost less to ask so often for any than to copy the set? */
bool hf__set_prefers_sampling(const hf__record *record, uint64_t count);
/* A random number below `bound`, which is not 0. */
uint64_t hf__random_below(uint64_t bound);

/* Walks it. Write nothing meanwhile. */
typedef struct hf__set_walk {
    hf__walk walk; /* of a large set */
    bool small;
    const unsigned char *content;
    size_t content_size;
    hf__packed at;
    uint64_t place; /* of the member of a large set that was given last */
} hf__set_walk;

void hf__set_walk_begin(hf__set_walk *walk, hf__tx *tx, hf__record *record);
/* Begin at a place. A large set's members come in the order of their places,
 * which they keep; seldom two have the same. A small set begins anew. */
void hf__set_walk_begin_at(hf__set_walk *walk, hf__tx *tx, hf__record *record,
                           uint64_t place);
bool hf__set_walk_next(hf__set_walk *walk, hf_bytes *member);
void hf__set_walk_end(hf__set_walk *walk);

/* Copy all members to the pile. false: fatal. */
bool hf__set_gather(hf__record *record, hf__packed_buf *buf);

#endif
