/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop_adapters_test.c - the headers of holdfast/loop: each attaches a client
 * to a loop of its library and detaches it, also from within a done(), and
 * reports once a client that cannot be dispatched.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "holdfast/lock.h"
#include "holdfast/loop/epoll.h"
#include "holdfast/loop/glib.h"
#include "holdfast/loop/libevent.h"
#include "holdfast/loop/uv.h"
#include "holdfast/value.h"
#include "support/await_child.h"
#include "support/store_fixture.h"
#include "support/told.h"

FIXTURE_TESTS();

/* How long a call may take. */
#define PATIENCE_MS 10000

typedef struct loop_case loop_case;

/* A loop with one client. */
typedef struct looped {
    const loop_case *of;
    hf_client *client;
    unsigned failures; /* reported by the adapter ... */
    hf_status failure; /* ... the last one */
    int epoll;
    uv_loop_t uv;
    hf_uv *in_uv;
    GMainContext *glib;
    GSource *in_glib;
    struct event_base *base;
    hf_libevent *in_libevent;
} looped;

struct loop_case {
    const char *name;
    hf_status (*attach)(looped *self, hf_error *err);
    void (*detach)(looped *self);
    void (*turn)(looped *self); /* once, without waiting */
    void (*after_fork)(looped *self);
};

static void note_failure(void *user, hf_status status, const hf_error *err)
{
    looped *self = user;

    self->failures++;
    self->failure = err->status == status ? status : HF_CORRUPT;
}

/* ------------------------------------------------------------- the four loops
 */

static hf_status epoll_attach(looped *self, hf_error *err)
{
    epoll_data_t data = {.ptr = self};

    return hf_epoll_attach(self->epoll, self->client, data, err);
}

static void epoll_detach(looped *self)
{
    if (hf_epoll_detach(self->epoll, self->client, NULL) != HF_OK)
        self->failures++;
}

static void epoll_turn(looped *self)
{
    struct epoll_event event = {0};

    if (epoll_wait(self->epoll, &event, 1, 0) <= 0)
        return;
    if (event.data.ptr != self || (event.events & EPOLLIN) == 0 ||
        hf_client_dispatch(self->client, NULL, NULL) != HF_OK)
        self->failures++;
}

static hf_status uv_attach(looped *self, hf_error *err)
{
    return hf_uv_attach(&self->uv, self->client, note_failure, self,
                        &self->in_uv, err);
}

static void uv_detach(looped *self)
{
    hf_uv_detach(self->in_uv);
}

static void uv_turn(looped *self)
{
    uv_run(&self->uv, UV_RUN_NOWAIT);
}

static void uv_after_fork(looped *self)
{
    if (uv_loop_fork(&self->uv) != 0)
        self->failures = 100;
}

static hf_status glib_attach(looped *self, hf_error *err)
{
    return hf_glib_attach(self->glib, self->client, note_failure, self,
                          &self->in_glib, err);
}

static void glib_detach(looped *self)
{
    hf_glib_detach(self->in_glib);
}

static void glib_turn(looped *self)
{
    g_main_context_iteration(self->glib, FALSE);
}

static void glib_after_fork(looped *self)
{
    (void)self;
}

static hf_status libevent_attach(looped *self, hf_error *err)
{
    return hf_libevent_attach(self->base, self->client, note_failure, self,
                              &self->in_libevent, err);
}

static void libevent_detach(looped *self)
{
    hf_libevent_detach(self->in_libevent);
}

static void libevent_turn(looped *self)
{
    event_base_loop(self->base, EVLOOP_NONBLOCK);
}

static void libevent_after_fork(looped *self)
{
    if (event_reinit(self->base) != 0)
        self->failures = 100;
}

static const loop_case loops[] = {
    {"epoll", epoll_attach, epoll_detach, epoll_turn, NULL},
    {"libuv", uv_attach, uv_detach, uv_turn, uv_after_fork},
    {"GLib", glib_attach, glib_detach, glib_turn, glib_after_fork},
    {"libevent", libevent_attach, libevent_detach, libevent_turn,
     libevent_after_fork},
};
#define LOOP_COUNT (sizeof(loops) / sizeof(loops[0]))

/* A new loop, to which the client is attached. */
static void open_loop(looped *self, size_t of, hf_client *client)
{
    memset(self, 0, sizeof(*self));
    self->of = &loops[of];
    self->client = client;
    self->epoll = epoll_create1(EPOLL_CLOEXEC);
    assert_true(self->epoll >= 0);
    assert_int_equal(uv_loop_init(&self->uv), 0);
    self->glib = g_main_context_new();
    self->base = event_base_new();
    assert_non_null(self->base);
    print_message("%s\n", self->of->name);
    expect_status(HF_OK, self->of->attach(self, ERR));
}

/* The client is detached. */
static void close_loop(looped *self)
{
    uv_run(&self->uv, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&self->uv), 0);
    g_main_context_unref(self->glib);
    event_base_free(self->base);
    close(self->epoll);
}

/* --------------------------------------------------------------------- tests
 */

/* The loop turns while a call waits, and dispatches it when it completes. */
TEST(adapters_dispatch_a_call_that_had_to_wait)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");

    for (size_t i = 0; i < LOOP_COUNT; i++) {
        hf_lock *held = fixture_lock(f, f->other, name, NULL);
        hf_lock *wanted = fixture_lock(f, f->client, name, NULL);
        told acquired = {0};
        hf_async async = tell(&acquired);
        looped self;

        open_loop(&self, i, f->client);
        expect_status(HF_OK, hf_lock_try(held, ERR));
        expect_status(HF_OK,
                      hf_lock_acquire_start(wanted, PATIENCE_MS, &async, ERR));
        expect_throughout((self.of->turn(&self), acquired.count == 0), 20);
        expect_status(HF_OK, hf_lock_release(held, ERR));
        expect_soon((self.of->turn(&self), acquired.count == 1), PATIENCE_MS);
        expect_status(HF_OK, acquired.status);
        self.of->detach(&self);
        self.of->turn(&self);
        assert_int_equal(self.failures, 0);
        close_loop(&self);
        expect_status(HF_OK, hf_lock_release(wanted, ERR));
    }
}

