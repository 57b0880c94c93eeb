/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tx.c - working in a transaction: memory of a command, LMDB's records,
 * failures, time.
 */
#include "engine/commit/tx.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "engine/files/format.h"
#include "engine/files/header.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/mem.h"
#include "util/order.h"
#include "util/tsan.h"

bool hf__tx_copy(hf__tx *tx, void *to, const void *from, size_t size)
{
    for (size_t done = 0; done < size; done += HF__TX_PIECE) {
        size_t piece = size - done < HF__TX_PIECE ? size - done : HF__TX_PIECE;

        if (!hf__tx_spend(tx, piece / 4))
            return false;
        if (from != NULL)
            memcpy((char *)to + done, (const char *)from + done, piece);
        else
            memset((char *)to + done, 0, piece);
    }
    return true;
}

/* May the command use so many bytes? */
static bool claim_bytes(hf__tx *tx, size_t size)
{
    if (tx->check != NULL)
        tx->check(tx, size);
    return tx->fatal == HF_OK;
}

unsigned char *hf__tx_scratch(hf__tx *tx, size_t size)
{
    unsigned char *larger;

    if (size <= tx->scratch_size)
        return tx->scratch;
    if (!claim_bytes(tx, tx->claimed_size + tx->gathered_size + 2 * size))
        return NULL;
    larger = hf__realloc(tx->scratch, 2 * size);
    if (larger == NULL) {
        hf__tx_no_memory(tx);
        return NULL;
    }
    tx->scratch = larger;
    tx->scratch_size = 2 * size;
    return larger;
}

static void *alloc_from(hf__tx *tx, hf__arena *arena, size_t *claimed,
                        size_t size)
{
    void *memory;

    *claimed += size;
    if (size > HF__TX_PIECE / 16 &&
        !claim_bytes(tx,
                     tx->claimed_size + tx->gathered_size + tx->scratch_size))
        return NULL;
    memory = hf__arena_alloc(arena, size);
    if (memory == NULL)
        hf__tx_no_memory(tx);
    return memory;
}

void *hf__tx_alloc(hf__tx *tx, size_t size)
{
    return alloc_from(tx, &tx->arena, &tx->claimed_size, size);
}

void *hf__tx_alloc_gathered(hf__tx *tx, size_t size)
{
    return alloc_from(tx, &tx->gathered, &tx->gathered_size, size);
}

void hf__tx_drop_gathered(hf__tx *tx)
{
    if (tx->gathered_size == 0)
        return;
    hf__arena_free(&tx->gathered);
    tx->gathered_size = 0;
}

/* --------------------------------------------------------------- failures */

void hf__tx_fail(hf__tx *tx, int rc)
{
    if (tx->fatal != HF_OK)
        return;
    if (rc == MDB_MAP_FULL)
        tx->fatal = hf__env_fail_full(tx->env, &tx->error);
    else
        tx->fatal = hf__files_fail_mdb(&tx->error, rc, "the store failed");
}

void hf__tx_no_memory(hf__tx *tx)
{
    if (tx->fatal == HF_OK)
        tx->fatal = hf__fail(&tx->error, HF_NO_MEMORY, "out of memory");
}

bool hf__tx_may_write(hf__tx *tx)
{
    assert(tx->writable || tx->env->read_only);
    if (!tx->writable && tx->fatal == HF_OK)
        tx->fatal = hf__env_fail_read_only(&tx->error);
    return tx->fatal == HF_OK;
}

/* -------------------------------------------------------------- the place */

void hf__tx_leave_place(hf__tx *tx)
{
    if (tx->place != NULL)
        mdb_cursor_close(tx->place);
    tx->place = NULL;
    tx->placed = NULL;
}

int hf__tx_find(hf__tx *tx, MDB_val *key, MDB_val *value)
{
    int rc = MDB_SUCCESS;

    if (!tx->writable)
        return mdb_get(tx->txn, tx->env->dbi, key, value);
    if (!hf__tx_is_placed(tx)) {
        hf__tx_leave_place(tx);
        rc = mdb_cursor_open(tx->txn, tx->env->dbi, &tx->place);
    }
    if (rc != MDB_SUCCESS) {
        tx->place = NULL;
        return rc;
    }
    tx->place_epoch = tx->epoch;
    tx->placed = NULL;
    return mdb_cursor_get(tx->place, key, value, MDB_SET);
}

