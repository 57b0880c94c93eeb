/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tx.c - beginning and ending a transaction's context.
 *
 * A context is used again and again, so that a short transaction allocates
 * nothing: records keep their memory. The one for writing belongs to whoever
 * holds the writer lock; those for reading to one thread each.
 */
#include "store/embedded/commit/tx.h"

#include <assert.h>
#include <string.h>

#include "store/embedded/commit/flush.h"
#include "store/embedded/keys/record_cache.h"
#include "store/embedded/lua/machine.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/mem.h"

/* Larger buffers are given back after the transaction. */
#define KEEP_SIZE 65536u

/* Two clocks were read at one time if no more than this lies between; else
 * they are read again, a few times. */
#define AHEAD_APART_US 20
#define AHEAD_TRIES 5

hf__tx *hf__tx_new(hf__env *env, bool writable)
{
    hf__tx *tx = hf__calloc(1, sizeof(*tx));

    if (tx == NULL)
        return NULL;
    tx->env = env;
    tx->writable = writable;
    tx->error.struct_size = sizeof(tx->error);
    hf__arena_init(&tx->arena);
    if (!writable)
        return tx;
    tx->recall = hf__recall_new();
    if (tx->recall == NULL) {
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
    hf__free(tx->scratch);
    hf__arena_free(&tx->arena);
    hf__recall_free(tx->recall);
    hf__free(tx);
}

void hf__tx_free_all(hf__env *env)
{
    if (env->machine != NULL)
        hf__machine_free(env->machine);
    if (env->write_tx != NULL)
        hf__tx_free(env->write_tx);
    for (size_t i = 0; i < env->reader_count; i++) {
        if (env->readers[i]->txn != NULL)
            mdb_txn_abort(env->readers[i]->txn);
        hf__tx_free(env->readers[i]);
    }
}

static void set_time(hf__tx *tx, int64_t boot_ms)
{
    tx->unix_us = 0;
    tx->ahead_known = false;
    tx->now_ms = boot_ms;
    if (tx->env->mode != HF__MODE_VOLATILE) {
        tx->unix_us = hf__clock_unix_us();
        tx->now_ms = tx->unix_us / 1000;
    }
}

void hf__tx_start(hf__tx *tx, int64_t boot_ms)
{
    tx->changed = false;
    tx->fatal = HF_OK;
    set_time(tx, boot_ms);
    tx->keyid_next = 0;
    tx->wanted_size = 0;
    tx->orphans_gone = false;
    tx->event_count = 0;
    if (tx->writable)
        hf__recall_begin(tx->recall, mdb_txn_id(tx->txn));
}

/* ---------------------------------------------------------------- records */

static void free_memory(hf__record *record)
{
    if (record->memory_size > KEEP_SIZE) {
        hf__free(record->memory);
        record->memory = NULL;
        record->memory_size = 0;
    }
    if (record->long_key != NULL) {
        hf__free(record->long_key);
        record->long_key = NULL;
    }
}

static void drop_records(hf__tx *tx)
{
    for (uint32_t i = 0; i < tx->record_count; i++)
        free_memory(tx->records[i]);
    tx->record_count = 0;
    tx->dirty_size = 0;
    tx->stamp++;
}

/* They were written out: keep what may be wanted again. */
static void put_away(hf__tx *tx)
{
    for (uint32_t i = 0; i < tx->record_count; i++)
        hf__recall_put(tx->recall, tx->records[i]);
    drop_records(tx);
}

void hf__tx_forget(hf__tx *tx)
{
    hf__recall_clear(tx->recall);
    drop_records(tx);
}

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

/* May the command have so many bytes? */
static bool claim(hf__tx *tx, size_t size)
{
    if (tx->look != NULL)
        tx->look(tx, size);
    return tx->fatal == HF_OK;
}

unsigned char *hf__tx_scratch(hf__tx *tx, size_t size)
{
    unsigned char *larger;

    if (size <= tx->scratch_size)
        return tx->scratch;
    if (!claim(tx, tx->claimed_size + 2 * size))
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

void *hf__tx_alloc(hf__tx *tx, size_t size)
{
    void *memory;

    tx->claimed_size += size;
    if (size > HF__TX_PIECE / 16 &&
        !claim(tx, tx->claimed_size + tx->scratch_size))
        return NULL;
    memory = hf__arena_alloc(&tx->arena, size);
    if (memory == NULL)
        hf__tx_no_memory(tx);
    return memory;
}

static void drop_scratch(hf__tx *tx)
{
    hf__arena_free(&tx->arena);
    if (tx->scratch_size <= KEEP_SIZE)
        return;
    hf__free(tx->scratch);
    tx->scratch = NULL;
    tx->scratch_size = 0;
}

void hf__tx_trim(hf__tx *tx)
{
    if (tx->record_count < HF__RECORD_MAX - HF__RECORD_HEADROOM &&
        tx->dirty_size < HF__DIRTY_MAX)
        return;
    if (!tx->writable)
        drop_records(tx);
    else if (hf__tx_flush(tx))
        put_away(tx);
}

void hf__tx_next(hf__tx *tx, int64_t boot_ms)
{
    put_away(tx);
    drop_scratch(tx);
    set_time(tx, boot_ms);
}

hf_status hf__tx_finish(hf__tx *tx)
{
    int rc;

    if (!tx->writable) {
        hf__env_end_read(tx->env, tx->txn);
        drop_records(tx);
        drop_scratch(tx);
        return tx->fatal;
    }
    if (tx->fatal == HF_OK && hf__tx_flush(tx) && tx->changed)
        hf__reclaim(tx);
    if (tx->fatal == HF_OK && tx->changed) {
        rc = mdb_txn_commit(tx->txn);
        if (rc != MDB_SUCCESS) {
            hf__tx_fail(tx, rc);
        } else {
            hf__flush_wrote(tx);
            hf__recall_committed(tx->recall);
            if (tx->orphans_gone)
                tx->env->sidecar.map->orphans = 0;
        }
    } else {
        mdb_txn_abort(tx->txn);
    }
    tx->txn = NULL;
    if (tx->fatal == HF_OK) {
        put_away(tx);
    } else {
        hf__tx_forget(tx);
        tx->event_count = 0;
    }
    drop_scratch(tx);
    return tx->fatal;
}

/* --------------------------------------------------------------- failures */

void hf__tx_fail(hf__tx *tx, int rc)
{
    if (tx->fatal == HF_OK)
        tx->fatal = hf__env_fail(&tx->error, rc, "the store failed");
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

bool hf__tx_put(hf__tx *tx, MDB_val *key, MDB_val *value)
{
    unsigned flags = value->mv_data == NULL ? MDB_RESERVE : 0;
    int rc;

    assert(tx->writable);
    if (!hf__tx_spend(tx, 800 + value->mv_size / 4))
        return false;
    tx->epoch++;
    tx->changed = true;
    tx->wanted_size += key->mv_size + value->mv_size;
    rc = mdb_put(tx->txn, tx->env->dbi, key, value, flags);
    if (rc != MDB_SUCCESS)
        hf__tx_fail(tx, rc);
    return rc == MDB_SUCCESS;
}

void hf__tx_delete(hf__tx *tx, MDB_val *key)
{
    int rc;

    assert(tx->writable);
    if (!hf__tx_spend(tx, 800))
        return;
    tx->epoch++;
    tx->changed = true;
    rc = mdb_del(tx->txn, tx->env->dbi, key, NULL);
    if (rc != MDB_SUCCESS && rc != MDB_NOTFOUND)
        hf__tx_fail(tx, rc);
}

/* ------------------------------------------------------------------- time */

int64_t hf__tx_unix_us(hf__tx *tx)
{
    if (tx->unix_us == 0)
        tx->unix_us = hf__clock_unix_us();
    return tx->unix_us;
}

/* How far Unix time is ahead of the store's clock, ms. In whole ms, so that an
 * instant comes back as it was given. */
static int64_t unix_ahead_ms(hf__tx *tx)
{
    int64_t before_us, ahead_us;

    if (tx->env->mode != HF__MODE_VOLATILE)
        return 0;
    for (int i = 0; !tx->ahead_known && i < AHEAD_TRIES; i++) {
        before_us = hf__clock_boot_us();
        ahead_us = hf__clock_unix_us() - before_us;
        tx->ahead_ms = (ahead_us + 500) / 1000;
        tx->ahead_known = hf__clock_boot_us() - before_us < AHEAD_APART_US;
    }
    tx->ahead_known = true;
    return tx->ahead_ms;
}

/* The volatile store keeps CLOCK_BOOTTIME, so that setting the machine's clock
 * neither ends nor prolongs a lease. */
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
