/* SPDX-License-Identifier: Apache-2.0 */
/* ceiling.h - the minimum that any program must do for the same effect. */
#ifndef BENCH_CEILING_H
#define BENCH_CEILING_H

#include "bench.h"

/*
 * One operation: two write transactions on a bare LMDB environment with the
 * volatile store's flags, with the reads and writes that a lock needs, on
 * records of the same sizes. Acquire: put the lock if it is missing, read the
 * last token, put the next. Release: read the lock's owner, delete the lock,
 * look for waiters.
 */
typedef struct ceiling_lmdb ceiling_lmdb;
ceiling_lmdb *ceiling_lmdb_open(const char *directory, const bench_load *load);
bool ceiling_lmdb_run(void *ceiling, int64_t count);
void ceiling_lmdb_close(ceiling_lmdb *ceiling);

/*
 * One operation: two round trips on a blocking socket, with EVALSHA requests
 * that were formatted beforehand; replies are read, not parsed.
 */
typedef struct ceiling_redis ceiling_redis;
ceiling_redis *ceiling_redis_open(const char *socket_path);
/* One round trip: take one of a million units a second from a limiter. */
ceiling_redis *ceiling_redis_open_limiter(const char *socket_path);
/* Only the socket; below 0: failed. */
int ceiling_redis_connect(const char *socket_path);
bool ceiling_redis_run(void *ceiling, int64_t count);
void ceiling_redis_close(ceiling_redis *ceiling);

#endif