static bool is_at(MDB_cursor *place, const MDB_val *key)
{
    MDB_val found, value;

    return mdb_cursor_get(place, &found, &value, MDB_GET_CURRENT) ==
               MDB_SUCCESS &&
           found.mv_size == key->mv_size &&
           memcmp(found.mv_data, key->mv_data, key->mv_size) == 0;
}

static int put_placed(hf__tx *tx, MDB_val *key, MDB_val *value, unsigned flags)
{
    tx->placed = NULL;
    if (flags == 0 && is_at(tx->place, key))
        flags = MDB_CURRENT;
    return mdb_cursor_put(tx->place, key, value, flags);
}

static int delete_placed(hf__tx *tx, MDB_val *key)
{
    MDB_val value;
    int rc = mdb_cursor_get(tx->place, key, &value, MDB_SET);

    return rc == MDB_SUCCESS ? mdb_cursor_del(tx->place, 0) : rc;
}

/* ----------------------------------------------------------------- writing */

/* Account for a record to be put. false: fatal. */
static bool begin_put(hf__tx *tx, MDB_val *key, size_t size, size_t ns)
{
    assert(tx->writable);
    if (!hf__tx_spend(tx, ns + size / 4))
        return false;
    tx->epoch++;
    tx->changed = true;
    tx->wanted_size += key->mv_size + size;
    tx->put_count++;
    if (!hf__tx_note_change(tx, key))
        hf__tx_fail(tx, ENOMEM);
    return tx->fatal == HF_OK;
}

static bool end_put(hf__tx *tx, int rc)
{
    hf__tsan_acquire(tx->env); /* readers that ended before it took a page */
    if (rc != MDB_SUCCESS)
        hf__tx_fail(tx, rc);
    return rc == MDB_SUCCESS;
}

bool hf__tx_put(hf__tx *tx, MDB_val *key, MDB_val *value)
{
    unsigned flags = value->mv_data == NULL ? MDB_RESERVE : 0;
    bool placed = hf__tx_is_placed(tx);

    if (!begin_put(tx, key, value->mv_size, 800))
        return false;
    if (!placed)
        return end_put(tx, mdb_put(tx->txn, tx->env->dbi, key, value, flags));
    tx->place_epoch = tx->epoch;
    return end_put(tx, put_placed(tx, key, value, flags));
}

bool hf__tx_add(hf__tx *tx, MDB_val *key, MDB_val *value)
{
    size_t size = value->mv_size;
    int rc;

    assert(tx->writable);
    if (!hf__tx_spend(tx, 500))
        return false;
    rc = mdb_put(tx->txn, tx->env->dbi, key, value, MDB_NOOVERWRITE);
    if (rc == MDB_KEYEXIST)
        return false;
    return begin_put(tx, key, size, 300) && end_put(tx, rc);
}

bool hf__tx_replace(hf__tx *tx, MDB_cursor *cursor, MDB_val *key,
                    MDB_val *value)
{
    return begin_put(tx, key, value->mv_size, 200) &&
           end_put(tx, mdb_cursor_put(cursor, key, value, MDB_CURRENT));
}

void hf__tx_delete(hf__tx *tx, MDB_val *key)
{
    bool placed = hf__tx_is_placed(tx);
    int rc;

    assert(tx->writable);
    if (!hf__tx_spend(tx, 800))
        return;
    tx->epoch++;
    tx->changed = true;
    rc = hf__tx_note_change(tx, key) ? MDB_SUCCESS : ENOMEM;
    if (rc == MDB_SUCCESS)
        rc = placed ? delete_placed(tx, key)
                    : mdb_del(tx->txn, tx->env->dbi, key, NULL);
    if (rc != MDB_SUCCESS && rc != MDB_NOTFOUND)
        hf__tx_fail(tx, rc);
}

