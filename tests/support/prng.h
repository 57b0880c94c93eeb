/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prng.h - the random numbers of a run: the same seed gives the same run on
 * every machine. splitmix64 (Steele, Lea, Flood, 2014).
 */
#ifndef TESTS_SUPPORT_PRNG_H
#define TESTS_SUPPORT_PRNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct prng {
    uint64_t state;
} prng;

static inline uint64_t prng_next(prng *random)
{
    uint64_t mixed;

    random->state += UINT64_C(0x9e3779b97f4a7c15);
    mixed = random->state;
    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ (mixed >> 31);
}

/* 0..bound - 1; the bias of the remainder does not matter here. */
static inline size_t prng_below(prng *random, size_t bound)
{
    return (size_t)(prng_next(random) % bound);
}

static inline bool prng_chance(prng *random, unsigned percent)
{
    return prng_below(random, 100) < percent;
}

/* A separate stream for each (seed, a, b). */
static inline prng prng_of(uint64_t seed, uint64_t a, uint64_t b)
{
    prng random = {seed};

    random.state = prng_next(&random) ^ a * UINT64_C(0xd1342543de82ef95);
    random.state = prng_next(&random) ^ b * UINT64_C(0x2545f4914f6cdd1d);
    return random;
}

#endif
