/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redo_note.c - what a transaction changes, for the log: the names of records
 * of LMDB, each after its head.
 */
#include <string.h>

#include "engine/commit/redo_state.h"
#include "engine/commit/tx.h"
#include "engine/files/format.h"
#include "util/hash_bytes.h"

static bool is_at(const hf__buf *all, size_t at, const MDB_val *key)
{
    const unsigned char *note = hf__buf_front(all) + at;
    hf__redo_note_head head;

    memcpy(&head, note, sizeof(head));
    return head.size == key->mv_size &&
           memcmp(note + sizeof(head), key->mv_data, head.size) == 0;
}

void hf__redo_clear(hf__tx *tx)
{
    hf__buf_clear(&tx->changes);
    tx->dropped = false;
    tx->env->redo->round++;
}

/* Commands often change the same few records again and again; the log has what
 * the transaction leaves in them for each note. */
bool hf__redo_note(hf__tx *tx, const MDB_val *key)
{
    const hf__redo_note_head head = {.size = (uint32_t)key->mv_size};
    hf__buf *all = &tx->changes;
    hf__redo *self = tx->env->redo;
    hf__redo_noted *noted =
        &self->noted[hf__hash(hf_view(key->mv_data, head.size), 0) %
                     HF__REDO_NOTED];

    if (noted->round == self->round && is_at(all, noted->at, key))
        return true;
    *noted = (hf__redo_noted){self->round, hf__buf_size(all)};
    return hf__buf_append(all, &head, sizeof(head)) &&
           hf__buf_append(all, key->mv_data, head.size);
}

bool hf__redo_note_drop(hf__tx *tx)
{
    char name[1] = {HF__RECORD_HEADER};
    MDB_val header = {sizeof(name), name};

    if (tx->env->redo == NULL)
        return true;
    hf__redo_clear(tx);
    tx->dropped = true;
    return hf__redo_note(tx, &header);
}
