/* SPDX-License-Identifier: Apache-2.0 */
/* explore.h - which runs there are. */
#ifndef TESTS_SIM_EXPLORE_H
#define TESTS_SIM_EXPLORE_H

#include "sim.h"

/* Steps have at most MOVES moves, so that a width fits in 8 bits. */
#define STEPS 1500
#define DEVIATIONS 32

/* In step number `step`, move number `pick` is made instead of the first. */
typedef struct deviation {
    uint16_t step;
    uint16_t pick;
} deviation;

/* In the order of their steps. */
typedef struct plan {
    deviation at[DEVIATIONS];
    size_t count;
} plan;

typedef struct explored {
    uint64_t runs;
    uint64_t steps;
} explored;

/* Every plan with up to so many deviations; random ones; one, shown. true: a
 * check has failed, and the shortest plan is printed. */
bool explore_all(const sim_case *of, size_t deviations, explored *sums);
bool explore_random(const sim_case *of, uint64_t seed, size_t deviations,
                    uint64_t rounds, explored *sums);
bool explore_plan(const sim_case *of, const plan *what);

#endif
