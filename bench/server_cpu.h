/* SPDX-License-Identifier: Apache-2.0 */
/* server_cpu.h - what uncontended pairs cost a server, by library. */
#ifndef BENCH_SERVER_CPU_H
#define BENCH_SERVER_CPU_H

#include "bench.h"
#include "support/redis_server.h"

/* Rounds of all libraries in turn; the median of each is printed, and the
 * ratio of ours to Redisson. */
bool server_cpu(const bench_run *run, redis_server *server);

#endif
