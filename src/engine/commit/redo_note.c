/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redo_note.c - what a transaction changes, for the log: the names of records
 * of LMDB, each after its size.
 */
#include <string.h>

#include "engine/commit/redo.h"
#include "engine/commit/tx.h"
#include "engine/files/format.h"

/* One command often changes one record several times. */
static bool is_last(const hf__tx *tx, const MDB_val *key)
{
    const hf__buf *all = &tx->changes;
    const unsigned char *last;
    uint32_t size;

    if (hf__buf_size(all) == 0)
        return false;
    last = hf__buf_front(all) + tx->last_change;
    memcpy(&size, last, sizeof(size));
    return size == key->mv_size &&
           memcmp(last + sizeof(size), key->mv_data, size) == 0;
}

bool hf__redo_note(hf__tx *tx, const MDB_val *key)
{
    uint32_t size = (uint32_t)key->mv_size;
    hf__buf *all = &tx->changes;

    if (tx->env->redo == NULL || is_last(tx, key))
        return true;
    tx->last_change = hf__buf_size(all);
    return hf__buf_append(all, &size, sizeof(size)) &&
           hf__buf_append(all, key->mv_data, size);
}

bool hf__redo_note_drop(hf__tx *tx)
{
    char name[1] = {HF__RECORD_HEADER};
    MDB_val header = {sizeof(name), name};

    hf__buf_truncate(&tx->changes, 0);
    tx->dropped = true;
    return hf__redo_note(tx, &header);
}
