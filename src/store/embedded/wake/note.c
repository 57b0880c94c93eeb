/* SPDX-License-Identifier: Apache-2.0 */
/*
 * note.c - noting the changes of a transaction in the file of changes.
 *
 *  1. While the transaction runs, each key record that it writes or deletes is
 *     noted in memory, if anyone watched when it began.
 *  2. Before the commit: `pending` is set, the stamps of the keys become odd,
 *     the notes go into the ring behind its head, and `pending_end` is where
 *     they end.
 *  3. The commit.
 *  4. The stamps become even and differ from before, the head moves,
 *     `pending` is cleared, and watchers that sleep are woken.
 *
 * A near cache may use what it read while the stamp was even and is unchanged.
 * A writer killed between 2 and 4 leaves odd stamps, which near caches do not
 * trust, and `pending`: the next writer, or a watcher that finds it pending for
 * long, publishes the notes. The changes may then not have happened.
 *
 * The writer lock is held all through.
 */
#include "store/embedded/wake/note.h"

#include <string.h>

#include "store/embedded/wake/wake.h"

/* One in this many commits checks who is alive. */
#define PRUNE_EVERY 256u

/* Notes of one transaction; more become a gap. */
#define NOTES_MAX (HF__CHANGES_RING / 4)

void hf__note_begin(hf__tx *tx)
{
    hf__env *env = tx->env;

    tx->changes = NULL;
    if (!tx->writable ||
        !__atomic_load_n(&env->sidecar.map->watched, __ATOMIC_RELAXED))
        return;
    if (env->changes == NULL)
        tx->fatal =
            hf__changes_map(env->dir_fd, false, &env->changes, &tx->error);
    if (tx->fatal != HF_OK)
        return;
    tx->changes = env->changes;
    tx->notes.limit = NOTES_MAX;
    hf__buf_clear(&tx->notes);
    tx->notes_lost = false;
}

void hf__note_put(hf__tx *tx, hf_change_kind kind, hf_bytes key)
{
    hf__note_head head = {(uint32_t)key.size, kind};
    uint64_t size = hf__note_size(key.size);
    unsigned char *at = NULL;

    if (key.size <= HF__NOTE_KEY_MAX)
        at = hf__buf_reserve(&tx->notes, (size_t)size);
    if (at == NULL) {
        tx->notes_lost = true;
        return;
    }
    memset(at + size - sizeof(uint64_t), 0, sizeof(uint64_t)); /* padding */
    memcpy(at, &head, sizeof(head));
    memcpy(at + sizeof(head), key.data, key.size);
    hf__buf_added(&tx->notes, (size_t)size);
}

void hf__note_all(hf__tx *tx)
{
    tx->notes_lost = true;
}

/* ----------------------------------------------------------------- stamps */

static void mark(hf__changes *changes, uint32_t bucket)
{
    uint32_t *stamp = &changes->stamps[bucket];

    __atomic_store_n(stamp, *stamp | 1, __ATOMIC_SEQ_CST);
}

static void advance(hf__changes *changes, uint32_t bucket)
{
    uint32_t *stamp = &changes->stamps[bucket];

    if (*stamp & 1)
        __atomic_store_n(stamp, *stamp + 1, __ATOMIC_SEQ_CST);
}

static void stamp_keys(hf__tx *tx, void (*act)(hf__changes *, uint32_t))
{
    const unsigned char *at = hf__buf_front(&tx->notes);
    const unsigned char *end = at + hf__buf_size(&tx->notes);
    hf__note_head head;

    if (tx->notes_lost) {
        for (uint32_t i = 0; i < HF__STAMPS; i++)
            act(tx->changes, i);
        return;
    }
    for (; at < end; at += hf__note_size(head.key_size)) {
        memcpy(&head, at, sizeof(head));
        act(tx->changes,
            hf__changes_bucket(hf_view(at + sizeof(head), head.key_size)));
    }
}

/* ------------------------------------------------------------------- ring */

