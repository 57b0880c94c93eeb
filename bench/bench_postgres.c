/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_postgres.c - pairs of acquire and release of one lock by several
 * processes, on a PostgreSQL of its own: Holdfast, a lease by INSERT ... ON
 * CONFLICT and DELETE with polls, as ShedLock has it, a row that is selected
 * FOR UPDATE until its transaction ends, and pg_advisory_lock. Each round has
 * all. Trips are calls of the functions, as the server counts them. A wake-up
 * is from the beginning of a release until another process has the lock.
 * Processor time is that of the programs, and of their sessions in the server.
 *
 *     bench_postgres [ROUNDS [SECONDS [PROCESSES]]]
 */
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "holdfast/client.h"
#include "holdfast/lock.h"
#include "support/postgres_server.h"
#include "support/proc_stat.h"
#include "util/clock.h"

#define POLL_US 10000
#define PROCESSES_MAX 50
#define WAKES 65536

typedef enum way { HOLDFAST, LEASE, FOR_UPDATE, ADVISORY, WAYS } way;
static const char *const names[] = {"holdfast", "on conflict", "for update",
                                    "advisory"};

typedef struct result {
    long pairs;
    double seconds;
} result;

/* Shared by the processes; who has the lock writes. */
typedef struct wakes {
    int64_t released_us;
    pid_t released_by;
    size_t count;
    int32_t us[WAKES];
} wakes;

static wakes *all_wakes;
static const char *url;
static double seconds = 4;
static long postmaster;

static void fail_bench(const char *what, const char *why)
{
    fprintf(stderr, "bench_postgres: %s: %s\n", what, why);
    _exit(1);
}

static PGconn *connect_bench(void)
{
    PGconn *conn = PQconnectdb(url);

    if (PQstatus(conn) != CONNECTION_OK)
        fail_bench("connect", PQerrorMessage(conn));
    return conn;
}

/* Rows that were affected, or the only value. */
static long run_sql(PGconn *conn, const char *sql)
{
    PGresult *done = PQexec(conn, sql);
    ExecStatusType status = PQresultStatus(done);
    long number = 0;

    if (status == PGRES_TUPLES_OK && PQntuples(done) > 0)
        number = strtol(PQgetvalue(done, 0, 0), NULL, 10);
    else if (status == PGRES_COMMAND_OK)
        number = strtol(PQcmdTuples(done), NULL, 10);
    else if (status != PGRES_TUPLES_OK)
        fail_bench(sql, PQerrorMessage(conn));
    PQclear(done);
    return number;
}

static long count_trips(PGconn *conn)
{
    (void)sleep(1); /* until the server has counted */
    return run_sql(conn, "SELECT sum(calls) FROM pg_stat_user_functions WHERE "
                         "funcname IN ('read_records', 'commit_records')");
}

static void note_acquired(void)
{
    if (all_wakes->released_us != 0 && all_wakes->released_by != getpid() &&
        all_wakes->count < WAKES)
        all_wakes->us[all_wakes->count++] =
            (int32_t)(hf__clock_boot_us() - all_wakes->released_us);
}

static void note_releases(void)
{
    all_wakes->released_us = hf__clock_boot_us();
    all_wakes->released_by = getpid();
}

/* ---------------------------------------------------------------- the ways */

static long pairs_holdfast(int64_t until_us)
{
    hf_error err = HF_ERROR_INIT;
    hf_client *client;
    hf_lock *lock;
    long pairs = 0;

    if (hf_client_open(url, NULL, &client, &err) != HF_OK ||
        hf_lock_new(client, hf_str("lock"), NULL, &lock, &err) != HF_OK)
        fail_bench("open", err.message);
    while (hf__clock_boot_us() < until_us) {
        if (hf_lock_acquire(lock, 20000, &err) != HF_OK)
            fail_bench("acquire", err.message);
        note_acquired();
        note_releases();
        if (hf_lock_release(lock, &err) != HF_OK)
            fail_bench("release", err.message);
        pairs++;
    }
    hf_lock_free(lock);
    hf_client_close(client);
    return pairs;
}

static long pairs_lease(int64_t until_us)
{
    PGconn *conn = connect_bench();
    long pairs = 0;

    while (hf__clock_boot_us() < until_us) {
        if (run_sql(conn, "INSERT INTO leases VALUES ('lock', now() + interval "
                          "'10 s') ON CONFLICT (name) DO UPDATE SET until = "
                          "excluded.until WHERE leases.until < now()") == 0) {
            (void)usleep(POLL_US);
            continue;
        }
        note_acquired();
        note_releases();
        (void)run_sql(conn, "DELETE FROM leases WHERE name = 'lock'");
        pairs++;
    }
    PQfinish(conn);
    return pairs;
}

static long pairs_for_update(int64_t until_us)
{
    PGconn *conn = connect_bench();
    long pairs = 0;

    while (hf__clock_boot_us() < until_us) {
        (void)run_sql(conn, "BEGIN");
        (void)run_sql(conn,
                      "SELECT 1 FROM rows WHERE name = 'lock' FOR UPDATE");
        note_acquired();
        note_releases();
        (void)run_sql(conn, "COMMIT");
        pairs++;
    }
    PQfinish(conn);
    return pairs;
}

