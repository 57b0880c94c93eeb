/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compact.c - `store compact`: delete expired keys, then rewrite the data file
 * without holes.
 *
 *  1. Open the store as usual and delete in small transactions, between which
 *     others may write. Close it.
 *  2. Under the registry's and the directory's lock, which prevent opening it,
 *     check that no process has it open: an exclusive flock on the data file,
 *     on which each user holds a shared one. Otherwise stop here.
 *  3. Check the whole file as `store check` does: LMDB must not read damage,
 *     nor may a good copy of a page be replaced by a bad one.
 *  4. Copy all records in order to a new file (rewrite.c), and sync it.
 *  5. Sync the old file, which others may have written to after step 1, and
 *     empty the log and remove the checkpoint, which are of it. Rename the new
 *     file over the old one and sync the directory: from this instant the new
 *     file counts. If killed before or after it, the name refers to one intact
 *     file; a sidecar with another inode is created again by the next open.
 *  6. Update the sidecar: the file's size, its seal, finally its inode.
 *
 * A left-over new file is removed by the next open or compaction.
 */
#include "engine/maintenance/compact.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/commit/checkpoint.h"
#include "engine/commit/flush.h"
#include "engine/commit/redo.h"
#include "engine/files/rights.h"
#include "engine/fsck/fsck.h"
#include "engine/keys/reclaim.h"
#include "engine/keys/tx_life.h"
#include "engine/maintenance/rewrite.h"
#include "engine/open/env_registry.h"
#include "engine/open/open_store.h"
#include "engine/run/execute.h"
#include "engine/run/write.h"
#include "util/clock.h"
#include "util/error.h"

/* Steps of deleting: as many as there are records, and some more for keys that
 * expire meanwhile. */
#define STEPS_SPARE 1000u

/* ------------------------------------------------------------- reclaiming */

static hf_status try_step(hf__env *env, hf__reclaimed *so_far)
{
    hf__tx *tx = env->write_tx;
    int64_t now_ms = hf__clock_boot_ms();
    hf_status status = hf__env_begin_write(env, now_ms, &tx->txn, &tx->error);

    if (status != HF_OK) {
        tx->wanted_size = 0;
        return status;
    }
    hf__tx_start(tx, now_ms);
    hf__reclaim_some(tx, so_far);
    return hf__tx_finish(tx);
}

/* One transaction under the writer lock. */
static hf_status reclaim_step(hf__env *env, hf__reclaimed *so_far,
                              int64_t deadline_ms, hf_error *err)
{
    hf__reclaimed before = *so_far;
    hf_status status = hf__flush_lock(env, deadline_ms, err);

    if (status != HF_OK)
        return status;
    if (env->write_tx == NULL)
        env->write_tx = hf__tx_new(env, true);
    if (env->write_tx == NULL) {
        hf__env_unlock(env);
        return hf__fail(err, HF_NO_MEMORY, "out of memory");
    }
    status = try_step(env, so_far);
    for (int i = 0; status == HF_FULL && i < HF__WRITE_RETRY_MAX &&
                    hf__write_make_room(env);
         i++) {
        *so_far = before;
        status = try_step(env, so_far);
    }
    if (status != HF_OK)
        hf__fail_copy(err, &env->write_tx->error);
    hf__write_end(env);
    return status;
}

static uint64_t count_records(hf__env *env)
{
    MDB_stat stat = {0};

    pthread_rwlock_rdlock(&env->map_lock);
    if (!env->broken)
        (void)mdb_env_stat(env->mdb, &stat);
    pthread_rwlock_unlock(&env->map_lock);
    return stat.ms_entries;
}

static hf_status reclaim_keys(hf__env *env, const hf__store_config *config,
                              hf_store_compaction *result, hf_error *err)
{
    uint64_t left = count_records(env) + STEPS_SPARE;
    hf__reclaimed so_far = {0};
    hf_status status = HF_OK;

    for (; status == HF_OK && !so_far.done && left > 0; left--)
        status = reclaim_step(
            env, &so_far,
            hf__clock_after(hf__clock_boot_ms(), config->connect_ms), err);
    result->keys = so_far.keys;
    result->elements = so_far.elements;
    return status;
}

/* ------------------------------------------------------------------ alone */

/* HF_OK with result->in_use unset: only this process has the file open. */
static hf_status claim_alone(int dir_fd, int *fd, hf_store_compaction *result,
                             hf_error *err)
{
    hf__found found;
    struct stat info;
    hf_status status = hf__files_list(dir_fd, &found, err);

    if (status != HF_OK)
        return status;
    *fd = hf__rights_open(dir_fd, HF__FILE_DATA, O_RDWR);
    if (*fd < 0)
        return hf__files_fail(err, errno, "cannot open the data file");
    if (fstat(*fd, &info) != 0)
        return hf__files_fail(err, errno, "cannot stat the data file");
    result->size_before = (uint64_t)info.st_size;
    result->size_after = (uint64_t)info.st_size;
    if (hf__registry_find(found.device, found.data_inode) != NULL) {
        result->in_use = true;
        return HF_OK;
    }
    if (flock(*fd, LOCK_EX | LOCK_NB) == 0)
        return HF_OK;
    if (errno != EWOULDBLOCK)
        return hf__files_fail(err, errno, "cannot lock the data file");
    result->in_use = true;
    return HF_OK;
}

/* Update the sidecar for the new file. Otherwise it would be created again,
 * without max_size. `*limit` is the wanted one, then the one it has. */
