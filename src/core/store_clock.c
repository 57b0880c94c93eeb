/* SPDX-License-Identifier: Apache-2.0 */
/* store_clock.c - see store_clock.h. */
#include "core/store_clock.h"

#include "util/clock.h"

void hf__store_clock_init(hf__store_clock *clock)
{
    atomic_init(&clock->ahead_ms, 0);
    atomic_init(&clock->read_ms, -HF__STORE_CLOCK_LIFE_MS - 1);
}

/* A reader may see a new offset with the instant of the old one: each is right
 * by itself. */
void hf__store_clock_set(hf__store_clock *clock, int64_t sent_ms,
                         int64_t unix_ms)
{
    int64_t now_ms = hf__clock_boot_ms();

    atomic_store(&clock->ahead_ms,
                 unix_ms - (sent_ms + (now_ms - sent_ms) / 2));
    atomic_store(&clock->read_ms, now_ms);
}

bool hf__store_clock_get(const hf__store_clock *clock, int64_t life_ms,
                         int64_t *unix_ms)
{
    int64_t now_ms = hf__clock_boot_ms();

    if (now_ms - atomic_load(&clock->read_ms) > life_ms)
        return false;
    *unix_ms = now_ms + atomic_load(&clock->ahead_ms);
    return true;
}
