/* SPDX-License-Identifier: Apache-2.0 */
/*
 * txn_test.c - transactions: conditions, operations, all or nothing.
 */
#include <stdio.h>
#include <stdlib.h>

#include "holdfast/cache.h"
#include "holdfast/command.h"
#include "holdfast/hash.h"
#include "holdfast/lock.h"
#include "holdfast/once.h"
#include "holdfast/script.h"
#include "holdfast/semaphore.h"
#include "holdfast/timeline.h"
#include "holdfast/txn.h"
#include "holdfast/value.h"
#include "support/every_call.h"
#include "support/store_fixture.h"

FIXTURE_TESTS();

/* A new transaction, as queue.txn. */
static hf_async begin(fixture *f)
{
    hf_async queue = HF_ASYNC_INIT;

    expect_status(HF_OK, hf_txn_new(f->client, NULL, &queue.txn, ERR));
    return queue;
}

/* Queue a command: its words, NULL at the end. */
static hf_status queue_words(fixture *f, hf_txn *txn, const hf_bytes *key,
                             const char *const *list, hf_reply **reply)
{
    hf_async async = HF_ASYNC_INIT;
    hf_bytes views[8];
    size_t count = 0;

    for (size_t i = 0; list[i] != NULL; i++) {
        views[count++] = hf_str(list[i]);
        if (i == 0 && key != NULL)
            views[count++] = *key;
    }
    async.txn = txn;
    return hf_command_start(f->client, count, views, reply, &async, ERR);
}

#define queue_command(txn, key, reply, ...)                                    \
    expect_status(HF_OK, queue_words(f, txn, &(key), words(__VA_ARGS__), reply))

static void exec_and_free(hf_status want, hf_txn *txn)
{
    expect_status(want, hf_txn_exec(txn, ERR));
    hf_txn_free(txn);
}

/* -------------------------------------------------------------- conditions */

TEST(txn_runs_all_operations_and_returns_their_results)
{
    fixture *f = *state;
    hf_bytes a = fixture_key(f, "{t}a"), b = fixture_key(f, "{t}b");
    hf_field field = {bytes("x"), bytes("\0y")};
    hf_buffer got = HF_BUFFER_INIT, found = HF_BUFFER_INIT;
    hf_async q = begin(f);
    hf_reply *sum = NULL;

    expect_status(HF_OK, hf_value_set_start(f->client, a, bytes("41"), NULL,
                                            NULL, &q, ERR));
    queue_command(q.txn, a, &sum, "INCR");
    expect_status(HF_OK, hf_value_get_start(f->client, a, &got, &q, ERR));
    expect_status(HF_OK,
                  hf_hash_put_start(f->client, b, &field, 1, NULL, &q, ERR));
    expect_status(HF_OK,
                  hf_hash_get_start(f->client, b, bytes("x"), &found, &q, ERR));
    expect_status(
        HF_OK, hf_hash_get_start(f->client, b, bytes("none"), &found, &q, ERR));
    assert_int_equal(hf_txn_count(q.txn), 6);
    assert_no_key(f->client, a);
    expect_status(HF_OK, hf_txn_exec(q.txn, ERR));
    assert_true(hf_txn_failed(q.txn) == HF_TXN_NONE);
    assert_buffer(&got, bytes("42"));
    assert_buffer(&found, bytes("\0y"));
    for (size_t i = 0; i < 5; i++)
        expect_status(HF_OK, hf_txn_status(q.txn, i, ERR));
    expect_status(HF_NOT_FOUND, hf_txn_status(q.txn, 5, ERR));
    expect_status(HF_INVALID, hf_txn_status(q.txn, 6, ERR));
    hf_txn_free(q.txn);
    assert_true(hf_reply_integer(sum) == 42); /* it outlives the transaction */
    hf_reply_free(sum);
    assert_value(f->other, a, bytes("42"));
}

static void add_all_conditions(fixture *f, hf_txn *txn)
{
    hf_bytes text = bytes("v\0\xff"), other = bytes("1");

    expect_status(HF_OK, hf_txn_if_exists(txn, fixture_key(f, "{t}v"), ERR));
    expect_status(HF_OK, hf_txn_if_absent(txn, fixture_key(f, "{t}none"), ERR));
    expect_status(HF_OK,
                  hf_txn_if_value(txn, fixture_key(f, "{t}v"), text, ERR));
    expect_status(HF_OK, hf_txn_if_field(txn, fixture_key(f, "{t}h"),
                                         bytes("f"), &other, ERR));
    expect_status(HF_OK, hf_txn_if_field(txn, fixture_key(f, "{t}h"),
                                         bytes("g"), NULL, ERR));
}

