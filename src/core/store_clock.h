/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_clock.h - an estimate of the store's clock, from replies that say what
 * it showed. Half a round trip off, and for HF__STORE_CLOCK_LIFE_MS wrong after
 * a step of that clock, so it decides what may be late, never what may be
 * wrong.
 */
#ifndef HF__CORE_STORE_CLOCK_H
#define HF__CORE_STORE_CLOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A reading is good for so long. */
#define HF__STORE_CLOCK_LIFE_MS 10000

typedef struct hf__store_clock {
    _Atomic int64_t ahead_ms; /* of hf__clock_boot_ms() */
    _Atomic int64_t read_ms;  /* when; on that clock */
} hf__store_clock;

void hf__store_clock_init(hf__store_clock *clock);

/* A reply to a request of `sent_ms` says that it was `unix_ms`. */
void hf__store_clock_set(hf__store_clock *clock, int64_t sent_ms,
                         int64_t unix_ms);

/* What it shows now; false: there is no reading of the last `life_ms`. */
bool hf__store_clock_get(const hf__store_clock *clock, int64_t life_ms,
                         int64_t *unix_ms);

#endif
