/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flush.c - durability=flush: commits are acknowledged before they are on disk.
 *
 * LMDB runs without syncing. After a power cut its file may hold any mixture of
 * old and new pages; but a snapshot is intact if all its pages were synced and
 * none was overwritten since. One such snapshot exists at any time: the
 * checkpoint. The first open after a boot reverts the file to it
 * (checkpoint.c).
 *
 * A checkpoint of snapshot L, by any process:
 *
 *  1. Under the writer lock, begin a read transaction on L, the last one
 *     committed, and copy its meta page. While that transaction is open LMDB
 *     does not reuse L's pages. Release the lock.
 *  2. fdatasync() the data file: L is on disk.
 *  3. Write L's meta page to the checkpoint file and sync it: from now on a
 *     power cut reverts to L.
 *  4. Under the writer lock, publish L in the sidecar as the checkpoint C.
 *
 * The invariant: every process that writes has a read transaction of its own,
 * its pin, on a snapshot P <= C, begun when that was the last one. LMDB reuses
 * a page only if it was freed before the oldest reader's snapshot; what was
 * freed before P is in no snapshot from P on, so neither in C nor in one that
 * is becoming the next C (it is newer still). A process loses its pin only when
 * it dies, and then it no longer writes; so no process depends on another one
 * being alive. A process without a pin makes a checkpoint first, and pins it.
 * If it cannot get a reader slot at all (LMDB takes it for a process of another
 * PID namespace), it makes a checkpoint before each write and keeps the lock:
 * LMDB itself never overwrites the last snapshot.
 *
 * Pins advance: `next` is a read transaction begun later, on a snapshot N; once
 * C >= N it replaces the pin. A process that has not written for a while drops
 * both, so that it pins no pages if it is stopped.
 *
 * What may be lost: no commit is begun or acknowledged while another one has
 * been waiting for a checkpoint for HARD_MS. Each process's thread makes one
 * much sooner; the first does it for all.
 *
 * After fdatasync() has failed, the system may have dropped dirty pages, and no
 * later sync is reliable. `failed` in the sidecar then refuses all writes, and
 * the next process to open the store alone reverts it to C.
 *
 * Locks: flush->mutex around a checkpoint, one per process at a time; inside it
 * the writer lock, which guards everything else here.
 */
#include <assert.h>
#include <unistd.h>

#include "engine/commit/flush_state.h"
#include "engine/commit/readers.h"
#include "engine/commit/redo.h"
#include "engine/commit/tx.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/futex.h"
#include "util/mutex.h"

/* A commit that waits longer than this for a checkpoint blocks all others. */
#define HARD_MS 1000

/* The same in pages: those freed since the checkpoint cannot be reused, so this
 * bounds how much the file grows. */
#define HARD_PAGES 16384u
#define HARD_SHARE 8u /* of the store's largest size, if that is less */

/* How long a full store waits for other processes' pins, how often it checks
 * them, how many times at least (a machine may run none of them meanwhile), and
 * when it waits again for one that did not move. */
#define OTHERS_MS 1000
#define OTHERS_LOOK_MS 10
#define OTHERS_LOOKS 20
#define OTHERS_AGAIN_MS 5000

static hf__flush_map *map_of(const hf__env *env)
{
    return &env->sidecar.map->flush;
}

static int64_t machine_ms(const hf__env *env)
{
    return hf__sidecar_machine_ms(&env->sidecar, hf__clock_boot_ms());
}

/* ------------------------------------------------------------------- pins */

static void unpin_locked(hf__pin *what)
{
    if (what->set)
        mdb_txn_reset(what->txn);
    what->set = false;
}

/* Pin the last snapshot. Nothing is read in a pin's transaction, so the map may
 * be replaced meanwhile. */
