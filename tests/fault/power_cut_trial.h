/* SPDX-License-Identifier: Apache-2.0 */
/*
 * power_cut_trial.h - does the store that a power cut left keep all promises?
 */
#ifndef TESTS_FAULT_POWER_CUT_TRIAL_H
#define TESTS_FAULT_POWER_CUT_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "power_cut_model.h"

/* What must and what may be there, by thread. */
typedef struct promise {
    unsigned threads;
    model least[MODEL_THREAD_MAX];   /* acknowledged, and durable by then */
    uint64_t most[MODEL_THREAD_MAX]; /* the last operation that had begun */
    uint64_t tokens[MODEL_THREAD_MAX];
} promise;

#define TRIAL_WHY_SIZE 400

/*
 * Open the store in its own process, as after a reboot, and compare. Then write
 * to it, and check all of it. true: no violation; otherwise `why`.
 */
bool trial_run(const promise *given, const char *url, char why[TRIAL_WHY_SIZE]);

#endif
