/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench.h - measuring a thing against its raw ceiling, in turns, in one run.
 *
 * Machines are noisy and change speed while they run: so the two take turns
 * in short slices, each pair of slices gives one ratio, and the median pair is
 * what is told.
 */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <stdbool.h>
#include <stdint.h>

/* Do `count` operations; false ends the benchmark. */
typedef bool (*bench_fn)(void *user, int64_t count);

typedef struct bench_subject {
    bench_fn run;
    void *user;
} bench_subject;

typedef struct bench_result {
    double ops_per_s;         /* of the median pair */
    double ceiling_ops_per_s; /* of the same pair */
    double ratio;
} bench_result;

/* Slices long enough to drown the clock, few enough to end in seconds. */
#define BENCH_PAIRS 15
#define BENCH_SLICE_MS 100

/* What lies in a store, and what is locked in turn. */
typedef struct bench_load {
    const char *name;
    int locks;
    int others; /* keys that nobody touches */
} bench_load;

#define BENCH_LOCKS_MAX 1000
#define BENCH_LOCK "bench-lock-%04d"
#define BENCH_OTHER "other-key-%06d"
#define BENCH_NAME_SIZE 48

/* false: one of them failed. */
bool bench_compare(const bench_subject *subject, const bench_subject *ceiling,
                   bench_result *result);

/* One JSON object on one line, or one line for people. */
void bench_print(bool json, const char *bench, const char *store, int threads,
                 const bench_result *result);

/* A line on standard error that says what failed; returns false. */
__attribute__((format(printf, 1, 2))) bool bench_fail(const char *format, ...);

#endif
