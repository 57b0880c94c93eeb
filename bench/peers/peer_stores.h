/* SPDX-License-Identifier: Apache-2.0 */
/* peer_stores.h - values of several stores, as a program in C sets and gets
 * them. */
#ifndef BENCH_PEER_STORES_H
#define BENCH_PEER_STORES_H

#include "peers/peer_locks.h"
#include "writers.h"

/* A store that WRITERS_MAX threads can use at once. It stays until the process
 * ends. */
typedef struct peer_store {
    void *(*open)(const peer_place *place); /* NULL: failed, with a message */
    writers_set *set;
    /* Copy a value of WRITERS_VALUE_SIZE bytes; by one thread. NULL: it is not
     * measured. */
    bool (*get)(void *store, const char *name);
} peer_store;

extern const peer_store peer_values_holdfast;
extern const peer_store peer_values_hiredis; /* one thread */
/* In shared memory, not flushed. */
extern const peer_store peer_values_lmdb;
extern const peer_store peer_values_sqlite;
/* Each set is on the disk when it returns. */
extern const peer_store peer_durable_lmdb;
extern const peer_store peer_durable_sqlite_wal;
extern const peer_store peer_durable_sqlite_rollback;
extern const peer_store peer_durable_rocksdb;

#endif
