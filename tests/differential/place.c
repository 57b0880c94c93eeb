/* SPDX-License-Identifier: Apache-2.0 */
/* place.c - a directory in memory for a store, removed at the end. */
#include "place.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool place_make(char path[PLACE_SIZE])
{
    const char *base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";

    snprintf(path, PLACE_SIZE, "%s/hf-differential-XXXXXX", base);
    if (mkdtemp(path) != NULL)
        return true;
    fprintf(stderr, "differential: cannot make %s: %s\n", path,
            strerror(errno));
    return false;
}

static int remove_one(const char *path, const struct stat *status, int kind,
                      struct FTW *position)
{
    (void)status;
    (void)kind;
    (void)position;
    return remove(path);
}

void place_remove(const char *path)
{
    (void)nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}
