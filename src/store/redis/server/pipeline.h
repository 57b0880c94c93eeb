/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipeline.h - the connection of a node that many requests share: sent and
 * answered in order, without waiting for one another.
 */
#ifndef HF__STORE_REDIS_PIPELINE_H
#define HF__STORE_REDIS_PIPELINE_H

#include <pthread.h>
#include <stdatomic.h>

#include "store/redis/server/async_conn.h"
#include "store/redis/server/pipeline_entry.h"
#include "store/redis/server/route.h"

/* Scripts that were sent whole on this connection, by digest. A collision
 * only makes a script be sent whole once more. */
#define HF__PIPELINE_SCRIPTS 256

/* Mean number of entries taken together, in 16ths, from which on sharing one
 * write is faster than a connection from the pool. */
#define HF__PIPELINE_CROWD (16 * 6)

typedef struct hf__pipeline {
    hf__async_conn conn; /* first */
    hf__store_context *context;

    /* Any thread. */
    pthread_mutex_t mutex; /* guards inbound and posted */
    hf__pipeline_list inbound;
    bool posted; /* the task is posted */
    hf__task task;
    atomic_size_t depth;     /* requests not complete yet */
    atomic_size_t crowd;     /* mean of entries taken together; in 16ths */
    atomic_bool retired;     /* the server is being removed */
    atomic_uint generation;  /* how often the connection was made */
    atomic_uint losses;      /* how often one that was up broke */
    uint32_t owner;          /* futex; see pipeline_owner.c */
    atomic_bool lent;        /* see pipeline_reader.c; changed by the owner */
    atomic_bool deserted;    /* it is lent to a reader that has left */
    atomic_bool woken;       /* the reader's descriptor was raised */
    pthread_mutex_t reading; /* held while a reader completes a request */

    /* The owner: the loop thread, or a caller that sends. */
    unsigned inside; /* begin() without end(); the loop thread's alone */
    hf__pipeline_list lanes[2]; /* by hf__lane */
    hf__pipeline_list in_flight;
    hf__heap due;
    hf__heap again;
    int reader_fd;            /* raised if it is reclaimed */
    bool loop_reads;          /* a reader has left input to the loop thread */
    bool parsing;             /* the head's reply has begun */
    bool broken;              /* what was received is not a reply */
    bool leaving;             /* stop writing; drop once all is answered */
    int64_t waiting_since_ms; /* when the in-flight list was last empty */
    int64_t suspected_ms; /* when silence was last reported to the topology */
    int64_t heard_ms;     /* when bytes were last received */
    struct hf__probe *probe; /* NULL: not needed so far */
    bool let_go;             /* the hold of retire() was released */
    uint64_t scripts[HF__PIPELINE_SCRIPTS];
    struct hf__wait_batch *wait_batch; /* NULL: replicas are not counted */
    struct hf__unblock *unblock;       /* NULL: of commands that do not wait */

    void (*closed)(struct hf__pipeline *pipe);
    hf__task close_task;
    uint32_t is_closed; /* futex */
} hf__pipeline;

void hf__pipeline_init(hf__pipeline *pipe, hf__redis_node *node);

/* Requests not complete yet. */
static inline size_t hf__pipeline_depth(hf__pipeline *pipe)
{
    return atomic_load_explicit(&pipe->depth, memory_order_relaxed);
}

/* Whether many have entered together recently: then a request is faster here
 * than on a connection from the pool. */
static inline bool hf__pipeline_is_crowded(hf__pipeline *pipe)
{
    return atomic_load_explicit(&pipe->crowd, memory_order_relaxed) >=
           HF__PIPELINE_CROWD;
}

/* store.h's submit(). */
void hf__pipeline_submit(hf__pipeline *pipe, hf__request *const *requests,
                         size_t count);

/* Run a request to its end while the caller sleeps. Not on the loop thread. */
void hf__pipeline_perform(hf__pipeline *pipe, hf__request *request,
                          const hf__attempts *attempts);

/* The loop thread: store.h's cancel(), whichever pipeline the request is on;
 * one that has completed is left alone. */
void hf__pipeline_cancel(hf__request *request);

/* store.h's await(). */
bool hf__pipeline_await(hf__pipeline *pipe, int fd, int64_t until_ms);

/* Have the conn look at what it is to do. Any thread; nothing if the loop was
 * not started. */
void hf__pipeline_wake(hf__pipeline *pipe);

/* See hf__server_retire(); the loop is started. */
void hf__pipeline_retire(hf__pipeline *pipe);

/* Complete what is there and close. close(): not on the loop thread, returns
 * when done; close_here(): on it, calls closed(). */
void hf__pipeline_close(hf__pipeline *pipe);
void hf__pipeline_close_here(hf__pipeline *pipe,
                             void (*closed)(hf__pipeline *pipe));

/* Free. Only when closed, or if it was never used. */
void hf__pipeline_done(hf__pipeline *pipe);

/* In a forked child, where the loop thread may have been in the middle of
 * anything: close the descriptor and leave the rest as it is. */
void hf__pipeline_close_forked(hf__pipeline *pipe);

#endif
