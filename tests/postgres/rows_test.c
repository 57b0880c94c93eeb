/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows_test.c - rows of the table that no client has written, or whose time is
 * still to come.
 */
#include <stdio.h>
#include <string.h>

#include "holdfast/client.h"
#include "holdfast/lock.h"
#include "holdfast/store.h"
#include "holdfast/value.h"
#include "support/test_postgres.h"

#define LOWEST "-9223372036854775808"
#define HIGHEST "9223372036854775807"

TESTS_ON_POSTGRES(false);

static hf_client *open_client(void)
{
    hf_client *client = NULL;

    expect_status(
        HF_OK, hf_client_open(postgres_server_url(server), NULL, &client, ERR));
    return client;
}

/* By a client of its own, as another would know the record. */
static hf_status try_lock(hf_error *error)
{
    hf_client *client = open_client();
    hf_lock *lock = NULL;
    hf_status status;

    expect_status(HF_OK, hf_lock_new(client, hf_str("a"), NULL, &lock, ERR));
    status = hf_lock_try(lock, error);
    if (status == HF_OK)
        expect_status(HF_OK, hf_lock_release(lock, ERR));
    hf_lock_free(lock);
    hf_client_close(client);
    return status;
}

/* The lease of another, with this instead. */
static void change_lease(const char *what)
{
    hf_client *client = open_client();
    hf_lock *lock = NULL;
    char sql[256];

    expect_status(HF_OK, hf_lock_new(client, hf_str("a"), NULL, &lock, ERR));
    expect_status(HF_OK, hf_lock_try(lock, ERR));
    (void)snprintf(sql, sizeof(sql),
                   "UPDATE holdfast.records SET %s WHERE expire_ms < 0", what);
    assert_true(postgres_server_run(server, sql));
    hf_client_close(client);
    hf_lock_free(lock);
}

static void expect_corrupt(const char *what)
{
    hf_error error = HF_ERROR_INIT;

    change_lease(what);
    assert_int_equal(try_lock(&error), HF_CORRUPT);
    assert_non_null(strstr(error.message, "the row of \"a\""));
    assert_true(postgres_server_run(
        server, "DELETE FROM holdfast.records WHERE key = 'a'"));
    assert_int_equal(try_lock(&error), HF_OK);
}

TEST(row_with_numbers_that_no_client_writes_is_corrupt)
{
    expect_corrupt("expire_ms = " LOWEST);
    expect_corrupt("expire_ms = " LOWEST " + 1");
    expect_corrupt("at_us = " LOWEST);
    expect_corrupt("at_us = " HIGHEST);
    expect_corrupt("at_us = -1");
    expect_corrupt("version = -1");
}

static void expect_ahead(hf_level level, const char *value)
{
    hf_client *client = open_client();
    diagnosed found = diagnose(client, "records ahead of the clock");

    assert_string_equal(found.value, value);
    assert_int_equal(found.level, level);
    hf_client_close(client);
}

/* As if the clock had been ahead by a day once. */
TEST(rows_of_a_time_to_come_are_reported)
{
    hf_client *client = open_client();

    expect_status(HF_OK, hf_value_set(client, hf_str("b"), hf_str("value"),
                                      NULL, NULL, ERR));
    expect_ahead(HF_LEVEL_OK, "none");
    assert_true(postgres_server_run(
        server, "UPDATE holdfast.records SET at_us = (extract(epoch FROM "
                "clock_timestamp() + interval '1 day') * 1000000)::bigint "
                "WHERE key = 'b'"));
    expect_ahead(HF_LEVEL_WARNING, "1, by up to 86400 s");
    hf_client_close(client);
}
