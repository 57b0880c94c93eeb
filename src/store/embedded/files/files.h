/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files.h - where a store lives, and whether what lies there is one of ours.
 */
#ifndef HF__EMBEDDED_FILES_H
#define HF__EMBEDDED_FILES_H

#include <limits.h>
#include <sys/types.h>

#include "holdfast/base.h"
#include "util/url.h"

/* The first two are LMDB's own names. */
#define HF__FILE_DATA "data.mdb"
#define HF__FILE_LOCK "lock.mdb"
#define HF__FILE_SIDECAR "sidecar"
#define HF__FILE_WAKE "wake"
#define HF__FILE_CHECKPOINT "checkpoint"
/* Locked by whoever opens the store. */
#define HF__FILE_OPENING "opening"
/* A new data file that has not got its name yet. */
#define HF__FILE_REWRITE "data.mdb.new"

#define HF__SIZE_MIN (INT64_C(1) << 20)
#define HF__SIZE_DEFAULT (INT64_C(1) << 30)
/* 1 TiB: far below what a process can map. */
#define HF__SIZE_MAX (INT64_C(1) << 40)

/* What a URL says. */
typedef struct hf__settings {
    char path[PATH_MAX]; /* absolute */
    uint32_t mode;       /* HF__MODE_... */
    bool ours;           /* in a folder that only this user may own */
    uint64_t max_size;   /* 0: not said */
    int64_t budget_ms;   /* of a script; 0: not said */
    bool existing;       /* HF_NOT_FOUND rather than begin a new store */
    bool unverified;     /* do not read all of it first */
    bool shared;         /* by the members of `group` */
    gid_t group;
} hf__settings;

/* HF_INVALID, HF_UNSUPPORTED or HF_DENIED name the part. */
hf_status hf__settings_read(const hf__url *url, hf__settings *settings,
                            hf_error *err);

/* The folder of the user's named volatile stores, or of a group's; made if it
 * is not there. HF_DENIED: it is not theirs alone. */
hf_status hf__volatile_dir_of_user(char *folder, size_t size, hf_error *err);
hf_status hf__volatile_dir_of_group(gid_t group, char *folder, size_t size,
                                    hf_error *err);

/* The store's directory, opened and judged. */
typedef struct hf__directory {
    int fd;
    int lock_fd; /* -1: it is not locked */
    /* Nothing can be made or removed there: a mount that is read-only, or no
     * permission. It is not locked then. */
    bool read_only;
} hf__directory;

/*
 * Open the store's directory, creating it if it is not there, and lock it
 * against others who open, by deadline_ms at the latest.
 */
hf_status hf__directory_open(const hf__settings *settings, int64_t deadline_ms,
                             hf__directory *directory, hf_error *err);
void hf__directory_close(hf__directory *directory);

/* mkdir() with mode 0700, or 2770 for a group, whatever the umask; 0 or an
 * errno. */
int hf__files_make_directory(const char *path);
int hf__files_make_shared(const char *path, gid_t group);

struct stat;
/* HF_DENIED unless it is a directory that only members of the group can have
 * made so. */
hf_status hf__files_check_group(const char *path, const struct stat *info,
                                gid_t group, hf_error *err);

/* HF_DENIED: whose the directory is, and what to do. */
hf_status hf__files_refuse(const char *path, const struct stat *info,
                           hf_error *err);

/* Which of our files are there. */
typedef struct hf__found {
    bool data;
    bool sidecar;
    bool checkpoint;
    bool other; /* files that are not ours */
    dev_t device;
    ino_t data_inode;
    ino_t lock_inode;    /* 0: none */
    ino_t sidecar_inode; /* 0: none */
} hf__found;
hf_status hf__files_look(int dir_fd, hf__found *found, hf_error *err);

/* Open the data file for reading. */
hf_status hf__files_open_data(int dir_fd, int *fd, uint64_t *size,
                              hf_error *err);

/*
 * Do the heads of data.mdb fit together and the file? The writer lock is held
 * if there is one. HF_INVALID: not LMDB's; HF_CORRUPT: cut short or damaged.
 * `*size` is the file's.
 */
hf_status hf__files_check_data(int dir_fd, uint64_t *size, hf_error *err);

/* Have the names in the directory, and its own, survive a power cut. */
hf_status hf__files_sync_names(int dir_fd, hf_error *err);

/* Remove our files, for a new start. */
hf_status hf__files_wipe(int dir_fd, hf_error *err);

/* HF_FULL if this process may not write files of that size (RLIMIT_FSIZE): to
 * try would raise SIGXFSZ in it. */
hf_status hf__files_check_limit(uint64_t size, hf_error *err);

/* Allocate blocks up to `size`. HF_FULL: no room, or RLIMIT_FSIZE. */
hf_status hf__files_allocate(int fd, uint64_t size, hf_error *err);

/* The status for an errno of a file operation. */
hf_status hf__files_fail(hf_error *err, int sys_errno, const char *what);

/* The one translation of LMDB's error codes. */
hf_status hf__files_fail_mdb(hf_error *err, int rc, const char *what);

#endif
