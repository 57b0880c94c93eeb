/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_loops_test.c - the asynchronous API inside other event loops: GLib's,
 * libuv's, and a plain poll(). In each, one program waits for a lock that
 * another of its clients holds, writes under it and releases it, while the loop
 * runs its own timers.
 */
#include <glib-unix.h>
#include <poll.h>
#include <uv.h>

#include "holdfast/lock.h"
#include "holdfast/value.h"
#include "support/store_fixture.h"

FIXTURE_TESTS();

/* The loop's own work, which must not be held up meanwhile. */
#define TICK_MS 2
#define HOLD_TICKS 20

typedef struct job {
    hf_client *client;
    hf_client *other;
    hf_lock *held;
    hf_lock *wanted;
    hf_bytes key;
    unsigned ticks;
    bool started; /* the loop stops when it ended after that */
    bool ended;
    hf_status status;
} job;

static void end(job *self, hf_status status)
{
    self->status = status;
    self->ended = true;
}

static hf_async then(job *self, hf_done_fn done)
{
    hf_async async = HF_ASYNC_INIT;

    async.done = done;
    async.user = self;
    return async;
}

static void released(void *user, hf_status status, const hf_error *err)
{
    (void)err;
    end(user, status);
}

static void written(void *user, hf_status status, const hf_error *err)
{
    job *self = user;
    hf_async async = then(self, released);

    (void)err;
    if (status == HF_OK)
        status = hf_lock_release_start(self->wanted, &async, NULL);
    if (status != HF_OK)
        end(self, status);
}

static void acquired(void *user, hf_status status, const hf_error *err)
{
    job *self = user;
    hf_async async = then(self, written);

    (void)err;
    if (status == HF_OK)
        status = hf_value_set_start(self->client, self->key, hf_str("yes"),
                                    NULL, NULL, &async, NULL);
    if (status != HF_OK)
        end(self, status);
}

/* The loop's own timer: after a while the holder releases the lock. */
static void tick(job *self)
{
    hf_async async = then(self, acquired);

    if (!self->started) {
        self->started = true;
        self->status = hf_lock_acquire_start(self->wanted, 10000, &async, NULL);
        if (self->status != HF_OK)
            end(self, self->status);
    }
    if (++self->ticks == HOLD_TICKS &&
        hf_lock_release(self->held, NULL) != HF_OK)
        end(self, HF_LOST);
}

static void dispatch(job *self)
{
    hf_status status = hf_client_dispatch(self->client, NULL, NULL);

    if (status != HF_OK)
        end(self, status);
}

/* ------------------------------------------------------------ the three loops
 */

static void run_poll(job *self, int fd)
{
    struct pollfd pfd = {.fd = fd, .events = POLLIN};

    while (!self->ended) {
        if (poll(&pfd, 1, TICK_MS) > 0)
            dispatch(self);
        else
            tick(self);
    }
}

static void uv_ready(uv_poll_t *handle, int status, int events)
{
    job *self = handle->data;

    (void)status;
    (void)events;
    dispatch(self);
    if (self->ended)
        uv_stop(handle->loop);
}

static void uv_tick(uv_timer_t *timer)
{
    job *self = timer->data;

    tick(self);
    if (self->ended)
        uv_stop(timer->loop);
}

static void run_uv(job *self, int fd)
{
    uv_loop_t loop;
    uv_poll_t ready;
    uv_timer_t timer;

    assert_int_equal(uv_loop_init(&loop), 0);
    assert_int_equal(uv_poll_init(&loop, &ready, fd), 0);
    assert_int_equal(uv_timer_init(&loop, &timer), 0);
    ready.data = timer.data = self;
    uv_poll_start(&ready, UV_READABLE, uv_ready);
    uv_timer_start(&timer, uv_tick, TICK_MS, TICK_MS);
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_close((uv_handle_t *)&ready, NULL);
    uv_close((uv_handle_t *)&timer, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
}

typedef struct glib_job {
    job *job;
    GMainLoop *loop;
} glib_job;

static gboolean glib_ready(gint fd, GIOCondition condition, gpointer user)
{
    glib_job *self = user;

    (void)fd;
    (void)condition;
    dispatch(self->job);
    if (self->job->ended)
        g_main_loop_quit(self->loop);
    return G_SOURCE_CONTINUE;
}

static gboolean glib_tick(gpointer user)
{
    glib_job *self = user;

    tick(self->job);
    if (self->job->ended)
        g_main_loop_quit(self->loop);
    return G_SOURCE_CONTINUE;
}

static void run_glib(job *self, int fd)
{
    glib_job both = {self, g_main_loop_new(NULL, FALSE)};
    guint ready = g_unix_fd_add(fd, G_IO_IN, glib_ready, &both);
    guint timer = g_timeout_add(TICK_MS, glib_tick, &both);

    g_main_loop_run(both.loop);
    g_source_remove(ready);
    g_source_remove(timer);
    g_main_loop_unref(both.loop);
}

/* --------------------------------------------------------------------- tests
 */

static void run_job(fixture *f, void (*run)(job *self, int fd))
{
    job self = {.client = f->client, .other = f->other};
    hf_bytes name = fixture_key(f, "loop");
    int fd = -1;

    self.held = fixture_lock(f, f->other, name, NULL);
    self.wanted = fixture_lock(f, f->client, name, NULL);
    self.key = fixture_key(f, "done");
    expect_status(HF_OK, hf_lock_try(self.held, ERR));
    expect_status(HF_OK, hf_client_fd(self.client, &fd, ERR));
    run(&self, fd);
    expect_status(HF_OK, self.status);
    assert_true(self.ticks >= HOLD_TICKS);
    assert_value(self.other, self.key, hf_str("yes"));
}

TEST(poll_loop_waits_for_a_lock)
{
    run_job(*state, run_poll);
}

TEST(libuv_loop_waits_for_a_lock)
{
    run_job(*state, run_uv);
}

TEST(glib_loop_waits_for_a_lock)
{
    run_job(*state, run_glib);
}
