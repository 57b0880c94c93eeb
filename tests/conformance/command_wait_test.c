/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command_wait_test.c - hf_command() of commands that wait for an element. The
 * other processes are process_worker.c, whose path the build passes in
 * PROCESS_WORKER.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "holdfast/command.h"
#include "holdfast/lock.h"
#include "holdfast/txn.h"
#include "support/child_process.h"
#include "support/slowness.h"
#include "support/store_fixture.h"
#include "support/told.h"

#define WORDS_MAX 16
#define THREADS 8
#define PROCESSES 3
#define START_MS 20000

/* So many take longer on a disk than this lease lasts. */
#define MANY 120
#define TTL_MS 400

/* A process that is not woken looks after this, from its wait on. */
#define POLL_MS 250
#define WAIT_MS 60

static child_process children[PROCESSES];

static int close_processes(void **state)
{
    for (size_t i = 0; i < PROCESSES; i++)
        child_kill(&children[i]);
    return fixture_close(state);
}

EACH_TEST_WITH(fixture_open, close_processes);
ALL_TESTS_WITH(fixture_start, fixture_stop);

/* ------------------------------------------------------------------- calls */

typedef struct caller {
    pthread_t thread;
    hf_client *client;
    const char *texts[WORDS_MAX];
    hf_status status;
    hf_reply *reply;
    int64_t took_ms;
} caller;

static caller callers[THREADS];

static size_t to_words(const char *const *texts, hf_bytes words[WORDS_MAX])
{
    size_t count = 0;

    for (; texts[count] != NULL; count++)
        words[count] = hf_str(texts[count]);
    return count;
}

static void *run_words(void *user)
{
    caller *self = user;
    hf_bytes words[WORDS_MAX];
    size_t count = to_words(self->texts, words);
    int64_t began_ms = test_now_ms();

    self->status = hf_command(self->client, count, words, &self->reply, NULL);
    self->took_ms = test_now_ms() - began_ms;
    return NULL;
}

static void begin_at(size_t at, hf_client *client, const char *const *texts)
{
    callers[at] = (caller){.client = client};
    for (size_t i = 0; texts[i] != NULL; i++)
        callers[at].texts[i] = texts[i];
    assert_int_equal(
        pthread_create(&callers[at].thread, NULL, run_words, &callers[at]), 0);
}

#define BEGIN(client, ...) begin_at(0, client, words(__VA_ARGS__))

/* Until a call that has begun waits: there is no way to ask a store. */
static void let_wait(void)
{
    int64_t until_ms = test_now_ms() + slowed_ms(WAIT_MS);

    while (test_now_ms() < until_ms)
        test_rest();
}

static hf_reply *expect_reply(hf_status want, hf_client *client,
                              const char *const *texts)
{
    hf_bytes words[WORDS_MAX];
    hf_reply *reply = NULL;
    size_t count = to_words(texts, words);

    expect_status(want, hf_command(client, count, words, &reply, ERR));
    return reply;
}

#define REPLY(client, ...) expect_reply(HF_OK, client, words(__VA_ARGS__))

static void expect_kind(hf_reply_kind kind, hf_reply *reply)
{
    assert_int_equal(hf_reply_type(reply), kind);
    hf_reply_free(reply);
}

static void push(hf_client *client, const char *list, const char *value)
{
    expect_kind(HF_REPLY_INTEGER, REPLY(client, "RPUSH", list, value));
}

static void expect_pair(const char *key, const char *value, hf_reply *reply)
{
    assert_true(hf_reply_count(reply) >= 2);
    assert_bytes(hf_str(key), hf_reply_bytes(hf_reply_at(reply, 0)));
    assert_bytes(hf_str(value), hf_reply_bytes(hf_reply_at(reply, 1)));
    hf_reply_free(reply);
}

static void expect_text(const char *text, hf_reply *reply)
{
    assert_bytes(hf_str(text), hf_reply_bytes(reply));
    hf_reply_free(reply);
}

static hf_reply *end_at(size_t at, hf_status want)
{
    (void)pthread_join(callers[at].thread, NULL);
    expect_status(want, callers[at].status);
    return callers[at].reply;
}

