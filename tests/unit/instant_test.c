/* SPDX-License-Identifier: Apache-2.0 */
/* instant_test.c - what samples say of the clock of a store of records. */
#include "support/test.h"

#include "records/instant.h"

/* Of the store's clock, at 0 of ours. */
#define STORE_US INT64_C(5000000)

/* The bound and its width at that instant of ours. */
static void want_now(const hf__instant *of, int64_t now_us, int64_t least_us,
                     int64_t most_skew_us)
{
    int64_t store_us, skew_us;

    assert_true(hf__instant_now(of, now_us, &store_us, &skew_us));
    assert_in_range(store_us, least_us, STORE_US + now_us);
    assert_in_range(skew_us, 0, most_skew_us);
}

TEST(instant_of_a_call_that_waited_says_less)
{
    hf__instant of = {.store_us = 0};

    hf__instant_take(&of, STORE_US + 900, 0, 1000);
    want_now(&of, 120000, STORE_US + 118000, 4000);
    hf__instant_take(&of, STORE_US + 119000, 10000, 120000);
    want_now(&of, 120000, STORE_US + 118000, 4000);
    /* A shorter one says more, and so does the first after a long time. */
    hf__instant_take(&of, STORE_US + 120500, 120000, 121000);
    want_now(&of, 121000, STORE_US + 120500, 1020);
    hf__instant_take(&of, STORE_US + 9190000, 9100000, 9190000);
    want_now(&of, 9190000, STORE_US + 9190000, 92000);
}

TEST(instant_follows_a_clock_that_was_set)
{
    static const int64_t steps_us[] = {-120000, 5000};

    for (size_t i = 0; i < 2; i++) {
        hf__instant of = {.store_us = 0};
        int64_t store_us, skew_us;

        hf__instant_take(&of, STORE_US + 900, 0, 1000);
        hf__instant_take(&of, STORE_US + 99000 + steps_us[i], 10000, 100000);
        assert_true(hf__instant_now(&of, 100000, &store_us, &skew_us));
        assert_int_equal(store_us, STORE_US + 99000 + steps_us[i]);
        assert_in_range(skew_us, 90000, 92000);
    }
}
