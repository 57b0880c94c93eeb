/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counts.h - how many members of a large sorted set come before a position, and
 * which one has a rank, without walking from one end.
 */
#ifndef HF__ENGINE_COUNTS_H
#define HF__ENGINE_COUNTS_H

#include "engine/keys/elements.h"

/* Is the set large, and does it have counts? One that an earlier version wrote
 * has none until it is changed. */
bool hf__counts_exist(const hf__record *record);
/* Give them to a set of the form ELEMENTS, empty or one of an earlier
 * version's, unless a program of such a version may have the store open, which
 * would change the members only. false: fatal. */
bool hf__counts_begin(hf__tx *tx, hf__record *record);
/* A member was added at this position (`change` 1), or removed (-1), and
 * record->count has been changed. Nothing if the set has no counts. */
void hf__counts_change(hf__tx *tx, hf__record *record,
                       const hf__position *position, int change);

/* The number of records of the order before this position. */
uint64_t hf__counts_before(hf__tx *tx, hf__record *record,
                           const hf__position *position);
/* The position that has so many before it, less than record->count. false:
 * fatal. */
bool hf__counts_find(hf__tx *tx, hf__record *record, uint64_t before,
                     hf__position *position);

#endif
