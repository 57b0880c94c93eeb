/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command_test.c - hf_command(): any command, with whatever it replies.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "holdfast/command.h"
#include "support/store_fixture.h"
#include "support/told.h"

FIXTURE_TESTS();

#define WORDS_MAX 16

/* Run a command of texts; fails unless the status is `want`. */
static hf_reply *expect_reply(hf_status want, hf_client *client,
                              const char *const *texts)
{
    hf_bytes words[WORDS_MAX];
    hf_reply *reply = NULL;
    size_t count = 0;

    for (; texts[count] != NULL; count++)
        words[count] = hf_str(texts[count]);
    expect_status(want, hf_command(client, count, words, &reply, ERR));
    return reply;
}

#define REPLY(client, ...) expect_reply(HF_OK, client, words(__VA_ARGS__))

static void expect_kind(hf_reply_kind kind, hf_reply *reply)
{
    assert_int_equal(hf_reply_type(reply), kind);
    hf_reply_free(reply);
}

static void expect_text(hf_reply_kind kind, const char *text, hf_reply *reply)
{
    assert_int_equal(hf_reply_type(reply), kind);
    assert_string_equal(hf_reply_bytes(reply).data, text);
    hf_reply_free(reply);
}

static void expect_integer(int64_t number, hf_reply *reply)
{
    assert_int_equal(hf_reply_type(reply), HF_REPLY_INTEGER);
    assert_int_equal(hf_reply_integer(reply), number);
    hf_reply_free(reply);
}

/* The error reply is the whole text; the message has it without "ERR ". */
#define expect_error_reply(status, text, client, ...)                          \
    expect_error_at(status, text, client, words(__VA_ARGS__))
static void expect_error_at(hf_status want, const char *text, hf_client *client,
                            const char *const *texts)
{
    hf_reply *reply = expect_reply(want, client, texts);

    assert_string_equal(expect_message(),
                        strncmp(text, "ERR ", 4) == 0 ? text + 4 : text);
    expect_text(HF_REPLY_ERROR, text, reply);
}

static const char *key_of(fixture *f, const char *name)
{
    return fixture_key(f, name).data;
}

TEST(command_gives_a_reply_of_every_kind)
{
    fixture *f = *state;
    const char *k = key_of(f, "k"), *l = key_of(f, "l");
    hf_reply *reply;

    expect_text(HF_REPLY_STATUS, "OK", REPLY(f->client, "SET", k, "v"));
    expect_text(HF_REPLY_STRING, "v", REPLY(f->client, "get", k));
    expect_kind(HF_REPLY_NIL, REPLY(f->client, "GET", l));
    expect_kind(HF_REPLY_NIL, REPLY(f->client, "LPOP", l));
    expect_kind(HF_REPLY_NIL_ARRAY, REPLY(f->client, "LPOP", l, "1"));
    expect_integer(2, REPLY(f->client, "RPUSH", l, "a", "b"));
    reply = REPLY(f->client, "LRANGE", l, "0", "-1");
    assert_int_equal(hf_reply_count(reply), 2);
    assert_bytes(bytes("b"), hf_reply_bytes(hf_reply_at(reply, 1)));
    hf_reply_free(reply);
    reply = REPLY(f->client, "LRANGE", l, "5", "9");
    assert_int_equal(hf_reply_count(reply), 0);
    expect_kind(HF_REPLY_ARRAY, reply);
}

TEST(command_sets_what_other_calls_see)
{
    fixture *f = *state;
    const char *k = key_of(f, "k");

    expect_text(HF_REPLY_STATUS, "OK",
                REPLY(f->client, "SET", k, "v", "EX", "60"));
    assert_value(f->other, hf_str(k), bytes("v"));
    assert_ttl(f->other, hf_str(k), 60000);
    expect_kind(HF_REPLY_NIL, REPLY(f->client, "SET", k, "w", "NX"));
    assert_value(f->other, hf_str(k), bytes("v"));
}

static const char *const integers[] = {
    "9007199254740990",    "9007199254740991",     "9007199254740992",
    "9007199254740993",    "9007199254740994",     "-9007199254740993",
    "9223372036854775807", "-9223372036854775808",
};

#define INTEGER_COUNT (sizeof(integers) / sizeof(integers[0]))

TEST(command_keeps_integers_exact)
{
    fixture *f = *state;
    const char *k = key_of(f, "k");

    for (size_t i = 0; i < INTEGER_COUNT; i++) {
        expect_kind(HF_REPLY_STATUS, REPLY(f->client, "SET", k, integers[i]));
        expect_integer(strtoll(integers[i], NULL, 10),
                       REPLY(f->client, "INCRBY", k, "0"));
        expect_text(HF_REPLY_STRING, integers[i], REPLY(f->client, "GET", k));
    }
    expect_kind(HF_REPLY_STATUS,
                REPLY(f->client, "SET", k, "9223372036854775807"));
    expect_error_reply(HF_INVALID, "ERR increment or decrement would overflow",
                       f->client, "INCR", k);
    assert_value(f->client, hf_str(k), bytes("9223372036854775807"));
}

