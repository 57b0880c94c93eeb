/* SPDX-License-Identifier: Apache-2.0 */
/*
 * directory.c - opening the store's directory, and locking it.
 *
 * Decides which directory may be used: one that is ours and that no other user
 * may write to, root's (read-only), or one shared by the group that the URL
 * names. All checks use the directory's descriptor, from which all files are
 * opened afterwards, so it does not matter if the path changes meanwhile.
 *
 * The lock makes opening and creating a store one step for all processes. It is
 * an flock on a file that only users of the store may open; the directory
 * itself may be readable by others, who could hold a lock on it.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/magic.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "engine/files/files.h"
#include "engine/files/rights.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/order.h"
#include "util/rand.h"

/* musl has neither renameat2() nor this; it is linux/fs.h's. */
#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1
#endif

/* Not in linux/magic.h. */
#define MAGIC_CIFS 0xff534d42
#define MAGIC_SMB2 0xfe534d42
#define MAGIC_CEPH 0x00c36400
#define MAGIC_LUSTRE 0x0bd00bd0

/* Links that lead to the directory. */
#define LINKS_MAX 8
/* More names than any user or group has. */
#define NAMES_SIZE 4096
/* How long another process may take between creating the lock file and setting
 * its group. */
#define MAKING_MS 100
/* Longest pause between two tries to get the lock, which is usually held for a
 * millisecond: a share of the time waited so far, and at most. */
#define PAUSE_SHARE 8
#define PAUSE_MAX_MS 100

/* Locks and shared maps mean nothing across machines. */
static hf_status check_system(int fd, const char *path, hf_error *err)
{
    static const struct {
        unsigned long magic;
        const char *name;
    } remote[] = {
        {NFS_SUPER_MAGIC, "NFS"},   {SMB_SUPER_MAGIC, "SMB"},
        {MAGIC_CIFS, "CIFS"},       {MAGIC_SMB2, "SMB2"},
        {V9FS_MAGIC, "9p"},         {AFS_SUPER_MAGIC, "AFS"},
        {CODA_SUPER_MAGIC, "Coda"}, {MAGIC_CEPH, "Ceph"},
        {MAGIC_LUSTRE, "Lustre"},
    };
    char text[HF__QUOTED_SIZE];
    struct statfs info;

    if (fstatfs(fd, &info) != 0)
        return hf__files_fail(err, errno, "cannot stat the file system");
    for (size_t i = 0; i < sizeof(remote) / sizeof(remote[0]); i++) {
        if ((uint32_t)info.f_type == (uint32_t)remote[i].magic)
            return hf__fail(err, HF_UNSUPPORTED,
                            "%s is on %s; a store must be on a local disk",
                            hf__quoted_path(text, path), remote[i].name);
    }
    return HF_OK;
}

/* ------------------------------------------------------------------ owner */

static void name_user(char *text, size_t size, uid_t uid)
{
    char memory[NAMES_SIZE];
    struct passwd directory, *found = NULL;

    if (getpwuid_r(uid, &directory, memory, sizeof(memory), &found) == 0 &&
        found != NULL)
        (void)snprintf(text, size, "%s (uid %lu)", found->pw_name,
                       (unsigned long)uid);
    else
        (void)snprintf(text, size, "uid %lu", (unsigned long)uid);
}

hf_status hf__files_refuse(const char *path, const struct stat *info,
                           hf_error *err)
{
    char text[HF__QUOTED_SIZE];
    char user[64];

    hf__quoted_path(text, path);
    if (info->st_uid == geteuid())
        return hf__fail(err, HF_DENIED,
                        "%s is writable by others: chmod 700 it, or share it "
                        "with a group: ?mode=0660&group=NAME",
                        text);
    name_user(user, sizeof(user), info->st_uid);
    return hf__fail(err, HF_DENIED,
                    "%s belongs to %s: use it as that user, or share it with "
                    "a group: ?mode=0660&group=NAME",
                    text, user);
}

hf_status hf__files_check_group(const char *path, const struct stat *info,
                                gid_t group, hf_error *err)
{
    char text[HF__QUOTED_SIZE];
    char user[64];

    if (S_ISDIR(info->st_mode) && info->st_gid == group &&
        (info->st_mode & 02777) == 02770)
        return HF_OK;
    name_user(user, sizeof(user), info->st_uid);
    return hf__fail(err, HF_DENIED,
                    "%s is not shared by group %lu, but belongs to %s: it must "
                    "have that group and mode 2770, and its files mode 0660; a "
                    "member can create a new one",
                    hf__quoted_path(text, path), (unsigned long)group, user);
}

static hf_status check_owner(int fd, const hf__settings *settings,
                             hf_error *err)
{
    struct stat info;

    if (fstat(fd, &info) != 0)
        return hf__files_fail(err, errno, "cannot stat the directory");
    if (settings->shared)
        return hf__files_check_group(settings->path, &info, settings->group,
                                     err);
    /* Root's store may be read if no one else can write to it. */
    if ((info.st_uid == geteuid() || (info.st_uid == 0 && !settings->ours)) &&
        (info.st_mode & (S_IWGRP | S_IWOTH)) == 0)
        return HF_OK;
    return hf__files_refuse(settings->path, &info, err);
}

