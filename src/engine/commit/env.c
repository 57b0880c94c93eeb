/* SPDX-License-Identifier: Apache-2.0 */
/*
 * env.c - transactions, space and readers of an open environment.
 *
 * Space: LMDB's map is exactly as large as the allocated blocks, so that LMDB
 * fails (MDB_MAP_FULL) where the file system would raise SIGBUS. A transaction
 * that reaches the end is undone, the file is extended, and it runs again. The
 * allocated size is in the sidecar and only grows, under the writer lock; each
 * process adopts it at its next write. LMDB copies each page that it changes,
 * so a transaction that only deletes may need as many new pages as it visits:
 * for these the file may exceed max_size.
 *
 * Pages: LMDB writes a page again when its table of readers says that none can
 * see it. ThreadSanitizer does not see that a reader that ended, and a commit,
 * come before the transaction that begins then, or that needs a page then
 * (util/tsan.h).
 *
 * Locks: the writer lock (sidecar) around each write transaction, so that
 * LMDB's own is always free; map_lock inside it.
 */
#include "engine/commit/env.h"

#include <errno.h>
#include <sys/types.h>

#include "engine/commit/dead_writer.h"
#include "engine/commit/identity.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/probe.h"
#include "util/tsan.h"

/* Our transactions touch few pages: with so many free ones at the start they
 * rarely have to run twice. */
#define AHEAD_PAGES 64u
#define STEP_MAX (UINT64_C(16) << 20)
#define STEP_MIN (UINT64_C(1) << 18)
/* How large the file may become, in times of max_size, for transactions that
 * only delete; by how much it grows at once. */
#define OVERDRAFT 2u
#define OVERDRAFT_SHARE 8u
/* How often a full disk is tried again, and dead readers are looked for: LMDB
 * never looks by itself, and each pins old pages. */
#define RETRY_MS 1000

/* For each so many readers, of all that were there at once, a process looks for
 * dead ones by RETRY_MS later; from READERS_MANY on not at its first write. */
#define READERS_A_LOOK 8
#define READERS_MANY 32

hf_status hf__env_fail_read_only(hf_error *err)
{
    return hf__fail(
        err, HF_DENIED,
        "the store is read-only: no permission to write to its directory");
}

static uint64_t max_size(const hf__env *env)
{
    return __atomic_load_n(&env->sidecar.map->max_size, __ATOMIC_RELAXED);
}

hf_status hf__env_fail_full(const hf__env *env, hf_error *err)
{
    const hf__sidecar_map *map = env->sidecar.map;

    if (env->disk_full)
        return hf__fail(err, HF_FULL,
                        "no space left on device: the store %s cannot grow "
                        "beyond %lluK",
                        env->path,
                        (unsigned long long)(map->allocated_size >> 10));
    return hf__fail(err, HF_FULL,
                    "the store %s is full (max_size=%lluK): delete keys or "
                    "open it with a larger max_size",
                    env->path, (unsigned long long)(max_size(env) >> 10));
}

/* ------------------------------------------------------------------ room */

bool hf__env_adopt_size(hf__env *env)
{
    uint64_t size = env->sidecar.map->allocated_size;
    int rc;

    if (size == env->map_size)
        return true;
    pthread_rwlock_wrlock(&env->map_lock);
    rc = mdb_env_set_mapsize(env->mdb, (size_t)size);
    /* After a failure LMDB has no map. */
    env->broken = rc != MDB_SUCCESS;
    pthread_rwlock_unlock(&env->map_lock);
    env->map_size = size;
    return rc == MDB_SUCCESS;
}

/* By `step` bytes or as much as possible, up to `most` in all. */
static bool extend_file(hf__env *env, uint64_t step, uint64_t most,
                        int64_t now_ms)
{
    hf__sidecar_map *map = env->sidecar.map;
    uint64_t size = map->allocated_size;
    uint64_t room = most > size ? most - size : 0;

    if (step > room)
        step = room;
    if (step == 0 || now_ms < env->grow_retry_ms)
        return false;
    while (hf__files_allocate(env->data_fd, size + step, NULL) != HF_OK) {
        if (step / 2 < STEP_MIN) {
            env->grow_retry_ms = now_ms + RETRY_MS;
            env->disk_full = true;
            return false;
        }
        step = step / 2 & ~(uint64_t)(env->page_size - 1);
    }
    env->disk_full = false;
    /* Read without the lock by identity.c. */
    __atomic_store_n(&map->allocated_size, size + step, __ATOMIC_RELAXED);
    return hf__env_adopt_size(env);
}

bool hf__env_grow(hf__env *env, uint64_t wanted_size, int64_t now_ms)
{
    uint64_t size = env->sidecar.map->allocated_size;
    uint64_t step = size < STEP_MAX ? size : STEP_MAX;

    if (step < wanted_size)
        step = (wanted_size + STEP_MIN) & ~(STEP_MIN - 1);
    return extend_file(env, step, max_size(env), now_ms);
}

bool hf__env_overdraw(hf__env *env, int64_t now_ms)
{
    uint64_t most = max_size(env);
    uint64_t step = (most / OVERDRAFT_SHARE + STEP_MIN) & ~(STEP_MIN - 1);

    return extend_file(env, step, OVERDRAFT * most, now_ms);
}

uint64_t hf__env_limit_pages(const hf__env *env)
{
    uint64_t size = max_size(env);
    uint64_t allocated_size = env->sidecar.map->allocated_size;

    /* On a full disk the store cannot grow. */
    if (env->grow_retry_ms > 0 && allocated_size < size)
        size = allocated_size;
    return size / env->page_size;
}

