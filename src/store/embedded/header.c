/* SPDX-License-Identifier: Apache-2.0 */
/*
 * header.c - the record that says that an LMDB file is a store of ours, of
 * which format and mode.
 */
#include <string.h>

#include "store/embedded/header.h"
#include "store/embedded/tx.h"
#include "util/error.h"
#include "util/rand.h"

#define HEADER_MAGIC "HOLDFAST"

typedef struct header {
    char magic[8];
    uint32_t version;
    uint32_t mode;
    unsigned char store_id[16];
} header;

static const char *mode_text(uint32_t mode)
{
    return mode == HF__MODE_DURABLE ? "durable" : "volatile";
}

hf_status hf__header_check_mode(uint32_t mode, const hf__place *place,
                                hf_error *err)
{
    if (mode == place->mode)
        return HF_OK;
    return hf__fail(err, HF_INVALID, "the store is %s, not %s", mode_text(mode),
                    mode_text(place->mode));
}

int hf__header_put(const hf__env *env, MDB_txn *txn)
{
    char name[1] = {HF__RECORD_HEADER};
    header head;
    MDB_val key = {sizeof(name), name};
    MDB_val value = {sizeof(head), &head};

    memset(&head, 0, sizeof(head));
    memcpy(head.magic, HEADER_MAGIC, sizeof(head.magic));
    head.version = HF__FORMAT_VERSION;
    head.mode = env->mode;
    hf__rand_bytes(head.store_id, sizeof(head.store_id));
    return mdb_put(txn, env->dbi, &key, &value, 0);
}

static hf_status judge_header(const MDB_val *value, const hf__place *place,
                              hf_error *err)
{
    header head;

    if (value->mv_size < sizeof(head) ||
        memcmp(value->mv_data, HEADER_MAGIC, sizeof(head.magic)) != 0)
        return hf__fail(err, HF_INVALID,
                        "the LMDB file there is not a store of holdfast");
    memcpy(&head, value->mv_data, sizeof(head));
    if (head.version > HF__FORMAT_VERSION)
        return hf__fail(err, HF_UNSUPPORTED,
                        "the store has format %u, newer than this library's %u",
                        head.version, HF__FORMAT_VERSION);
    return hf__header_check_mode(head.mode, place, err);
}

static hf_status read_header(MDB_env *mdb, const hf__place *place,
                             hf_error *err)
{
    char name[1] = {HF__RECORD_HEADER};
    MDB_val key = {sizeof(name), name};
    MDB_val value;
    MDB_txn *txn;
    MDB_dbi dbi;
    hf_status status;
    int rc = mdb_txn_begin(mdb, NULL, MDB_RDONLY, &txn);

    if (rc != MDB_SUCCESS)
        return hf__env_fail(err, rc, "cannot read the store");
    rc = mdb_dbi_open(txn, NULL, 0, &dbi); /* sets its comparison function */
    if (rc == MDB_SUCCESS)
        rc = mdb_get(txn, dbi, &key, &value);
    if (rc == MDB_NOTFOUND)
        status = hf__fail(err, HF_INVALID,
                          "the LMDB file there is not a store of holdfast");
    else if (rc != MDB_SUCCESS)
        status = hf__env_fail(err, rc, "cannot read the store");
    else
        status = judge_header(&value, place, err);
    mdb_txn_abort(txn);
    return status;
}

hf_status hf__header_probe(const hf__place *place, uint64_t size, hf_error *err)
{
    hf_status status;
    MDB_env *mdb;
    int rc = mdb_env_create(&mdb);

    if (rc != MDB_SUCCESS)
        return hf__env_fail(err, rc, "cannot open the store");
    rc = mdb_env_set_mapsize(mdb, (size_t)size);
    if (rc == MDB_SUCCESS)
        rc = mdb_env_open(mdb, place->path, MDB_RDONLY | MDB_NOLOCK | MDB_NOTLS,
                          0600);
    if (rc == MDB_SUCCESS)
        status = read_header(mdb, place, err);
    else
        status = hf__env_fail(err, rc, "cannot open the store");
    mdb_env_close(mdb);
    return status;
}

hf_status hf__header_write(const hf__env *env, hf_error *err)
{
    MDB_txn *txn;
    int rc = mdb_txn_begin(env->mdb, NULL, 0, &txn);

    if (rc != MDB_SUCCESS)
        return hf__env_fail(err, rc, "cannot begin the store");
    rc = hf__header_put(env, txn);
    if (rc != MDB_SUCCESS) {
        mdb_txn_abort(txn);
        return hf__env_fail(err, rc, "cannot begin the store");
    }
    rc = mdb_txn_commit(txn);
    if (rc != MDB_SUCCESS)
        return hf__env_fail(err, rc, "cannot begin the store");
    return HF_OK;
}