bool hf__tx_raise_format(hf__tx *tx, uint32_t version)
{
    char name[1] = {HF__RECORD_HEADER};
    hf__header header;
    MDB_val key = {sizeof(name), name};
    MDB_val value = {sizeof(header), &header};
    int rc = hf__header_get(tx->txn, tx->env->dbi, &header);

    if (rc != MDB_SUCCESS) {
        hf__tx_fail(tx, rc);
        return false;
    }
    if (header.version >= version)
        return true;
    header.version = version;
    return hf__tx_put(tx, &key, &value);
}

/* ---------------------------------------------------------------- cursors */

int hf__tx_cursor_open(hf__tx *tx, MDB_cursor **cursor)
{
    if (tx->spare == NULL)
        return mdb_cursor_open(tx->txn, tx->env->dbi, cursor);
    *cursor = tx->spare;
    tx->spare = NULL;
    return MDB_SUCCESS;
}

void hf__tx_cursor_close(hf__tx *tx, MDB_cursor *cursor)
{
    if (tx->writable || tx->spare != NULL)
        mdb_cursor_close(cursor);
    else
        tx->spare = cursor;
}

void hf__tx_cursors_drop(hf__tx *tx)
{
    if (tx->spare != NULL)
        mdb_cursor_close(tx->spare);
    if (tx->key_cursor != NULL)
        mdb_cursor_close(tx->key_cursor);
    tx->spare = tx->key_cursor = NULL;
}

static int take_at_cursor(hf__tx *tx, MDB_val *key, void *value, size_t size)
{
    MDB_cursor *cursor;
    MDB_val found;
    int rc = mdb_cursor_open(tx->txn, tx->env->dbi, &cursor);

    if (rc != MDB_SUCCESS)
        return rc;
    rc = mdb_cursor_get(cursor, key, &found, MDB_SET);
    if (rc == MDB_SUCCESS && found.mv_size != size)
        rc = MDB_CORRUPTED;
    if (rc == MDB_SUCCESS) {
        memcpy(value, found.mv_data, size);
        rc = hf__tx_note_change(tx, key) ? mdb_cursor_del(cursor, 0) : ENOMEM;
    }
    mdb_cursor_close(cursor);
    return rc;
}

bool hf__tx_take(hf__tx *tx, MDB_val *key, void *value, size_t size)
{
    int rc;

    assert(tx->writable);
    if (!hf__tx_spend(tx, 800))
        return false;
    rc = take_at_cursor(tx, key, value, size);
    if (rc == MDB_NOTFOUND)
        return false;
    tx->epoch++;
    tx->changed = true;
    if (rc != MDB_SUCCESS)
        hf__tx_fail(tx, rc);
    return rc == MDB_SUCCESS;
}

/* ------------------------------------------------------------------- time */

/* How far Unix time is ahead of the store's clock. */
static int64_t unix_ahead_ms(const hf__tx *tx)
{
    if (tx->env->mode != HF__MODE_VOLATILE)
        return 0;
    return tx->ahead_ms + tx->env->sidecar.namespace_ms;
}

int64_t hf__tx_from_unix(hf__tx *tx, int64_t unix_ms)
{
    int64_t store_ms;

    if (__builtin_sub_overflow(unix_ms, unix_ahead_ms(tx), &store_ms))
        return unix_ms < 0 ? INT64_MIN : INT64_MAX;
    return store_ms;
}

int64_t hf__tx_to_unix(hf__tx *tx, int64_t store_ms)
{
    int64_t unix_ms;

    if (__builtin_add_overflow(store_ms, unix_ahead_ms(tx), &unix_ms))
        return INT64_MAX;
    return unix_ms;
}

/* In the millisecond of now_ms, by which deadlines are set, however long this
 * thread has waited for a processor since: a script that computes a deadline
 * from TIME would set it too early. */
int64_t hf__tx_unix_us(hf__tx *tx)
{
    if (tx->unix_us == 0)
        tx->unix_us = hf__at_most(hf__clock_boot_us() + 1000 * tx->ahead_ms,
                                  1000 * hf__tx_to_unix(tx, tx->now_ms) + 999);
    return tx->unix_us;
}
