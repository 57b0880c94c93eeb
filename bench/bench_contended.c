/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_contended.c - many workers, one lock: pairs, fairness, requests and
 * hand-over times of ours and of other libraries, in the same run.
 *
 *     bench_contended [--json] [--quick] [--runs N] [--seconds N]
 *                     [--workers N | --cell N,PAUSE_US,HOLD_US]
 *                     [--peers FOLDER] [LIBRARY...]
 *
 * Each worker holds the lock for 1 ms, then pauses, then acquires it again. A
 * hand-over is measured from before the release of one worker until after the
 * acquire of another. FOLDER is the output of tools/peers.sh; without it only
 * what is in C takes part. Those at the end of the list, among them a store on
 * a disk (below TMPDIR or /var/tmp), take part only if they are named. The
 * server is redis-server, or the one that HF_TEST_SERVER names. Requests are
 * counted by MONITOR after the measured time. --cell: one such cell; programs
 * of other libraries hold for 1 ms all the same. --runs: the last lines say for
 * each target whether the worst of all runs met it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "contended.h"

#define SECONDS 6
#define WARM_UP_MS 1500
#define MONITOR_MS 1000
#define END_WAIT_S 5 /* each waiter gets the lock once more */

static const contended_way ways[] = {
    {"holdfast", true, CONTENDED_TCP, &peer_holdfast, NULL, false},
    {"holdfast-threads", false, CONTENDED_TCP, &peer_holdfast, NULL, false},
    {"redisson", true, CONTENDED_TCP, NULL, "java", false},
    {"redisson-threads", false, CONTENDED_TCP, NULL, "java", false},
    {"rueidislock", true, CONTENDED_TCP, NULL, "contend_rueidislock", false},
    {"redsync", true, CONTENDED_TCP, NULL, "contend_redsync", false},
    {"hiredis", true, CONTENDED_TCP, &peer_hiredis, NULL, false},
    {"embedded", true, CONTENDED_EMBEDDED, &peer_holdfast, NULL, false},
    {"embedded-threads", false, CONTENDED_EMBEDDED, &peer_holdfast, NULL,
     false},
    {"flock", true, CONTENDED_EMBEDDED, &peer_flock, NULL, false},
    {"file", true, CONTENDED_FILE, &peer_holdfast, NULL, true},
    {"fcntl", true, CONTENDED_EMBEDDED, &peer_fcntl, NULL, true},
    {"mutex", true, CONTENDED_EMBEDDED, &peer_mutex, NULL, true},
    {"lmdb", true, CONTENDED_EMBEDDED, &peer_lmdb, NULL, true},
    {"sqlite", true, CONTENDED_EMBEDDED, &peer_sqlite, NULL, true},
};

static const contended_cell cells[] = {
    {2, 0, CONTENDED_HOLD_US},     {10, 0, CONTENDED_HOLD_US},
    {10, 3000, CONTENDED_HOLD_US}, {50, 0, CONTENDED_HOLD_US},
    {50, 3000, CONTENDED_HOLD_US},
};
static const contended_cell quick_cells[] = {{3, 0, CONTENDED_HOLD_US}};

_Static_assert(sizeof(ways) / sizeof(ways[0]) == CONTENDED_WAYS, "ways");
_Static_assert(sizeof(cells) / sizeof(cells[0]) == CONTENDED_CELLS, "cells");

typedef struct contended_order {
    bench_run run;
    int runs;
    int seconds;
    int workers;         /* only so many; 0: all cells */
    contended_cell only; /* this one; no workers: those of the table */
    const char *peers;
    bool any; /* some ways are chosen */
    bool chosen[CONTENDED_WAYS];
} contended_order;

typedef struct place {
    const contended_order *order;
    redis_server *server;
    const char *directory; /* in /dev/shm */
    const char *disk;
    char board_path[BENCH_PATH_SIZE];
    contended_board *board;
} place;

/* -------------------------------------------------------------- one reading */

/* What is known at one instant. */
typedef struct crew_reading {
    double at_s;
    double server_s;
    double crew_s;
    uint64_t acquired;
    uint64_t held_ns;
    uint64_t each[CONTENDED_WORKERS_MAX];
} crew_reading;

