/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rights.h - opening and creating files in the store's directory, whatever
 * others may have put there.
 */
#ifndef HF__EMBEDDED_RIGHTS_H
#define HF__EMBEDDED_RIGHTS_H

#include <lmdb.h>
#include <stdbool.h>
#include <sys/stat.h>

/* Is the directory shared by its group? */
bool hf__rights_shared(const struct stat *directory);

/*
 * openat() of a file of the store; flags as for open(). Never follows a link,
 * never waits. -1 and errno; EPERM: what is there is not a file of the store.
 */
int hf__rights_open(int dir_fd, const char *name, int flags);

/* The same of a new file (O_EXCL), which gets its mode and group whatever the
 * umask. */
int hf__rights_create(int dir_fd, const char *name, int flags);

/* Give the folder or FIFO that was just made at that place the mode and group
 * of the store whose directory `dir_fd` is. false and errno. */
bool hf__rights_give(int dir_fd, int at_fd, const char *name);

/* A name for what a descriptor stands for. */
#define HF__FD_PATH_SIZE 48
void hf__rights_fd_path(char path[HF__FD_PATH_SIZE], int fd);

/* chmod() of what any descriptor stands for, O_PATH too. false and errno. */
bool hf__rights_chmod(int fd, mode_t mode);

/*
 * mdb_env_open() of the directory's data.mdb and lock.mdb, which are there.
 * LMDB opens by name and follows links; here it can open nothing else. ENOTSUP:
 * /proc is not there.
 */
int hf__rights_open_mdb(int dir_fd, MDB_env *mdb, unsigned flags);

/* Remove what was left by processes of ours that were killed in there. */
void hf__rights_tidy(int dir_fd);

/* What the folders are called that it makes for a moment. */
#define HF__OPEN_PREFIX ".open-"

#endif
