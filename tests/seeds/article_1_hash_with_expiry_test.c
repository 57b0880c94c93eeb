/* SPDX-License-Identifier: Apache-2.0 */
/*
 * article_1_hash_with_expiry_test.c - writing a hash and its expiry at once,
 * which the article did by a Lua script, by a transaction and by a placeholder.
 * Here the script runs as it was printed, the transaction call by call, and one
 * hf_hash_put() does what all of them are for.
 */
#include "holdfast/command.h"
#include "holdfast/hash.h"
#include "holdfast/key.h"
#include "holdfast/script.h"
#include "holdfast/txn.h"
#include "holdfast/value.h"
#include "support/store_fixture.h"

FIXTURE_TESTS();

/* As it was printed, in one line, with the SHA-1 that SCRIPT LOAD gave. */
static const char the_script[] =
    "local fieldIndex=3;local valueIndex=4;local key=KEYS[1];local "
    "fieldCount=ARGV[1];local expired=ARGV[2];for i=1,fieldCount,1 do "
    "redis.pcall('HSET',key,ARGV[fieldIndex],ARGV[valueIndex]) "
    "fieldIndex=fieldIndex+2 valueIndex=valueIndex+2 "
    "end;redis.pcall('EXPIRE',key,expired);";
static const char the_sha1[] = "e03e7868920b7669d1c8c8b16dcee86ebfac650d";

static const hf_bytes key = {"key", 3};
static const hf_field dictionary[] = {
    {{"field1", 6}, {"value1", 6}},
    {{"field2", 6}, {"value2", 6}},
};

/* evalsha SHA 1 key 2 1000 field1 value1 field2 value2 -> nil */
static void run_the_script(fixture *f)
{
    hf_script *script = fixture_script(f, f->client, the_script);
    const hf_bytes args[] = {bytes("2"),      bytes("1000"),   bytes("field1"),
                             bytes("value1"), bytes("field2"), bytes("value2")};
    hf_reply *reply = NULL;

    expect_status(HF_OK, hf_script_run(script, &key, 1, args, 6, &reply, ERR));
    assert_int_equal(hf_reply_type(reply), HF_REPLY_NIL);
    hf_reply_free(reply);
}

static void assert_dictionary(fixture *f, size_t count, int64_t ttl_ms)
{
    hf_fields fields = HF_FIELDS_INIT;

    expect_status(HF_OK, hf_hash_get_all(f->other, key, &fields, ERR));
    assert_int_equal(fields.count, count);
    hf_fields_free(&fields);
    assert_field(f->other, key, bytes("field1"), bytes("value1"));
    assert_field(f->other, key, bytes("field2"), bytes("value2"));
    assert_ttl(f->other, key, ttl_ms);
}

TEST(script_of_the_article_has_the_printed_sha1)
{
    fixture *f = *state;
    hf_script *script =
        fixture_script(f, f->client, "return redis.sha1hex(ARGV[1])");
    hf_bytes text = hf_str(the_script);
    hf_reply *reply = NULL;

    expect_status(HF_OK, hf_script_run(script, NULL, 0, &text, 1, &reply, ERR));
    assert_bytes(hf_str(the_sha1), hf_reply_bytes(reply));
    hf_reply_free(reply);
}

TEST(script_of_the_article_writes_fields_and_expiry)
{
    fixture *f = *state;

    run_the_script(f);
    assert_dictionary(f, 2, 1000 * 1000);
    expect_status(HF_OK, hf_hash_delete(f->client, key, ERR));
}

TEST(one_put_writes_fields_and_expiry)
{
    fixture *f = *state;
    hf_hash_put_options opts = HF_HASH_PUT_OPTIONS_INIT;

    opts.ttl_ms = 1000 * 1000;
    expect_status(HF_OK,
                  hf_hash_put(f->client, key, dictionary, 2, &opts, ERR));
    assert_dictionary(f, 2, 1000 * 1000);
    expect_status(HF_OK, hf_hash_delete(f->client, key, ERR));
}

/* tranc = CreateTransaction(); a HashSetAsync for each item; KeyExpireAsync;
 * return ExecuteAsync() */
static bool write_by_transaction(fixture *f, int64_t expiry_ms)
{
    hf_async tranc = HF_ASYNC_INIT;
    hf_status status;

    expect_status(HF_OK, hf_txn_new(f->client, NULL, &tranc.txn, ERR));
    for (size_t i = 0; i < 2; i++)
        expect_status(HF_OK, hf_hash_put_start(f->client, key, &dictionary[i],
                                               1, NULL, &tranc, ERR));
    expect_status(HF_OK,
                  hf_key_expire_start(f->client, key, expiry_ms, &tranc, ERR));
    status = hf_txn_exec(tranc.txn, ERR);
    hf_txn_free(tranc.txn);
    return status == HF_OK;
}

TEST(transaction_of_the_article_writes_fields_and_expiry)
{
    fixture *f = *state;

    assert_true(write_by_transaction(f, 1000 * 1000));
    assert_dictionary(f, 2, 1000 * 1000);
    expect_status(HF_OK, hf_hash_delete(f->client, key, ERR));
}

