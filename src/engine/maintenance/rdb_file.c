/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rdb_file.c - see rdb_file.h.
 *
 * One read transaction, in slices: between two of them others may extend the
 * data file. A value is in one slice, however large, but written in pieces,
 * after each of which it may end.
 *
 * The file says that it is of Redis 7.0. A hash whose fields have deadlines
 * needs Redis 7.4, which reads it nevertheless.
 */
#include "engine/maintenance/rdb_file.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "engine/commands/payload.h"
#include "engine/files/keyhead.h"
#include "engine/keys/function_record.h"
#include "engine/keys/records.h"
#include "engine/keys/tx_life.h"
#include "util/clock.h"
#include "util/container.h"
#include "util/crc64.h"
#include "util/error.h"

#define SLICE_MS 5

/* For the writer lock, if the map is too small. */
#define LOCK_MS 5000

enum { RDB_EXPIRES_MS = 0xfc, RDB_DATABASE = 0xfe, RDB_END = 0xff };

typedef struct rdb_file {
    hf__rdb_out out;
    int fd;
    uint64_t sum, size;
    const atomic_bool *cancelled;
    bool begun;       /* the database has a key */
    size_t name_size; /* of the record where the next slice begins */
    unsigned char name[HF__LMDB_KEY_MAX];
} rdb_file;

/* fatal, if it is to end before it has all. */
static void look_at_others(const rdb_file *file)
{
    hf__tx *tx = file->out.tx;

    if (atomic_load(file->cancelled))
        tx->fatal = hf__fail(&tx->error, HF_CANCELLED, "cancelled");
    else if (__atomic_load_n(&tx->env->awaiting, __ATOMIC_RELAXED) ==
             mdb_txn_id(tx->txn))
        tx->fatal = hf__fail(&tx->error, HF_FULL,
                             "the store has become too full meanwhile");
}

static void write_piece(hf__rdb_out *out)
{
    rdb_file *file = hf__container_of(out, rdb_file, out);
    const unsigned char *at = out->tx->scratch;
    size_t left = out->tx->fatal == HF_OK ? out->size : 0;

    file->sum = hf__crc64(file->sum, at, left);
    file->size += left;
    out->size = 0;
    while (left > 0) {
        ssize_t done = write(file->fd, at, left);

        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0) {
            out->tx->fatal =
                hf__files_fail(&out->tx->error, errno, "cannot write the RDB");
            return;
        }
        at += done;
        left -= (size_t)done;
    }
    if (out->tx->fatal == HF_OK)
        look_at_others(file);
}

/* The key of this record, unless it has expired. */
static void put_key(rdb_file *file, const MDB_val *name, const MDB_val *value)
{
    hf__tx *tx = file->out.tx;
    hf__record *record;
    hf__keyhead head;

    if (value->mv_size < HF__KEYHEAD_SIZE) {
        hf__tx_fail(tx, MDB_CORRUPTED);
        return;
    }
    hf__keyhead_read(&head, value->mv_data);
    if (head.key_size > value->mv_size - HF__KEYHEAD_SIZE) {
        hf__tx_fail(tx, MDB_CORRUPTED);
        return;
    }
    file->out.key =
        hf__keyhead_key(&head, name->mv_data, name->mv_size, value->mv_data);
    record = hf__key_find(tx, file->out.key);
    if (record == NULL)
        return;
    if (!file->begun) {
        hf__rdb_put_integer(&file->out, RDB_DATABASE, 1);
        hf__rdb_put_length(&file->out, tx->database);
        file->begun = true;
    }
    if (record->expire_ms != 0) {
        hf__rdb_put_integer(&file->out, RDB_EXPIRES_MS, 1);
        hf__rdb_put_integer(&file->out,
                            (uint64_t)hf__tx_to_unix(tx, record->expire_ms), 8);
    }
    (void)hf__dump_value(&file->out, record);
    hf__rdb_flush(&file->out);
    hf__arena_free(&tx->arena);
    hf__tx_trim(tx);
}

