/* SPDX-License-Identifier: Apache-2.0 */
/* wall_clock.c - see wall_clock.h: the offset is a number in a shared file. */
#include "support/wall_clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/wall_clock_shim.h"

struct wall_clock {
    char path[48];
    wall_clock_offset *offset;
};

static void *map_file(char *path)
{
    int fd = mkstemp(path);
    void *map = MAP_FAILED;

    if (fd < 0)
        return map;
    if (ftruncate(fd, sizeof(wall_clock_offset)) == 0)
        map = mmap(NULL, sizeof(wall_clock_offset), PROT_READ | PROT_WRITE,
                   MAP_SHARED, fd, 0);
    (void)close(fd);
    if (map == MAP_FAILED)
        (void)unlink(path);
    return map;
}

wall_clock *wall_clock_new(void)
{
    wall_clock *clock = calloc(1, sizeof(*clock));

    if (clock == NULL)
        return NULL;
    (void)snprintf(clock->path, sizeof(clock->path),
                   "/dev/shm/holdfast-clock-XXXXXX");
    clock->offset = map_file(clock->path);
    if (clock->offset == MAP_FAILED) {
        perror(clock->path);
        free(clock);
        return NULL;
    }
    return clock;
}

void wall_clock_free(wall_clock *clock)
{
    if (clock == NULL)
        return;
    (void)munmap(clock->offset, sizeof(*clock->offset));
    (void)unlink(clock->path);
    free(clock);
}

void wall_clock_give(const wall_clock *clock)
{
    if (clock != NULL) {
        (void)setenv(WALL_CLOCK_FILE, clock->path, 1);
        (void)setenv("LD_PRELOAD", HF_WALL_CLOCK_SHIM, 1);
    } else {
        (void)unsetenv("LD_PRELOAD");
        (void)unsetenv(WALL_CLOCK_FILE);
    }
}

void wall_clock_keep(const wall_clock *clock)
{
    wall_clock_shim_use(clock != NULL ? clock->offset : NULL);
}

void wall_clock_step(wall_clock *clock, int64_t ms)
{
    atomic_fetch_add(&clock->offset->us, ms * 1000);
}
