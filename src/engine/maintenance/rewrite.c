/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rewrite.c - copying a data file record by record.
 *
 * LMDB's own compacting copy restarts the numbers of transactions, so that key
 * ids in use would be assigned again; and it fails for a file that has lost a
 * page. So records are appended to a new file (new_file.c).
 */
#include "engine/maintenance/rewrite.h"

#include <errno.h>
#include <fcntl.h>
#include <lmdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "engine/commit/env.h"
#include "engine/files/pages.h"
#include "engine/files/rights.h"
#include "engine/maintenance/new_file.h"
#include "util/error.h"

typedef struct copy {
    MDB_env *from;
    MDB_txn *read;
    MDB_dbi from_dbi;
    MDB_cursor *cursor;
    hf__new_file to;
} copy;

/* ---------------------------------------------------------------- records */

static int copy_records(copy *self)
{
    MDB_val key, value;
    void *room;
    int rc = MDB_SUCCESS;

    while (rc == MDB_SUCCESS &&
           (rc = mdb_cursor_get(self->cursor, &key, &value, MDB_NEXT)) ==
               MDB_SUCCESS) {
        rc = hf__new_file_put(&self->to, &key, value.mv_size, &room);
        if (rc == MDB_SUCCESS && value.mv_size > 0)
            memcpy(room, value.mv_data, value.mv_size);
    }
    return rc == MDB_NOTFOUND ? MDB_SUCCESS : rc;
}

static int open_old(copy *self, const char *from, uint64_t old_size)
{
    int rc = mdb_env_create(&self->from);

    if (rc == MDB_SUCCESS)
        rc = mdb_env_set_mapsize(self->from, (size_t)old_size);
    if (rc == MDB_SUCCESS)
        rc = mdb_env_open(self->from, from,
                          MDB_RDONLY | MDB_NOLOCK | MDB_NOTLS | MDB_NOSUBDIR,
                          0600);
    if (rc == MDB_SUCCESS)
        rc = mdb_txn_begin(self->from, NULL, MDB_RDONLY, &self->read);
    if (rc == MDB_SUCCESS)
        rc = mdb_dbi_open(self->read, NULL, 0, &self->from_dbi);
    if (rc == MDB_SUCCESS)
        rc = mdb_cursor_open(self->read, self->from_dbi, &self->cursor);
    return rc;
}

static void close_old(copy *self)
{
    if (self->cursor != NULL)
        mdb_cursor_close(self->cursor);
    if (self->read != NULL)
        mdb_txn_abort(self->read);
    if (self->from != NULL)
        mdb_env_close(self->from);
}

/* *transaction: the old file's last one. */
static hf_status copy_all(copy *self, int old_fd, uint64_t old_size,
                          uint64_t *transaction, hf_error *err)
{
    char from[HF__FD_PATH_SIZE];
    int rc;

    hf__rights_fd_path(from, old_fd);
    rc = open_old(self, from, old_size);
    if (rc == MDB_SUCCESS) {
        *transaction = mdb_txn_id(self->read);
        rc = copy_records(self);
    }
    close_old(self);
    if (rc != MDB_SUCCESS)
        return hf__files_fail_mdb(err, rc, "cannot write the new data file");
    return HF_OK;
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
            HF__NEW_FILE_TAIL;
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
    copy self = {0};
    uint64_t room_size = 0, transaction = 0;
    hf_status status = ask_size(old_fd, &room_size, err);

    if (status == HF_OK)
        status = check_room(dir_fd, room_size, err);
    if (status != HF_OK)
        return status;
    status = hf__new_file_begin(&self.to, new_fd, old_size, room_size, err);
    if (status == HF_OK)
        status = copy_all(&self, old_fd, old_size, &transaction, err);
    if (status == HF_OK)
        return hf__new_file_end(&self.to, transaction, size, err);
    hf__new_file_drop(&self.to);
    return status;
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
