/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redo_state.h - what redo.c and redo_read.c share.
 */
#ifndef HF__ENGINE_REDO_STATE_H
#define HF__ENGINE_REDO_STATE_H

#include "engine/commit/redo.h"
#include "engine/commit/redo_format.h"

/* Records are put together here; longer ones are written piece by piece. */
#define HF__REDO_BUFFER_SIZE ((size_t)64 << 10)

/* In tx->changes, before the name. */
typedef struct hf__redo_note_head {
    uint32_t size; /* of the name */
    MDB_val value; /* once looked up; without data: the record is deleted */
} hf__redo_note_head;

/* Notes that are looked for before another is made: one for each hash. */
#define HF__REDO_NOTED 256u

typedef struct hf__redo_noted {
    uint64_t round; /* that of now, or the note is gone */
    size_t at;      /* in tx->changes */
} hf__redo_noted;

/* Guarded by the writer lock. */
typedef struct hf__redo {
    int fd;
    uint64_t round; /* of notes: a transaction, or since a drop */
    hf__redo_noted noted[HF__REDO_NOTED];
    /* The record of the transaction that is being committed. */
    uint32_t part;
    uint64_t salt;
    uint64_t record_at; /* in the file; 0: there is none */
    uint64_t end;       /* of the part with it */
    uint32_t sum;       /* of what was put so far */
    /* What is not written yet, and where it goes. */
    uint64_t at;
    size_t used;
    unsigned char buffer[HF__REDO_BUFFER_SIZE];
} hf__redo;

/* Where a part begins in the file. */
static inline uint64_t hf__redo_base(uint32_t part)
{
    return part * HF__REDO_PART_SIZE;
}

#endif
