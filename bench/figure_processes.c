/* SPDX-License-Identifier: Apache-2.0 */
/*
 * figure_processes.c - lock pairs of two processes on one store, each with its
 * own locks, against one of them alone.
 *
 * The workers read from a pipe how long to run, 0 to end, and write to another
 * how fast they were. (They could not wait for the end of the pipe: the second
 * has inherited the first one's.)
 */
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "figures.h"
#include "lock_pairs.h"

#define WORKERS 2

typedef struct child_worker {
    pid_t pid;
    int order_fd; /* slice_ms to it */
    int reply_fd; /* ops_per_s from it */
} child_worker;

typedef struct crew {
    child_worker workers[WORKERS];
} crew;

static double run_pairs_for(lock_pairs *pairs, int slice_ms)
{
    double start = bench_now_s(), spent = 0;
    int64_t done = 0;

    while (spent < slice_ms / 1e3) {
        if (!lock_pairs_run(pairs, 100))
            return -1;
        done += 100;
        spent = bench_now_s() - start;
    }
    return (double)done / spent;
}

static void run_worker(const char *url, int number, int order_fd, int reply_fd)
{
    bench_load load = {"volatile", BENCH_LOCKS_MAX / 2, 0, true};
    lock_pairs pairs = {.first = number * load.locks};
    double ops_per_s = -1;
    int slice_ms;

    if (number == 0)
        load.others = 100000;
    if (lock_pairs_open(&pairs, url, &load))
        ops_per_s = 0;
    while (write(reply_fd, &ops_per_s, sizeof(ops_per_s)) ==
               (ssize_t)sizeof(ops_per_s) &&
           read(order_fd, &slice_ms, sizeof(slice_ms)) ==
               (ssize_t)sizeof(slice_ms) &&
           slice_ms > 0)
        ops_per_s = run_pairs_for(&pairs, slice_ms);
    lock_pairs_close(&pairs);
}

/* Start one and wait until it is ready. */
static bool start_worker(child_worker *self, const char *url, int number)
{
    int orders[2], replies[2];
    double ready;

    if (pipe(orders) != 0 || pipe(replies) != 0)
        return bench_fail("cannot create a pipe");
    self->pid = fork();
    if (self->pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(orders[1]);
        close(replies[0]);
        run_worker(url, number, orders[0], replies[1]);
        _exit(0);
    }
    close(orders[0]);
    close(replies[1]);
    self->order_fd = orders[1];
    self->reply_fd = replies[0];
    return self->pid > 0 &&
           read(self->reply_fd, &ready, sizeof(ready)) ==
               (ssize_t)sizeof(ready) &&
           ready >= 0;
}

static void stop_worker(child_worker *self)
{
    const int end = 0;

    if (self->pid <= 0)
        return;
    if (write(self->order_fd, &end, sizeof(end)) != (ssize_t)sizeof(end))
        (void)kill(self->pid, SIGKILL);
    close(self->order_fd);
    close(self->reply_fd);
    (void)waitpid(self->pid, NULL, 0);
}

static bool run_workers(crew *self, int count, int slice_ms, double *ops_per_s)
{
    double one;

    *ops_per_s = 0;
    for (int i = 0; i < count; i++) {
        if (write(self->workers[i].order_fd, &slice_ms, sizeof(slice_ms)) !=
            (ssize_t)sizeof(slice_ms))
            return bench_fail("a worker has ended");
    }
    for (int i = 0; i < count; i++) {
        if (read(self->workers[i].reply_fd, &one, sizeof(one)) !=
                (ssize_t)sizeof(one) ||
            one < 0)
            return bench_fail("a worker failed");
        *ops_per_s += one;
    }
    return true;
}

static bool run_both(void *user, int slice_ms, double *ops_per_s)
{
    return run_workers(user, WORKERS, slice_ms, ops_per_s);
}

static bool run_one(void *user, int slice_ms, double *ops_per_s)
{
    return run_workers(user, 1, slice_ms, ops_per_s);
}

bool figure_two_processes(const bench_run *run)
{
    const bench_figure figure = {.name = "two_processes",
                                 .store = "volatile",
                                 .ceiling = "one process",
                                 .threads = WORKERS,
                                 .asked_ratio = 0.9};
    crew both = {0};
    const bench_subject two = {.timed = run_both, .user = &both};
    const bench_subject one = {.timed = run_one, .user = &both};
    char url[BENCH_PATH_SIZE];
    bench_result result;
    bool ok = true;

    snprintf(url, sizeof(url), "volatile:%s/two", run->memory);
    for (int i = 0; i < WORKERS && ok; i++)
        ok = start_worker(&both.workers[i], url, i);
    ok = ok && bench_compare(run, &two, &one, &result);
    if (ok)
        bench_print(run, &figure, &result);
    for (int i = 0; i < WORKERS; i++)
        stop_worker(&both.workers[i]);
    return ok;
}
