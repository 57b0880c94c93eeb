/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seal.c - recognizing an unchanged data file.
 *
 * The last process to close a store records in the sidecar what the file looks
 * like, so that the next one need not read all of it again. File times have a
 * granularity of a few milliseconds, and a write within the same tick would not
 * show; so the file's time is set, with random nanoseconds, which no later
 * write will repeat. A store that was not closed (kill, power cut) or was
 * changed since has no matching seal. Changes without a write, as by a failing
 * disk, are not detected.
 */
#include "engine/files/seal.h"

#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "engine/files/pages.h"
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
