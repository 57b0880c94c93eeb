/* SPDX-License-Identifier: Apache-2.0 */
/* ceiling_lmdb.c - see ceiling.h. */
#include "ceiling.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bare.h"

/* Names and sizes of the embedded store's records: a letter and the name as
 * key; a head and the payload as value. */
#define LOCK_SIZE (BARE_HEAD + 32)
#define TOKEN_SIZE (BARE_HEAD + 16)
#define MAP_SIZE ((size_t)64 << 20)

#define KEY_SIZE (BENCH_NAME_SIZE + 16)

typedef struct lock_names {
    char lock[KEY_SIZE];
    char token[KEY_SIZE];
    char wait[KEY_SIZE];
} lock_names;

struct ceiling_lmdb {
    bare base;
    int locks;
    int next;
    unsigned char value[LOCK_SIZE];
    lock_names names[BENCH_LOCKS_MAX];
};

static bool put_record(ceiling_lmdb *ceiling, MDB_txn *txn, const char *name,
                       size_t size, unsigned flags)
{
    return bare_put(&ceiling->base, txn, name, ceiling->value, size, flags);
}

static bool put_others(ceiling_lmdb *ceiling, int others)
{
    char name[BENCH_NAME_SIZE], key[KEY_SIZE];
    MDB_txn *txn;

    if (!bare_begin(&ceiling->base, 0, &txn))
        return false;
    for (int i = 0; i < others; i++) {
        bench_other_name(name, i);
        snprintf(key, sizeof(key), "m%s", name);
        if (!put_record(ceiling, txn, key, LOCK_SIZE, 0)) {
            mdb_txn_abort(txn);
            return false;
        }
    }
    return bare_ok(mdb_txn_commit(txn));
}

static void make_names(ceiling_lmdb *ceiling, const bench_load *load)
{
    char name[BENCH_NAME_SIZE];

    ceiling->locks = load->locks;
    for (int i = 0; i < load->locks; i++) {
        lock_names *names = &ceiling->names[i];

        bench_lock_name(name, load, i);
        snprintf(names->lock, sizeof(names->lock), "m%s", name);
        snprintf(names->token, sizeof(names->token), "mhf:token");
        snprintf(names->wait, sizeof(names->wait), "mhf:wait:{%s}", name);
    }
}

ceiling_lmdb *ceiling_lmdb_open(const char *directory, const bench_load *load)
{
    ceiling_lmdb *ceiling = calloc(1, sizeof(*ceiling));

    if (ceiling == NULL)
        return NULL;
    make_names(ceiling, load);
    if (!bare_open(&ceiling->base, directory, MAP_SIZE) ||
        !put_others(ceiling, load->others)) {
        ceiling_lmdb_close(ceiling);
        return NULL;
    }
    return ceiling;
}

/* A record that may be missing; its first bytes count, so that it is read. */
static bool get_record(ceiling_lmdb *ceiling, MDB_txn *txn, const char *name)
{
    MDB_val key = {strlen(name), (void *)(uintptr_t)name};
    MDB_val value;
    int rc = mdb_get(txn, ceiling->base.dbi, &key, &value);

    if (rc == MDB_SUCCESS)
        ceiling->value[LOCK_SIZE - 1] ^= *(unsigned char *)value.mv_data;
    return rc == MDB_NOTFOUND || bare_ok(rc);
}

static bool acquire_lock(ceiling_lmdb *ceiling, const lock_names *names)
{
    MDB_txn *txn;

    return bare_begin(&ceiling->base, 0, &txn) &&
           put_record(ceiling, txn, names->lock, LOCK_SIZE, MDB_NOOVERWRITE) &&
           get_record(ceiling, txn, names->token) &&
           put_record(ceiling, txn, names->token, TOKEN_SIZE, 0) &&
           bare_ok(mdb_txn_commit(txn));
}

static bool release_lock(ceiling_lmdb *ceiling, const lock_names *names)
{
    MDB_val key = {strlen(names->lock), (void *)(uintptr_t)names->lock};
    MDB_txn *txn;

    return bare_begin(&ceiling->base, 0, &txn) &&
           get_record(ceiling, txn, names->lock) &&
           bare_ok(mdb_del(txn, ceiling->base.dbi, &key, NULL)) &&
           get_record(ceiling, txn, names->wait) &&
           bare_ok(mdb_txn_commit(txn));
}

bool ceiling_lmdb_run(void *user, int64_t count)
{
    ceiling_lmdb *ceiling = user;

    for (int64_t i = 0; i < count; i++) {
        const lock_names *names = &ceiling->names[ceiling->next];

        ceiling->next = (ceiling->next + 1) % ceiling->locks;
        memcpy(ceiling->value, &i, sizeof(i));
        if (!acquire_lock(ceiling, names) || !release_lock(ceiling, names))
            return false;
    }
    return true;
}

void ceiling_lmdb_close(ceiling_lmdb *ceiling)
{
    if (ceiling == NULL)
        return;
    bare_close(&ceiling->base);
    free(ceiling);
}
