/* SPDX-License-Identifier: Apache-2.0 */
/*
 * malformed_server_test.c - a connection on which a server sent a malformed
 * reply is out of step: it is closed, and the next call uses another.
 */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "holdfast/value.h"
#include "script/script.h"
#include "support/every_call.h"
#include "support/fake_server.h"
#include "support/test.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define A "$1\r\na\r\n"

/* A reply that only a user's script may return. */
static const char *const replies[] = {
    ":-9223372036854775808\r\n",
    "*1\r\n*1\r\n*0\r\n",
    "*2\r\n" A "-ERR a\r\n",
    "*5\r\n:5\r\n" A ":9\r\n:3\r\n:3\r\n",
};

/* ------------------------------------------------------------------ server */

/* The server's reply to `target`. */
static struct {
    pthread_mutex_t mutex;
    const char *target; /* NULL: none of it */
    const char *reply;
    bool ends;          /* it must end the connection */
    unsigned proceeded; /* requests after a reply that should have ended it */
} script = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* The script, or command, that a request asks for. */
static const char *target_of(char *text)
{
    bool whole = strncmp(text, "EVAL ", 5) == 0;
    char *space;

    for (size_t i = 0; i < HF__SCRIPT_COUNT; i++) {
        const hf__script *one = &hf__scripts[i];

        if (whole && strncmp(text + 5, one->source, one->source_size) == 0)
            return one->name;
        if (!whole && strncmp(text, "EVALSHA ", 8) == 0 &&
            strncmp(text + 8, one->sha1, 40) == 0)
            return one->name;
    }
    if (strncmp(text, "EVAL", 4) == 0)
        return "user script";
    space = strchr(text, ' ');
    if (space != NULL)
        *space = '\0';
    return text;
}

static const char *answer_to(const char *target, bool *ends)
{
    const char *reply = NULL;

    pthread_mutex_lock(&script.mutex);
    if (script.target != NULL && strcmp(script.target, target) == 0) {
        reply = script.reply;
        *ends = script.ends;
    }
    pthread_mutex_unlock(&script.mutex);
    if (reply == NULL)
        reply = every_usual_answer(target);
    return reply == NULL ? "-ERR unexpected\r\n" : reply;
}

static void session(int fd, unsigned number, void *user)
{
    static _Thread_local char text[16384];
    struct pollfd next = {.fd = fd, .events = POLLIN};
    bool ends = false;

    (void)number;
    (void)user;
    if (!fake_server_login(fd, "7.0.0"))
        return;
    while (fake_server_read(fd, text, sizeof(text))) {
        const char *reply;

        if (ends) {
            pthread_mutex_lock(&script.mutex);
            script.proceeded++;
            pthread_mutex_unlock(&script.mutex);
        }
        reply = answer_to(target_of(text), &ends);
        /* What was sent before the reply proves nothing. */
        ends = ends && poll(&next, 1, 0) == 0;
        if (!fake_server_say(fd, reply))
            return;
    }
}

static void say(const char *target, const char *reply, bool ends)
{
    pthread_mutex_lock(&script.mutex);
    script.target = target;
    script.reply = reply;
    script.ends = ends;
    pthread_mutex_unlock(&script.mutex);
}

/* ------------------------------------------------------------------- calls */

/* On the same kind of connection. */
static void check_place(every_place *place, bool starts)
{
    static const every_call *ttl;

    for (size_t i = 0; ttl == NULL; i++) {
        if (strcmp(every_calls[i].target, "PTTL") == 0)
            ttl = &every_calls[i];
    }
    every_result_begin(&place->result);
    assert_int_equal(every_call_make(place, ttl, starts, NULL), HF_OK);
    assert_int_equal(place->result.ttl_ms, 5);
}

static void try_reply(every_place *place, const every_call *call,
                      const char *reply, bool starts)
{
    hf_status status;

    say(NULL, NULL, false);
    assert_true(every_lock_begin(place, call));
    every_result_begin(&place->result);
    say(call->target, reply, true);
    status = every_call_make(place, call, starts, NULL);
    say(NULL, NULL, false);
    assert_null(every_result_end(place, call, status));
    every_lock_end(place);
    if (status != HF_CORRUPT)
        fail_msg("%s (%s), answered %s: %s", call->name,
                 starts ? "started" : "run", reply, hf_status_name(status));
    check_place(place, starts || !call->starts);
}

