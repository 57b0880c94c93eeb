/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring_read.c - see ring_read.h.
 *
 * A store handle that reads has a slot in the file, by which writers know that
 * someone does. Before it sleeps the reader arms the slot, and then looks once
 * more; who publishes later wakes it. It looks from time to time in any case: a
 * writer may be killed before it woke anyone, or before it published what it
 * committed.
 *
 * A note is copied, and then it is checked that it was not being overwritten:
 * if it was, the reader continues at the head and reports a gap.
 */
#include "engine/wake/ring_read.h"

#include <string.h>

#include "engine/wake/note.h"
#include "engine/wake/subscriptions.h"
#include "util/clock.h"
#include "util/container.h"
#include "util/error.h"

#define LOOK_MS 250
/* The loop thread waits for the writer lock, to see if a writer was killed. */
#define RECOVER_MS 5
#define LEAVE_MS 1000
#define NOT_STUCK UINT64_MAX

static hf__ring *ring_of(const hf__ring_reader *reader)
{
    return &reader->inbox->env->rings[reader->which];
}

static hf__ring_slot *slot_of(const hf__ring_reader *reader)
{
    return &ring_of(reader)->head->slots[reader->slot];
}

static uint64_t head_of(const hf__ring_reader *reader)
{
    return __atomic_load_n(&ring_of(reader)->head->head, __ATOMIC_SEQ_CST);
}

/* ---------------------------------------------------------------- reading */

static void copy_out(const hf__ring *ring, uint64_t position, void *to,
                     size_t size)
{
    unsigned char *bytes = to;
    uint64_t word;

    for (size_t at = 0; at < size; at += sizeof(word)) {
        size_t left = size - at;

        word = __atomic_load_n(hf__ring_word(ring, position + at),
                               __ATOMIC_ACQUIRE);
        memcpy(bytes + at, &word, left < sizeof(word) ? left : sizeof(word));
    }
}

/* Is what lies from `position` on still unchanged? */
static bool is_kept(const hf__ring *ring, uint64_t position)
{
    return __atomic_load_n(&ring->head->claimed, __ATOMIC_ACQUIRE) - position <=
           ring->size;
}

/* false: it is gone, not a note, or there is no memory. */
static bool read_note(hf__ring_reader *reader, uint64_t head)
{
    const hf__ring *ring = ring_of(reader);
    uint64_t at = reader->position;
    unsigned char *bytes;
    hf__note_head note;

    if (head - at > ring->size)
        return false;
    copy_out(ring, at, &note, sizeof(note));
    if (!is_kept(ring, at) || hf__note_size(note.size) > head - at)
        return false;
    hf__buf_clear(&reader->bytes);
    bytes = hf__buf_reserve(&reader->bytes, note.size);
    if (bytes == NULL)
        return false;
    copy_out(ring, at + sizeof(note), bytes, note.size);
    if (!is_kept(ring, at))
        return false;
    reader->position += hf__note_size(note.size);
    reader->note(reader, note.kind, hf_view(bytes, note.size));
    return true;
}

static void read_to(hf__ring_reader *reader, uint64_t head)
{
    while (reader->running && reader->position != head) {
        if (read_note(reader, head))
            continue;
        reader->position = head_of(reader);
        reader->note(reader, HF__NOTE_GAP, hf_view(NULL, 0));
        return;
    }
}

void hf__ring_reader_look(hf__ring_reader *reader)
{
    uint64_t head;

    if (!reader->running)
        return;
    __atomic_store_n(&slot_of(reader)->armed, 1, __ATOMIC_SEQ_CST);
    while (reader->running && reader->position != (head = head_of(reader)))
        read_to(reader, head);
}

void hf__ring_reader_pause(hf__ring_reader *reader)
{
    if (reader->running)
        __atomic_store_n(&slot_of(reader)->armed, 0, __ATOMIC_RELAXED);
}

static void on_moved(hf__watch *watch)
{
    hf__ring_reader_look(hf__container_of(watch, hf__ring_reader, watch));
}

/* --------------------------------------------------------- killed writers */

/*
 * Under the writer lock: publish what a killed writer committed. It may have
 * written the meta page but not the number of the transaction, by which readers
 * find it; LMDB sets that when the next write transaction begins.
 */
static void recover_locked(hf__ring_reader *reader)
{
    hf__env *env = reader->inbox->env;
    uint64_t next;
    MDB_txn *txn;

    if (!hf__ring_is_pending(ring_of(reader)) || !hf__env_adopt_size(env) ||
        env->broken || mdb_txn_begin(env->mdb, NULL, 0, &txn) != MDB_SUCCESS)
        return;
    next = mdb_txn_id(txn);
    mdb_txn_abort(txn);
    hf__note_recover(env, reader->which, next);
}

