/* SPDX-License-Identifier: Apache-2.0 */
/* key_count.c - see key_count.h. */
#include "engine/keys/key_count.h"

#include "engine/files/keyhead.h"
#include "engine/keys/records.h"

static void count_record(hf__key_counts *counts, const MDB_val *value,
                         int64_t now_ms)
{
    hf__keyhead head = {0};

    if (value->mv_size >= HF__KEYHEAD_SIZE)
        hf__keyhead_read(&head, value->mv_data);
    if (hf__keyhead_is_over(&head, value->mv_data, value->mv_size, now_ms))
        return;
    counts->keys++;
    if (head.expire_ms == 0)
        return;
    counts->expiring++;
    counts->left_ms += (double)(head.expire_ms - now_ms);
}

bool hf__key_count(hf__tx *tx, hf__key_counts *counts)
{
    unsigned char first = hf__key_kind(tx->database);
    MDB_val key = {1, &first};
    MDB_val value;
    MDB_cursor *cursor;
    int rc;

    *counts = (hf__key_counts){0};
    if (tx->writable && !hf__tx_flush(tx))
        return false;
    rc = mdb_cursor_open(tx->txn, tx->env->dbi, &cursor);
    if (rc != MDB_SUCCESS) {
        hf__tx_fail(tx, rc);
        return false;
    }
    rc = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
    while (rc == MDB_SUCCESS && *(unsigned char *)key.mv_data == first) {
        count_record(counts, &value, tx->now_ms);
        rc = mdb_cursor_get(cursor, &key, &value, MDB_NEXT);
    }
    mdb_cursor_close(cursor);
    if (rc != MDB_SUCCESS && rc != MDB_NOTFOUND)
        hf__tx_fail(tx, rc);
    return tx->fatal == HF_OK;
}
