/* SPDX-License-Identifier: Apache-2.0 */
/* peer_locks.h - locks of several libraries, as a program in C takes them. */
#ifndef BENCH_PEER_LOCKS_H
#define BENCH_PEER_LOCKS_H

#include <stdbool.h>

/* The same in the programs of other languages, in tests/interop/drivers. */
#define PEER_LOCK_NAME "contended"

/* Where the locks are. */
typedef struct peer_place {
    const char *url; /* of the store */
    const char *directory;
    int port; /* of the server */
} peer_place;

/* One library. `client` and `lock` are made by its two functions, and stay
 * until the process ends; NULL: failed, with a message. An acquire waits. */
typedef struct peer_library {
    void *(*open)(const peer_place *place);
    void *(*new_lock)(void *client);
    bool (*acquire)(void *lock);
    bool (*release)(void *lock);
} peer_library;

/* An hf_client, and a connection of hiredis: for what is opened of both. NULL:
 * failed, with a message. */
void *peer_open_client(const peer_place *place);
struct redisContext *peer_connect(const peer_place *place);

extern const peer_library peer_holdfast;
extern const peer_library peer_hiredis; /* SET NX by polling */
extern const peer_library peer_flock;
extern const peer_library peer_fcntl;  /* of an open file description */
extern const peer_library peer_mutex;  /* of processes, robust */
extern const peer_library peer_lmdb;   /* a write transaction */
extern const peer_library peer_sqlite; /* BEGIN IMMEDIATE; it polls */

/* A transaction's lock, of one process. */
extern const peer_library peer_rocksdb;

#endif
