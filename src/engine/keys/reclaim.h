/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reclaim.h - lazy deletion of expired keys and of the elements of deleted
 * keys.
 */
#ifndef HF__ENGINE_RECLAIM_H
#define HF__ENGINE_RECLAIM_H

#include "engine/commit/tx.h"
#include "util/private_api.h"

/* Delete some of them; part of every commit. */
void hf__reclaim(hf__tx *tx);
/* Delete all of them, some at each call, until `done`. Begin with zeros. The
 * transaction is used for nothing else. */
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
/* Delete more expired keys, because the store is full. */
void hf__reclaim_hard(hf__tx *tx);
/* Delete expired keys, in at most so many steps. The transaction has no records
 * in memory. */
HF__PRIVATE_API void hf__reclaim_expired(hf__tx *tx, unsigned steps);
/* Is the store too full for commands that need space? */
bool hf__tx_is_full(hf__tx *tx);

#endif
