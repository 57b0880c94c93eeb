/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rewrite.c - copying a data file record by record.
 *
 * LMDB's own compacting copy restarts the numbers of transactions, so that key
 * ids in use would be assigned again; and it fails for a file that has lost a
 * page. So records are appended to a new environment in transactions of some
 * megabytes, and its meta pages then get the numbers that follow the old
 * file's.
 */
#include "store/embedded/maintenance/rewrite.h"

#include <errno.h>
#include <fcntl.h>
#include <lmdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "store/embedded/commit/env.h"
#include "store/embedded/files/pages.h"
#include "store/embedded/files/rights.h"
#include "util/error.h"

/* Size of one transaction, whose pages are in memory. */
#define PART_SIZE (UINT64_C(4) << 20)
/* The map of the copy: the old file's size and some for LMDB. */
#define SPARE_SIZE (UINT64_C(64) << 20)
/* Space allocated beyond the new file's pages, so that the first writes need
 * not extend it, and its granularity. */
#define TAIL_SIZE (UINT64_C(1) << 19)
#define GRAIN (UINT64_C(1) << 18)
#define SIZE_LEAST (UINT64_C(1) << 20)

typedef struct copy {
    MDB_env *from;
    MDB_env *to;
    MDB_txn *read;
    MDB_txn *write;
    MDB_dbi from_dbi;
    MDB_dbi to_dbi;
    MDB_cursor *cursor;
    uint64_t part_size; /* in the open transaction */
} copy;

typedef struct copied {
    uint64_t room_size;   /* for the new file */
    uint64_t transaction; /* of the old file, the last one */
    uint32_t page_size;   /* of the new file */
} copied;

/* ---------------------------------------------------------------- records */

static int begin_part(copy *self)
{
    int rc = mdb_txn_begin(self->to, NULL, 0, &self->write);

    self->part_size = 0;
    if (rc == MDB_SUCCESS)
        rc = mdb_dbi_open(self->write, NULL, 0, &self->to_dbi);
    return rc;
}

static int end_part(copy *self)
{
    MDB_txn *txn = self->write;

    self->write = NULL;
    return mdb_txn_commit(txn);
}

static int copy_records(copy *self)
{
    MDB_val key, value;
    int rc = begin_part(self);

    while (rc == MDB_SUCCESS &&
           (rc = mdb_cursor_get(self->cursor, &key, &value, MDB_NEXT)) ==
               MDB_SUCCESS) {
        rc = mdb_put(self->write, self->to_dbi, &key, &value, MDB_APPEND);
        self->part_size += key.mv_size + value.mv_size;
        if (rc == MDB_SUCCESS && self->part_size >= PART_SIZE) {
            rc = end_part(self);
            if (rc == MDB_SUCCESS)
                rc = begin_part(self);
        }
    }
    if (rc == MDB_NOTFOUND)
        rc = end_part(self);
    return rc;
}

static int open_copy(copy *self, const char *from, const char *to,
                     uint64_t old_size)
{
    int rc = mdb_env_create(&self->from);

    if (rc == MDB_SUCCESS)
        rc = mdb_env_set_mapsize(self->from, (size_t)old_size);
    if (rc == MDB_SUCCESS)
        rc = mdb_env_open(self->from, from,
                          MDB_RDONLY | MDB_NOLOCK | MDB_NOTLS | MDB_NOSUBDIR,
                          0600);
    if (rc == MDB_SUCCESS)
        rc = mdb_env_create(&self->to);
    if (rc == MDB_SUCCESS)
        rc = mdb_env_set_mapsize(self->to, (size_t)(old_size + SPARE_SIZE));
    if (rc == MDB_SUCCESS)
        rc = mdb_env_open(self->to, to, MDB_NOSYNC | MDB_NOLOCK | MDB_NOSUBDIR,
                          0600);
    if (rc == MDB_SUCCESS)
        rc = mdb_txn_begin(self->from, NULL, MDB_RDONLY, &self->read);
    if (rc == MDB_SUCCESS)
        rc = mdb_dbi_open(self->read, NULL, 0, &self->from_dbi);
    if (rc == MDB_SUCCESS)
        rc = mdb_cursor_open(self->read, self->from_dbi, &self->cursor);
    return rc;
}

