/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring_write.c - see ring_write.h.
 *
 *  1. While the transaction runs, notes are kept in memory.
 *  2. Before the commit: `pending` is set, the notes go into the ring behind
 *     its head, and `pending_end` is where they end.
 *  3. The commit.
 *  4. The head moves, `pending` is cleared, and readers that sleep are woken.
 *
 * A writer killed between 2 and 4 leaves `pending`: the next writer, or a
 * reader that finds it pending for long, publishes the notes if LMDB has the
 * transaction, whose number no other may have had since.
 */
#include "engine/wake/ring_write.h"

#include <string.h>

#include "engine/wake/wake.h"

/* One in this many commits checks who is alive. */
#define PRUNE_EVERY 256u

/* Notes of one transaction, as a part of the ring; more become a gap. */
#define NOTES_PART 4u

hf_bytes hf__ring_topic(uint32_t which)
{
    static const char *const topics[HF__RING_COUNT] = {"hf:changes",
                                                       "hf:messages"};

    return hf_str(topics[which]);
}

static hf__ring *ring_of(const hf__tx *tx, uint32_t which)
{
    return &tx->env->rings[which];
}

/* ------------------------------------------------------------------ notes */

static void begin_one(hf__tx *tx, uint32_t which)
{
    hf__ring *ring = ring_of(tx, which);
    hf__noted *noted = &tx->noted[which];

    if (ring->head == NULL)
        tx->fatal =
            hf__ring_map(tx->env->dir_fd, which, false, ring, &tx->error);
    if (tx->fatal != HF_OK)
        return;
    noted->notes.limit = ring->size / NOTES_PART;
    hf__buf_clear(&noted->notes);
    noted->lost = noted->flushed = false;
    noted->readers = 0;
    /* Classes only: the other ring may not have been begun. */
    tx->watched |= ring->head->wanted & ~((1u << HF__RING_COUNT) - 1);
}

void hf__ring_begin(hf__tx *tx)
{
    for (uint32_t i = 0; i < HF__RING_COUNT && tx->fatal == HF_OK; i++) {
        if (hf__tx_notes(tx, i))
            begin_one(tx, i);
    }
}

unsigned char *hf__ring_put(hf__tx *tx, uint32_t which, uint32_t kind,
                            size_t size)
{
    hf__noted *noted = &tx->noted[which];
    hf__note_head head = {(uint32_t)size, kind};
    size_t whole = hf__note_size(size);
    unsigned char *at = NULL;

    if (size < UINT32_MAX)
        at = hf__buf_reserve(&noted->notes, whole);
    if (at == NULL)
        return NULL;
    memset(at + whole - sizeof(uint64_t), 0, sizeof(uint64_t)); /* padding */
    memcpy(at, &head, sizeof(head));
    hf__buf_added(&noted->notes, whole);
    return at + sizeof(head);
}

bool hf__ring_has_notes(const hf__tx *tx, uint32_t which)
{
    const hf__noted *noted = &tx->noted[which];

    return hf__tx_notes(tx, which) &&
           (noted->lost || hf__buf_size(&noted->notes) > 0);
}

/* ---------------------------------------------------------------- readers */

bool hf__ring_slot_alive(const hf__sidecar *sidecar, const hf__ring_slot *slot)
{
    uint32_t index = __atomic_load_n(&slot->inbox, __ATOMIC_RELAXED);
    char id[HF__INBOX_SIZE + 1];

    if (!slot->used || index >= HF__INBOX_MAX)
        return false;
    hf__inbox_id(sidecar, index, id);
    return memcmp(id, slot->id, sizeof(slot->id)) == 0 &&
           hf__inbox_used(sidecar, index);
}

void hf__ring_free_dead(hf__env *env, uint32_t which)
{
    hf__ring_slot *slots = env->rings[which].head->slots;

    for (size_t i = 0; i < HF__RING_READERS; i++)
        slots[i].used = hf__ring_slot_alive(&env->sidecar, &slots[i]);
    hf__ring_count_readers(env, which);
}

