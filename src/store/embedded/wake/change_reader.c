/* SPDX-License-Identifier: Apache-2.0 */
/*
 * change_reader.c - see change_reader.h.
 *
 * A store handle that watches has a slot in the file of changes, by which
 * writers know that someone does. Before it sleeps the reader arms the slot,
 * and then looks once more; who publishes later wakes it. It looks from time to
 * time in any case: a writer may be killed before it woke anyone, or before it
 * published what it committed.
 *
 * A note is copied, and then it is checked that it was not being overwritten:
 * if it was, the reader continues at the head and reports a gap.
 *
 * Locks: `mutex`, and the writer lock within it.
 */
#include "store/embedded/wake/change_reader.h"

#include <string.h>

#include "util/clock.h"
#include "util/container.h"
#include "util/error.h"
#include "util/mem.h"

#define LOOK_MS 250
/* The loop thread waits for the writer lock, to see if a writer was killed. */
#define RECOVER_MS 5
#define LEAVE_MS 1000
#define NOT_STUCK UINT64_MAX

static hf__changes *changes_of(const hf__change_reader *reader)
{
    return reader->inbox->env->changes;
}

/* ---------------------------------------------------------------- reading */

static void report(hf__change_reader *reader, hf_change_kind kind, hf_bytes key)
{
    hf__feed *feed = reader->feeds;

    for (; feed != NULL; feed = reader->next) {
        reader->next = feed->next;
        if (kind == HF_CHANGE_GAP ||
            (key.size >= feed->prefix.size &&
             memcmp(key.data, feed->prefix.data, feed->prefix.size) == 0))
            feed->changed(feed, kind, key);
    }
}

static void copy_out(const hf__changes *changes, uint64_t position, void *to,
                     size_t size)
{
    unsigned char *bytes = to;
    uint64_t word;

    for (size_t at = 0; at < size; at += sizeof(word)) {
        size_t left = size - at;

        word = __atomic_load_n(&changes->ring[hf__changes_word(position + at)],
                               __ATOMIC_ACQUIRE);
        memcpy(bytes + at, &word, left < sizeof(word) ? left : sizeof(word));
    }
}

/* Is what lies from `position` on still unchanged? */
static bool is_kept(const hf__changes *changes, uint64_t position)
{
    return __atomic_load_n(&changes->claimed, __ATOMIC_ACQUIRE) - position <=
           HF__CHANGES_RING;
}

/* false: it is gone, or not a note. */
static bool read_note(hf__change_reader *reader, uint64_t head)
{
    const hf__changes *changes = changes_of(reader);
    uint64_t at = reader->position;
    hf__note_head note;

    copy_out(changes, at, &note, sizeof(note));
    if (!is_kept(changes, at) || note.key_size > HF__NOTE_KEY_MAX ||
        note.kind < HF_CHANGE_WRITTEN || note.kind > HF_CHANGE_GAP ||
        hf__note_size(note.key_size) > head - at)
        return false;
    copy_out(changes, at + sizeof(note), reader->key, note.key_size);
    if (!is_kept(changes, at))
        return false;
    reader->position += hf__note_size(note.key_size);
    report(reader, (hf_change_kind)note.kind,
           hf_view(reader->key, note.key_size));
    return true;
}

static void read_to(hf__change_reader *reader, uint64_t head)
{
    while (reader->feeds != NULL && reader->position != head) {
        if (head - reader->position <= HF__CHANGES_RING &&
            read_note(reader, head))
            continue;
        reader->position = head;
        report(reader, HF_CHANGE_GAP, hf_view(NULL, 0));
    }
}

static void look(hf__change_reader *reader)
{
    hf__changes *changes = changes_of(reader);
    uint64_t head;

    if (reader->feeds == NULL)
        return;
    __atomic_store_n(&changes->slots[reader->slot].armed, 1, __ATOMIC_SEQ_CST);
    while (reader->feeds != NULL &&
           reader->position !=
               (head = __atomic_load_n(&changes->head, __ATOMIC_SEQ_CST)))
        read_to(reader, head);
}

static void on_moved(hf__watch *watch)
{
    look(hf__container_of(watch, hf__change_reader, watch));
}