static void put_for_conditions(fixture *f)
{
    put_value(f->client, fixture_key(f, "{t}v"), bytes("v\0\xff"), 0);
    put_hash(f->client, fixture_key(f, "{t}h"), words("f", "1"), 0);
}

/* Break condition `number`. */
static void break_condition(fixture *f, size_t number)
{
    hf_bytes v = fixture_key(f, "{t}v"), h = fixture_key(f, "{t}h");

    switch (number) {
    case 0:
        expect_status(HF_OK, hf_value_delete(f->client, v, ERR));
        break;
    case 1:
        put_hash(f->client, fixture_key(f, "{t}none"), words("a", "b"), 0);
        break;
    case 2:
        put_value(f->client, v, bytes("v\0\xfe"), 0);
        break;
    case 3:
        expect_status(HF_OK, hf_hash_delete(f->client, h, ERR));
        break;
    default:
        put_hash(f->client, h, words("g", ""), 0);
    }
}

TEST(condition_that_does_not_hold_is_named_and_nothing_runs)
{
    fixture *f = *state;
    static const char *const texts[] = {
        "does not exist", "exists", "does not have the expected value",
        "does not have the expected value", "exists"};

    for (size_t i = 0; i < 5; i++) {
        hf_bytes a = fixture_key(f, "{t}a");
        hf_async q = begin(f);
        char start[16];

        put_for_conditions(f);
        break_condition(f, i);
        add_all_conditions(f, q.txn);
        queue_command(q.txn, a, NULL, "INCR");
        expect_status(HF_CONFLICT, hf_txn_exec(q.txn, ERR));
        assert_int_equal(hf_txn_failed(q.txn), i);
        (void)snprintf(start, sizeof(start), "condition %zu: ", i);
        assert_non_null(strstr(expect_message(), start));
        assert_non_null(strstr(expect_message(), texts[i]));
        expect_status(HF_CANCELLED, hf_txn_status(q.txn, 0, ERR));
        hf_txn_free(q.txn);
        assert_no_key(f->client, a);
        if (i == 1)
            expect_status(
                HF_OK,
                hf_hash_delete(f->client, fixture_key(f, "{t}none"), ERR));
    }
}

TEST(txn_runs_if_all_conditions_hold)
{
    fixture *f = *state;
    hf_bytes a = fixture_key(f, "{t}a");
    hf_async q = begin(f);

    put_for_conditions(f);
    add_all_conditions(f, q.txn);
    exec_and_free(HF_OK, q.txn); /* no operation: the conditions alone */
    q = begin(f);
    add_all_conditions(f, q.txn);
    queue_command(q.txn, a, NULL, "SET", "1");
    exec_and_free(HF_OK, q.txn);
}

TEST(version_must_be_that_of_the_value)
{
    fixture *f = *state;
    hf_bytes a = fixture_key(f, "{t}a"), b = fixture_key(f, "{t}b");
    hf_buffer value = HF_BUFFER_INIT, version = HF_BUFFER_INIT;
    hf_bytes seen;
    hf_async q = begin(f);

    put_value(f->client, a, bytes("1"), 0);
    expect_status(HF_OK,
                  hf_value_get_versioned(f->client, a, &value, &version, ERR));
    seen = hf_view(version.data, version.size);
    expect_status(HF_INVALID, hf_txn_if_version(q.txn, a, bytes("1"), ERR));
    expect_status(HF_OK, hf_txn_if_version(q.txn, a, seen, ERR));
    queue_command(q.txn, a, NULL, "SET", "2");
    exec_and_free(HF_OK, q.txn);
    for (int i = 0; i < 2; i++) {
        q = begin(f);
        expect_status(HF_OK,
                      hf_txn_if_version(q.txn, i == 0 ? a : b, seen, ERR));
        expect_status(HF_CONFLICT, hf_txn_exec(q.txn, ERR));
        assert_non_null(strstr(expect_message(), "the expected version"));
        hf_txn_free(q.txn);
    }
    hf_buffer_free(&value);
    hf_buffer_free(&version);
}

