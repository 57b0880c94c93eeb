/* SPDX-License-Identifier: Apache-2.0 */
/* writers.h - threads that write to one store until they are stopped. */
#ifndef BENCH_WRITERS_H
#define BENCH_WRITERS_H

#include <stdbool.h>

#include "bench.h"

#define WRITERS_MAX 32
#define WRITERS_VALUE_SIZE 100

/* Set `name` to `value`, of WRITERS_VALUE_SIZE bytes; `thread` is a number from
 * 0. false: failed, with a message. */
typedef bool writers_set(void *user, int thread, const char *name,
                         const char *value);

#define WRITERS_KEYS_EACH 100

/* The name of one of a thread's keys. */
void writers_name(char name[BENCH_NAME_SIZE], int thread, int i);

/* false: one of them failed. */
bool writers_run(writers_set *set, void *user, int threads, int slice_ms,
                 double *ops_per_s);

#endif
