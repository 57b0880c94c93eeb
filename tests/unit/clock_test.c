/* SPDX-License-Identifier: Apache-2.0 */
/* clock_test.c - clocks, and the futex that waits by them. */
#include <pthread.h>
#include <time.h>

#include "support/slowness.h"
#include "support/test.h"
#include "util/clock.h"
#include "util/futex.h"

/* A loaded machine may wake us late; never early. */
#define LATE_MS 2000

TEST(clock_boot_forms_agree)
{
    int64_t before_ms = hf__clock_boot_ms();
    int64_t now_us = hf__clock_boot_us();
    int64_t after_ms = hf__clock_boot_ms();

    assert_true(before_ms <= now_us / 1000);
    assert_true(now_us / 1000 <= after_ms);
}

TEST(clock_unix_is_the_wall_clock)
{
    int64_t before_s = (int64_t)time(NULL);
    int64_t now_us = hf__clock_unix_us();

    /* time() may lag a tick behind. */
    assert_true(now_us / 1000000 >= before_s);
    assert_true(now_us / 1000000 <= before_s + 60);
}

TEST(clock_after_does_not_overflow)
{
    assert_true(hf__clock_after(5, 10) == 15);
    assert_true(hf__clock_after(5, -10) == -5);
    assert_true(hf__clock_after(-5, INT64_MAX) == INT64_MAX);
    assert_true(hf__clock_after(5, INT64_MAX - 1) == INT64_MAX);
    assert_true(hf__clock_after(-5, INT64_MIN) == INT64_MIN);
}

TEST(clock_sleep_ends_at_its_instant)
{
    int64_t at_ms = hf__clock_boot_ms() + 20;

    hf__clock_sleep_until(at_ms);
    assert_took(hf__clock_boot_ms() - at_ms, 0, LATE_MS);
    hf__clock_sleep_until(at_ms);
    hf__clock_sleep_until(-1);
    assert_took(hf__clock_boot_ms() - at_ms, 0, LATE_MS);
}

TEST(futex_wait_ends_at_its_deadline)
{
    int64_t at_ms = hf__clock_boot_ms() + 20;
    uint32_t word = 1;

    while (hf__clock_boot_ms() < at_ms)
        hf__futex_wait(&word, 1, at_ms, false);
    assert_took(hf__clock_boot_ms() - at_ms, 0, LATE_MS);
    hf__futex_wait(&word, 1, at_ms, false);
    hf__futex_wait(&word, 1, INT64_MIN, true);
    assert_in_time(hf__clock_boot_ms() - at_ms, 2 * LATE_MS);
}

TEST(futex_wait_does_not_sleep_on_another_value)
{
    int64_t at_ms = hf__clock_boot_ms();
    uint32_t word = 1;

    hf__futex_wait(&word, 0, INT64_MAX, false);
    assert_in_time(hf__clock_boot_ms() - at_ms, LATE_MS);
}

static void *sleep_on(void *user)
{
    uint32_t *word = user;

    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) == 0)
        hf__futex_wait(word, 0, INT64_MAX, true);
    return NULL;
}

TEST(futex_wake_wakes_every_sleeper)
{
    enum { COUNT = 4 };
    pthread_t threads[COUNT];
    int64_t began_ms = hf__clock_boot_ms();
    uint32_t word = 0;

    for (size_t i = 0; i < COUNT; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, sleep_on, &word), 0);
    hf__clock_sleep_until(began_ms + 20);
    __atomic_store_n(&word, 1, __ATOMIC_RELEASE);
    hf__futex_wake_all(&word, true);
    for (size_t i = 0; i < COUNT; i++)
        pthread_join(threads[i], NULL);
    /* Not only by the slice of 5 s that a wait is divided into. */
    assert_in_time(hf__clock_boot_ms() - began_ms, 20 + LATE_MS);
}