TEST(condition_on_another_type_names_the_key)
{
    fixture *f = *state;
    hf_bytes h = fixture_key(f, "{t}h");
    hf_async q = begin(f);

    put_hash(f->client, h, words("f", "1"), 0);
    expect_status(HF_OK, hf_txn_if_exists(q.txn, h, ERR));
    expect_status(HF_OK, hf_txn_if_value(q.txn, h, bytes("1"), ERR));
    queue_command(q.txn, h, NULL, "HSET", "f", "2");
    expect_status(HF_WRONG_TYPE, hf_txn_exec(q.txn, ERR));
    assert_int_equal(hf_txn_failed(q.txn), 1);
    assert_non_null(strstr(expect_message(), "condition 1 (key"));
    hf_txn_free(q.txn);
    assert_field(f->client, h, bytes("f"), bytes("1"));
}

/* ---------------------------------------------------------- all or nothing */

TEST(operation_that_fails_leaves_nothing_of_those_before)
{
    fixture *f = *state;
    hf_bytes v = fixture_key(f, "{t}v"), h = fixture_key(f, "{t}h");
    hf_bytes made = fixture_key(f, "{t}made"), n = fixture_key(f, "{t}n");
    hf_field field = {bytes("f"), bytes("2")};
    hf_buffer got = HF_BUFFER_INIT;
    hf_async q = begin(f);

    put_value(f->client, v, bytes("old"), 60000);
    put_hash(f->client, h, words("f", "1", "g", "1"), 50000);
    put_value(f->client, n, bytes("9223372036854775807"), 0);
    queue_command(q.txn, made, NULL, "RPUSH", "1", "2");
    expect_status(HF_OK, hf_value_get_start(f->client, v, &got, &q, ERR));
    queue_command(q.txn, v, NULL, "SET", "new");
    expect_status(HF_OK,
                  hf_hash_put_start(f->client, h, &field, 1, NULL, &q, ERR));
    queue_command(q.txn, v, NULL, "DEL");
    queue_command(q.txn, n, NULL, "INCR");
    queue_command(q.txn, made, NULL, "RPUSH", "3");
    expect_status(HF_INVALID, hf_txn_exec(q.txn, ERR));
    assert_int_equal(hf_txn_failed(q.txn), 5);
    assert_non_null(strstr(expect_message(), "operation 5 (\"INCR\"): "));
    expect_status(HF_CANCELLED, hf_txn_status(q.txn, 4, ERR));
    expect_status(HF_INVALID, hf_txn_status(q.txn, 5, ERR));
    hf_txn_free(q.txn);
    assert_null(got.data);
    assert_value(f->other, v, bytes("old"));
    assert_ttl(f->other, v, 60000);
    assert_field(f->other, h, bytes("f"), bytes("1"));
    assert_field(f->other, h, bytes("g"), bytes("1"));
    assert_ttl(f->other, h, 50000);
    assert_no_key(f->other, made);
}

TEST(timeline_update_that_is_refused_leaves_nothing)
{
    fixture *f = *state;
    hf_bytes t = fixture_key(f, "{t}t"), v = fixture_key(f, "{t}v");
    hf_attribute list[HF_ATTRIBUTE_COUNT_MAX], *more = &list[0];
    hf_timeline_add_options add = HF_TIMELINE_ADD_OPTIONS_INIT;
    hf_timeline_update_options update = HF_TIMELINE_UPDATE_OPTIONS_INIT;
    char names[HF_ATTRIBUTE_COUNT_MAX][4];
    hf_async q = begin(f);

    for (size_t i = 0; i < HF_ATTRIBUTE_COUNT_MAX; i++) {
        (void)snprintf(names[i], sizeof(names[i]), "%zu", i);
        list[i] = hf_attribute_number(hf_str(names[i]), 1);
    }
    add.attributes = list;
    add.attribute_count = HF_ATTRIBUTE_COUNT_MAX;
    expect_status(HF_OK, hf_timeline_add(f->client, t, bytes("a"), bytes("p"),
                                         60000, &add, ERR));
    more->name = bytes("one more");
    update.attributes = more;
    update.attribute_count = 1;
    queue_command(q.txn, v, NULL, "SET", "1");
    expect_status(HF_OK, hf_timeline_update_start(f->client, t, bytes("a"),
                                                  &update, &q, ERR));
    expect_status(HF_INVALID, hf_txn_exec(q.txn, ERR));
    assert_int_equal(hf_txn_failed(q.txn), 1);
    assert_non_null(strstr(expect_message(), "more than 16 attributes"));
    expect_status(HF_CANCELLED, hf_txn_status(q.txn, 0, ERR));
    expect_status(HF_INVALID, hf_txn_status(q.txn, 1, ERR));
    hf_txn_free(q.txn);
    assert_no_key(f->client, v);
}

