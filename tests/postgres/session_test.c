/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session_test.c - sessions of the server that wait for what does not come: how
 * many there are, and that none stays when its client has given up.
 */
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "holdfast/client.h"
#include "holdfast/value.h"
#include "support/await_child.h"
#include "support/slowness.h"
#include "support/test_clock.h"
#include "support/test_postgres.h"

#define CALLS 3

TESTS_ON_POSTGRES(false);

static hf_client *open_client(void)
{
    hf_client *client = NULL;
    char url[256];

    (void)snprintf(url, sizeof(url), "%s?request_ms=%lld&connect_ms=10000",
                   postgres_server_url(server), (long long)slowed_ms(500));
    expect_status(HF_OK, hf_client_open(url, NULL, &client, ERR));
    return client;
}

static int ask_count(const char *sql)
{
    char answer[POSTGRES_ANSWER_SIZE];

    postgres_server_ask(server, sql, answer);
    return answer[0] == '\0' ? -1 : (int)strtol(answer, NULL, 10);
}

/* Of Holdfast: those that wait, and all. */
static int waiting(void)
{
    return ask_count("SELECT count(*) FROM pg_stat_activity WHERE "
                     "application_name = 'holdfast' AND state = 'active' "
                     "AND (wait_event_type = 'Lock' OR "
                     "wait_event = 'SyncRep')");
}

static int sessions(void)
{
    return ask_count("SELECT count(*) FROM pg_stat_activity WHERE "
                     "application_name = 'holdfast'");
}

static hf_status set_value(hf_client *client)
{
    return hf_value_set(client, hf_str("a"), hf_str("b"), NULL, NULL, NULL);
}

static void *hold_table(void *user)
{
    (void)user;
    (void)postgres_server_run(server, "BEGIN; LOCK TABLE holdfast.records IN "
                                      "EXCLUSIVE MODE; SELECT pg_sleep(3600)");
    return NULL;
}

/* And the session that stays for it. */
static void end_thread(pthread_t thread)
{
    assert_true(postgres_server_run(server,
                                    "SELECT pg_terminate_backend(pid) FROM "
                                    "pg_stat_activity WHERE query LIKE "
                                    "'BEGIN; %pg_sleep%'"));
    assert_int_equal(pthread_join(thread, NULL), 0);
}

/* Calls that fail leave one session, which is free. */
static void expect_few(hf_client *client, hf_status first)
{
    hf_status status;

    for (int i = 0; i < CALLS; i++) {
        status = set_value(client);
        assert_true(status == first || status == HF_INDETERMINATE);
    }
    expect_soon(waiting() == 0, 10000);
    assert_in_range(sessions(), 0, 1);
}

TEST(calls_that_wait_for_a_lock_leave_no_session)
{
    hf_client *client = open_client();
    pthread_t holder;

    assert_int_equal(set_value(client), HF_OK);
    assert_int_equal(pthread_create(&holder, NULL, hold_table, NULL), 0);
    expect_soon(ask_count("SELECT count(*) FROM pg_locks WHERE "
                          "mode = 'ExclusiveLock' AND granted AND relation = "
                          "'holdfast.records'::regclass") == 1,
                10000);
    expect_few(client, HF_UNAVAILABLE);
    end_thread(holder);
    expect_soon(set_value(client) == HF_OK, 10000);
    hf_client_close(client);
}

/* A commit that requires a client of which no one has heard. */
#define ASK(key, slot)                                                         \
    "SELECT outcome FROM holdfast.commit_records(ARRAY['" key                  \
    "'::bytea], ARRAY[0::bigint], ARRAY[" slot "], NULL, NULL, NULL, "         \
    "(extract(epoch FROM clock_timestamp()) * 1e6)::bigint, 5, NULL, NULL, "   \
    "ARRAY[12345::bigint], 1, 1, 0, 1000000, 1000, false)"

static void *ask_and_stay(void *user)
{
    (void)user;
    (void)postgres_server_run(
        server, "BEGIN; " ASK("asked", "1") "; "
                                            "SELECT pg_sleep(3600)");
    return NULL;
}

/* Who asks whether a client listens is not taken for it. */
TEST(two_that_ask_for_an_absent_client_find_none)
{
    pthread_t asker;

    assert_int_equal(pthread_create(&asker, NULL, ask_and_stay, NULL), 0);
    expect_soon(ask_count("SELECT count(*) FROM pg_locks WHERE "
                          "locktype = 'advisory' AND objid = 12345") == 1,
                10000);
    assert_int_equal(ask_count(ASK("other", "2")), 2);
    end_thread(asker);
}

static void set_standbys(const char *names)
{
    char sql[128];

    (void)snprintf(sql, sizeof(sql),
                   "ALTER SYSTEM SET synchronous_standby_names = '%s'", names);
    assert_true(postgres_server_run(server, sql));
    assert_true(postgres_server_run(server, "SELECT pg_reload_conf()"));
}

TEST(calls_that_wait_for_a_standby_leave_no_session)
{
    hf_client *client = open_client();

    assert_int_equal(set_value(client), HF_OK);
    set_standbys("none");
    expect_soon(set_value(client) == HF_INDETERMINATE, 20000);
    expect_few(client, HF_INDETERMINATE);
    set_standbys("");
    expect_soon(set_value(client) == HF_OK, 20000);
    hf_client_close(client);
}

static int lines_of(const char *name)
{
    char path[300];
    char line[256];
    int count = 0;
    FILE *file;

    (void)snprintf(path, sizeof(path), "/proc/self/fdinfo/%s", name);
    file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof(line), file) != NULL)
        count += strncmp(line, "tfd:", 4) == 0;
    if (file != NULL)
        (void)fclose(file);
    return count;
}

/* Descriptors in an epoll of this process. */
static int watched(void)
{
    DIR *folder = opendir("/proc/self/fdinfo");
    const struct dirent *entry;
    int count = 0;

    assert_non_null(folder);
    while ((entry = readdir(folder)) != NULL)
        count += lines_of(entry->d_name);
    (void)closedir(folder);
    return count;
}

/* It has the sockets, which are then not removed from epoll by close(): they
 * would wake the loop without end. */
TEST(connections_that_a_child_has_too_are_not_watched_once_they_are_broken)
{
    hf_client *client = open_client();
    int status, before;
    pid_t child;

    expect_status(HF_OK, set_value(client));
    assert_string_equal(diagnose(client, "wake-ups").value, "arrive");
    before = watched();
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)alarm(60); /* also if the test fails */
        (void)pause();
        _exit(0);
    }
    (void)ask_count("SELECT count(pg_terminate_backend(pid)) FROM "
                    "pg_stat_activity WHERE application_name = 'holdfast'");
    expect_soon(set_value(client) == HF_OK, 10000);
    expect_soon((diagnose(client, "wake-ups"), watched() == before), 10000);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(await_child(child, &status), child);
    hf_client_close(client);
}
