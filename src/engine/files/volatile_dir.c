/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volatile_dir.c - the folder of a user's named volatile stores, or of a
 * group's.
 *
 * All programs of a user must find the same folder, in any session (ADR 0035);
 * so it depends on the user's id and on what exists, not on the environment:
 *
 *  1. /dev/shm/holdfast-UID, if it is the user's or can be created.
 *  2. If it is another user's: a folder where no one else can create any,
 *     /run/user/UID/holdfast, or for root /run/holdfast. Once that exists it is
 *     used until the first one is the user's again.
 *  3. Otherwise: HF_DENIED, naming the owner of the first.
 *
 * $XDG_RUNTIME_DIR counts only where there is neither /dev/shm nor /run/user.
 */
#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "engine/files/files.h"
#include "util/error.h"

#define SHM "/dev/shm"

/* The longest XDG_RUNTIME_DIR, to which a store's name is appended. */
#define RUNTIME_MAX 3000

static bool is_ours(const struct stat *info)
{
    return S_ISDIR(info->st_mode) && info->st_uid == geteuid() &&
           (info->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

static bool is_our_folder(const char *path)
{
    struct stat info;

    return lstat(path, &info) == 0 && is_ours(&info);
}

/* In memory, and writable by no one else. */
static bool is_safe_parent(const char *path)
{
    struct statfs system;

    return is_our_folder(path) && statfs(path, &system) == 0 &&
           system.f_type == TMPFS_MAGIC;
}

static hf_status fail_make(hf_error *err, int number, const char *folder)
{
    hf_status status = hf__files_fail(err, number, "cannot create the folder");

    hf__fail_prefix(err, "\"%s\"", folder);
    return status;
}

static bool runtime_of_user(char *folder, size_t size)
{
    char parent[64];

    if (geteuid() == 0)
        (void)snprintf(parent, sizeof(parent), "/run");
    else
        (void)snprintf(parent, sizeof(parent), "/run/user/%lu",
                       (unsigned long)geteuid());
    (void)snprintf(folder, size, "%s/holdfast", parent);
    return is_safe_parent(parent);
}

static bool runtime_of_session(char *folder, size_t size)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");

    if (runtime == NULL || runtime[0] != '/' || strlen(runtime) > RUNTIME_MAX ||
        !is_our_folder(runtime))
        return false;
    (void)snprintf(folder, size, "%s/holdfast", runtime);
    return true;
}

static bool make_ours(const char *folder)
{
    int rc = hf__files_make_directory(folder);

    return (rc == 0 || rc == EEXIST) && is_our_folder(folder);
}

/* The first folder's path is taken by another user. */
static hf_status go_elsewhere(char *folder, size_t size, hf_error *err)
{
    char other[64];
    struct stat info;

    if (lstat(folder, &info) != 0)
        return fail_make(err, errno, folder);
    if (info.st_uid != geteuid() && runtime_of_user(other, sizeof(other)) &&
        make_ours(other)) {
        (void)snprintf(folder, size, "%s", other);
        return HF_OK;
    }
    if (S_ISDIR(info.st_mode))
        return hf__files_refuse(folder, &info, err);
    return hf__fail(err, HF_DENIED, "\"%s\" is not a directory", folder);
}

static hf_status without_shm(char *folder, size_t size, hf_error *err)
{
    if (!runtime_of_user(folder, size) && !runtime_of_session(folder, size))
        return hf__fail(err, HF_SYSTEM,
                        "no " SHM " and no XDG_RUNTIME_DIR to keep it in");
    return make_ours(folder) ? HF_OK : fail_make(err, errno, folder);
}

hf_status hf__volatile_dir_of_user(char *folder, size_t size, hf_error *err)
{
    char other[64];
    int rc;

    if (access(SHM, W_OK | X_OK) != 0)
        return without_shm(folder, size, err);
    (void)snprintf(folder, size, SHM "/holdfast-%lu", (unsigned long)geteuid());
    if (is_our_folder(folder))
        return HF_OK;
    if (runtime_of_user(other, sizeof(other)) && is_our_folder(other)) {
        (void)snprintf(folder, size, "%s", other);
        return HF_OK;
    }
    rc = hf__files_make_directory(folder);
    if (rc == 0 || is_our_folder(folder))
        return HF_OK;
    return rc == EEXIST ? go_elsewhere(folder, size, err)
                        : fail_make(err, rc, folder);
}

hf_status hf__volatile_dir_of_group(gid_t group, char *folder, size_t size,
                                    hf_error *err)
{
    struct stat info;
    int rc;

    (void)snprintf(folder, size, SHM "/holdfast-group-%lu",
                   (unsigned long)group);
    rc = lstat(folder, &info) == 0 ? EEXIST
                                   : hf__files_make_shared(folder, group);
    if (rc != 0 && rc != EEXIST)
        return fail_make(err, rc, folder);
    if (lstat(folder, &info) != 0)
        return fail_make(err, errno, folder);
    return hf__files_check_group(folder, &info, group, err);
}
