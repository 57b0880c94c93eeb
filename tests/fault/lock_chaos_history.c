/* SPDX-License-Identifier: Apache-2.0 */
/* lock_chaos_history.c - a round's history as text, and what the checker says.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lock_chaos.h"

#define REPORT_LINES 80

static unsigned record_count(void)
{
    unsigned used = atomic_load(&shared->used);

    return used < RECORDS_MAX ? used : RECORDS_MAX;
}

static bool is_lease(const record *r)
{
    return strcmp(r->call, "acquire") == 0 || strcmp(r->call, "end") == 0 ||
           strcmp(r->call, "weigh") == 0;
}

/* By model, key, and beginning; those that were not begun last. */
static int by_history(const void *a, const void *b)
{
    const record *left = *(record *const *)a, *right = *(record *const *)b;
    int order;

    if (left->begun != right->begun)
        return left->begun != 0 ? -1 : 1;
    if (left->begun == 0)
        return 0;
    order = strcmp(left->model, right->model);
    if (order == 0)
        order = (left->key > right->key) - (left->key < right->key);
    if (order == 0)
        order = (left->began_ns > right->began_ns) -
                (left->began_ns < right->began_ns);
    return order;
}

/* A mark at an instant, or between two. */
static void print_mark(FILE *to, const record *of, const char *call, int in,
                       int64_t from_ns, int64_t to_ns)
{
    fprintf(to,
            "{\"model\":\"%s\",\"key\":%u,\"client\":0,\"call\":\"%s\","
            "\"in\":[%d],\"out\":[],\"status\":\"OK\",\"began\":%lld,"
            "\"returned\":%lld}\n",
            of->model, (unsigned)of->key, call, in, (long long)from_ns,
            (long long)to_ns);
}

/* The clock of exclusive leases in memory cannot be set. */
static bool concerns(const chaos_place *at, const lapse *it, const record *of)
{
    if (it->kind == LAPSED && at->kind == VOLATILE)
        return strcmp(of->model, "rwlock") == 0 ||
               strcmp(of->model, "semaphore") == 0;
    return it->kind != LAPSED || is_lease(of);
}

/* What the store's lapses mean for a key whose history begins with `first`. */
static void print_lapses(const chaos_place *at, FILE *to, const record *first)
{
    for (size_t i = 0; i < shared->lapse_count && i < LAPSES_MAX; i++) {
        const lapse *it = &shared->lapses[i];

        if (!concerns(at, it, first) || it->to_ns < first->began_ns ||
            strcmp(options.cheat, "claims") == 0)
            continue;
        if (is_lease(first)) {
            print_mark(to, first, "lapse", 1, it->from_ns, it->from_ns + 1);
            print_mark(to, first, "lapse", 0, it->to_ns - 1, it->to_ns);
        } else if (strcmp(first->model, "register") != 0) {
            print_mark(to, first, it->kind == WIPED ? "wipe" : "lose", 0,
                       it->from_ns, it->to_ns);
        }
    }
}

static bool is_same_history(const record *a, const record *b)
{
    return a != NULL && a->key == b->key && strcmp(a->model, b->model) == 0;
}

static bool write_history(const chaos_place *at, const char *path)
{
    unsigned count = record_count();
    record **sorted = calloc(count + 1, sizeof(*sorted));
    const record *first = NULL;
    FILE *to = fopen(path, "w");

    for (unsigned i = 0; sorted != NULL && i < count; i++)
        sorted[i] = &shared->records[i];
    if (sorted != NULL)
        qsort(sorted, count, sizeof(*sorted), by_history);
    for (unsigned i = 0; to != NULL && sorted != NULL && i < count; i++) {
        if (sorted[i]->begun == 0)
            break;
        if (!is_same_history(first, sorted[i])) {
            first = sorted[i];
            print_lapses(at, to, first);
        }
        record_print(sorted[i], to);
    }
    free(sorted);
    return to != NULL && fclose(to) == 0;
}

/* Exit status of the checker. */
static int run_checker(const char *history, const char *report)
{
    char line[1024];
    int status;

    (void)snprintf(line, sizeof(line),
                   "env -u LD_PRELOAD '%s' <'%s' >'%s' 2>&1", options.checker,
                   history, report);
    status = system(line);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}

/* ---------------------------------------------------------------- violation */

static void print_file(const char *path)
{
    char line[512];
    FILE *from = fopen(path, "r");

    for (int i = 0; from != NULL && i < REPORT_LINES &&
                    fgets(line, sizeof(line), from) != NULL;
         i++)
        printf("    %s", line);
    if (from != NULL)
        (void)fclose(from);
}

static void print_time_line(void)
{
    printf("  faults, by CLOCK_BOOTTIME in ns:\n");
    for (size_t i = 0; i < shared->fault_count; i++)
        printf("    %lld..%lld %s\n", (long long)shared->faults[i].from_ns,
               (long long)shared->faults[i].to_ns, shared->faults[i].text);
}

static void print_violation(const chaos_place *at, unsigned round,
                            const char *what)
{
    printf("violation: %s, round %u: %s\n"
           "  again: lock_chaos --store %s --seed %llu --first-round %u "
           "--rounds 1\n",
           at->name, round, what, at->name, (unsigned long long)options.seed,
           round);
    print_time_line();
}

static void count_round(verdict *so_far)
{
    so_far->holds += atomic_load(&shared->holds);
    so_far->calls += record_count();
    so_far->faults += shared->fault_count;
    so_far->rounds++;
}

void judge(const chaos_place *at, unsigned round, verdict *so_far)
{
    char history[64] = "/tmp/lock_chaos-XXXXXX", report[80];
    int fd = mkstemp(history), status;

    if (fd >= 0)
        (void)close(fd);
    (void)snprintf(report, sizeof(report), "%s.report", history);
    count_round(so_far);
    if (atomic_load(&shared->odd) > 0) {
        so_far->violations++;
        print_violation(at, round, shared->odd_text);
    }
    if (options.checker[0] == '\0' || !write_history(at, history))
        status = 0;
    else
        status = run_checker(history, report);
    if (status == 1) {
        so_far->violations++;
        print_violation(at, round, history);
    } else if (status != 0) {
        so_far->undecided++;
        printf("%s, round %u: the checker could not decide\n", at->name, round);
    }
    if (status != 0)
        print_file(report);
    (void)unlink(report);
    if (status == 0)
        (void)unlink(history);
    (void)fflush(stdout);
}
