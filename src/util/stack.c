/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack.c - see stack.h.
 */
#include "util/stack.h"

#include <pthread.h>
#include <stdint.h>

/* Of the calling thread; both 0: not asked for yet, both 1: unknown. */
static _Thread_local uintptr_t low, high;

/* Of the main thread this reads a file, so it is done once. */
static void find_bounds(void)
{
    pthread_attr_t attr;
    size_t size = 0;
    void *begin;

    low = high = 1;
    if (pthread_getattr_np(pthread_self(), &attr) != 0)
        return;
    if (pthread_attr_getstack(&attr, &begin, &size) == 0) {
        low = (uintptr_t)begin;
        high = low + size;
    }
    (void)pthread_attr_destroy(&attr);
}

size_t hf__stack_left(void)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);

    if (high == 0)
        find_bounds();
    return here > low && here < high ? here - low : SIZE_MAX;
}