static double server_cpu_s(redis_server *server)
{
    static char answer[8192];
    const char *user, *system;

    if (!redis_server_command(server, "INFO cpu", answer, sizeof(answer)))
        return 0;
    user = strstr(answer, "used_cpu_user:");
    system = strstr(answer, "used_cpu_sys:");
    return user == NULL || system == NULL
               ? 0
               : strtod(user + 14, NULL) + strtod(system + 13, NULL);
}

static void read_now(const place *at, const contended_way *way,
                     const contended_crew *crew, int workers, crew_reading *now)
{
    const contended_board *board = at->board;

    memset(now, 0, sizeof(*now));
    if (way->store == CONTENDED_TCP)
        now->server_s = server_cpu_s(at->server);
    now->crew_s = contended_crew_cpu_s(crew);
    now->at_s = bench_now_s();
    now->acquired = board->acquired;
    for (int i = 0; i < workers; i++) {
        now->each[i] = board->workers[i].acquired;
        now->held_ns += board->workers[i].held_ns;
    }
}

static int by_size(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* Of the acquisitions first..last-1: those that changed hands. */
static void read_log(const contended_board *board, uint64_t first,
                     uint64_t last, contended_figures *figures)
{
    static uint32_t times[CONTENDED_LOG_MAX];
    size_t count = 0;

    /* Before the first there was no release. */
    for (uint64_t i = first > 0 ? first : 1; i < last && i < CONTENDED_LOG_MAX;
         i++) {
        if (board->log[i] != 0)
            times[count++] = board->log[i];
    }
    if (count == 0)
        return;
    qsort(times, count, sizeof(times[0]), by_size);
    figures->changed = (double)count / (double)(last - first);
    figures->p50_us = times[count / 2] / 1e3;
    figures->p99_us = times[count * 99 / 100] / 1e3;
    for (size_t i = 0; i < count; i++)
        figures->late += times[i] > CONTENDED_LATE_NS;
    figures->late /= (double)count;
}

static void compute_figures(const place *at, const contended_cell *cell,
                            const crew_reading *from, const crew_reading *to,
                            contended_figures *figures)
{
    double pairs = (double)(to->acquired - from->acquired);

    if (pairs == 0)
        return;
    figures->pairs_per_s = pairs / (to->at_s - from->at_s);
    figures->server_us = (to->server_s - from->server_s) * 1e6 / pairs;
    figures->client_us = (to->crew_s - from->crew_s) * 1e6 / pairs;
    figures->held_us = (double)(to->held_ns - from->held_ns) / 1e3 / pairs;
    figures->least = UINT64_MAX;
    for (int i = 0; i < cell->workers; i++) {
        uint64_t one = to->each[i] - from->each[i];

        figures->least = one < figures->least ? one : figures->least;
        figures->most = one > figures->most ? one : figures->most;
    }
    read_log(at->board, from->acquired, to->acquired, figures);
}

static void rest_ms(int ms)
{
    struct timespec time = {ms / 1000, ms % 1000 * 1000000L};

    nanosleep(&time, NULL);
}

static void measure_cell(const place *at, const contended_way *way,
                         const contended_cell *cell, const contended_crew *crew,
                         contended_figures *figures)
{
    bool quick = at->order->run.quick, tcp = way->store == CONTENDED_TCP;
    int measured_ms = quick ? 30 : at->order->seconds * 1000;
    int monitor_ms = quick ? 30 : MONITOR_MS;
    int warm_up_ms = quick ? 5 : WARM_UP_MS;
    int all_ms = warm_up_ms + measured_ms + (tcp ? monitor_ms : 0) + 20;
    static crew_reading from, to;

    at->board->stop_ns = contended_now_ns() + (uint64_t)all_ms * 1000000;
    rest_ms(warm_up_ms);
    read_now(at, way, crew, cell->workers, &from);
    rest_ms(measured_ms);
    read_now(at, way, crew, cell->workers, &to);
    compute_figures(at, cell, &from, &to, figures);
    if (tcp) {
        uint64_t before = at->board->acquired;
        long requests =
            contended_count_requests(redis_server_port(at->server), monitor_ms);

        if (at->board->acquired > before)
            figures->requests =
                (double)requests / (double)(at->board->acquired - before);
    }
}

/* ------------------------------------------------------------------ one cell
 */

/* The words before the arguments; NULL: there is no program. */
static const char *const *program_of(const place *at, const contended_way *way)
{
    static char path[2 * BENCH_PATH_SIZE];
    static const char *words[8];
    const char *peers = at->order->peers;

    if (way->program == NULL)
        return NULL;
    memset(words, 0, sizeof(words));
    if (strcmp(way->program, "java") == 0) {
        snprintf(path, sizeof(path), "%s/java:%s/java/lib/*", peers, peers);
        words[0] = "java";
        words[1] = "-XX:+UseSerialGC";
        words[2] = "-cp";
        words[3] = path;
        words[4] = "Contend";
    } else {
        snprintf(path, sizeof(path), "%s/bin/%s", peers, way->program);
        words[0] = path;
    }
    return words;
}

static void format_url(char *url, size_t size, const place *at,
                       const contended_way *way, const contended_cell *cell)
{
    bool on_disk = way->store == CONTENDED_FILE;

    if (way->store == CONTENDED_TCP)
        snprintf(url, size, "%s", redis_server_tcp_url(at->server));
    else
        snprintf(url, size, "%s:%s/%s-%d-%d", on_disk ? "file" : "volatile",
                 on_disk ? at->disk : at->directory, way->name, cell->workers,
                 cell->pause_us);
}

static bool run_cell(const place *at, const contended_way *way,
                     const contended_cell *cell, contended_figures *figures)
{
    char url[2 * BENCH_PATH_SIZE], answer[64];
    contended_task task = {.board = at->board,
                           .board_path = at->board_path,
                           .place = {.url = url,
                                     .directory = at->directory,
                                     .port = redis_server_port(at->server)},
                           .workers = cell->workers,
                           .pause_us = cell->pause_us,
                           .hold_us = cell->hold_us,
                           .apart = way->apart};
    contended_crew crew;
    bool ok;

    memset(figures, 0, sizeof(*figures));
    format_url(url, sizeof(url), at, way, cell);
    ok = redis_server_command(at->server, "FLUSHALL", answer, sizeof(answer)) &&
         contended_start(&crew, &task, way->library, program_of(at, way));
    if (ok)
        measure_cell(at, way, cell, &crew, figures);
    ok = contended_end(&crew, ok ? END_WAIT_S : 0) && ok;
    figures->overlaps = at->board->overlaps;
    figures->measured = ok;
    if (figures->overlaps > 0)
        bench_fail("%s: %llu times two workers held the lock", way->name,
                   (unsigned long long)figures->overlaps);
    return (ok && figures->overlaps == 0) ||
           bench_fail("%s, %d workers, failed", way->name, cell->workers);
}

static void print_cell(const bench_run *run, const contended_way *way,
                       const contended_cell *cell, const contended_figures *one)
{
    printf(run->json
               ? "{\"bench\":\"contended\",\"way\":\"%s\",\"workers\":%d,"
                 "\"pause_ms\":%d,\"pairs_per_s\":%.1f,\"least\":%llu,"
                 "\"most\":%llu,\"requests\":%.3f,\"changed\":%.3f,"
                 "\"p50_us\":%.1f,\"p99_us\":%.1f,\"late\":%.4f,\"server_cpu_"
                 "us\":%.1f,"
                 "\"client_cpu_us\":%.1f,\"held_us\":%.1f}\n"
               : "%-16s %2d workers, pause %d ms: %6.1f pairs/s, %4llu..%-4llu "
                 "a worker, %6.2f requests a pair, change of hands %5.3f, "
                 "p50 %7.1f p99 %8.1f us, %.4f above 2.5 ms, CPU us a pair: "
                 "server %6.1f, clients "
                 "%6.1f; held %.0f us\n",
           way->name, cell->workers, cell->pause_us / 1000, one->pairs_per_s,
           (unsigned long long)one->least, (unsigned long long)one->most,
           one->requests, one->changed, one->p50_us, one->p99_us, one->late,
           one->server_us, one->client_us, one->held_us);
    fflush(stdout);
}

/* ---------------------------------------------------------------------- runs
 */

static bool takes_part(const contended_order *order, int way)
{
    if (order->any)
        return order->chosen[way];
    return !ways[way].named &&
           (ways[way].program == NULL || order->peers != NULL);
}

static bool run_once(const place *at, contended_results *results)
{
    const contended_order *order = at->order;
    bool one = order->run.quick || order->only.workers > 0;
    int count = one ? 1 : CONTENDED_CELLS;
    bool ok = true;

    for (int cell = 0; cell < count; cell++) {
        const contended_cell *shape = order->only.workers > 0 ? &order->only
                                      : order->run.quick ? &quick_cells[cell]
                                                         : &cells[cell];

        if (order->workers != 0 && order->workers != shape->workers)
            continue;
        for (int way = 0; way < CONTENDED_WAYS; way++) {
            contended_figures *figures = &results->of[way][cell];

            if (!takes_part(order, way))
                continue;
            if (!run_cell(at, &ways[way], shape, figures))
                ok = false;
            else
                print_cell(&order->run, &ways[way], shape, figures);
        }
    }
    return ok;
}

static bool run_all(place *at)
{
    static contended_results results;
    static contended_verdict verdict;
    const contended_order *order = at->order;
    bool ok = true;

    snprintf(at->board_path, sizeof(at->board_path), "%s/board", at->directory);
    at->board = contended_board_new(at->board_path);
    for (int i = 0; i < order->runs && at->board != NULL; i++) {
        memset(&results, 0, sizeof(results));
        ok = run_once(at, &results) && ok;
        contended_judge(&verdict, ways, cells, &results);
    }
    if (at->board == NULL)
        return false;
    if (!order->run.quick && order->only.workers == 0)
        contended_print_verdict(&verdict, &order->run, order->runs);
    munmap(at->board, sizeof(*at->board));
    return ok;
}

static bool read_cell(contended_cell *cell, const char *text)
{
    return sscanf(text, "%d,%d,%d", &cell->workers, &cell->pause_us,
                  &cell->hold_us) == 3 &&
           cell->workers > 0 && cell->workers <= CONTENDED_WORKERS_MAX;
}

static bool read_option(contended_order *self, const char *word,
                        const char *value)
{
    if (strcmp(word, "--peers") == 0 && value != NULL)
        self->peers = value;
    else if (strcmp(word, "--runs") == 0 && value != NULL)
        self->runs = (int)strtoll(value, NULL, 10);
    else if (strcmp(word, "--seconds") == 0 && value != NULL)
        self->seconds = (int)strtoll(value, NULL, 10);
    else if (strcmp(word, "--workers") == 0 && value != NULL)
        self->workers = (int)strtoll(value, NULL, 10);
    else if (strcmp(word, "--cell") == 0 && value != NULL)
        return read_cell(&self->only, value);
    else
        return false;
    return self->runs > 0 && self->seconds > 0 &&
           self->seconds <= CONTENDED_LOG_MAX / 100000 * 6;
}

static bool read_words(contended_order *self, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        bool known = false;

        if (strcmp(argv[i], "--json") == 0)
            known = self->run.json = true;
        if (strcmp(argv[i], "--quick") == 0)
            known = self->run.quick = true;
        for (int way = 0; way < CONTENDED_WAYS && !known; way++) {
            if (strcmp(argv[i], ways[way].name) == 0)
                known = self->any = self->chosen[way] = true;
        }
        if (!known && !read_option(self, argv[i], argv[i + 1]))
            return false;
        if (!known)
            i++;
    }
    return true;
}

int main(int argc, char **argv)
{
    contended_order order = {.runs = 1, .seconds = SECONDS};
    place at = {.order = &order};
    const char *disk = getenv("TMPDIR");
    char *directory, *disk_directory;
    bool ok = false;

    if (!read_words(&order, argc, argv)) {
        fputs("usage: bench_contended [--json] [--quick] [--runs N] "
              "[--seconds N] [--workers N | --cell N,PAUSE_US,HOLD_US] "
              "[--peers FOLDER] [LIBRARY...]\n"
              "libraries:",
              stderr);
        for (int i = 0; i < CONTENDED_WAYS; i++)
            fprintf(stderr, " %s", ways[i].name);
        fputc('\n', stderr);
        return 64;
    }
    directory = bench_make_directory("/dev/shm");
    disk_directory = bench_make_directory(disk != NULL ? disk : "/var/tmp");
    at.directory = directory;
    at.disk = disk_directory;
    at.server = redis_server_start(NULL);
    if (directory != NULL && disk_directory != NULL && at.server != NULL)
        ok = run_all(&at);
    redis_server_stop(at.server);
    bench_remove_directory(directory);
    bench_remove_directory(disk_directory);
    return ok ? 0 : 1;
}