typedef struct leaving {
    looped in;
    unsigned called;
} leaving;

/* The first detaches and closes, by which the second is called. */
static void leave_loop(void *user, hf_status status, const hf_error *err)
{
    leaving *self = user;

    (void)err;
    if (self->called++ > 0)
        return;
    self->in.of->detach(&self->in);
    hf_client_close(self->in.client);
    if (status != HF_OK)
        self->in.failures++;
}

/* Nothing touches the client afterwards, as the address sanitizer sees. */
TEST(adapters_let_done_detach_and_close_the_client)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");

    for (size_t i = 0; i < LOOP_COUNT; i++) {
        leaving self = {.called = 0};
        hf_client *client = NULL;
        hf_async async = HF_ASYNC_INIT;

        expect_status(HF_OK, hf_client_open(f->url, NULL, &client, ERR));
        open_loop(&self.in, i, client);
        async.done = leave_loop;
        async.user = &self;
        for (int call = 0; call < 2; call++)
            expect_status(HF_OK, hf_value_set_start(client, key, bytes("v"),
                                                    NULL, NULL, &async, ERR));
        expect_soon((self.in.of->turn(&self.in), self.called == 2),
                    PATIENCE_MS);
        self.in.of->turn(&self.in);
        assert_int_equal(self.called, 2);
        assert_int_equal(self.in.failures, 0);
        close_loop(&self.in);
    }
}

/* In the child of fork(). */
static int report_once(looped *self)
{
    self->of->after_fork(self);
    for (int turn = 0; turn < 10; turn++)
        self->of->turn(self);
    if (self->failures != 1 || self->failure != HF_INVALID)
        return 1;
    self->of->detach(self);
    self->of->turn(self);
    return self->failures == 1 ? 0 : 2;
}

/* The descriptor stays readable there: a loop that kept it would spin. */
TEST(adapters_report_once_that_a_client_cannot_be_dispatched)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");

    for (size_t i = 1; i < LOOP_COUNT; i++) {
        told stored = {0};
        hf_async async = tell(&stored);
        looped self;
        pid_t pid;
        int how = -1;

        open_loop(&self, i, f->client);
        expect_status(HF_OK, hf_value_set_start(f->client, key, bytes("v"),
                                                NULL, NULL, &async, ERR));
        expect_status(HF_OK, hf_client_wait(f->client, PATIENCE_MS, ERR));
        (void)fflush(NULL);
        pid = fork();
        if (pid == 0)
            _exit(report_once(&self));
        assert_true(pid > 0);
        assert_int_equal(await_child(pid, &how), pid);
        assert_int_equal(how, 0);
        expect_soon((self.of->turn(&self), stored.count == 1), PATIENCE_MS);
        assert_int_equal(self.failures, 0);
        self.of->detach(&self);
        close_loop(&self);
    }
}

TEST(adapters_say_why_a_client_cannot_be_attached)
{
    fixture *f = *state;
    hf_error err = HF_ERROR_INIT;
    looped self;

    open_loop(&self, 0, f->client);
    expect_status(HF_SYSTEM, self.of->attach(&self, ERR));
    assert_int_equal(self.of->attach(&self, &err), HF_SYSTEM);
    assert_int_equal(err.sys_errno, EEXIST);
    assert_string_equal(err.message, "epoll_ctl: File exists");
    self.of->detach(&self);
    expect_status(HF_SYSTEM, hf_epoll_detach(self.epoll, f->client, ERR));
    close_loop(&self);

    open_loop(&self, 1, f->client);
    expect_status(HF_SYSTEM, self.of->attach(&self, ERR));
    assert_int_equal(self.of->attach(&self, &err), HF_SYSTEM);
    assert_int_equal(err.sys_errno, EEXIST);
    assert_string_equal(err.message, "uv_poll_init: file already exists");
    self.of->detach(&self);
    close_loop(&self);
}

typedef struct nesting {
    looped in;
    hf_bytes key;
    told inner;
} nesting;

/* A dialog of GTK, which runs the loop until a call has completed. */
static void run_nested(void *user, hf_status status, const hf_error *err)
{
    nesting *self = user;
    hf_async async = tell(&self->inner);

    (void)err;
    if (status != HF_OK ||
        hf_value_set_start(self->in.client, self->key, bytes("inner"), NULL,
                           NULL, &async, NULL) != HF_OK)
        self->in.failures++;
    for (int i = 0; i < 1000 && self->inner.count == 0; i++) {
        glib_turn(&self->in);
        test_rest();
    }
    if (self->inner.count != 1)
        self->in.failures++;
}

TEST(glib_dispatches_in_a_loop_within_done)
{
    fixture *f = *state;
    nesting self = {.key = fixture_key(f, "k")};
    hf_async async = HF_ASYNC_INIT;

    open_loop(&self.in, 2, f->client);
    async.done = run_nested;
    async.user = &self;
    expect_status(HF_OK, hf_value_set_start(f->client, self.key, bytes("outer"),
                                            NULL, NULL, &async, ERR));
    expect_soon((glib_turn(&self.in), self.inner.count == 1), PATIENCE_MS);
    assert_value(f->other, self.key, bytes("inner"));
    assert_int_equal(self.in.failures, 0);
    glib_detach(&self.in);
    close_loop(&self.in);
}
