/* SPDX-License-Identifier: Apache-2.0 */
/* bare.c - see bare.h. */
#include "bare.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "bench.h"

bool bare_ok(int rc)
{
    return rc == MDB_SUCCESS || bench_fail("lmdb: %s", mdb_strerror(rc));
}

bool bare_begin(bare *self, unsigned flags, MDB_txn **txn)
{
    return bare_ok(mdb_txn_begin(self->env, NULL, flags, txn));
}

static bool open_dbi(bare *self)
{
    MDB_txn *txn;

    return bare_begin(self, 0, &txn) &&
           bare_ok(mdb_dbi_open(txn, NULL, 0, &self->dbi)) &&
           bare_ok(mdb_txn_commit(txn));
}

bool bare_open(bare *self, const char *directory, size_t map_size)
{
    return bare_open_with(self, directory, map_size, BARE_VOLATILE);
}

bool bare_open_with(bare *self, const char *directory, size_t map_size,
                    unsigned flags)
{
    char path[BENCH_PATH_SIZE];

    snprintf(path, sizeof(path), "%s/bare", directory);
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return bench_fail("cannot make %s", path);
    if (bare_ok(mdb_env_create(&self->env)) &&
        bare_ok(mdb_env_set_mapsize(self->env, map_size)) &&
        bare_ok(mdb_env_open(self->env, path, flags, 0600)) && open_dbi(self))
        return true;
    bare_close(self);
    return false;
}

void bare_close(bare *self)
{
    if (self->env != NULL)
        mdb_env_close(self->env);
    self->env = NULL;
}

bool bare_put(bare *self, MDB_txn *txn, const char *name, const void *value,
              size_t size, unsigned flags)
{
    MDB_val key = {strlen(name), (void *)(uintptr_t)name};
    MDB_val data = {size, (void *)(uintptr_t)value};

    return bare_ok(mdb_put(txn, self->dbi, &key, &data, flags));
}