static const char *key_of(fixture *f, const char *name)
{
    return fixture_key(f, name).data;
}

static void expect_length(const char *length, hf_client *client,
                          const char *list)
{
    hf_reply *reply = REPLY(client, "LLEN", list);

    assert_int_equal(hf_reply_integer(reply), strtol(length, NULL, 10));
    hf_reply_free(reply);
}

/* --------------------------------------------------------------- one caller */

TEST(command_that_waits_takes_what_is_there)
{
    fixture *f = *state;
    const char *l = key_of(f, "{k}l"), *to = key_of(f, "{k}to"),
               *z = key_of(f, "{k}z");

    for (int i = 0; i < 5; i++)
        push(f->client, l, "v");
    expect_pair(l, "v", REPLY(f->client, "BLPOP", l, "0"));
    expect_pair(l, "v", REPLY(f->client, "brpop", l, "1"));
    expect_text("v", REPLY(f->client, "BRPOPLPUSH", l, to, "0.5"));
    expect_text("v", REPLY(f->client, "BLMOVE", l, to, "LEFT", "RIGHT", "1"));
    expect_kind(HF_REPLY_ARRAY,
                REPLY(f->client, "BLMPOP", "1", "1", l, "LEFT"));
    expect_length("0", f->client, l);
    expect_length("2", f->client, to);
    expect_kind(HF_REPLY_INTEGER,
                REPLY(f->client, "ZADD", z, "1", "a", "2", "b", "3", "c"));
    expect_pair(z, "a", REPLY(f->client, "BZPOPMIN", z, "0"));
    expect_pair(z, "c", REPLY(f->client, "BZPOPMAX", z, "0"));
    expect_kind(HF_REPLY_ARRAY, REPLY(f->client, "BZMPOP", "0", "1", z, "MIN"));
    assert_no_key(f->client, hf_str(z));
}

TEST(command_that_waits_replies_nil_in_time)
{
    fixture *f = *state;
    const char *l = key_of(f, "{k}l"), *to = key_of(f, "{k}to");
    int64_t began_ms = test_now_ms();

    expect_kind(HF_REPLY_NIL_ARRAY, REPLY(f->client, "BLPOP", l, "0.15"));
    assert_took(test_now_ms() - began_ms, 150, 400);
    began_ms = test_now_ms();
    expect_kind(HF_REPLY_NIL_ARRAY,
                REPLY(f->client, "BZMPOP", "0.1", "2", l, to, "MAX"));
    assert_took(test_now_ms() - began_ms, 100, 400);
    expect_kind(HF_REPLY_NIL_ARRAY,
                REPLY(f->client, "BLMOVE", l, to, "LEFT", "LEFT", "0.05"));
    expect_kind(HF_REPLY_NIL_ARRAY,
                REPLY(f->client, "BRPOPLPUSH", l, to, "0.05"));
    assert_no_key(f->client, hf_str(l));
}

/* The time of the command is not bounded by request_ms. */
TEST(command_waits_longer_than_a_request)
{
    fixture *f = *state;
    hf_client_options options = HF_CLIENT_OPTIONS_INIT;
    const char *l = key_of(f, "l");
    hf_client *client;
    hf_reply *reply;

    options.request_ms = slowed_ms(200);
    client = fixture_client(f, &options);
    BEGIN(client, "BLPOP", l, "0");
    for (int64_t until = test_now_ms() + 3 * options.request_ms;
         test_now_ms() < until;)
        test_rest();
    push(f->other, l, "late");
    reply = end_at(0, HF_OK);
    assert_true(callers[0].took_ms >= 2 * options.request_ms);
    expect_pair(l, "late", reply);
}

/* Has the element been taken before one that polls would look? The push has two
 * flushes on some stores. */
static bool wins_over_a_poll(fixture *f, const char *l)
{
    int64_t until_ms = test_now_ms() + POLL_MS * 4 / 5;
    int64_t push_ms = test_now_ms() + WAIT_MS;

    BEGIN(f->client, "BLPOP", l, "0");
    while (test_now_ms() < push_ms)
        test_rest();
    push(f->other, l, "v");
    expect_pair(l, "v", end_at(0, HF_OK));
    return test_now_ms() < until_ms;
}

