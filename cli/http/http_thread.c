/* SPDX-License-Identifier: Apache-2.0 */
/* http_thread.c - see http_thread.h. */
#include "http/http_thread.h"

#include <string.h>
#include <time.h>

#include "complain.h"

/* Before it looks again. */
#define SLEEP_MAX_MS 60000

bool http_thread_start(struct http_thread *thread, void *(*run)(void *user),
                       void *user)
{
    pthread_condattr_t clock;
    int failed;

    pthread_mutex_init(&thread->mutex, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&thread->wake, &clock);
    pthread_condattr_destroy(&clock);
    failed = pthread_create(&thread->id, NULL, run, user);
    if (failed == 0)
        return true;
    complain("serve --http", "cannot start a thread: %s", strerror(failed));
    http_thread_done(thread);
    return false;
}

void http_thread_wake(struct http_thread *thread)
{
    pthread_mutex_lock(&thread->mutex);
    pthread_cond_signal(&thread->wake);
    pthread_mutex_unlock(&thread->mutex);
}

void http_thread_sleep_locked(struct http_thread *thread, int64_t ms)
{
    struct timespec until;

    if (ms > SLEEP_MAX_MS)
        ms = SLEEP_MAX_MS;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += (long)(ms % 1000) * 1000000;
    until.tv_sec += (time_t)(ms / 1000) + until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&thread->wake, &thread->mutex, &until);
}

void http_thread_stop(struct http_thread *thread)
{
    pthread_mutex_lock(&thread->mutex);
    thread->stops = true;
    pthread_cond_signal(&thread->wake);
    pthread_mutex_unlock(&thread->mutex);
    pthread_join(thread->id, NULL);
}

void http_thread_done(struct http_thread *thread)
{
    pthread_cond_destroy(&thread->wake);
    pthread_mutex_destroy(&thread->mutex);
}
