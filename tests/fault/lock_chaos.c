/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock_chaos.c - locks of every kind, values and transactions under faults;
 * lock_chaos.h says what is checked.
 *
 *     lock_chaos [--store NAME,...|all] [--minutes M | --rounds N] [--seed S]
 *                [--jobs N] [--round-ms N] [--first-round N]
 *                [--fence on|off]
 *                [--cheat late|token|claims|stale|lost|twice|torn]
 *                [--checker PROGRAM]
 *
 * Cheats: holders believe past their deadlines (late); tokens are reported too
 * small (token); nothing is excepted from what is claimed (claims); those of
 * tests/linearizable.
 *
 * The minutes are those of all stores together, `jobs` of which run at a time.
 * Without fence, and with a cheat, violations must be found on three stores, or
 * on all if there are fewer; otherwise nothing was proved, and the exit status
 * is 1.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lock_chaos.h"

#define PLACES_MAX 16
#define PROVING 3 /* stores */

chaos_options options = {
    .seed = 1,
    .minutes = 1,
    .jobs = 2,
    .round_ms = 10000,
    .fence = true,
    .cheat = "",
    .stores = "all",
    .checker = HF_CHECKER,
};

typedef struct outcome {
    bool chosen, fine;
    pid_t pid;
    verdict verdict;
} outcome;

static outcome *outcomes;

/* ------------------------------------------------------------------ options */

static bool is_chosen(const char *name)
{
    const char *at = strstr(options.stores, name);
    size_t size = strlen(name);

    return strcmp(options.stores, "all") == 0 ||
           (at != NULL && (at == options.stores || at[-1] == ',') &&
            (at[size] == ',' || at[size] == '\0'));
}

static bool read_number(const char *name, const char *value)
{
    if (strcmp(name, "--seed") == 0)
        options.seed = strtoull(value, NULL, 10);
    else if (strcmp(name, "--minutes") == 0)
        options.minutes = strtod(value, NULL);
    else if (strcmp(name, "--jobs") == 0)
        options.jobs = (int)strtol(value, NULL, 10);
    else if (strcmp(name, "--round-ms") == 0)
        options.round_ms = strtoll(value, NULL, 10);
    else if (strcmp(name, "--rounds") == 0)
        options.rounds = (unsigned)strtoul(value, NULL, 10);
    else if (strcmp(name, "--first-round") == 0)
        options.first_round = (unsigned)strtoul(value, NULL, 10);
    else
        return false;
    return true;
}

static bool read_option(const char *name, const char *value)
{
    if (strcmp(name, "--store") == 0)
        options.stores = value;
    else if (strcmp(name, "--cheat") == 0)
        options.cheat = value;
    else if (strcmp(name, "--checker") == 0)
        options.checker = value;
    else if (strcmp(name, "--fence") == 0)
        options.fence = strcmp(value, "off") != 0;
    else
        return read_number(name, value);
    return true;
}

static void find_checker(void)
{
    if (access(options.checker, X_OK) == 0)
        return;
    printf("checker skipped: no %s, see tests/linearizable; only that locks "
           "are granted in the end is checked\n",
           options.checker);
    options.checker = "";
}

/* ------------------------------------------------------------------- stores */

static bool has_program(const chaos_place *at)
{
    char line[128];
    const char *program = at->program != NULL ? at->program : "redis-server";

    if (at->kind == VOLATILE || at->kind == ON_DISK)
        return true;
    (void)snprintf(line, sizeof(line), "command -v %s >/dev/null", program);
    if (system(line) == 0)
        return true;
    printf("%s: skipped: no %s\n", at->name, program);
    return false;
}

static bool start(size_t i, int64_t for_ms)
{
    pid_t pid;

    (void)fflush(stdout);
    pid = fork();
    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        outcomes[i].fine = run_store(&places[i], for_ms, &outcomes[i].verdict);
        (void)fflush(stdout);
        _exit(0);
    }
    outcomes[i].pid = pid;
    return pid > 0;
}

static size_t choose(void)
{
    size_t count = 0;

    for (size_t i = 0; i < place_count; i++) {
        outcomes[i].chosen =
            is_chosen(places[i].name) && has_program(&places[i]);
        count += outcomes[i].chosen;
    }
    return count;
}

static void run_all(size_t count)
{
    int64_t for_ms = (int64_t)(options.minutes * 60000 / (double)count);
    int running = 0;

    for (size_t i = 0; i < place_count; i++) {
        if (!outcomes[i].chosen)
            continue;
        if (running == options.jobs) {
            (void)wait(NULL);
            running--;
        }
        running += start(i, for_ms);
    }
    while (running-- > 0)
        (void)wait(NULL);
}

/* ------------------------------------------------------------------ summary */

static void print_outcome(const char *name, const verdict *of)
{
    printf("%s: %u rounds, %llu faults, %llu holds, %llu calls; %u not "
           "counted, %u undecided, %u violations\n",
           name, of->rounds, (unsigned long long)of->faults,
           (unsigned long long)of->holds, (unsigned long long)of->calls,
           of->skipped, of->undecided, of->violations);
}

static int conclude(size_t count)
{
    bool expects_none = options.fence && options.cheat[0] == '\0';
    size_t violated = 0, proving = count < PROVING ? count : PROVING;
    bool fine = true;

    for (size_t i = 0; i < place_count; i++) {
        if (!outcomes[i].chosen)
            continue;
        print_outcome(places[i].name, &outcomes[i].verdict);
        violated += outcomes[i].verdict.violations > 0;
        fine = fine && outcomes[i].fine && outcomes[i].verdict.undecided == 0 &&
               outcomes[i].verdict.rounds > 0;
    }
    if (expects_none)
        return violated == 0 && fine ? 0 : 1;
    if (violated >= proving && options.checker[0] != '\0') {
        printf("violations were found on %zu stores, as they must be\n",
               violated);
        return 0;
    }
    printf("violations on %zu stores only: this proved nothing\n", violated);
    return 1;
}

int main(int argc, char **argv)
{
    size_t count;

    for (int i = 1; i < argc; i += 2) {
        if (i + 1 == argc || !read_option(argv[i], argv[i + 1])) {
            fprintf(stderr, "lock_chaos: not an option: %s\n", argv[i]);
            return 2;
        }
    }
    (void)signal(SIGPIPE, SIG_IGN);
    outcomes = mmap(NULL, PLACES_MAX * sizeof(*outcomes),
                    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (outcomes == MAP_FAILED)
        return 2;
    find_checker();
    count = choose();
    if (count == 0) {
        fprintf(stderr, "lock_chaos: no such store: %s\n", options.stores);
        return 2;
    }
    printf("seed %llu\n", (unsigned long long)options.seed);
    run_all(count);
    return conclude(count);
}
