/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker.h - a thread that takes samples and breaks locks, so that keys
 * work while a store does not reply.
 *
 * A sample is the receiver's from top_worker_next() on. The thread compares the
 * next one with it, so it is freed only after a later one was received.
 */
#ifndef HOLDFAST_CLI_TOP_WORKER_H
#define HOLDFAST_CLI_TOP_WORKER_H

#include "lock_sample.h"
#include "top/figures.h"

struct top_worker;

/* What has happened since the last call of top_worker_next(). */
struct top_news {
    struct lock_sample *sample;     /* NULL: none */
    char figures[TOP_FIGURES_SIZE]; /* with it */
    bool tried; /* to take one; `status` and `err` say how */
    hf_status status;
    hf_error err;
    bool broke; /* a break has ended; `break_status` and `break_err` */
    hf_status break_status;
    hf_error break_err;
};

/* Begin with a sample. `pattern` stays. NULL: out of memory or threads. */
struct top_worker *top_worker_start(hf_client *client, hf_bytes pattern,
                                    int64_t interval_ms);

/* Polls readable when top_worker_next() has something. */
int top_worker_fd(const struct top_worker *worker);
void top_worker_next(struct top_worker *worker, struct top_news *news);

/* From the next pause on. */
void top_worker_set(struct top_worker *worker, int64_t interval_ms,
                    bool paused);

/* Break this lock if `owner` still holds it, and take a sample. */
void top_worker_break(struct top_worker *worker, hf_bytes name, hf_bytes owner);

/* False: a request is still under way after 300 ms; the worker and the client
 * are in use until the process ends. */
bool top_worker_stop(struct top_worker *worker);

/* The pause after a sample (may be NULL), ms: longer than the interval if the
 * store is slow or has many locks, so that it is spared. */
int64_t top_pause_ms(const struct lock_sample *sample, int64_t interval_ms);

#endif
