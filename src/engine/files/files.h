/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files.h - where a store is, and whether the files there are one of ours.
 */
#ifndef HF__ENGINE_FILES_H
#define HF__ENGINE_FILES_H

#include <fcntl.h>
#include <limits.h>
#include <sys/types.h>

#include "holdfast/base.h"
#include "util/private_api.h"
#include "util/url.h"

/* The first two names are LMDB's. */
#define HF__FILE_DATA "data.mdb"
#define HF__FILE_LOCK "lock.mdb"
#define HF__FILE_SIDECAR "sidecar"
#define HF__FILE_WAKE "wake"
#define HF__FILE_CHANGES "changes"
#define HF__FILE_MESSAGES "messages"
#define HF__FILE_CHECKPOINT "checkpoint"
#define HF__FILE_REDO "redo"
/* Locked while the store is being opened. */
#define HF__FILE_OPENING "opening"
/* A new data file, before it is renamed. */
#define HF__FILE_REWRITE "data.mdb.new"

#define HF__SIZE_MIN (INT64_C(1) << 20)
#define HF__SIZE_DEFAULT (INT64_C(1) << 30)
/* 1 TiB: far below what a process can map. */
#define HF__SIZE_MAX (INT64_C(1) << 40)

/* What a URL sets. */
typedef struct hf__settings {
    char path[PATH_MAX]; /* absolute */
    uint32_t mode;       /* HF__MODE_... */
    bool ours;           /* the folder may only be owned by this user */
    uint64_t max_size;   /* 0: not said */
    int64_t budget_ms;   /* of a script; 0: not said */
    uint8_t database;    /* its number */
    bool existing;       /* HF_NOT_FOUND rather than create a store */
    bool unverified;     /* do not check the whole file first */
    bool shared;         /* by the members of `group` */
    gid_t group;
} hf__settings;

/* HF_INVALID, HF_UNSUPPORTED or HF_DENIED name the part. */
hf_status hf__settings_read(const hf__url *url, hf__settings *settings,
                            hf_error *err);

/* The folder of the user's named volatile stores, or of a group's; created if
 * missing. HF_DENIED: others have access to it. */
HF__PRIVATE_API hf_status hf__volatile_dir_of_user(char *folder, size_t size,
                                                   hf_error *err);
hf_status hf__volatile_dir_of_group(gid_t group, char *folder, size_t size,
                                    hf_error *err);

/* The store's directory, opened and checked. */
typedef struct hf__directory {
    int fd;
    int lock_fd; /* -1: it is not locked */
    /* Nothing can be created or removed there: a read-only mount, or no
     * permission. Then it is not locked. */
    bool read_only;
} hf__directory;

/*
 * Open the store's directory, creating it if missing, and lock it against
 * others that open the store. Until *deadline_ms; if others open the store
 * meanwhile, it moves on, to be as far away afterwards as it was before.
 */
hf_status hf__directory_open(const hf__settings *settings, int64_t *deadline_ms,
                             hf__directory *directory, hf_error *err);
void hf__directory_close(hf__directory *directory);

/* mkdir() with mode 0700, or 2770 for a group, whatever the umask; 0 or an
 * errno. */
HF__PRIVATE_API int hf__files_make_directory(const char *path);
int hf__files_make_shared(const char *path, gid_t group);

struct stat;
/* HF_DENIED unless only members of the group can have set it up. */
hf_status hf__files_check_group(const char *path, const struct stat *info,
                                gid_t group, hf_error *err);

/* HF_DENIED, with the owner's name and what to do. */
hf_status hf__files_refuse(const char *path, const struct stat *info,
                           hf_error *err);

/* Which of our files exist. */
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
hf_status hf__files_list(int dir_fd, hf__found *found, hf_error *err);

/* Open the data file for reading. */
hf_status hf__files_open_data(int dir_fd, int *fd, uint64_t *size,
                              hf_error *err);

/*
 * Check that the meta pages of data.mdb match each other and the file's size.
 * The writer lock is held if there is one. HF_INVALID: not an LMDB file;
 * HF_CORRUPT: truncated or damaged. `*size` is the file's.
 */
hf_status hf__files_check_data(int dir_fd, uint64_t *size, hf_error *err);

/* fsync() the directory and its parent. */
hf_status hf__files_sync_names(int dir_fd, hf_error *err);

/* Remove our files, for a new start. */
hf_status hf__files_wipe(int dir_fd, hf_error *err);

/* HF_FULL if RLIMIT_FSIZE forbids files of that size: trying would raise
 * SIGXFSZ. */
hf_status hf__files_check_limit(uint64_t size, hf_error *err);

/* Allocate blocks up to `size`. HF_FULL: no room, or RLIMIT_FSIZE. */
hf_status hf__files_allocate(int fd, uint64_t size, hf_error *err);

/* A record lock of fcntl() on these bytes; 0 of them: from the first on. */
struct flock hf__files_range(short type, uint32_t first, uint32_t count);

/* The status for an errno of a file operation. */
hf_status hf__files_fail(hf_error *err, int sys_errno, const char *what);

/* The one translation of LMDB's error codes. */
hf_status hf__files_fail_mdb(hf_error *err, int rc, const char *what);

#endif
