/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instant.h - what a client knows of the store's clock.
 *
 * A sample is an instant of that clock, read between two of ours. From it
 * follows a lower bound of the store's clock now, which is what scripts have as
 * TIME: so nothing counts as expired too early. A lease that they grant ends by
 * the store's clock the earlier, the lower the bound was; its holder counts it
 * from as much before now.
 */
#ifndef HF__RECORDS_INSTANT_H
#define HF__RECORDS_INSTANT_H

#include <stdbool.h>
#include <stdint.h>

typedef struct hf__instant {
    int64_t store_us; /* 0: none */
    int64_t began_us; /* hf__clock_boot_us() before and after */
    int64_t ended_us;
    int64_t trip_us; /* how long calls take, smoothed; 0: not known */
} hf__instant;

/* A call that began and ended then has shown the store's clock. One that waited
 * for others says less of it than a shorter one before, which is then kept,
 * unless the clock was set meanwhile. */
void hf__instant_take(hf__instant *instant, int64_t store_us, int64_t began_us,
                      int64_t ended_us);

/* How late a commit may arrive: TIME is as old as the answer that it comes
 * from, and the way there. */
int64_t hf__instant_late_us(const hf__instant *instant);

/*
 * The lower bound at `now_us`, and how much higher the store's clock may be;
 * false: none that is good enough.
 */
bool hf__instant_now(const hf__instant *instant, int64_t now_us,
                     int64_t *store_us, int64_t *skew_us);

#endif