TEST(script_that_fails_in_the_middle_leaves_nothing)
{
    fixture *f = *state;
    hf_script *script = fixture_script(
        f, f->client,
        "redis.call('set', KEYS[1], ARGV[1]) return redis.call('incr', "
        "KEYS[1]) -- the end");
    hf_bytes a = fixture_key(f, "{t}a");
    hf_bytes args[] = {bytes("1"), bytes("no number")};
    hf_reply *reply = NULL;
    hf_async q;

    put_value(f->client, a, bytes("old"), 60000);
    for (size_t i = 0; i < 2; i++) {
        q = begin(f);
        expect_status(HF_OK, hf_script_run_start(script, &a, 1, &args[i], 1,
                                                 &reply, &q, ERR));
        if (i == 0) {
            exec_and_free(HF_OK, q.txn);
            assert_true(hf_reply_integer(reply) == 2);
            hf_reply_free(reply);
            assert_value(f->client, a, bytes("2"));
            put_value(f->client, a, bytes("old"), 60000);
        } else {
            exec_and_free(HF_SCRIPT, q.txn);
            assert_value(f->client, a, bytes("old"));
            assert_ttl(f->client, a, 60000);
        }
    }
}

TEST(script_may_be_freed_before_the_transaction_runs)
{
    fixture *f = *state;
    hf_script *script = NULL;
    hf_bytes a = fixture_key(f, "{t}a");
    hf_reply *reply = NULL;
    hf_async q = begin(f);

    expect_status(HF_OK, hf_script_load(f->client,
                                        bytes("return {KEYS[1], {1, false}}"),
                                        &script, ERR));
    expect_status(HF_OK,
                  hf_script_run_start(script, &a, 1, NULL, 0, &reply, &q, ERR));
    expect_status(HF_OK,
                  hf_script_run_start(script, &a, 1, NULL, 0, &reply, &q, ERR));
    hf_script_free(script);
    hf_txn_free(q.txn); /* never executed */
    q = begin(f);
    script = fixture_script(f, f->client, "return {KEYS[1], {1, false}}");
    expect_status(HF_OK,
                  hf_script_run_start(script, &a, 1, NULL, 0, &reply, &q, ERR));
    queue_command(q.txn, a, NULL, "SET", "1");
    fixture_free_script(f, script);
    exec_and_free(HF_OK, q.txn);
    assert_bytes(a, hf_reply_bytes(hf_reply_at(reply, 0)));
    assert_int_equal(hf_reply_count(hf_reply_at(reply, 1)), 2);
    hf_reply_free(reply);
}

TEST(refusal_of_one_operation_does_not_undo_the_others)
{
    fixture *f = *state;
    hf_bytes a = fixture_key(f, "{t}a"), b = fixture_key(f, "{t}b");
    hf_value_set_options nx = HF_VALUE_SET_OPTIONS_INIT;
    hf_bytes one = bytes("1");
    hf_buffer current = HF_BUFFER_INIT;
    hf_async q = begin(f);

    nx.flags = HF_SET_NX;
    put_value(f->client, a, bytes("old"), 0);
    expect_status(HF_OK, hf_value_set_start(f->client, a, bytes("new"), &nx,
                                            NULL, &q, ERR));
    expect_status(HF_OK, hf_value_cas_start(f->client, a, &one, bytes("2"),
                                            NULL, &current, &q, ERR));
    expect_status(HF_OK,
                  hf_value_set_start(f->client, b, one, NULL, NULL, &q, ERR));
    expect_status(HF_OK, hf_txn_exec(q.txn, ERR));
    expect_status(HF_CONFLICT, hf_txn_status(q.txn, 0, ERR));
    expect_status(HF_CONFLICT, hf_txn_status(q.txn, 1, ERR));
    expect_status(HF_OK, hf_txn_status(q.txn, 2, ERR));
    hf_txn_free(q.txn);
    assert_buffer(&current, bytes("old"));
    assert_value(f->client, b, one);
}