static void close_copy(copy *self)
{
    if (self->cursor != NULL)
        mdb_cursor_close(self->cursor);
    if (self->write != NULL)
        mdb_txn_abort(self->write);
    if (self->read != NULL)
        mdb_txn_abort(self->read);
    if (self->to != NULL)
        mdb_env_close(self->to);
    if (self->from != NULL)
        mdb_env_close(self->from);
}

static hf_status copy_all(int old_fd, int new_fd, uint64_t old_size,
                          copied *done, hf_error *err)
{
    char from[HF__FD_PATH_SIZE], to[HF__FD_PATH_SIZE];
    copy self = {0};
    MDB_stat stat = {0};
    hf_status status;
    int rc, fd;

    hf__rights_fd_path(from, old_fd);
    hf__rights_fd_path(to, new_fd);
    rc = open_copy(&self, from, to, old_size);
    if (rc == MDB_SUCCESS)
        rc = mdb_env_get_fd(self.to, &fd);
    if (rc == MDB_SUCCESS) {
        /* Now: later, a full disk may be a signal. */
        status = hf__files_allocate(fd, done->room_size, err);
        if (status != HF_OK) {
            close_copy(&self);
            return status;
        }
        done->transaction = mdb_txn_id(self.read);
        rc = copy_records(&self);
    }
    if (rc == MDB_SUCCESS)
        rc = mdb_env_stat(self.to, &stat);
    done->page_size = stat.ms_psize;
    close_copy(&self);
    if (rc != MDB_SUCCESS)
        return hf__files_fail_mdb(err, rc, "cannot write the new data file");
    return HF_OK;
}

/* ------------------------------------------------------------------ heads */

/* LMDB records in a file that it was opened with MDB_NOSUBDIR. */
static bool put_flags(int fd, uint64_t offset)
{
    uint16_t flags = HF__TREE_FREE_FLAGS;

    return pwrite(fd, &flags, sizeof(flags),
                  (off_t)(offset + HF__META_AT_FLAGS)) ==
           (ssize_t)sizeof(flags);
}

static bool put_transaction(int fd, uint64_t offset, uint64_t transaction)
{
    return pwrite(fd, &transaction, sizeof(transaction),
                  (off_t)(offset + HF__META_AT_TRANSACTION)) ==
           (ssize_t)sizeof(transaction);
}

/* Renumber the meta pages to follow the old file's last transaction. The newer
 * one stays at its page, which the number's last bit names. */
static hf_status renumber(int fd, const hf__meta *meta, uint64_t last,
                          hf_error *err)
{
    uint64_t next = last + 1 + ((last + 1 + meta->index) & 1);
    uint64_t newer = meta->index == 0 ? 0 : meta->page_size;
    uint64_t older = meta->index == 0 ? meta->page_size : 0;

    if (meta->transaction > last || (put_transaction(fd, older, next - 1) &&
                                     put_transaction(fd, newer, next)))
        return HF_OK;
    return hf__files_fail(err, errno, "cannot write the new data file");
}

/* LMDB may count unwritten pages at the end. */
static hf_status read_heads(int fd, hf__meta *meta, hf_error *err)
{
    hf__finding found;
    struct stat info;
    hf_status status;

    for (int i = 0; i < 2; i++) {
        if (fstat(fd, &info) != 0)
            break;
        if (hf__pages_meta(fd, (uint64_t)info.st_size, meta, &found))
            return HF_OK;
        if (found.code != HF__FOUND_CUT)
            break;
        status = hf__files_allocate(fd, found.b, err);
        if (status != HF_OK)
            return status;
    }
    return hf__fail(err, HF_SYSTEM, "the new data file cannot be read");
}

