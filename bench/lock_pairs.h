/* SPDX-License-Identifier: Apache-2.0 */
/* lock_pairs.h - acquire and release by the public API, one lock after the
 * other. */
#ifndef BENCH_LOCK_PAIRS_H
#define BENCH_LOCK_PAIRS_H

#include "bench.h"
#include "holdfast/lock.h"

typedef struct lock_pairs {
    hf_client *client;
    hf_lock *locks[BENCH_LOCKS_MAX];
    int first; /* number of the first lock */
    int count;
    int next;
} lock_pairs;

/* Open the store and fill it; on false there is still something to close. */
bool lock_pairs_open(lock_pairs *self, const char *url, const bench_load *load);
/* An operation is one pair. */
bool lock_pairs_run(void *self, int64_t count);
void lock_pairs_close(lock_pairs *self);

#endif
