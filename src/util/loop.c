/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop.c - the background thread: its start, its queue of tasks, its end.
 *
 * Life: IDLE, then RUNNING once hf__loop_start() made the thread, until
 * hf__loop_free() sets `ending`, wakes the thread and joins it. The thread ends
 * when `ending` is set and the queue is empty.
 *
 * Locks: `mutex` guards the queue and `ending`, and makes starts take turns.
 * The wake-up is sent under it, so that a thread that waits for a task cannot
 * free the loop while the poster still uses it. A fork() may leave the mutex
 * locked in the child, which therefore never takes it.
 */
#include "util/loop.h"

#include "util/error.h"
#include "util/event_fd.h"
#include "util/fork.h"
#include "util/futex.h"
#include "util/mem.h"
#include "util/poll.h"
#include "util/thread.h"
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

struct hf__loop {
    pthread_mutex_t mutex;
    hf__task *first; /* queue, oldest first */
    hf__task *last;
    bool ending;
    atomic_bool running;
    uint32_t fork_generation;
    pthread_t thread;
    hf__poller poller;
    hf__poll wake; /* an eventfd */
    bool left;     /* the thread's: nothing more is due */
};

/* The loop whose thread this is. */
static _Thread_local const hf__loop *current;

hf__loop *hf__loop_new(void)
{
    hf__loop *loop = hf__calloc(1, sizeof(*loop));

    if (loop == NULL)
        return NULL;
    pthread_mutex_init(&loop->mutex, NULL);
    loop->fork_generation = hf__fork_generation();
    return loop;
}

static bool is_forked(const hf__loop *loop)
{
    return loop->fork_generation != hf__fork_generation();
}

/* Take the whole queue; tasks posted meanwhile get a turn of their own, after
 * the sockets had theirs. */
static hf__task *take_tasks(hf__loop *loop, bool *ending)
{
    hf__task *tasks;

    pthread_mutex_lock(&loop->mutex);
    tasks = loop->first;
    loop->first = loop->last = NULL;
    *ending = loop->ending;
    pthread_mutex_unlock(&loop->mutex);
    return tasks;
}

static void run_tasks(hf__task *task)
{
    while (task != NULL) {
        hf__task *next = task->next; /* run() may free or post the task */

        task->run(task);
        task = next;
    }
}

static void on_wake(hf__poll *wake, int events)
{
    hf__loop *loop = wake->user;
    bool ending;
    hf__task *tasks;

    (void)events;
    /* Before the queue is taken: later posters wake again. */
    hf__event_fd_lower(wake->fd);
    tasks = take_tasks(loop, &ending);
    run_tasks(tasks);
    if (!ending)
        return;
    while ((tasks = take_tasks(loop, &ending)) != NULL)
        run_tasks(tasks);
    loop->left = true;
}

static void *run_thread(void *user)
{
    hf__loop *loop = user;

    current = loop;
    while (!loop->left)
        hf__poller_turn(&loop->poller);
    return NULL;
}

static int create_thread(hf__loop *loop)
{
    int rc = hf__thread_start(&loop->thread, run_thread, loop);

    if (rc == 0)
        pthread_setname_np(loop->thread, "holdfast");
    return rc;
}

static int open_wake(hf__loop *loop)
{
    int rc;

    loop->wake.ready = on_wake;
    loop->wake.user = loop;
    loop->wake.added = false;
    loop->wake.fd = hf__event_fd_new();
    if (loop->wake.fd < 0)
        return errno;
    rc = hf__poll_watch(&loop->poller, &loop->wake, HF__POLL_IN);
    if (rc != 0)
        hf__event_fd_free(loop->wake.fd);
    return rc;
}

static hf_status start_locked(hf__loop *loop, hf_error *err)
{
    int rc = hf__poller_open(&loop->poller);

    if (rc != 0)
        return hf__fail_errno(err, HF_SYSTEM, rc,
                              "cannot create an event loop");
    rc = open_wake(loop);
    if (rc != 0) {
        hf__fail_errno(err, HF_SYSTEM, rc, "cannot create an eventfd");
        goto close_poller;
    }
    rc = create_thread(loop);
    if (rc != 0) {
        hf__fail_errno(err, HF_SYSTEM, rc, "cannot start a thread");
        goto close_wake;
    }
    atomic_store_explicit(&loop->running, true, memory_order_release);
    return HF_OK;

close_wake:
    hf__event_fd_free(loop->wake.fd);
close_poller:
    hf__poller_close(&loop->poller);
    return HF_SYSTEM;
}

hf_status hf__loop_start(hf__loop *loop, hf_error *err)
{
    hf_status status = HF_OK;

    if (is_forked(loop))
        return hf__fail(err, HF_INVALID,
                        "the client belongs to the process before fork()");
    if (hf__loop_started(loop))
        return HF_OK;
    pthread_mutex_lock(&loop->mutex);
    if (!hf__loop_started(loop))
        status = start_locked(loop, err);
    pthread_mutex_unlock(&loop->mutex);
    return status;
}

bool hf__loop_started(const hf__loop *loop)
{
    return atomic_load_explicit(&loop->running, memory_order_acquire);
}

bool hf__loop_here(const hf__loop *loop)
{
    return current == loop;
}

struct hf__poller *hf__loop_poller(hf__loop *loop)
{
    return &loop->poller;
}

void hf__loop_post(hf__loop *loop, hf__task *task)
{
    assert(hf__loop_started(loop) && !is_forked(loop));
    task->next = NULL;
    pthread_mutex_lock(&loop->mutex);
    if (loop->last != NULL) {
        loop->last->next = task;
    } else {
        loop->first = task;
        hf__event_fd_raise(loop->wake.fd);
    }
    loop->last = task;
    pthread_mutex_unlock(&loop->mutex);
}

typedef struct loop_call {
    hf__task base;
    hf__task *task;
    uint32_t done;
} loop_call;

static void run_call(hf__task *task)
{
    loop_call *self = (loop_call *)task;
    uint32_t *done = &self->done;

    if (self->task != NULL)
        self->task->run(self->task);
    __atomic_store_n(done, 1, __ATOMIC_RELEASE);
    /* The caller may have freed the word by now. It is not read: a private wake
     * only looks for sleepers on the address. */
    hf__futex_wake_all(done, false);
}

void hf__loop_call(hf__loop *loop, hf__task *task)
{
    loop_call self = {.base.run = run_call, .task = task};

    assert(!hf__loop_here(loop));
    hf__loop_post(loop, &self.base);
    while (__atomic_load_n(&self.done, __ATOMIC_ACQUIRE) == 0)
        hf__futex_wait(&self.done, 0, INT64_MAX, false);
}

void hf__loop_run(hf__loop *loop, hf__task *task)
{
    if (hf__loop_here(loop))
        task->run(task);
    else
        hf__loop_call(loop, task);
}

static void end_thread(hf__loop *loop)
{
    pthread_mutex_lock(&loop->mutex);
    loop->ending = true;
    hf__event_fd_raise(loop->wake.fd);
    pthread_mutex_unlock(&loop->mutex);
    pthread_join(loop->thread, NULL);
    hf__event_fd_free(loop->wake.fd);
    hf__poller_close(&loop->poller);
}

void hf__loop_free(hf__loop *loop)
{
    if (loop == NULL)
        return;
    assert(!hf__loop_here(loop));
    /* In a forked child the epoll set is the parent's. */
    if (!is_forked(loop)) {
        if (hf__loop_started(loop))
            end_thread(loop);
        pthread_mutex_destroy(&loop->mutex);
    }
    hf__free(loop);
}
