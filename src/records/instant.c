/* SPDX-License-Identifier: Apache-2.0 */
/* instant.c - see instant.h. */
#include "records/instant.h"

#include "util/order.h"

/* By how much two clocks may differ in rate: one part of so many. */
#define RATE_SHARE 100
/* Holders lose as much of a lease: this, or two trips. */
#define SKEW_MAX_US INT64_C(100000)
/* How late a commit may be, beyond four trips. */
#define LATE_US INT64_C(250000)
/* A longer trip is a store that does not answer. */
#define TRIP_MAX_US INT64_C(2000000)

/* Does the sample agree with the one before, and say less than that? */
static bool says_less(const hf__instant *before, int64_t store_us,
                      int64_t began_us, int64_t ended_us)
{
    int64_t trip_us = ended_us - began_us;
    int64_t least_us, skew_us;

    return hf__instant_now(before, ended_us, &least_us, &skew_us) &&
           skew_us < trip_us && store_us >= least_us - trip_us &&
           store_us <= least_us + skew_us;
}

void hf__instant_take(hf__instant *instant, int64_t store_us, int64_t began_us,
                      int64_t ended_us)
{
    int64_t trip_us = hf__at_most(ended_us - began_us, TRIP_MAX_US);

    instant->trip_us =
        instant->trip_us == 0 ? trip_us : (7 * instant->trip_us + trip_us) / 8;
    if (says_less(instant, store_us, began_us, ended_us))
        return;
    instant->store_us = store_us;
    instant->began_us = began_us;
    instant->ended_us = ended_us;
}

int64_t hf__instant_late_us(const hf__instant *instant)
{
    return LATE_US + 4 * instant->trip_us;
}

bool hf__instant_now(const hf__instant *instant, int64_t now_us,
                     int64_t *store_us, int64_t *skew_us)
{
    int64_t least_us = now_us - instant->ended_us;
    int64_t most_us = now_us - instant->began_us;

    if (instant->store_us == 0)
        return false;
    least_us -= least_us / RATE_SHARE;
    most_us += most_us / RATE_SHARE;
    *store_us = instant->store_us + least_us;
    *skew_us = most_us - least_us;
    return *skew_us <= hf__at_least(SKEW_MAX_US, 2 * instant->trip_us);
}
