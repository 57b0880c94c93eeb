/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quiet_fork.c - fork() under AddressSanitizer, put in place of the real one by
 * the linker (--wrap).
 *
 * The sanitizer of gcc before 14 does not hold the locks of its allocator
 * during fork(). If another thread has one at that instant, even a thread that
 * only starts, the child hangs at its first malloc(). So all others must sleep.
 */
#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

#include "support/asleep.h"

/* Then the other threads have work, and do not just start. */
#define LONGEST_MS 500

pid_t __real_fork(void);
pid_t __wrap_fork(void);

static bool others_sleep(void)
{
    DIR *tasks = opendir("/proc/self/task");
    const struct dirent *entry;
    bool quiet = true;
    char own[16];

    (void)snprintf(own, sizeof(own), "%d", (int)gettid());
    while (tasks != NULL && quiet && (entry = readdir(tasks)) != NULL)
        quiet = entry->d_name[0] == '.' || strcmp(entry->d_name, own) == 0 ||
                thread_sleeps((int)strtol(entry->d_name, NULL, 10));
    if (tasks != NULL)
        (void)closedir(tasks);
    return quiet;
}

pid_t __wrap_fork(void)
{
    for (int i = 0; i < LONGEST_MS && !others_sleep(); i++)
        (void)usleep(1000);
    return __real_fork();
}
