/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_clock.c - see test_clock.h. The only clock reading of these tests.
 */
#include "support/test_clock.h"

#include <stdlib.h>
#include <time.h>

static int64_t read_ms(clockid_t clock)
{
    struct timespec now;

    if (clock_gettime(clock, &now) != 0) {
        abort();
    }
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t test_now_ms(void)
{
    return read_ms(CLOCK_BOOTTIME);
}

int64_t test_unix_ms(void)
{
    return read_ms(CLOCK_REALTIME);
}

void test_rest(void)
{
    const struct timespec two_ms = {0, 2000000};

    (void)nanosleep(&two_ms, NULL);
}