TEST(command_batch_keeps_integers_exact)
{
    fixture *f = *state;
    hf_bytes words[2 * INTEGER_COUNT][3];
    hf_command_item items[2 * INTEGER_COUNT];
    hf_reply *replies[2 * INTEGER_COUNT];
    hf_status statuses[2 * INTEGER_COUNT];

    for (size_t i = 0; i < INTEGER_COUNT; i++) {
        char name[2] = {(char)('a' + i), '\0'};
        hf_bytes key = fixture_key(f, name);

        put_value(f->client, key, hf_str(integers[i]), 0);
        words[2 * i][0] = bytes("INCRBY");
        words[2 * i + 1][0] = bytes("GET");
        words[2 * i][1] = words[2 * i + 1][1] = key;
        words[2 * i][2] = bytes("0");
        items[2 * i] = (hf_command_item){3, words[2 * i]};
        items[2 * i + 1] = (hf_command_item){2, words[2 * i + 1]};
    }
    expect_status(HF_OK, hf_command_many(f->client, items, 2 * INTEGER_COUNT,
                                         replies, statuses, ERR));
    for (size_t i = 0; i < INTEGER_COUNT; i++) {
        expect_integer(strtoll(integers[i], NULL, 10), replies[2 * i]);
        expect_text(HF_REPLY_STRING, integers[i], replies[2 * i + 1]);
    }
}

TEST(command_error_has_its_code_and_text)
{
    fixture *f = *state;
    const char *k = key_of(f, "k");

    put_value(f->client, hf_str(k), bytes("v"), 0);
    expect_error_reply(HF_WRONG_TYPE,
                       "WRONGTYPE Operation against a key holding the wrong "
                       "kind of value",
                       f->client, "LPUSH", k, "x");
    expect_error_reply(HF_INVALID,
                       "ERR wrong number of arguments for 'get' command",
                       f->client, "GET");
    expect_error_reply(HF_INVALID, "ERR syntax error", f->client, "SET", k, "w",
                       "NX", "XX");
    expect_error_reply(HF_INVALID,
                       "ERR value is not an integer or out of range", f->client,
                       "INCRBY", k, "9223372036854775808");
    assert_value(f->client, hf_str(k), bytes("v"));
}

TEST(command_unknown_to_the_store_is_unsupported)
{
    fixture *f = *state;
    const char *k = key_of(f, "k");
    char name[200], want[400];
    hf_reply *reply;

    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    reply =
        expect_reply(HF_UNSUPPORTED, f->client, words("NOSUCH", k, "a", name));
    assert_int_equal(hf_reply_type(reply), HF_REPLY_ERROR);
    assert_non_null(strstr(hf_reply_bytes(reply).data,
                           "ERR unknown command 'NOSUCH', with args beginning "
                           "with: 't"));
    hf_reply_free(reply);
    (void)snprintf(want, sizeof(want),
                   "ERR unknown command '%.128s', with args beginning with: "
                   "'%.128s' ",
                   name, name);
    expect_text(HF_REPLY_ERROR, want,
                expect_reply(HF_UNSUPPORTED, f->client, words(name, name)));
}

TEST(command_of_bad_words_is_invalid)
{
    fixture *f = *state;
    hf_bytes none = {NULL, 0};
    hf_bytes words[3] = {bytes("SET"), bytes("k"), {NULL, 1}};
    hf_reply *reply = (hf_reply *)(void *)f;
    hf_bytes *many = calloc(HF_COMMAND_WORDS_MAX + 1, sizeof(*many));

    expect_status(HF_INVALID, hf_command(f->client, 0, words, &reply, ERR));
    assert_null(reply);
    expect_status(HF_INVALID, hf_command(f->client, 1, NULL, &reply, ERR));
    expect_status(HF_INVALID, hf_command(f->client, 1, &none, &reply, ERR));
    expect_status(HF_INVALID, hf_command(f->client, 3, words, &reply, ERR));
    assert_string_equal(expect_message(), "word 2 is NULL");
    words[2] = hf_view("v", (size_t)HF_VALUE_MAX + 1);
    expect_status(HF_INVALID, hf_command(f->client, 3, words, &reply, ERR));
    assert_null(reply);
    assert_non_null(many);
    for (size_t i = 0; i <= HF_COMMAND_WORDS_MAX; i++)
        many[i] = bytes("x");
    expect_status(HF_INVALID, hf_command(f->client, HF_COMMAND_WORDS_MAX + 1,
                                         many, &reply, ERR));
    expect_status(HF_INVALID, hf_command(f->client, SIZE_MAX, many, NULL, ERR));
    free(many);
}