/* A reader that sees one of the words sees `claimed`, too. */
static void write_ring(hf__changes *changes, const void *data, size_t size)
{
    const unsigned char *from = data;
    uint64_t head = changes->head;
    uint64_t word;

    /* After a failed commit it may be beyond. */
    if (changes->claimed < head + size)
        __atomic_store_n(&changes->claimed, head + size, __ATOMIC_RELAXED);
    for (size_t at = 0; at < size; at += sizeof(word)) {
        memcpy(&word, from + at, sizeof(word));
        __atomic_store_n(&changes->ring[hf__changes_word(head + at)], word,
                         __ATOMIC_RELEASE);
    }
}

static void fill_ring(hf__tx *tx)
{
    static const hf__note_head gap = {0, HF_CHANGE_GAP};
    hf__changes *changes = tx->changes;
    size_t size = tx->notes_lost ? sizeof(gap) : hf__buf_size(&tx->notes);

    write_ring(changes,
               tx->notes_lost ? (const void *)&gap : hf__buf_front(&tx->notes),
               size);
    __atomic_store_n(&changes->pending_end, changes->head + size,
                     __ATOMIC_SEQ_CST);
}

/* --------------------------------------------------------------- watchers */

static bool is_alive(const hf__sidecar *sidecar, const hf__change_slot *slot)
{
    const hf__inbox_slot *inbox;

    if (slot->inbox >= HF__INBOX_MAX)
        return false;
    inbox = &sidecar->map->inboxes[slot->inbox];
    return inbox->used && memcmp(inbox->id, slot->id, sizeof(slot->id)) == 0 &&
           hf__inbox_alive(sidecar, slot->inbox);
}

void hf__note_forget_dead(hf__env *env)
{
    hf__sidecar *sidecar = &env->sidecar;
    bool any = false;

    for (size_t i = 0; i < HF__CHANGES_READERS; i++) {
        hf__change_slot *slot = &env->changes->slots[i];

        slot->used = slot->used && is_alive(sidecar, slot);
        any = any || slot->used;
    }
    if (!any)
        __atomic_store_n(&sidecar->map->watched, 0, __ATOMIC_RELAXED);
}

/* An event for each watcher, before the commit: there may be no memory. */
static void plan_events(hf__tx *tx)
{
    tx->first_of_notes = tx->event_count;
    for (size_t i = 0; i < HF__CHANGES_READERS; i++) {
        const hf__change_slot *slot = &tx->changes->slots[i];

        if (slot->used && slot->inbox < HF__INBOX_MAX)
            hf__wake_remember(tx, slot->inbox,
                              hf__wake_bucket(slot->id, HF__NOTE_TOPIC));
    }
}

/* Keep the events of those that sleep. */
static void choose_events(hf__tx *tx)
{
    size_t from = tx->first_of_notes;
    size_t kept = from;

    for (size_t i = 0; i < HF__CHANGES_READERS; i++) {
        hf__change_slot *slot = &tx->changes->slots[i];

        if (!slot->used || slot->inbox >= HF__INBOX_MAX ||
            from == tx->event_count)
            continue;
        if (__atomic_exchange_n(&slot->armed, 0, __ATOMIC_SEQ_CST))
            tx->events[kept++] = tx->events[from];
        from++;
    }
    tx->event_count = kept;
}

/* ----------------------------------------------------------------- commit */

static bool has_notes(const hf__tx *tx)
{
    return tx->notes_lost || hf__buf_size(&tx->notes) > 0;
}

void hf__note_claim(hf__tx *tx)
{
    hf__changes *changes = tx->changes;

    if (!has_notes(tx))
        return;
    plan_events(tx);
    if (tx->fatal != HF_OK)
        return;
    hf__changes_recover(changes);
    changes->pending_end = changes->head;
    __atomic_store_n(&changes->pending, 1, __ATOMIC_SEQ_CST);
    stamp_keys(tx, mark);
    fill_ring(tx);
}

void hf__note_publish(hf__tx *tx, bool committed)
{
    hf__changes *changes = tx->changes;

    if (!has_notes(tx) || !changes->pending)
        return;
    stamp_keys(tx, advance);
    if (committed)
        __atomic_store_n(&changes->head, changes->pending_end,
                         __ATOMIC_SEQ_CST);
    __atomic_store_n(&changes->pending, 0, __ATOMIC_RELEASE);
    if (committed)
        choose_events(tx);
    if (++changes->commits % PRUNE_EVERY == 0)
        hf__note_forget_dead(tx->env);
}
