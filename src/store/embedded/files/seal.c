/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seal.c - knowing a data file again.
 *
 * Who closes a store last leaves in the sidecar what the file looked like, so
 * that the next one need not read all of it again. The clock of a file system
 * ticks every few milliseconds only: a write within the same tick would not
 * show. So the file is given a time of its own, the nanoseconds drawn by
 * chance, which no later write will give it again. A store that was not closed
 * (a kill, a power cut), or was changed since, has no seal that fits. What goes
 * by no write, such as a disk that fails, is not seen here.
 */
#include "store/embedded/files/seal.h"

#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "store/embedded/files/pages.h"
#include "util/rand.h"

#define SECOND_NS 1000000000u

static bool read_state(int data_fd, hf__seal *seal)
{
    struct stat info;
    hf__finding found;
    hf__meta meta;

    memset(seal, 0, sizeof(*seal));
    if (fstat(data_fd, &info) != 0 ||
        !hf__pages_meta(data_fd, (uint64_t)info.st_size, &meta, &found))
        return false;
    seal->inode = info.st_ino;
    seal->size = (uint64_t)info.st_size;
    seal->changed_s = info.st_mtim.tv_sec;
    seal->changed_ns = info.st_mtim.tv_nsec;
    seal->transaction = meta.transaction;
    return true;
}

bool hf__seal_make(int data_fd, hf__seal *seal)
{
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {0}};
    struct stat info;
    uint32_t chance;

    if (fstat(data_fd, &info) != 0)
        return false;
    hf__rand_bytes(&chance, sizeof(chance));
    times[1].tv_sec = info.st_mtim.tv_sec;
    times[1].tv_nsec = (long)(chance % SECOND_NS);
    return futimens(data_fd, times) == 0 && read_state(data_fd, seal);
}

bool hf__seal_fits(int data_fd, const hf__seal *seal)
{
    hf__seal now;

    return seal->inode != 0 && read_state(data_fd, &now) &&
           memcmp(&now, seal, sizeof(now)) == 0;
}
