/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_kill_gaps.c - how long the others paused.
 *
 * On a busy machine a process pauses because it gets no processor, kill or no
 * kill. So each pause is also measured without the time spent waiting for a
 * processor, and in the same way at instants without a kill.
 */
#include <stdlib.h>
#include <string.h>

#include "embedded_kill.h"

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

bool gap_around(const slot *from, int64_t at_us, int64_t floor_us,
                int64_t *gross_us, int64_t *net_us)
{
    uint64_t end = load(from->answers);
    uint64_t begin = end > RING_SIZE ? end - RING_SIZE + 1 : 0;
    int64_t first_us = 0, first_waited_us = 0, waited_us;

    /* Backwards to the last one before the instant. */
    for (uint64_t i = end; i > begin; i--) {
        const stamp *at = &from->stamps[(i - 1) % RING_SIZE];

        if (load(at->at_us) <= at_us) {
            if (first_us == 0)
                return false;
            waited_us = first_waited_us - load(at->waited_us);
            *gross_us = first_us - larger(load(at->at_us), floor_us);
            *net_us = *gross_us > waited_us ? *gross_us - waited_us : 0;
            return true;
        }
        first_us = load(at->at_us);
        first_waited_us = load(at->waited_us);
    }
    return false;
}

bool gaps_add(gaps *all, int64_t us)
{
    if (all->count == all->room) {
        size_t room = 2 * all->room + 64;
        int64_t *more = realloc(all->us, room * sizeof(*more));

        if (more == NULL)
            return false;
        all->us = more;
        all->room = room;
    }
    all->us[all->count++] = us;
    return true;
}

static int compare(const void *left, const void *right)
{
    int64_t a, b;

    memcpy(&a, left, sizeof(a));
    memcpy(&b, right, sizeof(b));
    return a < b ? -1 : a > b;
}

int64_t gaps_percentile(gaps *all, double percent)
{
    size_t at;

    if (all->count == 0)
        return 0;
    qsort(all->us, all->count, sizeof(*all->us), compare);
    at = (size_t)((double)all->count * percent / 100);
    return all->us[at < all->count ? at : all->count - 1];
}

size_t gaps_above(const gaps *all, int64_t us)
{
    size_t count = 0;

    for (size_t i = 0; i < all->count; i++)
        count += all->us[i] > us ? 1 : 0;
    return count;
}

void gaps_free(gaps *all)
{
    free(all->us);
    memset(all, 0, sizeof(*all));
}
