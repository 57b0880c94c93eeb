/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redo_read.c - opening the log of durability=log, applying it, and emptying
 * it. redo.c says what is in it.
 */
#include "engine/commit/redo_state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/commit/checkpoint.h"
#include "engine/commit/flush_map.h"
#include "engine/files/header.h"
#include "engine/files/rights.h"
#include "util/buf.h"
#include "util/clock.h"
#include "util/crc32c.h"
#include "util/error.h"
#include "util/mem.h"

#define NEW_NAME HF__FILE_REDO ".new"

/* LMDB's longest key. */
#define KEY_MAX 511u
/* How often the file is extended for one transaction. */
#define GROW_MAX 64

/* ---------------------------------------------------------------- records */

typedef struct found {
    uint64_t txn, serial;
    uint64_t at; /* of the changes, in the file */
    uint64_t size;
} found;

/* The file in memory, and its records in the order of their numbers; of one
 * number the one that counts comes first. */
typedef struct contents {
    unsigned char *bytes;
    size_t size;
    hf__buf records;
} contents;

static bool read_head(const contents *log, uint64_t base, uint64_t *salt)
{
    hf__redo_head head;

    if (base + sizeof(head) > log->size)
        return false;
    memcpy(&head, log->bytes + base, sizeof(head));
    *salt = head.salt;
    return memcmp(head.magic, HF__REDO_MAGIC, sizeof(head.magic)) == 0 &&
           head.sum == hf__crc32c(0, &head, offsetof(hf__redo_head, sum));
}

static bool read_record(const contents *log, uint64_t salt, uint64_t at,
                        uint64_t end, hf__redo_record *record)
{
    if (sizeof(*record) > end - at)
        return false;
    memcpy(record, log->bytes + at, sizeof(*record));
    if (record->size > end - at - sizeof(*record))
        return false;
    return record->sum == hf__crc32c(hf__redo_sum(salt, record),
                                     log->bytes + at + sizeof(*record),
                                     (size_t)record->size);
}

static bool add_record(contents *log, uint64_t at,
                       const hf__redo_record *record)
{
    found one = {record->txn, record->serial, at + sizeof(*record),
                 record->size};

    return hf__buf_append(&log->records, &one, sizeof(one));
}

/* Up to the second that does not hold: behind a torn one there is nothing, and
 * behind a damaged one the next shows the gap. false: out of memory. */
static bool read_part(contents *log, uint32_t part)
{
    uint64_t at = hf__redo_base(part), salt;
    uint64_t end =
        part == HF__REDO_OVERFLOW ? log->size : hf__redo_base(part + 1);
    hf__redo_record record = {.txn = 0};
    int bad = 0;

    if (end > log->size || !read_head(log, at, &salt))
        return true;
    at += sizeof(hf__redo_head);
    while (at < end && bad < 2) {
        if (!read_record(log, salt, at, end, &record))
            bad++;
        else if (!add_record(log, at, &record))
            return false;
        if (sizeof(record) > end - at ||
            hf__redo_padded(record.size) > end - at - sizeof(record))
            break;
        at += sizeof(record) + hf__redo_padded(record.size);
    }
    return true;
}

static int compare_found(const void *left, const void *right)
{
    const found *a = left, *b = right;

    if (a->txn != b->txn)
        return a->txn < b->txn ? -1 : 1;
    return a->serial > b->serial ? -1 : a->serial < b->serial;
}

static void contents_done(contents *log)
{
    if (log->bytes != NULL)
        (void)munmap(log->bytes, log->size);
    hf__buf_done(&log->records);
}

static hf_status contents_read(int fd, contents *log, hf_error *err)
{
    struct stat info;
    void *bytes;

    *log = (contents){0};
    hf__buf_init(&log->records, SIZE_MAX);
    if (fstat(fd, &info) != 0)
        return hf__files_fail(err, errno, "cannot stat the log");
    if ((uint64_t)info.st_size < HF__REDO_FILE_SIZE)
        return hf__fail(err, HF_CORRUPT, "the log was cut off");
    bytes = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_SHARED, fd, 0);
    if (bytes == MAP_FAILED)
        return hf__files_fail(err, errno, "cannot map the log");
    log->bytes = bytes;
    log->size = (size_t)info.st_size;
    for (uint32_t i = 0; i < HF__REDO_PARTS; i++) {
        if (!read_part(log, i))
            return hf__fail(err, HF_NO_MEMORY, "out of memory");
    }
    if (hf__buf_size(&log->records) > 0)
        qsort(hf__buf_front(&log->records),
              hf__buf_size(&log->records) / sizeof(found), sizeof(found),
              compare_found);
    return HF_OK;
}

/* NULL: there is none. */
static const found *find_txn(const contents *log, uint64_t txn)
{
    const found *all = (const found *)(void *)hf__buf_front(&log->records);
    size_t low = 0, high = hf__buf_size(&log->records) / sizeof(found);
    size_t count = high;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (all[middle].txn < txn)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && all[low].txn == txn ? &all[low] : NULL;
}

