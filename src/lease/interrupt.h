/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interrupt.h - ending blocking acquires of one lock from another thread, as
 * core/interrupt.h does those of a client. The lock has a counter of its own,
 * and is what its sleepers are about.
 */
#ifndef HF__LEASE_INTERRUPT_H
#define HF__LEASE_INTERRUPT_H

#include "core/interrupt.h"
#include "holdfast/lock.h"

/* The counters as a call found them. */
typedef struct hf__interrupt_mark {
    unsigned client;
    unsigned lock;
} hf__interrupt_mark;

hf__interrupt_mark hf__interrupt_mark_of(const hf_lock *lock);
bool hf__interrupted(const hf_lock *lock, hf__interrupt_mark mark);

#endif
