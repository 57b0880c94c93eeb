/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampler.c - see sampler.h.
 *
 * A suspended connection cannot end, so a waiter in the list is valid until it
 * is resumed, and not used after that. It is put into the list under the mutex,
 * with the connection suspended before, so that it is not resumed first.
 */
#include "http/sampler.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "complain.h"
#include "lease_clock.h"

/* A view is made at most this often, and is this long good for others. */
#define VIEW_MS 1000

/* How often connections past their limit are looked for. */
#define CUT_MS 1000

struct http_sampler {
    struct http_source *source;
    struct http_conns *conns;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    bool stops;
    struct http_waiter *waiters; /* for a view */
    struct http_waiter *breaks;  /* for a lock to be broken */
    struct http_view *latest;    /* may be NULL */
    int64_t next_ms;             /* not before this one is made */
};

static void resume_all(struct http_waiter **list, struct http_view *view)
{
    while (*list != NULL) {
        struct http_waiter *waiter = *list;

        *list = waiter->next;
        waiter->view = view == NULL ? NULL : http_view_use(view);
        MHD_resume_connection(waiter->connection);
    }
}

/* The next view is made at once: it should show this. */
static void break_one_locked(struct http_sampler *sampler)
{
    struct http_waiter *waiter = sampler->breaks;

    sampler->breaks = waiter->next;
    pthread_mutex_unlock(&sampler->mutex);
    waiter->status = http_source_break(sampler->source, waiter->broken,
                                       waiter->owner, &waiter->err);
    pthread_mutex_lock(&sampler->mutex);
    sampler->next_ms = 0;
    waiter->next = NULL;
    resume_all(&waiter, NULL);
}

static void make_view_locked(struct http_sampler *sampler)
{
    struct http_waiter *waiters = sampler->waiters;
    int64_t began_ms = now_ms();
    struct http_view *view;
    int64_t pause_ms;

    sampler->waiters = NULL;
    pthread_mutex_unlock(&sampler->mutex);
    view = http_view_make(sampler->source);
    pause_ms = (now_ms() - began_ms) * 10;
    pthread_mutex_lock(&sampler->mutex);
    http_view_drop(sampler->latest);
    sampler->latest = view;
    sampler->next_ms = began_ms + (pause_ms > VIEW_MS ? pause_ms : VIEW_MS);
    resume_all(&waiters, view);
}

static void sleep_locked(struct http_sampler *sampler, int64_t ms)
{
    struct timespec until;

    if (ms < 0) {
        pthread_cond_wait(&sampler->wake, &sampler->mutex);
        return;
    }
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += (long)ms * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&sampler->wake, &sampler->mutex, &until);
}

/* Do what is due; how long to sleep then, ms; -1: until woken. */
static int64_t work_locked(struct http_sampler *sampler)
{
    int64_t rest_ms = sampler->next_ms - now_ms();
    bool waits = sampler->waiters != NULL;

    if (sampler->breaks != NULL) {
        break_one_locked(sampler);
        return 0;
    }
    if (waits && rest_ms <= 0) {
        make_view_locked(sampler);
        return 0;
    }
    if (http_conns_cut(sampler->conns) == 0)
        return -1;
    return waits && rest_ms < CUT_MS ? rest_ms : CUT_MS;
}

static void *run_sampler(void *user)
{
    struct http_sampler *sampler = user;

    pthread_mutex_lock(&sampler->mutex);
    while (!sampler->stops) {
        int64_t sleep_ms = work_locked(sampler);

        if (sleep_ms != 0 && !sampler->stops)
            sleep_locked(sampler, sleep_ms);
    }
    resume_all(&sampler->waiters, NULL);
    resume_all(&sampler->breaks, NULL);
    pthread_mutex_unlock(&sampler->mutex);
    return NULL;
}

struct http_sampler *http_sampler_start(struct http_source *source,
                                        struct http_conns *conns)
{
    struct http_sampler *sampler = calloc(1, sizeof(*sampler));
    pthread_condattr_t clock;
    int failed;

    if (sampler == NULL) {
        complain("serve --http", "out of memory");
        return NULL;
    }
    sampler->source = source;
    sampler->conns = conns;
    pthread_mutex_init(&sampler->mutex, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&sampler->wake, &clock);
    pthread_condattr_destroy(&clock);
    failed = pthread_create(&sampler->thread, NULL, run_sampler, sampler);
    if (failed == 0)
        return sampler;
    complain("serve --http", "cannot start a thread: %s", strerror(failed));
    http_sampler_free(sampler);
    return NULL;
}

void http_sampler_stop(struct http_sampler *sampler)
{
    pthread_mutex_lock(&sampler->mutex);
    sampler->stops = true;
    pthread_cond_signal(&sampler->wake);
    pthread_mutex_unlock(&sampler->mutex);
    pthread_join(sampler->thread, NULL);
}

void http_sampler_free(struct http_sampler *sampler)
{
    if (sampler == NULL)
        return;
    http_view_drop(sampler->latest);
    pthread_cond_destroy(&sampler->wake);
    pthread_mutex_destroy(&sampler->mutex);
    free(sampler);
}

void http_sampler_wake(struct http_sampler *sampler)
{
    pthread_mutex_lock(&sampler->mutex);
    pthread_cond_signal(&sampler->wake);
    pthread_mutex_unlock(&sampler->mutex);
}

/* true: not suspended, since the server ends. */
static bool suspend_locked(struct http_sampler *sampler,
                           struct http_waiter **list,
                           struct http_waiter *waiter)
{
    if (sampler->stops)
        return true;
    MHD_suspend_connection(waiter->connection);
    waiter->next = *list;
    *list = waiter;
    pthread_cond_signal(&sampler->wake);
    return false;
}

bool http_sampler_view(struct http_sampler *sampler, struct http_waiter *waiter,
                       const struct http_view *seen)
{
    struct http_view *latest;
    bool done = true;

    waiter->view = NULL;
    pthread_mutex_lock(&sampler->mutex);
    latest = sampler->latest;
    if (latest != NULL && latest != seen && !sampler->stops &&
        now_ms() - latest->made_ms < VIEW_MS)
        waiter->view = http_view_use(latest);
    else
        done = suspend_locked(sampler, &sampler->waiters, waiter);
    pthread_mutex_unlock(&sampler->mutex);
    return done;
}

bool http_sampler_break(struct http_sampler *sampler,
                        struct http_waiter *waiter)
{
    bool done;

    waiter->status = HF_UNAVAILABLE;
    pthread_mutex_lock(&sampler->mutex);
    done = suspend_locked(sampler, &sampler->breaks, waiter);
    pthread_mutex_unlock(&sampler->mutex);
    return done;
}
