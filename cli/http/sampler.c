/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampler.c - see sampler.h.
 *
 * A suspended connection cannot end, so a waiter in the list is valid until it
 * is resumed, and not used after that. It is put into the list under the mutex,
 * with the connection suspended before, so that it is not resumed first.
 */
#include "http/sampler.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "complain.h"
#include "lease_clock.h"

/* A view is made at most this often, and is this long good for others. */
#define VIEW_MS 1000

/* Jobs that wait; more are refused, as each may take seconds. */
#define JOBS_MAX 8

/* A job that has not begun by then is not run. The limit of an answer (http.c)
 * is longer than this and the commands of a job take. */
#define JOB_MS 10000

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
    struct http_waiter *jobs;    /* for a query, or a lock to be broken */
    int job_count;
    struct http_view *latest; /* may be NULL */
    int64_t next_ms;          /* not before this one is made */
    int64_t job_ms;           /* not before this one is run */
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

/* Is it of no use to run this? A client that reads may have closed its sending
 * side; of one that changes something this says that it is gone. */
static bool is_dropped(const struct http_waiter *waiter)
{
    bool writes = waiter->query == NULL || waiter->query->writes;
    struct pollfd socket = {.events = writes ? POLLRDHUP : 0};

    socket.fd = MHD_get_connection_info(waiter->connection,
                                        MHD_CONNECTION_INFO_CONNECTION_FD)
                    ->connect_fd;
    return poll(&socket, 1, 0) != 0;
}

/* Resume those that are not to be run any more; they are in the order of
 * their limits. */
static void drop_late_locked(struct http_sampler *sampler)
{
    struct http_waiter *waiter;

    while ((waiter = sampler->jobs) != NULL &&
           (waiter->until_ms <= now_ms() || is_dropped(waiter))) {
        sampler->jobs = waiter->next;
        sampler->job_count--;
        waiter->next = NULL;
        resume_all(&waiter, NULL);
    }
}

/* After a break the next view is made at once: it should show this. Then no job
 * is run for as long as this one took, so that they take half of the time. */
static void run_one_locked(struct http_sampler *sampler)
{
    struct http_waiter *waiter = sampler->jobs;
    int64_t began_ms = now_ms();

    sampler->jobs = waiter->next;
    sampler->job_count--;
    pthread_mutex_unlock(&sampler->mutex);
    if (waiter->query != NULL)
        waiter->code =
            http_query_run(waiter->query, sampler->source, waiter->words,
                           waiter->until_ms, &waiter->text, &waiter->size);
    else
        waiter->status = http_source_break(sampler->source, waiter->words[0],
                                           waiter->words[1], &waiter->err);
    pthread_mutex_lock(&sampler->mutex);
    if (waiter->query == NULL)
        sampler->next_ms = 0;
    sampler->job_ms = 2 * now_ms() - began_ms;
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

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += (long)(ms % 1000) * 1000000;
    until.tv_sec += (time_t)(ms / 1000) + until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&sampler->wake, &sampler->mutex, &until);
}

static void note_point_locked(struct http_sampler *sampler)
{
    pthread_mutex_unlock(&sampler->mutex);
    http_source_note(sampler->source);
    pthread_mutex_lock(&sampler->mutex);
}

static int64_t less_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Do what is due; how long to sleep then, ms. Views come before jobs: they are
 * made once a second at most. */
static int64_t work_locked(struct http_sampler *sampler)
{
    int64_t rest_ms = sampler->source->history.due_ms - now_ms();
    int64_t view_ms =
        sampler->waiters == NULL ? INT64_MAX : sampler->next_ms - now_ms();
    int64_t job_ms;

    drop_late_locked(sampler);
    job_ms = sampler->jobs == NULL ? INT64_MAX : sampler->job_ms - now_ms();
    if (rest_ms <= 0) {
        note_point_locked(sampler);
        return 0;
    }
    if (view_ms <= 0) {
        make_view_locked(sampler);
        return 0;
    }
    if (job_ms <= 0) {
        run_one_locked(sampler);
        return 0;
    }
    if (http_conns_cut(sampler->conns) != 0)
        rest_ms = less_of(rest_ms, CUT_MS);
    return less_of(rest_ms, less_of(view_ms, job_ms));
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
    resume_all(&sampler->jobs, NULL);
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
    http_source_note(source); /* the history has a first point from now on */
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

/* Behind the others. true: not suspended, since the server ends. */
static bool suspend_locked(struct http_sampler *sampler,
                           struct http_waiter **list,
                           struct http_waiter *waiter)
{
    if (sampler->stops)
        return true;
    MHD_suspend_connection(waiter->connection);
    while (*list != NULL)
        list = &(*list)->next;
    waiter->next = NULL;
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

bool http_sampler_run(struct http_sampler *sampler, struct http_waiter *waiter)
{
    bool done;

    waiter->status = HF_UNAVAILABLE;
    waiter->until_ms = now_ms() + JOB_MS;
    pthread_mutex_lock(&sampler->mutex);
    done = sampler->job_count >= JOBS_MAX ||
           suspend_locked(sampler, &sampler->jobs, waiter);
    sampler->job_count += !done;
    pthread_mutex_unlock(&sampler->mutex);
    return done;
}
