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

typedef struct hf__wait_queue hf__wait_queue;

/* Enough lists that names seldom share one, of 100 000 not more than 50. */
#define HF__WAIT_QUEUE_LISTS 2048

typedef struct hf__wait_queues {
    pthread_mutex_t mutex; /* guards all queues */
    hf__wait_queue *lists[HF__WAIT_QUEUE_LISTS];
} hf__wait_queues;

void hf__wait_queues_init(hf__wait_queues *queues);
void hf__wait_queues_done(hf__wait_queues *queues);

/*
 * Become the one thread that waits at the store for `name`, an instant of
 * hf__clock_boot_ms() at the latest. On HF_OK `*queue` is to be left again.
 * HF_TIMEOUT: others stood before us until then. HF_CANCELLED: interrupted.
 */
hf_status hf__wait_queue_enter(hf__wait_queues *queues, const hf_lock *lock,
                               hf_bytes name, hf__interrupt_mark mark,
                               int64_t until_ms, hf__wait_queue **queue,
                               hf_error *err);
/* Have the threads before it look whether they were interrupted. */
void hf__wait_queues_wake(hf__wait_queues *queues, hf_bytes name);

/* A place before a gate, for what is no thread; the caller's memory. */
typedef struct hf__wait_place {
    /* It is inside now. On any thread; no lock is held. */
    void (*entered)(struct hf__wait_place *place);
    hf__wait_queue *queue; /* to be left, once inside */
    struct hf__wait_place *next;
    struct hf__wait_place **at; /* what points to it while it waits */
    bool waiting;
} hf__wait_place;

/* Take a place. HF_OK: inside at once; HF_HELD: entered() will be called. */
hf_status hf__wait_queue_join(hf__wait_queues *queues, hf_bytes name,
                              hf__wait_place *place, hf_error *err);
/* Give it up before it was inside; false: it is inside, or about to be told. */
bool hf__wait_queue_withdraw(hf__wait_queues *queues, hf__wait_place *place);

/* Whoever is inside leaves. */
void hf__wait_queue_leave(hf__wait_queues *queues, hf__wait_queue *queue);

#endif
