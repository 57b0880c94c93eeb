/* SPDX-License-Identifier: Apache-2.0 */
/* lease_clock.c - see lease_clock.h. */
#include "lease_clock.h"

#include <time.h>

static int64_t read_clock(clockid_t clock)
{
    struct timespec now;

    (void)clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t now_ms(void)
{
    return read_clock(CLOCK_BOOTTIME);
}

int64_t unix_ms(void)
{
    return read_clock(CLOCK_REALTIME);
}
