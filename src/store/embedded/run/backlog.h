/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backlog.h - asynchronous requests of a durable store, on their way to the
 * loop thread.
 *
 * A commit to disk takes too long for a caller who asked not to wait, and is
 * shared best by those who come together. So such a request is queued here;
 * the loop thread runs what has come in bundles. What comes while a bundle
 * waits for the disk is in the next one.
 */
#ifndef HF__EMBEDDED_BACKLOG_H
#define HF__EMBEDDED_BACKLOG_H

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
    bool posted; /* the task is on its way, or runs */
    hf__task task;
} hf__backlog;

void hf__backlog_init(hf__backlog *backlog, hf__loop *loop, hf__store *store,
                      void (*run)(hf__store *store,
                                  hf__request *const *requests, size_t count),
                      size_t bundle_max);

/* Queue a request; false: there is no loop thread. Any thread. */
bool hf__backlog_add(hf__backlog *backlog, hf__request *request);

/* Take a request out again; false: it is not queued any more. */
bool hf__backlog_remove(hf__backlog *backlog, const hf__request *request);

/* Run what is there. Nobody adds any more. Not from the loop thread. */
void hf__backlog_close(hf__backlog *backlog);

#endif