/* One that polls never wins. A busy machine makes all late, but not each time.
 */
TEST(command_that_waits_is_woken)
{
    enum { WINS = 3, ROUNDS = 60 };
    fixture *f = *state;
    const char *l = key_of(f, "{k}l"), *to = key_of(f, "{k}to"),
               *z = key_of(f, "{k}z");
    int wins = 0;

    for (int i = 0; i < ROUNDS && wins < WINS; i++)
        wins += wins_over_a_poll(f, l);
    assert_int_equal(wins, WINS);
    BEGIN(f->client, "BLMOVE", l, to, "LEFT", "RIGHT", "60");
    let_wait();
    push(f->other, l, "w");
    expect_text("w", end_at(0, HF_OK));
    expect_length("1", f->client, to);
    BEGIN(f->client, "BZPOPMIN", z, "60");
    let_wait();
    expect_kind(HF_REPLY_INTEGER, REPLY(f->other, "ZADD", z, "1", "m"));
    expect_pair(z, "m", end_at(0, HF_OK));
}

/* Its own client pushes, by another call, and others are not held up. */
TEST(command_that_waits_leaves_the_client_to_others)
{
    fixture *f = *state;
    const char *l = key_of(f, "l");
    int64_t began_ms;

    BEGIN(f->client, "BLPOP", l, "60");
    let_wait();
    began_ms = test_now_ms();
    for (int i = 0; i < 20; i++)
        put_value(f->client, fixture_key(f, "v"), bytes("v"), 0);
    assert_in_time(test_now_ms() - began_ms, 2000);
    push(f->client, l, "v");
    expect_pair(l, "v", end_at(0, HF_OK));
}

TEST(command_waits_for_the_first_of_several_keys)
{
    fixture *f = *state;
    const char *a = key_of(f, "{k}a"), *b = key_of(f, "{k}b"),
               *c = key_of(f, "{k}c");
    hf_reply *reply;

    push(f->client, c, "3");
    push(f->client, b, "2");
    expect_pair(b, "2", REPLY(f->client, "BLPOP", a, b, c, "0"));
    expect_pair(c, "3", REPLY(f->client, "BLPOP", a, b, c, "0"));
    BEGIN(f->client, "BLPOP", a, b, c, "60");
    let_wait();
    push(f->other, b, "4");
    expect_pair(b, "4", end_at(0, HF_OK));
    BEGIN(f->client, "BLMPOP", "60", "3", a, b, c, "RIGHT", "COUNT", "2");
    let_wait();
    expect_kind(HF_REPLY_INTEGER, REPLY(f->other, "RPUSH", c, "5", "6", "7"));
    reply = end_at(0, HF_OK);
    assert_bytes(hf_str(c), hf_reply_bytes(hf_reply_at(reply, 0)));
    assert_int_equal(hf_reply_count(hf_reply_at(reply, 1)), 2);
    hf_reply_free(reply);
    expect_length("1", f->client, c);
}

TEST(command_that_waits_meets_other_types)
{
    fixture *f = *state;
    const char *a = key_of(f, "{k}a"), *b = key_of(f, "{k}b");

    put_value(f->client, hf_str(a), bytes("v"), 0);
    expect_kind(HF_REPLY_ERROR, expect_reply(HF_WRONG_TYPE, f->client,
                                             words("BLPOP", a, b, "0")));
    expect_kind(HF_REPLY_ERROR,
                expect_reply(HF_INVALID, f->client, words("BLPOP", b, "soon")));
    expect_kind(HF_REPLY_ERROR,
                expect_reply(HF_INVALID, f->client, words("BLPOP", b, "-1")));
    expect_kind(HF_REPLY_ERROR,
                expect_reply(HF_INVALID, f->client, words("BLPOP", b)));
    expect_kind(HF_REPLY_INTEGER, REPLY(f->client, "DEL", a));
}

