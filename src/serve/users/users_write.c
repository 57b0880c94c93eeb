/* SPDX-License-Identifier: Apache-2.0 */
/*
 * users_write.c - the file of users, written by ACL SAVE: a new file, which
 * takes the place of the old one once it is on the disk. Of a symbolic link,
 * the file that it leads to is replaced.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "serve/users/users.h"
#include "util/error.h"
#include "util/mem.h"

/* As much as can be read again. */
#define FILE_SIZE_MAX (4u * 1024 * 1024)

static bool describe_all(const hf__users *users, hf__buf *text)
{
    bool fits = true;

    for (const hf__user *at = users->first; at != NULL; at = at->next)
        fits = fits && hf__user_describe(at, text) &&
               hf__buf_append(text, "\n", 1);
    return fits;
}

/* 0 or an errno. */
static int write_all(int fd, hf__buf *text)
{
    while (hf__buf_size(text) > 0) {
        ssize_t put = write(fd, hf__buf_front(text), hf__buf_size(text));

        if (put < 0 && errno != EINTR)
            return errno;
        if (put > 0)
            hf__buf_consume(text, (size_t)put);
    }
    return fsync(fd) == 0 ? 0 : errno;
}

/* The new file has the owner, the group and the mode of the old one; if it
 * cannot have the first two, no other user may read it. 0 or an errno. */
static int take_rights(int fd, const char *path)
{
    struct stat old;
    mode_t mode;

    if (stat(path, &old) != 0)
        return 0;
    mode = old.st_mode & 0777;
    if (fchown(fd, old.st_uid, old.st_gid) != 0)
        mode &= 0700;
    return fchmod(fd, mode) == 0 ? 0 : errno;
}

/* So that the new name outlives a power cut. 0 or an errno. */
static int sync_folder(const char *path)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    size_t size = slash == NULL ? 0 : (size_t)(slash - path) + 1;
    int fd, rc;

    memcpy(folder, path, size);
    memcpy(folder + size, ".", 2);
    fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    rc = fsync(fd) == 0 ? 0 : errno;
    close(fd);
    return rc;
}

/* What is left at `temporary` is removed: it may be another's. */
static int replace_file(const char *path, const char *temporary, hf__buf *text)
{
    int fd, rc;

    (void)unlink(temporary);
    fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
              0600);
    if (fd < 0)
        return errno;
    rc = take_rights(fd, path);
    if (rc == 0)
        rc = write_all(fd, text);
    close(fd);
    if (rc == 0 && rename(temporary, path) != 0)
        rc = errno;
    else if (rc == 0)
        return sync_folder(path);
    (void)unlink(temporary);
    return rc;
}

hf_status hf__users_write(const hf__users *users, const char *path,
                          hf_error *err)
{
    char real[PATH_MAX];
    const char *target = realpath(path, real) != NULL ? real : path;
    size_t size = strlen(target) + sizeof(".new");
    char *temporary = hf__alloc(size);
    char quoted[HF__QUOTED_SIZE];
    int rc = ENOMEM;
    hf__buf text;

    hf__buf_init(&text, FILE_SIZE_MAX);
    if (temporary != NULL) {
        (void)snprintf(temporary, size, "%s.new", target);
        rc = describe_all(users, &text) ? replace_file(target, temporary, &text)
                                        : EFBIG;
    }
    hf__buf_done(&text);
    hf__free(temporary);
    return rc == 0 ? HF_OK
                   : hf__fail_errno(err, HF_SYSTEM, rc, "cannot write %s",
                                    hf__quoted(quoted, hf_str(path)));
}