TEST(command_of_many_words_runs)
{
    enum { COUNT = 100000 };
    fixture *f = *state;
    hf_bytes *many = calloc(COUNT, sizeof(*many));
    hf_reply *reply = NULL;

    assert_non_null(many);
    for (size_t i = 0; i < COUNT; i++)
        many[i] = bytes("1");
    many[0] = bytes("RPUSH");
    many[1] = fixture_key(f, "l");
    expect_status(HF_OK, hf_command(f->client, COUNT, many, &reply, ERR));
    expect_integer(COUNT - 2, reply);
    free(many);
}

TEST(command_words_are_binary)
{
    fixture *f = *state;
    const hf_bytes value = bytes("\0\xff\r\n$-1\r\n");
    const hf_bytes words[] = {bytes("SET"), bytes("\0\xfe{t}bin"), value};
    const hf_bytes get[] = {bytes("GET"), words[1]};
    const hf_bytes echo[] = {bytes("ECHO"), bytes("")};
    hf_reply *reply = NULL;

    expect_status(HF_OK, hf_command(f->client, 3, words, NULL, ERR));
    expect_status(HF_OK, hf_command(f->client, 2, get, &reply, ERR));
    assert_bytes(value, hf_reply_bytes(reply));
    hf_reply_free(reply);
    expect_status(HF_OK, hf_command(f->client, 2, echo, &reply, ERR));
    expect_text(HF_REPLY_STRING, "", reply);
}

TEST(command_that_binds_the_connection_is_refused)
{
    static const char *const refused[][4] = {
        {"SUBSCRIBE", "c", NULL},
        {"MONITOR", NULL},
        {"multi", NULL},
        {"SELECT", "1", NULL},
        {"AUTH", "p", NULL},
        {"HELLO", "3", NULL},
        {"WAIT", "1", "0", NULL},
        {"CLIENT", "REPLY", "OFF", NULL},
        {"client", "tracking", "on", NULL},
        {"RESET", NULL},
        {"QUIT", NULL},
        {"SHUTDOWN", NULL},
    };
    fixture *f = *state;

    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        assert_null(expect_reply(HF_UNSUPPORTED, f->client, refused[i]));
        assert_non_null(strstr(expect_message(), refused[i][0]));
    }
    expect_text(HF_REPLY_STATUS, "PONG", REPLY(f->client, "PING"));
}

TEST(command_of_a_script_runs_it)
{
    fixture *f = *state;
    const char *k = key_of(f, "k");
    hf_reply *reply;

    expect_text(HF_REPLY_STRING, "v",
                REPLY(f->client, "EVAL",
                      "redis.call('set', KEYS[1], ARGV[1]) "
                      "return redis.call('get', KEYS[1])",
                      "1", k, "v"));
    reply = expect_reply(HF_SCRIPT, f->client,
                         words("EVAL", "return {err = 'MINE a b'}", "0"));
    expect_text(HF_REPLY_ERROR, "MINE a b", reply);
    reply = expect_reply(
        HF_UNAVAILABLE, f->client,
        words("EVALSHA", "0123456789012345678901234567890123456789", "1", k));
    assert_int_equal(strncmp(hf_reply_bytes(reply).data, "NOSCRIPT ", 9), 0);
    expect_kind(HF_REPLY_ERROR, reply);
}

/* ------------------------------------------------------------------ prefix */

static hf_client *tenant(fixture *f)
{
    hf_client_options options = HF_CLIENT_OPTIONS_INIT;

    options.prefix = "p:";
    return fixture_client(f, &options);
}

TEST(command_of_a_client_with_a_prefix_keeps_to_it)
{
    fixture *f = *state;
    hf_client *client = tenant(f);
    const char *k = key_of(f, "{k}"), *l = key_of(f, "{k}l");
    char whole[64];

    (void)snprintf(whole, sizeof(whole), "p:%s", k);
    expect_kind(HF_REPLY_STATUS, REPLY(client, "MSET", k, "1", l, "2"));
    assert_no_key(f->client, hf_str(k));
    assert_value(f->client, hf_str(whole), bytes("1"));
    assert_value(client, hf_str(l), bytes("2"));
    expect_integer(2, REPLY(client, "EXISTS", k, l));
    expect_text(HF_REPLY_STRING, whole,
                REPLY(client, "EVAL", "return KEYS[1]", "1", k, l));
    expect_kind(HF_REPLY_INTEGER, REPLY(client, "DEL", k, l));
    assert_no_key(f->client, hf_str(whole));
}

