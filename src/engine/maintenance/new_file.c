/* SPDX-License-Identifier: Apache-2.0 */
/*
 * new_file.c - writing a data file, record by record.
 *
 * Records are appended to a new environment in transactions of some megabytes,
 * and its meta pages then get the numbers that follow the old file's.
 */
#include "engine/maintenance/new_file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/files/pages.h"
#include "engine/files/rights.h"
#include "util/error.h"

/* Size of one transaction, whose pages are in memory. */
#define PART_SIZE (UINT64_C(4) << 20)
/* The map: the old file's size and some for LMDB. */
#define SPARE_SIZE (UINT64_C(64) << 20)
/* Granularity of the file's size. */
#define GRAIN (UINT64_C(1) << 18)
#define SIZE_LEAST (UINT64_C(1) << 20)

/* ---------------------------------------------------------------- records */

static int begin_part(hf__new_file *self)
{
    int rc = mdb_txn_begin(self->env, NULL, 0, &self->txn);

    self->part_size = 0;
    if (rc == MDB_SUCCESS)
        rc = mdb_dbi_open(self->txn, NULL, 0, &self->dbi);
    return rc;
}

static int end_part(hf__new_file *self)
{
    MDB_txn *txn = self->txn;

    self->txn = NULL;
    return mdb_txn_commit(txn);
}

static int open_env(hf__new_file *self, const char *path, uint64_t old_size)
{
    int rc = mdb_env_create(&self->env);

    if (rc == MDB_SUCCESS)
        rc = mdb_env_set_mapsize(self->env, (size_t)(old_size + SPARE_SIZE));
    if (rc == MDB_SUCCESS)
        rc = mdb_env_open(self->env, path,
                          MDB_NOSYNC | MDB_NOLOCK | MDB_NOSUBDIR, 0600);
    if (rc == MDB_SUCCESS)
        rc = begin_part(self);
    return rc;
}

hf_status hf__new_file_begin(hf__new_file *self, int fd, uint64_t old_size,
                             uint64_t room_size, hf_error *err)
{
    char path[HF__FD_PATH_SIZE];
    hf_status status;
    int rc, own_fd = -1;

    memset(self, 0, sizeof(*self));
    self->fd = fd;
    hf__rights_fd_path(path, fd);
    rc = open_env(self, path, old_size);
    if (rc == MDB_SUCCESS)
        rc = mdb_env_get_fd(self->env, &own_fd);
    if (rc != MDB_SUCCESS) {
        hf__new_file_drop(self);
        return hf__files_fail_mdb(err, rc, "cannot write the new data file");
    }
    /* Now: later, a full disk may be a signal. */
    status = hf__files_allocate(own_fd, room_size, err);
    if (status != HF_OK)
        hf__new_file_drop(self);
    return status;
}

int hf__new_file_put(hf__new_file *self, MDB_val *key, size_t size, void **room)
{
    MDB_val value = {size, NULL};
    int rc = MDB_SUCCESS;

    if (self->part_size >= PART_SIZE) {
        rc = end_part(self);
        if (rc == MDB_SUCCESS)
            rc = begin_part(self);
    }
    if (rc == MDB_SUCCESS)
        rc = mdb_put(self->txn, self->dbi, key, &value,
                     MDB_APPEND | MDB_RESERVE);
    self->part_size += key->mv_size + size;
    *room = value.mv_data;
    return rc;
}

void hf__new_file_drop(hf__new_file *self)
{
    if (self->txn != NULL)
        mdb_txn_abort(self->txn);
    if (self->env != NULL)
        mdb_env_close(self->env);
    self->txn = NULL;
    self->env = NULL;
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
 * one stays at its page, which the number's last bit names. Numbers are left
 * out: LMDB's lock file has that last one, and a page with the next would be
 * taken for a commit that a kill cut (dead_writer.c). */
static hf_status renumber_meta(int fd, const hf__meta *meta, uint64_t last,
                               hf_error *err)
{
    uint64_t next = last + 3 + ((last + 3 + meta->index) & 1);
    uint64_t newer = meta->index == 0 ? 0 : meta->page_size;
    uint64_t older = meta->index == 0 ? meta->page_size : 0;

    if (meta->transaction >= next || (put_transaction(fd, older, next - 1) &&
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

static hf_status finish_file(int fd, uint32_t page_size, uint64_t transaction,
                             uint64_t *size, hf_error *err)
{
    hf__meta meta;
    hf_status status;

    if (!put_flags(fd, 0) || !put_flags(fd, page_size))
        return hf__files_fail(err, errno, "cannot write the new data file");
    status = read_heads(fd, &meta, err);
    if (status == HF_OK)
        status = renumber_meta(fd, &meta, transaction, err);
    if (status != HF_OK)
        return status;
    *size = (meta.last_page + 1) * meta.page_size + HF__NEW_FILE_TAIL;
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

hf_status hf__new_file_end(hf__new_file *self, uint64_t transaction,
                           uint64_t *size, hf_error *err)
{
    MDB_stat stat = {0};
    int rc = end_part(self);

    if (rc == MDB_SUCCESS)
        rc = mdb_env_stat(self->env, &stat);
    hf__new_file_drop(self);
    if (rc != MDB_SUCCESS)
        return hf__files_fail_mdb(err, rc, "cannot write the new data file");
    return finish_file(self->fd, stat.ms_psize, transaction, size, err);
}
