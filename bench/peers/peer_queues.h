/* SPDX-License-Identifier: Apache-2.0 */
/* peer_queues.h - work queues, as a program in C uses them. */
#ifndef BENCH_PEER_QUEUES_H
#define BENCH_PEER_QUEUES_H

#include "peers/peer_locks.h"

#define PEER_JOB_SIZE 100

/* What one process uses. It stays until the process ends. */
typedef struct peer_queue {
    void *(*open)(const peer_place *place); /* NULL: failed, with a message */
    bool (*put)(void *store, const char *queue, const char *payload);
    long (*left)(void *store, const char *queue); /* jobs; -1: failed */
    /* Of one thread, whose lease is that long. */
    void *(*new_worker)(void *store, const char *queue, int lease_ms);
    bool (*take)(void *worker, char *payload); /* waits for a job */
    bool (*done)(void *worker); /* the job that it took; now, or as it takes
                                   the next, which it does at once */
} peer_queue;

extern const peer_queue peer_queue_holdfast;
extern const peer_queue peer_queue_sqlite;         /* not flushed */
extern const peer_queue peer_queue_sqlite_durable; /* each change is on disk */

/* Be the program that bench/peers/queues.py describes: `words` are its
 * arguments behind the way, `count` of them. `who`: a name of peer.c. Returns
 * the exit status; 64: no queue has that name, or they are other arguments. */
int peer_queues_main(const char *who, const char *version,
                     const peer_place *place, int count, char **words);

#endif
