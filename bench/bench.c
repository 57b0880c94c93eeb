/* SPDX-License-Identifier: Apache-2.0 */
/* bench.c - see bench.h. */
#include "bench.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Run until the slice is over, in steps that grow while they are short. */
static bool run_slice(const bench_subject *subject, double *ops_per_s)
{
    double start = now_s(), spent = 0;
    int64_t done = 0, step = 16;

    while (spent < BENCH_SLICE_MS / 1e3) {
        if (!subject->run(subject->user, step))
            return false;
        done += step;
        spent = now_s() - start;
        if (spent < BENCH_SLICE_MS / 1e4)
            step *= 2;
    }
    *ops_per_s = (double)done / spent;
    return true;
}

static int by_ratio(const void *a, const void *b)
{
    double x = ((const bench_result *)a)->ratio;
    double y = ((const bench_result *)b)->ratio;

    return (x > y) - (x < y);
}

bool bench_compare(const bench_subject *subject, const bench_subject *ceiling,
                   bench_result *result)
{
    bench_result pairs[BENCH_PAIRS];
    double warm_up;

    if (!run_slice(subject, &warm_up) || !run_slice(ceiling, &warm_up))
        return false;
    for (int i = 0; i < BENCH_PAIRS; i++) {
        bench_result *pair = &pairs[i];

        if (!run_slice(subject, &pair->ops_per_s) ||
            !run_slice(ceiling, &pair->ceiling_ops_per_s))
            return false;
        pair->ratio = pair->ops_per_s / pair->ceiling_ops_per_s;
    }
    qsort(pairs, BENCH_PAIRS, sizeof(pairs[0]), by_ratio);
    *result = pairs[BENCH_PAIRS / 2];
    return true;
}

void bench_print(bool json, const char *bench, const char *store, int threads,
                 const bench_result *result)
{
    const char *form =
        json ? "{\"bench\":\"%s\",\"store\":\"%s\",\"threads\":%d,"
               "\"ops_per_s\":%.0f,\"ceiling_ops_per_s\":%.0f,"
               "\"ratio\":%.3f}\n"
             : "%-22s %-18s %2d thread(s) %10.0f op/s, ceiling %10.0f op/s, "
               "ratio %.3f\n";

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    printf(form, bench, store, threads, result->ops_per_s,
           result->ceiling_ops_per_s, result->ratio);
#pragma GCC diagnostic pop
    fflush(stdout);
}

bool bench_fail(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fputs("bench: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return false;
}
