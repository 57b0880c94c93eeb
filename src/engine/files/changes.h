/* SPDX-License-Identifier: Apache-2.0 */
/*
 * changes.h - the file in which writers note which keys they changed, for
 * processes that watch.
 */
#ifndef HF__ENGINE_CHANGES_FILE_H
#define HF__ENGINE_CHANGES_FILE_H

#include "engine/files/ring.h"
#include "store/store.h"

/* The changes of the last moments, bytes; a slower watcher gets a gap. */
#define HF__CHANGES_RING (UINT64_C(1) << 20)

/*
 * A stamp is odd while a transaction is being committed that changes a key of
 * its bucket, and has another value afterwards. A FLUSHALL adds 2 to each, if
 * not more, and 1 to `flushes`.
 */
typedef struct hf__changes {
    hf__ring_head head;
    uint32_t flushes;
    uint32_t reserved;
    uint32_t stamps[HF__STAMPS];
    uint64_t words[HF__CHANGES_RING / 8];
} hf__changes;
_Static_assert(offsetof(hf__changes, words) % 8 == 0, "words are atomic");

static inline hf__changes *hf__changes_of(const hf__ring *ring)
{
    return (hf__changes *)(void *)ring->head;
}

#endif
