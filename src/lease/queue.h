/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue.h - threads and asynchronous calls of one client that want the same
 * lock wait here for each other, so that one of them at a time waits at the
 * store.
 */
#ifndef HF__LEASE_QUEUE_H
#define HF__LEASE_QUEUE_H

#include <pthread.h>

#include "lease/interrupt.h"

typedef struct hf__gate hf__gate;

/* Enough lists that names seldom share one, of 100 000 not more than 50. */
#define HF__GATE_LISTS 2048

typedef struct hf__gates {
    pthread_mutex_t mutex; /* guards all gates */
    hf__gate *lists[HF__GATE_LISTS];
} hf__gates;

void hf__gates_init(hf__gates *gates);
void hf__gates_done(hf__gates *gates);

/*
 * Become the one thread that waits at the store for `name`, an instant of
 * hf__clock_boot_ms() at the latest. On HF_OK `*gate` is to be left again.
 * HF_TIMEOUT: others stood before us until then. HF_CANCELLED: interrupted.
 */
hf_status hf__gate_enter(hf__gates *gates, const hf_lock *lock, hf_bytes name,
                         hf__interrupt_mark mark, int64_t until_ms,
                         hf__gate **gate, hf_error *err);
/* Have the threads before it look whether they were interrupted. */
void hf__gates_wake(hf__gates *gates, hf_bytes name);

/* A place before a gate, for what is no thread; the caller's memory. */
typedef struct hf__gate_place {
    /* It is inside now. On any thread; no lock is held. */
    void (*entered)(struct hf__gate_place *place);
    hf__gate *gate; /* to be left, once inside */
    struct hf__gate_place *next;
    struct hf__gate_place **at; /* what points to it while it waits */
    bool waiting;
} hf__gate_place;

/* Take a place. HF_OK: inside at once; HF_HELD: entered() will be called. */
hf_status hf__gate_queue(hf__gates *gates, hf_bytes name, hf__gate_place *place,
                         hf_error *err);
/* Give it up before it was inside; false: it is inside, or about to be told. */
bool hf__gate_withdraw(hf__gates *gates, hf__gate_place *place);

/* Whoever is inside leaves. */
void hf__gate_leave(hf__gates *gates, hf__gate *gate);

#endif
