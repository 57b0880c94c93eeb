/* SPDX-License-Identifier: Apache-2.0 */
/* function_record.c - see function_record.h. */
#include "engine/keys/function_record.h"

#include <string.h>

#include "engine/files/header.h"
#include "util/rand.h"

#define GENERATION_SIZE sizeof(uint64_t)

static MDB_val name_of(unsigned char kind[1])
{
    kind[0] = HF__RECORD_FUNCTIONS;
    return (MDB_val){1, kind};
}

/* Nothing: there is none, or fatal. */
static hf_bytes get_record(hf__tx *tx)
{
    unsigned char kind[1];
    MDB_val name = name_of(kind);
    MDB_val value;
    int rc = mdb_get(tx->txn, tx->env->dbi, &name, &value);

    if (rc == MDB_SUCCESS && value.mv_size < GENERATION_SIZE + HF__RDB_TAIL)
        rc = MDB_CORRUPTED;
    if (rc == MDB_SUCCESS)
        return hf_view(value.mv_data, value.mv_size);
    if (rc != MDB_NOTFOUND)
        hf__tx_fail(tx, rc);
    return hf_view(NULL, 0);
}

bool hf__functions_get(hf__tx *tx, uint64_t *generation, hf_bytes *payload)
{
    hf_bytes record = get_record(tx);

    *generation = 0;
    *payload = hf_view(NULL, 0);
    if (record.size > 0) {
        memcpy(generation, record.data, GENERATION_SIZE);
        *payload = hf_view((const char *)record.data + GENERATION_SIZE,
                           record.size - GENERATION_SIZE);
    }
    return tx->fatal == HF_OK;
}

void hf__functions_put(hf__tx *tx, hf_bytes payload, uint64_t *generation)
{
    unsigned char kind[1];
    MDB_val name = name_of(kind);
    MDB_val value = {GENERATION_SIZE + payload.size, NULL};

    *generation = 0;
    if (payload.size == 0) {
        hf__tx_delete(tx, &name);
        return;
    }
    while (*generation == 0)
        hf__rand_bytes(generation, sizeof(*generation));
    if (!hf__tx_raise_format(tx, HF__FORMAT_FUNCTIONS) ||
        !hf__tx_put(tx, &name, &value))
        return;
    memcpy(value.mv_data, generation, GENERATION_SIZE);
    memcpy((char *)value.mv_data + GENERATION_SIZE, payload.data, payload.size);
}

bool hf__functions_save(hf__tx *tx, hf_bytes *record)
{
    void *copy;

    *record = get_record(tx);
    if (record->size == 0)
        return tx->fatal == HF_OK;
    copy = hf__tx_alloc(tx, record->size);
    if (copy == NULL)
        return false;
    memcpy(copy, record->data, record->size);
    record->data = copy;
    return true;
}

void hf__functions_put_saved(hf__tx *tx, hf_bytes record)
{
    unsigned char kind[1];
    MDB_val name = name_of(kind);
    MDB_val value = {record.size, (void *)(uintptr_t)record.data};

    if (record.size > 0 && hf__tx_raise_format(tx, HF__FORMAT_FUNCTIONS))
        (void)hf__tx_put(tx, &name, &value);
}

bool hf__functions_next(hf__rdb_source *from, hf_bytes *text)
{
    const unsigned char *kind;

    return hf__rdb_take_bytes(from, 1, &kind) && *kind == HF__RDB_FUNCTION &&
           hf__rdb_take_string(from, text);
}

/* The texts are not looked at: the checksum is of them. */
bool hf__functions_is_intact(const unsigned char *record, size_t size)
{
    return size >= GENERATION_SIZE + HF__RDB_TAIL &&
           size <= GENERATION_SIZE + HF__FUNCTIONS_SIZE_MAX &&
           hf__rdb_tail_fits(
               hf_view(record + GENERATION_SIZE, size - GENERATION_SIZE));
}
