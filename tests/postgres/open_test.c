/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open_test.c - opening a client on PostgreSQL: servers that stop answering,
 * and schemas that are not ours.
 */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "holdfast/client.h"
#include "holdfast/store.h"
#include "holdfast/value.h"
#include "support/fake_server.h"
#include "support/slowness.h"
#include "support/test_clock.h"
#include "support/test_postgres.h"

/* Where a server falls silent. */
typedef enum silence { AT_LOGIN, AT_QUERY } silence;

static void put_setting(char **to, const char *name, const char *value)
{
    size_t name_size = strlen(name) + 1;
    size_t value_size = strlen(value) + 1;
    const char head[] = {'S', 0, 0, 0, (char)(4 + name_size + value_size)};

    memcpy(*to, head, sizeof(head));
    memcpy(*to + sizeof(head), name, name_size);
    memcpy(*to + sizeof(head) + name_size, value, value_size);
    *to += sizeof(head) + name_size + value_size;
}

/* What a server sends once a client is logged in. */
static size_t put_login(char *text)
{
    static const char done[] = {'R', 0, 0, 0, 8, 0, 0, 0, 0};
    static const char ready[] = {'Z', 0, 0, 0, 5, 'I'};
    char *to = text;

    memcpy(to, done, sizeof(done));
    to += sizeof(done);
    put_setting(&to, "server_version", "15.0");
    put_setting(&to, "in_hot_standby", "off");
    put_setting(&to, "default_transaction_read_only", "off");
    memcpy(to, ready, sizeof(ready));
    return (size_t)(to - text) + sizeof(ready);
}

static void fall_silent(int fd, unsigned number, void *user)
{
    const silence *when = user;
    char text[512];
    ssize_t got;

    (void)number;
    /* The request for TLS, which is declined, and the login. */
    got = *when == AT_LOGIN ? 0 : read(fd, text, sizeof(text));
    if (got == 8 && write(fd, "N", 1) == 1)
        got = read(fd, text, sizeof(text));
    if (got > 0)
        (void)!write(fd, text, put_login(text));
    while (read(fd, text, sizeof(text)) > 0)
        continue;
}

static void open_silent(silence when, bool setup)
{
    fake_server *server = fake_server_start_tcp(fall_silent, &when);
    int64_t began_ms = test_now_ms();
    int connect_ms = setup ? 3000 : 300; /* not the default */
    hf_client *client = NULL;
    char url[128];

    assert_non_null(server);
    (void)snprintf(url, sizeof(url),
                   "postgres://ann@127.0.0.1:%d/db?connect_ms=%d",
                   fake_server_port(server), connect_ms);
    expect_status(HF_UNAVAILABLE,
                  setup ? hf_store_setup(url, NULL, NULL, ERR)
                        : hf_client_open(url, NULL, &client, ERR));
    assert_took(test_now_ms() - began_ms, connect_ms, connect_ms + 1200);
    fake_server_stop(server);
}

TEST(server_that_is_silent_at_the_login_is_given_up)
{
    open_silent(AT_LOGIN, false);
    open_silent(AT_LOGIN, true);
}

TEST(server_that_is_silent_after_the_login_is_given_up)
{
    open_silent(AT_QUERY, false);
}

static hf_status get_value(hf_client *client)
{
    hf_buffer value = HF_BUFFER_INIT;
    hf_status status = hf_value_get(client, hf_str("a"), &value, NULL);

    hf_buffer_free(&value);
    return status;
}

/* The first of two hosts uses up its share of the time only. */
TEST(silent_host_leaves_time_for_the_next)
{
    silence when = AT_LOGIN;
    fake_server *silent = fake_server_start_tcp(fall_silent, &when);
    postgres_server *server = postgres_server_start(false);
    hf_client *client = NULL;
    char url[192];

    assert_non_null(silent);
    assert_non_null(server);
    (void)snprintf(url, sizeof(url),
                   "postgres://postgres@127.0.0.1:%d,127.0.0.1:%d/"
                   "postgres?connect_ms=%lld",
                   fake_server_port(silent), postgres_server_port(server),
                   (long long)slowed_ms(2000));
    expect_status(HF_OK, hf_client_open(url, NULL, &client, ERR));
    hf_client_close(client);
    fake_server_stop(silent);
    postgres_server_stop(server);
}

