/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue.h - the local wait queue: threads and asynchronous calls of one client
 * that want the same lock, with the same priority. Only its head waits at the
 * store.
 */
#ifndef HF__LEASE_QUEUE_H
#define HF__LEASE_QUEUE_H

#include <pthread.h>

#include "lease/handed.h"
#include "lease/interrupt.h"

typedef struct hf__wait_queue hf__wait_queue;

/* At 100 000 names some 50 share a list. */
#define HF__WAIT_QUEUE_LISTS 2048

typedef struct hf__wait_queues {
    pthread_mutex_t mutex; /* guards all queues */
    hf__wait_queue *lists[HF__WAIT_QUEUE_LISTS];
} hf__wait_queues;

void hf__wait_queues_init(hf__wait_queues *queues);
void hf__wait_queues_done(hf__wait_queues *queues);

/*
 * Wait to become the head of the queue for `name`, until an instant of
 * hf__clock_boot_ms(). HF_OK: leave `*queue` afterwards. HF_TIMEOUT.
 * HF_CANCELLED: interrupted.
 */
hf_status hf__wait_queue_enter(hf__wait_queues *queues, const hf_lock *lock,
                               hf_bytes name, hf__interrupt_mark mark,
                               int64_t until_ms, hf__wait_queue **queue,
                               hf_error *err);
/* Make waiting threads check whether they were interrupted. */
void hf__wait_queues_wake(hf__wait_queues *queues, hf_bytes name);

/* A place in a queue for an asynchronous call; the caller's memory. */
typedef struct hf__wait_place {
    /* It is the head now. On any thread, with no mutex held. */
    void (*entered)(struct hf__wait_place *place);
    hf__wait_queue *queue; /* to be left, once entered */
    struct hf__wait_place *next;
    struct hf__wait_place **at; /* what points to it while it waits */
    bool waiting;
} hf__wait_place;

/* Join. HF_OK: the head at once; HF_HELD: entered() will be called. */
hf_status hf__wait_queue_join(hf__wait_queues *queues, hf_bytes name,
                              uint32_t priority, hf__wait_place *place,
                              hf_error *err);
/* Withdraw; false: it is the head, or entered() is about to be called. */
bool hf__wait_queue_withdraw(hf__wait_queues *queues, hf__wait_place *place);

/* Become the head if there is none. HF_HELD: there is one. */
hf_status hf__wait_queue_try(hf__wait_queues *queues, hf_bytes name,
                             uint32_t priority, hf__wait_place *place,
                             hf_error *err);

/* The head waits at the store under this owner id; forget older messages. */
void hf__wait_queue_expect(hf__wait_queues *queues, hf__wait_queue *queue,
                           const char owner[HF_OWNER_SIZE]);
/* A message for the head of `name` has come; others than those expected have no
 * effect. Any thread. */
void hf__wait_queue_hand(hf__wait_queues *queues, hf_bytes name,
                         const hf__handed *handed);
/* What has come since; HF__HANDED_NOTHING otherwise. */
void hf__wait_queue_take(hf__wait_queues *queues, hf__wait_queue *queue,
                         hf__handed *handed);

/* The head leaves. */
void hf__wait_queue_leave(hf__wait_queues *queues, hf__wait_queue *queue);

#endif
