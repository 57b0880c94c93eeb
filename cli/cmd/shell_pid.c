/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shell_pid.c - the process that a script is run by.
 *
 * In `lock=$(holdfast lock acquire NAME)` some shells put a subshell between
 * themselves and us. It ends with us, and its standard output is the pipe that
 * ours is. It is a fork of the shell: its arguments are at the same addresses,
 * which differ from process to process after exec (address space layout
 * randomization). What has that pipe and is no such fork may be a program that
 * runs us (timeout, sudo) or a script in a pipeline: then we cannot tell.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cmd/keeper.h"

/* Subshells in subshells. */
#define CLIMB_MAX 8

struct process {
    pid_t parent;
    unsigned long long began; /* clock ticks after boot */
    unsigned long long stack, arguments, environment;
};

/* Fields of /proc/PID/stat, from 1; the second is in parentheses. */
enum { F_PARENT = 4, F_BEGAN = 22, F_STACK = 28, F_ARGS = 48, F_ENV = 50 };

static void take_field(struct process *process, int field,
                       unsigned long long value)
{
    if (field == F_PARENT)
        process->parent = (pid_t)value;
    else if (field == F_BEGAN)
        process->began = value;
    else if (field == F_STACK)
        process->stack = value;
    else if (field == F_ARGS)
        process->arguments = value;
    else if (field == F_ENV)
        process->environment = value;
}

static bool read_process(pid_t pid, struct process *process)
{
    char path[32], line[1024];
    char *at = NULL, *rest = NULL;
    size_t size = 0;
    FILE *file;

    memset(process, 0, sizeof(*process));
    (void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    file = fopen(path, "re");
    if (file == NULL)
        return false;
    size = fread(line, 1, sizeof(line) - 1, file);
    fclose(file);
    line[size] = '\0';
    at = strrchr(line, ')');
    if (at == NULL)
        return false;
    at = strtok_r(at + 1, " ", &rest);
    for (int field = 3; at != NULL; field++) {
        take_field(process, field, strtoull(at, NULL, 10));
        at = strtok_r(NULL, " ", &rest);
    }
    return true;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool is_fork(pid_t pid, pid_t parent)
{
    struct process one, two;
    char path[32];
    struct stat exe[2];

    (void)snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
    if (stat(path, &exe[0]) != 0)
        return false;
    (void)snprintf(path, sizeof(path), "/proc/%d/exe", (int)parent);
    return stat(path, &exe[1]) == 0 && same_file(&exe[0], &exe[1]) &&
           read_process(pid, &one) && read_process(parent, &two) &&
           one.arguments != 0 && one.stack == two.stack &&
           one.arguments == two.arguments && one.environment == two.environment;
}

/* Does it write to the pipe that we write to? */
static bool has_our_pipe(pid_t pid)
{
    char path[32];
    struct stat ours, its;

    (void)snprintf(path, sizeof(path), "/proc/%d/fd/1", (int)pid);
    return fstat(STDOUT_FILENO, &ours) == 0 && S_ISFIFO(ours.st_mode) &&
           stat(path, &its) == 0 && same_file(&ours, &its);
}

pid_t shell_find(int *pidfd)
{
    pid_t pid = getppid();
    struct process process;

    for (int i = 0; i < CLIMB_MAX && has_our_pipe(pid); i++) {
        if (!read_process(pid, &process) || !is_fork(pid, process.parent))
            return 0;
        pid = process.parent;
    }
    if (getsid(pid) != getsid(0))
        return 0; /* the shell has ended, and this process adopted us */
    *pidfd = (int)syscall(SYS_pidfd_open, pid, 0U);
    return pid;
}
