/* SPDX-License-Identifier: Apache-2.0 */
/* place.c - see place.h. */
#include "place.h"

#include <errno.h>
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
