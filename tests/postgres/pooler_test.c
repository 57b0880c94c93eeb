/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pooler_test.c - a pooler between client and server, which gives each
 * transaction to another session: what is left in those, who is woken.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "holdfast/client.h"
#include "holdfast/lock.h"
#include "holdfast/store.h"
#include "support/pooler.h"
#include "support/slowness.h"
#include "support/test_clock.h"
#include "support/test_postgres.h"

static postgres_server *server;
static pooler *between;

static int start_server(void **state)
{
    (void)state;
    server = postgres_server_start(false);
    between = server != NULL ? pooler_start(server, 3) : NULL;
    return between != NULL ? 0 : -1;
}

static int stop_server(void **state)
{
    (void)state;
    pooler_stop(between);
    postgres_server_stop(server);
    return 0;
}

ALL_TESTS_WITH(start_server, stop_server);

/* Through the pooler; `listens`: with a connection to the server itself. */
static hf_client *open_client(bool listens)
{
    hf_client *client = NULL;
    char url[256];
    char listen[64] = "";

    if (listens)
        (void)snprintf(listen, sizeof(listen), "?listen=127.0.0.1:%d",
                       postgres_server_port(server));
    (void)snprintf(url, sizeof(url),
                   "postgres://postgres@127.0.0.1:%d/postgres%s",
                   pooler_port(between), listen);
    expect_status(HF_OK, hf_client_open(url, NULL, &client, ERR));
    return client;
}

static hf_lock *new_lock(hf_client *client, const char *name)
{
    hf_lock_options options = HF_LOCK_OPTIONS_INIT;
    hf_lock *lock = NULL;

    options.ttl_ms = 60000;
    expect_status(HF_OK,
                  hf_lock_new(client, hf_str(name), &options, &lock, ERR));
    return lock;
}

static int waiting(hf_client *client, const char *name)
{
    hf_lock_info info = HF_LOCK_INFO_INIT;

    if (hf_lock_inspect(client, hf_str(name), &info, NULL) != HF_OK)
        return 0;
    return (int)info.waiters;
}

static void *acquire_thread(void *user)
{
    return hf_lock_acquire(user, 60000, NULL) == HF_OK ? user : NULL;
}

/* From a release to the grant of one that waits, ms. */
static int64_t hand_over(const char *name, bool listens)
{
    hf_client *client = open_client(listens);
    hf_client *other = open_client(listens);
    hf_lock *lock = new_lock(client, name);
    hf_lock *next = new_lock(other, name);
    pthread_t thread;
    void *got = NULL;
    int64_t began_ms;

    expect_status(HF_OK, hf_lock_acquire(lock, 0, ERR));
    assert_int_equal(pthread_create(&thread, NULL, acquire_thread, next), 0);
    if (listens)
        expect_soon(waiting(client, name) == 1, 20000);
    else
        (void)usleep(1000000); /* it polls, and is not in the queue */
    began_ms = test_now_ms();
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    assert_int_equal(pthread_join(thread, &got), 0);
    assert_ptr_equal(got, next);
    began_ms = test_now_ms() - began_ms;
    expect_status(HF_OK, hf_lock_release(next, ERR));
    hf_lock_free(next);
    hf_lock_free(lock);
    hf_client_close(other);
    hf_client_close(client);
    return began_ms;
}

static bool no_session_locks(void)
{
    char answer[POSTGRES_ANSWER_SIZE];

    postgres_server_ask(server,
                        "SELECT count(*) FROM pg_locks WHERE locktype = "
                        "'advisory'",
                        answer);
    return strcmp(answer, "0") == 0;
}

TEST(nothing_is_left_in_the_sessions_of_a_pooler)
{
    assert_in_time(hand_over("polled", false), 30000);
    assert_true(no_session_locks());
}

static bool no_listeners(void)
{
    char answer[POSTGRES_ANSWER_SIZE];

    postgres_server_ask(server,
                        "SELECT count(*) FROM pg_stat_activity WHERE "
                        "query LIKE '%LISTEN hf%' AND pid <> pg_backend_pid()",
                        answer);
    return strcmp(answer, "0") == 0;
}

TEST(waiter_that_listens_on_the_server_itself_is_woken)
{
    hf_client *client = open_client(true);
    hf_lock *lock = new_lock(client, "present");

    assert_in_time(hand_over("woken", true), 1000);
    /* Its presence ends with its client. */
    expect_soon(no_session_locks(), 20000);
    expect_soon(no_listeners(), 20000);
    hf_lock_free(lock);
    hf_client_close(client);
}

TEST(diagnose_names_the_pooler)
{
    hf_client *client = open_client(false);

    assert_int_equal(diagnose(client, "pooler").level, HF_LEVEL_NOTE);
    hf_client_close(client);
}
