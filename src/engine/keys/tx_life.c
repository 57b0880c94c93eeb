/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tx_life.c - beginning and ending a transaction's context.
 *
 * Contexts are reused, so that a short transaction allocates nothing: records
 * keep their memory. The one for writing belongs to the holder of the writer
 * lock; those for reading to one thread each.
 */
#include "engine/keys/tx_life.h"

#include "engine/commit/flush.h"
#include "engine/commit/redo.h"
#include "engine/keys/reclaim.h"
#include "engine/keys/record_cache.h"
#include "engine/keys/records.h"
#include "engine/wake/note.h"
#include "util/mem.h"

/* Larger buffers are freed after the transaction. */
#define KEEP_SIZE 65536u

hf__tx *hf__tx_new(hf__env *env, bool writable)
{
    hf__tx *tx = hf__calloc(1, sizeof(*tx));

    if (tx == NULL)
        return NULL;
    tx->env = env;
    tx->writable = writable;
    tx->error.struct_size = sizeof(tx->error);
    hf__arena_init(&tx->arena);
    hf__arena_init(&tx->gathered);
    hf__buf_init(&tx->changes, SIZE_MAX);
    if (!writable)
        return tx;
    tx->cache = hf__record_cache_new();
    if (tx->cache == NULL) {
        hf__free(tx);
        return NULL;
    }
    return tx;
}

void hf__tx_free(hf__tx *tx)
{
    for (size_t i = 0; i < HF__RECORD_MAX; i++) {
        if (tx->records[i] == NULL)
            break;
        hf__free(tx->records[i]->memory);
        hf__free(tx->records[i]->long_key);
        hf__free(tx->records[i]);
    }
    hf__free(tx->events);
    hf__buf_done(&tx->changes);
    for (size_t i = 0; i < HF__RING_COUNT; i++)
        hf__buf_done(&tx->noted[i].notes);
    hf__free(tx->scratch);
    hf__arena_free(&tx->arena);
    hf__tx_drop_gathered(tx);
    hf__record_cache_free(tx->cache);
    hf__free(tx);
}

static void set_time(hf__tx *tx, int64_t boot_ms)
{
    tx->unix_us = 0;
    tx->ahead_ms = hf__sidecar_unix_ahead_ms(&tx->env->sidecar);
    tx->now_ms = hf__sidecar_now_ms(&tx->env->sidecar, boot_ms);
}

void hf__tx_start(hf__tx *tx, int64_t boot_ms)
{
    tx->changed = false;
    tx->fatal = HF_OK;
    set_time(tx, boot_ms);
    tx->keyid_next = 0;
    tx->wanted_size = 0;
    tx->put_count = 0;
    tx->script_us = 0;
    tx->no_pending_deletes = false;
    tx->grows = tx->log_full = false;
    tx->event_count = tx->saying_count = 0;
    tx->made = NULL;
    tx->attend = NULL;
    tx->database = 0;
    if (tx->writable && tx->env->redo != NULL)
        hf__redo_clear(tx);
    hf__note_begin(tx);
    if (tx->writable)
        hf__records_return(
            tx, hf__record_cache_begin(tx->cache, mdb_txn_id(tx->txn)));
}

static void drop_scratch(hf__tx *tx)
{
    hf__arena_free(&tx->arena);
    hf__tx_drop_gathered(tx);
    if (tx->scratch_size <= KEEP_SIZE)
        return;
    hf__free(tx->scratch);
    tx->scratch = NULL;
    tx->scratch_size = 0;
}

void hf__tx_next(hf__tx *tx, int64_t boot_ms)
{
    hf__records_put_away(tx);
    drop_scratch(tx);
    set_time(tx, boot_ms);
}

hf_status hf__tx_finish(hf__tx *tx)
{
    bool claimed;
    int rc;

    if (!tx->writable) {
        hf__tx_cursors_drop(tx);
        hf__env_end_read(tx->env, tx->txn);
        hf__records_drop(tx);
        drop_scratch(tx);
        return tx->fatal;
    }
    if (tx->fatal == HF_OK && hf__tx_flush(tx) && tx->changed)
        hf__reclaim(tx);
    /* The log is last: what can still fail must not be in it. */
    if (tx->watched != 0 && tx->fatal == HF_OK)
        hf__note_claim(tx);
    claimed = tx->watched != 0 && tx->fatal == HF_OK;
    if (tx->env->redo != NULL && tx->fatal == HF_OK && tx->changed)
        (void)hf__redo_write(tx);
    hf__tx_leave_place(tx);
    if (tx->fatal == HF_OK && tx->changed) {
        rc = hf__env_commit(tx->env, tx->txn);
        if (rc != MDB_SUCCESS)
            hf__tx_fail(tx, rc);
        if (tx->env->redo != NULL)
            hf__redo_wrote(tx, rc == MDB_SUCCESS);
        if (claimed)
            hf__note_publish(tx, rc == MDB_SUCCESS);
        if (rc == MDB_SUCCESS) {
            if (tx->env->flush != NULL)
                hf__flush_wrote(tx);
            hf__record_cache_committed(tx->cache);
            if (tx->no_pending_deletes)
                tx->env->sidecar.map->pending_deletes = 0;
        }
    } else {
        mdb_txn_abort(tx->txn);
        if (claimed)
            hf__note_publish(tx, tx->fatal == HF_OK);
    }
    tx->txn = NULL;
    if (tx->fatal == HF_OK) {
        hf__records_leave(tx);
    } else {
        hf__tx_drop_records(tx);
        tx->event_count = tx->saying_count = 0;
    }
    drop_scratch(tx);
    return tx->fatal;
}