/* Whatever the server's language is. */
TEST(login_that_is_refused_is_not_tried_again)
{
    postgres_server *server = postgres_server_start(false);
    hf_client *client = NULL;
    char url[128];

    assert_non_null(server);
    assert_true(postgres_server_run(server, "CREATE ROLE guest LOGIN"));
    assert_true(postgres_server_run(server, "CREATE DATABASE closed"));
    assert_true(postgres_server_run(
        server, "REVOKE CONNECT ON DATABASE closed FROM PUBLIC"));
    (void)snprintf(url, sizeof(url), "postgres://ghost@127.0.0.1:%d/postgres",
                   postgres_server_port(server));
    expect_status(HF_DENIED, hf_client_open(url, NULL, &client, ERR));
    (void)snprintf(url, sizeof(url), "postgres://guest@127.0.0.1:%d/closed",
                   postgres_server_port(server));
    expect_status(HF_DENIED, hf_client_open(url, NULL, &client, ERR));
    (void)snprintf(url, sizeof(url), "postgres://guest@127.0.0.1:%d/absent",
                   postgres_server_port(server));
    expect_status(HF_INVALID, hf_client_open(url, NULL, &client, ERR));
    postgres_server_stop(server);
}

TEST(fault_of_listen_is_named)
{
    postgres_server *server = postgres_server_start(false);
    hf_client *client = NULL;
    diagnosed of;
    char url[192];

    assert_non_null(server);
    (void)snprintf(url, sizeof(url), "%s?listen=127.0.0.1:9",
                   postgres_server_url(server));
    expect_status(HF_OK, hf_client_open(url, NULL, &client, ERR));
    of = diagnose(client, "listen");
    assert_int_equal(of.level, HF_LEVEL_WARNING);
    assert_non_null(strstr(of.value, "refused"));
    hf_client_close(client);
    /* In brackets, as an address of IPv6 may be. */
    (void)snprintf(url, sizeof(url), "%s?listen=[127.0.0.1]:%d",
                   postgres_server_url(server), postgres_server_port(server));
    expect_status(HF_OK, hf_client_open(url, NULL, &client, ERR));
    of = diagnose(client, "listen");
    assert_int_equal(of.level, HF_LEVEL_OK);
    assert_string_equal(of.value, "127.0.0.1");
    hf_client_close(client);
    postgres_server_stop(server);
}

TEST(schema_of_another_protocol_is_refused)
{
    postgres_server *server = postgres_server_start(false);
    hf_client *client = NULL;
    hf_client *other = NULL;

    assert_non_null(server);
    expect_status(
        HF_OK, hf_client_open(postgres_server_url(server), NULL, &client, ERR));
    assert_int_equal(get_value(client), HF_NOT_FOUND);
    assert_true(postgres_server_run(
        server, "CREATE OR REPLACE FUNCTION holdfast.protocol() RETURNS int "
                "LANGUAGE sql IMMUTABLE AS 'SELECT 7'"));
    expect_status(HF_UNSUPPORTED, hf_client_open(postgres_server_url(server),
                                                 NULL, &other, ERR));
    /* By a connection that is made later, too. */
    assert_true(postgres_server_restart(server));
    expect_soon(get_value(client) == HF_UNSUPPORTED, 20000);
    assert_true(postgres_server_run(server, "DROP SCHEMA holdfast CASCADE"));
    assert_int_equal(get_value(client), HF_INVALID);
    expect_status(HF_INVALID, hf_client_open(postgres_server_url(server), NULL,
                                             &other, ERR));
    hf_client_close(client);
    postgres_server_stop(server);
}
