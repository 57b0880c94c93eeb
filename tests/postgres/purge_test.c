/* SPDX-License-Identifier: Apache-2.0 */
/*
 * purge_test.c - what commits remove of the rows that no one needs any more,
 * and what they leave.
 */
#include <stdio.h>

#include "support/test_postgres.h"

#define TRIES 64
/* In the unit of expire_ms, and of at_us. */
#define MS(ago)                                                                \
    "(extract(epoch FROM clock_timestamp() - interval '" ago                   \
    "') * 1000)::bigint"
#define US(ago)                                                                \
    "(extract(epoch FROM clock_timestamp() - interval '" ago                   \
    "') * 1000000)::bigint"
#define RECORD(key, expire, at)                                                \
    "INSERT INTO holdfast.records VALUES (sha256('" key "'), '" key            \
    "', 'x', " expire ", " at ", 1)"

TESTS_ON_POSTGRES(false);

/* New keys, by versions that each look at other records. */
static void commit_often(const char *key)
{
    char sql[512];

    for (int i = 1; i <= TRIES; i++) {
        (void)snprintf(
            sql, sizeof(sql),
            "SELECT outcome FROM holdfast.commit_records(ARRAY['%s%d'::bytea], "
            "ARRAY[0::bigint], ARRAY[1], ARRAY[1], ARRAY['x'::bytea], "
            "ARRAY[0::bigint], " US("0 s") ", %d, '{}', '{}', '{}', "
                                           "1, 1, 0, 60000000, 60000, false)",
            key, i, 128 * i);
        assert_true(postgres_server_run(server, sql));
    }
}

static void expect_answer(const char *sql, const char *expected)
{
    char answer[POSTGRES_ANSWER_SIZE];

    postgres_server_ask(server, sql, answer);
    assert_string_equal(answer, expected);
}

TEST(lease_is_removed_a_month_after_its_end_and_its_writing)
{
    assert_true(postgres_server_run(
        server,
        RECORD("dead", "-" MS("31 days"), US("32 days")) ";" RECORD(
            "stepped", "-" MS("31 days"),
            US("29 days")) ";" RECORD("long", "-" MS("29 days"),
                                      US("32 days")) ";" RECORD("value",
                                                                MS("2 "
                                                                   "hours"),
                                                                US("3 "
                                                                   "hour"
                                                                   "s")) ";" RECORD("kept",
                                                                                    "0",
                                                                                    US("90 days"))));
    commit_often("a");
    expect_answer("SELECT string_agg(convert_from(key, 'UTF8'), ' ' ORDER BY "
                  "key) FROM holdfast.records WHERE version = 1",
                  "kept long stepped");
}

/* A row that no client writes stops no one. */
TEST(lease_without_a_sensible_end_is_left)
{
    assert_true(postgres_server_run(
        server, RECORD("broken", "-9223372036854775808", US("32 days"))));
    commit_often("c");
    expect_answer("SELECT count(*) FROM holdfast.records WHERE key = 'broken'",
                  "1");
}

TEST(turn_is_removed_an_hour_after_its_end)
{
    assert_true(postgres_server_run(
        server, "INSERT INTO holdfast.turns VALUES "
                "(11, 1, " US("2 hours") "), (12, 1, " US("1 min") ")"));
    commit_often("b");
    expect_answer("SELECT string_agg(slot::text, ' ') FROM holdfast.turns",
                  "12");
}
