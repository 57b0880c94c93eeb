/* SPDX-License-Identifier: Apache-2.0 */
/* bare.h - LMDB by itself, for the ceilings. */
#ifndef BENCH_BARE_H
#define BENCH_BARE_H

#include <lmdb.h>
#include <stdbool.h>
#include <stddef.h>

#define BARE_VOLATILE (MDB_NOSYNC | MDB_WRITEMAP | MDB_NOMEMINIT | MDB_NOTLS)

/* The head of a key record of the embedded store. */
#define BARE_HEAD 32

typedef struct bare {
    MDB_env *env; /* NULL: not open */
    MDB_dbi dbi;
} bare;

/* An environment with the flags of the volatile store, in its own folder in
 * `directory`; new, unless another process has opened it there. */
bool bare_open(bare *self, const char *directory, size_t map_size);
bool bare_open_with(bare *self, const char *directory, size_t map_size,
                    unsigned flags);
void bare_close(bare *self);

/* false, with a message, if rc is an error. */
bool bare_ok(int rc);
bool bare_begin(bare *self, unsigned flags, MDB_txn **txn);
bool bare_put(bare *self, MDB_txn *txn, const char *name, const void *value,
              size_t size, unsigned flags);

#endif
