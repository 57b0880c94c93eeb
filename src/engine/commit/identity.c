/* SPDX-License-Identifier: Apache-2.0 */
/*
 * identity.c - detecting that a store was removed, replaced or truncated while
 * it is open.
 *
 * Two processes must not think that they share a lock while they use different
 * files, nor write to one file under different locks:
 *
 *  1. A process that has a store open holds a shared flock on its data file.
 *     Unlike the locks in the sidecar it persists when the sidecar and LMDB's
 *     lock file are removed, and then prevents others from creating new ones.
 *  2. Every HF__IDENTITY_MS, when there is something to do, the data file is
 *     looked up by its path again. If it is not the open one, the store is no
 *     longer used.
 *
 * The size is checked in the same step, as a courtesy: a file that is truncated
 * between two checks is SIGBUS, as for any program that maps it.
 */
#include "engine/commit/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/files/rights.h"
#include "util/clock.h"
#include "util/error.h"

enum { FINE = 0, REMOVED = 1, CUT = 2 };

#define PATH_SIZE (PATH_MAX + sizeof(HF__FILE_DATA) + 1)

hf_status hf__identity_check_unused(int dir_fd, int64_t until_ms, hf_error *err)
{
    int fd = hf__rights_open(dir_fd, HF__FILE_DATA, O_RDONLY);
    int rc;

    if (fd < 0)
        return hf__files_fail(err, errno, "cannot open the data file");
    for (;;) {
        rc = flock(fd, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
        if (rc != EWOULDBLOCK || hf__clock_boot_ms() >= until_ms)
            break;
        hf__clock_sleep_until(hf__clock_boot_ms() + 1);
    }
    close(fd);
    if (rc == EWOULDBLOCK)
        return hf__fail(err, HF_CORRUPT,
                        "files of the store were removed while it is in use");
    if (rc != 0)
        return hf__files_fail(err, rc, "cannot lock the data file");
    return HF_OK;
}

hf_status hf__identity_claim(hf__env *env, hf_error *err)
{
    if (flock(env->data_fd, LOCK_SH | LOCK_NB) == 0)
        return HF_OK;
    return hf__files_fail(err, errno, "cannot lock the data file");
}

hf_status hf__identity_check_apart(const hf__env *env, const hf__found *found,
                                   hf_error *err)
{
    struct stat sidecar;

    if (env->device != found->device)
        return HF_OK;
    if (fstat(env->sidecar.fd, &sidecar) != 0)
        return hf__files_fail(err, errno, "cannot stat the sidecar");
    if ((found->sidecar_inode == 0 || found->sidecar_inode != sidecar.st_ino) &&
        (found->lock_inode == 0 ||
         found->lock_inode != (ino_t)env->sidecar.map->lock_inode))
        return HF_OK;
    return hf__fail(err, HF_CORRUPT,
                    "files of the store were replaced while it is in use");
}

/* ------------------------------------------------------------- being in use */

/* Truncated, removed, or replaced? EACCES means nothing: the process may have
 * dropped privileges since it opened the store. */
static uint32_t read_state(const hf__env *env)
{
    char path[PATH_SIZE];
    struct stat open_one, found;
    /* Read before the size: others may extend the file meanwhile. */
    uint64_t size =
        __atomic_load_n(&env->sidecar.map->allocated_size, __ATOMIC_ACQUIRE);

    if (fstat(env->data_fd, &open_one) == 0) {
        if ((uint64_t)open_one.st_size < size)
            return CUT;
        if (open_one.st_nlink == 0)
            return REMOVED;
    }
    (void)snprintf(path, sizeof(path), "%s/" HF__FILE_DATA, env->path);
    if (stat(path, &found) != 0)
        return errno == ENOENT || errno == ENOTDIR ? REMOVED : FINE;
    return found.st_ino == env->inode && found.st_dev == env->device ? FINE
                                                                     : REMOVED;
}

/* One thread checks; the others use the last result. */
static uint32_t known_state(hf__env *env, int64_t now_ms)
{
    int64_t before_ms =
        __atomic_load_n(&env->identity_checked_ms, __ATOMIC_RELAXED);
    uint32_t state = __atomic_load_n(&env->identity, __ATOMIC_RELAXED);

    /* The data stays lost even if the file grows again. */
    if (state == CUT || now_ms < before_ms + HF__IDENTITY_MS ||
        !__atomic_compare_exchange_n(&env->identity_checked_ms, &before_ms,
                                     now_ms, false, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED))
        return state;
    state = read_state(env);
    __atomic_store_n(&env->identity, state, __ATOMIC_RELAXED);
    return state;
}

hf_status hf__identity_check(hf__env *env, int64_t now_ms, hf_error *err)
{
    uint32_t state = known_state(env, now_ms);

    if (state == FINE)
        return HF_OK;
    return hf__fail(err, HF_CORRUPT,
                    state == CUT
                        ? "the data file was truncated while it is in use"
                        : "the store was removed or replaced while it is in "
                          "use");
}
