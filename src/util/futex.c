/* SPDX-License-Identifier: Apache-2.0 */
/*
 * futex.c - the two futex calls we use.
 *
 * The kernel offers no CLOCK_BOOTTIME here, so a wait is relative and slept in
 * slices: after a suspend a sleeper looks at the clock again within one.
 */
#include "util/futex.h"

#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "util/clock.h"

/* Bounds of a slice, half of the remaining time: long enough to make needless
 * wake-ups rare, short enough to notice soon that a deadline passed during a
 * suspend. */
#define SLICE_MIN_MS 5000
#define SLICE_MAX_MS 60000

static int64_t slice_of(int64_t left_ms)
{
    int64_t slice_ms = left_ms / 2;

    if (slice_ms < SLICE_MIN_MS)
        slice_ms = SLICE_MIN_MS;
    return slice_ms < SLICE_MAX_MS ? slice_ms : SLICE_MAX_MS;
}

void hf__futex_wait(const uint32_t *word, uint32_t seen, int64_t until_ms,
                    bool shared)
{
    int operation = shared ? FUTEX_WAIT : FUTEX_WAIT_PRIVATE;
    int64_t now_us = hf__clock_boot_us();
    struct timespec left;
    int64_t slice_ms, left_us;

    if (until_ms <= now_us / 1000)
        return;
    slice_ms = slice_of(until_ms - now_us / 1000);
    if (until_ms - now_us / 1000 > slice_ms)
        left_us = slice_ms * 1000;
    else
        left_us = until_ms * 1000 - now_us;
    left.tv_sec = (time_t)(left_us / 1000000);
    left.tv_nsec = (long)(left_us % 1000000) * 1000;
    /* Whatever the result, the caller checks the word. */
    (void)syscall(SYS_futex, word, operation, seen, &left, NULL, 0);
}

void hf__futex_wake_all(uint32_t *word, bool shared)
{
    int operation = shared ? FUTEX_WAKE : FUTEX_WAKE_PRIVATE;

    (void)syscall(SYS_futex, word, operation, INT_MAX, NULL, NULL, 0);
}