static long pairs_advisory(int64_t until_us)
{
    PGconn *conn = connect_bench();
    long pairs = 0;

    while (hf__clock_boot_us() < until_us) {
        (void)run_sql(conn, "SELECT pg_advisory_lock(1)");
        note_acquired();
        note_releases();
        (void)run_sql(conn, "SELECT pg_advisory_unlock(1)");
        pairs++;
    }
    PQfinish(conn);
    return pairs;
}

static void run_worker(way how, int out)
{
    static long (*const ways[])(int64_t) = {pairs_holdfast, pairs_lease,
                                            pairs_for_update, pairs_advisory};
    int64_t began_us = hf__clock_boot_us();
    result got = {.pairs = ways[how](began_us + (int64_t)(seconds * 1e6))};

    got.seconds = (double)(hf__clock_boot_us() - began_us) / 1e6;
    if (write(out, &got, sizeof(got)) != sizeof(got))
        _exit(1);
    _exit(0);
}

/* ------------------------------------------------------------------ figures */

static int order_us(const void *one, const void *other)
{
    int32_t a = *(const int32_t *)one;
    int32_t b = *(const int32_t *)other;

    return (a > b) - (a < b);
}

static void print_wakes(void)
{
    size_t count = all_wakes->count;

    if (count == 0)
        return;
    qsort(all_wakes->us, count, sizeof(all_wakes->us[0]), order_us);
    printf(", wake-up p50 %.2f p99 %.2f ms",
           (double)all_wakes->us[count / 2] / 1e3,
           (double)all_wakes->us[count * 99 / 100] / 1e3);
}

/* Of all programs that have ended, us. */
static double programs_us(void)
{
    struct rusage used;

    (void)getrusage(RUSAGE_CHILDREN, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e6 +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

/* Of all sessions that have ended, us: the server waits for them. */
static double sessions_us(void)
{
    double own_s, children_s;

    if (!proc_cpu_s((pid_t)postmaster, &own_s, &children_s))
        fail_bench("/proc", "cannot be read");
    return children_s * 1e6;
}

static void run_figure(PGconn *conn, way how, int processes)
{
    long trips = count_trips(conn);
    double client_us = programs_us();
    double server_us = sessions_us();
    long least = -1;
    long most = 0;
    result sum = {0, 0};
    result one;
    pid_t workers[PROCESSES_MAX];
    int ends[2];

    all_wakes->released_us = 0;
    all_wakes->count = 0;
    if (pipe(ends) != 0)
        fail_bench("pipe", "");
    for (int i = 0; i < processes; i++) {
        workers[i] = fork();
        if (workers[i] == 0)
            run_worker(how, ends[1]);
    }
    close(ends[1]);
    while (read(ends[0], &one, sizeof(one)) == (ssize_t)sizeof(one)) {
        sum.pairs += one.pairs;
        sum.seconds = one.seconds > sum.seconds ? one.seconds : sum.seconds;
        least = least < 0 || one.pairs < least ? one.pairs : least;
        most = one.pairs > most ? one.pairs : most;
    }
    close(ends[0]);
    for (int i = 0; i < processes; i++)
        (void)waitpid(workers[i], NULL, 0);
    trips = count_trips(conn) - trips;
    printf("%-12s %2d processes: %7.0f pairs/s, each %ld to %ld", names[how],
           processes, (double)sum.pairs / sum.seconds, least, most);
    if (how == HOLDFAST)
        printf(", %.2f trips a pair", (double)trips / (double)sum.pairs);
    print_wakes();
    printf(", CPU us a pair: client %.0f, server %.0f\n",
           (programs_us() - client_us) / (double)sum.pairs,
           (sessions_us() - server_us) / (double)sum.pairs);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static const int processes[] = {1, 2, 10, PROCESSES_MAX};
    long only = argc > 3 ? strtol(argv[3], NULL, 10) : 0;
    long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 3;
    postgres_server *server = postgres_server_start(true);
    PGconn *conn;

    if (argc > 2)
        seconds = strtod(argv[2], NULL);
    all_wakes = mmap(NULL, sizeof(*all_wakes), PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (server == NULL || all_wakes == MAP_FAILED)
        return 1;
    url = postgres_server_url(server);
    if (!postgres_server_run(server, "ALTER SYSTEM SET track_functions = pl") ||
        !postgres_server_restart(server))
        return 1;
    conn = connect_bench();
    (void)run_sql(conn, "CREATE TABLE leases(name text PRIMARY KEY, until "
                        "timestamptz NOT NULL);"
                        "CREATE TABLE rows(name text PRIMARY KEY);"
                        "INSERT INTO rows VALUES ('lock')");
    postmaster = run_sql(conn, "SELECT split_part(pg_read_file("
                               "'postmaster.pid'), chr(10), 1)");
    for (long round = 0; round < rounds; round++) {
        for (size_t i = 0; i < sizeof(processes) / sizeof(processes[0]); i++) {
            if (only > 0 && processes[i] != only)
                continue;
            for (int how = HOLDFAST; how < WAYS; how++)
                run_figure(conn, (way)how, processes[i]);
        }
    }
    PQfinish(conn);
    postgres_server_stop(server);
    return 0;
}
