/* SPDX-License-Identifier: Apache-2.0 */
/* worker.c - see worker.h. */
#include "top/worker.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "lease_clock.h"

/* How long top_worker_stop() waits. */
#define STOP_MS 300

/* A sample may have been slow only this time. */
#define SPARE_MAX_MS 5000

struct top_worker {
    hf_client *client;
    hf_bytes pattern;
    atomic_bool stop;
    int fd; /* eventfd */
    pthread_t thread;
    const struct lock_sample *last; /* for the next one; the thread's */

    pthread_mutex_t mutex; /* guards what follows */
    pthread_cond_t changed;
    struct top_news news;
    int64_t interval_ms;
    int64_t due_ms; /* the next sample */
    bool paused;
    bool wanted; /* a sample, though it is paused */
    bool ended;
    bool breaks;
    char name[HF_NAME_MAX]; /* of the lock to be broken */
    size_t name_size;
    char owner[HF_LOCK_INFO_OWNER_MAX];
    size_t owner_size;
};

int64_t top_pause_ms(const struct lock_sample *sample, int64_t interval_ms)
{
    int64_t least_ms =
        sample == NULL ? 0 : 4 * (sample->ended_ms - sample->began_ms);

    if (least_ms > SPARE_MAX_MS)
        least_ms = SPARE_MAX_MS;
    return least_ms > interval_ms ? least_ms : interval_ms;
}

/* -------------------------------------------------------------- the thread */

/* Until `changed` is signalled, or the clock of leases shows `until_ms`. */
static void wait_locked(struct top_worker *worker, int64_t until_ms)
{
    struct timespec at;
    int64_t rest_ms = until_ms - now_ms();

    clock_gettime(CLOCK_MONOTONIC, &at);
    rest_ms = rest_ms < 0 ? 0 : rest_ms;
    at.tv_sec += (time_t)(rest_ms / 1000);
    at.tv_nsec += (long)(rest_ms % 1000 * 1000000);
    at.tv_sec += at.tv_nsec / 1000000000;
    at.tv_nsec %= 1000000000;
    (void)pthread_cond_timedwait(&worker->changed, &worker->mutex, &at);
}

/* Wait for something to do; true: break a lock. */
static bool await_work_locked(struct top_worker *worker)
{
    while (!atomic_load(&worker->stop) && !worker->breaks && !worker->wanted &&
           (worker->paused || now_ms() < worker->due_ms)) {
        if (worker->paused)
            (void)pthread_cond_wait(&worker->changed, &worker->mutex);
        else
            wait_locked(worker, worker->due_ms);
    }
    return worker->breaks;
}

static void notify_screen(struct top_worker *worker)
{
    uint64_t one = 1;

    (void)!write(worker->fd, &one, sizeof(one));
}

static void take_sample(struct top_worker *worker)
{
    struct lock_sample *sample = NULL;
    char figures[TOP_FIGURES_SIZE] = "";
    hf_error err = HF_ERROR_INIT;
    hf_status status =
        lock_sample_take(worker->client, worker->pattern, worker->last,
                         &worker->stop, &sample, &err);

    if (sample != NULL)
        top_figures_read(worker->client, figures);
    pthread_mutex_lock(&worker->mutex);
    worker->wanted = false;
    worker->due_ms = now_ms() + top_pause_ms(sample, worker->interval_ms);
    worker->news.tried = true;
    worker->news.status = status;
    worker->news.err = err;
    if (sample != NULL) {
        lock_sample_free(worker->news.sample); /* was not received */
        worker->news.sample = sample;
        memcpy(worker->news.figures, figures, sizeof(figures));
        worker->last = sample;
    }
    pthread_mutex_unlock(&worker->mutex);
}