/* The lock is free, but a commit is pending: its writer was killed. */
static void recover_ring(hf__ring_reader *reader)
{
    hf__env *env = reader->inbox->env;

    if (hf__env_lock(env, hf__clock_boot_ms() + RECOVER_MS, NULL) != HF_OK)
        return;
    recover_locked(reader);
    hf__env_unlock(env);
}

static void check_pending(hf__ring_reader *reader)
{
    uint64_t head = head_of(reader);

    if (!hf__ring_is_pending(ring_of(reader))) {
        reader->stuck_at = NOT_STUCK;
    } else if (reader->stuck_at != head) {
        reader->stuck_at = head;
    } else {
        recover_ring(reader);
        reader->stuck_at = NOT_STUCK;
    }
}

static void set_tick(hf__ring_reader *reader)
{
    hf__tick_set(hf__loop_poller(reader->inbox->loop), &reader->tick,
                 hf__clock_boot_ms() + LOOK_MS);
}

static void on_tick(hf__tick *tick)
{
    hf__ring_reader *reader = tick->user;

    check_pending(reader);
    hf__ring_reader_look(reader);
    if (reader->running)
        set_tick(reader);
}

/* ------------------------------------------------------------------ slots */

static uint32_t find_free_slot(const hf__ring *ring)
{
    uint32_t slot = 0;

    while (slot < HF__RING_READERS && ring->head->slots[slot].used)
        slot++;
    return slot;
}

static hf_status take_slot(hf__ring_reader *reader, hf_error *err)
{
    hf__env *env = reader->inbox->env;
    hf__ring *ring = ring_of(reader);
    hf__ring_slot *slot;
    hf_status status = HF_OK;

    if (ring->head == NULL)
        status = hf__ring_map(env->dir_fd, reader->which, true, ring, err);
    if (status != HF_OK)
        return status;
    recover_locked(reader);
    hf__ring_free_dead(env, reader->which);
    reader->slot = find_free_slot(ring);
    if (reader->slot == HF__RING_READERS)
        return hf__fail(err, HF_SYSTEM, "the store is already watched %u times",
                        HF__RING_READERS);
    if (reader->which == HF__RING_MESSAGES)
        hf__subscriptions_prune(env);
    slot = slot_of(reader);
    __atomic_store_n(&slot->inbox, reader->inbox->index, __ATOMIC_RELAXED);
    memcpy(slot->id, reader->inbox->id, sizeof(slot->id));
    __atomic_store_n(&slot->armed, 1, __ATOMIC_RELAXED);
    slot->wanted = 0;
    slot->used = 1;
    hf__ring_count_readers(env, reader->which);
    return HF_OK;
}

hf_status hf__ring_reader_join(hf__ring_reader *reader, int64_t deadline_ms,
                               hf_error *err)
{
    hf__env *env = reader->inbox->env;
    hf_status status;

    if (env->read_only)
        return hf__env_fail_read_only(err);
    status = hf__env_lock(env, deadline_ms, err);
    if (status != HF_OK)
        return status;
    status = take_slot(reader, err);
    hf__env_unlock(env);
    return status;
}

void hf__ring_reader_leave(hf__ring_reader *reader)
{
    hf__env *env = reader->inbox->env;

    /* Without the lock the slot is freed when writers find it dead. */
    if (hf__env_lock(env, hf__clock_boot_ms() + LEAVE_MS, NULL) != HF_OK)
        return;
    slot_of(reader)->used = 0;
    hf__ring_count_readers(env, reader->which);
    hf__env_unlock(env);
}

void hf__ring_reader_want(hf__ring_reader *reader, uint32_t wanted)
{
    slot_of(reader)->wanted = wanted;
    hf__ring_count_readers(reader->inbox->env, reader->which);
}

/* ------------------------------------------------------------------- life */

hf_status hf__ring_reader_start(hf__ring_reader *reader, hf_error *err)
{
    hf_status status = hf__wake_inbox_watch(
        reader->inbox, hf__ring_topic(reader->which), &reader->watch, err);

    if (status != HF_OK)
        return status;
    reader->bytes.limit = ring_of(reader)->size;
    reader->position = head_of(reader);
    reader->stuck_at = NOT_STUCK;
    reader->running = true;
    set_tick(reader);
    hf__ring_reader_look(reader);
    return HF_OK;
}

void hf__ring_reader_stop(hf__ring_reader *reader)
{
    reader->running = false;
    hf__tick_stop(&reader->tick);
    hf__wake_inbox_unwatch(reader->inbox, &reader->watch);
}

void hf__ring_reader_init(hf__ring_reader *reader, hf__wake_inbox *inbox,
                          uint32_t which)
{
    reader->inbox = inbox;
    reader->which = which;
    reader->watch.moved = on_moved;
    reader->tick.ring = on_tick;
    reader->tick.user = reader;
    hf__buf_init(&reader->bytes, 0);
}

void hf__ring_reader_done(hf__ring_reader *reader)
{
    hf__buf_done(&reader->bytes);
}
