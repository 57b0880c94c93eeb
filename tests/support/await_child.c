/* SPDX-License-Identifier: Apache-2.0 */
/* await_child.c - see await_child.h. */
#include "support/await_child.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Longer than any child takes under a sanitizer, and much shorter than the
 * limit of a test. */
#define LONGEST_S 240

static time_t now_s(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

pid_t await_child(pid_t pid, int *status)
{
    time_t until_s = now_s() + LONGEST_S;
    pid_t ended;

    do {
        ended = waitpid(pid, status, WNOHANG);
        if (ended > 0 || (ended < 0 && errno != EINTR))
            return ended;
        (void)usleep(1000);
    } while (now_s() < until_s);
    (void)fprintf(stderr, "process %d has not ended after %d s: killed\n",
                  (int)pid, LONGEST_S);
    (void)kill(pid, SIGKILL);
    return waitpid(pid, status, 0);
}
