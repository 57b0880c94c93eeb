/* SPDX-License-Identifier: Apache-2.0 */
/*
 * note.h - what a transaction changed, for processes that watch; and the ring
 * work of its commit, for all rings.
 */
#ifndef HF__ENGINE_NOTE_H
#define HF__ENGINE_NOTE_H

#include "engine/files/changes.h"
#include "engine/wake/ring_write.h"
#include "holdfast/watch.h"
#include "util/private_api.h"

/* A longer key becomes a gap. The kind of a note is its hf_change_kind, and
 * above that the number of its database: earlier versions of the library take
 * one of another database than 0 for a gap. */
#define HF__NOTE_KEY_MAX 16384u
#define HF__NOTE_DATABASE_BITS 8

void hf__note_put(hf__tx *tx, unsigned database, hf_change_kind kind,
                  hf_bytes key);
static inline void hf__note(hf__tx *tx, unsigned database, hf_change_kind kind,
                            hf_bytes key)
{
    if (hf__tx_notes(tx, HF__RING_CHANGES))
        hf__note_put(tx, database, kind, key);
}
/* All keys are removed; those written before are noted. */
void hf__note_flush(hf__tx *tx);

/* Has it noted a key with this stamp, FLUSHALL apart? After hf__tx_flush(), if
 * there are readers. */
HF__PRIVATE_API bool hf__note_has(const hf__tx *tx, uint32_t stamp);

/* The key of the note at `at`, a number of bytes, and where the next one is.
 * false: there are no more. After hf__tx_flush(). */
HF__PRIVATE_API bool hf__note_next(const hf__tx *tx, size_t *at, hf_bytes *key);

/* A transaction begins. May set `fatal`. */
void hf__note_begin_watched(hf__tx *tx);
static inline void hf__note_begin(hf__tx *tx)
{
    tx->watched = 0;
    if (tx->writable)
        tx->watched =
            __atomic_load_n(&tx->env->sidecar.map->watched, __ATOMIC_RELAXED);
    if (tx->watched != 0)
        hf__note_begin_watched(tx);
}

/* If there are readers: before the commit; may set `fatal`. After it. */
void hf__note_claim(hf__tx *tx);
void hf__note_publish(hf__tx *tx, bool committed);

/* Of a mapped ring, see hf__ring_recover(). */
void hf__note_recover(hf__env *env, uint32_t which, uint64_t next);

#endif
