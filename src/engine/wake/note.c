/* SPDX-License-Identifier: Apache-2.0 */
/*
 * note.c - noting the changes of a transaction in the file of changes, by the
 * steps of ring_write.c.
 *
 * Each key record that the transaction writes or deletes is noted. Before its
 * notes go into the ring the stamps of the keys become odd; after the commit
 * they become even and differ from before. A near cache may use what it read
 * while the stamp was even and is unchanged; one that is odd because its writer
 * was killed is not trusted.
 */
#include "engine/wake/note.h"

#include <string.h>

#include "util/hash_bytes.h"

/* Any key may have changed. */
static void lose_changes(hf__tx *tx)
{
    tx->noted[HF__RING_CHANGES].lost = true;
    tx->noted[HF__RING_CHANGES].flushed = false;
}

void hf__note_put(hf__tx *tx, unsigned database, hf_change_kind kind,
                  hf_bytes key)
{
    uint32_t whole = (uint32_t)kind | database << HF__NOTE_DATABASE_BITS;
    unsigned char *at = NULL;

    if (key.size <= HF__NOTE_KEY_MAX)
        at = hf__ring_put(tx, HF__RING_CHANGES, whole, key.size);
    if (at == NULL)
        lose_changes(tx);
    else if (key.size > 0)
        memcpy(at, key.data, key.size);
}

void hf__note_flush(hf__tx *tx)
{
    hf__noted *noted = &tx->noted[HF__RING_CHANGES];

    noted->flushed = noted->flushed || !noted->lost;
    noted->lost = true;
}

/* ----------------------------------------------------------------- stamps */

static void mark_stamp(uint32_t *stamp)
{
    __atomic_store_n(stamp, *stamp | 1, __ATOMIC_SEQ_CST);
}

static void advance_stamp(uint32_t *stamp)
{
    if (*stamp & 1)
        __atomic_store_n(stamp, *stamp + 1, __ATOMIC_SEQ_CST);
}

static void stamp_all(const hf__ring *ring, void (*act)(uint32_t *stamp))
{
    uint32_t *stamps = hf__changes_of(ring)->stamps;

    for (uint32_t i = 0; i < HF__STAMPS; i++)
        act(&stamps[i]);
}

/* Where the notes end, of which there may be none. */
static const unsigned char *end_of(const hf__buf *notes)
{
    size_t size = hf__buf_size(notes);

    return size > 0 ? hf__buf_front(notes) + size : hf__buf_front(notes);
}

/* The stamp of the note at `at`; returns where the next one is. */
static const unsigned char *next_stamp(const unsigned char *at, uint32_t *stamp)
{
    hf__note_head head;

    memcpy(&head, at, sizeof(head));
    *stamp = hf__stamp_of(head.kind >> HF__NOTE_DATABASE_BITS,
                          hf_view(at + sizeof(head), head.size));
    return at + hf__note_size(head.size);
}

static void stamp_noted(const hf__tx *tx, void (*act)(uint32_t *stamp))
{
    const hf__ring *ring = &tx->env->rings[HF__RING_CHANGES];
    const hf__noted *noted = &tx->noted[HF__RING_CHANGES];
    const unsigned char *at = hf__buf_front(&noted->notes);
    const unsigned char *end = end_of(&noted->notes);
    uint32_t stamp;

    while (at < end) {
        at = next_stamp(at, &stamp);
        act(&hf__changes_of(ring)->stamps[stamp]);
    }
}

static void stamp_keys(const hf__tx *tx, void (*act)(uint32_t *stamp))
{
    if (tx->noted[HF__RING_CHANGES].lost)
        stamp_all(&tx->env->rings[HF__RING_CHANGES], act);
    else
        stamp_noted(tx, act);
}

static void add_two(uint32_t *stamp)
{
    __atomic_store_n(stamp, *stamp + 2, __ATOMIC_SEQ_CST);
}

/* While the stamps are odd: a reader of one that is even sees `flushes`. */
static void count_flush(const hf__tx *tx)
{
    hf__changes *changes = hf__changes_of(&tx->env->rings[HF__RING_CHANGES]);

    stamp_noted(tx, add_two);
    __atomic_add_fetch(&changes->flushes, 1, __ATOMIC_SEQ_CST);
}

bool hf__note_has(const hf__tx *tx, uint32_t stamp)
{
    const hf__noted *noted = &tx->noted[HF__RING_CHANGES];
    const unsigned char *at = hf__buf_front(&noted->notes);
    const unsigned char *end = end_of(&noted->notes);
    uint32_t other = HF__STAMPS;

    while (at < end && other != stamp)
        at = next_stamp(at, &other);
    return (noted->lost && !noted->flushed) || other == stamp;
}

bool hf__note_next(const hf__tx *tx, size_t *at, hf_bytes *key)
{
    const hf__buf *notes = &tx->noted[HF__RING_CHANGES].notes;
    hf__note_head head;

    if (*at >= hf__buf_size(notes))
        return false;
    memcpy(&head, hf__buf_front(notes) + *at, sizeof(head));
    *key = hf_view(hf__buf_front(notes) + *at + sizeof(head), head.size);
    *at += hf__note_size(head.size);
    return true;
}

/* ----------------------------------------------------------------- commit */

void hf__note_claim(hf__tx *tx)
{
    for (uint32_t i = 0; i < HF__RING_COUNT; i++) {
        if (!hf__ring_has_notes(tx, i))
            continue;
        if (!hf__ring_claim(tx, i))
            return;
        if (i == HF__RING_CHANGES)
            stamp_keys(tx, mark_stamp);
        hf__ring_fill(tx, i);
    }
}

void hf__note_publish(hf__tx *tx, bool committed)
{
    for (uint32_t i = 0; i < HF__RING_COUNT; i++) {
        if (!hf__ring_has_notes(tx, i))
            continue;
        if (i == HF__RING_CHANGES && tx->noted[i].flushed)
            count_flush(tx);
        if (i == HF__RING_CHANGES)
            stamp_keys(tx, advance_stamp);
        hf__ring_publish(tx, i, committed);
    }
}

void hf__note_recover(hf__env *env, uint32_t which, uint64_t next)
{
    hf__ring *ring = &env->rings[which];

    if (!hf__ring_is_pending(ring))
        return;
    if (which == HF__RING_CHANGES)
        stamp_all(ring, advance_stamp);
    hf__ring_recover(ring, next);
}

void hf__note_begin_watched(hf__tx *tx)
{
    hf__ring_begin(tx);
    tx->noted[HF__RING_CHANGES].readers = UINT64_MAX;
    for (uint32_t i = 0; i < HF__RING_COUNT && tx->fatal == HF_OK; i++) {
        if (hf__tx_notes(tx, i))
            hf__note_recover(tx->env, i, mdb_txn_id(tx->txn));
    }
}