/* On servers from Redis 7.2 on it is an error, which takes nothing. */
TEST(key_that_gets_another_type_ends_no_wait)
{
    fixture *f = *state;
    const char *a = key_of(f, "{k}a"), *b = key_of(f, "{k}b");
    bool differs = !fixture_is_embedded(f) && !fixture_is_served(f);

    BEGIN(f->client, "BLPOP", a, b, "60");
    let_wait();
    put_value(f->other, hf_str(a), bytes("v"), 0);
    let_wait();
    push(f->other, b, "v");
    (void)pthread_join(callers[0].thread, NULL);
    if (differs && callers[0].status == HF_WRONG_TYPE) {
        expect_kind(HF_REPLY_ERROR, callers[0].reply);
        expect_length("1", f->client, b);
        return;
    }
    expect_status(HF_OK, callers[0].status);
    expect_pair(b, "v", callers[0].reply);
}

TEST(command_that_waits_has_the_prefix)
{
    fixture *f = *state;
    hf_client_options options = HF_CLIENT_OPTIONS_INIT;
    const char *l = key_of(f, "{k}l"), *m = key_of(f, "{k}m");
    char whole[64];
    hf_client *client;

    options.prefix = "p:";
    client = fixture_client(f, &options);
    (void)snprintf(whole, sizeof(whole), "p:%s", m);
    BEGIN(client, "BLPOP", l, m, "60");
    let_wait();
    push(f->other, l, "not this one");
    push(f->other, whole, "v");
    expect_pair(whole, "v", end_at(0, HF_OK));
    expect_length("1", f->client, l);
}

TEST(command_that_waits_is_alone)
{
    fixture *f = *state;
    hf_bytes words[] = {bytes("BLPOP"), fixture_key(f, "l"), bytes("0")};
    hf_command_item item = {3, words};
    hf_async async = HF_ASYNC_INIT;
    told all = {0};
    hf_reply *reply = NULL;
    hf_txn *txn = NULL;
    hf_status status;

    expect_status(HF_UNSUPPORTED,
                  hf_command_many(f->client, &item, 1, &reply, &status, ERR));
    assert_null(reply);
    expect_status(HF_UNSUPPORTED, status);
    status = HF_OK;
    async = tell(&all);
    expect_status(HF_OK, hf_command_many_start(f->client, &item, 1, &reply,
                                               &status, &async, ERR));
    await_told(f->client, &all, 1);
    expect_status(HF_UNSUPPORTED, status);
    expect_status(HF_OK, hf_txn_new(f->client, NULL, &txn, ERR));
    async.txn = txn;
    expect_status(HF_UNSUPPORTED,
                  hf_command_start(f->client, 3, words, NULL, &async, ERR));
    hf_txn_free(txn);
}

/* ------------------------------------------------------------------ its end */

TEST(command_that_waits_is_interrupted)
{
    fixture *f = *state;
    const char *l = key_of(f, "l");
    pthread_t thread;

    BEGIN(f->client, "BLPOP", l, "0");
    let_wait();
    pthread_create(&thread, NULL, interrupt_soon, f->client);
    assert_null(end_at(0, HF_CANCELLED));
    pthread_join(thread, NULL);
    push(f->other, l, "v");
    let_wait();
    expect_length("1", f->client, l);
    expect_pair(l, "v", REPLY(f->client, "BLPOP", l, "0"));
}

/* Each round an element comes as the call is interrupted, perhaps before it
 * has begun: it is in the reply or still in the list. */
TEST(command_that_is_interrupted_loses_nothing)
{
    enum { ROUNDS = 60 };
    fixture *f = *state;
    const char *l = key_of(f, "l");
    int taken = 0;

    for (int i = 0; i < ROUNDS; i++) {
        hf_reply *reply;

        BEGIN(f->client, "BLPOP", l, "0");
        if (i % 3 == 0)
            test_rest();
        if (i % 2 == 0)
            push(f->other, l, "v");
        expect_status(HF_OK, hf_client_interrupt(f->client, ERR));
        if (i % 2 != 0)
            push(f->other, l, "v");
        (void)pthread_join(callers[0].thread, NULL);
        reply = callers[0].reply;
        if (callers[0].status == HF_OK) {
            expect_pair(l, "v", reply);
            taken++;
        } else {
            expect_status(HF_CANCELLED, callers[0].status);
            expect_pair(l, "v", REPLY(f->other, "BLPOP", l, "0"));
        }
        expect_length("0", f->other, l);
    }
    assert_true(taken > 0);
}

