/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fork.c - the count of forks between this process and the one that loaded
 * the library.
 *
 * The child's handler runs before fork() returns, so no code of the child
 * sees the parent's number. A raw clone() system call passes unnoticed.
 */
#include "util/fork.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_uint generation;

static void count_fork(void)
{
    atomic_fetch_add_explicit(&generation, 1, memory_order_relaxed);
}

__attribute__((constructor)) static void watch_forks(void)
{
    /* Fails only without memory while the program is being loaded. Continuing
     * could let two processes share one owner id, which is worse than
     * stopping. */
    if (pthread_atfork(NULL, NULL, count_fork) != 0)
        abort();
}

uint32_t hf__fork_generation(void)
{
    return atomic_load_explicit(&generation, memory_order_relaxed);
}
