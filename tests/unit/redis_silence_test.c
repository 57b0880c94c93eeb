/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_silence_test.c - servers that are alive but take longer for a reply
 * than a client waits before it sends the request again on a new connection: 2
 * s, or half of a shorter deadline.
 */
#include "redis_driver.h"

#include <stdatomic.h>

typedef struct slow_server {
    fake_server *fake;
    atomic_int login_ms;  /* delay of the login */
    atomic_int answer_ms; /* delay of any other request */
    test_driver driver;
} slow_server;

static void delay(const atomic_int *ms)
{
    hf__clock_sleep_until(hf__clock_boot_ms() + atomic_load(ms));
}

static void serve(int fd, unsigned number, void *user)
{
    slow_server *self = user;
    char text[400];

    (void)number;
    delay(&self->login_ms);
    if (!fake_server_login(fd, "7.0.0"))
        return;
    while (fake_server_read(fd, text, sizeof(text))) {
        delay(&self->answer_ms);
        if (!fake_server_say(fd, "$2\r\nOK\r\n"))
            return;
    }
}

static void slow_open(slow_server *self, int login_ms)
{
    memset(self, 0, sizeof(*self));
    atomic_store(&self->login_ms, login_ms);
    self->fake = fake_server_start(serve, self);
    assert_non_null(self->fake);
    driver_open(&self->driver, fake_server_url(self->fake));
}

static void slow_close(slow_server *self)
{
    driver_close(&self->driver);
    fake_server_stop(self->fake);
}

/* A busy machine may make a reply late once, but not every time. */
#define TRIES 4

/* Does a call complete within `limit_ms`, having been sent once? */
static bool is_answered(slow_server *self, int64_t limit_ms)
{
    test_call call;
    bool good;

    CALL(&call, limit_ms, "GET", "a");
    good =
        call_perform(&self->driver, &call) == HF_OK && call.request.sends == 1;
    if (!good)
        assert_status(&call, HF_INDETERMINATE);
    call_end(&call);
    return good;
}

/* The server has become slow in everything. A second connection is tried after
 * 500 ms, but the reply on the first one counts as well. */
TEST(answer_that_comes_while_connecting_again_is_taken)
{
    bool good = false;

    for (int i = 0; i < TRIES && !good; i++) {
        slow_server self;

        slow_open(&self, 0);
        atomic_store(&self.login_ms, 600);
        atomic_store(&self.answer_ms, 600);
        good = is_answered(&self, 1000);
        assert_int_equal(fake_server_count(self.fake), 2);
        slow_close(&self);
    }
    assert_true(good);
}

/* A slow login means a slow server. */
TEST(slow_login_buys_patience)
{
    bool good = false;
    slow_server self;

    slow_open(&self, 400);
    atomic_store(&self.answer_ms, 400);
    for (int i = 0; i < TRIES && !good; i++)
        good = is_answered(&self, 600);
    assert_true(good);
    slow_close(&self);
}

/* The login was fast: a client that retried too soon, after 500 ms, waits
 * longer the next time. */
TEST(silence_that_was_too_short_is_longer_the_next_time)
{
    bool retried = false;
    bool good = false;
    slow_server self;

    for (int i = 0; i < TRIES && !retried; i++) {
        if (i > 0)
            slow_close(&self);
        slow_open(&self, 0);
        atomic_store(&self.answer_ms, 600);
        /* Else the machine was busy, and the login slow as well. */
        retried = !is_answered(&self, 1000);
    }
    assert_true(retried);
    for (int i = 0; i < TRIES && !good; i++)
        good = is_answered(&self, 1000);
    assert_true(good);
    slow_close(&self);
}

/* Replies only to the login on the first two connections: that of opening, and
 * the shared one. */
static void serve_others(int fd, unsigned number, void *user)
{
    char text[400];

    (void)user;
    if (!fake_server_login(fd, "7.0.0"))
        return;
    if (number < 2)
        fake_server_drain(fd);
    while (fake_server_read(fd, text, sizeof(text))) {
        if (!fake_server_say(fd, "$2\r\nOK\r\n"))
            return;
    }
}

/* A device in between has dropped the connection's state. */
TEST(silent_connection_is_left_once_another_is_made)
{
    slow_server self;
    test_call call;

    self.fake = fake_server_start(serve_others, &self);
    assert_non_null(self.fake);
    driver_open(&self.driver, fake_server_url(self.fake));
    CALL(&call, ENOUGH_MS, "SET", "a", "b");
    call.request.repeatable = true;
    call_submit(&self.driver, &call);
    assert_int_equal(call_wait(&call), HF_OK);
    assert_int_equal(call.request.sends, 2);
    call_end(&call);
    slow_close(&self);
}

/* Connections below this number are not answered any more. */
typedef struct lossy_server {
    slow_server slow;
    atomic_uint lost;
} lossy_server;

static void serve_the_rest(int fd, unsigned number, void *user)
{
    lossy_server *self = user;
    char text[400];

    if (!fake_server_login(fd, "7.0.0"))
        return;
    while (fake_server_read(fd, text, sizeof(text))) {
        if (number >= atomic_load(&self->lost) &&
            !fake_server_say(fd, "$2\r\nOK\r\n"))
            return;
    }
}

/* How often it was sent; on the calling thread's connection, or the shared one.
 */
static unsigned sends_of(lossy_server *self, bool shared)
{
    test_call call;
    unsigned sends;

    CALL(&call, ENOUGH_MS, "SET", "a", "b");
    call.request.repeatable = true;
    if (shared) {
        call_submit(&self->slow.driver, &call);
        assert_int_equal(call_wait(&call), HF_OK);
    } else {
        assert_int_equal(call_perform(&self->slow.driver, &call), HF_OK);
    }
    sends = (unsigned)call.request.sends;
    call_end(&call);
    return sends;
}

/* It has dropped that of the others, too. */
static void one_silent_connection_is_a_lesson(bool shared_first)
{
    lossy_server self = {0};

    self.slow.fake = fake_server_start(serve_the_rest, &self);
    assert_non_null(self.slow.fake);
    driver_open(&self.slow.driver, fake_server_url(self.slow.fake));
    assert_int_equal(sends_of(&self, true), 1);
    assert_int_equal(sends_of(&self, false), 1);
    hf__clock_sleep_until(hf__clock_boot_ms() + 2);
    atomic_store(&self.lost, 2);
    assert_int_equal(sends_of(&self, shared_first), 2);
    assert_int_equal(sends_of(&self, !shared_first), 1);
    assert_int_equal(sends_of(&self, shared_first), 1);
    /* The shared one is left after another was made to try the server. */
    assert_int_equal(fake_server_count(self.slow.fake), 4 + shared_first);
    slow_close(&self.slow);
}

TEST(silence_on_the_threads_connection_is_a_lesson)
{
    one_silent_connection_is_a_lesson(false);
}

TEST(silence_on_the_shared_connection_is_a_lesson)
{
    one_silent_connection_is_a_lesson(true);
}
