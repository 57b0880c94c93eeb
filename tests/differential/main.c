/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - differential: runs the same random operations on a store of ours and
 * on a real server, compares every reply and the final state, and shrinks what
 * differs.
 *
 * Operations come in rounds; each has its own seed, which is printed when
 * something differs, and `--seed` with it begins with that round. Exit status:
 * 0 no difference, 1 a difference, 2 it could not run, 77 the server's
 * differences from Redis 7.0 are unknown, or hide the mutation.
 */
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "newer.h"
#include "place.h"
#include "report.h"
#include "round.h"
#include "shrink.h"
#include "support/prng.h"
#include "support/redis_server.h"
#include "support/remove_tree.h"
#include "table.h"
#include "util/rand.h"

#define SEEDS_MAX 16u

/* Exit statuses. */
enum { SAME = 0, DIFFERENT = 1, USAGE = 2, CANNOT_RUN = 2, OTHER_VERSION = 77 };

typedef struct arguments {
    uint64_t seeds[SEEDS_MAX];
    size_t seed_count;
    uint64_t ops; /* for each seed */
    const char *store;
    const char *server; /* NULL: redis-server */
    round_options round;
    const mutation *mutation;
    bool every; /* continue after a difference */
    bool table;
} arguments;

/* --------------------------------------------------------------- arguments */

static const char usage[] =
    "usage: differential [options]\n"
    "  --seed N|fresh    begin with this seed; may be given several times\n"
    "  --ops N           operations for each seed, whole rounds [10000]\n"
    "  --commands A,B    only these groups: %s\n"
    "  --store KIND      what is compared with the server: file (embedded),\n"
    "                    volatile (embedded), server (another server) [file]\n"
    "  --server PROGRAM  the server: Redis from 7.0, Valkey [redis-server]\n"
    "  --no-waits        no short expiries\n"
    "  --mutate NAME     put a fault into the compared store: %s\n"
    "  --every           report every difference, not only the first\n"
    "  --table           compare the table of commands with COMMAND instead\n";

static void print_usage(FILE *to)
{
    char groups[200];
    char names[300];

    round_list_groups(groups, sizeof(groups));
    mutation_list(names, sizeof(names));
    fprintf(to, usage, groups, names);
}

static int complain(const char *what, const char *value)
{
    if (what != NULL)
        fprintf(stderr, "differential: %s: %s\n", what, value);
    print_usage(stderr);
    return USAGE;
}

static bool read_number(const char *text, uint64_t *number)
{
    char *end;

    *number = strtoull(text, &end, 0);
    return *text >= '0' && *text <= '9' && *end == '\0';
}

static bool read_seed(const char *text, arguments *args)
{
    uint64_t *seed = &args->seeds[args->seed_count];

    if (args->seed_count == SEEDS_MAX)
        return false;
    args->seed_count++;
    if (strcmp(text, "fresh") != 0)
        return read_number(text, seed);
    hf__rand_bytes(seed, sizeof(*seed));
    return true;
}

static bool read_groups(const char *text, arguments *args)
{
    args->round.groups = text;
    for (;;) {
        size_t size = strcspn(text, ",");

        if (!round_knows_group(text, size))
            return false;
        if (text[size] == '\0')
            return true;
        text += size + 1;
    }
}

static bool read_store(const char *text, arguments *args)
{
    args->store = text;
    args->round.distinct_instants = strcmp(text, "volatile") == 0;
    return strcmp(text, "file") == 0 || strcmp(text, "volatile") == 0 ||
           strcmp(text, "server") == 0;
}

