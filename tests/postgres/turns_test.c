/* SPDX-License-Identifier: Apache-2.0 */
/*
 * turns_test.c - who has met a conflict commits next: the commits of others on
 * the same key wait for that.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test_clock.h"
#include "support/test_postgres.h"

TESTS_ON_POSTGRES(false);

/* SQL by which a client writes the key, if its version is as expected, and has
 * the turn then, or another. A turn lasts for a quarter of the last parameter,
 * ms, after a conflict, else for a sixteenth. */
static const char *write_sql(const char *key, int client, int expected,
                             int next, long late_ms)
{
    static char sql[512];

    (void)snprintf(
        sql, sizeof(sql),
        "SELECT outcome FROM holdfast.commit_records(ARRAY['%s'::bytea], "
        "ARRAY[%d::bigint], ARRAY[1], ARRAY[1], ARRAY['x'::bytea], "
        "ARRAY[0::bigint], "
        "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint, %d, '{}', "
        "'{}', '{}', 1, %d, %d, %ld000, 60000, false)",
        key, expected, client, client, next, late_ms);
    return sql;
}

static void expect_answer(const char *sql, const char *expected)
{
    char answer[POSTGRES_ANSWER_SIZE];

    postgres_server_ask(server, sql, answer);
    assert_string_equal(answer, expected);
}

/* Run it meanwhile; its answer is what can be read. */
static FILE *begin_sql(const char *sql)
{
    char line[1024];

    (void)snprintf(line, sizeof(line), "'%s/psql' -qXAtc \"%s\" '%s'",
                   getenv("HF_TEST_POSTGRES"), sql,
                   postgres_server_url(server));
    /* NOLINTNEXTLINE(cert-env33-c) */
    return popen(line, "r");
}

static bool one_waits_for_a_turn(void)
{
    char answer[POSTGRES_ANSWER_SIZE];

    postgres_server_ask(server,
                        "SELECT count(*) FROM pg_locks WHERE locktype = "
                        "'advisory' AND classid = 1752132709 AND granted",
                        answer);
    return strcmp(answer, "1") == 0;
}

/* What was begun waits for a turn until this is run, and finds what it wrote.
 */
static void expect_conflict_after(FILE *begun, const char *sql)
{
    char answer[POSTGRES_ANSWER_SIZE] = "";

    assert_non_null(begun);
    expect_soon(one_waits_for_a_turn(), 5000);
    expect_answer(sql, "0");
    assert_non_null(fgets(answer, sizeof(answer), begun));
    assert_string_equal(answer, "1\n");
    assert_int_equal(pclose(begun), 0);
}

TEST(who_met_a_conflict_commits_next)
{
    FILE *other;

    expect_answer(write_sql("a", 1, 7, 0, 240000), "1");
    other = begin_sql(write_sql("a", 2, 0, 0, 240000));
    expect_conflict_after(other, write_sql("a", 1, 0, 0, 240000));
    /* Then it is the other's. */
    expect_answer(write_sql("a", 2, 1, 0, 240000), "0");
    expect_answer("SELECT count(*) FROM holdfast.turns", "0");
}

TEST(who_is_given_a_lease_commits_next)
{
    FILE *other;

    /* Who has met no conflict, and gives it to itself, has no rival. */
    expect_answer(write_sql("d", 1, 0, 1, 960000), "0");
    expect_answer("SELECT count(*) FROM holdfast.turns", "0");
    expect_answer(write_sql("d", 1, 7, 1, 960000), "1");
    expect_answer(write_sql("d", 1, 1, 1, 960000), "0");
    expect_answer("SELECT client FROM holdfast.turns", "1");
    expect_answer(write_sql("d", 1, 1, 2, 960000), "0");
    other = begin_sql(write_sql("d", 1, 1, 0, 960000));
    expect_conflict_after(other, write_sql("d", 2, 1, 0, 960000));
    expect_answer(write_sql("d", 1, 2, 0, 960000), "0");
    expect_answer("SELECT count(*) FROM holdfast.turns", "0");
}

TEST(turn_of_a_client_that_is_gone_ends)
{
    expect_answer(write_sql("b", 1, 7, 0, 400), "1");
    expect_answer(write_sql("b", 2, 0, 0, 400), "0");
}

TEST(turn_does_not_last_longer_after_the_clock_was_set_back)
{
    expect_answer("INSERT INTO holdfast.turns VALUES (1, 1, 4e15) ON CONFLICT "
                  "(slot) DO UPDATE SET client = 1, until_us = 4e15 "
                  "RETURNING slot",
                  "1");
    expect_answer(write_sql("c", 2, 0, 0, 400), "0");
}