static bool pin_locked(hf__env *env, hf__pin *what)
{
    int rc;

    unpin_locked(what);
    /* Else LMDB refuses, if another process has extended the file. */
    if (!hf__env_adopt_size(env))
        return false;
    rc = what->txn != NULL
             ? mdb_txn_renew(what->txn)
             : mdb_txn_begin(env->mdb, NULL, MDB_RDONLY, &what->txn);
    if (rc != MDB_SUCCESS)
        return false;
    what->set = true;
    what->snapshot = mdb_txn_id(what->txn);
    return true;
}

static hf__pin *pin_of(hf__flush *flush)
{
    return &flush->pins[flush->current];
}

static hf__pin *next_of(hf__flush *flush)
{
    return &flush->pins[1 - flush->current];
}

bool hf__flush_pin_locked(hf__env *env)
{
    return pin_locked(env, pin_of(env->flush));
}

/* By the invariant, the newer one will do once the checkpoint reached it. */
static void move_pin_locked(hf__env *env)
{
    hf__flush *flush = env->flush;

    if (!next_of(flush)->set ||
        next_of(flush)->snapshot > map_of(env)->checkpoint)
        return;
    unpin_locked(pin_of(flush));
    flush->current = 1 - flush->current;
}

void hf__flush_follow_locked(hf__env *env)
{
    hf__flush *flush = env->flush;

    move_pin_locked(env);
    if (pin_of(flush)->set && !next_of(flush)->set &&
        pin_of(flush)->snapshot < map_of(env)->checkpoint) {
        (void)pin_locked(env, next_of(flush));
        move_pin_locked(env);
    }
}

void hf__flush_drop_idle_locked(hf__env *env)
{
    hf__flush *flush = env->flush;

    if (!flush->wrote) {
        unpin_locked(pin_of(flush));
        unpin_locked(next_of(flush));
    }
    flush->wrote = false;
}

bool hf__flush_is_pinned(const hf__env *env)
{
    return env->flush->pins[0].set || env->flush->pins[1].set;
}

/* ------------------------------------------------------------- checkpoint */

static bool has_failed(const hf__env *env)
{
    return __atomic_load_n(&map_of(env)->failed, __ATOMIC_SEQ_CST) ==
           HF__FLUSH_FAILED;
}

typedef struct work {
    hf__checkpoint head;
    int64_t began_ms;
    uint64_t written_pages;
} work;

/* Step 1. */
static hf_status begin_checkpoint_locked(hf__env *env, work *what,
                                         hf_error *err)
{
    hf__flush *flush = env->flush;
    uint64_t last = hf__flush_last_txn(env);

    if (has_failed(env))
        return hf__flush_fail(err);
    flush->pinless = !pin_locked(env, next_of(flush));
    if (!hf__checkpoint_of(env->data_fd, env->page_size, last, &what->head))
        return hf__fail(
            err, HF_CORRUPT,
            "the data file has no meta page of the last transaction");
    what->began_ms = machine_ms(env);
    what->written_pages = map_of(env)->written_pages;
    map_of(env)->claimed_ms = what->began_ms;
    return HF_OK;
}

/* Steps 2 and 3. */
static hf_status put_on_disk(hf__env *env, const work *what, hf_error *err)
{
    if (fdatasync(env->data_fd) != 0) {
        hf__flush_refuse(env);
        return hf__flush_fail(err);
    }
    return hf__checkpoint_write(&env->flush->file, &what->head, err);
}

/* Step 4. */
static void publish_locked(hf__env *env, const work *what)
{
    hf__flush_map *map = map_of(env);

    if (what->head.txn > map->checkpoint) {
        map->checkpoint = what->head.txn;
        map->synced_pages = what->written_pages;
        hf__redo_checkpointed(env);
        /* Commits since then are younger than its beginning. */
        map->unsynced_ms =
            hf__flush_last_txn(env) == what->head.txn ? 0 : what->began_ms;
    }
    map->claimed_ms = 0;
    move_pin_locked(env);
}

/* A stopped process may have it: the thread that makes checkpoints tries again,
 * and can be ended meanwhile. */