static bool read_option(int letter, const char *value, arguments *args)
{
    switch (letter) {
    case 's':
        return read_seed(value, args);
    case 'o':
        return read_number(value, &args->ops);
    case 'c':
        return read_groups(value, args);
    case 't':
        return read_store(value, args);
    case 'r':
        args->server = value;
        redis_server_use(value);
        return true;
    case 'w':
        args->round.waits = false;
        return true;
    case 'm':
        args->mutation = mutation_find(value);
        return args->mutation != NULL;
    case 'b':
        args->table = true;
        return true;
    case 'h':
        print_usage(stdout);
        exit(SAME);
    default:
        args->every = true;
        return true;
    }
}

static int read_arguments(int argc, char **argv, arguments *args)
{
    static const struct option options[] = {
        {"seed", required_argument, NULL, 's'},
        {"ops", required_argument, NULL, 'o'},
        {"commands", required_argument, NULL, 'c'},
        {"store", required_argument, NULL, 't'},
        {"server", required_argument, NULL, 'r'},
        {"no-waits", no_argument, NULL, 'w'},
        {"mutate", required_argument, NULL, 'm'},
        {"every", no_argument, NULL, 'e'},
        {"table", no_argument, NULL, 'b'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0}};
    int letter;
    int index = 0;

    memset(args, 0, sizeof(*args));
    args->ops = 10000;
    args->store = "file";
    args->round.waits = true;
    while ((letter = getopt_long(argc, argv, "", options, &index)) != -1) {
        if (letter == '?')
            return complain(NULL, NULL);
        if (!read_option(letter, optarg, args))
            return complain(options[index].name, optarg);
    }
    if (optind < argc)
        return complain("not an option", argv[optind]);
    if (args->seed_count == 0)
        (void)read_seed("fresh", args);
    return 0;
}

/* ------------------------------------------------------------------ crashes */

/* How to repeat the current round, should it crash the program. */
static char round_note[300];
static volatile sig_atomic_t round_runs;

static void tell_crash(int number)
{
    ssize_t written = write(2, round_note, strlen(round_note));

    (void)written;
    signal(number, SIG_DFL);
    raise(number);
}

static void watch_crashes(void)
{
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        signal(numbers[i], tell_crash);
}

static void note_round(const arguments *args, uint64_t seed)
{
    snprintf(round_note, sizeof(round_note),
             "differential: ended in the round --seed %" PRIu64
             " --ops 1 --store %s%s%s\n",
             seed, args->store,
             args->round.groups != NULL ? " --commands " : "",
             args->round.groups != NULL ? args->round.groups : "");
}

/* ------------------------------------------------------------------- rounds */

static void print_reproduction(const arguments *args, uint64_t seed)
{
    printf("reproduce: differential --seed %" PRIu64 " --ops 1 --store %s",
           seed, args->store);
    if (args->round.groups != NULL)
        printf(" --commands %s", args->round.groups);
    if (!args->round.waits)
        printf(" --no-waits");
    if (args->server != NULL)
        printf(" --server %s", args->server);
    if (args->mutation != NULL)
        printf(" --mutate %s", args->mutation->name);
    printf("\n");
}

static void report(const arguments *args, pair *both, uint64_t seed,
                   op_list *list, difference *found)
{
    size_t before = list->count;

    if (shrink(both, list, found))
        printf("DIFFERENCE: %zu operations, shrunk from %zu\n",
               found->index + 1, before);
    else
        printf("DIFFERENCE, but not when the round runs again: all %zu "
               "operations follow\n",
               found->index + 1);
    report_difference(stdout, both, list, found);
    print_reproduction(args, seed);
    fflush(stdout);
}

/* One round; true: there was a difference. Adds its size to *ops. */
static bool run_round(const arguments *args, pair *both, uint64_t seed,
                      uint64_t *ops)
{
    difference found;
    hf__arena arena;
    op_list list;
    bool differs;

    hf__arena_init(&arena);
    op_list_init(&list, &arena);
    round_make(&args->round, seed, &list);
    newer_filter(&list);
    note_round(args, seed);
    *ops += list.count;
    round_runs = 1;
    differs = trial_differs(both, &list, &found);
    if (differs)
        report(args, both, seed, &list, &found);
    round_runs = 0;
    hf__arena_free(&arena);
    return differs;
}