/* A session: what is written to it is run. */
static FILE *begin_session(void)
{
    char line[512];

    (void)snprintf(line, sizeof(line), "'%s/psql' -qXAt '%s' >/dev/null",
                   getenv("HF_TEST_POSTGRES"), postgres_server_url(server));
    /* NOLINTNEXTLINE(cert-env33-c) */
    return popen(line, "w");
}

/* A write in a session, which has the turn until then if it meets a conflict.
 */
static void write_in_session(FILE *session, const char *key, int expected)
{
    fprintf(session,
            "SELECT outcome FROM holdfast.commit_records(ARRAY['%s'::bytea], "
            "ARRAY[%d::bigint], ARRAY[1], ARRAY[1], ARRAY['x'::bytea], "
            "ARRAY[0::bigint], "
            "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint, 1, "
            "'{}', '{}', '{}', 1, 1, 0, 240000000, 60000, false, "
            "pg_backend_pid());\n",
            key, expected);
    (void)fflush(session);
}

/* Locks of sessions that have the turn. */
static bool locks_of_turns(const char *which, const char *count)
{
    char answer[POSTGRES_ANSWER_SIZE];
    char sql[256];

    (void)snprintf(sql, sizeof(sql),
                   "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' "
                   "AND classid = 1752132710 AND %s",
                   which);
    postgres_server_ask(server, sql, answer);
    return strcmp(answer, count) == 0;
}

TEST(who_waits_for_a_session_is_woken_by_its_commit)
{
    char answer[POSTGRES_ANSWER_SIZE] = "";
    FILE *holder = begin_session();
    FILE *other;

    assert_non_null(holder);
    write_in_session(holder, "e", 7);
    expect_soon(locks_of_turns("granted", "1"), 5000);
    other = begin_sql(write_sql("e", 2, 0, 0, 240000));
    assert_non_null(other);
    expect_soon(locks_of_turns("NOT granted", "1"), 5000);
    write_in_session(holder, "e", 0);
    assert_non_null(fgets(answer, sizeof(answer), other));
    assert_string_equal(answer, "1\n");
    assert_int_equal(pclose(other), 0);
    /* The session has no turn any more, nor a lock. */
    assert_true(locks_of_turns("true", "0"));
    assert_int_equal(pclose(holder), 0);
    expect_answer(write_sql("e", 2, 1, 0, 240000), "0");
}

/* A warning is in the server's log, whatever a client asks for. */
TEST(commit_without_a_turn_warns_no_one)
{
    char path[256];
    char line[1024];
    FILE *log;

    expect_answer(
        "SELECT outcome FROM holdfast.commit_records(ARRAY['f'::bytea], "
        "ARRAY[0::bigint], ARRAY[9], ARRAY[1], ARRAY['x'::bytea], "
        "ARRAY[0::bigint], "
        "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint, 1, '{}', "
        "'{}', '{}', 9, 1, 0, 240000000, 60000, false, pg_backend_pid())",
        "0");
    (void)snprintf(path, sizeof(path), "%s/log",
                   postgres_server_folder(server));
    log = fopen(path, "r");
    assert_non_null(log);
    while (fgets(line, sizeof(line), log) != NULL)
        assert_null(strstr(line, "WARNING"));
    (void)fclose(log);
}

static bool commit_is_locked(void)
{
    char answer[POSTGRES_ANSWER_SIZE];

    postgres_server_ask(server,
                        "SELECT count(*) FROM pg_locks WHERE locktype = "
                        "'advisory' AND classid = 1752132708 AND objid = 8",
                        answer);
    return strcmp(answer, "1") == 0;
}

TEST(wait_for_a_commit_during_a_turn_ends_by_the_time_that_is_left)
{
    static const char commit[] =
        "SELECT outcome FROM holdfast.commit_records(ARRAY['g'::bytea], "
        "ARRAY[0::bigint], ARRAY[8], ARRAY[1], ARRAY['x'::bytea], "
        "ARRAY[0::bigint], 0, 1, '{}', '{}', '{}', 8, 2, 0, 240000000, 300, "
        "false)";
    FILE *other = begin_sql("SELECT pg_advisory_lock(1752132708, 8), "
                            "pg_sleep(600)");

    assert_non_null(other);
    expect_soon(commit_is_locked(), 5000);
    expect_answer("INSERT INTO holdfast.turns VALUES (8, 1, "
                  "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint "
                  "+ 20000000) RETURNING slot",
                  "8");
    assert_false(postgres_server_run(server, commit));
    expect_answer("SELECT until_us > extract(epoch FROM clock_timestamp()) * "
                  "1000000 FROM holdfast.turns WHERE slot = 8",
                  "t");
    assert_true(postgres_server_run(
        server, "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE "
                "locktype = 'advisory' AND classid = 1752132708"));
    assert_int_not_equal(pclose(other), 0);
}
