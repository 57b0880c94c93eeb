/* SPDX-License-Identifier: Apache-2.0 */
/* cond.c - see cond.h. */
#include "util/cond.h"

#include <time.h>

#include "util/clock.h"

/* A day; then the clock is read again. */
#define WAIT_MS_MAX INT64_C(86400000)

void hf__cond_init(pthread_cond_t *cond)
{
    pthread_condattr_t attributes;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &attributes);
    pthread_condattr_destroy(&attributes);
}

void hf__cond_wait_until(pthread_cond_t *cond, pthread_mutex_t *mutex,
                         int64_t until_ms)
{
    int64_t now_ms = hf__clock_boot_ms();
    int64_t left_ms = until_ms <= now_ms ? 0 : until_ms - now_ms;
    int64_t until_us;
    struct timespec until;

    if (left_ms > WAIT_MS_MAX)
        left_ms = WAIT_MS_MAX;
    until_us = hf__clock_monotonic_us() + left_ms * 1000;
    until.tv_sec = until_us / 1000000;
    until.tv_nsec = until_us % 1000000 * 1000;
    pthread_cond_timedwait(cond, mutex, &until);
}
