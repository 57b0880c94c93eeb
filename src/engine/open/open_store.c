/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open_store.c - from a directory to an open environment, creating the store if
 * there is none.
 *
 * All of it runs under the registry's lock and the directory's:
 *
 *  1. List the files. If this process has the data file open, share it.
 *  2. Check the sidecar (judge_files()): create a new store, create a new
 *     sidecar for existing data, or use both.
 *  3. Under the writer lock, check the data file and the header record, then
 *     open it with LMDB.
 *
 * A new store is created only in a directory without foreign files: if it is
 * empty, if its creator died early (the sidecar says CREATING and we have the
 * lock), or if the store was volatile and the machine was rebooted. Intact
 * durable data is always kept.
 */
#include "engine/open/open_store.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "engine/commit/checkpoint.h"
#include "engine/commit/dead_writer.h"
#include "engine/commit/flush.h"
#include "engine/commit/identity.h"
#include "engine/files/front_lock.h"
#include "engine/files/header.h"
#include "engine/files/name.h"
#include "engine/files/rights.h"
#include "engine/keys/tx_life.h"
#include "engine/lua/functions.h"
#include "engine/native/native.h"
#include "engine/open/env_registry.h"
#include "engine/open/read_only.h"
#include "engine/open/verify.h"
#include "engine/run/job_queue.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/mem.h"

#define FIRST_SIZE (UINT64_C(1) << 20)
/* An adopted file's size is a multiple of this: whole pages. */
#define ADOPT_GRAIN UINT64_C(4096)
/* More than LMDB's 126: slots of a killed process stay taken for a while. */
#define READER_MAX 1000u
/* One cache line per reader slot; the head is far below a page. */
#define LOCK_FILE_SIZE (UINT64_C(64) * READER_MAX + 4096)

/* How long closing waits for a writer. */
#define CLOSE_MS 500
/* How long a killed process may take to close its files. */
#define DYING_MS 200

typedef enum verdict { BEGIN, ADOPT, USE } verdict;