/* Keys of the database, at least one. false: that were all, or fatal. */
static bool put_slice(rdb_file *file)
{
    hf__tx *tx = file->out.tx;
    int64_t until_ms = hf__clock_boot_ms() + SLICE_MS;
    MDB_val name = {file->name_size, file->name}, value;
    MDB_cursor *cursor;
    size_t count = 0;
    bool more;
    int rc = mdb_cursor_open(tx->txn, tx->env->dbi, &cursor);

    if (rc != MDB_SUCCESS) {
        hf__tx_fail(tx, rc);
        return false;
    }
    rc = mdb_cursor_get(cursor, &name, &value, MDB_SET_RANGE);
    while ((more = rc == MDB_SUCCESS && tx->fatal == HF_OK &&
                   *(unsigned char *)name.mv_data == file->name[0]) &&
           (count++ == 0 || hf__clock_boot_ms() < until_ms)) {
        put_key(file, &name, &value);
        rc = mdb_cursor_get(cursor, &name, &value, MDB_NEXT);
    }
    if (more) {
        file->name_size = name.mv_size;
        memcpy(file->name, name.mv_data, name.mv_size);
    } else if (rc != MDB_SUCCESS && rc != MDB_NOTFOUND) {
        hf__tx_fail(tx, rc);
    }
    mdb_cursor_close(cursor);
    hf__tx_cursors_drop(tx); /* they have addresses */
    hf__records_drop(tx);
    return more;
}

/* Between two slices. false: fatal. */
static bool let_others(rdb_file *file)
{
    hf__tx *tx = file->out.tx;

    hf__env_pause_read(tx->env);
    if (!hf__env_resume_read(tx->env))
        tx->fatal = hf__fail(&tx->error, HF_SYSTEM, "cannot map the data file");
    else
        look_at_others(file);
    return tx->fatal == HF_OK;
}

static void put_functions(rdb_file *file)
{
    hf__tx *tx = file->out.tx;
    uint64_t generation;
    hf_bytes payload;

    if (hf__functions_get(tx, &generation, &payload) && payload.size > 0)
        hf__rdb_put_part(&file->out,
                         hf_view(payload.data, payload.size - HF__RDB_TAIL));
}

static void put_all(rdb_file *file)
{
    hf__tx *tx = file->out.tx;

    hf__rdb_put_bytes(&file->out, "REDIS0010", 9);
    put_functions(file);
    for (unsigned i = 0; i < HF__DATABASES; i++) {
        tx->database = (uint8_t)i;
        file->begun = false;
        file->name[0] = hf__key_kind(i);
        file->name_size = 1;
        while (let_others(file) && put_slice(file)) {
        }
    }
    hf__rdb_put_integer(&file->out, RDB_END, 1);
    write_piece(&file->out);
    hf__rdb_put_integer(&file->out, file->sum, 8);
    write_piece(&file->out);
}

/* Another process has extended the file, and no one has adopted its size. */
static bool is_outgrown(hf__env *env)
{
    uint64_t size =
        __atomic_load_n(&env->sidecar.map->allocated_size, __ATOMIC_RELAXED);
    MDB_envinfo info;
    bool outgrown;

    pthread_rwlock_rdlock(&env->map_lock);
    outgrown = !env->broken && mdb_env_info(env->mdb, &info) == MDB_SUCCESS &&
               info.me_mapsize < size;
    pthread_rwlock_unlock(&env->map_lock);
    return outgrown;
}

static hf_status begin_read(hf__env *env, MDB_txn **txn, hf_error *err)
{
    hf_status status = hf__env_begin_read(env, txn, err);

    if (status != HF_UNAVAILABLE || env->read_only)
        return status;
    if (!is_outgrown(env))
        return hf__env_begin_read(env, txn, err);
    status = hf__env_lock(env, hf__clock_boot_ms() + LOCK_MS, err);
    if (status != HF_OK)
        return status;
    /* Until it has begun, no one extends the file again. */
    (void)hf__env_adopt_size(env);
    status = hf__env_begin_read(env, txn, err);
    hf__env_unlock(env);
    return status;
}

hf_status hf__rdb_file_write(hf__env *env, int fd, const atomic_bool *cancelled,
                             uint64_t *size, hf_error *err)
{
    hf__tx *tx = hf__tx_new(env, false);
    rdb_file file = {.out = {.tx = tx, .flush = write_piece},
                     .fd = fd,
                     .cancelled = cancelled};
    hf_status status;

    if (tx == NULL)
        return hf__fail(err, HF_NO_MEMORY, "out of memory");
    status = begin_read(env, &tx->txn, err);
    if (status == HF_OK) {
        __atomic_store_n(&env->copied, mdb_txn_id(tx->txn), __ATOMIC_RELAXED);
        hf__tx_start(tx, hf__clock_boot_ms());
        put_all(&file);
        status = hf__tx_finish(tx);
        __atomic_store_n(&env->copied, 0, __ATOMIC_RELAXED);
        if (status != HF_OK)
            hf__fail_copy(err, &tx->error);
    }
    if (tx->txn != NULL)
        mdb_txn_abort(tx->txn);
    hf__tx_free(tx);
    *size = file.size;
    return status;
}
