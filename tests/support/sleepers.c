/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sleepers.c - a thread bound to each processor, which sleeps and looks at the
 * clock.
 *
 * While a sleeper is late its sleep has not ended yet, so such sleeps are
 * included in the result.
 */
#include "support/sleepers.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#define NAP_US 5000

typedef struct sleeper {
    pthread_t thread;
    unsigned processor;
    atomic_llong due_us; /* when the sleep is to end */
    const atomic_bool *stop;
    atomic_llong *worst_us;
} sleeper;

struct sleepers {
    atomic_bool stop;
    atomic_llong worst_us;
    int count;
    sleeper each[CPU_SETSIZE];
};

static long long now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

static void note_worst(atomic_llong *worst_us, long long late_us)
{
    long long seen_us = atomic_load(worst_us);

    while (late_us > seen_us &&
           !atomic_compare_exchange_weak(worst_us, &seen_us, late_us))
        continue;
}

static void *sleep_and_look(void *user)
{
    const struct timespec span = {0, NAP_US * 1000L};
    sleeper *self = user;
    cpu_set_t only;

    CPU_ZERO(&only);
    CPU_SET(self->processor, &only);
    (void)pthread_setaffinity_np(pthread_self(), sizeof(only), &only);
    while (!atomic_load(self->stop)) {
        atomic_store(&self->due_us, now_us() + NAP_US);
        nanosleep(&span, NULL);
        note_worst(self->worst_us, now_us() - atomic_load(&self->due_us));
    }
    return NULL;
}

static bool start_one(sleepers *all, unsigned processor)
{
    sleeper *self = &all->each[all->count];

    self->processor = processor;
    self->stop = &all->stop;
    self->worst_us = &all->worst_us;
    atomic_init(&self->due_us, INT64_MAX);
    if (pthread_create(&self->thread, NULL, sleep_and_look, self) != 0)
        return false;
    all->count++;
    return true;
}

sleepers *sleepers_start(void)
{
    sleepers *all = calloc(1, sizeof(*all));
    cpu_set_t usable;

    if (all == NULL)
        return NULL;
    CPU_ZERO(&usable);
    if (sched_getaffinity(0, sizeof(usable), &usable) == 0) {
        for (unsigned i = 0; i < CPU_SETSIZE; i++) {
            if (CPU_ISSET(i, &usable) && !start_one(all, i))
                break;
        }
    }
    if (all->count > 0)
        return all;
    free(all);
    return NULL;
}

int64_t sleepers_late_us(const sleepers *all)
{
    long long worst_us = atomic_load(&all->worst_us);
    long long late_us;

    for (int i = 0; i < all->count; i++) {
        late_us = now_us() - atomic_load(&all->each[i].due_us);
        if (late_us > worst_us)
            worst_us = late_us;
    }
    return worst_us;
}

void sleepers_reset(sleepers *all)
{
    atomic_store(&all->worst_us, 0);
}

void sleepers_stop(sleepers *all)
{
    if (all == NULL)
        return;
    atomic_store(&all->stop, true);
    for (int i = 0; i < all->count; i++)
        pthread_join(all->each[i].thread, NULL);
    free(all);
}
