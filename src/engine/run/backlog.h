/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backlog.h - asynchronous requests of a durable store, queued for the loop
 * thread.
 *
 * A commit to disk would block an asynchronous caller, and is best shared. So
 * such requests are queued here, and the loop thread runs them in bundles.
 * Requests that arrive while a bundle waits for the disk are in the next one.
 */
#ifndef HF__ENGINE_BACKLOG_H
#define HF__ENGINE_BACKLOG_H

#include <pthread.h>

#include "store/store.h"

typedef struct hf__backlog {
    hf__loop *loop;
    hf__store *store;
    /* Runs a bundle, and completes each of its requests. */
    void (*run)(hf__store *store, hf__request *const *requests, size_t count);
    size_t bundle_max;
    pthread_mutex_t mutex; /* guards the rest */
    hf__request *first;    /* linked by `driver` */
    hf__request *last;
    bool posted; /* the task is posted, or runs */
    hf__task task;
} hf__backlog;

void hf__backlog_init(hf__backlog *backlog, hf__loop *loop, hf__store *store,
                      void (*run)(hf__store *store,
                                  hf__request *const *requests, size_t count),
                      size_t bundle_max);

/* Queue a request; false: no loop thread. Any thread. */
bool hf__backlog_add(hf__backlog *backlog, hf__request *request);

/* Remove a request; false: no longer queued. */
bool hf__backlog_remove(hf__backlog *backlog, const hf__request *request);

/* Run the rest; no more are added. Not on the loop thread. */
void hf__backlog_close(hf__backlog *backlog);

#endif
