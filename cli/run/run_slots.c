/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_slots.c - holdfast queue work --slots: a process for each job that is
 * worked on at a time.
 *
 * 1. Each slot is forked before the store is opened, and is a worker as if it
 * had been started alone, but for its process group: of the signals from a
 * terminal it gets what we pass on.
 * 2. We wait for them, and pass on signals; one that waits for a job ignores
 *    USR1 and USR2. If one fails, we end the others by TERM.
 * 3. If we die, the kernel tells the slots to end.
 */
#include "run/run.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "complain.h"
#include "exit.h"

struct slots {
    pid_t pids[WORK_SLOTS_MAX]; /* 0: it has ended */
    size_t count;
    size_t running;
    int told_to_end; /* the signal; 0: they were not */
    int code;        /* the first that says of an error, or the least */
    bool failed;
};

static void signal_slots(const struct slots *slots, int signal)
{
    for (size_t i = 0; i < slots->count; i++)
        if (slots->pids[i] > 0)
            kill(slots->pids[i], signal);
}

/* In a slot. */
static void leave_parent(pid_t parent)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    (void)setpgid(0, 0);
    if (getppid() != parent)
        _exit(EXIT_SIGNAL + SIGTERM);
}

/* True in a slot. */
static bool start_slots(struct slots *slots, size_t count)
{
    pid_t parent = getpid(), pid;

    while (slots->count < count) {
        pid = fork();
        if (pid == 0) {
            leave_parent(parent);
            return true;
        }
        if (pid < 0) {
            complain(run_verb, "fork: %s", strerror(errno));
            slots->failed = true;
            slots->code = EXIT_SYSTEM;
            signal_slots(slots, SIGTERM);
            break;
        }
        slots->pids[slots->count++] = pid;
        slots->running++;
    }
    return false;
}

/* 1, no job, matters only if all say so. */
static void note_end(struct slots *slots, pid_t pid, int status)
{
    int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    int code = signal != 0 ? EXIT_SIGNAL + signal : WEXITSTATUS(status);
    bool failed = code > EXIT_NO && slots->told_to_end == 0;

    for (size_t i = 0; i < slots->count; i++)
        if (slots->pids[i] == pid)
            slots->pids[i] = 0;
    slots->running--;
    if (failed && !slots->failed) {
        slots->failed = true;
        slots->code = code;
        signal_slots(slots, SIGTERM);
    } else if (!slots->failed && code < slots->code) {
        slots->code = code;
    }
}

static void reap_slots(struct slots *slots)
{
    int status = 0;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        note_end(slots, pid, status);
}

static void watch_slots(struct slots *slots, const struct signals *signals)
{
    struct pollfd watched = {signals->fd, POLLIN, 0};
    int signal;

    for (reap_slots(slots); slots->running > 0; reap_slots(slots)) {
        (void)poll(&watched, 1, -1);
        while ((signal = signals_next(signals)) != 0) {
            if (signal == SIGCHLD)
                continue;
            if (signals_is_end(signal) && signal != SIGUSR1 &&
                signal != SIGUSR2)
                slots->told_to_end = signal;
            signal_slots(slots, signal);
            if (signal == SIGTSTP)
                (void)signals_stop(false);
        }
    }
}

bool slots_begin(const struct run_plan *plan, int *code)
{
    static struct slots slots = {.code = EXIT_NO};
    struct signals signals;

    if (plan->slots < 2)
        return true;
    /* First: one that ended us after a fork would not be passed on. */
    *code = signals_open(&signals);
    if (*code != EXIT_YES)
        return false;
    if (start_slots(&slots, (size_t)plan->slots)) {
        signals_close(&signals);
        return true;
    }
    watch_slots(&slots, &signals);
    if (slots.told_to_end != 0 && !slots.failed)
        signals_die(slots.told_to_end);
    *code = slots.code;
    return false;
}
