/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mux.h - the one connection of a node that many requests share, in order,
 * without waiting for one another.
 */
#ifndef HF__STORE_REDIS_MUX_H
#define HF__STORE_REDIS_MUX_H

#include <pthread.h>
#include <stdatomic.h>

#include "store/redis/entry.h"
#include "store/redis/link.h"

/* Parked callers that share a word to sleep on, so that one wake-up serves
 * all whose answers came in one read. */
#define HF__MUX_GROUPS 16

/* Scripts that were sent whole on this connection, by digest. A collision
 * only makes a script be sent whole once more. */
#define HF__MUX_SCRIPTS 256

typedef struct hf__mux_group {
    uint32_t turn; /* futex */
    uint32_t sleepers;
} hf__mux_group;

typedef struct hf__mux {
    hf__link link; /* first: a link of ours is a mux */
    hf__loop *loop;

    /* Any thread. */
    pthread_mutex_t mutex; /* guards inbound and posted */
    hf__entry_list inbound;
    bool posted; /* the task is on its way */
    hf__task task;
    atomic_size_t depth; /* requests not complete yet */
    atomic_uint batch;
    hf__mux_group groups[HF__MUX_GROUPS];

    /* The loop thread. */
    hf__entry_list lanes[2]; /* by hf__lane */
    hf__entry_list in_flight;
    hf__heap due;
    hf__heap again;
    bool parsing;             /* the head's reply has begun */
    bool broken;              /* what came is no answer */
    bool leaving;             /* write no more, and drop once all is answered */
    int64_t waiting_since_ms; /* when the in-flight list was last empty */
    unsigned touched;         /* groups to wake, as bits */
    uint64_t scripts[HF__MUX_SCRIPTS];

    hf__task close_task;
    uint32_t is_closed; /* futex */
} hf__mux;

void hf__mux_init(hf__mux *mux, const hf__redis_node *node);

/* Requests not complete yet. */
static inline size_t hf__mux_depth(hf__mux *mux)
{
    return atomic_load_explicit(&mux->depth, memory_order_relaxed);
}

/* store.h's submit(). */
void hf__mux_submit(hf__mux *mux, hf__request *const *requests, size_t count);

/* Run a request to its end while the caller sleeps. Not on the loop thread. */
void hf__mux_perform(hf__mux *mux, hf__request *request);

/* Complete what is there, close and free. Not on the loop thread. */
void hf__mux_close(hf__mux *mux);

/* In a forked child, where the loop thread may have been in the middle of
 * anything: close the descriptor and leave the rest as it is. */
void hf__mux_abandon(hf__mux *mux);

#endif
