/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue.h - the local wait queue: threads and asynchronous calls of one client
 * that want the same lock, with the same priority. Only its head waits at the
 * store.
 */
#ifndef HF__LEASE_QUEUE_H
#define HF__LEASE_QUEUE_H

#include <pthread.h>
#include <stdatomic.h>

#include "holdfast/lock.h"
#include "lease/handed.h"

typedef struct hf__wait_queue hf__wait_queue;

/* At 100 000 names some 50 share a list. */
#define HF__WAIT_QUEUE_LISTS 2048

typedef struct hf__wait_queues {
    pthread_mutex_t mutex; /* guards all queues */
    atomic_size_t count;   /* of queues; read without it */
    _Atomic uint64_t arrivals;
    hf__wait_queue *lists[HF__WAIT_QUEUE_LISTS];
} hf__wait_queues;

void hf__wait_queues_init(hf__wait_queues *queues);
void hf__wait_queues_done(hf__wait_queues *queues);

/*
 * Passing a lock on within a client, in one request: a release queues the head
 * of the local queue at the store, and if that is the first there, the reply
 * grants it.
 *
 * A call offers an entry when it joins. Once it is at the head it calls
 * await_pass() before it asks, and waits for as long as a handle of this client
 * holds the lease, for 1 s at most. After that `handed` is a grant or nothing;
 * `queued`: the entry may be queued.
 *
 * take_offer() is called when a handle releases: a copy of the entry; NULL:
 * there is none. After it pass() is called with the grant; NULL: none, and
 * `rest_ms` says for how long the release left it to others.
 */
typedef struct hf__pass {
    const char *entry;
    int64_t entered_ms; /* the local queue */
    bool queued;
    int64_t rest_ms; /* left to others for so long, or until one has it */
    hf__handed handed;
    int64_t sent_ms;  /* before the release that granted it */
    int64_t asked_ms; /* of the holder, see hf__steps ... */
    int64_t clock_us;
} hf__pass;

/* A place in a queue; the caller's memory. */
typedef struct hf__wait_place {
    /* It is the head now, or need not await a pass any more. On any thread,
     * with no mutex held. */
    void (*entered)(struct hf__wait_place *place);
    hf__pass *pass;        /* NULL: it offers nothing */
    uint64_t arrival;      /* hf__wait_queue_arrive(): its order */
    hf__wait_queue *queue; /* to be left, once entered */
    struct hf__wait_place *next;
    struct hf__wait_place **at; /* what points to it while it waits */
    bool waiting;
} hf__wait_place;

/* A number for a call that begins now, greater than those before. */
uint64_t hf__wait_queue_arrive(hf__wait_queues *queues);

/* Join behind those that arrived before. HF_OK: the head at once; HF_HELD:
 * entered() will be called. */
hf_status hf__wait_queue_join(hf__wait_queues *queues, hf_bytes name,
                              uint32_t priority, hf__wait_place *place,
                              hf_error *err);
/* Withdraw; false: it is the head, or entered() is about to be called. */
bool hf__wait_queue_withdraw(hf__wait_queues *queues, hf__wait_place *place);

/* Become the head if there is none. HF_HELD: there is one. */
hf_status hf__wait_queue_try(hf__wait_queues *queues, hf_bytes name,
                             uint32_t priority, hf__wait_place *place,
                             hf_error *err);

/* Is there a head? */
bool hf__wait_queue_exists(hf__wait_queues *queues, hf_bytes name,
                           uint32_t priority);

/* The head waits at the store under this owner id; drop older messages. */
void hf__wait_queue_expect(hf__wait_queues *queues, hf__wait_queue *queue,
                           const char owner[HF_OWNER_SIZE]);
/* A message for the head of `name` has come; others than those expected have no
 * effect. Any thread. */
void hf__wait_queue_hand(hf__wait_queues *queues, hf_bytes name,
                         const hf__handed *handed);
/* Does one of a higher priority wait at the store? */
bool hf__wait_queue_outranked(hf__wait_queues *queues, const hf_lock *lock);
/* The head learnt that the store's clock showed clock_us at asked_ms, an
 * instant of hf__clock_boot_ms(), or soon afterwards. Kept is what was learnt
 * with the least delay. */
void hf__wait_queue_note_clock(hf__wait_queues *queues, hf__wait_queue *queue,
                               int64_t asked_ms, int64_t clock_us);
/* That instant on the store's clock, us; 0: no head has learnt it. */
int64_t hf__wait_queue_clock(hf__wait_queues *queues, hf__wait_queue *queue,
                             int64_t at_ms);
/* What has come since; HF__HANDED_NOTHING otherwise. */
void hf__wait_queue_take(hf__wait_queues *queues, hf__wait_queue *queue,
                         hf__handed *handed);

/* The head leaves. `holder`, if it is not NULL, holds the lease now: the next
 * head may wait for its release, see below. */
void hf__wait_queue_leave(hf__wait_queues *queues, hf__wait_queue *queue,
                          const hf_lock *holder);

/* At the head; true: there is nothing to await. false: entered() will be
 * called. */
bool hf__wait_queue_await_pass(hf__wait_queues *queues, hf__wait_place *place);
/* Await it no longer, or, unless it `awaits`, not at all: a head that offers
 * something calls one of the two before it asks or leaves. false: entered()
 * will be called, soon. */
bool hf__wait_queue_stop_pass(hf__wait_queues *queues, hf__wait_place *place,
                              bool awaits);
char *hf__wait_queue_take_offer(hf__wait_queues *queues, const hf_lock *holder,
                                int64_t *entered_ms);
void hf__wait_queue_pass(hf__wait_queues *queues, const hf_lock *holder,
                         const hf__handed *handed, int64_t sent_ms,
                         int64_t rest_ms);
/* Instead of both: the holder has no lease to pass on. */
void hf__wait_queue_end_pass(hf__wait_queues *queues, const hf_lock *holder);

#endif
