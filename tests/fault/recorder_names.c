/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorder_names.c - the recorder's calls that create, open, rename and remove
 * files.
 */
#include "recorder_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * The name below the root that (dir_fd, path) refers to, whether or not it
 * exists; its folder does. false: it is elsewhere.
 */
static bool resolve(int dir_fd, const char *path, char name[PATH_MAX])
{
    char folder[PATH_MAX];
    char full[PATH_MAX];
    const char *slash = strrchr(path, '/');
    const char *last = slash == NULL ? path : slash + 1;
    const char *below;
    int fd;

    if (!log_recording() || strlen(path) >= sizeof(folder))
        return false;
    if (slash == NULL) {
        memcpy(folder, ".", 2);
    } else {
        memcpy(folder, path, (size_t)(slash - path) + 1);
        folder[slash - path + 1] = '\0';
    }
    fd = REAL(openat)(dir_fd, folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return false;
    if (!log_descriptor_path(fd, full))
        full[0] = '\0';
    (void)REAL(close)(fd);
    below = log_below_root(full);
    if (below == NULL)
        return false;
    return snprintf(name, PATH_MAX, "%s%s%s", below,
                    below[0] == '\0' ? "" : "/", last) < PATH_MAX;
}

static recorder_event *begin_name(uint32_t what, int dir_fd, const char *path)
{
    char name[PATH_MAX];

    if (!resolve(dir_fd, path, name))
        return NULL;
    return log_begin(what, 0, name, strlen(name) + 1, 0);
}

/* CREATE, if opening creates a missing file. */
static recorder_event *begin_open(int dir_fd, const char *path, int flags)
{
    struct stat info;

    if ((flags & O_CREAT) == 0 ||
        fstatat(dir_fd, path, &info, AT_SYMLINK_NOFOLLOW) == 0)
        return NULL;
    return begin_name(RECORDER_CREATE, dir_fd, path);
}

static int done_open(recorder_event *event, int fd, int flags)
{
    int saved = errno;
    struct stat info;
    descriptor file;

    log_closed(fd);
    if (event != NULL && fd >= 0 && fstat(fd, &info) == 0)
        event->file = info.st_ino;
    log_done(event, fd >= 0);
    if (fd >= 0 && event == NULL && (flags & O_TRUNC) != 0 &&
        log_is_file(fd, &file))
        log_done(log_begin(RECORDER_SIZE, file.inode, NULL, 0, 0), true);
    errno = saved;
    return fd;
}

/* A recorded program runs under another boot id than the one that reads its
 * files. */
static const char *other_boot(const char *path)
{
    const char *instead = getenv(RECORDER_BOOT);

    if (instead != NULL && strcmp(path, "/proc/sys/kernel/random/boot_id") == 0)
        return instead;
    return path;
}

static int open_any(int dir_fd, const char *path, int flags, mode_t mode)
{
    recorder_event *event = begin_open(dir_fd, path, flags);
    int fd = REAL(openat)(dir_fd, other_boot(path), flags, mode);

    return done_open(event, fd, flags);
}

static mode_t mode_argument(int flags, va_list *rest)
{
    return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(*rest, mode_t) : 0;
}

#define OPEN_BODY(dir_fd)                                                      \
    va_list rest;                                                              \
    mode_t mode;                                                               \
                                                                               \
    va_start(rest, flags);                                                     \
    mode = mode_argument(flags, &rest);                                        \
    va_end(rest);                                                              \
    return open_any(dir_fd, path, flags, mode)

EXPORT int open(const char *path, int flags, ...)
{
    OPEN_BODY(AT_FDCWD);
}

EXPORT int open64(const char *path, int flags, ...)
{
    OPEN_BODY(AT_FDCWD);
}

EXPORT int openat(int dir_fd, const char *path, int flags, ...)
{
    OPEN_BODY(dir_fd);
}

EXPORT int openat64(int dir_fd, const char *path, int flags, ...)
{
    OPEN_BODY(dir_fd);
}

EXPORT int creat(const char *path, mode_t mode)
{
    return open_any(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, mode);
}

EXPORT int close(int fd)
{
    log_closed(fd);
    return REAL(close)(fd);
}

EXPORT int dup2(int from, int to)
{
    log_closed(to);
    return REAL(dup2)(from, to);
}

EXPORT int dup3(int from, int to, int flags)
{
    log_closed(to);
    return REAL(dup3)(from, to, flags);
}

EXPORT int mkdirat(int dir_fd, const char *path, mode_t mode)
{
    recorder_event *event = begin_name(RECORDER_MKDIR, dir_fd, path);
    int rc = REAL(mkdirat)(dir_fd, path, mode);

    log_done(event, rc == 0);
    return rc;
}

EXPORT int mkdir(const char *path, mode_t mode)
{
    return mkdirat(AT_FDCWD, path, mode);
}

EXPORT int unlinkat(int dir_fd, const char *path, int flags)
{
    recorder_event *event = begin_name(RECORDER_UNLINK, dir_fd, path);
    int rc = REAL(unlinkat)(dir_fd, path, flags);

    log_done(event, rc == 0);
    return rc;
}

EXPORT int unlink(const char *path)
{
    return unlinkat(AT_FDCWD, path, 0);
}

EXPORT int rmdir(const char *path)
{
    return unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}

EXPORT int renameat2(int from_fd, const char *from, int to_fd, const char *to,
                     unsigned flags)
{
    char names[2 * PATH_MAX];
    recorder_event *event = NULL;
    int rc;

    if (resolve(from_fd, from, names)) {
        size_t size = strlen(names) + 1;

        /* Into or out of the root: not supported. */
        if (flags != 0 || !resolve(to_fd, to, names + size))
            event = log_begin(RECORDER_UNKNOWN, 0, "rename", 7, 0);
        else
            event = log_begin(RECORDER_RENAME, 0, names,
                              size + strlen(names + size) + 1, 0);
    }
    rc = REAL(renameat2)(from_fd, from, to_fd, to, flags);
    log_done(event, rc == 0);
    return rc;
}

EXPORT int renameat(int from_fd, const char *from, int to_fd, const char *to)
{
    return renameat2(from_fd, from, to_fd, to, 0);
}

EXPORT int rename(const char *from, const char *to)
{
    return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0);
}

EXPORT int linkat(int from_fd, const char *from, int to_fd, const char *to,
                  int flags)
{
    char name[PATH_MAX];

    if (resolve(to_fd, to, name))
        log_done(log_begin(RECORDER_UNKNOWN, 0, "link", 5, 0), true);
    return REAL(linkat)(from_fd, from, to_fd, to, flags);
}

EXPORT int link(const char *from, const char *to)
{
    return linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
}

EXPORT int truncate(const char *path, off_t size)
{
    char name[PATH_MAX];

    if (resolve(AT_FDCWD, path, name))
        log_done(log_begin(RECORDER_UNKNOWN, 0, "truncate", 9, 0), true);
    return REAL(truncate)(path, size);
}
