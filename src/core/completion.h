/* SPDX-License-Identifier: Apache-2.0 */
/*
 * completion.h - asynchronous calls that have completed, until their done() has
 * run.
 *
 * A thread in hf_client_wait() reads the reply itself if the store lets it (see
 * await() in store.h); the others sleep.
 *
 * A completed call is appended to the client's list and raises its descriptor;
 * hf_client_dispatch() takes the calls of the list one by one, finishes each
 * and calls its done(). So done() runs only where the user calls us. It may
 * close the client, whose own reference is dropped once no dispatch is left
 * that would use it.
 */
#ifndef HF__CORE_COMPLETION_H
#define HF__CORE_COMPLETION_H

#include <pthread.h>

#include "core/call.h"

typedef struct hf__completions {
    size_t calls_max;
    size_t bytes_max;

    pthread_mutex_t mutex; /* guards the rest */
    hf_call *first;        /* completed, oldest first */
    hf_call **end;
    size_t waiting; /* in the list */
    size_t running; /* started, done() not called yet */
    size_t held;    /* the same without those being delivered */
    size_t bytes;   /* what they hold */
    uint64_t delivered;
    uint64_t completed; /* counts them */
    size_t delivering;  /* dispatches that have not returned, nested ones too */
    bool closed;        /* hf_client_close() was called, perhaps by a done() */
    unsigned sleeping;  /* in hf_client_wait(); `changed` wakes them */
    pthread_cond_t changed;
    bool reading; /* one of them, `reader`, reads replies itself; ... */
    pthread_t reader;
    bool reader_raised; /* ... this descriptor wakes it */
    int reader_fd;      /* -1: not made yet */
    bool raised;        /* the descriptor */
    int fd; /* readable while the list is not empty; -1: not made yet */
} hf__completions;

void hf__completions_init(hf__completions *self, size_t calls_max,
                          size_t bytes_max);

/* Append a call, with its outcome in call->request. Any thread. */
void hf__call_complete(hf_call *call);

/* For a call's cancel(): lock what its completion locks too; false: it has
 * completed, and nothing is locked. */
bool hf__call_lock_pending(hf_call *call);
void hf__call_unlock_pending(hf_call *call);

/* Deliver the rest, after the store was closed and everything has completed; in
 * a forked child nothing. true: drop the client's own reference; false: a
 * dispatch that has not returned will. */
bool hf__completions_close(hf__completions *self, hf_client *client,
                           bool forked);
/* In a forked child the mutex may be locked, and the condition have waiters,
 * for which pthread_cond_destroy() would wait. */
void hf__completions_done(hf__completions *self, bool forked);

#endif
