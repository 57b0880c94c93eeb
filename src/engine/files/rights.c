/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rights.c - opening files safely in a directory that other users may write to.
 *
 * A directory shared by a group may hold anything at any time: links to files
 * of root, hard links, FIFOs. So every file is opened without following links,
 * and then checked by its descriptor: it must be a regular file with one name,
 * the directory's group and mode 0660. Every member can write to such a file
 * anyway, so no member gains anything by placing one there.
 *
 * LMDB opens by name. For a shared directory it is given a temporary folder
 * that only we may write to, in which data.mdb and lock.mdb are links to
 * descriptors of files that were checked.
 *
 * These descriptors are O_PATH: closing any other descriptor of the lock file
 * would drop LMDB's record locks on it.
 */
#include "engine/files/rights.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/files/files.h"
#include "util/rand.h"

#define NAME_SIZE 32
#define FD_FOLDER "/proc/thread-self/fd"

void hf__rights_fd_path(char path[HF__FD_PATH_SIZE], int fd)
{
    (void)snprintf(path, HF__FD_PATH_SIZE, FD_FOLDER "/%d", fd);
}

bool hf__rights_shared(const struct stat *directory)
{
    return (directory->st_mode & S_IWGRP) != 0;
}

bool hf__rights_chmod(int fd, mode_t mode)
{
    char path[HF__FD_PATH_SIZE];

    hf__rights_fd_path(path, fd);
    return chmod(path, mode) == 0;
}

static bool is_of_store(int dir_fd, int fd)
{
    struct stat directory, file;

    if (fstat(dir_fd, &directory) != 0 || fstat(fd, &file) != 0 ||
        !S_ISREG(file.st_mode))
        return false;
    return !hf__rights_shared(&directory) ||
           (file.st_gid == directory.st_gid && file.st_nlink == 1 &&
            (file.st_mode & 0777) == 0660);
}

/* `fd` if it is a file of the store. */
static int check_group(int dir_fd, int fd)
{
    if (fd < 0 || is_of_store(dir_fd, fd))
        return fd;
    close(fd);
    errno = EPERM;
    return -1;
}

int hf__rights_open(int dir_fd, const char *name, int flags)
{
    /* Opening a FIFO would block. */
    return check_group(
        dir_fd, openat(dir_fd, name,
                       flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
}

/* Of a new file: `fd` may be O_PATH. */
static bool give_to_group(int dir_fd, int fd)
{
    struct stat directory, file;
    mode_t mode = 0600;

    if (fstat(dir_fd, &directory) != 0 || fstat(fd, &file) != 0)
        return false;
    if (S_ISDIR(file.st_mode))
        mode = hf__rights_shared(&directory) ? 02770 : 0700;
    else if (hf__rights_shared(&directory))
        mode = 0660;
    if (hf__rights_shared(&directory) && file.st_gid != directory.st_gid &&
        fchownat(fd, "", (uid_t)-1, directory.st_gid, AT_EMPTY_PATH) != 0)
        return false;
    return (file.st_mode & 07777) == mode || hf__rights_chmod(fd, mode);
}

bool hf__rights_give(int dir_fd, int at_fd, const char *name)
{
    int fd = openat(at_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    struct stat info;
    bool given;
    int number;

    if (fd < 0 || fstat(fd, &info) != 0)
        return false;
    /* Another process may have replaced it. */
    errno = EPERM;
    given = info.st_uid == geteuid() &&
            (S_ISDIR(info.st_mode) || S_ISFIFO(info.st_mode)) &&
            give_to_group(dir_fd, fd);
    number = errno;
    close(fd);
    errno = number;
    return given;
}

int hf__rights_create(int dir_fd, const char *name, int flags)
{
    int fd = openat(dir_fd, name, flags | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    int number;

    if (fd < 0 || give_to_group(dir_fd, fd))
        return fd;
    number = errno;
    (void)unlinkat(dir_fd, name, 0);
    close(fd);
    errno = number;
    return -1;
}

/* -------------------------------------------------------------------- LMDB */

/* A link in `folder_fd` to the store's file `name`. */
static bool put_link(int dir_fd, int folder_fd, const char *name, int *fd)
{
    char path[HF__FD_PATH_SIZE];

    *fd = check_group(dir_fd,
                      openat(dir_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (*fd < 0)
        return false;
    hf__rights_fd_path(path, *fd);
    return symlinkat(path, folder_fd, name) == 0;
}

/* A new folder that only we may write to. */
static int make_folder(int dir_fd, char name[NAME_SIZE])
{
    struct stat info;
    char chance[17];
    int fd;

    hf__rand_hex(chance, 8);
    (void)snprintf(name, NAME_SIZE, HF__OPEN_PREFIX "%s", chance);
    if (mkdirat(dir_fd, name, 0700) != 0)
        return -1;
    fd = openat(dir_fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &info) == 0 && info.st_uid == geteuid() &&
        hf__rights_chmod(fd, 0700))
        return fd;
    if (fd >= 0)
        close(fd);
    errno = EPERM;
    return -1;
}

static int open_at(int fd, MDB_env *mdb, unsigned flags)
{
    char path[HF__FD_PATH_SIZE];
    int rc;

    hf__rights_fd_path(path, fd);
    rc = mdb_env_open(mdb, path, flags, 0600);
    return rc == ENOENT && access(FD_FOLDER, F_OK) != 0 ? ENOTSUP : rc;
}

static void remove_folder(int dir_fd, const char *name)
{
    int fd =
        openat(dir_fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat info;

    /* With that mode no one else can have created it or its content. */
    if (fd >= 0 && fstat(fd, &info) == 0 && info.st_uid == geteuid() &&
        (info.st_mode & 0777) == 0700) {
        (void)unlinkat(fd, HF__FILE_DATA, 0);
        (void)unlinkat(fd, HF__FILE_LOCK, 0);
        (void)unlinkat(dir_fd, name, AT_REMOVEDIR);
    }
    if (fd >= 0)
        close(fd);
}

static int open_shared(int dir_fd, MDB_env *mdb, unsigned flags)
{
    char name[NAME_SIZE];
    int data_fd = -1, lock_fd = -1;
    int fd = make_folder(dir_fd, name);
    int rc;

    if (fd < 0)
        return errno;
    if (put_link(dir_fd, fd, HF__FILE_DATA, &data_fd) &&
        put_link(dir_fd, fd, HF__FILE_LOCK, &lock_fd))
        rc = open_at(fd, mdb, flags);
    else
        rc = errno;
    remove_folder(dir_fd, name);
    if (data_fd >= 0)
        close(data_fd);
    if (lock_fd >= 0)
        close(lock_fd);
    close(fd);
    return rc;
}

int hf__rights_open_mdb(int dir_fd, MDB_env *mdb, unsigned flags)
{
    struct stat info;

    if (fstat(dir_fd, &info) != 0)
        return errno;
    if (hf__rights_shared(&info))
        return open_shared(dir_fd, mdb, flags);
    return open_at(dir_fd, mdb, flags);
}

void hf__rights_tidy(int dir_fd)
{
    int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *entry;

    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        if (strncmp(entry->d_name, HF__OPEN_PREFIX,
                    sizeof(HF__OPEN_PREFIX) - 1) == 0)
            remove_folder(dir_fd, entry->d_name);
    }
    if (dir != NULL)
        closedir(dir);
    else if (fd >= 0)
        close(fd);
}