void hf__ring_count_readers(hf__env *env, uint32_t which)
{
    hf__ring_head *head = env->rings[which].head;
    uint32_t *watched = &env->sidecar.map->watched;
    bool any = false;

    head->wanted = 0;
    for (size_t i = 0; i < HF__RING_READERS; i++) {
        any = any || head->slots[i].used;
        if (head->slots[i].used)
            head->wanted |= head->slots[i].wanted;
    }
    if (any)
        __atomic_or_fetch(watched, 1u << which, __ATOMIC_RELAXED);
    else
        __atomic_and_fetch(watched, ~(1u << which), __ATOMIC_RELAXED);
}

static void wake_readers(hf__tx *tx, uint32_t which)
{
    hf__ring_slot *slots = ring_of(tx, which)->head->slots;

    for (size_t i = 0; i < HF__RING_READERS; i++) {
        hf__ring_slot *slot = &slots[i];
        uint32_t inbox = __atomic_load_n(&slot->inbox, __ATOMIC_RELAXED);

        if ((tx->noted[which].readers >> i & 1) != 0 && slot->used &&
            inbox < HF__INBOX_MAX &&
            __atomic_exchange_n(&slot->armed, 0, __ATOMIC_SEQ_CST))
            hf__wake_remember(tx, inbox,
                              hf__wake_bucket(slot->id, hf__ring_topic(which)));
    }
}

/* ----------------------------------------------------------------- commit */

bool hf__ring_claim(hf__tx *tx, uint32_t which)
{
    hf__ring_head *head = ring_of(tx, which)->head;

    /* Now: after the commit there may be no memory. */
    if (!hf__wake_reserve(tx, HF__RING_COUNT * HF__RING_READERS))
        return false;
    head->pending_end = head->head;
    head->pending_txn = tx->changed ? mdb_txn_id(tx->txn) : 0;
    __atomic_store_n(&head->pending, 1, __ATOMIC_SEQ_CST);
    return true;
}

/* A reader that sees one of the words sees `claimed`, too. */
static void write_ring(const hf__ring *ring, const void *data, size_t size)
{
    const unsigned char *from = data;
    uint64_t at = ring->head->head;
    uint64_t word;

    /* After a failed commit it may be beyond. */
    if (ring->head->claimed < at + size)
        __atomic_store_n(&ring->head->claimed, at + size, __ATOMIC_RELAXED);
    for (size_t i = 0; i < size; i += sizeof(word)) {
        memcpy(&word, from + i, sizeof(word));
        __atomic_store_n(hf__ring_word(ring, at + i), word, __ATOMIC_RELEASE);
    }
}

void hf__ring_fill(hf__tx *tx, uint32_t which)
{
    static const hf__note_head gap = {0, HF__NOTE_GAP};
    hf__noted *noted = &tx->noted[which];
    const hf__ring *ring = ring_of(tx, which);
    size_t size = noted->lost ? sizeof(gap) : hf__buf_size(&noted->notes);

    noted->from = ring->head->head;
    write_ring(ring,
               noted->lost ? (const void *)&gap : hf__buf_front(&noted->notes),
               size);
    __atomic_store_n(&ring->head->pending_end, ring->head->head + size,
                     __ATOMIC_SEQ_CST);
}

void hf__ring_recover(hf__ring *ring, uint64_t next)
{
    hf__ring_head *head = ring->head;

    if (head->pending_txn < next)
        __atomic_store_n(&head->head, head->pending_end, __ATOMIC_SEQ_CST);
    __atomic_store_n(&head->pending, 0, __ATOMIC_RELEASE);
}

void hf__ring_publish(hf__tx *tx, uint32_t which, bool committed)
{
    hf__ring_head *head = ring_of(tx, which)->head;

    if (committed)
        __atomic_store_n(&head->head, head->pending_end, __ATOMIC_SEQ_CST);
    __atomic_store_n(&head->pending, 0, __ATOMIC_RELEASE);
    if (committed)
        wake_readers(tx, which);
    if (++head->commits % PRUNE_EVERY == 0)
        hf__ring_free_dead(tx->env, which);
}
