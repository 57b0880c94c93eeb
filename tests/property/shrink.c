/* SPDX-License-Identifier: Apache-2.0 */
/* shrink.c - fewer calls first, then blocking ones with lower numbers. */
#include <string.h>

#include "property.h"
#include "support/shrink_runs.h"
#include "support/test_clock.h"

/* A trial takes some ms, or seconds if something does not expire; more than
 * this many, or this long, gain little. */
#define TRIALS_MAX 3000u
#define SHRINK_MS (INT64_C(20000) * SLOWER)

typedef struct shrinker {
    place *at;
    sequence *best;
    const char *cheat;
    difference *found; /* of `best` */
    unsigned trials;
    int64_t limit_ms;
} shrinker;

static bool may_try(shrinker *state)
{
    return state->trials++ < TRIALS_MAX && test_now_ms() < state->limit_ms;
}

/* Accept the candidate if it still fails, without what follows the failure. */
static bool better(shrinker *state, const sequence *candidate)
{
    difference found;

    if (candidate->count == 0 || !may_try(state) ||
        !trial_differs(state->at, candidate, state->cheat, &found))
        return false;
    *state->best = *candidate;
    state->best->count = found.index + 1;
    *state->found = found;
    return true;
}

static size_t without(void *user, size_t from, size_t count)
{
    shrinker *state = user;
    sequence candidate = *state->best;
    size_t rest = candidate.count - from - count;

    memmove(candidate.steps + from, candidate.steps + from + count,
            rest * sizeof(candidate.steps[0]));
    candidate.count -= count;
    (void)better(state, &candidate);
    return state->best->count;
}

/* The lowest number in place i with which it still fails. */
static bool lower(shrinker *state, size_t at, size_t i)
{
    static const uint8_t instead[] = {0, 1, 2, 3, 4, 5, 6, 7};
    uint8_t now = state->best->steps[at].n[i];

    for (size_t k = 0; k < sizeof(instead) && instead[k] < now; k++) {
        sequence candidate = *state->best;

        candidate.steps[at].n[i] = instead[k];
        if (better(state, &candidate))
            return true;
    }
    return false;
}

static bool simpler_steps(shrinker *state)
{
    bool changed = false;

    for (size_t at = 0; at < state->best->count; at++) {
        sequence candidate = *state->best;

        candidate.steps[at].starts = false;
        if (state->best->steps[at].starts)
            changed |= better(state, &candidate);
        for (size_t i = 0; i < ARGUMENTS && at < state->best->count; i++)
            changed |= lower(state, at, i);
    }
    return changed;
}

bool shrink(place *at, sequence *steps, const char *cheat, difference *found)
{
    shrinker state = {at, steps, cheat, found, 0, test_now_ms() + SHRINK_MS};
    sequence again = *steps;

    if (!better(&state, &again))
        return false;
    do {
        (void)shrink_runs(steps->count, without, &state);
    } while (simpler_steps(&state) && may_try(&state));
    return true;
}
