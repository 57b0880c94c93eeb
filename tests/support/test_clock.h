/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_clock.h - the clock of tests that see only holdfast.h, and waiting for a
 * condition instead of for a time.
 */
#ifndef TEST_CLOCK_H
#define TEST_CLOCK_H

#include <stdint.h>

#include "support/slowness.h"

/* ms of CLOCK_BOOTTIME, the clock of the library's local instants. */
int64_t test_now_ms(void);

/* ms of Unix time. */
int64_t test_unix_ms(void);

/* A short sleep between two checks of a condition. */
void test_rest(void);

/* Fail unless `condition` becomes true within limit_ms, or more on a busy
 * machine. */
#define expect_soon(condition, limit_ms)                                       \
    do {                                                                       \
        int64_t began_ms_ = test_now_ms();                                     \
        while (!(condition)) {                                                 \
            if (!took_between(test_now_ms() - began_ms_, 0, (limit_ms))) {     \
                fail_msg("not within %d ms: %s", (int)(limit_ms), #condition); \
            }                                                                  \
            test_rest();                                                       \
        }                                                                      \
    } while (0)

/* Fail if `condition` turns false within for_ms. */
#define expect_throughout(condition, for_ms)                                   \
    do {                                                                       \
        int64_t until_ms_ = test_now_ms() + (for_ms);                          \
        while (test_now_ms() < until_ms_) {                                    \
            if (!(condition)) {                                                \
                fail_msg("not for %d ms: %s", (int)(for_ms), #condition);      \
            }                                                                  \
            test_rest();                                                       \
        }                                                                      \
    } while (0)

#endif