static void tell_sidecar(int dir_fd, int fd, uint64_t size, uint64_t *limit)
{
    hf__sidecar sidecar;
    struct stat info;
    hf__seal seal;

    if (fstat(fd, &info) != 0 ||
        hf__sidecar_open(dir_fd, &sidecar, NULL) != HF_OK)
        return;
    memset(&seal, 0, sizeof(seal));
    (void)hf__seal_make(fd, &seal);
    sidecar.map->seal = seal;
    sidecar.map->allocated_size = size;
    sidecar.map->sweep_size = 0;
    if (sidecar.map->max_size < size)
        sidecar.map->max_size = size;
    if (*limit >= size)
        sidecar.map->max_size = *limit;
    *limit = sidecar.map->max_size;
    __atomic_store_n(&sidecar.map->data_inode, info.st_ino, __ATOMIC_RELEASE);
    hf__sidecar_close(&sidecar);
}

/* Step 5. */
static hf_status replace_file(int dir_fd, int old_fd,
                              hf_store_compaction *result, hf_error *err)
{
    uint64_t size;
    int fd;
    hf_status status =
        hf__rewrite(dir_fd, result->size_before, &fd, &size, err);

    if (status != HF_OK)
        return status;
    if (fdatasync(old_fd) != 0)
        status = hf__files_fail(err, errno, "cannot sync the data file");
    if (status == HF_OK)
        status = hf__redo_void(dir_fd, err);
    if (status == HF_OK)
        status = hf__checkpoint_remove(dir_fd, err);
    if (status == HF_OK &&
        renameat(dir_fd, HF__FILE_REWRITE, dir_fd, HF__FILE_DATA) != 0)
        status = hf__files_fail(err, errno, "cannot rename the new data file");
    if (status != HF_OK) {
        (void)unlinkat(dir_fd, HF__FILE_REWRITE, 0);
        close(fd);
        return status;
    }
    if (fsync(dir_fd) != 0)
        status = hf__files_fail(err, errno, "cannot sync the directory");
    tell_sidecar(dir_fd, fd, size, &result->max_size);
    close(fd);
    result->rewritten = true;
    result->size_after = size;
    return status;
}

static hf_status rewrite_alone(int dir_fd, hf_store_compaction *result,
                               hf_error *err)
{
    int fd = -1;
    hf_status status = claim_alone(dir_fd, &fd, result, err);

    if (status == HF_OK && !result->in_use)
        status = hf__fsck_file(dir_fd, INT64_MAX, err);
    if (status == HF_OK && !result->in_use)
        status = replace_file(dir_fd, fd, result, err);
    if (fd >= 0)
        close(fd);
    return status;
}

static hf_status rewrite_store(const hf__settings *settings,
                               int64_t deadline_ms, hf_store_compaction *result,
                               hf_error *err)
{
    hf_status status;
    hf__directory directory;

    if (!hf__registry_lock(deadline_ms))
        return hf__fail(err, HF_UNAVAILABLE,
                        "another thread is opening a store");
    status = hf__directory_open(settings, &deadline_ms, &directory, err);
    if (status == HF_OK) {
        status = rewrite_alone(directory.fd, result, err);
        hf__directory_close(&directory);
    }
    hf__registry_unlock();
    return status;
}

/* Rounds the limit as that of a URL. */
static hf_status read_settings(const hf__store_config *config, uint64_t *limit,
                               hf__settings *settings, hf_error *err)
{
    hf_status status = hf__settings_read(config->url, settings, err);

    if (status != HF_OK || *limit == 0)
        return status;
    if (*limit < HF__SIZE_MIN || *limit > HF__SIZE_MAX)
        return hf__fail(err, HF_INVALID,
                        "max_size is %llu; it must be %lld..%lld",
                        (unsigned long long)*limit, (long long)HF__SIZE_MIN,
                        (long long)HF__SIZE_MAX);
    *limit &= ~UINT64_C(0xffff);
    if (settings->max_size < *limit) /* opening it raises the limit */
        settings->max_size = *limit;
    return HF_OK;
}

static hf_status reclaim_open(const hf__settings *settings,
                              const hf__store_config *config,
                              hf_store_compaction *result, hf_error *err)
{
    int64_t deadline_ms =
        hf__clock_after(hf__clock_boot_ms(), config->connect_ms);
    hf__env *env;
    hf_status status = hf__env_open(settings, &deadline_ms, &env, err);

    if (status != HF_OK)
        return status;
    status = reclaim_keys(env, config, result, err);
    result->max_size = env->sidecar.map->max_size;
    hf__env_unref(env);
    return status;
}

hf_status hf__embedded_compact(const hf__store_config *config,
                               hf_store_compaction *result, hf_error *err)
{
    uint64_t limit = result->max_size, before;
    hf__settings settings;
    hf_status status = read_settings(config, &limit, &settings, err);

    if (status != HF_OK)
        return status;
    settings.existing = true;
    status = reclaim_open(&settings, config, result, err);
    if (status != HF_OK)
        return status;
    before = result->max_size;
    if (limit != 0)
        result->max_size = limit;
    status = rewrite_store(
        &settings, hf__clock_after(hf__clock_boot_ms(), config->connect_ms),
        result, err);
    if (!result->rewritten)
        result->max_size = before;
    else if (status == HF_OK && limit != 0 && result->max_size > limit)
        status = hf__fail(err, HF_FULL,
                          "max_size=%lluK is too small: the data has %lluK",
                          (unsigned long long)limit / 1024,
                          (unsigned long long)result->size_after / 1024);
    return status;
}
