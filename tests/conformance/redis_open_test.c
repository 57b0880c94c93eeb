/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_open_test.c - opening a server: passwords, permissions, databases, a
 * server that does not answer. Runs on the server stores.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "holdfast/lock.h"
#include "holdfast/script.h"
#include "support/every_call.h"
#include "support/slowness.h"
#include "support/store_fixture.h"

FIXTURE_TESTS();

#define PASSWORD "geheim-42"

static hf_status open_as(const char *url, const char *username,
                         const char *password)
{
    hf_client_options opts = HF_CLIENT_OPTIONS_INIT;
    hf_client *client = NULL;
    hf_status status;

    opts.username = username;
    opts.password = password;
    status = hf_client_open(url, &opts, &client, ERR);
    hf_client_close(client);
    assert_null(strstr(expect_message(), PASSWORD));
    return status;
}

static const char *address(const fixture *f, const redis_server *server)
{
    return f->store == FIXTURE_REDIS_UNIX ? redis_server_unix_url(server)
                                          : redis_server_tcp_url(server);
}

TEST(password_is_asked_for)
{
    fixture *f = *state;
    redis_server *server = redis_server_start(PASSWORD);
    const char *url = address(f, server);
    char with_password[FIXTURE_PATH_SIZE];

    expect_status(HF_DENIED, open_as(url, NULL, NULL));
    expect_status(HF_DENIED, open_as(url, NULL, "wrong"));
    expect_status(HF_DENIED, open_as(url, "stranger", PASSWORD));
    expect_status(HF_OK, open_as(url, NULL, PASSWORD));
    expect_status(HF_OK, open_as(url, "default", PASSWORD));
    (void)snprintf(with_password, sizeof(with_password),
                   "redis://:" PASSWORD "@127.0.0.1:%d",
                   redis_server_port(server));
    expect_status(HF_OK, open_as(with_password, NULL, NULL));
    expect_status(HF_DENIED, open_as(with_password, NULL, "wrong"));
    (void)snprintf(with_password, sizeof(with_password),
                   "redis://default:wr%%6fng@127.0.0.1:%d",
                   redis_server_port(server));
    expect_status(HF_DENIED, open_as(with_password, NULL, NULL));
    expect_status(HF_OK, open_as(with_password, NULL, PASSWORD));
    redis_server_stop(server);
}

/* It takes precedence over all but the password of the options. */
static void password_file_of_the_options(const char *url, const char *path)
{
    hf_client_options opts = HF_CLIENT_OPTIONS_INIT;
    hf_client *client = NULL;

    assert_int_equal(setenv("HOLDFAST_PASSWORD_FILE", "/nowhere", 1), 0);
    opts.password_file = path;
    expect_status(HF_OK, hf_client_open(url, &opts, &client, ERR));
    hf_client_close(client);
    opts.password = "wrong";
    expect_status(HF_DENIED, hf_client_open(url, &opts, &client, ERR));
    opts.password = NULL;
    opts.password_file = "/nowhere";
    expect_status(HF_INVALID, hf_client_open(url, &opts, &client, ERR));
    opts.password_file = "";
    expect_status(HF_INVALID, hf_client_open(url, &opts, &client, ERR));
}

