/* SPDX-License-Identifier: Apache-2.0 */
/*
 * standby_test.c - a standby that is promoted: what of the locks it has, and
 * what `store diagnose` says of it before.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "holdfast/client.h"
#include "holdfast/lock.h"
#include "holdfast/store.h"
#include "holdfast/value.h"
#include "support/slowness.h"
#include "support/test_postgres.h"

typedef struct servers {
    postgres_server *primary;
    postgres_server *standby;
    char url[256];
} servers;

static bool answers(const postgres_server *server, const char *sql,
                    const char *expected)
{
    char answer[POSTGRES_ANSWER_SIZE];

    postgres_server_ask(server, sql, answer);
    return strcmp(answer, expected) == 0;
}

static bool streams(const postgres_server *primary, const char *count)
{
    return answers(primary,
                   "SELECT count(*) FROM pg_stat_replication "
                   "WHERE state = 'streaming'",
                   count);
}

static servers start_servers(const char *synchronous)
{
    servers of = {.primary = postgres_server_start(false)};
    char sql[128];

    assert_non_null(of.primary);
    of.standby = postgres_server_follow(of.primary, "second");
    assert_non_null(of.standby);
    (void)snprintf(sql, sizeof(sql),
                   "ALTER SYSTEM SET synchronous_standby_names = '%s'",
                   synchronous);
    assert_true(postgres_server_run(of.primary, sql));
    assert_true(postgres_server_run(of.primary, "SELECT pg_reload_conf()"));
    expect_soon(streams(of.primary, "1"), 30000);
    (void)snprintf(of.url, sizeof(of.url),
                   "postgres://postgres@127.0.0.1:%d,127.0.0.1:%d/postgres"
                   "?request_ms=3000&connect_ms=3000",
                   postgres_server_port(of.primary),
                   postgres_server_port(of.standby));
    return of;
}

static void stop_servers(servers *of)
{
    postgres_server_stop(of->primary);
    postgres_server_stop(of->standby);
}

/* Nothing reaches the standby from now on. */
static void cut_standby(const servers *of)
{
    assert_true(postgres_server_run(of->standby,
                                    "ALTER SYSTEM SET primary_conninfo = ''"));
    assert_true(postgres_server_run(of->standby, "SELECT pg_reload_conf()"));
    expect_soon(streams(of->primary, "0"), 30000);
}

static void promote_standby(const servers *of)
{
    postgres_server_kill(of->primary);
    assert_true(postgres_server_run(of->standby, "SELECT pg_promote()"));
    expect_soon(answers(of->standby, "SELECT pg_is_in_recovery()", "f"), 30000);
}

static hf_client *open_client(const servers *of)
{
    hf_client *client = NULL;

    expect_status(HF_OK, hf_client_open(of->url, NULL, &client, ERR));
    return client;
}

/* By a client that is closed first, so that the lock is not released. */
static hf_status try_lock(const servers *of, const char *name, uint64_t *token)
{
    hf_lock_options options = HF_LOCK_OPTIONS_INIT;
    hf_client *client = open_client(of);
    hf_lock *lock = NULL;
    hf_status status;

    options.ttl_ms = 600000;
    expect_status(HF_OK,
                  hf_lock_new(client, hf_str(name), &options, &lock, ERR));
    status = hf_lock_try(lock, NULL);
    if (token != NULL)
        *token = hf_lock_token(lock);
    hf_client_close(client);
    hf_lock_free(lock);
    return status;
}

/* What is said of `name`, and how bad it is. */
static void expect_said(const servers *of, const char *name, hf_level level,
                        const char *value)
{
    hf_client *client = open_client(of);
    diagnosed found = diagnose(client, name);

    assert_string_equal(found.value, value);
    assert_int_equal(found.level, level);
    hf_client_close(client);
}

/* Of sessions from now on. */
static void set_commit(const servers *of, const char *value)
{
    char sql[128];

    (void)snprintf(sql, sizeof(sql),
                   "ALTER ROLE postgres SET synchronous_commit = %s", value);
    assert_true(postgres_server_run(of->primary, sql));
}

