/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reclaim.h - taking back what nobody can see any more: expired keys, and the
 * elements of keys that are gone.
 */
#ifndef HF__EMBEDDED_RECLAIM_H
#define HF__EMBEDDED_RECLAIM_H

#include "store/embedded/commit/tx.h"

/* Remove some orphans and some expired keys; part of every commit. */
void hf__reclaim(hf__tx *tx);
/* Remove expired keys and orphans on purpose, some of them each time, until
 * `done`. Begin with zeros. Nothing else is in the transaction. */
#define HF__SWEEP_POSITION_MAX 512u
typedef struct hf__reclaimed {
    uint64_t keys;
    uint64_t elements;
    bool done;
    bool at_end; /* of the keys */
    uint32_t position_size;
    unsigned char position[HF__SWEEP_POSITION_MAX];
} hf__reclaimed;
void hf__reclaim_some(hf__tx *tx, hf__reclaimed *so_far);
/* Remove expired keys more eagerly, because the store is full. */
void hf__reclaim_hard(hf__tx *tx);
/* Is the store so full that a command that needs room must be refused? */
bool hf__tx_is_full(hf__tx *tx);

#endif
