/* SPDX-License-Identifier: Apache-2.0 */
/*
 * changes.h - the file in which writers note what they changed, for processes
 * that watch. It is created by the first watcher.
 *
 * Written under the writer lock, except `armed`; read by watchers at any time.
 */
#ifndef HF__EMBEDDED_CHANGES_FILE_H
#define HF__EMBEDDED_CHANGES_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "store/store.h"

/* The changes of the last moments, bytes; a slower watcher gets a gap. */
#define HF__CHANGES_RING (UINT64_C(1) << 20)
/* Store handles that watch. */
#define HF__CHANGES_READERS 64u

typedef struct hf__change_slot {
    uint32_t used;
    uint32_t inbox; /* index in the sidecar, and its id */
    char id[16];
    uint32_t armed; /* it sleeps: wake it */
    uint32_t reserved;
} hf__change_slot;

/*
 * `head` and `claimed` count the bytes written to the ring so far. What lies
 * before `head` is committed, what lies before `claimed` may be overwritten.
 * `pending`: a transaction that ends the ring at `pending_end` is being
 * committed; if its process was killed, it may have been.
 *
 * A stamp is odd while a transaction is being committed that changes a key of
 * its bucket, and has another value afterwards.
 */
typedef struct hf__changes {
    char magic[8];
    uint32_t version;
    uint32_t map_size;
    uint64_t head;
    uint64_t claimed;
    uint64_t pending_end;
    uint32_t pending;
    uint32_t commits; /* to check from time to time who is alive */
    hf__change_slot slots[HF__CHANGES_READERS];
    uint32_t stamps[HF__STAMPS];
    uint64_t ring[HF__CHANGES_RING / 8]; /* atomic */
} hf__changes;
_Static_assert(offsetof(hf__changes, ring) % 8 == 0, "words are atomic");

/* Map the file, created if `create`. HF_FULL, HF_DENIED, HF_CORRUPT. */
hf_status hf__changes_map(int dir_fd, bool create, hf__changes **changes,
                          hf_error *err);
void hf__changes_unmap(hf__changes *changes);

/* A writer may have been killed: publish what it may have committed. Since then
 * a write transaction has begun. */
void hf__changes_recover(hf__changes *changes);

/* Where a position is in the ring. */
static inline size_t hf__changes_word(uint64_t position)
{
    return (size_t)(position % HF__CHANGES_RING / sizeof(uint64_t));
}

/* The stamp of a key. */
uint32_t hf__changes_bucket(hf_bytes key);

#endif
