/* SPDX-License-Identifier: Apache-2.0 */
/* instant.c - see instant.h. */
#include "records/instant.h"

/* By how much two clocks may differ in rate: one part of so many. */
#define RATE_SHARE 100
/* Holders lose as much of a lease. Less than HF__BACKEND_LATE_US. */
#define SKEW_MAX_US INT64_C(100000)

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
    return *skew_us <= SKEW_MAX_US;
}
