/* SPDX-License-Identifier: Apache-2.0 */
/*
 * child_process.h - a program that runs next to the test and exchanges lines
 * with it through its standard input and output.
 */
#ifndef CHILD_PROCESS_H
#define CHILD_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Longest line a child may print, and how much of it is kept. */
#define CHILD_LINE_SIZE 512

typedef struct child_process {
    pid_t pid; /* 0: not running */
    int in;    /* its standard input */
    int out;   /* its standard output */
    char said[CHILD_LINE_SIZE];
    size_t said_size; /* read but not returned yet */
} child_process;

/* Start argv[0] with its arguments; false: it cannot be started. */
bool child_start(child_process *child, const char *const argv[]);

/* Its next line without the newline; false: none within limit_ms, or the end of
 * its output. */
bool child_line(child_process *child, char line[CHILD_LINE_SIZE],
                int64_t limit_ms);

/* Send it a line. */
bool child_tell(child_process *child, const char *line);

/* Close its input and wait for its end. Returns its exit status, 128 + signal,
 * or -1 if it had to be killed after limit_ms. A second call returns -1. */
int child_end(child_process *child, int64_t limit_ms);

/* SIGKILL, and wait for it. */
void child_kill(child_process *child);

#endif
