/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interrupt.h - waking the waiting calls of a client from another thread, so
 * that they end: hf_client_interrupt(), hf_client_close().
 *
 * 1. A call notes the client's counter when it begins. Closing is an
 *    interruption that needs no counter.
 * 2. Interrupting increments the counter, then wakes all registered sleepers.
 * 3. Before a call sleeps it registers, then checks whether the counter has
 *    moved: so it either sees the interruption or is woken.
 *
 * Locks: `mutex` guards the list; nothing is called while it is held.
 */
#ifndef HF__CORE_INTERRUPT_H
#define HF__CORE_INTERRUPT_H

#include <pthread.h>
#include <stdatomic.h>

#include "holdfast/client.h"

#define HF__INTERRUPTED "interrupted by another thread"

/* A call that may sleep; the caller's memory. */
typedef struct hf__sleeper hf__sleeper;
struct hf__sleeper {
    void (*wake)(hf__sleeper *sleeper); /* make it check; on any thread */
    const void *about;                  /* what it waits for; NULL: several */
    unsigned pins;                      /* wake() calls that are running */
    unsigned round;                     /* the last that woke it */
    bool registered;
    hf__sleeper *next;
    hf__sleeper **at;
};

typedef struct hf__interrupts {
    atomic_uint count; /* of hf_client_interrupt() */
    pthread_mutex_t mutex;
    pthread_cond_t unpinned;
    hf__sleeper *first;
    unsigned rounds;
} hf__interrupts;

void hf__interrupts_init(hf__interrupts *interrupts);
void hf__interrupts_done(hf__interrupts *interrupts);

/* Once for each call; `sleeper` is zero before. */
void hf__sleeper_add(hf__interrupts *interrupts, hf__sleeper *sleeper);
void hf__sleeper_remove(hf__interrupts *interrupts, hf__sleeper *sleeper);

/* Wake those that wait for `about`, and those for several; NULL: all. */
void hf__interrupts_wake(hf__interrupts *interrupts, const void *about);

/* Is the client being closed, or was it interrupted since the counter was
 * `count`? */
bool hf__client_interrupted(const hf_client *client, unsigned count);

#endif
