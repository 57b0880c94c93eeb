/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop.c - the background thread: its start, its queue of tasks, its end.
 *
 * Life: IDLE, then RUNNING once hf__loop_start() made the thread, until
 * hf__loop_free() sets `ending`, wakes the thread and joins it. The thread
 * leaves when it is told to end and the queue is empty.
 *
 * Locks: `mutex` guards the queue and `ending`, and makes starts take turns.
 * The wake-up is sent under it, so that nobody who waits for a task can free
 * the loop while its poster is still in uv_async_send(). A fork() may leave
 * the mutex locked for ever in the child, which therefore never takes it.
 */
#include "util/loop.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <uv.h>

#include "util/error.h"
#include "util/fork.h"
#include "util/futex.h"
#include "util/mem.h"

/* Turns of the uv loop that closing handles may need after the last task. */
#define CLOSE_TURNS_MAX 64

struct hf__loop {
    pthread_mutex_t mutex;
    hf__task *first; /* queue, oldest first */
    hf__task *last;
    bool ending;
    atomic_bool running;
    uint32_t fork_generation;
    pthread_t thread;
    uv_loop_t uv;
    uv_async_t wake;
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

static void on_wake(uv_async_t *wake)
{
    hf__loop *loop = wake->data;
    bool ending;
    hf__task *tasks = take_tasks(loop, &ending);

    run_tasks(tasks);
    if (!ending)
        return;
    while ((tasks = take_tasks(loop, &ending)) != NULL)
        run_tasks(tasks);
    uv_close((uv_handle_t *)wake, NULL);
    uv_stop(&loop->uv);
}

static void *run_thread(void *user)
{
    hf__loop *loop = user;
    int turns = 0;

    current = loop;
    uv_run(&loop->uv, UV_RUN_DEFAULT);
    while (uv_run(&loop->uv, UV_RUN_NOWAIT) != 0 && turns < CLOSE_TURNS_MAX)
        turns++;
    return NULL;
}

/* Signals are for the program's own threads. */
static int create_thread(hf__loop *loop)
{
    sigset_t all, before;
    int rc;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    rc = pthread_create(&loop->thread, NULL, run_thread, loop);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc == 0)
        pthread_setname_np(loop->thread, "holdfast");
    return rc;
}

static hf_status start_locked(hf__loop *loop, hf_error *err)
{
    int rc = uv_loop_init(&loop->uv);

    if (rc != 0)
        return hf__fail_errno(err, HF_SYSTEM, -rc, "cannot make an event loop");
    rc = uv_async_init(&loop->uv, &loop->wake, on_wake);
    if (rc != 0) {
        hf__fail_errno(err, HF_SYSTEM, -rc, "cannot make a wake-up");
        goto close_loop;
    }
    loop->wake.data = loop;
    rc = create_thread(loop);
    if (rc != 0) {
        hf__fail_errno(err, HF_SYSTEM, rc, "cannot start a thread");
        goto close_wake;
    }
    atomic_store_explicit(&loop->running, true, memory_order_release);
    return HF_OK;

close_wake:
    uv_close((uv_handle_t *)&loop->wake, NULL);
    uv_run(&loop->uv, UV_RUN_NOWAIT);
close_loop:
    uv_loop_close(&loop->uv);
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

struct uv_loop_s *hf__loop_uv(hf__loop *loop)
{
    return &loop->uv;
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
        uv_async_send(&loop->wake);
    }
    loop->last = task;
    pthread_mutex_unlock(&loop->mutex);
}

typedef struct call {
    hf__task base;
    hf__task *task;
    uint32_t done;
} call;

static void run_call(hf__task *task)
{
    call *self = (call *)task;
    uint32_t *done = &self->done;

    self->task->run(self->task);
    __atomic_store_n(done, 1, __ATOMIC_RELEASE);
    /* The caller may have gone with the word by now. Nothing reads it: a
     * private wake only looks for sleepers on the address. */
    hf__futex_wake_all(done, false);
}

void hf__loop_call(hf__loop *loop, hf__task *task)
{
    call self = {.base.run = run_call, .task = task};

    assert(!hf__loop_here(loop));
    hf__loop_post(loop, &self.base);
    while (__atomic_load_n(&self.done, __ATOMIC_ACQUIRE) == 0)
        hf__futex_wait(&self.done, 0, INT64_MAX, false);
}

static void end_thread(hf__loop *loop)
{
    int rc;

    pthread_mutex_lock(&loop->mutex);
    loop->ending = true;
    uv_async_send(&loop->wake);
    pthread_mutex_unlock(&loop->mutex);
    pthread_join(loop->thread, NULL);
    rc = uv_loop_close(&loop->uv);
    assert(rc == 0); /* else a handle was left open */
    (void)rc;
}

void hf__loop_free(hf__loop *loop)
{
    if (loop == NULL)
        return;
    assert(!hf__loop_here(loop));
    /* In a forked child the descriptors are shared with the parent, whose
     * epoll set libuv would change: what libuv holds is left to the exit. */
    if (!is_forked(loop)) {
        if (hf__loop_started(loop))
            end_thread(loop);
        pthread_mutex_destroy(&loop->mutex);
    }
    hf__free(loop);
}