static fake_server *begin(every_place *place, const char *layout)
{
    fake_server *server = fake_server_start(session, NULL);
    char url[128];

    assert_non_null(server);
    snprintf(url, sizeof(url), "%s?layout=%s", fake_server_url(server), layout);
    assert_int_equal(hf_client_open(url, NULL, &place->client, NULL), HF_OK);
    return server;
}

static void end(every_place *place, fake_server *server)
{
    hf_client_close(place->client);
    fake_server_stop(server);
}

static void run_all(const every_call *calls, size_t count, const char *layout,
                    bool starts)
{
    static every_place place;

    assert_true(every_place_begin(&place));
    for (size_t i = 0; i < count; i++) {
        const every_call *call = &calls[i];
        fake_server *server;

        if ((starts && !call->starts) || call->waits || call->any_reply)
            continue;
        server = begin(&place, layout);
        for (size_t j = 0; j < COUNT(replies); j++)
            try_reply(&place, call, replies[j], starts);
        end(&place, server);
    }
    every_place_end(&place);
    assert_int_equal(script.proceeded, 0);
}

TEST(connection_of_a_malformed_reply_is_left)
{
    run_all(every_calls, every_call_count, "plain", false);
    run_all(every_redisson_calls, every_redisson_count, "redisson", false);
}

TEST(shared_connection_of_a_malformed_reply_is_left)
{
    run_all(every_calls, every_call_count, "plain", true);
    run_all(every_redisson_calls, every_redisson_count, "redisson", true);
}

TEST(connection_of_a_proper_reply_is_kept)
{
    static every_place place;
    fake_server *server = begin(&place, "plain");

    say("GET", A, false);
    for (int i = 0; i < 3; i++) {
        hf_buffer value;

        assert_int_equal(hf_value_get(place.client, hf_str("k"), &value, NULL),
                         HF_OK);
        hf_buffer_free(&value);
        say("GET", "-ERR no\r\n", false);
        assert_int_equal(hf_value_get(place.client, hf_str("k"), &value, NULL),
                         HF_INVALID);
        say("GET", A, false);
    }
    assert_int_equal(fake_server_count(server), 1);
    end(&place, server);
}

/* Two requests in one write, and one reply more than requests. */
TEST(answer_behind_a_malformed_one_is_not_believed)
{
    hf_bytes keys[] = {hf_str("a"), hf_str("b")};
    hf_buffer values[2] = {HF_BUFFER_INIT, HF_BUFFER_INIT};
    hf_status statuses[2];
    fake_server *server = fake_server_start(session, NULL);
    hf_client *client;

    assert_non_null(server);
    assert_int_equal(
        hf_client_open(fake_server_url(server), NULL, &client, NULL), HF_OK);
    say("GET", ":7\r\n" A, false);
    assert_int_equal(hf_value_get_many(client, keys, 2, values, statuses, NULL),
                     HF_CORRUPT);
    assert_int_equal(statuses[0], HF_CORRUPT);
    assert_int_equal(statuses[1], HF_CORRUPT);
    assert_null(values[0].data);
    assert_null(values[1].data);
    hf_client_close(client);
    fake_server_stop(server);
}

TEST(message_names_operation_server_and_reply)
{
    fake_server *server = fake_server_start(session, NULL);
    hf_error err = HF_ERROR_INIT;
    char want[200];
    hf_client *client;
    hf_buffer value;

    assert_non_null(server);
    assert_int_equal(
        hf_client_open(fake_server_url(server), NULL, &client, NULL), HF_OK);
    say("GET", ":7\r\n", true);
    assert_int_equal(hf_value_get(client, hf_str("k"), &value, &err),
                     HF_CORRUPT);
    snprintf(want, sizeof(want), "%s: malformed reply to GET: an integer (7)",
             fake_server_url(server) + strlen("redis+unix://"));
    assert_string_equal(err.message, want);
    hf_client_close(client);
    fake_server_stop(server);
}