static hf_status lock_env(hf__env *env, int64_t deadline_ms, hf_error *err)
{
    if (deadline_ms == INT64_MAX)
        deadline_ms = hf__clock_boot_ms() + HF__FLUSH_LOCK_MS;
    return hf__env_lock(env, deadline_ms, err);
}

hf_status hf__flush_checkpoint(hf__env *env, uint64_t seen, bool keep,
                               int64_t deadline_ms, hf_error *err)
{
    hf__flush *flush = env->flush;
    bool locked = false;
    hf_status status;
    work what;

    if (hf__mutex_lock_until(&flush->mutex, deadline_ms) != 0)
        return hf__fail(err, HF_UNAVAILABLE, "the disk is too slow");
    status = lock_env(env, deadline_ms, err);
    if (status != HF_OK)
        goto unlock_mutex;
    locked = true;
    if (!keep && map_of(env)->checkpoint > seen)
        goto unlock;
    status = begin_checkpoint_locked(env, &what, err);
    if (status != HF_OK)
        goto unlock;
    if (!keep) {
        hf__env_unlock(env);
        locked = false;
    }
    status = put_on_disk(env, &what, err);
    if (status == HF_OK && !locked) {
        status = lock_env(env, deadline_ms, err);
        locked = status == HF_OK;
    }
    if (status == HF_OK)
        publish_locked(env, &what);

unlock:
    if (locked && !(keep && status == HF_OK))
        hf__env_unlock(env);
unlock_mutex:
    pthread_mutex_unlock(&flush->mutex);
    return status;
}

/* ---------------------------------------------------------------- writing */

static uint64_t hard_pages(const hf__env *env)
{
    uint64_t share = env->sidecar.map->max_size / HARD_SHARE / env->page_size;

    return share < HARD_PAGES ? share : HARD_PAGES;
}

static uint64_t unsynced_pages(const hf__env *env)
{
    return map_of(env)->written_pages - map_of(env)->synced_pages;
}

bool hf__flush_is_due(const hf__env *env, int64_t now_ms, int64_t soon_ms)
{
    int64_t since_ms = map_of(env)->unsynced_ms;

    return (since_ms != 0 && now_ms - since_ms >= soon_ms) ||
           unsynced_pages(env) >= hard_pages(env) / 4 || hf__redo_is_due(env);
}

static bool is_late(const hf__env *env, int64_t now_ms)
{
    int64_t since_ms = map_of(env)->unsynced_ms;

    /* What is in a log is safe without. */
    if (env->redo != NULL && hf__redo_is_full(env))
        return true;
    return (since_ms != 0 && env->redo == NULL &&
            now_ms - since_ms >= HARD_MS) ||
           unsynced_pages(env) >= hard_pages(env);
}

static bool may_write(const hf__env *env)
{
    return env->flush->pins[env->flush->current].set ||
           hf__flush_last_txn(env) == map_of(env)->checkpoint;
}

/* Is a checkpoint needed before the next write? */
static bool needs_locked(hf__env *env, int64_t now_ms)
{
    hf__flush *flush = env->flush;

    move_pin_locked(env);
    if (!pin_of(flush)->set &&
        hf__flush_last_txn(env) == map_of(env)->checkpoint)
        flush->pinless = !pin_locked(env, pin_of(flush));
    flush->wrote = true;
    return is_late(env, now_ms) || !may_write(env);
}

hf_status hf__flush_lock(hf__env *env, int64_t deadline_ms, hf_error *err)
{
    /* Each round makes a checkpoint or finds that another process did; bounded
     * by the deadline. */
    for (;;) {
        hf_status status = hf__env_lock(env, deadline_ms, err);
        uint64_t seen;
        bool keep;

        if (status != HF_OK || env->flush == NULL)
            return status;
        if (has_failed(env)) {
            hf__env_unlock(env);
            return hf__flush_fail(err);
        }
        if (!needs_locked(env, machine_ms(env)))
            return HF_OK;
        seen = map_of(env)->checkpoint;
        keep = env->flush->pinless;
        hf__env_unlock(env);
        status = hf__flush_checkpoint(env, seen, keep, deadline_ms, err);
        if (status != HF_OK || keep)
            return status;
        if (hf__clock_boot_ms() >= deadline_ms)
            return hf__fail(err, HF_UNAVAILABLE, "the disk is too slow");
    }
}