TEST(integers_are_exact_to_2_63)
{
    fixture *f = *state;
    static const char *const starts[] = {
        "9007199254740990", "9007199254740992", "9007199254740993",
        "9223372036854775805", "-9223372036854775808"};
    static const int64_t sums[] = {
        INT64_C(9007199254740992), INT64_C(9007199254740994),
        INT64_C(9007199254740995), INT64_MAX, INT64_MIN + 2};
    hf_bytes v = fixture_key(f, "{t}v"), h = fixture_key(f, "{t}h");

    for (size_t i = 0; i < 5; i++) {
        hf_reply *value = NULL, *field = NULL;
        hf_async q = begin(f);

        queue_command(q.txn, v, NULL, "SET", starts[i]);
        queue_command(q.txn, h, NULL, "HSET", "n", starts[i]);
        queue_command(q.txn, v, &value, "INCRBY", "2");
        queue_command(q.txn, h, &field, "HIncrBy", "n", "2");
        exec_and_free(HF_OK, q.txn);
        assert_true(hf_reply_integer(value) == sums[i]);
        assert_true(hf_reply_integer(field) == sums[i]);
        hf_reply_free(value);
        hf_reply_free(field);
    }
}

TEST(reply_that_lua_would_round_is_refused)
{
    fixture *f = *state;
    hf_bytes v = fixture_key(f, "{t}v");
    hf_async q = begin(f);

    queue_command(q.txn, v, NULL, "BITFIELD", "INCRBY", "i64", "0",
                  "9007199254740993");
    expect_status(HF_INVALID, hf_txn_exec(q.txn, ERR));
    assert_non_null(strstr(expect_message(), "not exact"));
    hf_txn_free(q.txn);
    assert_no_key(f->client, v);
}

/* ----------------------------------------------------------------- started */

struct outcome {
    int calls;
    hf_status status;
    char message[HF_ERROR_MESSAGE_SIZE];
};

static void on_done(void *user, hf_status status, const hf_error *err)
{
    struct outcome *outcome = user;

    outcome->calls++;
    outcome->status = status;
    if (err != NULL)
        (void)snprintf(outcome->message, sizeof(outcome->message), "%s",
                       err->message);
}

static void run_started(fixture *f, hf_txn *txn, struct outcome *outcome)
{
    hf_async async = HF_ASYNC_INIT;
    size_t running = 1;

    *outcome = (struct outcome){0};
    async.done = on_done;
    async.user = outcome;
    expect_status(HF_OK, hf_txn_exec_start(txn, &async, ERR));
    while (running > 0)
        expect_status(HF_OK, hf_client_dispatch(f->client, &running, ERR));
    assert_int_equal(outcome->calls, 1);
}

TEST(started_transaction_has_the_same_outcomes)
{
    fixture *f = *state;
    hf_bytes a = fixture_key(f, "{t}a");
    static struct outcome outcome;
    hf_buffer got = HF_BUFFER_INIT;
    hf_async q = begin(f);

    queue_command(q.txn, a, NULL, "SET", "x");
    expect_status(HF_OK, hf_value_get_start(f->client, a, &got, &q, ERR));
    run_started(f, q.txn, &outcome);
    assert_int_equal(outcome.status, HF_OK);
    expect_status(HF_OK, hf_txn_status(q.txn, 1, ERR));
    assert_buffer(&got, bytes("x"));
    hf_txn_free(q.txn);

    q = begin(f);
    expect_status(HF_OK, hf_txn_if_absent(q.txn, a, ERR));
    run_started(f, q.txn, &outcome);
    assert_int_equal(outcome.status, HF_CONFLICT);
    assert_int_equal(hf_txn_failed(q.txn), 0);
    hf_txn_free(q.txn);

    q = begin(f);
    queue_command(q.txn, a, NULL, "APPEND", "y");
    queue_command(q.txn, a, NULL, "LPUSH", "y");
    run_started(f, q.txn, &outcome);
    assert_int_equal(outcome.status, HF_WRONG_TYPE);
    assert_non_null(strstr(outcome.message, "operation 1 (\"LPUSH\")"));
    expect_status(HF_CANCELLED, hf_txn_status(q.txn, 0, ERR));
    hf_txn_free(q.txn);
    assert_value(f->client, a, bytes("x"));
}

