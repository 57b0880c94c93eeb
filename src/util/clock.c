/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.c - reading the clocks, and sleeping on one of them.
 */
#include "util/clock.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Two clocks count as read at once if no more than this passed between; else
 * they are read again, a few times. */
#define APART_US 20
#define APART_TRIES 5

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

int64_t hf__clock_unix_ahead_ms(void)
{
    int64_t ahead_us = 0, before_us;

    for (int i = 0; i < APART_TRIES; i++) {
        before_us = hf__clock_boot_us();
        ahead_us = hf__clock_unix_us() - before_us;
        if (hf__clock_boot_us() - before_us < APART_US)
            break;
    }
    return (ahead_us + 500) / 1000;
}

/* A line of the file: "boottime SECONDS NANOSECONDS". Kernels without time
 * namespaces do not have it. */
int64_t hf__clock_namespace_ms(void)
{
    static const char name[] = "boottime";
    int fd = open("/proc/self/timens_offsets", O_RDONLY | O_CLOEXEC);
    char text[256];
    ssize_t size = fd >= 0 ? read(fd, text, sizeof(text) - 1) : 0;
    char *at;
    long long seconds;

    if (fd >= 0)
        close(fd);
    text[size > 0 ? size : 0] = '\0';
    at = strstr(text, name);
    if (at == NULL)
        return 0;
    seconds = strtoll(at + sizeof(name) - 1, &at, 10);
    return seconds * 1000 + strtoll(at, NULL, 10) / 1000000;
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
