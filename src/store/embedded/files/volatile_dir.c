/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volatile_dir.c - the folder of a user's named volatile stores, or of a
 * group's.
 *
 * All programs of a user must find the same one, whatever session they run in
 * (ADR 0035); so it depends on the user's id and on what is there, not on the
 * environment:
 *
 *  1. /dev/shm/holdfast-UID, if it is the user's or can be made.
 *  2. If somebody else made it: a folder where nobody else can make any,
 *     /run/user/UID/holdfast, or for root /run/holdfast. Once that is there it
 *     is used until the first one is the user's again.
 *  3. If there is none of these: HF_DENIED, which names who made the first.
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

#include "store/embedded/files/files.h"
#include "util/error.h"

#define SHM "/dev/shm"

/* The longest XDG_RUNTIME_DIR; a store's name comes behind it. */
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

/* In memory, and nobody else can make anything there. */
static bool is_safe_parent(const char *path)
{
    struct statfs system;

    return is_our_folder(path) && statfs(path, &system) == 0 &&
           system.f_type == TMPFS_MAGIC;
}

static hf_status fail_make(hf_error *err, int number, const char *home)
{
    hf_status status = hf__files_fail(err, number, "cannot create the folder");

    hf__fail_prefix(err, "\"%s\"", home);
    return status;
}

static bool runtime_of_user(char *home, size_t size)
{
    char parent[64];

    if (geteuid() == 0)
        (void)snprintf(parent, sizeof(parent), "/run");
    else
        (void)snprintf(parent, sizeof(parent), "/run/user/%lu",
                       (unsigned long)geteuid());
    (void)snprintf(home, size, "%s/holdfast", parent);
    return is_safe_parent(parent);
}

static bool runtime_of_session(char *home, size_t size)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");

    if (runtime == NULL || runtime[0] != '/' || strlen(runtime) > RUNTIME_MAX ||
        !is_our_folder(runtime))
        return false;
    (void)snprintf(home, size, "%s/holdfast", runtime);
    return true;
}

static bool make_ours(const char *home)
{
    int rc = hf__files_make_directory(home);

    return (rc == 0 || rc == EEXIST) && is_our_folder(home);
}

/* There is something in the place of the first one that is not ours. */
static hf_status go_elsewhere(char *home, size_t size, hf_error *err)
{
    char other[64];
    struct stat info;

    if (lstat(home, &info) != 0)
        return fail_make(err, errno, home);
    if (info.st_uid != geteuid() && runtime_of_user(other, sizeof(other)) &&
        make_ours(other)) {
        (void)snprintf(home, size, "%s", other);
        return HF_OK;
    }
    if (S_ISDIR(info.st_mode))
        return hf__files_refuse(home, &info, err);
    return hf__fail(err, HF_DENIED, "\"%s\" is not a directory", home);
}

static hf_status without_shm(char *home, size_t size, hf_error *err)
{
    if (!runtime_of_user(home, size) && !runtime_of_session(home, size))
        return hf__fail(err, HF_SYSTEM,
                        "no " SHM " and no XDG_RUNTIME_DIR to keep it in");
    return make_ours(home) ? HF_OK : fail_make(err, errno, home);
}

hf_status hf__files_home(char *home, size_t size, hf_error *err)
{
    char other[64];
    int rc;

    if (access(SHM, W_OK | X_OK) != 0)
        return without_shm(home, size, err);
    (void)snprintf(home, size, SHM "/holdfast-%lu", (unsigned long)geteuid());
    if (is_our_folder(home))
        return HF_OK;
    if (runtime_of_user(other, sizeof(other)) && is_our_folder(other)) {
        (void)snprintf(home, size, "%s", other);
        return HF_OK;
    }
    rc = hf__files_make_directory(home);
    if (rc == 0 || is_our_folder(home))
        return HF_OK;
    return rc == EEXIST ? go_elsewhere(home, size, err)
                        : fail_make(err, rc, home);
}

hf_status hf__files_group_home(gid_t group, char *home, size_t size,
                               hf_error *err)
{
    struct stat info;
    int rc;

    (void)snprintf(home, size, SHM "/holdfast-group-%lu", (unsigned long)group);
    rc = lstat(home, &info) == 0 ? EEXIST : hf__files_make_shared(home, group);
    if (rc != 0 && rc != EEXIST)
        return fail_make(err, rc, home);
    if (lstat(home, &info) != 0)
        return fail_make(err, errno, home);
    return hf__files_check_group(home, &info, group, err);
}
