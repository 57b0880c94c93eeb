/* SPDX-License-Identifier: Apache-2.0 */
/*
 * records.c - see records.h.
 */
#include "engine/keys/records.h"

#include <string.h>

#include "engine/files/header.h"
#include "engine/files/keyhead.h"
#include "engine/keys/record_cache.h"
#include "engine/wake/note.h"
#include "util/error.h"
#include "util/mem.h"

/* Larger buffers are freed after the transaction. */
#define KEEP_SIZE 65536u
/* As many small records stay for the next transaction: those of a lock, whose
 * holder takes and releases it. */
#define STAY_MAX 8u
/* A larger record is put together in LMDB's page, which takes a search. */
#define SMALL_MAX 256u

/* --------------------------------------------------------- writing out */

/* Write the stored form to LMDB's page. */
static void encode_record(const hf__record *record, unsigned char *at,
                          size_t size)
{
    hf__keyhead head = {.type = record->type,
                        .form = record->form,
                        .expire_ms = record->expire_ms,
                        .keyid = record->keyid,
                        .count = record->count};
    unsigned char *to = at + HF__KEYHEAD_SIZE;
    uint64_t sum;

    if (record->long_key != NULL)
        head.key_size = (uint32_t)record->key_size;
    hf__keyhead_write(&head, at);
    if (head.key_size > 0)
        memcpy(to, record->long_key, head.key_size);
    if (record->content_size > 0)
        memcpy(to + head.key_size, record->content, record->content_size);
    sum = hf__sum(hf__sum(0, record->name, record->name_size), at, size);
    head.sum = hf__sum_fold(sum);
    memcpy(at + HF__KEYHEAD_SUM_AT, &head.sum, sizeof(head.sum));
}

static bool knows_databases(hf__tx *tx, const hf__record *record)
{
    return hf__record_database(record) == 0 ||
           hf__tx_raise_format(tx, HF__FORMAT_DATABASES);
}

static void write_record(hf__tx *tx, hf__record *record)
{
    size_t head =
        HF__KEYHEAD_SIZE + (record->long_key != NULL ? record->key_size : 0);
    MDB_val name = {record->name_size, record->name};
    MDB_val value = {head + record->content_size, NULL};
    unsigned char small[SMALL_MAX];

    if (!knows_databases(tx, record))
        return;
    if (record->stored && hf__tx_is_placed(tx) && value.mv_size <= SMALL_MAX) {
        encode_record(record, small, value.mv_size);
        value.mv_data = small;
        (void)hf__tx_put(tx, &name, &value);
    } else if (hf__tx_put(tx, &name, &value)) {
        encode_record(record, value.mv_data, value.mv_size);
    }
}

/* For a key that comes and goes, as locks do, leave an expired record to be
 * overwritten. false: not such a key. */
static bool leave_tombstone(hf__tx *tx, hf__record *record)
{
    static const unsigned char nothing[HF__RECORD_CACHE_CONTENT_MAX];

    if (tx->env->tight || tx->now_ms <= 0 ||
        !hf__record_cache_comes_back(tx->cache, record, &record->content_size))
        return false;
    record->type = HF__TYPE_STRING;
    record->expire_ms = -tx->now_ms;
    record->content = nothing;
    write_record(tx, record);
    hf__record_clear(record);
    return true;
}

static hf_change_kind kind_of(const hf__record *record)
{
    if (record->live)
        return HF_CHANGE_WRITTEN;
    return record->expired ? HF_CHANGE_EXPIRED : HF_CHANGE_DELETED;
}

static void write_out(hf__tx *tx, hf__record *record)
{
    MDB_val name = {record->name_size, record->name};

    hf__note(tx, hf__record_database(record), kind_of(record),
             hf__record_key(record));
    if (record->live)
        write_record(tx, record);
    else if (record->stored && !leave_tombstone(tx, record))
        hf__tx_delete(tx, &name);
    record->dirty = false;
    record->stored = record->live;
    record->uncached = true;
}

/* It would write records that are only lent, and lose which are changed. */
static bool refuse_sealed(hf__tx *tx)
{
    if (tx->fatal == HF_OK)
        tx->fatal = hf__fail(&tx->error, HF_UNSUPPORTED,
                             "no command about all keys runs on this store");
    return false;
}

