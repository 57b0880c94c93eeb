/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_only.c - opening a store that cannot be written to.
 *
 * Such a reader has no slot in LMDB's lock file, so there must be no writers: a
 * store that other processes have open is refused. Later writers are not
 * prevented; that is up to the user (a snapshot, a backup, a mount that is
 * read-only for all).
 *
 * The sidecar, shared by all processes otherwise, is in private memory.
 */
#include "engine/open/read_only.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "engine/commit/checkpoint.h"
#include "engine/commit/redo.h"
#include "engine/files/header.h"
#include "engine/files/name.h"
#include "engine/files/rights.h"
#include "engine/open/verify.h"
#include "util/error.h"

/* Is the sidecar of this boot? Only then is a volatile store valid. */
static bool is_of_this_boot(int fd)
{
    char boot_id[HF__BOOT_ID_SIZE], found[HF__BOOT_ID_SIZE];

    return hf__boot_id_read(boot_id, NULL) == HF_OK &&
           pread(fd, found, sizeof(found),
                 (off_t)offsetof(hf__sidecar_map, boot_id)) ==
               (ssize_t)sizeof(found) &&
           memcmp(found, boot_id, sizeof(found)) == 0;
}

static hf_status check_sidecar(const hf__settings *settings, int dir_fd,
                               hf_error *err)
{
    hf__sidecar theirs = {
        .fd = hf__rights_open(dir_fd, HF__FILE_SIDECAR, O_RDONLY)};
    bool in_use = theirs.fd >= 0 && hf__sidecar_in_use(&theirs);
    bool same_boot = theirs.fd >= 0 && is_of_this_boot(theirs.fd);

    if (theirs.fd >= 0)
        close(theirs.fd);
    if (in_use)
        return hf__fail(
            err, HF_UNAVAILABLE,
            "it is read-only here, but open for writing in other processes");
    if (settings->mode == HF__MODE_VOLATILE && !same_boot)
        return hf__fail(err, HF_NOT_FOUND,
                        "the volatile store was of an earlier boot");
    return HF_OK;
}

/* Count Unix time as the last writers did, if that was in this boot. */
static void take_clock(int dir_fd, hf__sidecar *sidecar)
{
    int fd = hf__rights_open(dir_fd, HF__FILE_SIDECAR, O_RDONLY);
    int64_t ahead_ms;

    if (fd < 0)
        return;
    if (is_of_this_boot(fd) &&
        pread(fd, &ahead_ms, sizeof(ahead_ms),
              (off_t)offsetof(hf__sidecar_map, unix_ahead_ms)) ==
            (ssize_t)sizeof(ahead_ms))
        sidecar->map->unix_ahead_ms = ahead_ms;
    close(fd);
}

static hf_status open_mdb(hf__env *env, int fd, hf_error *err)
{
    char path[HF__FD_PATH_SIZE];
    MDB_txn *txn = NULL;
    MDB_stat stat;
    int rc = mdb_env_create(&env->mdb);

    hf__rights_fd_path(path, fd);
    if (rc == MDB_SUCCESS)
        rc = mdb_env_set_mapsize(env->mdb, (size_t)env->map_size);
    if (rc == MDB_SUCCESS)
        rc = mdb_env_open(env->mdb, path,
                          MDB_RDONLY | MDB_NOLOCK | MDB_NOTLS | MDB_NOSUBDIR,
                          0600);
    if (rc == MDB_SUCCESS)
        rc = mdb_txn_begin(env->mdb, NULL, MDB_RDONLY, &txn);
    if (rc == MDB_SUCCESS)
        rc = hf__name_open(txn, &env->dbi);
    if (rc == MDB_SUCCESS)
        rc = mdb_env_get_fd(env->mdb, &env->data_fd);
    if (rc == MDB_SUCCESS)
        rc = mdb_env_stat(env->mdb, &stat);
    if (txn != NULL)
        mdb_txn_abort(txn);
    if (rc != MDB_SUCCESS)
        return hf__files_fail_mdb(err, rc, "cannot open the store");
    env->page_size = stat.ms_psize;
    if (fcntl(env->data_fd, F_SETFD, FD_CLOEXEC) != 0)
        return hf__files_fail(err, errno, "cannot open the store");
    return HF_OK;
}

static hf_status open_data(hf__env *env, int dir_fd, hf_error *err)
{
    int fd = hf__rights_open(dir_fd, HF__FILE_DATA, O_RDONLY);
    hf_status status;

    if (fd < 0)
        return hf__files_fail(err, errno, "cannot open the data file");
    status = open_mdb(env, fd, err);
    close(fd);
    return status;
}

hf_status hf__read_only_open(hf__env *env, const hf__settings *settings,
                             int dir_fd, const hf__found *found, hf_error *err)
{
    hf__sidecar_map *map;
    uint64_t size = 0;
    hf_status status;

    env->read_only = true;
    if (!found->data)
        return settings->existing
                   ? hf__fail(err, HF_NOT_FOUND, "there is no store")
                   : hf__fail(err, HF_DENIED,
                              "there is no store, and none can be created: the "
                              "directory is read-only");
    status = check_sidecar(settings, dir_fd, err);
    if (status == HF_OK && settings->mode != HF__MODE_VOLATILE)
        status = hf__redo_check(dir_fd, err);
    if (status == HF_OK)
        status = hf__files_check_data(dir_fd, &size, err);
    if (status == HF_OK)
        status = hf__header_probe(dir_fd, settings, err);
    if (status == HF_OK)
        status = hf__sidecar_private(env->mode, &env->sidecar, err);
    if (status == HF_OK)
        status = hf__verify(env, settings, dir_fd, true, err);
    if (status != HF_OK)
        return status;
    map = env->sidecar.map;
    take_clock(dir_fd, &env->sidecar);
    map->allocated_size = size;
    map->max_size = size > HF__SIZE_DEFAULT ? size : HF__SIZE_DEFAULT;
    map->data_inode = found->data_inode;
    map->lock_inode = found->lock_inode;
    map->own_inode = found->sidecar_inode;
    env->map_size = size;
    env->device = found->device;
    env->inode = found->data_inode;
    return open_data(env, dir_fd, err);
}
