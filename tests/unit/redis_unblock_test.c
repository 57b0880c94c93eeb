/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_unblock_test.c - the end of a command that waits for an element, with a
 * server that is scripted: CLIENT UNBLOCK comes too early, too late, or is
 * refused.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "holdfast/command.h"
#include "support/expect.h"
#include "support/fake_server.h"
#include "support/slowness.h"
#include "support/test_clock.h"
#include "support/told.h"

#define NIL "*-1\r\n"
#define ELEMENT "*2\r\n$1\r\nk\r\n$1\r\nv\r\n"

/* What the server says to the command at an UNBLOCK, and to the UNBLOCK itself;
 * NULL: nothing. */
typedef struct at_unblock {
    const char *to_command;
    const char *reply;
} at_unblock;

typedef struct scripted {
    at_unblock acts[2]; /* at the first one, and at those that follow */
    fake_server *server;
    hf_client *client;
    atomic_bool holds;     /* does not reply to logins */
    pthread_mutex_t mutex; /* guards the rest */
    int waiting;           /* the connection of the last command; -1: none */
    unsigned commands;
    unsigned unblocks;
} scripted;

static bool on_unblock(scripted *self, int fd)
{
    const at_unblock *act = &self->acts[self->unblocks > 0];

    self->unblocks++;
    if (act->to_command != NULL)
        (void)fake_server_say(self->waiting, act->to_command);
    return act->reply == NULL || fake_server_say(fd, act->reply);
}

static void session(int fd, unsigned connection, void *user)
{
    scripted *self = user;
    char text[200];
    bool continues;

    (void)connection;
    while (atomic_load(&self->holds))
        test_rest();
    continues = fake_server_login(fd, "7.0.0");
    while (continues && fake_server_read(fd, text, sizeof(text))) {
        pthread_mutex_lock(&self->mutex);
        if (strncmp(text, "BLPOP", 5) == 0) {
            self->waiting = fd;
            self->commands++;
        } else if (strcmp(text, "CLIENT UNBLOCK 7 TIMEOUT") == 0) {
            continues = on_unblock(self, fd);
        } else if (strcmp(text, "SET k close") == 0) {
            continues = false;
        } else if (strcmp(text, "SET k silence") != 0) {
            continues = fake_server_say(fd, "+OK\r\n");
        }
        pthread_mutex_unlock(&self->mutex);
    }
}

static unsigned count_of(scripted *self, const unsigned *count)
{
    unsigned now;

    pthread_mutex_lock(&self->mutex);
    now = *count;
    pthread_mutex_unlock(&self->mutex);
    return now;
}

static void open_scripted(scripted *self)
{
    hf_client_options options = HF_CLIENT_OPTIONS_INIT;

    pthread_mutex_init(&self->mutex, NULL);
    self->waiting = -1;
    self->server = fake_server_start(session, self);
    assert_non_null(self->server);
    options.request_ms = slowed_ms(400);
    options.connect_ms = 60000;
    expect_status(HF_OK, hf_client_open(fake_server_url(self->server), &options,
                                        &self->client, ERR));
}

static void close_scripted(scripted *self)
{
    hf_client_close(self->client);
    fake_server_stop(self->server);
    pthread_mutex_destroy(&self->mutex);
}

static hf_call *begin(scripted *self, const char *seconds, hf_reply **reply,
                      told *ended)
{
    const hf_bytes words[] = {hf_str("BLPOP"), hf_str("k"), hf_str(seconds)};
    unsigned commands = count_of(self, &self->commands);
    hf_async async = tell(ended);
    hf_call *call = NULL;

    async.call = &call;
    expect_status(HF_OK,
                  hf_command_start(self->client, 3, words, reply, &async, ERR));
    expect_soon(count_of(self, &self->commands) == commands + 1, 10000);
    return call;
}

static void expect_cancelled(scripted *self, hf_status want, unsigned unblocks)
{
    hf_reply *reply = NULL;
    told ended = {0};

    hf_call_cancel(begin(self, "0", &reply, &ended));
    await_told(self->client, &ended, 1);
    expect_status(want, ended.status);
    assert_int_equal(reply != NULL, want == HF_OK);
    hf_reply_free(reply);
    assert_int_equal(count_of(self, &self->unblocks), unblocks);
}

TEST(unblock_of_a_command_decides_it)
{
    scripted self = {.acts = {{NIL, ":1\r\n"}}};

    open_scripted(&self);
    expect_cancelled(&self, HF_CANCELLED, 1);
    close_scripted(&self);
}

TEST(unblock_that_comes_before_its_command_is_sent_again)
{
    scripted self = {.acts = {{NULL, ":0\r\n"}, {NIL, ":1\r\n"}}};

    open_scripted(&self);
    expect_cancelled(&self, HF_CANCELLED, 2);
    close_scripted(&self);
}

TEST(unblock_that_comes_after_an_element_keeps_it)
{
    scripted self = {.acts = {{ELEMENT, ":0\r\n"}}};

    open_scripted(&self);
    expect_cancelled(&self, HF_OK, 1);
    close_scripted(&self);
}