/* Has the log, if there is one, nothing of that transaction? */
static hf_status check_txn(int dir_fd, uint64_t txn, hf_error *err)
{
    int fd = hf__rights_open(dir_fd, HF__FILE_REDO, O_RDONLY);
    hf_status status;
    contents log;

    if (fd < 0 && errno == ENOENT)
        return HF_OK;
    if (fd < 0)
        return hf__files_fail(err, errno, "cannot open the log");
    status = contents_read(fd, &log, err);
    if (status == HF_OK && find_txn(&log, txn) != NULL)
        status = hf__checkpoint_deny(err);
    contents_done(&log);
    close(fd);
    return status;
}

hf_status hf__redo_check(int dir_fd, hf_error *err)
{
    uint64_t txn = 0;
    hf_status status = hf__checkpoint_check(dir_fd, &txn, err);

    return status == HF_OK && txn != 0 ? check_txn(dir_fd, txn + 1, err)
                                       : status;
}

/* ------------------------------------------------------------------- apply */

static uint64_t newest_txn(const contents *log)
{
    size_t count = hf__buf_size(&log->records) / sizeof(found);
    const found *all = (const found *)(void *)hf__buf_front(&log->records);

    return count > 0 ? all[count - 1].txn : 0;
}

static hf_status fail_damaged(hf_error *err)
{
    return hf__fail(err, HF_CORRUPT, "the log is damaged");
}

/* Take so many bytes; NULL: there are fewer. */
static void *take_bytes(const unsigned char **at, uint64_t *left, uint64_t size)
{
    const unsigned char *taken = *at;

    if (size > *left)
        return NULL;
    *at += size;
    *left -= size;
    return (void *)(uintptr_t)taken;
}

/* MDB_CORRUPTED: it is no change. */
static int apply_change(const hf__env *env, MDB_txn *txn,
                        const unsigned char **at, uint64_t *left)
{
    const void *start = take_bytes(at, left, sizeof(hf__redo_change));
    hf__redo_change change;
    MDB_val key, value;
    int rc;

    if (start == NULL)
        return MDB_CORRUPTED;
    memcpy(&change, start, sizeof(change));
    if (change.kind == HF__REDO_DROP)
        return mdb_drop(txn, env->dbi, 0);
    key = (MDB_val){change.key_size, take_bytes(at, left, change.key_size)};
    value = (MDB_val){(size_t)change.value_size,
                      take_bytes(at, left, change.value_size)};
    if (change.key_size == 0 || change.key_size > KEY_MAX ||
        key.mv_data == NULL || value.mv_data == NULL)
        return MDB_CORRUPTED;
    if (change.kind == HF__REDO_PUT)
        return mdb_put(txn, env->dbi, &key, &value, 0);
    if (change.kind != HF__REDO_DELETE)
        return MDB_CORRUPTED;
    rc = mdb_del(txn, env->dbi, &key, NULL);
    return rc == MDB_NOTFOUND ? MDB_SUCCESS : rc;
}

static int apply_once(const hf__env *env, const contents *log, const found *one)
{
    const unsigned char *at = log->bytes + one->at;
    uint64_t left = one->size;
    MDB_txn *txn;
    int rc = mdb_txn_begin(env->mdb, NULL, 0, &txn);

    if (rc != MDB_SUCCESS)
        return rc;
    if (mdb_txn_id(txn) != one->txn)
        rc = MDB_CORRUPTED;
    while (rc == MDB_SUCCESS && left > 0)
        rc = apply_change(env, txn, &at, &left);
    if (rc == MDB_SUCCESS)
        rc = hf__header_put_again(txn, env->dbi);
    if (rc == MDB_SUCCESS)
        return mdb_txn_commit(txn);
    mdb_txn_abort(txn);
    return rc;
}

static hf_status apply_record(hf__env *env, const contents *log,
                              const found *one, hf_error *err)
{
    int rc = apply_once(env, log, one);

    for (int i = 0; rc == MDB_MAP_FULL && i < GROW_MAX; i++) {
        int64_t now_ms = hf__clock_boot_ms();

        if (!hf__env_grow(env, 2 * one->size, now_ms) &&
            !hf__env_overdraw(env, now_ms))
            return hf__env_fail_full(env, err);
        rc = apply_once(env, log, one);
    }
    if (rc == MDB_CORRUPTED)
        return fail_damaged(err);
    if (rc != MDB_SUCCESS)
        return hf__files_fail_mdb(err, rc, "cannot apply the log");
    return HF_OK;
}

/* Each is on the disk before the next is written, so none may be missing. */
hf_status hf__redo_replay(hf__env *env, hf_error *err)
{
    const found *one;
    contents log;
    hf_status status;

    if (env->redo == NULL)
        return HF_OK;
    status = contents_read(env->redo->fd, &log, err);
    while (status == HF_OK &&
           (one = find_txn(&log, hf__flush_last_txn(env) + 1)) != NULL)
        status = apply_record(env, &log, one, err);
    if (status == HF_OK && newest_txn(&log) > hf__flush_last_txn(env))
        status = hf__fail(err, HF_CORRUPT,
                          "the log is damaged: it lacks transaction %llu",
                          (unsigned long long)hf__flush_last_txn(env) + 1);
    contents_done(&log);
    return status;
}

