/* SPDX-License-Identifier: Apache-2.0 */
/* peer_rocksdb.c - RocksDB: a lock of its pessimistic transactions, in one
 * process, and durable values; see peer_locks.h, peer_stores.h. */
#include <rocksdb/c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "peers/peer_stores.h"

/* false, with a message, if there is one; frees it. */
static bool no_error(char *error)
{
    if (error == NULL)
        return true;
    bench_fail("rocksdb: %s", error);
    rocksdb_free(error);
    return false;
}

static rocksdb_options_t *new_options(void)
{
    rocksdb_options_t *options = rocksdb_options_create();

    rocksdb_options_set_create_if_missing(options, 1);
    return options;
}

/* -------------------------------------------------------------------- lock */

typedef struct rocksdb_lock {
    rocksdb_transactiondb_t *db;
    rocksdb_writeoptions_t *write;
    rocksdb_readoptions_t *read;
    rocksdb_transaction_options_t *options;
    rocksdb_transaction_t *txn; /* used again for the next */
} rocksdb_lock;

static void *lock_open(const peer_place *place)
{
    rocksdb_lock *self = calloc(1, sizeof(*self));
    char path[BENCH_PATH_SIZE], *error = NULL;

    if (self == NULL)
        return NULL;
    snprintf(path, sizeof(path), "%s/locks", place->directory);
    self->db = rocksdb_transactiondb_open(
        new_options(), rocksdb_transactiondb_options_create(), path, &error);
    self->write = rocksdb_writeoptions_create();
    self->read = rocksdb_readoptions_create();
    self->options = rocksdb_transaction_options_create();
    return no_error(error) ? self : NULL;
}

static void *lock_new(void *client)
{
    return client;
}

static bool lock_acquire(void *lock)
{
    rocksdb_lock *self = lock;
    char *error = NULL, *value;
    size_t size;

    self->txn = rocksdb_transaction_begin(self->db, self->write, self->options,
                                          self->txn);
    value = rocksdb_transaction_get_for_update(
        self->txn, self->read, PEER_LOCK_NAME, strlen(PEER_LOCK_NAME), &size, 1,
        &error);
    free(value);
    return no_error(error);
}

static bool lock_release(void *lock)
{
    char *error = NULL;

    rocksdb_transaction_commit(((rocksdb_lock *)lock)->txn, &error);
    return no_error(error);
}

const peer_library peer_rocksdb = {lock_open, lock_new, lock_acquire,
                                   lock_release};

/* ------------------------------------------------------------------ values */

typedef struct rocksdb_values {
    rocksdb_t *db;
    rocksdb_writeoptions_t *write;
} rocksdb_values;

static void *values_open(const peer_place *place)
{
    rocksdb_values *self = calloc(1, sizeof(*self));
    char path[BENCH_PATH_SIZE], *error = NULL;

    if (self == NULL)
        return NULL;
    snprintf(path, sizeof(path), "%s/values", place->directory);
    self->db = rocksdb_open(new_options(), path, &error);
    self->write = rocksdb_writeoptions_create();
    rocksdb_writeoptions_set_sync(self->write, 1);
    return no_error(error) ? self : NULL;
}

static bool values_set(void *store, int thread, const char *name,
                       const char *value)
{
    rocksdb_values *self = store;
    char *error = NULL;

    (void)thread;
    rocksdb_put(self->db, self->write, name, strlen(name), value,
                WRITERS_VALUE_SIZE, &error);
    return no_error(error);
}

const peer_store peer_durable_rocksdb = {values_open, values_set, NULL};