TEST(command_that_leaves_the_prefix_is_refused)
{
    static const char *const refused[][6] = {
        {"KEYS", "*", NULL},
        {"SCAN", "0", NULL},
        {"FLUSHALL", NULL},
        {"RANDOMKEY", NULL},
        {"DBSIZE", NULL},
        {"CONFIG", "GET", "*", NULL},
        {"PUBLISH", "c", "m", NULL},
        {"NOSUCH", "k", NULL},
        {"SORT", "k", "BY", "w_*", NULL},
    };
    fixture *f = *state;
    hf_client *client = tenant(f);
    hf_bytes key = fixture_key(f, "other");

    put_value(f->client, key, bytes("v"), 0);
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        assert_null(expect_reply(HF_UNSUPPORTED, client, refused[i]));
        assert_non_null(strstr(expect_message(), refused[i][0]));
    }
    assert_value(f->client, key, bytes("v"));
    expect_text(HF_REPLY_STATUS, "PONG", REPLY(client, "PING"));
}

/* ------------------------------------------------------------- other forms */

TEST(command_can_be_started)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_bytes set[] = {bytes("SET"), key, bytes("v")};
    hf_bytes push[] = {bytes("LPUSH"), key, bytes("v")};
    hf_reply *reply = NULL;

    expect_told(HF_OK, f->client,
                hf_command_start(f->client, 3, set, &reply, &async, ERR));
    expect_text(HF_REPLY_STATUS, "OK", reply);
    expect_told(HF_WRONG_TYPE, f->client,
                hf_command_start(f->client, 3, push, &reply, &async, ERR));
    assert_int_equal(hf_reply_type(reply), HF_REPLY_ERROR);
    hf_reply_free(reply);
    expect_told(HF_OK, f->client,
                hf_command_start(f->client, 3, set, NULL, &async, ERR));
}

TEST(command_batch_has_the_outcome_of_each)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_bytes set[] = {bytes("SET"), key, bytes("v")};
    hf_bytes push[] = {bytes("LPUSH"), fixture_key(f, "k"), bytes("v")};
    hf_bytes quit[] = {bytes("QUIT")};
    hf_bytes ping[] = {bytes("PING")};
    hf_command_item items[] = {{1, quit}, {3, push}, {0, NULL}, {1, ping}};
    hf_reply *replies[4];
    hf_status statuses[4];

    expect_status(HF_OK, hf_command(f->client, 3, set, NULL, ERR));
    expect_status(HF_UNSUPPORTED,
                  hf_command_many(f->client, items, 4, replies, statuses, ERR));
    assert_int_equal(statuses[0], HF_UNSUPPORTED);
    assert_null(replies[0]);
    assert_int_equal(statuses[1], HF_WRONG_TYPE);
    assert_int_equal(hf_reply_type(replies[1]), HF_REPLY_ERROR);
    hf_reply_free(replies[1]);
    assert_int_equal(statuses[2], HF_INVALID);
    assert_null(replies[2]);
    assert_int_equal(statuses[3], HF_OK);
    expect_text(HF_REPLY_STATUS, "PONG", replies[3]);
}

/* The second item is refused before the first one runs. */
TEST(command_batch_returns_its_first_failure)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_bytes set[] = {bytes("SET"), key, bytes("v")};
    hf_bytes push[] = {bytes("LPUSH"), key, bytes("v")};
    hf_bytes quit[] = {bytes("QUIT")};
    hf_command_item items[] = {{3, push}, {1, quit}};
    hf_error err = HF_ERROR_INIT;
    hf_reply *replies[2];
    hf_status statuses[2];

    expect_status(HF_OK, hf_command(f->client, 3, set, NULL, ERR));
    assert_int_equal(
        hf_command_many(f->client, items, 2, replies, statuses, &err),
        HF_WRONG_TYPE);
    assert_int_equal(statuses[0], HF_WRONG_TYPE);
    assert_int_equal(statuses[1], HF_UNSUPPORTED);
    assert_int_equal(err.status, HF_WRONG_TYPE);
    assert_memory_equal(err.message, "item 0: ", 8);
    hf_reply_free(replies[0]);
}

/* More than go to the store at once: replies outlive their window. */
TEST(command_batch_of_many_has_all_replies)
{
    enum { COUNT = 2100 };
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "n");
    static hf_bytes words[COUNT][2];
    static hf_command_item items[COUNT];
    static hf_reply *replies[COUNT];
    static hf_status statuses[COUNT];
    int64_t sum = 0;

    for (size_t i = 0; i < COUNT; i++) {
        words[i][0] = bytes("INCR");
        words[i][1] = key;
        items[i] = (hf_command_item){2, words[i]};
    }
    expect_status(HF_OK, hf_command_many(f->client, items, COUNT, replies,
                                         statuses, ERR));
    for (size_t i = 0; i < COUNT; i++) {
        sum += hf_reply_integer(replies[i]);
        hf_reply_free(replies[i]);
    }
    assert_int_equal(sum, (int64_t)COUNT * (COUNT + 1) / 2);
}
