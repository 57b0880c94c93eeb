/* SPDX-License-Identifier: Apache-2.0 */
/* bench.c - see bench.h. */
#include "bench.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void bench_lock_name(char name[BENCH_NAME_SIZE], const bench_load *load,
                     int number)
{
    if (load->adjacent)
        snprintf(name, BENCH_NAME_SIZE, "lock-%06d", number);
    else
        snprintf(name, BENCH_NAME_SIZE, "key-%06d-lock",
                 number * (load->others / load->locks));
}

void bench_other_name(char name[BENCH_NAME_SIZE], int number)
{
    snprintf(name, BENCH_NAME_SIZE, "key-%06d", number);
}

static double read_s(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

double bench_now_s(void)
{
    return read_s(CLOCK_MONOTONIC);
}

double bench_cpu_s(void)
{
    return read_s(CLOCK_THREAD_CPUTIME_ID);
}

/* Run until the slice is over, in steps that grow while they are short. */
bool bench_slice(const bench_subject *subject, int slice_ms, double *ops_per_s)
{
    double (*now_s)(void) = subject->busy ? bench_cpu_s : bench_now_s;
    double start = now_s(), spent = 0;
    int64_t done = 0, step = 16;

    if (subject->timed != NULL)
        return subject->timed(subject->user, slice_ms, ops_per_s);
    while (spent < slice_ms / 1e3) {
        if (!subject->run(subject->user, step))
            return false;
        done += step;
        spent = now_s() - start;
        if (spent < slice_ms / 1e4)
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

bool bench_compare(const bench_run *run, const bench_subject *subject,
                   const bench_subject *ceiling, bench_result *result)
{
    bench_result pairs[BENCH_PAIRS_MAX];
    double warm_up;

    if (!bench_slice(subject, run->slice_ms, &warm_up) ||
        !bench_slice(ceiling, run->slice_ms, &warm_up))
        return false;
    for (int i = 0; i < run->pairs; i++) {
        bench_result *pair = &pairs[i];

        if (!bench_slice(subject, run->slice_ms, &pair->ops_per_s) ||
            !bench_slice(ceiling, run->slice_ms, &pair->ceiling_ops_per_s))
            return false;
        pair->ratio = pair->ops_per_s / pair->ceiling_ops_per_s;
    }
    qsort(pairs, (size_t)run->pairs, sizeof(pairs[0]), by_ratio);
    *result = pairs[run->pairs / 2];
    return true;
}

static void print_json(const bench_figure *figure, const bench_result *result,
                       double us)
{
    printf("{\"bench\":\"%s\",\"store\":\"%s\",\"threads\":%d,"
           "\"ops_per_s\":%.0f,\"us_per_op\":%.3f,\"ceiling\":\"%s\","
           "\"ceiling_ops_per_s\":%.0f,\"ratio\":%.3f",
           figure->name, figure->store, figure->threads, result->ops_per_s, us,
           figure->ceiling, result->ceiling_ops_per_s, result->ratio);
    if (figure->asked_ratio > 0)
        printf(",\"asked_ratio\":%.2f,\"met\":%s", figure->asked_ratio,
               result->ratio >= figure->asked_ratio ? "true" : "false");
    if (figure->asked_us > 0)
        printf(",\"asked_us\":%.2f,\"met\":%s", figure->asked_us,
               us <= figure->asked_us ? "true" : "false");
    puts("}");
}

static void print_line(const bench_figure *figure, const bench_result *result,
                       double us)
{
    printf("%-18s %-22s %2d thread(s) %10.0f op/s; %s %.0f op/s; ratio %.3f",
           figure->name, figure->store, figure->threads, result->ops_per_s,
           figure->ceiling, result->ceiling_ops_per_s, result->ratio);
    if (figure->asked_ratio > 0)
        printf(" (asked %.2f)", figure->asked_ratio);
    if (figure->asked_us > 0)
        printf("; %.2f us (asked %.2f)", us, figure->asked_us);
    putchar('\n');
}

void bench_print(const bench_run *run, const bench_figure *figure,
                 const bench_result *result)
{
    double us = 1e6 / result->ops_per_s;

    if (run->json)
        print_json(figure, result, us);
    else
        print_line(figure, result, us);
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

char *bench_make_directory(const char *parent)
{
    char path[BENCH_PATH_SIZE];
    int size = snprintf(path, sizeof(path), "%s/holdfast-bench-XXXXXX", parent);

    if (size < 0 || (size_t)size >= sizeof(path) || mkdtemp(path) == NULL) {
        bench_fail("cannot create a directory in %s", parent);
        return NULL;
    }
    return strdup(path);
}

void bench_remove_directory(char *directory)
{
    char command[BENCH_PATH_SIZE + 16];

    if (directory == NULL)
        return;
    snprintf(command, sizeof(command), "rm -rf '%s'", directory);
    if (system(command) != 0)
        bench_fail("cannot remove %s", directory);
    free(directory);
}
