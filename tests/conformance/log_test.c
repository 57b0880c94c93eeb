/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log_test.c - what a program gets by its log hook, by real faults, each of
 * which no call of the test returns.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "holdfast/lock.h"
#include "holdfast/value.h"
#include "support/log_lines.h"
#include "support/slowness.h"
#include "support/store_fixture.h"
#include "support/test_clock.h"
#include "support/told.h"

/* Within which a message comes on an idle machine. */
#define SOON_MS 5000

/* Have the client make its connection for wake-ups: it waits for a lock that
 * another has. */
static void wait_once(fixture *f, hf_client *client, const char *name)
{
    hf_bytes key = fixture_key(f, name);
    hf_lock *theirs = fixture_lock(f, f->other, key, NULL);
    hf_lock *ours = fixture_lock(f, client, key, NULL);

    expect_status(HF_OK, hf_lock_try(theirs, ERR));
    expect_status(HF_TIMEOUT, hf_lock_acquire(ours, 200, ERR));
    fixture_free_lock(f, ours);
    fixture_free_lock(f, theirs);
}

/* The same for requests: an asynchronous one uses it. */
static void set_once(fixture *f, hf_client *client, const char *name)
{
    expect_told(HF_OK, client,
                hf_value_set_start(client, fixture_key(f, name), bytes("v"),
                                   NULL, NULL, &async, ERR));
}

TEST(log_has_a_lost_connection_and_its_return)
{
    fixture *f = *state;
    log_lines *lines = log_lines_new();
    hf_client_options options = log_lines_options(lines);
    hf_client *client;

    fixture_only_redis(f);
    client = fixture_client(f, &options);
    wait_once(f, client, "l");
    set_once(f, client, "v");
    expect_soon(log_lines_has(lines, HF_LOG_DEBUG, "connected for wake-ups: "),
                SOON_MS);
    assert_false(log_lines_has(lines, HF_LOG_WARNING, ""));
    redis_server_kill(f->server);
    expect_soon(log_lines_has(lines, HF_LOG_WARNING,
                              "lost the connection for wake-ups, so that "
                              "waiters poll: "),
                SOON_MS);
    expect_soon(log_lines_has(lines, HF_LOG_WARNING,
                              "lost the connection for requests: "),
                SOON_MS);
    expect_soon(log_lines_has(lines, HF_LOG_WARNING, "no connection for "),
                SOON_MS);
    assert_false(log_lines_has(lines, 0, "is back: "));
    assert_true(redis_server_restart(f->server));
    expect_soon(log_lines_has(lines, HF_LOG_INFO,
                              "the connection for wake-ups is back: "),
                SOON_MS);
    fixture_close_client(f, client);
}

/* That of a call, which tries another. */
TEST(log_has_a_connection_that_was_closed_between_calls)
{
    fixture *f = *state;
    log_lines *lines = log_lines_new();
    hf_client_options options = log_lines_options(lines);
    hf_client *client;

    fixture_only_redis(f);
    client = fixture_client(f, &options);
    put_value(client, fixture_key(f, "k"), bytes("1"), 0);
    assert_true(redis_server_restart(f->server));
    put_value(client, fixture_key(f, "k"), bytes("2"), 0);
    expect_soon(log_lines_has(lines, 0, "a new one is made") ||
                    log_lines_has(lines, 0, "which tries another"),
                SOON_MS);
    fixture_close_client(f, client);
}

/* Of a lease that ends soon if it is not renewed. */
static void hold_briefly(fixture *f, hf_client *client, hf_bytes name)
{
    hf_lock_options leased = HF_LOCK_OPTIONS_INIT;

    leased.ttl_ms = slowed_ms(600);
    expect_status(HF_OK,
                  hf_lock_try(fixture_lock(f, client, name, &leased), ERR));
}

TEST(log_has_renewals_without_an_answer_and_the_loss)
{
    fixture *f = *state;
    log_lines *lines = log_lines_new();
    hf_client_options options = log_lines_options(lines);
    char wanted[128];
    hf_bytes name;
    hf_client *client;

    fixture_only_redis(f);
    options.request_ms = slowed_ms(100);
    client = fixture_client(f, &options);
    name = fixture_key(f, "job");
    hold_briefly(f, client, name);
    redis_server_pause(f->server);
    (void)snprintf(wanted, sizeof(wanted),
                   "lost the lease of \"%.*s\": the store did not answer "
                   "before it ended",
                   (int)name.size, (const char *)name.data);
    expect_soon(log_lines_has(lines, HF_LOG_ERROR, wanted), 20000);
    assert_true(log_lines_has(lines, HF_LOG_WARNING,
                              "no answer to a renewal of leases"));
    redis_server_resume(f->server);
    fixture_close_client(f, client);
}

static atomic_uint calls_with_a_lock;

/* Not allowed to programs; here it waits for each lock that might be held. */
static void use_locks(void *user, hf_log_level level, const char *message)
{
    hf_client **client = user;
    hf_client_stats stats = HF_CLIENT_STATS_INIT;

    (void)level;
    (void)message;
    if (*client != NULL && hf_client_read_stats(*client, &stats, NULL) == HF_OK)
        atomic_fetch_add(&calls_with_a_lock, 1);
}

