/* SPDX-License-Identifier: Apache-2.0 */
/* place.c - see place.h. */
#include "place.h"

#include <ftw.h>
#include <unistd.h>

#include "fuzz.h"

static char place[64];

static int remove_one(const char *path, const struct stat *status, int kind,
                      struct FTW *position)
{
    (void)status;
    (void)kind;
    (void)position;
    return remove(path);
}

static void clean_up(void)
{
    (void)nftw(place, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

const char *place_make(void)
{
    snprintf(place, sizeof(place), "%s/hf-fuzz-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    PROMISE(mkdtemp(place) != NULL);
    atexit(clean_up);
    return place;
}