uint64_t hf__env_reserve_pages(const hf__env *env)
{
    return 64 + hf__env_limit_pages(env) / 64;
}

/* ---------------------------------------------------------- transactions */

hf_status hf__env_lock(hf__env *env, int64_t deadline_ms, hf_error *err)
{
    bool died;

    if (hf__sidecar_lock(&env->sidecar, deadline_ms, &died)) {
        if (died) {
            hf__dead_writer_undo(env);
            hf__sidecar_lock_mended(&env->sidecar);
        }
        return HF_OK;
    }
    return hf__fail(err, HF_UNAVAILABLE,
                    "the store is locked by another process");
}

void hf__env_unlock(hf__env *env)
{
    hf__sidecar_unlock(&env->sidecar);
}

/* Free the slots of killed readers. false: none. */
static bool drop_dead_readers(hf__env *env, int64_t now_ms)
{
    int dead = 0;

    env->readers_checked_ms = now_ms;
    return mdb_reader_check(env->mdb, &dead) == MDB_SUCCESS && dead > 0;
}

/* LMDB asks the kernel about each reader, which searches the record locks of
 * all processes, with the writer lock held. If each of 1000 processes did that
 * every RETRY_MS, no time were left for writing. */
static bool is_look_due(hf__env *env, unsigned readers, int64_t now_ms)
{
    if (env->readers_checked_ms == 0 && readers > READERS_MANY)
        env->readers_checked_ms = now_ms;
    return now_ms >= env->readers_checked_ms +
                         RETRY_MS * (1 + (int64_t)(readers / READERS_A_LOOK));
}

hf_status hf__env_begin_write(hf__env *env, int64_t now_ms, MDB_txn **txn,
                              hf_error *err)
{
    hf_status status = hf__identity_check(env, now_ms, err);
    MDB_envinfo info;
    uint64_t end;
    bool longer;
    int rc;

    if (status != HF_OK)
        return status;
    if (env->read_only)
        return hf__env_fail_read_only(err);
    if (!hf__env_adopt_size(env) || env->broken)
        return hf__fail(err, HF_SYSTEM, "cannot map the data file");
    (void)mdb_env_info(env->mdb, &info);
    longer = info.me_last_pgno > env->last_page;
    env->last_page = info.me_last_pgno;
    end = (info.me_last_pgno + 1 + AHEAD_PAGES) * env->page_size;
    /* LMDB takes pages at the end only when it finds no free ones; removing a
     * dead reader may free some. */
    if (end > env->map_size && longer && !drop_dead_readers(env, now_ms))
        (void)hf__env_grow(env, AHEAD_PAGES * env->page_size, now_ms);
    else if (end <= env->map_size && env->map_size < env->sidecar.map->max_size)
        env->grow_retry_ms = 0;
    if (env->broken)
        return hf__fail(err, HF_SYSTEM, "cannot map the data file");
    env->tight = end > hf__env_limit_pages(env) / 8 * 7 * env->page_size;
    if (is_look_due(env, info.me_numreaders, now_ms))
        (void)drop_dead_readers(env, now_ms);
    rc = mdb_txn_begin(env->mdb, NULL, 0, txn);
    if (rc != MDB_SUCCESS)
        return hf__files_fail_mdb(err, rc, "cannot begin a transaction");
    hf__tsan_acquire(env);
    return HF_OK;
}

int hf__env_commit(hf__env *env, MDB_txn *txn)
{
    int rc;

    hf__tsan_release(env);
    HF__PROBE(1, commit__begin, (const char *)env->path);
    rc = mdb_txn_commit(txn);
    HF__PROBE(2, commit__end, (const char *)env->path, rc);
    return rc;
}

static int begin_or_renew(hf__env *env, MDB_txn **txn)
{
    if (*txn != NULL)
        return mdb_txn_renew(*txn);
    return mdb_txn_begin(env->mdb, NULL, MDB_RDONLY, txn);
}

hf_status hf__env_begin_read(hf__env *env, MDB_txn **txn, hf_error *err)
{
    hf_status status = hf__identity_check(env, hf__clock_boot_ms(), err);
    int rc;

    if (status != HF_OK)
        return status;
    pthread_rwlock_rdlock(&env->map_lock);
    if (env->broken) {
        pthread_rwlock_unlock(&env->map_lock);
        return hf__fail(err, HF_SYSTEM, "cannot map the data file");
    }
    rc = begin_or_renew(env, txn);
    if (rc == MDB_READERS_FULL) {
        int dead;

        (void)mdb_reader_check(env->mdb, &dead);
        rc = begin_or_renew(env, txn);
    }
    if (rc == MDB_SUCCESS) {
        hf__tsan_acquire(env);
        return HF_OK;
    }
    pthread_rwlock_unlock(&env->map_lock);
    if (rc == MDB_MAP_RESIZED)
        return hf__fail(err, HF_UNAVAILABLE,
                        "another process has extended the data file");
    if (rc == MDB_READERS_FULL || rc == EAGAIN)
        return hf__fail(err, HF_UNAVAILABLE, "no free reader slot");
    return hf__files_fail_mdb(err, rc, "cannot begin a transaction");
}

void hf__env_pause_read(hf__env *env)
{
    pthread_rwlock_unlock(&env->map_lock);
}

bool hf__env_resume_read(hf__env *env)
{
    pthread_rwlock_rdlock(&env->map_lock);
    return !env->broken;
}

void hf__env_end_read(hf__env *env, MDB_txn *txn)
{
    hf__tsan_release(env);
    mdb_txn_reset(txn);
    pthread_rwlock_unlock(&env->map_lock);
}
