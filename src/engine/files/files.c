/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files.c - the files of a store: listing, allocating, syncing, removing them,
 * and what their errors mean.
 *
 * Everything here runs under the directory's lock (directory.c). Only our own
 * files are overwritten.
 */
#include "engine/files/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <lmdb.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/files/rights.h"
#include "util/error.h"

/* Interrupted calls are repeated up to this often. */
#define INTERRUPTED_MAX 100

struct flock hf__files_range(short type, uint32_t first, uint32_t count)
{
    struct flock lock = {0};

    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    lock.l_start = (off_t)first;
    lock.l_len = (off_t)count;
    return lock;
}

hf_status hf__files_fail(hf_error *err, int sys_errno, const char *what)
{
    hf_status status = HF_SYSTEM;

    if (sys_errno == EACCES || sys_errno == EPERM || sys_errno == EROFS)
        status = HF_DENIED;
    else if (sys_errno == ENOSPC || sys_errno == EDQUOT || sys_errno == EFBIG)
        status = HF_FULL;
    else if (sys_errno == ENOMEM)
        status = HF_NO_MEMORY;
    else if (sys_errno == ENOENT || sys_errno == ENOTDIR || sys_errno == ELOOP)
        status = HF_INVALID;
    return hf__fail_errno(err, status, sys_errno, "%s", what);
}

hf_status hf__files_fail_mdb(hf_error *err, int rc, const char *what)
{
    switch (rc) {
    case MDB_MAP_FULL:
        return hf__fail(err, HF_FULL, "%s: the store is full", what);
    case MDB_CORRUPTED:
    case MDB_PAGE_NOTFOUND:
    case MDB_INVALID:
    case MDB_PANIC:
    case MDB_CURSOR_FULL:
        return hf__fail(err, HF_CORRUPT, "%s: %s", what, mdb_strerror(rc));
    case MDB_VERSION_MISMATCH:
        return hf__fail(err, HF_UNSUPPORTED,
                        "%s: written by another version of LMDB", what);
    case MDB_TXN_FULL:
    case MDB_BAD_VALSIZE:
        return hf__fail(err, HF_FULL, "%s: transaction too large", what);
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
        return hf__fail_errno(err, HF_FULL, rc, "%s", what);
    case ENOMEM:
        return hf__fail(err, HF_NO_MEMORY, "%s: out of memory", what);
    case EACCES:
    case EPERM:
    case EROFS:
        return hf__fail_errno(err, HF_DENIED, rc, "%s", what);
    default:
        return hf__fail(err, HF_SYSTEM, "%s: %s", what, mdb_strerror(rc));
    }
}

hf_status hf__files_check_limit(uint64_t size, hf_error *err)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 ||
        limit.rlim_cur == RLIM_INFINITY || size <= limit.rlim_cur)
        return HF_OK;
    return hf__fail(
        err, HF_FULL,
        "the file size limit of the process (RLIMIT_FSIZE) is too low");
}

hf_status hf__files_allocate(int fd, uint64_t size, hf_error *err)
{
    hf_status status = hf__files_check_limit(size, err);
    int rc;

    if (status != HF_OK)
        return status;
    for (int i = 0; i < INTERRUPTED_MAX; i++) {
        rc = posix_fallocate(fd, 0, (off_t)size);
        if (rc == 0)
            return HF_OK;
        if (rc != EINTR)
            return hf__files_fail(err, rc, "cannot allocate space");
    }
    return hf__files_fail(err, EINTR, "cannot allocate space");
}

/* ------------------------------------------------------------- directory */

static bool is_ours(const char *name)
{
    static const char *const names[] = {".",
                                        "..",
                                        HF__FILE_DATA,
                                        HF__FILE_LOCK,
                                        HF__FILE_WAKE,
                                        HF__FILE_CHANGES,
                                        HF__FILE_MESSAGES,
                                        HF__FILE_SIDECAR,
                                        HF__FILE_SIDECAR ".new",
                                        HF__FILE_REWRITE,
                                        HF__FILE_CHECKPOINT,
                                        HF__FILE_CHECKPOINT ".new",
                                        HF__FILE_REDO,
                                        HF__FILE_REDO ".new",
                                        HF__FILE_OPENING};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(name, names[i]) == 0)
            return true;
    }
    return strncmp(name, HF__OPEN_PREFIX, sizeof(HF__OPEN_PREFIX) - 1) == 0;
}