bool hf__tx_flush(hf__tx *tx)
{
    if (tx->sealed)
        return refuse_sealed(tx);
    /* First copy content out of the map: writing would move it. */
    for (uint32_t i = 0; i < tx->record_count; i++) {
        hf__record *record = tx->records[i];

        if (record->dirty && record->live && !record->owned &&
            hf__content_edit(tx, record, record->content_size) == NULL)
            return false;
    }
    for (uint32_t i = 0; i < tx->record_count && tx->fatal == HF_OK; i++) {
        if (tx->records[i]->dirty)
            write_out(tx, tx->records[i]);
    }
    tx->dirty_size = 0;
    return tx->fatal == HF_OK;
}

/* -------------------------------------------------------- letting go */

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

void hf__records_drop(hf__tx *tx)
{
    for (uint32_t i = 0; i < tx->record_count; i++)
        free_memory(tx->records[i]);
    tx->record_count = 0;
    tx->placed = NULL;
    tx->dirty_size = 0;
    tx->stamp++;
}

void hf__records_put_away(hf__tx *tx)
{
    for (uint32_t i = 0; i < tx->record_count; i++) {
        if (tx->records[i]->uncached)
            hf__record_cache_put(tx->cache, tx->records[i]);
    }
    hf__records_drop(tx);
}

/* Is all that is known of it in the record itself, and little? One that is as
 * it came from the cache may have held a value that is gone. */
static bool may_stay(const hf__record *record)
{
    return record->form == HF__FORM_INLINE &&
           (record->owned || !record->live) &&
           record->content_size <= HF__RECORD_CACHE_CONTENT_MAX &&
           record->key_size <= HF__RECORD_CACHE_KEY_MAX &&
           record->memory_size <= KEEP_SIZE;
}

void hf__records_leave(hf__tx *tx)
{
    bool stay = tx->cache != NULL && tx->record_count <= STAY_MAX;

    for (uint32_t i = 0; i < tx->record_count; i++) {
        hf__record *record = tx->records[i];

        if (record->uncached)
            hf__record_cache_put(tx->cache, record);
        record->uncached = false;
        stay = stay && may_stay(record);
    }
    if (!stay)
        hf__records_drop(tx);
}

void hf__records_return(hf__tx *tx, bool current)
{
    bool stay = current;

    for (uint32_t i = 0; stay && i < tx->record_count; i++) {
        hf__record *record = tx->records[i];

        record->expired = false;
        /* Only a command that asks for it may find that it has expired. */
        stay = record->expire_ms == 0 || record->expire_ms > tx->now_ms;
    }
    if (!stay)
        hf__records_drop(tx);
}

void hf__tx_drop_records(hf__tx *tx)
{
    hf__record_cache_clear(tx->cache);
    hf__records_drop(tx);
}

/* Its content is in LMDB. What is large stays counted until its memory is
 * freed: that bounds what a transaction holds. Less may have been counted, as a
 * new expiry alone is not. */
static void discount_record(hf__tx *tx, const hf__record *record)
{
    size_t size = record->content_size;

    if (record->memory_size <= KEEP_SIZE)
        tx->dirty_size -= size < tx->dirty_size ? size : tx->dirty_size;
}

/* LMDB has just found the key that was changed: written now, it is not searched
 * for again. Not if changes are noted, of which there is one for a key. */
static void write_placed(hf__tx *tx)
{
    hf__record *record = tx->placed;

    if (record == NULL || !hf__tx_is_placed(tx) || !record->dirty ||
        !record->live || !record->owned || tx->watched != 0)
        return;
    write_out(tx, record);
    discount_record(tx, record);
}

void hf__tx_trim_now(hf__tx *tx)
{
    hf__tx_drop_gathered(tx);
    if (tx->sealed)
        return;
    write_placed(tx);
    if (tx->record_count < HF__RECORD_MAX - HF__RECORD_HEADROOM &&
        tx->dirty_size < HF__DIRTY_MAX)
        return;
    if (!tx->writable)
        hf__records_drop(tx);
    else if (hf__tx_flush(tx))
        hf__records_put_away(tx);
}
