/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock_test.c - the clock of the database is set forward while leases run: no
 * lock and no lead is granted twice.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "holdfast/client.h"
#include "holdfast/election.h"
#include "holdfast/lock.h"
#include "holdfast/store.h"
#include "support/expect.h"
#include "support/postgres_server.h"

#define CLOCK "clock_timestamp()"
#define LATER "(clock_timestamp() + interval '60 s')"

static void run_later(void *user, const char *sql)
{
    size_t size = 2 * strlen(sql) + 1;
    char *text = calloc(1, size);
    char *to = text;
    const char *from = sql;
    const char *at;

    assert_non_null(text);
    while ((at = strstr(from, CLOCK)) != NULL) {
        to += snprintf(to, size - (size_t)(to - text), "%.*s" LATER,
                       (int)(at - from), from);
        from = at + strlen(CLOCK);
    }
    (void)snprintf(to, size - (size_t)(to - text), "%s", from);
    assert_true(postgres_server_run(user, text));
    free(text);
}

static hf_client *open_client(const postgres_server *server)
{
    hf_client *client = NULL;

    expect_status(
        HF_OK, hf_client_open(postgres_server_url(server), NULL, &client, ERR));
    return client;
}

static hf_lock *new_lock(hf_client *client)
{
    hf_lock_options options = HF_LOCK_OPTIONS_INIT;
    hf_lock *lock = NULL;

    options.ttl_ms = 30000;
    expect_status(HF_OK,
                  hf_lock_new(client, hf_str("lock"), &options, &lock, ERR));
    return lock;
}

static hf_lock *new_candidate(hf_client *client)
{
    hf_lock_options options = HF_LOCK_OPTIONS_INIT;
    hf_lock *lock = NULL;

    options.ttl_ms = 30000;
    expect_status(HF_OK, hf_election_new(client, hf_str("boss"), hf_str("me"),
                                         &options, &lock, ERR));
    return lock;
}

TEST(clock_that_is_set_forward_grants_nothing_twice)
{
    postgres_server *server = postgres_server_start(false);
    hf_client *first;
    hf_client *second;
    hf_lock *locks[2];
    hf_lock *elections[2];

    assert_non_null(server);
    first = open_client(server);
    second = open_client(server);
    locks[0] = new_lock(first);
    locks[1] = new_lock(second);
    elections[0] = new_candidate(first);
    elections[1] = new_candidate(second);
    expect_status(HF_OK, hf_lock_try(locks[0], ERR));
    expect_status(HF_OK, hf_lock_try(elections[0], ERR));
    expect_status(HF_OK, hf_store_setup(postgres_server_url(server), run_later,
                                        server, ERR));
    assert_int_equal(hf_lock_try(locks[1], NULL), HF_HELD);
    assert_int_equal(hf_lock_try(elections[1], NULL), HF_HELD);
    /* And both are still kept. */
    expect_status(HF_OK, hf_election_proclaim(elections[0], hf_str("c"), ERR));
    expect_status(HF_OK, hf_lock_release(elections[0], ERR));
    expect_status(HF_OK, hf_lock_release(locks[0], ERR));
    for (size_t i = 0; i < 2; i++) {
        hf_lock_free(elections[i]);
        hf_lock_free(locks[i]);
    }
    hf_client_close(second);
    hf_client_close(first);
    postgres_server_stop(server);
}