TEST(command_that_waits_ends_when_the_client_is_closed)
{
    fixture *f = *state;
    const char *l = key_of(f, "l");
    hf_bytes words[] = {bytes("BLPOP"), hf_str(l), bytes("0")};
    hf_client *client = fixture_client(f, NULL);
    told started = {0};
    hf_async async = tell(&started);
    hf_reply *reply = NULL;

    BEGIN(client, "BLPOP", l, "0");
    expect_status(HF_OK,
                  hf_command_start(client, 3, words, &reply, &async, ERR));
    let_wait();
    fixture_close_client(f, client);
    assert_null(end_at(0, HF_CANCELLED));
    assert_int_equal(started.count, 1);
    expect_status(HF_CANCELLED, started.status);
    assert_null(reply);
    push(f->client, l, "v");
    let_wait();
    expect_length("1", f->client, l);
}

/* The connection of the first such command that waits at the server. */
static bool is_waiting(fixture *f, const char *what, char id[32])
{
    hf_reply *list = REPLY(f->other, "CLIENT", "LIST");
    const char *all = hf_reply_bytes(list).data;
    const char *line = strstr(all, what);
    bool found = line != NULL;

    while (found && line > all && line[-1] != '\n')
        line--;
    if (found)
        assert_int_equal(sscanf(line, "id=%30s", id), 1);
    hf_reply_free(list);
    return found;
}

static void find_waiting(fixture *f, const char *what, char id[32])
{
    expect_soon(is_waiting(f, what, id), 5000);
}

/* A connection that breaks may have had the element. */
TEST(command_whose_connection_is_cut_is_indeterminate)
{
    fixture *f = *state;
    const char *l = key_of(f, "l");
    char id[32];

    fixture_only_redis(f);
    if (f->store == FIXTURE_REDIS_CLUSTER || fixture_is_served(f))
        skip();
    BEGIN(f->client, "BLPOP", l, "0");
    find_waiting(f, " cmd=blpop", id);
    hf_reply_free(REPLY(f->other, "CLIENT", "KILL", "ID", id));
    assert_null(end_at(0, HF_INDETERMINATE));
    push(f->client, l, "v");
    expect_pair(l, "v", REPLY(f->client, "BLPOP", l, "0"));
}

/* It is a read, but is not sent again: it would wait for what comes after. */
TEST(read_of_a_stream_whose_connection_is_cut_is_indeterminate)
{
    fixture *f = *state;
    const char *s = key_of(f, "s");
    char id[32];

    fixture_only_redis(f);
    if (f->store == FIXTURE_REDIS_CLUSTER || fixture_is_served(f))
        skip();
    BEGIN(f->client, "XREAD", "BLOCK", "2000", "STREAMS", s, "$");
    find_waiting(f, " cmd=xread", id);
    hf_reply_free(REPLY(f->other, "CLIENT", "KILL", "ID", id));
    assert_null(end_at(0, HF_INDETERMINATE));
}

/* Someone else ends the wait: nothing was taken. */
TEST(command_that_is_unblocked_has_taken_nothing)
{
    fixture *f = *state;
    const char *l = key_of(f, "l");
    char id[32];

    fixture_only_redis(f);
    if (f->store == FIXTURE_REDIS_CLUSTER || fixture_is_served(f))
        skip();
    BEGIN(f->client, "BLPOP", l, "0");
    find_waiting(f, " cmd=blpop", id);
    hf_reply_free(REPLY(f->other, "CLIENT", "UNBLOCK", id, "ERROR"));
    assert_null(end_at(0, HF_UNAVAILABLE));
    push(f->client, l, "v");
    expect_pair(l, "v", REPLY(f->client, "BLPOP", l, "0"));
}