TEST(asynchronous_standby_lacks_the_last_lock)
{
    servers of = start_servers("");
    uint64_t first = 0;
    uint64_t second = 0;

    expect_said(&of, "fsync", HF_LEVEL_WARNING, "off");
    expect_said(&of, "synchronous standbys", HF_LEVEL_NOTE, "none");
    expect_said(&of, "asynchronous standbys", HF_LEVEL_NOTE, "1");
    expect_said(&of, "pooler", HF_LEVEL_OK, "not in use");
    assert_int_equal(try_lock(&of, "early", NULL), HF_OK);
    expect_soon(answers(of.standby,
                        "SELECT count(*) > 0 FROM holdfast.records "
                        "WHERE position('early'::bytea in key) > 0",
                        "t"),
                30000);
    cut_standby(&of);
    assert_int_equal(try_lock(&of, "late", &first), HF_OK);
    promote_standby(&of);
    assert_int_equal(try_lock(&of, "early", NULL), HF_HELD);
    assert_int_equal(try_lock(&of, "late", &second), HF_OK);
    assert_true(second > first);
    stop_servers(&of);
}

TEST(synchronous_standby_has_what_was_acknowledged)
{
    servers of = start_servers("second");

    expect_said(&of, "synchronous standbys", HF_LEVEL_OK, "second");
    expect_said(&of, "synchronous commit", HF_LEVEL_OK, "on");
    set_commit(&of, "local");
    expect_said(&of, "synchronous commit", HF_LEVEL_NOTE, "local");
    set_commit(&of, "remote_write");
    expect_said(&of, "synchronous commit", HF_LEVEL_WARNING, "remote_write");
    set_commit(&of, "on");
    expect_said(&of, "asynchronous standbys", HF_LEVEL_OK, "");
    assert_int_equal(try_lock(&of, "early", NULL), HF_OK);
    cut_standby(&of);
    assert_int_not_equal(try_lock(&of, "late", NULL), HF_OK);
    promote_standby(&of);
    assert_int_equal(try_lock(&of, "early", NULL), HF_HELD);
    assert_int_equal(try_lock(&of, "late", NULL), HF_OK);
    stop_servers(&of);
}

/* A value that is set while nothing reaches the standby. */
typedef struct late_write {
    pthread_t thread;
    hf_client *client;
    hf_status status;
} late_write;

static void *set_value(void *user)
{
    late_write *of = user;

    of->status = hf_value_set(of->client, hf_str("late"), hf_str("value"), NULL,
                              NULL, NULL);
    return NULL;
}

/* Until its commit waits for the standby. */
static void begin_write(late_write *of, const servers *on)
{
    char url[256];

    (void)snprintf(url, sizeof(url),
                   "postgres://postgres@127.0.0.1:%d/postgres?request_ms=%lld",
                   postgres_server_port(on->primary),
                   (long long)slowed_ms(3000));
    expect_status(HF_OK, hf_client_open(url, NULL, &of->client, ERR));
    expect_status(HF_OK, hf_value_set(of->client, hf_str("early"),
                                      hf_str("value"), NULL, NULL, ERR));
    cut_standby(on);
    assert_int_equal(pthread_create(&of->thread, NULL, set_value, of), 0);
    expect_soon(answers(on->primary,
                        "SELECT count(*) FROM pg_stat_activity "
                        "WHERE wait_event = 'SyncRep'",
                        "1"),
                10000);
}

static hf_status end_write(late_write *of)
{
    assert_int_equal(pthread_join(of->thread, NULL), 0);
    hf_client_close(of->client);
    return of->status;
}

/* A server that was restarted shows what waited for the standby. */
TEST(restart_of_the_primary_acknowledges_nothing)
{
    servers of = start_servers("second");
    late_write late;

    begin_write(&late, &of);
    assert_true(postgres_server_restart(of.primary));
    assert_true(answers(of.primary,
                        "SELECT count(*) FROM holdfast.records "
                        "WHERE position('late'::bytea in key) > 0",
                        "1"));
    assert_int_equal(end_write(&late), HF_INDETERMINATE);
    stop_servers(&of);
}

