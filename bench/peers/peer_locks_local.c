/* SPDX-License-Identifier: Apache-2.0 */
/* peer_locks_local.c - locks that need no server; see peer_locks.h. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

#include "bench.h"
#include "peers/peer_locks.h"

/* ------------------------------------------------------------------- flock */

static void *flock_open(const peer_place *place)
{
    return strdup(place->directory);
}

static void *flock_new_lock(void *client)
{
    char path[BENCH_PATH_SIZE];
    int *fd = malloc(sizeof(*fd));

    snprintf(path, sizeof(path), "%s/flock", (const char *)client);
    if (fd == NULL || (*fd = open(path, O_RDWR | O_CREAT, 0600)) < 0) {
        free(fd);
        return NULL;
    }
    return fd;
}

static bool flock_acquire(void *lock)
{
    return flock(*(int *)lock, LOCK_EX) == 0;
}

static bool flock_release(void *lock)
{
    return flock(*(int *)lock, LOCK_UN) == 0;
}

const peer_library peer_flock = {flock_open, flock_new_lock, flock_acquire,
                                 flock_release};
