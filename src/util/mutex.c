/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mutex.c - taking a mutex with a deadline.
 */
#include "util/mutex.h"

#include <errno.h>
#include <time.h>

#include "util/clock.h"
#include "util/tsan.h"

/* A wait without limit is a very long one: a year. */
#define LONGEST_MS (INT64_C(365) * 86400 * 1000)

static struct timespec to_timespec(int64_t us)
{
    struct timespec time;

    time.tv_sec = (time_t)(us / 1000000);
    time.tv_nsec = (long)(us % 1000000) * 1000;
    return time;
}

/*
 * Neither compiler's ThreadSanitizer sees that pthread_mutex_clocklock() locks,
 * and musl does not have it.
 */
static int lock_within(pthread_mutex_t *mutex, int64_t left_us)
{
#if defined(HF__TSAN) || !defined(__GLIBC__)
    struct timespec until = to_timespec(hf__clock_unix_us() + left_us);
    int rc = pthread_mutex_timedlock(mutex, &until);

    /* Nor does it see that this locks when the previous owner was killed. */
    if (rc == EOWNERDEAD)
        hf__tsan_locked(mutex);
    return rc;
#else
    struct timespec until = to_timespec(hf__clock_monotonic_us() + left_us);

    return pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &until);
#endif
}

int hf__mutex_lock_until(pthread_mutex_t *mutex, int64_t until_ms)
{
    int64_t now_us = hf__clock_boot_us();
    int64_t left_us = 0;

    if (until_ms > now_us / 1000 + LONGEST_MS)
        left_us = LONGEST_MS * 1000;
    else if (until_ms > now_us / 1000)
        left_us = until_ms * 1000 - now_us;
    return lock_within(mutex, left_us);
}