/* ------------------------------------------------------------------- empty */

static hf_status fail_sync(hf_error *err)
{
    return hf__files_fail(err, errno, "cannot write the log");
}

static hf_status void_parts(int fd, hf_error *err)
{
    static const hf__redo_head none;
    bool changed = false;
    hf__redo_head head;

    for (uint32_t i = 0; i < HF__REDO_PARTS; i++) {
        off_t at = (off_t)hf__redo_base(i);

        if (pread(fd, &head, sizeof(head), at) != (ssize_t)sizeof(head) ||
            memcmp(&head, &none, sizeof(head)) == 0)
            continue;
        if (pwrite(fd, &none, sizeof(none), at) != (ssize_t)sizeof(none))
            return fail_sync(err);
        changed = true;
    }
    return !changed || fdatasync(fd) == 0 ? HF_OK : fail_sync(err);
}

hf_status hf__redo_reset(hf__env *env, hf_error *err)
{
    hf__redo_map *map = &env->sidecar.map->redo;
    hf_status status;

    if (env->redo == NULL)
        return HF_OK;
    status = void_parts(env->redo->fd, err);
    memset(map, 0, sizeof(*map));
    map->last_txn = env->sidecar.map->flush.checkpoint;
    return status;
}

hf_status hf__redo_void(int dir_fd, hf_error *err)
{
    int fd = hf__rights_open(dir_fd, HF__FILE_REDO, O_RDWR);
    hf_status status;

    if (fd < 0 && errno == ENOENT)
        return HF_OK;
    if (fd < 0)
        return hf__files_fail(err, errno, "cannot open the log");
    status = void_parts(fd, err);
    close(fd);
    return status;
}

/* -------------------------------------------------------------------- file */

/* Written, not only allocated: the first write to a block that was not is a
 * change of metadata, too. */
static hf_status fill_file(int fd, hf_error *err)
{
    static const unsigned char zeros[65536];
    hf_status status = hf__files_check_limit(HF__REDO_FILE_SIZE, err);

    for (uint64_t at = 0; status == HF_OK && at < HF__REDO_FILE_SIZE;
         at += sizeof(zeros)) {
        if (pwrite(fd, zeros, sizeof(zeros), (off_t)at) !=
            (ssize_t)sizeof(zeros))
            status = hf__files_fail(err, errno, "cannot create the log");
    }
    if (status == HF_OK && fsync(fd) != 0)
        status = hf__files_fail(err, errno, "cannot create the log");
    return status;
}

hf_status hf__redo_create(const hf__env *env, hf_error *err)
{
    int dir_fd = env->dir_fd;
    hf_status status;
    int fd;

    if (env->mode != HF__MODE_LOG)
        return HF_OK;
    (void)unlinkat(dir_fd, NEW_NAME, 0);
    fd = hf__rights_create(dir_fd, NEW_NAME, O_RDWR);
    if (fd < 0)
        return hf__files_fail(err, errno, "cannot create the log");
    status = fill_file(fd, err);
    if (status == HF_OK &&
        (renameat(dir_fd, NEW_NAME, dir_fd, HF__FILE_REDO) != 0 ||
         fsync(dir_fd) != 0))
        status = hf__files_fail(err, errno, "cannot create the log");
    if (status != HF_OK)
        (void)unlinkat(dir_fd, NEW_NAME, 0);
    close(fd);
    return status;
}

hf_status hf__redo_open(hf__env *env, bool may_create, hf_error *err)
{
    hf__redo *self;
    hf_status status = HF_OK;
    int fd;

    if (env->mode != HF__MODE_LOG)
        return HF_OK;
    fd = hf__rights_open(env->dir_fd, HF__FILE_REDO, O_RDWR);
    if (fd < 0 && errno == ENOENT && may_create) {
        status = hf__redo_create(env, err);
        if (status != HF_OK)
            return status;
        fd = hf__rights_open(env->dir_fd, HF__FILE_REDO, O_RDWR);
    }
    if (fd < 0 && errno == ENOENT)
        return hf__fail(err, HF_CORRUPT,
                        "the store's log (" HF__FILE_REDO ") is missing");
    if (fd < 0)
        return hf__files_fail(err, errno, "cannot open the log");
    self = hf__calloc(1, sizeof(*self));
    if (self == NULL) {
        close(fd);
        return hf__fail(err, HF_NO_MEMORY, "out of memory");
    }
    self->fd = fd;
    self->round = 1;
    env->redo = self;
    return status;
}

void hf__redo_close(hf__env *env)
{
    if (env->redo == NULL)
        return;
    close(env->redo->fd);
    hf__free(env->redo);
    env->redo = NULL;
}
