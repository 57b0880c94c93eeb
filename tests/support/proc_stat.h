/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proc_stat.h - what /proc says of a process or of a thread, see proc(5).
 */
#ifndef TESTS_SUPPORT_PROC_STAT_H
#define TESTS_SUPPORT_PROC_STAT_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define PROC_STAT_SIZE 1024

/* The fields of a file `stat` from the state on, which follows the name; NULL:
 * there is no such file, as what it is about has ended. */
static inline const char *proc_stat(const char *path, char line[PROC_STAT_SIZE])
{
    FILE *file = fopen(path, "re");
    const char *name_end;

    if (file == NULL)
        return NULL;
    line[0] = '\0';
    (void)!fgets(line, PROC_STAT_SIZE, file);
    (void)fclose(file);
    name_end = strrchr(line, ')');
    return name_end != NULL && name_end[1] == ' ' ? name_end + 2 : NULL;
}

/* Processor time of a process, and of those of its children that it has waited
 * for, s. */
static inline bool proc_cpu_s(pid_t pid, double *own_s, double *children_s)
{
    unsigned long ticks[4];
    char path[64], line[PROC_STAT_SIZE];
    double per_s = (double)sysconf(_SC_CLK_TCK);
    const char *fields;

    (void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    fields = proc_stat(path, line);
    if (fields == NULL ||
        sscanf(fields,
               "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %lu %lu",
               &ticks[0], &ticks[1], &ticks[2], &ticks[3]) != 4)
        return false;
    *own_s = (double)(ticks[0] + ticks[1]) / per_s;
    *children_s = (double)(ticks[2] + ticks[3]) / per_s;
    return true;
}

#endif
