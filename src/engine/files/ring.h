/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring.h - files with a ring, in which writers leave notes for readers in
 * other processes. Each is created by its first reader.
 *
 * Written under the writer lock, except `armed`; read at any time.
 */
#ifndef HF__ENGINE_RING_H
#define HF__ENGINE_RING_H

#include <stddef.h>
#include <stdint.h>

#include "holdfast/base.h"

/* Which file: of changed keys, of messages. A bit of the sidecar's `watched`.
 */
enum { HF__RING_CHANGES, HF__RING_MESSAGES, HF__RING_COUNT };

/* Store handles that read one. */
#define HF__RING_READERS 64u

typedef struct hf__ring_slot {
    uint32_t used;
    uint32_t inbox; /* index in the sidecar, and its id */
    char id[16];
    uint32_t armed;  /* it sleeps: wake it */
    uint32_t wanted; /* classes of events: wake/key_event.h */
} hf__ring_slot;

/*
 * How each file begins. `head` and `claimed` count the bytes written to the
 * ring so far. What lies before `head` is committed, what lies before `claimed`
 * may be overwritten. `pending`: LMDB's transaction `pending_txn` (0: none),
 * which ends the ring at `pending_end`, is being committed; if its process was
 * killed, it may have been.
 */
typedef struct hf__ring_head {
    char magic[8];
    uint32_t version;
    uint32_t map_size;
    uint64_t head;
    uint64_t claimed;
    uint64_t pending_end;
    uint64_t pending_txn;
    uint32_t pending;
    uint32_t commits; /* to check from time to time who is alive */
    uint32_t wanted;  /* by any slot */
    uint32_t reserved;
    hf__ring_slot slots[HF__RING_READERS];
} hf__ring_head;

/* What precedes a note of `size` bytes in the ring. */
typedef struct hf__note_head {
    uint32_t size;
    uint32_t kind; /* of its ring; HF__NOTE_GAP: some are missing */
} hf__note_head;
#define HF__NOTE_GAP 0u

/* With its head, rounded up to that of a head. */
static inline uint64_t hf__note_size(size_t size)
{
    return sizeof(hf__note_head) + ((size + 7) & ~(size_t)7);
}

/* A file that is mapped; `head` NULL: it is not. */
typedef struct hf__ring {
    hf__ring_head *head;
    uint64_t *words; /* atomic */
    uint64_t size;   /* of the ring, bytes */
} hf__ring;

/* Map a file, created if `create`. HF_FULL, HF_DENIED, HF_CORRUPT. */
hf_status hf__ring_map(int dir_fd, uint32_t which, bool create, hf__ring *ring,
                       hf_error *err);
void hf__ring_unmap(hf__ring *ring);

/* The word at a position. */
static inline uint64_t *hf__ring_word(const hf__ring *ring, uint64_t position)
{
    return &ring->words[position % ring->size / sizeof(uint64_t)];
}

#endif