/* Nothing changes the name before the end is noted. */
static void break_lock(struct top_worker *worker)
{
    hf_error err = HF_ERROR_INIT;
    hf_status status = lock_sample_break(
        worker->client, hf_view(worker->name, worker->name_size),
        hf_view(worker->owner, worker->owner_size), &err);

    pthread_mutex_lock(&worker->mutex);
    worker->breaks = false;
    worker->wanted = true;
    worker->news.broke = true;
    worker->news.break_status = status;
    worker->news.break_err = err;
    pthread_mutex_unlock(&worker->mutex);
}

static void *worker_thread(void *arg)
{
    struct top_worker *worker = arg;

    for (;;) {
        bool breaks;

        pthread_mutex_lock(&worker->mutex);
        breaks = await_work_locked(worker);
        if (atomic_load(&worker->stop)) {
            worker->ended = true;
            pthread_cond_broadcast(&worker->changed);
            pthread_mutex_unlock(&worker->mutex);
            return NULL;
        }
        pthread_mutex_unlock(&worker->mutex);
        if (breaks)
            break_lock(worker);
        else
            take_sample(worker);
        notify_screen(worker);
    }
}

/* --------------------------------------------------------------- the calls */

static bool start_thread(struct top_worker *worker)
{
    sigset_t all, before;
    int failed;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = pthread_create(&worker->thread, NULL, worker_thread, worker);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed == 0;
}

struct top_worker *top_worker_start(hf_client *client, hf_bytes pattern,
                                    int64_t interval_ms)
{
    struct top_worker *worker = calloc(1, sizeof(*worker));
    pthread_condattr_t monotonic;

    if (worker == NULL)
        return NULL;
    worker->client = client;
    worker->pattern = pattern;
    worker->interval_ms = interval_ms;
    worker->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pthread_mutex_init(&worker->mutex, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&worker->changed, &monotonic);
    if (worker->fd >= 0 && start_thread(worker))
        return worker;
    if (worker->fd >= 0)
        close(worker->fd);
    free(worker);
    return NULL;
}

int top_worker_fd(const struct top_worker *worker)
{
    return worker->fd;
}

void top_worker_next(struct top_worker *worker, struct top_news *news)
{
    uint64_t count;

    (void)!read(worker->fd, &count, sizeof(count));
    pthread_mutex_lock(&worker->mutex);
    *news = worker->news;
    memset(&worker->news, 0, sizeof(worker->news));
    pthread_mutex_unlock(&worker->mutex);
}

void top_worker_set(struct top_worker *worker, int64_t interval_ms, bool paused)
{
    pthread_mutex_lock(&worker->mutex);
    if (worker->due_ms > now_ms() + interval_ms)
        worker->due_ms = now_ms() + interval_ms;
    worker->interval_ms = interval_ms;
    worker->paused = paused;
    pthread_cond_signal(&worker->changed);
    pthread_mutex_unlock(&worker->mutex);
}

void top_worker_break(struct top_worker *worker, hf_bytes name, hf_bytes owner)
{
    pthread_mutex_lock(&worker->mutex);
    if (!worker->breaks && name.size <= sizeof(worker->name)) {
        worker->breaks = true;
        memcpy(worker->name, name.data, name.size);
        worker->name_size = name.size;
        memcpy(worker->owner, owner.data, owner.size);
        worker->owner_size = owner.size;
        pthread_cond_signal(&worker->changed);
    }
    pthread_mutex_unlock(&worker->mutex);
}

bool top_worker_stop(struct top_worker *worker)
{
    int64_t until_ms = now_ms() + STOP_MS;
    bool ended;

    pthread_mutex_lock(&worker->mutex);
    atomic_store(&worker->stop, true);
    pthread_cond_broadcast(&worker->changed);
    while (!worker->ended && now_ms() < until_ms)
        wait_locked(worker, until_ms);
    ended = worker->ended;
    pthread_mutex_unlock(&worker->mutex);
    if (!ended)
        return false;
    pthread_join(worker->thread, NULL);
    lock_sample_free(worker->news.sample);
    close(worker->fd);
    free(worker);
    return true;
}