TEST(password_comes_from_the_environment)
{
    fixture *f = *state;
    redis_server *server = redis_server_start(PASSWORD);
    const char *url = address(f, server);
    char path[FIXTURE_PATH_SIZE];
    FILE *file;

    assert_int_equal(setenv("HOLDFAST_PASSWORD", PASSWORD, 1), 0);
    expect_status(HF_OK, open_as(url, NULL, NULL));
    expect_status(HF_DENIED, open_as(url, NULL, "wrong"));
    assert_int_equal(setenv("HOLDFAST_PASSWORD", "wrong", 1), 0);
    expect_status(HF_DENIED, open_as(url, NULL, NULL));
    fixture_path(f, "password", path);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(PASSWORD "\n", file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(setenv("HOLDFAST_PASSWORD_FILE", path, 1), 0);
    expect_status(HF_OK, open_as(url, NULL, NULL));
    password_file_of_the_options(url, path);
    assert_int_equal(unsetenv("HOLDFAST_PASSWORD_FILE"), 0);
    assert_int_equal(unsetenv("HOLDFAST_PASSWORD"), 0);
    redis_server_stop(server);
}

TEST(databases_are_told_apart)
{
    fixture *f = *state;
    char url[FIXTURE_PATH_SIZE + 16];
    hf_client *third = NULL;

    (void)snprintf(url, sizeof(url),
                   f->store == FIXTURE_REDIS_UNIX ? "%s?db=3" : "%s/3", f->url);
    expect_status(HF_OK, hf_client_open(url, NULL, &third, ERR));
    put_value(third, bytes("in-three"), bytes("1"), 0);
    assert_value(third, bytes("in-three"), bytes("1"));
    assert_no_key(f->client, bytes("in-three"));
    hf_client_close(third);
}

TEST(server_that_does_not_answer_is_unavailable)
{
    fixture *f = *state;
    hf_client_options opts = HF_CLIENT_OPTIONS_INIT;
    hf_client *client = NULL;
    int64_t began_ms;

    opts.connect_ms = 200;
    redis_server_pause(f->server);
    began_ms = test_now_ms();
    expect_status(HF_UNAVAILABLE, hf_client_open(f->url, &opts, &client, ERR));
    assert_in_time(test_now_ms() - began_ms, 200 + 300);
    redis_server_resume(f->server);
    expect_status(HF_OK, open_as(f->url, NULL, NULL));
}

/* A user with all rights, but only on keys that begin with "ok:". */
TEST(keys_without_permission_are_denied)
{
    fixture *f = *state;
    hf_client_options opts = HF_CLIENT_OPTIONS_INIT;
    hf_client *client;
    char answer[64];

    assert_true(redis_server_command(
        f->server, "ACL SETUSER limited on >pw ~ok:* ~hf:* &hf:* +@all", answer,
        sizeof(answer)));
    assert_memory_equal(answer, "+OK", 3);
    opts.username = "limited";
    opts.password = "pw";
    client = fixture_client(f, &opts);
    put_value(client, bytes("ok:v"), bytes("1"), 0);
    for (size_t i = 0; i < every_call_count; i++) {
        every_place place = {.client = client, .key = bytes("no:key")};
        const every_call *call = &every_calls[i];
        hf_status status = every_call_prepare(&place, call, ERR);

        /* The key of a tag is one of ours. */
        if (!call->keyless && strncmp(call->name, "cache inv", 9) != 0) {
            status = status == HF_OK ? every_call_make(&place, call, false, ERR)
                                     : status;
            if (status != HF_UNSUPPORTED || !call->is_newer)
                expect_status_at(HF_DENIED, status, call->name, __FILE__,
                                 __LINE__);
        }
        every_call_done(&place);
    }
}

/* A user who lost the permission while holding a lock. */
TEST(renewal_and_release_without_permission_are_denied)
{
    fixture *f = *state;
    hf_client_options opts = HF_CLIENT_OPTIONS_INIT;
    hf_lock *locks[2];
    char answer[64];

    assert_true(redis_server_command(f->server,
                                     "ACL SETUSER waning on >pw ~* &* +@all",
                                     answer, sizeof(answer)));
    opts.username = "waning";
    opts.password = "pw";
    for (size_t i = 0; i < 2; i++) {
        locks[i] = fixture_lock(f, fixture_client(f, &opts),
                                fixture_key(f, i == 0 ? "a" : "b"), NULL);
        expect_status(HF_OK, hf_lock_try(locks[i], ERR));
    }
    assert_true(redis_server_command(f->server,
                                     "ACL SETUSER waning resetkeys ~ok:*",
                                     answer, sizeof(answer)));
    expect_status(HF_DENIED, hf_lock_renew(locks[0], ERR));
    expect_status(HF_DENIED, hf_lock_release(locks[1], ERR));
    assert_false(hf_lock_is_held(locks[1]));
}

TEST(scripts_without_permission_are_denied)
{
    fixture *f = *state;
    hf_client_options opts = HF_CLIENT_OPTIONS_INIT;
    hf_script *script = NULL;
    char answer[64];

    assert_true(redis_server_command(
        f->server, "ACL SETUSER scriptless on >pw ~* &* +@all -script", answer,
        sizeof(answer)));
    assert_memory_equal(answer, "+OK", 3);
    opts.username = "scriptless";
    opts.password = "pw";
    expect_status(HF_DENIED, hf_script_load(fixture_client(f, &opts),
                                            bytes("return 1"), &script, ERR));
    assert_null(script);
}
