/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elements.h - elements of large collections, one record each.
 */
#ifndef HF__ENGINE_ELEMENTS_H
#define HF__ENGINE_ELEMENTS_H

#include "engine/keys/keyspace.h"

/* An unused key id; false: fatal. */
bool hf__keyid_new(hf__tx *tx, uint64_t *keyid);

/* Give the record a key id and the form ELEMENTS; the caller then puts the
 * elements and replaces the content. false: fatal. */
bool hf__elements_begin(hf__tx *tx, hf__record *record);

/* false: not found, or fatal. The view is valid until the next write. */
bool hf__element_get(hf__tx *tx, uint64_t keyid, hf_bytes field,
                     hf_bytes *value);
/* Several, sooner than one by one where they are neighbours; data NULL: not
 * found. */
void hf__elements_get(hf__tx *tx, uint64_t keyid, const hf_bytes *fields,
                      size_t count, hf_bytes *values);
/* Commands that read several read so many at a time. */
#define HF__ELEMENTS_FEW 32u

void hf__element_put(hf__tx *tx, uint64_t keyid, hf_bytes field,
                     hf_bytes value);
/* Add an element. false: there is one, whose value is *old, or fatal. */
bool hf__element_add(hf__tx *tx, uint64_t keyid, hf_bytes field, hf_bytes value,
                     hf_bytes *old);
/* Delete one and copy its value, of this size. false: there is none, or fatal.
 */
bool hf__element_take(hf__tx *tx, uint64_t keyid, hf_bytes field, void *value,
                      size_t size);
void hf__element_delete(hf__tx *tx, uint64_t keyid, hf_bytes field);

/* What a record of an order is sorted by: its name without kind and id. */
typedef struct hf__position {
    size_t size;
    unsigned char bytes[HF__LMDB_KEY_MAX - 9u];
} hf__position;
void hf__position_of(hf__position *position, double score, hf_bytes member);

void hf__order_put(hf__tx *tx, uint64_t keyid, double score, hf_bytes member);
void hf__order_delete(hf__tx *tx, uint64_t keyid, double score,
                      hf_bytes member);
bool hf__order_has(hf__tx *tx, uint64_t keyid, double score, hf_bytes member);

/* Delete both records of a member. */
void hf__member_delete(hf__tx *tx, uint64_t keyid, double score,
                       hf_bytes member);

/* Walks the elements of a key, or their order. No writes meanwhile. */
typedef struct hf__walk {
    hf__tx *tx;
    MDB_cursor *cursor;
    unsigned char kind; /* HF__RECORD_ELEMENT or _ORDER */
    uint64_t keyid;
    bool backward;
    bool at_start;
    MDB_val key; /* the current record */
} hf__walk;
bool hf__walk_begin(hf__walk *walk, hf__tx *tx, unsigned char kind,
                    uint64_t keyid);
/* Order only: start at the first member whose score is `score` or more
 * (backward: the last whose score is `score` or less). */
bool hf__walk_begin_at(hf__walk *walk, hf__tx *tx, uint64_t keyid, double score,
                       bool backward);
/* Order only: start at this member of this score, or where it would be; if
 * longer than HF__ORDER_KEPT, before all with the same beginning. */
bool hf__walk_begin_member(hf__walk *walk, hf__tx *tx, uint64_t keyid,
                           double score, hf_bytes member, bool backward);
/* Start at a record by its name in LMDB, or where it would be. */
bool hf__walk_begin_record(hf__walk *walk, hf__tx *tx, unsigned char kind,
                           uint64_t keyid, hf_bytes name);
/* false: at the end. `score` only for the order, `value` only for elements. */
bool hf__walk_next(hf__walk *walk, hf_bytes *name, hf_bytes *value,
                   double *score);
void hf__walk_end(hf__walk *walk);

/* Schedule the elements of `keyid` for lazy deletion. */
void hf__pending_delete_put(hf__tx *tx, uint64_t keyid);

#endif
