/* SPDX-License-Identifier: Apache-2.0 */
/*
 * databases.c - see databases.h.
 *
 * A database has no record of its own: its number is the first byte of the
 * records of its keys, so each of these is written again. Elements belong to
 * the id of their key and stay where they are.
 */
#include "engine/keys/databases.h"

#include <string.h>

#include "engine/files/header.h"
#include "engine/files/keyhead.h"
#include "engine/keys/elements.h"
#include "engine/keys/records.h"
#include "engine/wake/note.h"

/* Where keys are while two databases are exchanged. */
#define NOWHERE HF__DATABASES

/* The first record of a database; false: it has none, or fatal. */
static bool find_first(hf__tx *tx, unsigned database, MDB_val *name,
                       MDB_val *value)
{
    unsigned char kind = hf__key_kind(database);
    MDB_val found = {1, &kind};
    MDB_cursor *cursor;
    int rc = mdb_cursor_open(tx->txn, tx->env->dbi, &cursor);

    if (rc == MDB_SUCCESS) {
        rc = mdb_cursor_get(cursor, &found, value, MDB_SET_RANGE);
        mdb_cursor_close(cursor);
    }
    if (rc == MDB_SUCCESS && *(unsigned char *)found.mv_data != kind)
        rc = MDB_NOTFOUND;
    if (rc == MDB_SUCCESS && value->mv_size < HF__KEYHEAD_SIZE)
        rc = MDB_CORRUPTED;
    if (rc != MDB_SUCCESS && rc != MDB_NOTFOUND)
        hf__tx_fail(tx, rc);
    if (rc == MDB_SUCCESS)
        *name = found;
    return rc == MDB_SUCCESS;
}

bool hf__database_has_others(hf__tx *tx, unsigned database)
{
    MDB_val name, value;

    if (!hf__tx_flush(tx))
        return false;
    for (unsigned i = 0; i < HF__DATABASES; i++) {
        if (i != database && find_first(tx, i, &name, &value))
            return true;
    }
    return false;
}

/* ------------------------------------------------------------------- clearing
 */

/* Unless it has expired, which is as if it did not exist. */
static void note_key(hf__tx *tx, unsigned database, hf_change_kind kind,
                     const MDB_val *name, const MDB_val *value)
{
    hf__keyhead head;

    hf__keyhead_read(&head, value->mv_data);
    if (database == NOWHERE ||
        head.key_size > value->mv_size - HF__KEYHEAD_SIZE ||
        hf__keyhead_is_over(&head, value->mv_data, value->mv_size, tx->now_ms))
        return;
    hf__note(
        tx, database, kind,
        hf__keyhead_key(&head, name->mv_data, name->mv_size, value->mv_data));
}

static void delete_key(hf__tx *tx, unsigned database, MDB_val *name,
                       const MDB_val *value)
{
    unsigned char copy[HF__LMDB_KEY_MAX];
    MDB_val key = {name->mv_size, copy};
    uint64_t ids[HF__KEYHEAD_IDS];
    hf__keyhead head;
    size_t count;

    hf__keyhead_read(&head, value->mv_data);
    count = hf__keyhead_ids(&head, value->mv_data, value->mv_size, ids);
    note_key(tx, database, HF_CHANGE_DELETED, name, value);
    memcpy(copy, name->mv_data, name->mv_size);
    hf__tx_delete(tx, &key);
    for (size_t i = 0; i < count && tx->fatal == HF_OK; i++)
        hf__pending_delete_put(tx, ids[i]);
}

void hf__database_clear(hf__tx *tx, unsigned database)
{
    MDB_val name, value;

    if (!hf__tx_flush(tx))
        return;
    hf__tx_drop_records(tx);
    while (tx->fatal == HF_OK && find_first(tx, database, &name, &value) &&
           hf__tx_spend(tx, 1000))
        delete_key(tx, database, &name, &value);
}

/* ------------------------------------------------------------------- swapping
 */

/* Under the other name it has another checksum. */
static void seal_again(const MDB_val *name, unsigned char *at, size_t size)
{
    uint16_t sum = 0;

    memcpy(at + HF__KEYHEAD_SUM_AT, &sum, sizeof(sum));
    sum = hf__sum_fold(
        hf__sum(hf__sum(0, name->mv_data, name->mv_size), at, size));
    memcpy(at + HF__KEYHEAD_SUM_AT, &sum, sizeof(sum));
}

static void move_key(hf__tx *tx, const MDB_val *name, const MDB_val *value,
                     unsigned from, unsigned to)
{
    size_t size = value->mv_size;
    unsigned char bytes[HF__LMDB_KEY_MAX];
    MDB_val key = {name->mv_size, bytes};
    unsigned char *at = hf__tx_scratch(tx, size);
    MDB_val copy = {size, at};

    if (at == NULL || !hf__tx_copy(tx, at, value->mv_data, size))
        return;
    note_key(tx, from, HF_CHANGE_DELETED, name, value);
    note_key(tx, to, HF_CHANGE_WRITTEN, name, value);
    memcpy(bytes, name->mv_data, name->mv_size);
    hf__tx_delete(tx, &key);
    bytes[0] = hf__key_kind(to);
    seal_again(&key, at, size);
    if (tx->fatal == HF_OK)
        (void)hf__tx_put(tx, &key, &copy);
}

static void move_all(hf__tx *tx, unsigned from, unsigned to)
{
    MDB_val name, value;

    while (tx->fatal == HF_OK && find_first(tx, from, &name, &value))
        move_key(tx, &name, &value, from, to);
}

void hf__database_swap(hf__tx *tx, unsigned first, unsigned second)
{
    if (!hf__tx_flush(tx) || !hf__tx_raise_format(tx, HF__FORMAT_DATABASES))
        return;
    hf__tx_drop_records(tx);
    move_all(tx, first, NOWHERE);
    move_all(tx, second, first);
    move_all(tx, NOWHERE, second);
}