/* Pages written by a transaction, roughly: paths to the records, the tree of
 * free pages, and large values. */
static uint64_t pages_of(const hf__tx *tx, uint32_t epoch)
{
    MDB_stat stat;

    if (mdb_env_stat(tx->env->mdb, &stat) != MDB_SUCCESS)
        return 8;
    return stat.ms_depth + 3 + (tx->epoch - epoch) +
           2 * tx->wanted_size / tx->env->page_size;
}

void hf__flush_wrote(hf__tx *tx)
{
    hf__env *env = tx->env;
    hf__flush_map *map = map_of(env);
    uint64_t before, pages;

    assert(pin_of(env->flush)->set ||
           hf__flush_last_txn(env) == map->checkpoint + 1);
    before = unsynced_pages(env);
    pages = pages_of(tx, env->flush->epoch);
    env->flush->epoch = tx->epoch;
    map->written_pages += pages;
    if (map->unsynced_ms == 0) {
        map->unsynced_ms = machine_ms(env);
        hf__flush_wake(env);
    } else if (before < hard_pages(env) / 4 &&
               before + pages >= hard_pages(env) / 4) {
        hf__flush_wake(env);
    }
}

/* Does our pin hold back any pages? */
static bool holds_back_locked(const hf__env *env)
{
    const hf__pin *pin = &env->flush->pins[env->flush->current];

    return pin->set && pin->snapshot < hf__flush_last_txn(env);
}

/*
 * Freed pages may be held back by other processes' pins. These follow the
 * checkpoint when their threads run, within a time slice or two on a busy
 * machine; that of a stopped process does not, and is not waited for again
 * soon.
 */
static bool await_others(hf__env *env, uint64_t oldest, int64_t deadline_ms)
{
    int64_t until_ms = hf__clock_boot_ms() + OTHERS_MS;

    __atomic_store_n(&env->awaiting, oldest, __ATOMIC_RELAXED);
    for (int i = 0; i < OTHERS_LOOKS || hf__clock_boot_ms() < until_ms; i++) {
        if (hf__clock_boot_ms() >= deadline_ms ||
            hf__flush_checkpoint(env, UINT64_MAX, false, deadline_ms, NULL) !=
                HF_OK)
            break;
        hf__flush_wake(env);
        hf__clock_sleep_until(hf__clock_boot_ms() + OTHERS_LOOK_MS);
        if (hf__readers_oldest(env) > oldest)
            return hf__flush_lock(env, deadline_ms, NULL) == HF_OK;
    }
    if (hf__env_lock(env, deadline_ms, NULL) == HF_OK) {
        env->flush->awaited = oldest;
        env->flush->await_again_ms = hf__clock_boot_ms() + OTHERS_AGAIN_MS;
        hf__env_unlock(env);
    }
    return false;
}

bool hf__flush_make_room(hf__env *env, bool again, uint64_t tried,
                         int64_t deadline_ms)
{
    uint64_t oldest;
    bool held;

    if (env->flush == NULL || hf__flush_lock(env, deadline_ms, NULL) != HF_OK)
        return false;
    held = holds_back_locked(env);
    oldest = hf__readers_oldest(env);
    /* Another thread or process may have done it since the try. */
    if (!held && (!again || oldest > tried))
        return true;
    again = again && oldest < hf__flush_last_txn(env) &&
            (oldest != env->flush->awaited ||
             hf__clock_boot_ms() >= env->flush->await_again_ms);
    hf__env_unlock(env);
    if (held)
        return hf__flush_checkpoint(env, 0, true, deadline_ms, NULL) == HF_OK;
    return again && await_others(env, oldest, deadline_ms);
}
