/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - property: random sequences of calls against a model; see property.h.
 *
 *     property [--seed N|fresh] [--rounds N] [--steps N] [--cheat RULE]
 *
 * The store is that of HOLDFAST_TEST_STORE. Each round has its own seed, which
 * is printed when it fails; `--seed` with it begins with that round. Exit
 * status: 0 no difference, 1 a difference, 2 it could not run.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "property.h"
#include "support/prng.h"
#include "support/store_fixture.h"

typedef struct arguments {
    uint64_t seed;
    uint64_t rounds;
    uint64_t steps;
    const char *cheat;
} arguments;

static bool read_number(const char *value, uint64_t *number)
{
    char *end;

    *number = strtoull(value, &end, 0);
    return *value >= '0' && *value <= '9' && *end == '\0';
}

static bool read_option(int letter, const char *value, arguments *args)
{
    switch (letter) {
    case 's':
        args->seed = (uint64_t)test_unix_ms();
        return strcmp(value, "fresh") == 0 || read_number(value, &args->seed);
    case 'r':
        return read_number(value, &args->rounds);
    case 'n':
        return read_number(value, &args->steps) && args->steps <= STEPS_MAX;
    case 'c':
        args->cheat = value;
        return true;
    default:
        return false;
    }
}

static bool read_arguments(int argc, char **argv, arguments *args)
{
    static const struct option options[] = {
        {"seed", required_argument, NULL, 's'},
        {"rounds", required_argument, NULL, 'r'},
        {"steps", required_argument, NULL, 'n'},
        {"cheat", required_argument, NULL, 'c'},
        {NULL, 0, NULL, 0}};
    int letter;

    *args = (arguments){.seed = 1, .rounds = 12, .steps = 60};
    while ((letter = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (!read_option(letter, optarg, args))
            return false;
    }
    return optind == argc;
}

/* Two of three sequences are of neighbouring rows, so that their calls meet. */
#define NEIGHBOURS 8

static void make_sequence(uint64_t seed, size_t count, sequence *steps)
{
    prng random = {seed};
    size_t first = prng_below(&random, call_count());
    size_t width = prng_chance(&random, 33) ? call_count() : NEIGHBOURS;

    steps->count = count;
    for (size_t i = 0; i < count; i++) {
        step *s = &steps->steps[i];

        memset(s, 0, sizeof(*s));
        s->call =
            (uint16_t)((first + prng_below(&random, width)) % call_count());
        s->starts = prng_chance(&random, 25);
        for (size_t k = 0; k < ARGUMENTS; k++)
            s->n[k] = (uint8_t)prng_below(&random, 240);
    }
}

static void report(const sequence *steps, const difference *found,
                   size_t before, uint64_t seed, bool shrunk)
{
    if (shrunk)
        printf("DIFFERENCE: %zu operations, shrunk from %zu\n", steps->count,
               before);
    else
        printf("DIFFERENCE, but not when the round runs again\n");
    for (size_t i = 0; i <= found->index; i++) {
        text line = {.size = 0};

        step_show(&steps->steps[i], &line);
        printf("  %s\n", line.at);
    }
    printf("store: %s\nmodel: %s\nreproduce: property --seed %" PRIu64
           " --steps %zu --rounds 1\n",
           found->found.at, found->wanted.at, seed, before);
}

static bool round_differs(place *at, const arguments *args, uint64_t seed)
{
    static sequence steps;
    static difference found;
    bool shrunk;

    make_sequence(seed, args->steps, &steps);
    if (!trial_differs(at, &steps, args->cheat, &found))
        return false;
    shrunk = shrink(at, &steps, args->cheat, &found);
    report(&steps, &found, args->steps, seed, shrunk);
    return true;
}

static int run_rounds(fixture *f, const arguments *args)
{
    place at = {.client = f->client,
                .lacks_dumps = f->store == FIXTURE_POSTGRES};
    prng seeds = {args->seed};
    uint64_t seed = args->seed;

    for (uint64_t i = 0; i < args->rounds; i++) {
        if (round_differs(&at, args, seed))
            return 1;
        seed = prng_next(&seeds);
    }
    printf("%" PRIu64 " sequences of %" PRIu64 " calls, no difference\n",
           args->rounds, args->steps);
    return 0;
}

int main(int argc, char **argv)
{
    void *state = NULL;
    arguments args;
    int result = 2;

    if (!read_arguments(argc, argv, &args)) {
        fprintf(stderr, "usage: property [--seed N|fresh] [--rounds N] "
                        "[--steps N] [--cheat RULE]\n");
        return 2;
    }
    if (fixture_start(&state) == 0 && fixture_open(&state) == 0) {
        result = run_rounds(state, &args);
        (void)fixture_close(&state);
    }
    (void)fixture_stop(&state);
    return result;
}
