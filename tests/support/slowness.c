/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slowness.c - how much slower the machine is than when idle: what a few ms of
 * work take now, and the load of the last minute.
 */
#include "support/slowness.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define WORK_US 5000

/* Limits that only a failure exceeds, and what a test waits for. A lease needs
 * not last as long as the slowest call: most of it is sleep. */
#define SLOWEST 50
#define SLOWER_WAIT (SLOWER > 1 ? 2 : 1)
#define SLOWEST_WAIT (5 * SLOWER_WAIT)

static int64_t read_us(clockid_t clock)
{
    struct timespec now;

    if (clock_gettime(clock, &now) != 0)
        abort();
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static double by_work(void)
{
    int64_t began_us = read_us(CLOCK_MONOTONIC);
    int64_t used_us = read_us(CLOCK_THREAD_CPUTIME_ID);

    while (read_us(CLOCK_THREAD_CPUTIME_ID) < used_us + WORK_US)
        continue;
    return (double)(read_us(CLOCK_MONOTONIC) - began_us) / WORK_US;
}

static double by_load(void)
{
    double load;

    if (getloadavg(&load, 1) != 1)
        return 1;
    return load / (double)sysconf(_SC_NPROCESSORS_ONLN);
}

/* 1: as good as idle. */
static double slowness_factor(void)
{
    double work = by_work();
    double load = by_load();
    double most = work > load ? work : load;

    return most < 1.5 ? 1 : most;
}

static int64_t scaled_ms(int64_t ms, double factor, double most)
{
    return (int64_t)((double)ms * (factor < most ? factor : most));
}

int64_t slowed_ms(int64_t quiet_ms)
{
    return scaled_ms(quiet_ms, slowness_factor() * SLOWER_WAIT, SLOWEST_WAIT);
}

bool took_between(int64_t took_ms, int64_t low_ms, int64_t high_ms)
{
    int64_t allowed_ms;

    if (took_ms >= low_ms && took_ms <= high_ms)
        return true;
    /* What is awaited may need several threads, each of which waits for a
     * processor. */
    allowed_ms = scaled_ms(high_ms, 2 * slowness_factor() * SLOWER, SLOWEST);
    if (took_ms >= low_ms && took_ms <= allowed_ms)
        return true;
    (void)fprintf(stderr,
                  "took %" PRId64 " ms, not %" PRId64 " to %" PRId64
                  " (%" PRId64 " on this machine just now)\n",
                  took_ms, low_ms < 0 ? 0 : low_ms, high_ms, allowed_ms);
    return false;
}
