/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interrupt.h - ending blocking acquires from another thread.
 *
 * 1. A call notes the counters of its client and its lock when it begins.
 *    Closing the client is an interruption that needs no counter.
 * 2. Interrupting increments a counter, then wakes all registered sleepers.
 * 3. Before a call sleeps it registers, then checks whether a counter has
 *    moved: so it either sees the interruption or is woken.
 *
 * Locks: `mutex` guards the list; nothing is called while it is held.
 */
#ifndef HF__LEASE_INTERRUPT_H
#define HF__LEASE_INTERRUPT_H

#include <pthread.h>
#include <stdatomic.h>

#include "holdfast.h"

#define HF__INTERRUPTED "interrupted by another thread"

/* The counters as a call found them. */
typedef struct hf__interrupt_mark {
    unsigned client;
    unsigned lock;
} hf__interrupt_mark;

/* A call that may sleep; the caller's memory. */
typedef struct hf__sleeper hf__sleeper;
struct hf__sleeper {
    void (*wake)(hf__sleeper *sleeper); /* make it check; on any thread */
    hf_lock *lock;                      /* NULL: of several */
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

/* Wake those of a lock, and those of several; NULL: all. */
void hf__interrupts_wake(hf__interrupts *interrupts, const hf_lock *lock);

hf__interrupt_mark hf__interrupt_mark_of(const hf_lock *lock);
bool hf__interrupted(const hf_lock *lock, hf__interrupt_mark mark);

#endif
