/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rights.h - opening and creating files in a store's directory that other users
 * may write to.
 */
#ifndef HF__ENGINE_RIGHTS_H
#define HF__ENGINE_RIGHTS_H

#include <lmdb.h>
#include <stdbool.h>
#include <sys/stat.h>

/* Is the directory shared by its group? */
bool hf__rights_shared(const struct stat *directory);

/*
 * openat() of a file of the store. Never follows a link, never blocks. -1 and
 * errno; EPERM: not a file of the store.
 */
int hf__rights_open(int dir_fd, const char *name, int flags);

/* The same for a new file (O_EXCL), with mode and group set whatever the
 * umask. */
int hf__rights_create(int dir_fd, const char *name, int flags);

/* Set mode and group of a new folder or FIFO to those of the store at `dir_fd`.
 * false and errno. */
bool hf__rights_give(int dir_fd, int at_fd, const char *name);

/* A path to an open descriptor. */
#define HF__FD_PATH_SIZE 48
void hf__rights_fd_path(char path[HF__FD_PATH_SIZE], int fd);

/* fchmod() that takes O_PATH descriptors, too. false and errno. */
bool hf__rights_chmod(int fd, mode_t mode);

/*
 * mdb_env_open() of the directory's data.mdb and lock.mdb, which exist, and of
 * nothing else. ENOTSUP: /proc is not mounted.
 */
int hf__rights_open_mdb(int dir_fd, MDB_env *mdb, unsigned flags);

/* Remove temporary folders that killed processes of ours left. */
void hf__rights_tidy(int dir_fd);

/* Names of its temporary folders. */
#define HF__OPEN_PREFIX ".open-"

#endif