TEST(transaction_may_be_freed_while_it_runs)
{
    fixture *f = *state;
    hf_bytes a = fixture_key(f, "{t}a");
    static struct outcome outcome;
    hf_async async = HF_ASYNC_INIT;
    size_t running = 1;
    hf_async q = begin(f);

    outcome = (struct outcome){0};
    async.done = on_done;
    async.user = &outcome;
    queue_command(q.txn, a, NULL, "INCR");
    expect_status(HF_OK, hf_txn_exec_start(q.txn, &async, ERR));
    expect_status(HF_INVALID, hf_txn_exec(q.txn, ERR));
    hf_txn_free(q.txn);
    while (running > 0)
        expect_status(HF_OK, hf_client_dispatch(f->client, &running, ERR));
    assert_int_equal(outcome.status, HF_OK);
    assert_value(f->client, a, bytes("1"));
}

/* --------------------------------------------------------------- bad input */

TEST(bad_input_is_named_and_adds_nothing)
{
    fixture *f = *state;
    hf_bytes a = fixture_key(f, "{t}a"), none = bytes("");
    hf_async q = begin(f), other = HF_ASYNC_INIT;
    hf_bytes too_many[HF_TXN_WORDS_MAX + 1];

    for (size_t i = 0; i <= HF_TXN_WORDS_MAX; i++)
        too_many[i] = bytes("DEL");
    expect_status(HF_INVALID, hf_txn_new(f->client, NULL, NULL, ERR));
    expect_status(HF_INVALID, hf_txn_if_exists(NULL, a, ERR));
    expect_status(HF_INVALID, hf_txn_if_exists(q.txn, none, ERR));
    expect_status(HF_INVALID, hf_txn_if_field(q.txn, a, none, NULL, ERR));
    expect_status(HF_INVALID,
                  hf_command_start(f->client, 1, &none, NULL, &q, ERR));
    expect_status(HF_INVALID, hf_command_start(f->client, HF_TXN_WORDS_MAX + 1,
                                               too_many, NULL, &q, ERR));
    expect_status(HF_UNSUPPORTED,
                  queue_words(f, q.txn, NULL, words("FLUSHALL"), NULL));
    expect_status(HF_UNSUPPORTED,
                  queue_words(f, q.txn, NULL, words("NOSUCH", "a"), NULL));
    assert_non_null(strstr(expect_message(), "NOSUCH"));
    expect_status(HF_UNSUPPORTED,
                  queue_words(f, q.txn, &a, words("BLPOP", "1"), NULL));
    expect_status(HF_UNSUPPORTED,
                  queue_words(f, q.txn, &a, words("Move", "1"), NULL));
    expect_status(
        HF_UNSUPPORTED,
        queue_words(f, q.txn, &a, words("COPY", "b", "db", "1"), NULL));
    assert_non_null(strstr(expect_message(), "another database"));
    expect_status(HF_UNSUPPORTED,
                  queue_words(f, q.txn, &a, words("SPUBLISH", "m"), NULL));
    expect_status(HF_UNSUPPORTED,
                  queue_words(f, q.txn, &a, words("PUBLISH", "m"), NULL));
    assert_non_null(strstr(expect_message(), "cannot be undone"));
    expect_status(HF_INVALID, hf_value_get_start(f->client, none,
                                                 &(hf_buffer){0}, &q, ERR));
    expect_status(HF_OK, hf_txn_new(f->other, NULL, &other.txn, ERR));
    expect_status(HF_INVALID, hf_value_get_start(f->client, a, &(hf_buffer){0},
                                                 &other, ERR));
    expect_status(HF_UNSUPPORTED, hf_txn_exec_start(other.txn, &q, ERR));
    hf_txn_free(other.txn);
    assert_int_equal(hf_txn_count(q.txn), 0);
    exec_and_free(HF_OK, q.txn);
}

