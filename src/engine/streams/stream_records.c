/* SPDX-License-Identifier: Apache-2.0 */
/* stream_records.c - see stream_records.h. */
#include "engine/streams/stream_records.h"

#include <string.h>

#include "engine/files/format.h"

static void put_number(hf__stream_name *name, uint32_t number)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        name->bytes[name->size++] = (unsigned char)(number >> shift);
}

hf__stream_name hf__stream_name_of(uint64_t keyid, unsigned char what,
                                   uint32_t group, uint32_t consumer,
                                   hf__stream_id id)
{
    hf__stream_name name = {HF__STREAM_PREFIX, {HF__RECORD_STREAM}};

    hf__put_be64(name.bytes + 1, keyid);
    name.bytes[9] = what;
    if (what != HF__STREAM_PACK)
        put_number(&name, group);
    if (what == HF__STREAM_CONSUMER || what == HF__STREAM_TAKEN)
        put_number(&name, consumer);
    if (what == HF__STREAM_CONSUMER)
        return name;
    hf__put_be64(name.bytes + name.size, id.ms);
    hf__put_be64(name.bytes + name.size + 8, id.seq);
    name.size += 16;
    return name;
}

hf__stream_id hf__stream_name_get_id(const hf__stream_name *name)
{
    const unsigned char *at = name->bytes + name->size - 16;

    return (hf__stream_id){hf__get_be64(at), hf__get_be64(at + 8)};
}

uint32_t hf__stream_name_get_number(const hf__stream_name *name, size_t at)
{
    uint32_t number = 0;

    for (size_t i = 0; i < 4; i++)
        number = number << 8 | name->bytes[at + i];
    return number;
}

bool hf__stream_record_get(hf__tx *tx, const hf__stream_name *name,
                           hf_bytes *value)
{
    MDB_val key = hf__stream_name_key(name);
    MDB_val found;
    int rc;

    if (!hf__tx_spend(tx, 500))
        return false;
    rc = hf__tx_find(tx, &key, &found);
    if (rc == MDB_SUCCESS)
        *value = hf_view(found.mv_data, found.mv_size);
    else if (rc != MDB_NOTFOUND)
        hf__tx_fail(tx, rc);
    return rc == MDB_SUCCESS;
}

void hf__stream_record_put(hf__tx *tx, const hf__stream_name *name,
                           hf_bytes value)
{
    MDB_val key = hf__stream_name_key(name);
    MDB_val data = {value.size, (void *)(uintptr_t)value.data};

    (void)hf__tx_put(tx, &key, &data);
}

void hf__stream_record_delete(hf__tx *tx, const hf__stream_name *name)
{
    MDB_val key = hf__stream_name_key(name);

    hf__tx_delete(tx, &key);
}

static int seek_cursor(MDB_cursor *cursor, MDB_val *key, MDB_val *value,
                       hf__stream_seek seek)
{
    MDB_val wanted = *key;
    int rc = mdb_cursor_get(cursor, key, value, MDB_SET_RANGE);

    if (seek == HF__SEEK_FROM ||
        (rc == MDB_SUCCESS && key->mv_size == wanted.mv_size &&
         memcmp(key->mv_data, wanted.mv_data, wanted.mv_size) == 0))
        return rc;
    if (rc != MDB_SUCCESS && rc != MDB_NOTFOUND)
        return rc;
    return mdb_cursor_get(cursor, key, value,
                          rc == MDB_NOTFOUND ? MDB_LAST : MDB_PREV);
}

bool hf__stream_record_seek(hf__tx *tx, hf__stream_name *name, size_t prefix,
                            hf__stream_seek seek, hf_bytes *value)
{
    MDB_val key = hf__stream_name_key(name);
    MDB_cursor *cursor = NULL;
    MDB_val found;
    bool there;
    int rc;

    if (!hf__tx_spend(tx, 700))
        return false;
    rc = mdb_cursor_open(tx->txn, tx->env->dbi, &cursor);
    if (rc == MDB_SUCCESS)
        rc = seek_cursor(cursor, &key, &found, seek);
    there = rc == MDB_SUCCESS && key.mv_size == name->size &&
            memcmp(key.mv_data, name->bytes, prefix) == 0;
    if (there) {
        memcpy(name->bytes, key.mv_data, name->size);
        *value = hf_view(found.mv_data, found.mv_size);
    }
    if (cursor != NULL)
        mdb_cursor_close(cursor);
    if (rc != MDB_SUCCESS && rc != MDB_NOTFOUND)
        hf__tx_fail(tx, rc);
    return there;
}
