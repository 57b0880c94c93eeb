/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command_stream_test.c - hf_command() of XREAD and XREADGROUP that wait.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "holdfast/command.h"
#include "support/slowness.h"
#include "support/store_fixture.h"
#include "support/told.h"

FIXTURE_TESTS();

#define WORDS_MAX 16
#define WAIT_MS 60

/* The call that waits. */
static struct reader {
    pthread_t thread;
    hf_client *client;
    const char *texts[WORDS_MAX];
    hf_status status;
    hf_reply *reply;
} reader;

static hf_status run_texts(hf_client *client, const char *const *texts,
                           hf_reply **reply)
{
    hf_bytes words[WORDS_MAX];
    size_t count = 0;

    for (; texts[count] != NULL; count++)
        words[count] = hf_str(texts[count]);
    return hf_command(client, count, words, reply, NULL);
}

static void *read_entries(void *user)
{
    (void)user;
    reader.status = run_texts(reader.client, reader.texts, &reader.reply);
    return NULL;
}

static void begin(hf_client *client, const char *const *texts)
{
    reader = (struct reader){.client = client};
    for (size_t i = 0; texts[i] != NULL; i++)
        reader.texts[i] = texts[i];
    assert_int_equal(pthread_create(&reader.thread, NULL, read_entries, NULL),
                     0);
}

#define BEGIN(client, ...) begin(client, words(__VA_ARGS__))

static hf_reply *end(hf_status want)
{
    (void)pthread_join(reader.thread, NULL);
    expect_status(want, reader.status);
    return reader.reply;
}

/* Until a call that has begun waits: there is no way to ask a store. */
static void let_wait(void)
{
    int64_t until_ms = test_now_ms() + slowed_ms(WAIT_MS);

    while (test_now_ms() < until_ms)
        test_rest();
}

static hf_reply *expect_reply(hf_client *client, const char *const *texts)
{
    hf_reply *reply = NULL;

    expect_status(HF_OK, run_texts(client, texts, &reply));
    return reply;
}

#define REPLY(client, ...) expect_reply(client, words(__VA_ARGS__))

static void expect_kind(hf_reply_kind kind, hf_reply *reply)
{
    assert_int_equal(hf_reply_type(reply), kind);
    hf_reply_free(reply);
}

static void expect_text(const char *text, hf_reply *reply)
{
    assert_bytes(hf_str(text), hf_reply_bytes(reply));
    hf_reply_free(reply);
}

static const char *key_of(fixture *f, const char *name)
{
    return fixture_key(f, name).data;
}

/* The id of the only entry of the only stream in a reply. */
static void expect_entry(const char *id, hf_reply *reply)
{
    const hf_reply *stream = hf_reply_at(reply, 0);
    const hf_reply *entries = hf_reply_at(stream, 1);

    assert_int_equal(hf_reply_count(reply), 1);
    assert_int_equal(hf_reply_count(entries), 1);
    assert_bytes(hf_str(id),
                 hf_reply_bytes(hf_reply_at(hf_reply_at(entries, 0), 0)));
    hf_reply_free(reply);
}

static void add_entry(hf_client *client, const char *stream, const char *id)
{
    expect_text(id, REPLY(client, "XADD", stream, id, "f", "v"));
}

TEST(read_of_a_stream_waits)
{
    fixture *f = *state;
    const char *s = key_of(f, "{k}s"), *t = key_of(f, "{k}t");
    pthread_t thread;

    add_entry(f->client, s, "1-1");
    expect_kind(HF_REPLY_NIL_ARRAY,
                REPLY(f->client, "XREAD", "BLOCK", "50", "STREAMS", s, "$"));
    BEGIN(f->client, "XREAD", "BLOCK", "0", "STREAMS", s, "$");
    let_wait();
    add_entry(f->other, s, "1-2");
    expect_entry("1-2", end(HF_OK));
    /* Of each stream what comes after its own id. */
    BEGIN(f->client, "XREAD", "COUNT", "1", "BLOCK", "0", "STREAMS", t, s, "5",
          "$");
    let_wait();
    add_entry(f->other, t, "3-1");
    let_wait();
    add_entry(f->other, s, "1-3");
    expect_entry("1-3", end(HF_OK));
    BEGIN(f->client, "XREAD", "BLOCK", "0", "STREAMS", t, s, "5", "$");
    let_wait();
    expect_kind(HF_REPLY_INTEGER, REPLY(f->other, "DEL", s));
    add_entry(f->other, t, "6-1");
    expect_entry("6-1", end(HF_OK));
    BEGIN(f->client, "XREAD", "BLOCK", "0", "STREAMS", s, "$");
    let_wait();
    pthread_create(&thread, NULL, interrupt_soon, f->client);
    assert_null(end(HF_CANCELLED));
    pthread_join(thread, NULL);
}

static void expect_pending(const char *count, hf_client *client,
                           const char *stream)
{
    hf_reply *reply = REPLY(client, "XPENDING", stream, "g");

    assert_int_equal(hf_reply_integer(hf_reply_at(reply, 0)),
                     strtol(count, NULL, 10));
    hf_reply_free(reply);
}

#define READ_GROUP(client, stream)                                             \
    BEGIN(client, "XREADGROUP", "GROUP", "g", "c", "BLOCK", "0", "STREAMS",    \
          stream, ">")

TEST(read_of_a_group_waits)
{
    fixture *f = *state;
    const char *s = key_of(f, "s");
    pthread_t thread;

    expect_text("OK",
                REPLY(f->client, "XGROUP", "CREATE", s, "g", "$", "MKSTREAM"));
    READ_GROUP(f->client, s);
    let_wait();
    add_entry(f->other, s, "1-1");
    expect_entry("1-1", end(HF_OK));
    expect_pending("1", f->other, s);
    READ_GROUP(f->client, s);
    let_wait();
    pthread_create(&thread, NULL, interrupt_soon, f->client);
    assert_null(end(HF_CANCELLED));
    pthread_join(thread, NULL);
    add_entry(f->other, s, "1-2");
    let_wait();
    expect_pending("1", f->other, s);
    READ_GROUP(f->client, s);
    expect_entry("1-2", end(HF_OK));
}

/* The end of a call whose group has gone. Versions differ in the error: Valkey
 * 8 looks at the type of what is there now. */
static void expect_gone(void)
{
    (void)pthread_join(reader.thread, NULL);
    assert_true(reader.status == HF_INVALID ||
                reader.status == HF_UNAVAILABLE ||
                reader.status == HF_WRONG_TYPE);
    hf_reply_free(reader.reply);
}

TEST(read_of_a_group_ends_with_the_group)
{
    fixture *f = *state;
    const char *s = key_of(f, "s");
    const char *const ends[][5] = {{"XGROUP", "DESTROY", s, "g", NULL},
                                   {"DEL", s, NULL},
                                   {"SET", s, "v", NULL}};

    for (size_t i = 0; i < 3; i++) {
        expect_text("OK", REPLY(f->client, "XGROUP", "CREATE", s, "g", "$",
                                "MKSTREAM"));
        READ_GROUP(f->client, s);
        let_wait();
        hf_reply_free(expect_reply(f->other, ends[i]));
        expect_gone();
    }
}
