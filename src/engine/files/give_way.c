/* SPDX-License-Identifier: Apache-2.0 */
/* give_way.c - see give_way.h. */
#include "engine/files/give_way.h"

#include "util/clock.h"
#include "util/order.h"

/* How far ahead the instant is: time to be woken and scheduled. After some
 * 64 ms that is longer than a slice of writer_lock.c. */
#define YIELD_MIN_MS 2
#define YIELD_MAX_MS 50

int64_t hf__give_way_ask(hf__sidecar *sidecar, int64_t waited_ms)
{
    int64_t now_ms = hf__sidecar_machine_ms(sidecar, hf__clock_boot_ms());
    int64_t yield_ms =
        now_ms + hf__at_most(YIELD_MIN_MS + waited_ms / 8, YIELD_MAX_MS);

    __atomic_store_n(&sidecar->map->yield_ms, yield_ms, __ATOMIC_RELAXED);
    return yield_ms;
}

/* A far instant was not written by this code. */
static bool is_asked_to_yield(const hf__sidecar *sidecar, int64_t now_ms)
{
    int64_t yield_ms =
        __atomic_load_n(&sidecar->map->yield_ms, __ATOMIC_RELAXED);
    int64_t left_ms = yield_ms - hf__sidecar_machine_ms(sidecar, now_ms);

    return left_ms > 0 && left_ms <= YIELD_MAX_MS;
}

void hf__give_way(const hf__sidecar *sidecar, int64_t deadline_ms)
{
    if (__atomic_load_n(&sidecar->map->yield_ms, __ATOMIC_RELAXED) == 0)
        return;
    for (int i = 0; i < YIELD_MAX_MS; i++) {
        int64_t now_ms = hf__clock_boot_ms();

        if (now_ms + 1 >= deadline_ms || !is_asked_to_yield(sidecar, now_ms))
            return;
        hf__clock_sleep_until(now_ms + 1);
    }
}