/*
 * Under the writer lock: publish what a killed writer may have committed. It
 * may have written the meta page but not the number of the transaction, by
 * which readers find it; LMDB sets that when the next write transaction begins.
 */
static void recover_locked(hf__env *env)
{
    MDB_txn *txn;

    if (!__atomic_load_n(&env->changes->pending, __ATOMIC_ACQUIRE) ||
        !hf__env_adopt_size(env) || env->broken ||
        mdb_txn_begin(env->mdb, NULL, 0, &txn) != MDB_SUCCESS)
        return;
    mdb_txn_abort(txn);
    hf__changes_recover(env->changes);
}

/* The lock is free, but a commit is pending: its writer was killed. */
static void recover(hf__change_reader *reader)
{
    hf__env *env = reader->inbox->env;

    if (hf__env_lock(env, hf__clock_boot_ms() + RECOVER_MS, NULL) != HF_OK)
        return;
    recover_locked(env);
    hf__env_unlock(env);
}

static void check_pending(hf__change_reader *reader)
{
    const hf__changes *changes = changes_of(reader);
    uint64_t head = __atomic_load_n(&changes->head, __ATOMIC_SEQ_CST);

    if (!__atomic_load_n(&changes->pending, __ATOMIC_ACQUIRE)) {
        reader->stuck_at = NOT_STUCK;
    } else if (reader->stuck_at != head) {
        reader->stuck_at = head;
    } else {
        recover(reader);
        reader->stuck_at = NOT_STUCK;
    }
}

static void set_tick(hf__change_reader *reader)
{
    hf__tick_set(hf__loop_poller(reader->inbox->loop), &reader->tick,
                 hf__clock_boot_ms() + LOOK_MS);
}

static void on_tick(hf__tick *tick)
{
    hf__change_reader *reader = tick->user;

    check_pending(reader);
    look(reader);
    if (reader->feeds != NULL)
        set_tick(reader);
}

/* ------------------------------------------------------------ registering */

static uint32_t find_free_slot(const hf__changes *changes)
{
    uint32_t slot = 0;

    while (slot < HF__CHANGES_READERS && changes->slots[slot].used)
        slot++;
    return slot;
}

static hf_status take_slot(hf__change_reader *reader, hf_error *err)
{
    hf__env *env = reader->inbox->env;
    hf__change_slot *slot;
    hf_status status = HF_OK;

    if (env->changes == NULL)
        status = hf__changes_map(env->dir_fd, true, &env->changes, err);
    if (status != HF_OK)
        return status;
    recover_locked(env);
    reader->slot = find_free_slot(env->changes);
    if (reader->slot == HF__CHANGES_READERS) {
        hf__note_forget_dead(env);
        reader->slot = find_free_slot(env->changes);
    }
    if (reader->slot == HF__CHANGES_READERS)
        return hf__fail(err, HF_SYSTEM, "the store is already watched %u times",
                        HF__CHANGES_READERS);
    slot = &env->changes->slots[reader->slot];
    slot->inbox = reader->inbox->index;
    memcpy(slot->id, reader->inbox->id, sizeof(slot->id));
    slot->armed = 1;
    slot->used = 1;
    __atomic_store_n(&env->sidecar.map->watched, 1, __ATOMIC_RELAXED);
    return HF_OK;
}

static hf_status join_locked(hf__change_reader *reader, int64_t deadline_ms,
                             hf_error *err)
{
    hf__env *env = reader->inbox->env;
    hf_status status = HF_OK;

    if (env->read_only)
        return hf__env_fail_read_only(err);
    if (reader->users == 0) {
        status = hf__env_lock(env, deadline_ms, err);
        if (status != HF_OK)
            return status;
        status = take_slot(reader, err);
        hf__env_unlock(env);
    }
    if (status == HF_OK)
        reader->users++;
    return status;
}

hf_status hf__change_reader_join(hf__change_reader *reader, int64_t deadline_ms,
                                 hf_error *err)
{
    hf_status status;

    pthread_mutex_lock(&reader->mutex);
    status = join_locked(reader, deadline_ms, err);
    pthread_mutex_unlock(&reader->mutex);
    return status;
}

