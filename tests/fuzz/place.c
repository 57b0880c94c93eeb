/* SPDX-License-Identifier: Apache-2.0 */
/* place.c - see place.h. */
#include "place.h"

#include <unistd.h>

#include "fuzz.h"
#include "support/remove_tree.h"

static char place[64];

static void clean_up(void)
{
    (void)remove_tree(place);
}

const char *place_make(void)
{
    snprintf(place, sizeof(place), "%s/hf-fuzz-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    PROMISE(mkdtemp(place) != NULL);
    atexit(clean_up);
    return place;
}