static void cancel_wait(const char *setting)
{
    servers of = start_servers("second");
    late_write late;

    assert_true(postgres_server_run(of.primary, setting));
    begin_write(&late, &of);
    assert_true(postgres_server_run(of.primary,
                                    "SELECT pg_cancel_backend(pid) "
                                    "FROM pg_stat_activity "
                                    "WHERE wait_event = 'SyncRep'"));
    assert_int_equal(end_write(&late), HF_INDETERMINATE);
    stop_servers(&of);
}

TEST(wait_for_the_standby_that_is_cancelled_acknowledges_nothing)
{
    cancel_wait("SELECT 1");
}

TEST(wait_that_is_cancelled_is_seen_where_warnings_are_off)
{
    cancel_wait("ALTER ROLE postgres SET client_min_messages = error");
}

typedef struct late_release {
    pthread_t thread;
    hf_lock *lock;
    hf_status status;
} late_release;

static void *release_lock(void *user)
{
    late_release *of = user;

    of->status = hf_lock_release(of->lock, NULL);
    return NULL;
}

TEST(release_is_seen_before_the_standby_has_it_and_acknowledged_after)
{
    servers of = start_servers("second");
    hf_client *client = NULL;
    late_release late;
    char url[256];

    (void)snprintf(url, sizeof(url),
                   "postgres://postgres@127.0.0.1:%d/postgres?request_ms=%lld",
                   postgres_server_port(of.primary),
                   (long long)slowed_ms(3000));
    expect_status(HF_OK, hf_client_open(url, NULL, &client, ERR));
    expect_status(HF_OK,
                  hf_lock_new(client, hf_str("late"), NULL, &late.lock, ERR));
    expect_status(HF_OK, hf_lock_try(late.lock, ERR));
    cut_standby(&of);
    assert_int_equal(pthread_create(&late.thread, NULL, release_lock, &late),
                     0);
    expect_soon(answers(of.primary,
                        "SELECT count(*) FROM pg_stat_activity "
                        "WHERE wait_event = 'SyncRep'",
                        "1"),
                10000);
    assert_true(answers(of.primary,
                        "SELECT count(*) FROM holdfast.records "
                        "WHERE position('late'::bytea in key) > 0",
                        "0"));
    assert_int_equal(pthread_join(late.thread, NULL), 0);
    assert_int_not_equal(late.status, HF_OK);
    hf_lock_free(late.lock);
    hf_client_close(client);
    stop_servers(&of);
}

/* As where the owner of the functions has lost a right; `when` in
 * await_standbys(). */
static hf_status release_without_rights(const char *when, const char *left)
{
    postgres_server *server = postgres_server_start(false);
    hf_client *client = NULL;
    hf_lock *lock = NULL;
    char answer[POSTGRES_ANSWER_SIZE];
    char sql[512];
    hf_status status;

    assert_non_null(server);
    expect_status(
        HF_OK, hf_client_open(postgres_server_url(server), NULL, &client, ERR));
    expect_status(HF_OK, hf_lock_new(client, hf_str("a"), NULL, &lock, ERR));
    expect_status(HF_OK, hf_lock_try(lock, ERR));
    (void)snprintf(sql, sizeof(sql),
                   "CREATE OR REPLACE FUNCTION holdfast.await_standbys(writes "
                   "boolean) RETURNS void LANGUAGE plpgsql AS $$ BEGIN IF %s "
                   "THEN RAISE EXCEPTION 'no' USING ERRCODE = '42501'; "
                   "END IF; END $$",
                   when);
    assert_true(postgres_server_run(server, sql));
    status = hf_lock_release(lock, NULL);
    postgres_server_ask(
        server, "SELECT count(*) FROM holdfast.records WHERE expire_ms < 0",
        answer);
    assert_string_equal(answer, left);
    hf_lock_free(lock);
    hf_client_close(client);
    postgres_server_stop(server);
    return status;
}

TEST(release_that_was_done_before_an_error_is_not_said_to_be_undone)
{
    assert_int_equal(release_without_rights("writes", "1"), HF_DENIED);
    assert_int_equal(release_without_rights("NOT writes", "0"),
                     HF_INDETERMINATE);
}
