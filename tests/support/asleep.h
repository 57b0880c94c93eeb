/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asleep.h - does another thread of this process sleep?
 */
#ifndef TESTS_SUPPORT_ASLEEP_H
#define TESTS_SUPPORT_ASLEEP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

#include "support/proc_stat.h"

/* Or has it ended? */
static inline bool thread_sleeps(int tid)
{
    char path[64], line[PROC_STAT_SIZE];
    const char *fields;

    (void)snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
    fields = proc_stat(path, line);
    return fields == NULL || fields[0] == 'S';
}

/* Wait until a thread sleeps that has said, by its gettid() in `tid`, that it
 * is about to. */
#define await_asleep(tid)                                                      \
    expect_soon(atomic_load(tid) != 0 && thread_sleeps(atomic_load(tid)), 10000)

#endif
