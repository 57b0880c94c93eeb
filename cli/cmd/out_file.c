/* SPDX-License-Identifier: Apache-2.0 */
/*
 * out_file.c - write a file completely or not at all.
 *
 * If the path is a regular file or does not exist, the content goes to a new
 * file in the same directory, which is renamed once it is complete and on
 * disk. Links are followed first, so that they remain links. Anything else (a
 * FIFO, a device) is opened and written to.
 */
#include "cmd/out_file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The kernel's limit. */
#define LINKS_MAX 40

/* What open() refuses if fs.protected_symlinks is set: links of other users in
 * a world-writable directory. */
static bool may_follow(const char *path, const struct stat *link)
{
    struct stat folder;
    char copy[PATH_MAX];

    (void)snprintf(copy, sizeof(copy), "%s", path);
    if (stat(dirname(copy), &folder) < 0)
        return false;
    return (folder.st_mode & S_ISVTX) == 0 || (folder.st_mode & S_IWOTH) == 0 ||
           link->st_uid == geteuid() || link->st_uid == folder.st_uid;
}

/* Replace `path`, a link, by its target. 0 or an errno. */
static int follow_link(char path[PATH_MAX])
{
    char target[PATH_MAX];
    char *last = strrchr(path, '/');
    size_t before = last == NULL ? 0 : (size_t)(last + 1 - path);
    ssize_t size = readlink(path, target, sizeof(target) - 1);

    if (size < 0)
        return errno;
    if (target[0] == '/')
        before = 0;
    if (before + (size_t)size >= PATH_MAX)
        return ENAMETOOLONG;
    memcpy(path + before, target, (size_t)size);
    path[before + (size_t)size] = '\0';
    return 0;
}

static int resolve_links(const char *name, char path[PATH_MAX])
{
    struct stat info;
    int failed;
    int i;

    if (strlen(name) >= PATH_MAX)
        return ENAMETOOLONG;
    memcpy(path, name, strlen(name) + 1);
    for (i = 0; i < LINKS_MAX; i++) {
        if (lstat(path, &info) < 0)
            return errno == ENOENT ? 0 : errno;
        if (!S_ISLNK(info.st_mode))
            return 0;
        if (!may_follow(path, &info))
            return EACCES;
        failed = follow_link(path);
        if (failed != 0)
            return failed;
    }
    return ELOOP;
}

/* Can a file at `path` be replaced by a rename? Not if it is not regular, nor
 * if `name` is a link to something without a path (/dev/stdout). */
static bool is_replaceable(const char *name, const char *path)
{
    struct stat named, found;

    if (stat(name, &named) < 0)
        return true;
    return S_ISREG(named.st_mode) && lstat(path, &found) == 0 &&
           found.st_ino == named.st_ino && found.st_dev == named.st_dev;
}

static int open_temporary(struct out_file *file, const char *path)
{
    file->target = strdup(path);
    if (file->target == NULL ||
        asprintf(&file->temporary, "%s.XXXXXX", path) < 0) {
        file->temporary = NULL;
        return ENOMEM;
    }
    file->fd = mkostemp(file->temporary, O_CLOEXEC); /* mode 0600 */
    return file->fd < 0 ? errno : 0;
}

int out_file_open(struct out_file *file, const char *name)
{
    char path[PATH_MAX];
    int failed = resolve_links(name, path);

    *file = (struct out_file){.name = name, .fd = -1};
    if (failed != 0)
        return failed;
    if (is_replaceable(name, path)) {
        failed = open_temporary(file, path);
    } else {
        file->fd = open(name, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY);
        failed = file->fd < 0 ? errno : 0;
    }
    if (failed != 0)
        out_file_close(file);
    return failed;
}

/* The name must survive a power cut too. */
static int give_name(const struct out_file *file)
{
    char *copy = strdup(file->target);
    int folder = -1;
    int failed = 0;

    if (copy != NULL)
        folder = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0 || rename(file->temporary, file->target) < 0 ||
        fsync(folder) < 0)
        failed = errno;
    if (folder >= 0)
        close(folder);
    free(copy);
    return failed;
}

int out_file_keep(const struct out_file *file)
{
    /* A FIFO has no disk. */
    if (fsync(file->fd) < 0 && errno != EINVAL && errno != EROFS)
        return errno;
    return file->temporary == NULL ? 0 : give_name(file);
}

void out_file_close(struct out_file *file)
{
    if (file->fd >= 0) {
        close(file->fd);
        if (file->temporary != NULL)
            (void)unlink(file->temporary); /* fails if it was kept */
    }
    free(file->temporary);
    free(file->target);
}
