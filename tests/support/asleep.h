/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asleep.h - does another thread of this process sleep?
 */
#ifndef TESTS_SUPPORT_ASLEEP_H
#define TESTS_SUPPORT_ASLEEP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Or has it ended? */
static inline bool thread_sleeps(int tid)
{
    char path[64], line[128] = "";
    const char *state;
    FILE *file;

    (void)snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
    file = fopen(path, "re");
    if (file == NULL)
        return true;
    (void)fgets(line, sizeof(line), file);
    (void)fclose(file);
    state = strrchr(line, ')');
    return state != NULL && state[1] == ' ' && state[2] == 'S';
}

/* Wait until a thread sleeps that has said, by its gettid() in `tid`, that it
 * is about to. */
#define await_asleep(tid)                                                      \
    expect_soon(atomic_load(tid) != 0 && thread_sleeps(atomic_load(tid)), 10000)

#endif
