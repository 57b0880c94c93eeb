/* SPDX-License-Identifier: Apache-2.0 */
/*
 * note.h - what a transaction changed, for processes that watch.
 */
#ifndef HF__EMBEDDED_NOTE_H
#define HF__EMBEDDED_NOTE_H

#include "holdfast/watch.h"
#include "store/embedded/commit/tx.h"
#include "store/embedded/files/changes.h"

/* A longer key becomes a gap. */
#define HF__NOTE_KEY_MAX 16384u

/* What precedes a key in the notes and in the ring, where the size is rounded
 * up to that of a head. */
typedef struct hf__note_head {
    uint32_t key_size;
    uint32_t kind; /* hf_change_kind */
} hf__note_head;

static inline uint64_t hf__note_size(size_t key_size)
{
    return sizeof(hf__note_head) + ((key_size + 7) & ~(size_t)7);
}

/* A write transaction begins: does anyone watch? May set `fatal`. */
void hf__note_begin(hf__tx *tx);

void hf__note_put(hf__tx *tx, hf_change_kind kind, hf_bytes key);
static inline void hf__note(hf__tx *tx, hf_change_kind kind, hf_bytes key)
{
    if (tx->changes != NULL)
        hf__note_put(tx, kind, key);
}
/* All keys. */
void hf__note_all(hf__tx *tx);

/* If there are `changes`: before the commit; may set `fatal`. After it. */
void hf__note_claim(hf__tx *tx);
void hf__note_publish(hf__tx *tx, bool committed);

/* Free the slots of watchers that were killed. The writer lock is held. */
void hf__note_forget_dead(hf__env *env);

/* The topic of the event that wakes those who watch. */
#define HF__NOTE_TOPIC hf_str("hf:changes")

#endif
