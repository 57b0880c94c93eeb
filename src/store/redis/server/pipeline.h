/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipeline.h - the one connection of a node that many requests share, in order,
 * without waiting for one another.
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

/* As many entries taken at once, in the mean of the last batches, that one
 * write for all of them beats a connection of one's own; in 16ths. */
#define HF__PIPELINE_CROWD (16 * 6)

typedef struct hf__pipeline {
    hf__async_conn conn; /* first: a conn of ours is a pipeline */
    hf__store_context *context;

    /* Any thread. */
    pthread_mutex_t mutex; /* guards inbound and posted */
    hf__pipeline_list inbound;
    bool posted; /* the task is on its way */
    hf__task task;
    atomic_size_t depth;    /* requests not complete yet */
    atomic_size_t crowd;    /* entries taken at once, of late; in 16ths */
    atomic_bool retired;    /* the server is on its way out */
    atomic_uint generation; /* how often the connection was made */

    /* The loop thread. */
    hf__pipeline_list lanes[2]; /* by hf__lane */
    hf__pipeline_list in_flight;
    hf__heap due;
    hf__heap again;
    bool parsing;             /* the head's reply has begun */
    bool broken;              /* what came is no answer */
    bool leaving;             /* write no more, and drop once all is answered */
    int64_t waiting_since_ms; /* when the in-flight list was last empty */
    int64_t suspected_ms;     /* when the topology was last told of silence */
    int64_t heard_ms;         /* when bytes last came */
    struct hf__probe *probe;  /* NULL: there was no need yet */
    bool let_go;              /* the hold that retire() took over is gone */
    uint64_t scripts[HF__PIPELINE_SCRIPTS];
    struct hf__wait_batch *wait_batch; /* NULL: replicas are not counted */

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

/* Whether many have come at once of late: another is better off among them
 * than on a connection of its own. */
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

/* Have the conn look at what it is to do. Any thread; nothing if the loop was
 * not started. */
void hf__pipeline_poke(hf__pipeline *pipe);

/* See hf__server_retire(); the loop is started. */
void hf__pipeline_retire(hf__pipeline *pipe);

/* Complete what is there and close. close(): not on the loop thread, returns
 * when it is done; close_here(): on it, closed() tells. */
void hf__pipeline_close(hf__pipeline *pipe);
void hf__pipeline_close_here(hf__pipeline *pipe,
                             void (*closed)(hf__pipeline *pipe));

/* Free. Only when closed, or if it was never used. */
void hf__pipeline_done(hf__pipeline *pipe);

/* In a forked child, where the loop thread may have been in the middle of
 * anything: close the descriptor and leave the rest as it is. */
void hf__pipeline_abandon(hf__pipeline *pipe);

#endif
