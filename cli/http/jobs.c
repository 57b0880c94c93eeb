/* SPDX-License-Identifier: Apache-2.0 */
/* jobs.c - see jobs.h. */
#include "http/jobs.h"

#include <poll.h>
#include <stdlib.h>

#include "complain.h"
#include "http/http_thread.h"
#include "lease_clock.h"

/* More that wait are refused, as each may take seconds. The last places are for
 * those that change something, so that no number of queries keeps a lock from
 * being broken. */
#define JOBS_MAX 12
#define READS_MAX 8

/* A job that has not begun by then is not run. The limit of an answer (http.c)
 * is longer than this and the commands of a job take. */
#define JOB_MS 10000

struct http_jobs {
    struct http_source *source;
    struct http_sampler *sampler;
    struct http_thread thread;
    struct http_waiter *first; /* guarded by its mutex, as all below */
    int count;
    int64_t next_ms; /* not before this one is run; of now_ms() */
};

static bool is_change(const struct http_waiter *waiter)
{
    return waiter->query == NULL || waiter->query->writes;
}

/* Is it of no use to run this? A client that reads may have closed its sending
 * side; of one that changes something this says that it is gone. */
static bool is_dropped(const struct http_waiter *waiter)
{
    struct pollfd socket = {.events = is_change(waiter) ? POLLRDHUP : 0};

    socket.fd = MHD_get_connection_info(waiter->connection,
                                        MHD_CONNECTION_INFO_CONNECTION_FD)
                    ->connect_fd;
    return poll(&socket, 1, 0) != 0;
}

static struct http_waiter *take_first_locked(struct http_jobs *jobs)
{
    struct http_waiter *waiter = jobs->first;

    jobs->first = waiter->next;
    jobs->count--;
    waiter->next = NULL;
    return waiter;
}

/* Resume those that are not to be run any more; they are in the order of
 * their limits. */
static void drop_late_locked(struct http_jobs *jobs)
{
    while (jobs->first != NULL &&
           (jobs->first->until_ms <= now_ms() || is_dropped(jobs->first))) {
        struct http_waiter *waiter = take_first_locked(jobs);

        http_waiters_resume(&waiter, NULL);
    }
}

/* Then none is run for as long as this one took, so that they take half of the
 * time. */
static void run_one_locked(struct http_jobs *jobs)
{
    struct http_waiter *waiter = take_first_locked(jobs);
    int64_t began_ms = now_ms();

    pthread_mutex_unlock(&jobs->thread.mutex);
    if (waiter->query != NULL) {
        waiter->code =
            http_query_run(waiter->query, jobs->source, waiter->words,
                           waiter->until_ms, &waiter->text, &waiter->size);
    } else {
        waiter->status = http_source_break(jobs->source, waiter->words[0],
                                           waiter->words[1], &waiter->err);
        http_sampler_renew(jobs->sampler);
    }
    pthread_mutex_lock(&jobs->thread.mutex);
    jobs->next_ms = 2 * now_ms() - began_ms;
    http_waiters_resume(&waiter, NULL);
}

static void *run_jobs(void *user)
{
    struct http_jobs *jobs = user;

    pthread_mutex_lock(&jobs->thread.mutex);
    while (!jobs->thread.stops) {
        int64_t sleep_ms;

        drop_late_locked(jobs);
        sleep_ms = jobs->first == NULL ? INT64_MAX : jobs->next_ms - now_ms();
        if (sleep_ms <= 0)
            run_one_locked(jobs);
        else
            http_thread_sleep_locked(&jobs->thread, sleep_ms);
    }
    http_waiters_resume(&jobs->first, NULL);
    pthread_mutex_unlock(&jobs->thread.mutex);
    return NULL;
}

struct http_jobs *http_jobs_start(struct http_source *source,
                                  struct http_sampler *sampler)
{
    struct http_jobs *jobs = calloc(1, sizeof(*jobs));

    if (jobs == NULL) {
        complain("serve --http", "out of memory");
        return NULL;
    }
    jobs->source = source;
    jobs->sampler = sampler;
    if (http_thread_start(&jobs->thread, run_jobs, jobs))
        return jobs;
    free(jobs);
    return NULL;
}

void http_jobs_stop(struct http_jobs *jobs)
{
    http_thread_stop(&jobs->thread);
}

void http_jobs_free(struct http_jobs *jobs)
{
    if (jobs == NULL)
        return;
    http_thread_done(&jobs->thread);
    free(jobs);
}

bool http_jobs_run(struct http_jobs *jobs, struct http_waiter *waiter)
{
    int most = is_change(waiter) ? JOBS_MAX : READS_MAX;
    bool done;

    waiter->status = HF_UNAVAILABLE;
    waiter->until_ms = now_ms() + JOB_MS;
    pthread_mutex_lock(&jobs->thread.mutex);
    done = jobs->count >= most || jobs->thread.stops;
    if (!done) {
        http_waiter_add(&jobs->first, waiter);
        jobs->count++;
        pthread_cond_signal(&jobs->thread.wake);
    }
    pthread_mutex_unlock(&jobs->thread.mutex);
    return done;
}
