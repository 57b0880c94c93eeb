/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.c - reading the clocks, and sleeping on one of them.
 */
#include "util/clock.h"

#include <assert.h>
#include <errno.h>
#include <time.h>

static struct timespec read_clock(clockid_t clock)
{
    struct timespec now;
    int rc = clock_gettime(clock, &now);

    /* They exist since Linux 2.6.39. */
    assert(rc == 0);
    (void)rc;
    return now;
}

static int64_t read_us(clockid_t clock)
{
    struct timespec now = read_clock(clock);

    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int64_t hf__clock_boot_ms(void)
{
    return read_us(CLOCK_BOOTTIME) / 1000;
}

int64_t hf__clock_boot_us(void)
{
    return read_us(CLOCK_BOOTTIME);
}

int64_t hf__clock_monotonic_us(void)
{
    return read_us(CLOCK_MONOTONIC);
}

int64_t hf__clock_monotonic_ns(void)
{
    struct timespec now = read_clock(CLOCK_MONOTONIC);

    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t hf__clock_tick_ns(void)
{
    struct timespec now = read_clock(CLOCK_MONOTONIC_COARSE);

    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t hf__clock_thread_us(void)
{
    return read_us(CLOCK_THREAD_CPUTIME_ID);
}

int64_t hf__clock_unix_us(void)
{
    return read_us(CLOCK_REALTIME);
}

int64_t hf__clock_after(int64_t now_ms, int64_t delta_ms)
{
    int64_t at_ms;

    if (delta_ms == INT64_MAX)
        return INT64_MAX;
    if (__builtin_add_overflow(now_ms, delta_ms, &at_ms))
        return delta_ms > 0 ? INT64_MAX : INT64_MIN;
    return at_ms;
}

void hf__clock_sleep_until(int64_t deadline_ms)
{
    struct timespec until;

    if (deadline_ms <= 0)
        return;
    until.tv_sec = (time_t)(deadline_ms / 1000);
    until.tv_nsec = (long)(deadline_ms % 1000) * 1000000;
    while (clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME, &until, NULL) ==
           EINTR)
        continue;
}

void hf__clock_nap_us(int64_t us)
{
    struct timespec time = {.tv_nsec = (long)(us * 1000)};

    (void)nanosleep(&time, NULL);
}