/* ---------------------------------------------------------------- directory */

int hf__files_make_directory(const char *path)
{
    struct stat info;
    int fd;

    if (mkdir(path, 0700) != 0)
        return errno;
    /* The umask may have removed permissions that we need. */
    fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno;
    if (fstat(fd, &info) == 0 && info.st_uid == geteuid() &&
        (info.st_mode & 0700) != 0700)
        (void)hf__rights_chmod(fd, 0700);
    close(fd);
    return 0;
}

static int give_to_group(const char *path, gid_t group)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat info;
    int rc = 0;

    if (fd < 0)
        return errno;
    /* Only members may set the bit; this is no error. */
    if (fchown(fd, (uid_t)-1, group) != 0 || fchmod(fd, 02770) != 0 ||
        fstat(fd, &info) != 0)
        rc = errno;
    else if ((info.st_mode & 07777) != 02770)
        rc = EPERM;
    close(fd);
    return rc;
}

int hf__files_make_shared(const char *path, gid_t group)
{
    char fresh[PATH_MAX + 24];
    char chance[17];
    int rc;

    hf__rand_hex(chance, 8);
    (void)snprintf(fresh, sizeof(fresh), "%s.%s", path, chance);
    rc = hf__files_make_directory(fresh);
    if (rc != 0)
        return rc;
    rc = give_to_group(fresh, group);
    /* Other users get another message. */
    if (rc == 0 && syscall(SYS_renameat2, AT_FDCWD, fresh, AT_FDCWD, path,
                           RENAME_NOREPLACE) != 0)
        rc = errno;
    if (rc != 0)
        (void)rmdir(fresh);
    return rc;
}

/* Replace `path` by the target of the link there. Only our own links and root's
 * are followed. false: not a link. */
static bool follow_link(char path[PATH_MAX])
{
    int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    const char *slash = strrchr(path, '/');
    char target[PATH_MAX];
    struct stat info;
    ssize_t size = -1;

    if (fd >= 0 && fstat(fd, &info) == 0 && S_ISLNK(info.st_mode) &&
        (info.st_uid == geteuid() || info.st_uid == 0))
        size = readlinkat(fd, "", target, sizeof(target) - 1);
    if (fd >= 0)
        close(fd);
    if (size <= 0 || slash == NULL)
        return false;
    target[size] = '\0';
    if (target[0] == '/') {
        memcpy(path, target, (size_t)size + 1);
        return true;
    }
    if ((size_t)(slash + 1 - path) + (size_t)size >= PATH_MAX)
        return false;
    memcpy(path + (slash + 1 - path), target, (size_t)size + 1);
    return true;
}

static int open_path(const hf__settings *settings)
{
    int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;
    char path[PATH_MAX];
    int fd;

    memcpy(path, settings->path, sizeof(path));
    fd = open(path, flags);
    for (int i = 0; fd < 0 && (errno == ELOOP || errno == ENOTDIR) &&
                    !settings->ours && i < LINKS_MAX;
         i++) {
        int number = errno;

        if (!follow_link(path)) {
            errno = number;
            return -1;
        }
        fd = open(path, flags);
    }
    return fd;
}

static int make_folder(const hf__settings *settings)
{
    struct stat info;

    if (stat(settings->path, &info) == 0)
        return EEXIST;
    return settings->shared
               ? hf__files_make_shared(settings->path, settings->group)
               : hf__files_make_directory(settings->path);
}

static hf_status open_directory(const hf__settings *settings, int *fd,
                                hf_error *err)
{
    char text[HF__QUOTED_SIZE];
    int made = EEXIST;
    int number;

    hf__quoted_path(text, settings->path);
    if (!settings->existing)
        made = make_folder(settings);
    *fd = open_path(settings);
    if (*fd >= 0)
        return HF_OK;
    number = errno == ENOENT && made != 0 && made != EEXIST ? made : errno;
    if (number == ENOENT && settings->existing)
        return hf__fail(err, HF_NOT_FOUND, "there is no store at %s", text);
    if (number == ELOOP || (number == ENOTDIR && settings->ours))
        return hf__fail(err, HF_DENIED, "%s is not a directory", text);
    if (number == ENOTDIR)
        return hf__fail(err, HF_INVALID, "%s is not a directory", text);
    (void)hf__files_fail(err, number,
                         number == made ? "cannot create the store"
                                        : "cannot open the store");
    hf__fail_prefix(err, "%s", text);
    return hf__files_fail(NULL, number, "");
}

/* --------------------------------------------------------------------- lock */

