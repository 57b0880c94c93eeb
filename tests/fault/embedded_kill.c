/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_kill.c - kill -9 of processes that share one embedded store.
 *
 *     embedded_kill [--kills N] [--writers N]
 *                   [--store volatile|commit|log|flush]
 *                   [--dir DIR] [--seed S] [--check-every N] [--json]
 *                   [--fault early|torn|stall|token] [--forget]
 *
 * After a violation the store is kept, unless --forget is given.
 *
 * Writers do all kinds of work on one store and record what was acknowledged.
 * The parent kills them: no acknowledged write may be missing, no invariant
 * broken, and the others keep working. Exit 0: no violation; 1: a violation,
 * printed with the seed; 2: wrong usage. The seed determines the choices, not
 * the timing of the processes.
 *
 * "The others keep working within 20 ms" means: a survivor's pause around a
 * kill is the time from the reply before it to the one after it, without the
 * time spent waiting for a processor. The share of pauses longer than 20 ms may
 * not be clearly higher than at ordinary moments of the same run, where a slow
 * disk causes some, too. A writer that makes no progress for 5 s is a violation
 * at once.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "embedded_kill.h"
#include "support/remove_tree.h"

static const char *const fault_names[] = {"none", "early", "torn", "stall",
                                          "token"};

static bool parse_number(const char *text, uint64_t most, uint64_t *number)
{
    char *end;

    errno = 0;
    *number = strtoull(text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0 &&
           *number <= most;
}

static bool parse_fault(const char *text, fault *result)
{
    for (size_t i = 0; i < sizeof(fault_names) / sizeof(fault_names[0]); i++) {
        if (strcmp(text, fault_names[i]) == 0) {
            *result = (fault)i;
            return true;
        }
    }
    return false;
}

static bool parse_pair(const char *name, const char *value, options *opts)
{
    uint64_t number = 0;

    if (strcmp(name, "--dir") == 0)
        return snprintf(opts->dir, sizeof(opts->dir), "%s", value) <
               (int)sizeof(opts->dir);
    if (strcmp(name, "--fault") == 0)
        return parse_fault(value, &opts->fault);
    if (strcmp(name, "--store") == 0) {
        (void)snprintf(opts->store, sizeof(opts->store), "%s", value);
        return strcmp(value, "volatile") == 0 || strcmp(value, "commit") == 0 ||
               strcmp(value, "log") == 0 || strcmp(value, "flush") == 0;
    }
    if (strcmp(name, "--seed") == 0)
        return parse_number(value, UINT64_MAX, &opts->seed);
    if (!parse_number(value, 10000000, &number) || number == 0)
        return false;
    if (strcmp(name, "--kills") == 0)
        opts->kills = (uint32_t)number;
    else if (strcmp(name, "--writers") == 0 && number <= WRITER_MAX)
        opts->writers = (uint32_t)number;
    else if (strcmp(name, "--check-every") == 0)
        opts->check_every = (uint32_t)number;
    else
        return false;
    return true;
}

static bool parse(int argc, char **argv, options *opts)
{
    *opts = (options){.kills = 100,
                      .writers = 4,
                      .check_every = 10,
                      .seed = (uint64_t)now_us(),
                      .store = "volatile"};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            opts->json = true;
        } else if (strcmp(argv[i], "--forget") == 0) {
            opts->forget = true;
        } else if (i + 1 == argc || !parse_pair(argv[i], argv[i + 1], opts)) {
            (void)fprintf(stderr, "embedded_kill: bad option: %s\n", argv[i]);
            return false;
        } else {
            i++;
        }
    }
    return true;
}

/* ------------------------------------------------------------------ places */

/* Our own folder in the one that was named. */
static bool make_folder(options *opts, char folder[600])
{
    if (opts->dir[0] == '\0')
        (void)snprintf(opts->dir, sizeof(opts->dir), "%s",
                       strcmp(opts->store, "volatile") == 0 ? "/dev/shm"
                                                            : "/var/tmp");
    (void)snprintf(folder, 600, "%s/hf-kill-XXXXXX", opts->dir);
    if (mkdtemp(folder) != NULL)
        return true;
    (void)fprintf(stderr, "embedded_kill: %s: %s\n", opts->dir,
                  strerror(errno));
    return false;
}

