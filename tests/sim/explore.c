/* SPDX-License-Identifier: Apache-2.0 */
/* explore.c - running plans: all with a number of deviations, or random ones;
 * and making one that fails shorter. */
#include "explore.h"

#include <stdio.h>
#include <stdlib.h>

#include "support/prng.h"
#include "support/shrink_runs.h"

/* The result of the last run. */
typedef struct trace {
    uint8_t widths[STEPS]; /* how many moves there were */
    size_t steps;
} trace;

static const sim_case *of_case;
static explored *totals;

static size_t pick_of(const plan *what, size_t step)
{
    for (size_t i = 0; i < what->count; i++) {
        if (what->at[i].step == step)
            return what->at[i].pick;
    }
    return 0;
}

/* true: the run is over. */
static bool step(const plan *what, bool show, trace *run)
{
    static moves list;
    size_t pick = pick_of(what, run->steps);

    moves_list(&list);
    if (list.count == 0)
        check_fail("nothing will ever happen");
    if (run->steps == STEPS)
        check_fail("more than %d steps", STEPS);
    if (sim_world.violation[0] != '\0')
        return true;
    run->widths[run->steps++] = (uint8_t)list.count;
    pick = pick < list.count ? pick : 0;
    if (show)
        moves_show(&list.at[pick]);
    moves_make(&list.at[pick]);
    return sim_world.violation[0] != '\0' || world_over();
}

/* Did it violate something? */
static bool run_plan(const plan *what, bool show, trace *run)
{
    run->steps = 0;
    world_begin(of_case);
    while (!step(what, show, run))
        continue;
    if (sim_world.violation[0] == '\0')
        check_end();
    totals->runs++;
    totals->steps += run->steps;
    world_end();
    return sim_world.violation[0] != '\0';
}

/* ------------------------------------------------------------------ report */

typedef struct shrinker {
    plan best;
    trace run;
} shrinker;

static size_t without(void *user, size_t from, size_t count)
{
    shrinker *self = user;
    plan candidate = self->best;

    memmove(candidate.at + from, candidate.at + from + count,
            (candidate.count - from - count) * sizeof(candidate.at[0]));
    candidate.count -= count;
    if (run_plan(&candidate, false, &self->run))
        self->best = candidate;
    return self->best.count;
}

static void report(const plan *what)
{
    static shrinker state;

    state.best = *what;
    while (state.best.count > 0 &&
           shrink_runs(state.best.count, without, &state))
        continue;
    printf("case %s, %zu deviations, shrunk from %zu:\n", of_case->name,
           state.best.count, what->count);
    (void)run_plan(&state.best, true, &state.run);
    printf("violation: %s\nreproduce: sim --case %s", sim_world.violation,
           of_case->name);
    if (sim_records)
        printf(" --records");
    if (sim_cheat[0] != '\0')
        printf(" --cheat %s", sim_cheat);
    printf(" --seed %llu --plan ", (unsigned long long)sim_seed);
    for (size_t i = 0; i < state.best.count; i++)
        printf("%s%u:%u", i == 0 ? "" : ",", state.best.at[i].step,
               state.best.at[i].pick);
    printf("%s\n", state.best.count == 0 ? "none" : "");
}

/* -------------------------------------------------------------------- plans */

/* All that begin with `what` and have up to `left` more deviations. A plan is
 * run once: its deviations are in the order of their steps. */
static bool extend(const plan *what, size_t left)
{
    trace *run = malloc(sizeof(*run));
    size_t first = what->count == 0 ? 0 : what->at[what->count - 1].step + 1U;
    bool failed;

    if (run == NULL)
        abort();
    failed = run_plan(what, false, run);
    if (failed)
        report(what);
    for (size_t at = first; !failed && left > 0 && at < run->steps; at++) {
        for (size_t pick = 1; !failed && pick < run->widths[at]; pick++) {
            plan next = *what;

            next.at[next.count++] = (deviation){(uint16_t)at, (uint16_t)pick};
            failed = extend(&next, left - 1);
        }
    }
    free(run);
    return failed;
}

bool explore_all(const sim_case *of, size_t deviations, explored *sums)
{
    plan none = {.count = 0};

    of_case = of;
    totals = sums;
    return extend(&none, deviations);
}

bool explore_random(const sim_case *of, uint64_t seed, size_t deviations,
                    uint64_t rounds, explored *sums)
{
    static trace run;
    plan what;

    of_case = of;
    totals = sums;
    for (uint64_t round = 0; round < rounds; round++) {
        prng random = prng_of(seed, round, 0);

        what.count = 0;
        for (size_t i = 0; i < deviations; i++) {
            size_t first = i == 0 ? 0 : what.at[i - 1].step + 1U;
            size_t at;

            if (run_plan(&what, false, &run))
                break;
            if (first >= run.steps)
                break;
            at = first + prng_below(&random, (run.steps - first + 1) / 2 + 1);
            if (at >= run.steps || run.widths[at] < 2)
                continue;
            what.at[what.count].step = (uint16_t)at;
            what.at[what.count++].pick =
                (uint16_t)(1 + prng_below(&random, run.widths[at] - 1U));
        }
        if (run_plan(&what, false, &run)) {
            report(&what);
            return true;
        }
    }
    return false;
}

bool explore_plan(const sim_case *of, const plan *what)
{
    static explored sums;
    static trace run;

    of_case = of;
    totals = &sums;
    if (run_plan(what, true, &run))
        printf("violation: %s\n", sim_world.violation);
    return sim_world.violation[0] != '\0';
}
