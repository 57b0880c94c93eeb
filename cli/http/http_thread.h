/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_thread.h - a thread with a mutex, that sleeps until it is woken.
 */
#ifndef HOLDFAST_CLI_HTTP_HTTP_THREAD_H
#define HOLDFAST_CLI_HTTP_HTTP_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct http_thread {
    pthread_t id;
    pthread_mutex_t mutex; /* guards what its owner has, and: */
    bool stops;            /* it is to return */
    pthread_cond_t wake;
};

/* false: an error was printed, and there is nothing to be freed. */
bool http_thread_start(struct http_thread *thread, void *(*run)(void *user),
                       void *user);

void http_thread_wake(struct http_thread *thread);

/* For so long, or until it is woken; it may also wake early. */
void http_thread_sleep_locked(struct http_thread *thread, int64_t ms);

/* Set `stops`, and wait for its end. */
void http_thread_stop(struct http_thread *thread);

/* After it has ended. */
void http_thread_done(struct http_thread *thread);

#endif