TEST(calls_that_are_no_operation_are_refused)
{
    fixture *f = *state;
    hf_lock *lock = fixture_lock(f, f->client, fixture_key(f, "l"), NULL);
    hf_script *script = NULL;
    hf_once_info info = HF_ONCE_INFO_INIT;
    hf_async q = begin(f);

    expect_status(HF_UNSUPPORTED, hf_lock_acquire_start(lock, 0, &q, ERR));
    expect_status(HF_UNSUPPORTED,
                  hf_cache_delete_start(f->client, bytes("c"), &q, ERR));
    expect_status(HF_UNSUPPORTED,
                  hf_cache_invalidate_start(f->client, bytes("t"), &q, ERR));
    expect_status(HF_UNSUPPORTED,
                  hf_once_inspect_start(f->client, bytes("o"), &info, &q, ERR));
    expect_status(HF_UNSUPPORTED,
                  hf_once_delete_start(f->client, bytes("o"), &q, ERR));
    expect_status(HF_UNSUPPORTED,
                  hf_lock_break_start(f->client, bytes("l"), &q, ERR));
    expect_status(HF_UNSUPPORTED,
                  hf_semaphore_resize_start(f->client, bytes("s"), 2, &q, ERR));
    expect_status(
        HF_UNSUPPORTED,
        hf_script_load_start(f->client, bytes("return 1"), &script, &q, ERR));
    assert_int_equal(hf_txn_count(q.txn), 0);
    hf_txn_free(q.txn);
}

/* The status of a call that is the only operation of a transaction. */
static hf_status run_in_txn(fixture *f, every_place *place,
                            const every_call *call)
{
    hf_async q = begin(f);
    hf_status status;

    expect_status(HF_OK, every_call_prepare(place, call, ERR));
    expect_status(HF_OK, every_call_fill(place, call, ERR));
    every_result_begin(&place->result);
    status = call->run(place, &q, ERR);
    if (status == HF_OK) {
        /* Not every server has the commands for fields that expire. */
        status = hf_txn_exec(q.txn, ERR);
        assert_int_equal(hf_txn_count(q.txn), 1);
        if (status != HF_UNSUPPORTED) {
            expect_status(HF_OK, status);
            status = hf_txn_status(q.txn, 0, ERR);
        }
    }
    hf_txn_free(q.txn);
    return status;
}

TEST(every_call_on_data_can_be_queued)
{
    fixture *f = *state;
    size_t queued = 0;

    for (size_t i = 0; i < every_call_count; i++) {
        const every_call *call = &every_calls[i];
        every_place place = {.client = f->client,
                             .key = fixture_key(f, call->name)};
        const char *wrong;
        hf_status status;

        if (!call->starts || call->needs_lock || call->needs_held)
            continue;
        status = run_in_txn(f, &place, call);
        if (status != HF_UNSUPPORTED) {
            queued++;
            wrong = every_result_end(&place, call, status);
            if (wrong != NULL || hf_status_kind(status) > HF_KIND_NO)
                fail_msg("%s: %s, %s", call->name, hf_status_name(status),
                         wrong);
        }
        every_call_done(&place);
    }
    assert_true(queued >= 30);
}

TEST(executed_transaction_takes_nothing_more)
{
    fixture *f = *state;
    hf_bytes a = fixture_key(f, "{t}a");
    hf_async q = begin(f);

    expect_status(HF_INVALID, hf_txn_status(q.txn, 0, ERR));
    queue_command(q.txn, a, NULL, "SET", "1");
    expect_status(HF_OK, hf_txn_exec(q.txn, ERR));
    expect_status(HF_INVALID, hf_txn_exec(q.txn, ERR));
    expect_status(HF_INVALID, hf_txn_if_exists(q.txn, a, ERR));
    expect_status(HF_INVALID, queue_words(f, q.txn, &a, words("GET"), NULL));
    expect_status(HF_INVALID, hf_value_delete_start(f->client, a, &q, ERR));
    hf_txn_free(q.txn);
}

