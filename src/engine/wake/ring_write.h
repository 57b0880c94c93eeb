/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring_write.h - what a write transaction notes in a ring (files/ring.h). The
 * writer lock is held.
 */
#ifndef HF__ENGINE_RING_WRITE_H
#define HF__ENGINE_RING_WRITE_H

#include "engine/commit/tx.h"

/* Does anyone read this ring? Then it is mapped. */
static inline bool hf__tx_notes(const hf__tx *tx, uint32_t which)
{
    return (tx->watched >> which & 1) != 0;
}

/* The transaction begins, and there are readers. May set `fatal`. */
void hf__ring_begin(hf__tx *tx);

/* Room for a note in memory, which the caller fills. NULL: it does not fit. */
unsigned char *hf__ring_put(hf__tx *tx, uint32_t which, uint32_t kind,
                            size_t size);

/* Is there anything to publish? */
bool hf__ring_has_notes(const hf__tx *tx, uint32_t which);

/* Before the commit: mark that it is under way; false: fatal. Write the notes
 * to the ring. */
bool hf__ring_claim(hf__tx *tx, uint32_t which);
void hf__ring_fill(hf__tx *tx, uint32_t which);
/* After it: publish them, and wake readers. */
void hf__ring_publish(hf__tx *tx, uint32_t which, bool committed);

/* A commit is pending, whose writer was killed: publish its notes if it was
 * done. `next`: the number of a write transaction that has begun since. */
static inline bool hf__ring_is_pending(const hf__ring *ring)
{
    return __atomic_load_n(&ring->head->pending, __ATOMIC_ACQUIRE) != 0;
}
void hf__ring_recover(hf__ring *ring, uint64_t next);

/* Free the slots of readers that were killed. */
void hf__ring_free_dead(hf__env *env, uint32_t which);
/* A slot was taken or freed, or wants other events. */
void hf__ring_count_readers(hf__env *env, uint32_t which);

/* Is the process that has it alive? */
bool hf__ring_slot_alive(const hf__sidecar *sidecar, const hf__ring_slot *slot);

/* The topic of the event that wakes the readers. */
hf_bytes hf__ring_topic(uint32_t which);

#endif
