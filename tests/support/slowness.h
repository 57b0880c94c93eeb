/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slowness.h - time limits that grow with the load of the machine, and under a
 * sanitizer. A limit is given for an idle machine; on a busy one no library is
 * on time.
 */
#ifndef TESTS_SUPPORT_SLOWNESS_H
#define TESTS_SUPPORT_SLOWNESS_H

#include <stdbool.h>
#include <stdint.h>

/* How much slower, and how many times as large, a sanitizer makes everything.
 * `slower` in tests/cli and tests/serve is the same. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define SLOWER 20
#else
#define SLOWER 1
#endif

/* `quiet_ms`, scaled to the present load: for leases and timeouts that a test
 * chooses. Takes some ms of processor time. */
int64_t slowed_ms(int64_t quiet_ms);

/* Was it at least `low_ms` and, scaled to the present load, at most `high_ms`?
 * False with a line on stderr. */
bool took_between(int64_t took_ms, int64_t low_ms, int64_t high_ms);

/* For cmocka. */
#define assert_took(took_ms, low_ms, high_ms)                                  \
    assert_true(took_between((took_ms), (low_ms), (high_ms)))
#define assert_in_time(took_ms, high_ms)                                       \
    assert_took((took_ms), INT64_MIN, high_ms)

/* It was woken, and did not poll, which it does after poll_ms. Not scaled, or
 * it could not fail on a busy machine. */
#define assert_woken(took_ms, poll_ms)                                         \
    assert_in_range((took_ms), 0, (poll_ms)*4 / 5)

#endif