TEST(keys_of_two_slots_are_refused_before_anything_is_sent)
{
    fixture *f = *state;
    hf_bytes a = fixture_key(f, "{a}1"), b = fixture_key(f, "{b}2");
    bool parts = f->cluster != NULL || f->store == FIXTURE_POSTGRES;
    hf_status want = parts ? HF_INVALID : HF_OK;
    hf_async q = begin(f);

    expect_status(HF_OK, hf_txn_if_absent(q.txn, a, ERR));
    expect_status(want, hf_txn_if_absent(q.txn, b, ERR));
    expect_status(want, queue_words(f, q.txn, &b, words("SET", "1"), NULL));
    expect_status(want, hf_value_set_start(f->client, b, bytes("1"), NULL, NULL,
                                           &q, ERR));
    queue_command(q.txn, a, NULL, "SET", "1");
    exec_and_free(HF_OK, q.txn);
    assert_value(f->client, a, bytes("1"));
}

TEST(prefix_is_put_before_every_key)
{
    fixture *f = *state;
    hf_client_options opts = HF_CLIENT_OPTIONS_INIT;
    hf_bytes list[] = {bytes("MSET"), bytes("{t}p1"), bytes("1"),
                       bytes("{t}p2"), bytes("2")};
    hf_async q = HF_ASYNC_INIT;
    hf_client *client;

    opts.prefix = "txn:";
    client = fixture_client(f, &opts);
    expect_status(HF_OK, hf_txn_new(client, NULL, &q.txn, ERR));
    expect_status(HF_OK, hf_txn_if_absent(q.txn, bytes("{t}p1"), ERR));
    expect_status(HF_OK, hf_command_start(client, 5, list, NULL, &q, ERR));
    exec_and_free(HF_OK, q.txn);
    assert_value(f->client, bytes("txn:{t}p1"), bytes("1"));
    assert_value(f->client, bytes("txn:{t}p2"), bytes("2"));
    expect_status(HF_OK, hf_value_delete(client, bytes("{t}p1"), ERR));
    expect_status(HF_OK, hf_value_delete(client, bytes("{t}p2"), ERR));
}

TEST(largest_operation_runs)
{
    fixture *f = *state;
    hf_bytes list[HF_TXN_WORDS_MAX];
    hf_reply *reply = NULL;
    char text[HF_TXN_WORDS_MAX][8];
    hf_async q = begin(f);

    list[0] = bytes("SADD");
    list[1] = fixture_key(f, "{t}s");
    for (size_t i = 2; i < HF_TXN_WORDS_MAX; i++) {
        (void)snprintf(text[i], sizeof(text[i]), "%zu", i);
        list[i] = hf_str(text[i]);
    }
    expect_status(HF_OK, hf_command_start(f->client, HF_TXN_WORDS_MAX, list,
                                          &reply, &q, ERR));
    exec_and_free(HF_OK, q.txn);
    assert_true(hf_reply_integer(reply) == HF_TXN_WORDS_MAX - 2);
    hf_reply_free(reply);
}

TEST(key_too_large_to_be_restored_is_refused)
{
    fixture *f = *state;
    hf_bytes big = fixture_key(f, "{t}big"), n = fixture_key(f, "{t}n");
    size_t size = 6 * 1024 * 1024;
    char *value;
    hf_bytes set[] = {bytes("SET"), big, hf_view(NULL, 0)};
    hf_status want = fixture_is_embedded(f) ? HF_OK : HF_UNSUPPORTED;
    hf_async q;

    if (f->store == FIXTURE_POSTGRES)
        skip(); /* which has no key of that size */
    value = calloc(1, size);
    set[2] = hf_view(value, size);
    q = begin(f);
    expect_status(HF_OK, hf_command_start(f->client, 3, set, NULL, &q, ERR));
    exec_and_free(HF_OK, q.txn);
    free(value);
    q = begin(f);
    queue_command(q.txn, big, NULL, "APPEND", "y");
    queue_command(q.txn, n, NULL, "INCR");
    expect_status(want, hf_txn_exec(q.txn, ERR));
    if (want != HF_OK)
        assert_no_key(f->client, n);
    hf_txn_free(q.txn);
    q = begin(f); /* in the last operation it may be as large as it likes */
    queue_command(q.txn, n, NULL, "INCR");
    queue_command(q.txn, big, NULL, "APPEND", "y");
    exec_and_free(HF_OK, q.txn);
    q = begin(f);
    queue_command(q.txn, big, NULL, "DEL");
    exec_and_free(HF_OK, q.txn);
}
