/* SPDX-License-Identifier: Apache-2.0 */
/* sampler.c - see sampler.h. */
#include "http/sampler.h"

#include <stdlib.h>

#include "complain.h"
#include "http/http_thread.h"
#include "http/store_reader.h"
#include "lease_clock.h"

/* A view is made at most this often, and is this long good for others. */
#define VIEW_MS 1000

/* How long one waits for a sample. */
#define SAMPLE_MS 250

/* How often connections past their limit are looked for. */
#define CUT_MS 1000

struct http_sampler {
    struct http_source *source;
    struct http_conns *conns;
    struct http_reader *reader;
    struct http_thread thread;
    struct http_waiter *waiters; /* guarded by its mutex, as all below */
    struct http_view *latest;    /* may be NULL */
    int64_t next_ms;             /* not before this one is made */
    int64_t sample_ms; /* until then it waits for a sample; 0: none was asked
                          for yet */
    bool is_late;      /* it has waited for the one that is being taken */
};

/* How long the view that is due is to wait for a sample, ms. */
static int64_t wait_for_sample(struct http_sampler *sampler)
{
    if (sampler->sample_ms == 0) {
        if (!http_reader_is_busy(sampler->reader))
            sampler->is_late = false;
        http_reader_ask(sampler->reader, false);
        sampler->sample_ms = now_ms() + (sampler->is_late ? 0 : SAMPLE_MS);
    }
    sampler->is_late = http_reader_is_busy(sampler->reader);
    return sampler->is_late ? sampler->sample_ms - now_ms() : 0;
}

static void make_view_locked(struct http_sampler *sampler)
{
    struct http_waiter *waiters = sampler->waiters;
    const struct http_store *store;
    struct http_view *view;

    sampler->waiters = NULL;
    sampler->sample_ms = 0;
    sampler->next_ms = now_ms() + VIEW_MS;
    pthread_mutex_unlock(&sampler->thread.mutex);
    store = http_reader_lock(sampler->reader);
    view = http_view_make(sampler->source, store);
    http_reader_unlock(sampler->reader);
    pthread_mutex_lock(&sampler->thread.mutex);
    http_view_drop(sampler->latest);
    sampler->latest = view;
    http_waiters_resume(&waiters, view);
}

static void note_point(struct http_sampler *sampler)
{
    int64_t size = http_reader_lock(sampler->reader)->facts.size;

    http_reader_unlock(sampler->reader);
    http_history_add(&sampler->source->history, sampler->source->server, size);
}

static int64_t less_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Do what is due; how long to sleep then, ms. */
static int64_t work_locked(struct http_sampler *sampler)
{
    int64_t rest_ms = sampler->source->history.due_ms - now_ms();
    int64_t view_ms =
        sampler->waiters == NULL ? INT64_MAX : sampler->next_ms - now_ms();

    if (rest_ms <= 0) {
        pthread_mutex_unlock(&sampler->thread.mutex);
        note_point(sampler);
        pthread_mutex_lock(&sampler->thread.mutex);
        return 0;
    }
    if (view_ms <= 0)
        view_ms = wait_for_sample(sampler);
    if (view_ms <= 0) {
        make_view_locked(sampler);
        return 0;
    }
    if (http_conns_cut(sampler->conns) != 0)
        rest_ms = less_of(rest_ms, CUT_MS);
    return less_of(rest_ms, view_ms);
}

static void *run_sampler(void *user)
{
    struct http_sampler *sampler = user;

    pthread_mutex_lock(&sampler->thread.mutex);
    while (!sampler->thread.stops) {
        int64_t sleep_ms = work_locked(sampler);

        if (sleep_ms != 0 && !sampler->thread.stops)
            http_thread_sleep_locked(&sampler->thread, sleep_ms);
    }
    http_waiters_resume(&sampler->waiters, NULL);
    pthread_mutex_unlock(&sampler->thread.mutex);
    return NULL;
}

struct http_sampler *http_sampler_start(struct http_source *source,
                                        struct http_conns *conns)
{
    struct http_sampler *sampler = calloc(1, sizeof(*sampler));

    if (sampler == NULL) {
        complain("serve --http", "out of memory");
        return NULL;
    }
    sampler->source = source;
    sampler->conns = conns;
    sampler->reader = http_reader_start(source->client, &sampler->thread);
    if (sampler->reader == NULL)
        goto no_reader;
    note_point(sampler); /* the history has a first point from now on */
    if (http_thread_start(&sampler->thread, run_sampler, sampler))
        return sampler;
    http_reader_stop(sampler->reader);
    http_reader_free(sampler->reader);
no_reader:
    free(sampler);
    return NULL;
}

void http_sampler_stop(struct http_sampler *sampler)
{
    http_thread_stop(&sampler->thread);
    http_reader_stop(sampler->reader);
}

void http_sampler_free(struct http_sampler *sampler)
{
    if (sampler == NULL)
        return;
    http_view_drop(sampler->latest);
    http_reader_free(sampler->reader);
    http_thread_done(&sampler->thread);
    free(sampler);
}

void http_sampler_wake(struct http_sampler *sampler)
{
    http_thread_wake(&sampler->thread);
}

bool http_sampler_view(struct http_sampler *sampler, struct http_waiter *waiter,
                       const struct http_view *seen)
{
    struct http_view *latest;
    bool done = true;

    waiter->view = NULL;
    pthread_mutex_lock(&sampler->thread.mutex);
    latest = sampler->latest;
    if (sampler->thread.stops) {
        /* without one */
    } else if (latest != NULL && latest != seen &&
               now_ms() - latest->made_ms < VIEW_MS) {
        waiter->view = http_view_use(latest);
    } else {
        http_waiter_add(&sampler->waiters, waiter);
        pthread_cond_signal(&sampler->thread.wake);
        done = false;
    }
    pthread_mutex_unlock(&sampler->thread.mutex);
    return done;
}

void http_sampler_renew(struct http_sampler *sampler)
{
    http_reader_ask(sampler->reader, true);
    pthread_mutex_lock(&sampler->thread.mutex);
    sampler->is_late = false;
    sampler->next_ms = 0;
    pthread_cond_signal(&sampler->thread.wake);
    pthread_mutex_unlock(&sampler->thread.mutex);
}