static hf_status finish(int fd, const copied *done, uint64_t *size,
                        hf_error *err)
{
    hf__meta meta;
    hf_status status;

    if (!put_flags(fd, 0) || !put_flags(fd, done->page_size))
        return hf__files_fail(err, errno, "cannot write the new data file");
    status = read_heads(fd, &meta, err);
    if (status == HF_OK)
        status = renumber(fd, &meta, done->transaction, err);
    if (status != HF_OK)
        return status;
    *size = (meta.last_page + 1) * meta.page_size + TAIL_SIZE;
    *size = (*size + GRAIN - 1) & ~(GRAIN - 1);
    if (*size < SIZE_LEAST)
        *size = SIZE_LEAST;
    status = hf__files_allocate(fd, *size, err);
    if (status == HF_OK && ftruncate(fd, (off_t)*size) != 0)
        status =
            hf__files_fail(err, errno, "cannot truncate the new data file");
    if (status == HF_OK && fsync(fd) != 0)
        status = hf__files_fail(err, errno, "cannot sync the new data file");
    return status;
}

/* ------------------------------------------------------------------ whole */

/* The data's current size; packed it is less. */
static hf_status ask_size(int fd, uint64_t *size, hf_error *err)
{
    hf__finding found;
    struct stat info;
    hf__meta meta;
    const hf__tree *tree = &meta.trees[HF__TREE_DATA];

    if (fstat(fd, &info) != 0)
        return hf__files_fail(err, errno, "cannot stat the data file");
    if (!hf__pages_meta(fd, (uint64_t)info.st_size, &meta, &found))
        return hf__fail(err, HF_CORRUPT, "the data file is damaged");
    *size = (tree->branch_pages + tree->leaf_pages + tree->large_pages) *
                meta.page_size +
            TAIL_SIZE;
    return HF_OK;
}

/* Checked before any work is done; the file system may still be full. */
static hf_status check_room(int dir_fd, uint64_t size, hf_error *err)
{
    struct statvfs system;

    if (fstatvfs(dir_fd, &system) != 0)
        return hf__files_fail(err, errno, "cannot query free space");
    if (size / system.f_frsize < system.f_bavail)
        return HF_OK;
    return hf__fail(err, HF_FULL, "no space for a second copy of %llu bytes",
                    (unsigned long long)size);
}

static hf_status write_new(int dir_fd, int old_fd, uint64_t old_size,
                           int new_fd, uint64_t *size, hf_error *err)
{
    copied done = {0};
    hf_status status = ask_size(old_fd, &done.room_size, err);

    if (status == HF_OK)
        status = check_room(dir_fd, done.room_size, err);
    if (status == HF_OK)
        status = copy_all(old_fd, new_fd, old_size, &done, err);
    return status == HF_OK ? finish(new_fd, &done, size, err) : status;
}

hf_status hf__rewrite(int dir_fd, uint64_t old_size, int *fd, uint64_t *size,
                      hf_error *err)
{
    int old_fd = hf__rights_open(dir_fd, HF__FILE_DATA, O_RDONLY);
    hf_status status;
    int new_fd;

    if (old_fd < 0)
        return hf__files_fail(err, errno, "cannot open the data file");
    (void)unlinkat(dir_fd, HF__FILE_REWRITE, 0);
    new_fd = hf__rights_create(dir_fd, HF__FILE_REWRITE, O_RDWR);
    if (new_fd < 0) {
        status = hf__files_fail(err, errno, "cannot create the new data file");
        close(old_fd);
        return status;
    }
    status = write_new(dir_fd, old_fd, old_size, new_fd, size, err);
    close(old_fd);
    if (status == HF_OK) {
        *fd = new_fd;
        return HF_OK;
    }
    close(new_fd);
    (void)unlinkat(dir_fd, HF__FILE_REWRITE, 0);
    return status;
}
