/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wall_clock_shim.c - the wall clock of a process, with an offset that can be
 * changed while it runs. Preloaded into servers (LD_PRELOAD), and linked into
 * test programs that use an embedded store.
 *
 * Only the wall clock: CLOCK_MONOTONIC and CLOCK_BOOTTIME are those of the
 * system.
 */
#include "support/wall_clock_shim.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define US_PER_S 1000000

static const wall_clock_offset *_Atomic current; /* NULL: none */

void wall_clock_shim_use(const wall_clock_offset *offset)
{
    current = offset;
}

__attribute__((constructor)) static void find_offset(void)
{
    const char *path = getenv(WALL_CLOCK_FILE);
    int fd = path != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    void *map = MAP_FAILED;

    if (fd >= 0)
        map = mmap(NULL, sizeof(*current), PROT_READ, MAP_SHARED, fd, 0);
    if (map != MAP_FAILED)
        current = map;
    if (fd >= 0)
        (void)close(fd);
}

static long long moved_us(const struct timespec *now)
{
    const wall_clock_offset *offset = current;
    long long us = (long long)now->tv_sec * US_PER_S + now->tv_nsec / 1000;

    return us + (offset != NULL ? atomic_load(&offset->us) : 0);
}

/* A system call, as the function of the C library is this one. */
int clock_gettime(clockid_t clock, struct timespec *now)
{
    long result = syscall(SYS_clock_gettime, clock, now);

    if (result == 0 && current != NULL &&
        (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
        long long us = moved_us(now);

        now->tv_sec = (time_t)(us / US_PER_S);
        now->tv_nsec = (long)(us % US_PER_S) * 1000 + now->tv_nsec % 1000;
    }
    return (int)result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    struct timespec precise;

    (void)zone;
    (void)clock_gettime(CLOCK_REALTIME, &precise);
    now->tv_sec = precise.tv_sec;
    now->tv_usec = precise.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *seconds)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    if (seconds != NULL)
        *seconds = now.tv_sec;
    return now.tv_sec;
}