static int open_lock_file(int dir_fd)
{
    int fd = hf__rights_open(dir_fd, HF__FILE_OPENING, O_RDWR);

    if (fd >= 0 || errno != ENOENT)
        return fd;
    fd = hf__rights_create(dir_fd, HF__FILE_OPENING, O_RDWR);
    /* Another process may have created it and not set its mode yet. */
    if (fd < 0 && errno == EEXIST)
        errno = EAGAIN;
    return fd;
}

/* Is the locked file still in the directory? */
static bool is_named(int dir_fd, int fd)
{
    struct stat locked, named;

    return fstat(fd, &locked) == 0 &&
           fstatat(dir_fd, HF__FILE_OPENING, &named, AT_SYMLINK_NOFOLLOW) ==
               0 &&
           locked.st_ino == named.st_ino && locked.st_dev == named.st_dev;
}

/* 0: locked. EAGAIN: try again. */
static int try_lock(hf__directory *directory)
{
    int number;

    if (directory->lock_fd < 0)
        directory->lock_fd = open_lock_file(directory->fd);
    if (directory->lock_fd < 0)
        return errno;
    if (flock(directory->lock_fd, LOCK_EX | LOCK_NB) != 0) {
        number = errno;
        return number == EINTR || number == EWOULDBLOCK ? EAGAIN : number;
    }
    if (is_named(directory->fd, directory->lock_fd))
        return 0;
    close(directory->lock_fd);
    directory->lock_fd = -1;
    return EAGAIN;
}

/* A process that waits for the lock. */
typedef struct queueing {
    struct timespec opened; /* when a process last had it */
    int64_t began_ms;
    int64_t patience_ms;
    int64_t deadline_ms;
} queueing;

/* Has another process got the lock since the last call? Each sets the time of
 * the file. */
static bool moves_on(const hf__directory *directory, queueing *self)
{
    struct timespec before = self->opened;
    struct stat info;

    if (directory->lock_fd < 0 || fstat(directory->lock_fd, &info) != 0)
        return false;
    self->opened = info.st_mtim;
    return before.tv_sec != self->opened.tv_sec ||
           before.tv_nsec != self->opened.tv_nsec;
}

/* The longer it has waited, the more others there are: hundreds must leave the
 * processors to the one that has the lock. false: that one is stuck. */
static bool pause_for_lock(const hf__directory *directory, queueing *self)
{
    int64_t now_ms = hf__clock_boot_ms();
    int64_t most_ms =
        hf__at_most(1 + (now_ms - self->began_ms) / PAUSE_SHARE, PAUSE_MAX_MS);

    if (now_ms >= self->deadline_ms) {
        if (!moves_on(directory, self))
            return false;
        self->deadline_ms = hf__clock_after(now_ms, self->patience_ms);
    }
    hf__clock_sleep_until(now_ms + hf__rand_between(1, most_ms));
    return true;
}

static hf_status lock_directory(hf__directory *directory, int64_t *deadline_ms,
                                hf_error *err)
{
    int64_t now_ms = hf__clock_boot_ms();
    queueing self = {.began_ms = now_ms,
                     .patience_ms = *deadline_ms - now_ms,
                     .deadline_ms = *deadline_ms};
    int rc = try_lock(directory);

    if (rc == EAGAIN)
        (void)moves_on(directory, &self);
    for (; rc != 0; rc = try_lock(directory)) {
        if (rc != EAGAIN && ((rc != EPERM && rc != EACCES) ||
                             hf__clock_boot_ms() >= now_ms + MAKING_MS))
            return hf__files_fail(err, rc, "cannot lock the store");
        if (!pause_for_lock(directory, &self))
            return hf__fail(err, HF_UNAVAILABLE,
                            "another process is opening the store");
    }
    (void)futimens(directory->lock_fd, NULL);
    *deadline_ms = hf__clock_after(hf__clock_boot_ms(), self.patience_ms);
    return HF_OK;
}

static bool is_read_only(int dir_fd)
{
    return faccessat(dir_fd, ".", W_OK, AT_EACCESS) != 0 &&
           (errno == EROFS || errno == EACCES);
}

hf_status hf__directory_open(const hf__settings *settings, int64_t *deadline_ms,
                             hf__directory *directory, hf_error *err)
{
    hf_status status;

    directory->lock_fd = -1;
    status = open_directory(settings, &directory->fd, err);
    if (status != HF_OK)
        return status;
    status = check_system(directory->fd, settings->path, err);
    if (status == HF_OK)
        status = check_owner(directory->fd, settings, err);
    directory->read_only = status == HF_OK && is_read_only(directory->fd);
    if (status == HF_OK && !directory->read_only)
        status = lock_directory(directory, deadline_ms, err);
    if (status != HF_OK)
        hf__directory_close(directory);
    return status;
}

void hf__directory_close(hf__directory *directory)
{
    /* A child forked meanwhile may have inherited the descriptor. */
    if (directory->lock_fd >= 0) {
        (void)flock(directory->lock_fd, LOCK_UN);
        close(directory->lock_fd);
    }
    close(directory->fd);
}