TEST(command_that_waits_is_started_and_cancelled)
{
    fixture *f = *state;
    const char *l = key_of(f, "l");
    hf_bytes words[] = {bytes("BLPOP"), hf_str(l), bytes("60")};
    hf_bytes brief[] = {bytes("BLPOP"), hf_str(l), bytes("0.05")};
    told got = {0}, gone = {0}, late = {0};
    hf_async async = tell(&got);
    hf_call *call = NULL;
    hf_reply *reply = NULL, *none = NULL;

    expect_status(HF_OK,
                  hf_command_start(f->client, 3, words, &reply, &async, ERR));
    async = tell(&gone);
    async.call = &call;
    expect_status(HF_OK,
                  hf_command_start(f->client, 3, words, &none, &async, ERR));
    async = tell(&late);
    let_wait();
    hf_call_cancel(call);
    await_told(f->client, &gone, 1);
    expect_status(HF_CANCELLED, gone.status);
    assert_null(none);
    push(f->other, l, "v");
    await_ok(f->client, &got);
    expect_pair(l, "v", reply);
    expect_status(HF_OK,
                  hf_command_start(f->client, 3, brief, &none, &async, ERR));
    await_ok(f->client, &late);
    expect_kind(HF_REPLY_NIL_ARRAY, none);
}

/* ---------------------------------------------------------------- many wait */

TEST(commands_that_wait_get_one_element_each)
{
    fixture *f = *state;
    const char *l = key_of(f, "l");
    bool seen[THREADS] = {false};
    char text[8];

    for (size_t i = 0; i < THREADS; i++)
        begin_at(i, i % 2 == 0 ? f->client : f->other, words("BLPOP", l, "60"));
    let_wait();
    for (size_t i = 0; i < THREADS; i++) {
        (void)snprintf(text, sizeof(text), "%zu", i);
        push(f->client, l, text);
    }
    for (size_t i = 0; i < THREADS; i++) {
        hf_reply *reply = end_at(i, HF_OK);
        long got = strtol(hf_reply_bytes(hf_reply_at(reply, 1)).data, NULL, 10);

        assert_in_range(got, 0, THREADS - 1);
        assert_false(seen[got]);
        seen[got] = true;
        hf_reply_free(reply);
    }
    expect_length("0", f->client, l);
}

/* They are served in the order in which they began to wait. */
TEST(commands_of_a_client_are_served_in_order)
{
    enum { COUNT = 5 };
    fixture *f = *state;
    const char *l = key_of(f, "l");
    hf_bytes words[] = {bytes("BLPOP"), hf_str(l), bytes("60")};
    hf_reply *replies[COUNT] = {NULL};
    told tolds[COUNT] = {{0}};
    char text[8];

    for (size_t i = 0; i < COUNT; i++) {
        hf_async async = tell(&tolds[i]);

        expect_status(HF_OK, hf_command_start(f->client, 3, words, &replies[i],
                                              &async, ERR));
        let_wait();
    }
    for (size_t i = 0; i < COUNT; i++) {
        (void)snprintf(text, sizeof(text), "%zu", i);
        push(f->other, l, text);
    }
    for (size_t i = 0; i < COUNT; i++) {
        (void)snprintf(text, sizeof(text), "%zu", i);
        await_ok(f->client, &tolds[i]);
        expect_pair(l, text, replies[i]);
    }
}

/* Each that takes an element waits for the disk, on stores that write to it. */
static void start_many(fixture *f, const char *l, told *all)
{
    hf_bytes words[] = {bytes("BLPOP"), hf_str(l), bytes("60")};

    for (int i = 0; i < MANY; i++) {
        hf_async async = tell(all);

        expect_status(HF_OK,
                      hf_command_start(f->client, 3, words, NULL, &async, ERR));
    }
}

static void push_many(fixture *f, const char *l)
{
    hf_bytes words[2 + MANY] = {bytes("RPUSH"), hf_str(l)};
    hf_reply *reply = NULL;

    for (int i = 0; i < MANY; i++)
        words[2 + i] = bytes("v");
    expect_status(HF_OK, hf_command(f->other, 2 + MANY, words, &reply, ERR));
    expect_kind(HF_REPLY_INTEGER, reply);
}