/* The loss is found under the mutex of the leases, which the call waits for. */
TEST(log_is_called_with_no_lock_held)
{
    fixture *f = *state;
    static hf_client *client;
    hf_client_options options = HF_CLIENT_OPTIONS_INIT;
    hf_bytes name = fixture_key(f, "l");

    client = NULL;
    atomic_store(&calls_with_a_lock, 0);
    options.on_log = use_locks;
    options.log_user = &client;
    client = fixture_client(f, &options);
    hold_briefly(f, client, name);
    cut_lease(f->other, name, 0);
    expect_soon(atomic_load(&calls_with_a_lock) > 0, 20000);
    fixture_close_client(f, client);
}

TEST(log_has_the_reason_of_a_loss)
{
    fixture *f = *state;
    log_lines *lines = log_lines_new();
    hf_client_options options = log_lines_options(lines);
    hf_client *client = fixture_client(f, &options);
    hf_bytes name = fixture_key(f, "l");

    hold_briefly(f, client, name);
    put_value(f->other, name, bytes("someone"), 60000);
    expect_soon(log_lines_has(lines, HF_LOG_ERROR, ": another owner has it"),
                20000);
    fixture_close_client(f, client);
    /* After the close there is nothing more. */
    assert_false(log_lines_has(lines, 0, "closed"));
}

/* Calls return it as well; renewals meet it, whether there are calls or not. */
TEST(log_has_a_store_that_was_removed)
{
    fixture *f = *state;
    log_lines *lines = log_lines_new();
    hf_client_options options = log_lines_options(lines);
    char url[FIXTURE_PATH_SIZE];
    char command[2 * FIXTURE_PATH_SIZE];
    hf_client *client;

    fixture_only_embedded(f);
    fixture_embedded_url(f, "gone", "16M", url);
    client = fixture_client_at(f, url, &options);
    put_value(client, bytes("k"), bytes("1"), 0);
    (void)snprintf(command, sizeof(command), "rm -r '%s/gone'", f->directory);
    assert_int_equal(system(command), 0);
    expect_soon(hf_value_set(client, bytes("k"), bytes("2"), NULL, NULL,
                             NULL) == HF_CORRUPT,
                SOON_MS);
    expect_soon(log_lines_has(lines, HF_LOG_ERROR, "cannot be used: the store"),
                SOON_MS);
    fixture_close_client(f, client);
}

/* Of a login that is refused, with the password in the URL. */
TEST(log_never_has_a_password)
{
    fixture *f = *state;
    log_lines *lines = log_lines_new();
    hf_client_options options = log_lines_options(lines);
    redis_server *server;
    char url[256], answer[256];
    hf_client *client = NULL;

    fixture_only_redis(f);
    server = redis_server_start(NULL);
    assert_non_null(server);
    assert_true(redis_server_command(
        server, "ACL SETUSER ali on >open-sesame ~* &* +@all", answer,
        sizeof(answer)));
    (void)snprintf(url, sizeof(url), "%s://ali:open-sesame@127.0.0.1:%d",
                   redis_server_scheme(), redis_server_port(server));
    expect_status(HF_OK, hf_client_open(url, &options, &client, ERR));
    set_once(f, client, "v");
    /* Ends the connections of that user, too. */
    assert_true(redis_server_command(server, "ACL DELUSER ali", answer,
                                     sizeof(answer)));
    expect_soon(log_lines_has(lines, HF_LOG_WARNING, "lost the connection"),
                SOON_MS);
    /* One is made when it is needed. */
    expect_soon(hf_value_set(client, bytes("k"), bytes("v"), NULL, NULL,
                             NULL) == HF_DENIED,
                SOON_MS);
    expect_told(HF_DENIED, client,
                hf_value_set_start(client, bytes("k"), bytes("v"), NULL, NULL,
                                   &async, ERR));
    expect_soon(
        log_lines_has(lines, HF_LOG_WARNING, "no connection for requests: "),
        SOON_MS);
    hf_client_close(client);
    redis_server_stop(server);
    assert_false(log_lines_has(lines, 0, "sesame"));
}

TEST(log_level_out_of_range_is_refused)
{
    fixture *f = *state;
    hf_client_options options = HF_CLIENT_OPTIONS_INIT;
    hf_client *client = NULL;

    options.log_level = HF_LOG_DEBUG + 1;
    expect_status(HF_INVALID, hf_client_open(f->url, &options, &client, ERR));
    options.log_level = -1;
    expect_status(HF_INVALID, hf_client_open(f->url, &options, &client, ERR));
    options.log_level = 0;
    options.reserved1 = 1;
    expect_status(HF_UNSUPPORTED,
                  hf_client_open(f->url, &options, &client, ERR));
}

/* Whatever a test did to the server, the next one finds it running. */
static int repair_and_close(void **state)
{
    fixture *f = *state;
    bool runs = f->server == NULL || redis_server_restart(f->server);

    return runs ? fixture_close(state) : -1;
}

EACH_TEST_WITH(fixture_open, repair_and_close);
ALL_TESTS_WITH(fixture_start, fixture_stop);