/* The connection is closed: a reply may have been on its way. */
TEST(unblock_that_is_refused_leaves_doubt)
{
    scripted self = {.acts = {{NULL, "-NOPERM no permissions\r\n"}}};

    open_scripted(&self);
    expect_cancelled(&self, HF_INDETERMINATE, 1);
    close_scripted(&self);
}

TEST(unblock_without_a_reply_leaves_doubt_in_time)
{
    scripted self = {.acts = {{NULL, NULL}}};
    int64_t began_ms = test_now_ms();

    open_scripted(&self);
    expect_cancelled(&self, HF_INDETERMINATE, 1);
    assert_in_time(test_now_ms() - began_ms, 3000);
    close_scripted(&self);
}

/* A server that is late to end the wait is made to. */
TEST(command_whose_time_is_over_is_unblocked)
{
    scripted self = {.acts = {{NIL, ":1\r\n"}}};
    hf_reply *reply = NULL;
    told ended = {0};

    open_scripted(&self);
    (void)begin(&self, "0.05", &reply, &ended);
    await_told(self.client, &ended, 1);
    expect_status(HF_OK, ended.status);
    assert_int_equal(hf_reply_type(reply), HF_REPLY_NIL_ARRAY);
    hf_reply_free(reply);
    assert_int_equal(count_of(&self, &self.unblocks), 1);
    close_scripted(&self);
}

/* An UNBLOCK that is on its way would end the wait of the next command on the
 * connection. */
TEST(connection_is_not_used_before_its_unblock_is_answered)
{
    scripted self = {.acts = {{ELEMENT, NULL}}};
    hf_reply *reply = NULL;
    told first = {0}, next = {0};
    int waited;

    open_scripted(&self);
    hf_call_cancel(begin(&self, "0", &reply, &first));
    await_told(self.client, &first, 1);
    expect_status(HF_OK, first.status);
    hf_reply_free(reply);
    pthread_mutex_lock(&self.mutex);
    waited = self.waiting;
    pthread_mutex_unlock(&self.mutex);
    (void)begin(&self, "0", &reply, &next);
    pthread_mutex_lock(&self.mutex);
    assert_int_not_equal(self.waiting, waited);
    (void)fake_server_say(self.waiting, ELEMENT);
    pthread_mutex_unlock(&self.mutex);
    await_told(self.client, &next, 1);
    expect_status(HF_OK, next.status);
    hf_reply_free(reply);
    close_scripted(&self);
}

/* One after another use one connection, or two: the reply to an UNBLOCK may
 * come after that of its command. */
TEST(connection_is_used_again)
{
    scripted self = {.acts = {{NIL, ":1\r\n"}, {NIL, ":1\r\n"}}};
    unsigned connections;

    open_scripted(&self);
    expect_cancelled(&self, HF_CANCELLED, 1);
    connections = fake_server_count(self.server);
    for (unsigned i = 2; i < 10; i++)
        expect_cancelled(&self, HF_CANCELLED, i);
    assert_in_range(fake_server_count(self.server), connections,
                    connections + 1);
    close_scripted(&self);
}

/* ------------------------------------------------------- of another server */

/* A command on the connection that all share. */
static void set_value(scripted *self, const char *value, hf_status want)
{
    const hf_bytes words[] = {hf_str("SET"), hf_str("k"), hf_str(value)};
    told ended = {0};
    hf_async async = tell(&ended);

    expect_status(HF_OK,
                  hf_command_start(self->client, 3, words, NULL, &async, ERR));
    await_told(self->client, &ended, 1);
    expect_status(want, ended.status);
}

/* The number in it may be that of a connection of another program. */
TEST(unblock_is_not_sent_on_a_new_connection)
{
    scripted self = {.acts = {{NIL, ":1\r\n"}}};
    hf_reply *reply = NULL;
    told ended = {0};
    hf_call *call;

    open_scripted(&self);
    set_value(&self, "v", HF_OK);
    call = begin(&self, "0", &reply, &ended);
    set_value(&self, "close", HF_INDETERMINATE);
    set_value(&self, "v", HF_OK);
    hf_call_cancel(call);
    await_told(self.client, &ended, 1);
    expect_status(HF_INDETERMINATE, ended.status);
    assert_int_equal(count_of(&self, &self.unblocks), 0);
    close_scripted(&self);
}

/* It waits while a second connection to a silent server is tried, and that
 * replaces the first one. */
TEST(unblock_that_waits_is_not_sent_on_another_connection)
{
    scripted self = {.acts = {{NIL, ":1\r\n"}}};
    hf_reply *reply = NULL;
    told ended = {0};
    unsigned connections;
    hf_call *call;

    open_scripted(&self);
    set_value(&self, "v", HF_OK);
    call = begin(&self, "0", &reply, &ended);
    connections = fake_server_count(self.server);
    atomic_store(&self.holds, true);
    set_value(&self, "silence", HF_INDETERMINATE);
    expect_soon(fake_server_count(self.server) > connections, 10000);
    hf_call_cancel(call);
    for (int i = 0; i < 20; i++)
        test_rest();
    atomic_store(&self.holds, false);
    await_told(self.client, &ended, 1);
    expect_status(HF_INDETERMINATE, ended.status);
    set_value(&self, "v", HF_OK);
    assert_int_equal(count_of(&self, &self.unblocks), 0);
    close_scripted(&self);
}