/* How many rounds differed. */
static uint64_t run_seed(const arguments *args, pair *both, uint64_t seed)
{
    prng seeds = {seed};
    uint64_t differences = 0;
    uint64_t ops = 0;
    uint64_t rounds = 0;
    uint64_t round_seed = seed;

    printf("seed %" PRIu64 "\n", seed);
    fflush(stdout);
    while (ops < args->ops && (differences == 0 || args->every)) {
        differences += run_round(args, both, round_seed, &ops) ? 1 : 0;
        round_seed = prng_next(&seeds);
        rounds++;
    }
    printf("%" PRIu64 " operations in %" PRIu64 " rounds, %" PRIu64 " differ\n",
           ops, rounds, differences);
    fflush(stdout);
    return differences;
}

static int run_seeds(const arguments *args, pair *both)
{
    uint64_t differences = 0;

    for (size_t i = 0; i < args->seed_count; i++) {
        if (differences == 0 || args->every)
            differences += run_seed(args, both, args->seeds[i]);
    }
    return differences > 0 ? DIFFERENT : SAME;
}

/* -------------------------------------------------------------------- stores
 */

/* To be removed at the end, however the program ends. */
static redis_server *server;
static redis_server *other_server;
static char place[PLACE_SIZE];

static void clean_up(void)
{
    if (round_runs)
        fputs(round_note, stderr);
    redis_server_stop(server);
    redis_server_stop(other_server);
    if (place[0] != '\0')
        (void)remove_tree(place);
}

static bool is_wanted_version(void)
{
    char answer[1000];

    return redis_server_command(server, "INFO server", answer,
                                sizeof(answer)) &&
           newer_knows(answer);
}

/* The URL of the store to be compared; false, with a line on stderr. */
static bool make_store(const arguments *args, char *url, size_t size)
{
    if (strcmp(args->store, "server") == 0) {
        other_server = redis_server_start(NULL);
        if (other_server == NULL)
            return false;
        snprintf(url, size, "%s", redis_server_unix_url(other_server));
        return true;
    }
    if (!place_make(place))
        return false;
    snprintf(url, size, "%s:%s/store", args->store, place);
    return true;
}

static int run_table(void)
{
    side measure = {0};
    unsigned differences;

    if (!side_open(&measure, "server", redis_server_unix_url(server)))
        return CANNOT_RUN;
    differences = table_differences(&measure);
    side_close(&measure);
    return differences > 0 ? DIFFERENT : SAME;
}

static int run(const arguments *args)
{
    pair both = {.tested = {.mutation = args->mutation}};
    char url[256];
    int result;

    if (!make_store(args, url, sizeof(url)) ||
        !side_open(&both.tested, "tested", url))
        return CANNOT_RUN;
    if (!side_open(&both.server, "server", redis_server_unix_url(server))) {
        side_close(&both.tested);
        return CANNOT_RUN;
    }
    result = run_seeds(args, &both);
    side_close(&both.tested);
    side_close(&both.server);
    return result;
}

int main(int argc, char **argv)
{
    arguments args;
    int result = read_arguments(argc, argv, &args);

    if (result != 0)
        return result;
    /* Texts are compared by bytes here, so the server's Lua must too. */
    setenv("LC_ALL", "C", 1);
    atexit(clean_up);
    server = redis_server_start(NULL);
    if (server == NULL)
        return CANNOT_RUN;
    if (!is_wanted_version()) {
        printf("skipped: the server's differences from Redis 7.0 are not "
               "known\n");
        return OTHER_VERSION;
    }
    if (args.mutation != NULL && newer_hides(args.mutation->name)) {
        printf("skipped: the server differs in this itself\n");
        return OTHER_VERSION;
    }
    watch_crashes();
    return args.table ? run_table() : run(&args);
}