/* Their thread renews leases in between. */
TEST(commands_that_wait_cost_no_lock)
{
    fixture *f = *state;
    const char *l = key_of(f, "l");
    hf_lock_options options = HF_LOCK_OPTIONS_INIT;
    told there = {0}, late = {0};
    hf_lock *lock;

    fixture_only_embedded(f);
    options.ttl_ms = slowed_ms(TTL_MS);
    lock = fixture_lock(f, f->client, fixture_key(f, "lock"), &options);
    expect_status(HF_OK, hf_lock_acquire(lock, 0, ERR));
    push_many(f, l);
    start_many(f, l, &there);
    await_told(f->client, &there, MANY);
    expect_status(HF_OK, there.status);
    assert_true(hf_lock_is_held(lock));
    start_many(f, l, &late);
    let_wait();
    push_many(f, l);
    await_told(f->client, &late, MANY);
    expect_status(HF_OK, late.status);
    assert_true(hf_lock_is_held(lock));
}

/* -------------------------------------------------------------- processes */

static void start(size_t i, fixture *f, const char *verb, const char *list,
                  const char *count)
{
    const char *argv[] = {PROCESS_WORKER, f->url, verb, list, count, NULL};

    assert_true(child_start(&children[i], argv));
}

static void expect_line(size_t i, const char *want)
{
    char line[CHILD_LINE_SIZE];

    assert_true(child_line(&children[i], line, START_MS));
    assert_string_equal(line, want);
}

TEST(command_that_waits_is_woken_by_another_process)
{
    fixture *f = *state;
    const char *l = key_of(f, "l");
    int64_t began_ms;

    start(0, f, "push", l, "1");
    start(1, f, "pop", l, "1");
    expect_line(0, "pushes");
    expect_line(1, "pops");
    BEGIN(f->client, "BLPOP", l, "60");
    let_wait();
    push(f->other, l, "1");
    began_ms = test_now_ms();
    assert_true(child_tell(&children[0], ""));
    expect_line(0, "1");
    expect_line(1, "1");
    expect_pair(l, "1", end_at(0, HF_OK));
    assert_in_time(test_now_ms() - began_ms, 1000);
    assert_int_equal(child_end(&children[0], START_MS), 0);
    assert_int_equal(child_end(&children[1], START_MS), 0);
}

/* Other writers hold the lock all the time, so that the one who waits cannot
 * read at first: it has not mapped what the data file has grown by. */
TEST(command_that_waits_is_woken_while_the_store_is_busy)
{
    enum { BUSY = 2, WRITERS = 3 };
    static const char busy[] = "redis.call('SET', 'busy', '1') local a = 0 "
                               "for i = 1, 4000000 do a = a + i end";
    fixture *f = *state;
    const char *l = key_of(f, "l");
    char grow[200];

    fixture_only_embedded(f);
    (void)snprintf(grow, sizeof(grow),
                   "redis.call('RPUSH', '%s', 'v') "
                   "redis.call('SET', 'big', string.rep('x', 8000000))",
                   l);
    for (size_t i = 0; i < WRITERS; i++)
        start(i, f, "eval", i < BUSY ? busy : grow, i < BUSY ? "15" : "1");
    for (size_t i = 0; i < WRITERS; i++)
        expect_line(i, "evals");
    BEGIN(f->client, "BLPOP", l, "60");
    let_wait();
    for (size_t i = 0; i < WRITERS; i++) {
        assert_true(child_tell(&children[i], ""));
        let_wait();
    }
    expect_pair(l, "v", end_at(0, HF_OK));
    for (size_t i = 0; i < WRITERS; i++)
        assert_int_equal(child_end(&children[i], START_MS), 0);
}

/* One that is stopped keeps nothing from others. A server has given it the
 * element. */
TEST(stopped_waiter_holds_up_no_other)
{
    fixture *f = *state;
    const char *l = key_of(f, "l");

    fixture_only_embedded(f);
    start(0, f, "pop", l, "1");
    expect_line(0, "pops");
    let_wait();
    assert_int_equal(kill(children[0].pid, SIGSTOP), 0);
    BEGIN(f->client, "BLPOP", l, "60");
    let_wait();
    push(f->other, l, "v");
    expect_pair(l, "v", end_at(0, HF_OK));
    assert_int_equal(kill(children[0].pid, SIGCONT), 0);
    push(f->other, l, "2");
    expect_line(0, "2");
    assert_int_equal(child_end(&children[0], START_MS), 0);
}