static journal *map_journal(int fd)
{
    void *memory =
        mmap(NULL, sizeof(journal), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    return memory == MAP_FAILED ? NULL : memory;
}

static journal *make_journal(const options *opts, const char *folder, int *fd)
{
    journal *all;
    bool fast = strcmp(opts->store, "volatile") == 0;

    *fd = memfd_create("journal", MFD_CLOEXEC);
    if (*fd < 0 || ftruncate(*fd, sizeof(journal)) != 0)
        return NULL;
    all = map_journal(*fd);
    if (all == NULL)
        return NULL;
    all->seed = opts->seed;
    all->fault = (uint32_t)opts->fault;
    /* The live data is a few MB. But hf_store_check() reads one snapshot, whose
     * pages cannot be reused meanwhile. On a busy machine opens that wait
     * for one another, of which the first checks the file, take seconds. */
    (void)snprintf(all->url, sizeof(all->url),
                   "%s:%s/store?max_size=1G&request_ms=60000%s%s",
                   fast ? "volatile" : "file", folder,
                   fast ? "" : "&durability=", fast ? "" : opts->store);
    return all;
}

/* ------------------------------------------------------------------ report */

/* Is a share of `some` more than twice that of `base` and one in a hundred, by
 * more than chance explains (three standard errors)? Twice, because a kill
 * starts the next process, which takes processor time from the others. */
static bool clearly_more(size_t some, size_t of_some, size_t base,
                         size_t of_base)
{
    double with = (double)some / (double)of_some;
    double without = (double)base / (double)of_base;
    double pooled = (double)(some + base) / (double)(of_some + of_base);
    double excess = with - 2 * without - 0.01;
    double variance =
        pooled * (1 - pooled) * (1 / (double)of_some + 1 / (double)of_base);

    return excess > 0 && excess * excess > 9 * variance;
}

/* A pause is long if few are as long without a kill. */
static int64_t long_pause_us(gaps *without)
{
    int64_t usual_us = gaps_percentile(without, 90);

    return usual_us > PAUSE_LIMIT_US ? usual_us : PAUSE_LIMIT_US;
}

static void judge_pauses(tally *result)
{
    gaps *with = &result->after_kill_net, *without = &result->without_net;
    int64_t limit_us = long_pause_us(without);
    size_t slow = gaps_above(with, limit_us);
    size_t slow_else = gaps_above(without, limit_us);

    if (with->count > 0 && without->count > 0 &&
        clearly_more(slow, with->count, slow_else, without->count))
        (void)snprintf(result->violation, sizeof(result->violation),
                       "the others paused: %zu of %zu pauses around a kill are "
                       "longer than %lld us, otherwise %zu of %zu",
                       slow, with->count, (long long)limit_us, slow_else,
                       without->count);
}

static void print_gaps(const char *name, gaps *all, bool json)
{
    static const double percents[] = {50, 90, 99, 100};

    if (json)
        (void)printf(", \"%s_us\": [", name);
    else
        (void)printf("%-24s", name);
    for (size_t i = 0; i < 4; i++)
        (void)printf(json ? "%s%lld" : "%s %9lld", i > 0 && json ? ", " : "",
                     (long long)gaps_percentile(all, percents[i]));
    (void)printf(json ? "]" : "\n");
}

static void print_report(const options *opts, tally *result)
{
    bool json = opts->json;

    (void)printf(json ? "{\"store\": \"%s\", \"seed\": %llu, \"writers\": %u, "
                        "\"kills\": %llu, \"rounds\": %llu, "
                        "\"acknowledged\": %llu, \"killed_in_flight\": %llu, "
                        "\"of_these_applied\": %llu, \"checks\": %llu"
                      : "store %s, seed %llu, %u writers: %llu kills in %llu "
                        "rounds, %llu writes acknowledged,\n%llu killed in an "
                        "operation, of which %llu were applied, %llu checks\n"
                        "pauses in us (percentiles: 50, 90, 99, 100)\n",
                 opts->store, (unsigned long long)opts->seed,
                 (unsigned)opts->writers, (unsigned long long)result->killed,
                 (unsigned long long)result->rounds,
                 (unsigned long long)result->acknowledged,
                 (unsigned long long)result->in_flight,
                 (unsigned long long)result->applied,
                 (unsigned long long)result->checks);
    print_gaps("pause_at_kill_net", &result->after_kill_net, json);
    print_gaps("pause_at_kill", &result->after_kill_gross, json);
    print_gaps("pause_else_net", &result->without_net, json);
    print_gaps("pause_else", &result->without_gross, json);
    (void)printf(json ? ", \"pauses_above_20ms\": {\"at_kill\": [%zu, %zu], "
                        "\"else\": [%zu, %zu]}"
                      : "pauses above 20 ms: %zu of %zu at kills, %zu of %zu "
                        "else\n",
                 gaps_above(&result->after_kill_net, PAUSE_LIMIT_US),
                 result->after_kill_net.count,
                 gaps_above(&result->without_net, PAUSE_LIMIT_US),
                 result->without_net.count);
    if (json)
        (void)printf(", \"violations\": %d}\n", result->violation[0] != '\0');
    if (result->violation[0] != '\0')
        (void)fprintf(stderr, "violation: %s (--seed %llu)\n",
                      result->violation, (unsigned long long)opts->seed);
}

/* -------------------------------------------------------------------- main */

static int run_parent(options *opts)
{
    tally result = {0};
    char folder[600];
    journal *all;
    int fd, code;

    if (!make_folder(opts, folder))
        return 2;
    all = make_journal(opts, folder, &fd);
    if (all == NULL) {
        (void)fprintf(stderr, "embedded_kill: no memory for the journal\n");
        return 2;
    }
    if (rounds_run(opts, all, fd, &result))
        judge_pauses(&result);
    print_report(opts, &result);
    code = result.violation[0] == '\0' ? 0 : 1;
    /* The store can be examined. */
    if (code == 0 || opts->forget)
        (void)remove_tree(folder);
    else
        (void)fprintf(stderr, "the store is kept: %s\n", folder);
    gaps_free(&result.after_kill_net);
    gaps_free(&result.after_kill_gross);
    gaps_free(&result.without_net);
    gaps_free(&result.without_gross);
    return code;
}

/* --writer INDEX FD: how start_writer() runs this program. */
static int run_writer(char **argv)
{
    uint64_t index, fd;
    journal *all;

    if (!parse_number(argv[2], WRITER_MAX - 1, &index) ||
        !parse_number(argv[3], 1000000, &fd))
        return 2;
    all = map_journal((int)fd);
    return all == NULL ? 2 : writer_main(all, (uint32_t)index);
}

int main(int argc, char **argv)
{
    options opts;

    if (argc == 4 && strcmp(argv[1], "--writer") == 0)
        return run_writer(argv);
    return parse(argc, argv, &opts) ? run_parent(&opts) : 2;
}