/* LMDB holds a shared record lock on its lock file while it is open. */
static bool lock_file_in_use(int dir_fd)
{
    struct flock lock = hf__files_range(F_WRLCK, 0, 0);
    int fd = hf__rights_open(dir_fd, HF__FILE_LOCK, O_RDWR);
    bool in_use;

    if (fd < 0)
        return false;
    in_use = fcntl(fd, F_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
    close(fd);
    return in_use;
}

/* Is the data file a store of the mode that is asked for? */
static hf_status check_data(int dir_fd, const hf__settings *settings,
                            hf_error *err)
{
    uint64_t size;
    hf_status status = hf__files_check_data(dir_fd, &size, err);

    return status == HF_OK ? hf__header_probe(dir_fd, settings, err) : status;
}

/* The sidecar was not completed. Acknowledged data is intact, and is kept. */
static verdict judge_unfinished(int dir_fd, const hf__settings *settings,
                                const hf__found *found, bool same_boot)
{
    bool synced = settings->mode == HF__MODE_DURABLE || found->checkpoint;

    if (found->data && (same_boot || synced) &&
        check_data(dir_fd, settings, NULL) == HF_OK)
        return ADOPT;
    return BEGIN;
}

static hf_status judge_ready(const hf__sidecar *sidecar, const hf__found *found,
                             bool same_boot, verdict *result, hf_error *err)
{
    const hf__sidecar_map *map = sidecar->map;

    if (!same_boot && map->mode == HF__MODE_VOLATILE) {
        *result = BEGIN;
        return HF_OK;
    }
    if (!found->data)
        return hf__fail(err, HF_CORRUPT, "the store's data file is missing");
    if (same_boot && map->state == HF__SIDECAR_READY &&
        map->data_inode == found->data_inode &&
        map->lock_inode == found->lock_inode &&
        map->own_inode == found->sidecar_inode) {
        *result = USE;
        return HF_OK;
    }
    /* Restored from a copy, or replaced while in use? */
    if (hf__sidecar_in_use(sidecar))
        return hf__fail(err, HF_CORRUPT,
                        "files of the store were replaced while it is in use");
    *result = ADOPT;
    return HF_OK;
}

static hf_status judge_sidecar(const hf__sidecar *sidecar, int dir_fd,
                               const hf__settings *settings,
                               const hf__found *found, verdict *result,
                               hf_error *err)
{
    const hf__sidecar_map *map = sidecar->map;
    char boot_id[HF__BOOT_ID_SIZE];
    hf_status status;
    bool same_boot;

    status = hf__boot_id_read(boot_id, err);
    if (status != HF_OK)
        return status;
    same_boot = memcmp(boot_id, map->boot_id, sizeof(boot_id)) == 0;
    if (map->state == HF__SIDECAR_CREATING) {
        *result = judge_unfinished(dir_fd, settings, found, same_boot);
        return HF_OK;
    }
    status = hf__header_check_mode(map->mode, settings, err);
    if (status != HF_OK)
        return status;
    return judge_ready(sidecar, found, same_boot, result, err);
}

/* Data without a sidecar, which was removed or not copied. */
static hf_status judge_alone(int dir_fd, const hf__settings *settings,
                             verdict *result, hf_error *err)
{
    hf_status status = check_data(dir_fd, settings, err);

    if (status != HF_OK)
        return status;
    if (lock_file_in_use(dir_fd))
        return hf__fail(err, HF_CORRUPT,
                        "the sidecar was removed while the store is in use");
    if (settings->mode == HF__MODE_VOLATILE)
        return hf__fail(err, HF_CORRUPT,
                        "the sidecar is missing: cannot tell whether the "
                        "content is of this boot");
    *result = ADOPT;
    return HF_OK;
}

/* `*ahead_ms`: the clock of a sidecar that is to be replaced; 0: it has none.
 */
static hf_status judge_files(hf__env *env, const hf__settings *settings,
                             int dir_fd, const hf__found *found,
                             verdict *result, int64_t *ahead_ms, hf_error *err)
{
    hf_status status;

    if (found->sidecar) {
        status = hf__sidecar_open(dir_fd, &env->sidecar, err);
        if (status != HF_OK)
            return status;
        status =
            judge_sidecar(&env->sidecar, dir_fd, settings, found, result, err);
        /* One of an earlier version, and no program has it open. */
        if (status == HF_OK && *result == USE &&
            env->sidecar.map->version != HF__SIDECAR_VERSION &&
            hf__identity_check_unused(dir_fd, 0, NULL) == HF_OK) {
            *result = ADOPT;
            *ahead_ms = hf__sidecar_kept_clock(&env->sidecar);
        }
        if (status != HF_OK || *result != USE)
            hf__sidecar_close(&env->sidecar);
        return status;
    }
    if (found->data)
        return judge_alone(dir_fd, settings, result, err);
    if (found->other)
        return hf__fail(err, HF_INVALID,
                        "the directory has other files but no store");
    *result = BEGIN;
    return HF_OK;
}

/* LMDB would create files with a mode subject to the umask, and a sparse lock
 * file, where the first reader on a full tmpfs would get SIGBUS. */
static hf_status make_file(int dir_fd, const char *name, uint64_t size,
                           hf_error *err)
{
    hf_status status = HF_OK;
    int fd = hf__rights_open(dir_fd, name, O_RDWR);

    if (fd < 0 && errno == ENOENT)
        fd = hf__rights_create(dir_fd, name, O_RDWR);
    if (fd < 0) {
        status = hf__files_fail(err, errno, "cannot create it");
        hf__fail_prefix(err, "%s", name);
        return status;
    }
    if (size > 0)
        status = hf__files_allocate(fd, size, err);
    close(fd);
    return status;
}

static int open_database(hf__env *env)
{
    MDB_txn *txn;
    int rc = mdb_txn_begin(env->mdb, NULL, 0, &txn);

    if (rc != MDB_SUCCESS)
        return rc;
    rc = hf__name_open(txn, &env->dbi);
    if (rc != MDB_SUCCESS) {
        mdb_txn_abort(txn);
        return rc;
    }
    return mdb_txn_commit(txn);
}

/* The writer lock is held: LMDB sets the file's size here. */
static hf_status open_mdb(hf__env *env, hf_error *err)
{
    unsigned flags = MDB_NOTLS;
    MDB_stat stat;
    int rc = mdb_env_create(&env->mdb);

    if (rc != MDB_SUCCESS)
        return hf__files_fail_mdb(err, rc, "cannot open the store");
    if (env->mode == HF__MODE_VOLATILE)
        flags |= MDB_NOSYNC | MDB_WRITEMAP | MDB_NOMEMINIT;
    if (env->mode == HF__MODE_FLUSH || env->mode == HF__MODE_LOG)
        flags |= MDB_NOSYNC;
    env->map_size = env->sidecar.map->allocated_size;
    rc = mdb_env_set_mapsize(env->mdb, (size_t)env->map_size);
    if (rc == MDB_SUCCESS)
        rc = mdb_env_set_maxreaders(env->mdb, READER_MAX);
    if (rc == MDB_SUCCESS)
        rc = hf__rights_open_mdb(env->dir_fd, env->mdb, flags);
    if (rc == ENOTSUP)
        return hf__fail(err, HF_SYSTEM, "/proc is not mounted here");
    if (rc == MDB_SUCCESS && env->mode == HF__MODE_VOLATILE)
        env->lock_fd = hf__rights_open(env->dir_fd, HF__FILE_LOCK, O_RDONLY);
    if (rc == MDB_SUCCESS)
        rc = open_database(env);
    if (rc == MDB_SUCCESS)
        rc = mdb_env_get_fd(env->mdb, &env->data_fd);
    if (rc == MDB_SUCCESS)
        rc = mdb_env_stat(env->mdb, &stat);
    if (rc != MDB_SUCCESS)
        return hf__files_fail_mdb(err, rc, "cannot open the store");
    env->page_size = stat.ms_psize;
    /* LMDB does not set it. */
    if (fcntl(env->data_fd, F_SETFD, FD_CLOEXEC) != 0)
        return hf__files_fail(err, errno, "cannot open the store");
    return hf__identity_claim(env, err);
}

static hf_status remember_files(hf__env *env, int dir_fd, hf_error *err)
{
    hf__found found;
    hf_status status = hf__files_list(dir_fd, &found, err);

    if (status != HF_OK)
        return status;
    env->device = found.device;
    env->inode = found.data_inode;
    env->sidecar.map->data_inode = found.data_inode;
    env->sidecar.map->lock_inode = found.lock_inode;
    env->sidecar.map->own_inode = found.sidecar_inode;
    return HF_OK;
}

/* Synced: after a power cut a sidecar that says CREATING is not trusted. */
static hf_status set_ready(hf__env *env, hf_error *err)
{
    hf__sidecar_map *map = env->sidecar.map;

    map->state = HF__SIDECAR_READY;
    if (env->mode != HF__MODE_VOLATILE &&
        (msync(map, sizeof(*map), MS_SYNC) != 0 || fsync(env->sidecar.fd) != 0))
        return hf__files_fail(err, errno, "cannot sync the sidecar");
    return HF_OK;
}

/* Put the header, in a transaction of its own. */
static hf_status write_header(const hf__env *env, hf_error *err)
{
    MDB_txn *txn;
    int rc = mdb_txn_begin(env->mdb, NULL, 0, &txn);

    if (rc != MDB_SUCCESS)
        return hf__files_fail_mdb(err, rc, "cannot create the store");
    rc = hf__header_put(txn, env->dbi, env->mode);
    if (rc != MDB_SUCCESS) {
        mdb_txn_abort(txn);
        return hf__files_fail_mdb(err, rc, "cannot create the store");
    }
    rc = mdb_txn_commit(txn);
    if (rc != MDB_SUCCESS)
        return hf__files_fail_mdb(err, rc, "cannot create the store");
    return HF_OK;
}

static hf_status begin_store(hf__env *env, const hf__settings *settings,
                             int dir_fd, hf_error *err)
{
    hf__sidecar_map *map = env->sidecar.map;
    hf_status status = hf__files_wipe(dir_fd, err);

    map->max_size =
        settings->max_size > 0 ? settings->max_size : HF__SIZE_DEFAULT;
    map->allocated_size = FIRST_SIZE;
    if (status == HF_OK)
        status = hf__files_check_limit(FIRST_SIZE, err);
    if (status == HF_OK)
        status = make_file(dir_fd, HF__FILE_LOCK, LOCK_FILE_SIZE, err);
    if (status == HF_OK)
        status = make_file(dir_fd, HF__FILE_DATA, 0, err);
    if (status == HF_OK)
        status = open_mdb(env, err);
    if (status == HF_OK)
        status = hf__files_allocate(env->data_fd, FIRST_SIZE, err);
    if (status == HF_OK)
        status = write_header(env, err);
    if (status == HF_OK)
        status = hf__flush_open(env, dir_fd, err);
    if (status == HF_OK)
        status = remember_files(env, dir_fd, err);
    if (status == HF_OK && env->mode != HF__MODE_VOLATILE)
        status = hf__files_sync_names(dir_fd, err);
    if (status == HF_OK)
        status = set_ready(env, err);
    env->verified = status == HF_OK;
    return status;
}

/* Is there a block for each page? Only tmpfs counts no blocks but those of the
 * content. */
static bool is_allocated(const hf__env *env)
{
    struct statfs system;
    struct stat info;

    return fstatfs(env->data_fd, &system) == 0 &&
           system.f_type == TMPFS_MAGIC && fstat(env->data_fd, &info) == 0 &&
           (uint64_t)info.st_size >= env->map_size &&
           info.st_blocks >= (info.st_size + 511) / 512;
}

/* Allocating looks up each page, with the writer lock held: 80 ms for 1 GB. */
static hf_status allocate_volatile(hf__env *env, hf_error *err)
{
    return is_allocated(env)
               ? HF_OK
               : hf__files_allocate(env->data_fd, env->map_size, err);
}

static hf_status use_store(hf__env *env, const hf__settings *settings,
                           int dir_fd, bool adopt, hf_error *err)
{
    hf__sidecar_map *map = env->sidecar.map;
    uint64_t size;
    hf_status status = hf__files_check_data(dir_fd, &size, err);

    if (status == HF_OK)
        status = hf__header_probe(dir_fd, settings, err);
    if (status == HF_OK)
        status = hf__verify(env, settings, dir_fd, adopt, err);
    if (status != HF_OK)
        return status;
    if (adopt) {
        map->allocated_size = size & ~(ADOPT_GRAIN - 1);
        /* Without max_size, what was there stays usable. */
        map->max_size = size > HF__SIZE_DEFAULT ? size : HF__SIZE_DEFAULT;
    } else if (size < map->allocated_size) {
        return hf__fail(err, HF_CORRUPT, "the data file was truncated");
    }
    if (map->max_size < settings->max_size)
        map->max_size = settings->max_size;
    (void)unlinkat(dir_fd, HF__FILE_REWRITE, 0); /* of a killed compaction */
    hf__rights_tidy(dir_fd);
    status = make_file(dir_fd, HF__FILE_LOCK, LOCK_FILE_SIZE, err);
    if (status == HF_OK)
        status = open_mdb(env, err);
    if (status == HF_OK && env->mode == HF__MODE_VOLATILE)
        status = allocate_volatile(env, err);
    if (status == HF_OK)
        status = hf__flush_open(env, dir_fd, err);
    if (status == HF_OK)
        status = remember_files(env, dir_fd, err);
    if (status == HF_OK && adopt)
        status = set_ready(env, err);
    return status;
}

/* ------------------------------------------------------------------ open */

/*
 * Since 0.9.26 LMDB's last user destroys its mutexes; a process waiting in
 * mdb_env_open() meanwhile takes them as they are, and each of its transactions
 * fails with EINVAL. Opening holds the writer lock, so closing takes it, too;
 * not for long, as its holder may be stopped. Without `data_fd`, which marks
 * the store as in use until it is closed, the lock might be reset while we hold
 * it.
 */
static void close_mdb(hf__env *env, int data_fd)
{
    bool locked =
        data_fd >= 0 &&
        hf__env_lock(env, hf__clock_boot_ms() + CLOSE_MS, NULL) == HF_OK;

    mdb_env_close(env->mdb);
    if (locked)
        hf__env_unlock(env);
}

/* Free the transaction contexts, and what scripts run in. */
static void free_contexts(hf__env *env)
{
    if (env->users != NULL)
        hf__machine_free(env->users);
    hf__functions_free(env->functions);
    if (env->write_tx != NULL) {
        hf__native_free(env->write_tx->native);
        hf__tx_free(env->write_tx);
    }
    for (size_t i = 0; i < env->reader_count; i++) {
        if (env->readers[i]->txn != NULL)
            mdb_txn_abort(env->readers[i]->txn);
        hf__native_free(env->readers[i]->native);
        hf__tx_free(env->readers[i]);
    }
}

static void close_env(hf__env *env)
{
    int data_fd = -1;

    hf__flush_close(env);
    free_contexts(env);
    if (env->mdb != NULL) {
        data_fd = fcntl(env->data_fd, F_DUPFD_CLOEXEC, 0);
        close_mdb(env, data_fd);
        hf__verify_seal(env, data_fd);
        if (data_fd >= 0)
            close(data_fd);
    }
    if (env->lock_fd >= 0)
        close(env->lock_fd);
    for (size_t i = 0; i < HF__RING_COUNT; i++)
        hf__ring_unmap(&env->rings[i]);
    hf__sidecar_close(&env->sidecar);
    pthread_rwlock_destroy(&env->map_lock);
    pthread_mutex_destroy(&env->readers_lock);
    hf__queue_free(env->queue);
    close(env->dir_fd);
    hf__free(env->scan_positions);
    hf__free(env);
}

/* Readers that always overlap must not keep out the writer, which has the
 * store's writer lock; no thread locks it for reading twice. */
static void init_map_lock(hf__env *env)
{
    pthread_rwlockattr_t how;

    pthread_rwlockattr_init(&how);
#ifdef __GLIBC__ /* which prefers readers */
    pthread_rwlockattr_setkind_np(&how,
                                  PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
#endif
    pthread_rwlock_init(&env->map_lock, &how);
    pthread_rwlockattr_destroy(&how);
}

static hf_status new_env(const hf__settings *settings, int dir_fd,
                         hf__env **result, hf_error *err)
{
    hf__env *env = hf__calloc(1, sizeof(*env));
    int number;

    if (env == NULL)
        return hf__fail(err, HF_NO_MEMORY, "out of memory");
    env->queue = hf__queue_new();
    if (env->queue == NULL) {
        hf__free(env);
        return hf__fail(err, HF_NO_MEMORY, "out of memory");
    }
    env->dir_fd = fcntl(dir_fd, F_DUPFD_CLOEXEC, 0);
    if (env->dir_fd < 0) {
        number = errno;
        hf__queue_free(env->queue);
        hf__free(env);
        return hf__files_fail(err, number, "cannot open the store");
    }
    env->refs = 1;
    env->mode = settings->mode;
    env->sidecar.fd = -1;
    env->data_fd = env->lock_fd = -1;
    memcpy(env->path, settings->path, sizeof(env->path));
    init_map_lock(env);
    pthread_mutex_init(&env->readers_lock, NULL);
    *result = env;
    return HF_OK;
}

/* If no other process has it open, reset what earlier ones left. */
static hf_status use_alone(hf__env *env, int dir_fd, hf_error *err)
{
    hf_status status;

    if (hf__identity_check_unused(dir_fd, 0, NULL) != HF_OK)
        return HF_OK;
    hf__dead_writer_undo(env);
    hf__sidecar_reset(env->sidecar.map);
    if (env->sidecar.map->flush.failed != HF__FLUSH_FAILED)
        return HF_OK;
    status = hf__checkpoint_recover(dir_fd, true, err);
    env->reverted = status == HF_OK;
    return status;
}

static hf_status fill_env(hf__env *env, const hf__settings *settings,
                          int dir_fd, const hf__found *found,
                          int64_t deadline_ms, hf_error *err)
{
    verdict what = BEGIN;
    hf_status status = HF_OK;
    int64_t ahead_ms = 0;

    if (found->data && settings->mode != HF__MODE_VOLATILE)
        status = hf__checkpoint_recover(dir_fd, false, err);
    if (status == HF_OK)
        status =
            judge_files(env, settings, dir_fd, found, &what, &ahead_ms, err);
    /* Only after checking that the data is ours. */
    if (status == HF_OK && what == ADOPT)
        status = check_data(dir_fd, settings, err);
    if (status == HF_OK && what != USE && found->data)
        status = hf__identity_check_unused(dir_fd,
                                           hf__clock_boot_ms() + DYING_MS, err);
    if (status == HF_OK && what == USE)
        status = use_alone(env, dir_fd, err);
    if (status == HF_OK && what == BEGIN && settings->existing)
        status = hf__fail(err, HF_NOT_FOUND, "there is no store");
    if (status == HF_OK && what != USE)
        status = hf__sidecar_create(dir_fd, env->mode,
                                    what == BEGIN ? HF__SIDECAR_CREATING
                                                  : HF__SIDECAR_ADOPTING,
                                    ahead_ms, &env->sidecar, err);
    if (status != HF_OK)
        return status;
    hf__front_lock_join(&env->sidecar);
    status = hf__env_lock(env, deadline_ms, err);
    if (status != HF_OK)
        return status;
    if (what == BEGIN)
        status = begin_store(env, settings, dir_fd, err);
    else
        status = use_store(env, settings, dir_fd, what == ADOPT, err);
    hf__env_unlock(env);
    return status;
}

static hf_status share_env(hf__env *env, const hf__settings *settings,
                           int dir_fd, int64_t deadline_ms, hf_error *err)
{
    hf_status status = hf__header_check_mode(env->mode, settings, err);

    if (status == HF_OK)
        status = hf__env_lock(env, deadline_ms, err);
    if (status != HF_OK)
        return status;
    /* So far opened by `store check` only. */
    if (!env->verified)
        status = hf__verify(env, settings, dir_fd, false, err);
    if (status == HF_OK && env->sidecar.map->max_size < settings->max_size)
        env->sidecar.map->max_size = settings->max_size;
    hf__env_unlock(env);
    if (status == HF_OK)
        env->refs++;
    return status;
}

static hf_status open_here(const hf__settings *settings,
                           const hf__directory *directory, int64_t deadline_ms,
                           hf__env **result, hf_error *err)
{
    int dir_fd = directory->fd;
    hf__found found;
    hf__env *env;
    hf_status status = hf__files_list(dir_fd, &found, err);

    if (status != HF_OK)
        return status;
    env = found.data ? hf__registry_find(found.device, found.data_inode) : NULL;
    if (env != NULL) {
        status = share_env(env, settings, dir_fd, deadline_ms, err);
        if (status == HF_OK)
            *result = env;
        return status;
    }
    status = hf__registry_check_apart(&found, err);
    if (status != HF_OK)
        return status;
    status = new_env(settings, dir_fd, &env, err);
    if (status != HF_OK)
        return status;
    if (directory->read_only)
        status = hf__read_only_open(env, settings, dir_fd, &found, err);
    else
        status = fill_env(env, settings, dir_fd, &found, deadline_ms, err);
    if (status != HF_OK) {
        close_env(env);
        return status;
    }
    hf__registry_add(env);
    *result = env;
    return HF_OK;
}

hf_status hf__env_open(const hf__settings *settings, int64_t *deadline_ms,
                       hf__env **env, hf_error *err)
{
    char text[HF__QUOTED_SIZE];
    hf__directory directory;
    hf_status status;

    if (!hf__registry_lock(*deadline_ms))
        return hf__fail(err, HF_UNAVAILABLE,
                        "another thread is opening a store");
    status = hf__directory_open(settings, deadline_ms, &directory, err);
    if (status == HF_OK) {
        status = open_here(settings, &directory, *deadline_ms, env, err);
        hf__directory_close(&directory);
        if (status != HF_OK)
            hf__fail_prefix(err, "%s", hf__quoted_path(text, settings->path));
    }
    hf__registry_unlock();
    return status;
}

void hf__env_unref(hf__env *env)
{
    /* Without a limit: opening is bounded by its own deadline. */
    (void)hf__registry_lock(INT64_MAX);
    if (--env->refs == 0) {
        hf__registry_remove(env);
        close_env(env);
    }
    hf__registry_unlock();
}
