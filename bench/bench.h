/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench.h - measuring something against its raw ceiling, alternating, in one
 * run.
 *
 * Machines are noisy and change speed while they run: so the two alternate in
 * short slices, each pair of slices yields one ratio, and the median pair is
 * reported.
 */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <stdbool.h>
#include <stdint.h>

/* How to measure, and where. */
typedef struct bench_run {
    bool json;
    bool quick; /* only check that it runs: the figures mean little */
    int pairs;
    int slice_ms;
    const char *memory; /* a directory of this run in /dev/shm */
    const char *disk;   /* ... on a disk */
} bench_run;

/* Slices long enough to hide the clock's cost, few enough to end in seconds. */
#define BENCH_PAIRS 15
#define BENCH_PAIRS_MAX 15
#define BENCH_SLICE_MS 100

typedef struct bench_subject {
    /* Do `count` operations; false ends the benchmark. */
    bool (*run)(void *user, int64_t count);
    void *user;
    /* Or, if set: work for this long, and return the rate. */
    bool (*timed)(void *user, int slice_ms, double *ops_per_s);
    /* `run` by processor time of this thread: for what never waits, so that
     * other programs on the machine have no influence. */
    bool busy;
} bench_subject;

typedef struct bench_result {
    double ops_per_s;         /* of the median pair */
    double ceiling_ops_per_s; /* of the same pair */
    double ratio;
} bench_result;

/* The printed parts of a result. Names need no quoting. */
typedef struct bench_figure {
    const char *name;
    const char *store;
    const char *ceiling;
    int threads;
    double asked_ratio; /* target; 0: none */
    double asked_us;    /* target, the most that one may take; 0: none */
} bench_figure;

/* The content of a store, and what is locked in turn. */
typedef struct bench_load {
    const char *name;
    int locks;
    int others;    /* keys that are never accessed */
    bool adjacent; /* the locks' keys are adjacent, not spread among the others
                    */
} bench_load;

#define BENCH_LOCKS_MAX 1000
#define BENCH_NAME_SIZE 48
#define BENCH_PATH_SIZE 160

/* The names of a load's keys, by number. */
void bench_lock_name(char name[BENCH_NAME_SIZE], const bench_load *load,
                     int number);
void bench_other_name(char name[BENCH_NAME_SIZE], int number);

double bench_now_s(void);
double bench_cpu_s(void); /* processor time of this thread */

/* One slice; false: it failed. */
bool bench_slice(const bench_subject *subject, int slice_ms, double *ops_per_s);
/* false: one of them failed. */
bool bench_compare(const bench_run *run, const bench_subject *subject,
                   const bench_subject *ceiling, bench_result *result);

/* One JSON object on one line, or one line of text. */
void bench_print(const bench_run *run, const bench_figure *figure,
                 const bench_result *result);

/* Prints what failed on standard error; returns false. */
__attribute__((format(printf, 1, 2))) bool bench_fail(const char *format, ...);

/* Create a directory of this run below `parent`; NULL: failed. */
char *bench_make_directory(const char *parent);
/* Remove it with all its content, and free its name. NULL is allowed. */
void bench_remove_directory(char *directory);

#endif