static hf_status look_for_others(int dir_fd, bool *other, hf_error *err)
{
    struct dirent *entry;
    /* Opened again, so that the position of dir_fd does not move. */
    int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);

    if (dir == NULL) {
        int number = errno;

        if (fd >= 0)
            close(fd);
        return hf__files_fail(err, number, "cannot list the directory");
    }
    while (!*other && (entry = readdir(dir)) != NULL)
        *other = !is_ours(entry->d_name);
    closedir(dir);
    return HF_OK;
}

/* st_ino 0: there is none. A file that cannot be looked at is an error: a store
 * that seems to have none is begun. */
static hf_status look_at(int dir_fd, const char *name, struct stat *info,
                         hf_error *err)
{
    if (fstatat(dir_fd, name, info, AT_SYMLINK_NOFOLLOW) == 0)
        return HF_OK;
    memset(info, 0, sizeof(*info));
    if (errno == ENOENT)
        return HF_OK;
    return hf__fail_errno(err, HF_SYSTEM, errno, "cannot stat %s", name);
}

hf_status hf__files_list(int dir_fd, hf__found *found, hf_error *err)
{
    struct stat directory, data, lock, sidecar, checkpoint;
    hf_status status;

    memset(found, 0, sizeof(*found));
    if (fstat(dir_fd, &directory) != 0)
        return hf__files_fail(err, errno, "cannot stat the directory");
    status = look_at(dir_fd, HF__FILE_DATA, &data, err);
    if (status == HF_OK)
        status = look_at(dir_fd, HF__FILE_LOCK, &lock, err);
    if (status == HF_OK)
        status = look_at(dir_fd, HF__FILE_SIDECAR, &sidecar, err);
    if (status == HF_OK)
        status = look_at(dir_fd, HF__FILE_CHECKPOINT, &checkpoint, err);
    if (status != HF_OK)
        return status;
    found->data = data.st_ino != 0;
    if (found->data && !S_ISREG(data.st_mode))
        return hf__fail(err, HF_INVALID, "its data file is not a regular file");
    found->device = found->data ? data.st_dev : directory.st_dev;
    found->data_inode = data.st_ino;
    found->lock_inode = lock.st_ino;
    found->sidecar = sidecar.st_ino != 0;
    found->sidecar_inode = sidecar.st_ino;
    found->checkpoint = checkpoint.st_ino != 0;
    return look_for_others(dir_fd, &found->other, err);
}

hf_status hf__files_sync_names(int dir_fd, hf_error *err)
{
    int parent_fd = openat(dir_fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool fine = fsync(dir_fd) == 0;
    hf_status status = HF_OK;

    /* If the parent may not be read, sync the whole file system. */
    if (parent_fd < 0 && errno == EACCES)
        fine = fine && syncfs(dir_fd) == 0;
    else
        fine = fine && parent_fd >= 0 && fsync(parent_fd) == 0;
    if (!fine)
        status = hf__files_fail(err, errno, "cannot sync the directory");
    if (parent_fd >= 0)
        close(parent_fd);
    return status;
}

hf_status hf__files_wipe(int dir_fd, hf_error *err)
{
    if ((unlinkat(dir_fd, HF__FILE_DATA, 0) != 0 && errno != ENOENT) ||
        (unlinkat(dir_fd, HF__FILE_LOCK, 0) != 0 && errno != ENOENT) ||
        (unlinkat(dir_fd, HF__FILE_CHECKPOINT, 0) != 0 && errno != ENOENT) ||
        (unlinkat(dir_fd, HF__FILE_REDO, 0) != 0 && errno != ENOENT))
        return hf__files_fail(err, errno, "cannot remove the old store");
    return HF_OK;
}