TEST(transaction_of_the_article_leaves_nothing_if_it_fails)
{
    fixture *f = *state;

    put_value(f->client, key, bytes("a string"), 0);
    assert_false(write_by_transaction(f, 1000 * 1000));
    assert_value(f->client, key, bytes("a string"));
    assert_no_ttl(f->client, key);
    expect_status(HF_OK, hf_value_delete(f->client, key, ERR));
}

/* The transaction is for all or nothing. The article's script catches the error
 * of each HSET and then sets the expiry of what is there. */
TEST(put_that_is_refused_leaves_nothing)
{
    fixture *f = *state;
    hf_hash_put_options opts = HF_HASH_PUT_OPTIONS_INIT;

    opts.ttl_ms = 1000 * 1000;
    put_value(f->client, key, bytes("a string"), 0);
    expect_status(HF_WRONG_TYPE,
                  hf_hash_put(f->client, key, dictionary, 2, &opts, ERR));
    assert_value(f->client, key, bytes("a string"));
    assert_no_ttl(f->client, key);
    run_the_script(f);
    assert_value(f->client, key, bytes("a string"));
    assert_ttl(f->client, key, 1000 * 1000);
    expect_status(HF_OK, hf_value_delete(f->client, key, ERR));
}

TEST(put_that_a_condition_refuses_leaves_nothing)
{
    fixture *f = *state;
    hf_hash_put_options opts = HF_HASH_PUT_OPTIONS_INIT;

    opts.ttl_ms = 1000 * 1000;
    opts.flags = HF_HASH_XX;
    expect_status(HF_NOT_FOUND,
                  hf_hash_put(f->client, key, dictionary, 2, &opts, ERR));
    assert_no_key(f->client, key);
    put_hash(f->client, key, words("field1", "older"), 0);
    opts.flags = HF_HASH_NX;
    expect_status(HF_CONFLICT,
                  hf_hash_put(f->client, key, dictionary, 2, &opts, ERR));
    assert_field(f->client, key, bytes("field1"), bytes("older"));
    assert_no_ttl(f->client, key);
    expect_status(HF_OK, hf_hash_delete(f->client, key, ERR));
}

/* The placeholder's four steps, each of which can be the last one. */
TEST(placeholder_of_the_article_has_the_same_effect)
{
    fixture *f = *state;
    const hf_field holder = {bytes("expiryPlaceHolder"),
                             bytes("expiryPlaceHolder")};

    expect_status(HF_OK, hf_hash_put(f->client, key, &holder, 1, NULL, ERR));
    assert_no_ttl(f->client, key);
    expect_status(HF_OK, hf_key_expire(f->client, key, 1000 * 1000, ERR));
    expect_status(HF_OK, hf_hash_put(f->client, key, dictionary, 2, NULL, ERR));
    assert_dictionary(f, 3, 1000 * 1000);
    expect_status(HF_OK, hf_hash_delete_fields(f->client, key, &holder.name, 1,
                                               NULL, ERR));
    assert_dictionary(f, 2, 1000 * 1000);
    expect_status(HF_OK, hf_hash_delete(f->client, key, ERR));
}

/* The commands the article begins with, word by word. */
TEST(commands_as_printed)
{
    fixture *f = *state;
    static const struct {
        const char *words[7];
        const char *reply; /* NULL: 1 */
    } printed[] = {
        {{"SET", "key", "value", "EX", "60", "NX"}, "OK"},
        {{"SETEX", "key", "60", "value"}, "OK"},
        {{"DEL", "key"}, NULL},
        {{"HSET", "key", "field", "value"}, NULL},
        {{"EXPIRE", "key", "60"}, NULL},
        {{"DEL", "key"}, NULL},
    };

    for (size_t i = 0; i < sizeof(printed) / sizeof(printed[0]); i++) {
        hf_bytes argv[7];
        hf_reply *reply = NULL;
        size_t argc = 0;

        for (; printed[i].words[argc] != NULL; argc++)
            argv[argc] = hf_str(printed[i].words[argc]);
        expect_status(HF_OK, hf_command(f->client, argc, argv, &reply, ERR));
        if (printed[i].reply != NULL)
            assert_bytes(hf_str(printed[i].reply), hf_reply_bytes(reply));
        else
            assert_int_equal(hf_reply_integer(reply), 1);
        hf_reply_free(reply);
    }
}

/* The same two by our call. */
TEST(string_with_expiry_in_one_step)
{
    fixture *f = *state;
    hf_value_set_options opts = HF_VALUE_SET_OPTIONS_INIT;

    opts.flags = HF_SET_NX;
    opts.ttl_ms = 60 * 1000;
    expect_status(
        HF_OK, hf_value_set(f->client, key, bytes("value"), &opts, NULL, ERR));
    assert_ttl(f->client, key, 60 * 1000);
    opts.flags = 0;
    expect_status(
        HF_OK, hf_value_set(f->client, key, bytes("value"), &opts, NULL, ERR));
    assert_value(f->other, key, bytes("value"));
    assert_ttl(f->client, key, 60 * 1000);
    expect_status(HF_OK, hf_value_delete(f->client, key, ERR));
}
