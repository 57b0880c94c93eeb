/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - sim: see sim.h.
 *
 *     sim [--case NAME] [--deviations N] [--random ROUNDS] [--seed N]
 *         [--records] [--cheat NAME] [--plan none|STEP:MOVE,...]
 *
 * Runs every plan with up to N deviations of each case, then random ones with
 * more. Exit status: 0 nothing was violated, 1 a violation, 2 it could not run.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "explore.h"

#define RANDOM_DEVIATIONS 6

typedef struct arguments {
    const char *name;
    size_t deviations;
    uint64_t rounds;
    const char *plan;
} arguments;

static bool read_number(const char *text, uint64_t *number)
{
    char *end;

    *number = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && *end == '\0';
}

static bool read_option(int letter, const char *value, arguments *args)
{
    uint64_t number = 0;

    switch (letter) {
    case 'c':
        args->name = value;
        return true;
    case 'x':
        sim_cheat = value;
        if (sim_cheats("stale") || sim_cheats("unguarded") ||
            sim_cheats("hasty") || sim_cheats("purged") ||
            sim_cheats("parted") || sim_cheats("spoilt"))
            sim_records = true; /* they are of its store */
        return true;
    case 'k':
        sim_records = true;
        return true;
    case 'p':
        args->plan = value;
        return true;
    case 'd':
        if (!read_number(value, &number) || number > DEVIATIONS)
            return false;
        args->deviations = (size_t)number;
        return true;
    case 'r':
        return read_number(value, &args->rounds);
    case 's':
        return read_number(value, &sim_seed);
    default:
        return false;
    }
}

static bool read_arguments(int argc, char **argv, arguments *args)
{
    static const struct option options[] = {
        {"case", required_argument, NULL, 'c'},
        {"deviations", required_argument, NULL, 'd'},
        {"random", required_argument, NULL, 'r'},
        {"seed", required_argument, NULL, 's'},
        {"cheat", required_argument, NULL, 'x'},
        {"records", no_argument, NULL, 'k'},
        {"plan", required_argument, NULL, 'p'},
        {NULL, 0, NULL, 0}};
    int letter;

    *args = (arguments){.deviations = 1, .rounds = 20};
    while ((letter = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (!read_option(letter, optarg, args))
            return false;
    }
    return optind == argc && (args->plan == NULL || args->name != NULL);
}

static bool read_plan(const char *text, plan *what)
{
    what->count = 0;
    while (*text != '\0' && strcmp(text, "none") != 0) {
        unsigned at, pick;
        int size = 0;

        if (what->count == DEVIATIONS ||
            sscanf(text, "%u:%u%n", &at, &pick, &size) < 2)
            return false;
        what->at[what->count++] = (deviation){(uint16_t)at, (uint16_t)pick};
        text += size;
        text += *text == ',';
    }
    return true;
}

static bool explore(const sim_case *of, const arguments *args, explored *sums)
{
    explored here = {0, 0};
    plan what;
    bool failed;

    if (args->plan != NULL)
        return !read_plan(args->plan, &what) || explore_plan(of, &what);
    failed =
        explore_all(of, args->deviations, &here) ||
        explore_random(of, sim_seed, RANDOM_DEVIATIONS, args->rounds, &here);
    printf("%-12s %10llu runs %12llu steps\n", of->name,
           (unsigned long long)here.runs, (unsigned long long)here.steps);
    (void)fflush(stdout);
    sums->runs += here.runs;
    sums->steps += here.steps;
    return failed;
}

int main(int argc, char **argv)
{
    arguments args;
    explored sums = {0, 0};
    size_t cases = 0;
    bool failed = false;

    if (!read_arguments(argc, argv, &args)) {
        fprintf(stderr, "usage: see tests/sim/main.c\n");
        return 2;
    }
    server_open();
    for (size_t i = 0; !failed && i < sim_case_count; i++) {
        if (args.name != NULL && strcmp(args.name, sim_cases[i].name) != 0)
            continue;
        if (sim_records && sim_cases[i].capabilities != 0)
            continue; /* of other stores */
        cases++;
        failed = explore(&sim_cases[i], &args, &sums);
    }
    server_close();
    if (args.plan == NULL)
        printf("%zu cases, %llu runs, %llu steps: %s\n", cases,
               (unsigned long long)sums.runs, (unsigned long long)sums.steps,
               failed ? "a violation" : "no violation");
    return cases == 0 ? 2 : failed;
}
