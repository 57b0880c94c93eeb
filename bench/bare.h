/* SPDX-License-Identifier: Apache-2.0 */
/* bare.h - LMDB without us: what the ceilings are made of. */
#ifndef BENCH_BARE_H
#define BENCH_BARE_H

#include <lmdb.h>
#include <stdbool.h>
#include <stddef.h>

/* What precedes the content in a key record of the embedded store. */
#define BARE_HEAD 32

typedef struct bare {
    MDB_env *env; /* NULL: not open */
    MDB_dbi dbi;
} bare;

/* A new environment with the flags of the volatile store, in a folder of its
 * own in `directory`. */
bool bare_open(bare *self, const char *directory, size_t map_size);
void bare_close(bare *self);

/* false, and a line that says why, if rc is an error. */
bool bare_ok(int rc);
bool bare_begin(bare *self, unsigned flags, MDB_txn **txn);
bool bare_put(bare *self, MDB_txn *txn, const char *name, const void *value,
              size_t size, unsigned flags);

#endif