static void free_slot(hf__changes *changes, uint32_t slot, uint32_t *watched)
{
    changes->slots[slot].used = 0;
    for (size_t i = 0; i < HF__CHANGES_READERS; i++) {
        if (changes->slots[i].used)
            return;
    }
    __atomic_store_n(watched, 0, __ATOMIC_RELAXED);
}

void hf__change_reader_leave(hf__change_reader *reader)
{
    hf__env *env = reader->inbox->env;

    pthread_mutex_lock(&reader->mutex);
    /* Without the lock the slot is freed when writers find it dead. */
    if (--reader->users == 0 &&
        hf__env_lock(env, hf__clock_boot_ms() + LEAVE_MS, NULL) == HF_OK) {
        free_slot(env->changes, reader->slot, &env->sidecar.map->watched);
        hf__env_unlock(env);
    }
    pthread_mutex_unlock(&reader->mutex);
}

/* ------------------------------------------------------------------ feeds */

typedef struct feed_task {
    hf__task base;
    hf__change_reader *reader;
    hf__feed *feed;
    hf_status status;
    hf_error *err;
} feed_task;

static void run_open(hf__task *task)
{
    feed_task *what = (feed_task *)(void *)task;
    hf__change_reader *reader = what->reader;

    if (reader->feeds == NULL) {
        what->status = hf__wake_inbox_watch(reader->inbox, HF__NOTE_TOPIC,
                                            &reader->watch, what->err);
        if (what->status != HF_OK)
            return;
        reader->position =
            __atomic_load_n(&changes_of(reader)->head, __ATOMIC_SEQ_CST);
        reader->stuck_at = NOT_STUCK;
        set_tick(reader);
    }
    what->feed->next = reader->feeds;
    reader->feeds = what->feed;
    look(reader);
}

static void run_close(hf__task *task)
{
    feed_task *what = (feed_task *)(void *)task;
    hf__change_reader *reader = what->reader;
    hf__feed **at = &reader->feeds;

    while (*at != NULL && *at != what->feed)
        at = &(*at)->next;
    if (*at != NULL)
        *at = what->feed->next;
    if (reader->next == what->feed)
        reader->next = what->feed->next;
    if (reader->feeds != NULL)
        return;
    hf__tick_stop(&reader->tick);
    hf__wake_inbox_unwatch(reader->inbox, &reader->watch);
}

static void carry(hf__change_reader *reader, feed_task *what)
{
    if (hf__loop_here(reader->inbox->loop))
        what->base.run(&what->base);
    else
        hf__loop_call(reader->inbox->loop, &what->base);
}

hf_status hf__change_reader_open(hf__change_reader *reader, hf__feed *feed,
                                 int64_t deadline_ms, hf_error *err)
{
    feed_task what = {{run_open, NULL}, reader, feed, HF_OK, err};
    hf_status status = hf__loop_start(reader->inbox->loop, err);

    if (status == HF_OK)
        status = hf__change_reader_join(reader, deadline_ms, err);
    if (status != HF_OK)
        return status;
    carry(reader, &what);
    if (what.status != HF_OK)
        hf__change_reader_leave(reader);
    return what.status;
}

void hf__change_reader_close(hf__change_reader *reader, hf__feed *feed)
{
    feed_task what = {{run_close, NULL}, reader, feed, HF_OK, NULL};

    carry(reader, &what);
    hf__change_reader_leave(reader);
}

hf__change_reader *hf__change_reader_new(hf__wake_inbox *inbox)
{
    hf__change_reader *reader = hf__calloc(1, sizeof(*reader));

    if (reader == NULL)
        return NULL;
    reader->inbox = inbox;
    reader->watch.moved = on_moved;
    reader->tick.ring = on_tick;
    reader->tick.user = reader;
    pthread_mutex_init(&reader->mutex, NULL);
    return reader;
}

void hf__change_reader_free(hf__change_reader *reader)
{
    if (reader == NULL)
        return;
    pthread_mutex_destroy(&reader->mutex);
    hf__free(reader);
}
