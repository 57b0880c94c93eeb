/* SPDX-License-Identifier: Apache-2.0 */
/* ceiling_lmdb.c - see ceiling.h. */
#include "ceiling.h"

#include <lmdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sizes of the embedded store's records: a prefix byte or two and the name as
 * key; a header of 32 bytes and the payload as value. */
#define LOCK_KEY "m:" BENCH_LOCK
#define TOKEN_KEY "m:hf:token:{" BENCH_LOCK "}"
#define WAIT_KEY "m:hf:wait:{" BENCH_LOCK "}"
#define LOCK_SIZE (32 + 32)
#define TOKEN_SIZE (32 + 16)

typedef struct lock_names {
    char lock[BENCH_NAME_SIZE];
    char token[BENCH_NAME_SIZE];
    char wait[BENCH_NAME_SIZE];
} lock_names;

struct ceiling_lmdb {
    MDB_env *env;
    MDB_dbi dbi;
    int locks;
    int next;
    unsigned char value[LOCK_SIZE];
    lock_names names[BENCH_LOCKS_MAX];
};

static bool failed(int rc)
{
    return rc != 0 && !bench_fail("lmdb: %s", mdb_strerror(rc));
}

static bool open_dbi(ceiling_lmdb *ceiling)
{
    MDB_txn *txn;

    return !failed(mdb_txn_begin(ceiling->env, NULL, 0, &txn)) &&
           !failed(mdb_dbi_open(txn, NULL, 0, &ceiling->dbi)) &&
           !failed(mdb_txn_commit(txn));
}

static bool put(ceiling_lmdb *ceiling, MDB_txn *txn, const char *name,
                size_t size, unsigned flags)
{
    MDB_val key = {strlen(name), (void *)(uintptr_t)name};
    MDB_val value = {size, ceiling->value};

    return !failed(mdb_put(txn, ceiling->dbi, &key, &value, flags));
}

static bool put_others(ceiling_lmdb *ceiling, int others)
{
    char name[BENCH_NAME_SIZE];
    MDB_txn *txn;

    if (failed(mdb_txn_begin(ceiling->env, NULL, 0, &txn)))
        return false;
    for (int i = 0; i < others; i++) {
        snprintf(name, sizeof(name), "m:" BENCH_OTHER, i);
        if (!put(ceiling, txn, name, LOCK_SIZE, 0)) {
            mdb_txn_abort(txn);
            return false;
        }
    }
    return !failed(mdb_txn_commit(txn));
}

static void make_names(ceiling_lmdb *ceiling, int locks)
{
    ceiling->locks = locks;
    for (int i = 0; i < locks; i++) {
        lock_names *names = &ceiling->names[i];

        snprintf(names->lock, sizeof(names->lock), LOCK_KEY, i);
        snprintf(names->token, sizeof(names->token), TOKEN_KEY, i);
        snprintf(names->wait, sizeof(names->wait), WAIT_KEY, i);
    }
}

ceiling_lmdb *ceiling_lmdb_open(const char *directory, const bench_load *load)
{
    ceiling_lmdb *ceiling = calloc(1, sizeof(*ceiling));
    unsigned flags = MDB_NOSYNC | MDB_WRITEMAP | MDB_NOTLS;

    if (ceiling == NULL)
        return NULL;
    make_names(ceiling, load->locks);
    if (failed(mdb_env_create(&ceiling->env)) ||
        failed(mdb_env_set_mapsize(ceiling->env, 64 << 20)) ||
        failed(mdb_env_open(ceiling->env, directory, flags, 0600)) ||
        !open_dbi(ceiling) || !put_others(ceiling, load->others)) {
        ceiling_lmdb_close(ceiling);
        return NULL;
    }
    return ceiling;
}

/* A record that may be missing; its first bytes count, so that it is read. */
static bool get(ceiling_lmdb *ceiling, MDB_txn *txn, const char *name)
{
    MDB_val key = {strlen(name), (void *)(uintptr_t)name};
    MDB_val value;
    int rc = mdb_get(txn, ceiling->dbi, &key, &value);

    if (rc == MDB_SUCCESS)
        ceiling->value[LOCK_SIZE - 1] ^= *(unsigned char *)value.mv_data;
    return rc == MDB_NOTFOUND || !failed(rc);
}

static bool acquire(ceiling_lmdb *ceiling, const lock_names *names)
{
    MDB_txn *txn;

    return !failed(mdb_txn_begin(ceiling->env, NULL, 0, &txn)) &&
           put(ceiling, txn, names->lock, LOCK_SIZE, MDB_NOOVERWRITE) &&
           get(ceiling, txn, names->token) &&
           put(ceiling, txn, names->token, TOKEN_SIZE, 0) &&
           !failed(mdb_txn_commit(txn));
}

static bool release(ceiling_lmdb *ceiling, const lock_names *names)
{
    MDB_val key = {strlen(names->lock), (void *)(uintptr_t)names->lock};
    MDB_txn *txn;

    return !failed(mdb_txn_begin(ceiling->env, NULL, 0, &txn)) &&
           get(ceiling, txn, names->lock) &&
           !failed(mdb_del(txn, ceiling->dbi, &key, NULL)) &&
           get(ceiling, txn, names->wait) && !failed(mdb_txn_commit(txn));
}

bool ceiling_lmdb_run(void *user, int64_t count)
{
    ceiling_lmdb *ceiling = user;

    for (int64_t i = 0; i < count; i++) {
        const lock_names *names = &ceiling->names[ceiling->next];

        ceiling->next = (ceiling->next + 1) % ceiling->locks;
        memcpy(ceiling->value, &i, sizeof(i));
        if (!acquire(ceiling, names) || !release(ceiling, names))
            return false;
    }
    return true;
}

void ceiling_lmdb_close(ceiling_lmdb *ceiling)
{
    if (ceiling == NULL)
        return;
    mdb_env_close(ceiling->env);
    free(ceiling);
}
