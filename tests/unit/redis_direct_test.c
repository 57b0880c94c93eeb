/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_direct_test.c - submitted requests that the calling thread sends itself
 * on an idle connection. The loop thread is held up meanwhile, so what arrives
 * at the server was not sent by it.
 */
#include "redis_driver.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "support/slowness.h"

#define SOON_MS 2000

/* The server: counts requests, and notes their last word. */
typedef struct noting_server {
    fake_server *fake;
    test_driver driver;
    atomic_uint received;
    atomic_bool silent;
    char words[4096];
} noting_server;

static void note_word(noting_server *self, const char *text)
{
    const char *last = strrchr(text, ' ');
    size_t used = strlen(self->words);

    snprintf(self->words + used, sizeof(self->words) - used, "%s",
             last == NULL ? text : last);
    atomic_fetch_add(&self->received, 1);
}

static void serve(int fd, unsigned number, void *user)
{
    noting_server *self = user;
    char text[400];

    (void)number;
    if (!fake_server_login(fd, "7.0.0"))
        return;
    while (fake_server_read(fd, text, sizeof(text))) {
        note_word(self, text);
        if (!atomic_load(&self->silent) && !fake_server_say(fd, "+OK\r\n"))
            return;
    }
}

/* With a shared connection that is up and idle. */
static void noting_open(noting_server *self)
{
    test_call call;

    memset(self, 0, sizeof(*self));
    self->fake = fake_server_start(serve, self);
    assert_non_null(self->fake);
    driver_open(&self->driver, fake_server_url(self->fake));
    CALL(&call, ENOUGH_MS, "SET", "k", "first");
    call_submit(&self->driver, &call);
    assert_int_equal(call_wait(&call), HF_OK);
    call_end(&call);
    hf__loop_call(self->driver.loop, NULL);
}

static void noting_close(noting_server *self)
{
    driver_close(&self->driver);
    fake_server_stop(self->fake);
}

static bool has_received(noting_server *self, unsigned count)
{
    int64_t until_ms = hf__clock_boot_ms() + slowed_ms(SOON_MS);

    while (atomic_load(&self->received) < count &&
           hf__clock_boot_ms() < until_ms)
        hf__clock_sleep_until(hf__clock_boot_ms() + 1);
    return atomic_load(&self->received) >= count;
}

TEST(submitted_request_is_sent_by_the_caller)
{
    noting_server self;
    hold_up how;
    test_call call;

    noting_open(&self);
    hold_loop(self.driver.loop, &how);
    CALL(&call, ENOUGH_MS, "SET", "k", "second");
    call_submit(&self.driver, &call);
    assert_true(has_received(&self, 2));
    let_loop_go(&how);
    assert_int_equal(call_wait(&call), HF_OK);
    call_end(&call);
    noting_close(&self);
}

/* The second waits for the loop thread, and so must the third. */
TEST(order_of_one_caller_is_kept)
{
    noting_server self;
    hold_up how;
    test_call calls[5];
    char names[5][8];

    noting_open(&self);
    hold_loop(self.driver.loop, &how);
    for (int i = 0; i < 5; i++) {
        snprintf(names[i], sizeof(names[i]), "w%d", i);
        CALL(&calls[i], ENOUGH_MS, "SET", "k", names[i]);
        call_submit(&self.driver, &calls[i]);
        if (i == 0)
            assert_true(has_received(&self, 2));
    }
    let_loop_go(&how);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(call_wait(&calls[i]), HF_OK);
        call_end(&calls[i]);
    }
    assert_string_equal(self.words, " first w0 w1 w2 w3 w4");
    noting_close(&self);
}

/* Nothing else wakes the loop thread before. */
TEST(deadline_of_a_request_sent_by_the_caller_is_kept)
{
    noting_server self;
    int64_t begin_ms, limit_ms = slowed_ms(50);
    test_call call;

    noting_open(&self);
    atomic_store(&self.silent, true);
    CALL(&call, limit_ms, "SET", "k", "second");
    begin_ms = hf__clock_boot_ms();
    call_submit(&self.driver, &call);
    assert_int_equal(call_wait(&call), HF_INDETERMINATE);
    assert_took(hf__clock_boot_ms() - begin_ms, limit_ms, limit_ms + 200);
    call_end(&call);
    noting_close(&self);
}

/* Cancelling one that the caller sent ends it, and its reply is not taken for
 * that of the next. */
typedef struct cancel_task {
    hf__task task;
    test_driver *driver;
    test_call *call;
} cancel_task;

static void run_cancel(hf__task *task)
{
    cancel_task *self = (cancel_task *)task;

    self->driver->store->ops->cancel(self->driver->store, &self->call->request);
}

TEST(request_sent_by_the_caller_can_be_cancelled)
{
    noting_server self;
    test_call call;
    cancel_task cancel = {{.run = run_cancel}, &self.driver, &call};

    noting_open(&self);
    atomic_store(&self.silent, true);
    CALL(&call, ENOUGH_MS, "SET", "k", "second");
    call_submit(&self.driver, &call);
    assert_true(has_received(&self, 2));
    hf__loop_call(self.driver.loop, &cancel.task);
    assert_int_equal(call_wait(&call), HF_INDETERMINATE);
    call_end(&call);
    noting_close(&self);
}

/* --------------------------------------------------------- many at one time */

enum { THREADS = 8, ROUNDS = 300 };

typedef struct submitter {
    pthread_t thread;
    test_driver *driver;
    int number;
    bool ok;
} submitter;

static void *submit_often(void *user)
{
    submitter *self = user;
    char text[40];
    test_call call;

    self->ok = true;
    for (int i = 0; i < ROUNDS && self->ok; i++) {
        snprintf(text, sizeof(text), "%d.%d", self->number, i);
        CALL(&call, ENOUGH_MS, "ECHO", text);
        call_submit(self->driver, &call);
        self->ok = call_wait(&call) == HF_OK &&
                   strcmp(call.request.reply.bytes.data, text) == 0;
        call_end(&call);
    }
    return NULL;
}

TEST(threads_that_send_themselves_get_their_own_replies)
{
    redis_server *server = redis_server_start(NULL);
    submitter all[THREADS];
    test_driver driver;

    assert_non_null(server);
    driver_open(&driver, redis_server_tcp_url(server));
    for (int i = 0; i < THREADS; i++) {
        all[i] = (submitter){.driver = &driver, .number = i};
        assert_int_equal(
            pthread_create(&all[i].thread, NULL, submit_often, &all[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(all[i].thread, NULL);
        assert_true(all[i].ok);
    }
    driver_close(&driver);
    redis_server_stop(server);
}
