/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deadlines.h - deadlines of fields of a hash.
 *
 * A field whose deadline has passed does not exist for any command; its records
 * are deleted a few at a time, by writers that open the hash. All of these
 * accept any hash; one without deadlines has the form INLINE or ELEMENTS.
 */
#ifndef HF__ENGINE_DEADLINES_H
#define HF__ENGINE_DEADLINES_H

#include "engine/keys/keyspace.h"

/* false: it has none, or fatal. */
bool hf__deadline_get(hf__tx *tx, hf__record *record, hf_bytes field,
                      int64_t *expire_ms);
/* The hash has the form ELEMENTS or DEADLINES, and the field. */
void hf__deadline_set(hf__tx *tx, hf__record *record, hf_bytes field,
                      int64_t expire_ms);
/* true: it had one. */
bool hf__deadline_clear(hf__tx *tx, hf__record *record, hf_bytes field);

/* A field was added or removed. */
void hf__deadlines_refresh(hf__tx *tx, hf__record *record);

/* Has any field's passed, or this one's? */
bool hf__deadlines_passed(hf__tx *tx, hf__record *record);
bool hf__deadline_passed(hf__tx *tx, hf__record *record, hf_bytes field);

/* Have those of all fields? */
bool hf__deadlines_all_passed(hf__tx *tx, hf__record *record);

/* How many have passed. */
uint64_t hf__deadlines_count_passed(hf__tx *tx, hf__record *record);

/* In a writing transaction: delete some fields whose deadlines have passed. */
void hf__deadlines_reclaim(hf__tx *tx, hf__record *record);

#endif
