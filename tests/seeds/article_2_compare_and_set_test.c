/* SPDX-License-Identifier: Apache-2.0 */
/*
 * article_2_compare_and_set_test.c - the article's two test cases, a string
 * and a field of a hash: 1 does not become 3 if 2 is expected, and becomes 4
 * if 1 is. By its own scripts, by hf_value_cas() and hf_hash_cas(), and by a
 * transaction.
 */
#include "holdfast/hash.h"
#include "holdfast/script.h"
#include "holdfast/txn.h"
#include "holdfast/value.h"
#include "support/store_fixture.h"
#include "support/told.h"

FIXTURE_TESTS();

static const char string_cas[] =
    "if redis.call(\"get\", KEYS[1]) == ARGV[1] then\n"
    "    redis.call(\"set\", KEYS[1], ARGV[2])\n"
    "    return 1\n"
    "else\n"
    "    return 0\n"
    "end\n";

static const char hash_cas[] =
    "if redis.call(\"hget\", KEYS[1], ARGV[1]) == ARGV[2] then\n"
    "    redis.call(\"hset\", KEYS[1], ARGV[1], ARGV[3])\n"
    "    return 1\n"
    "else\n"
    "    return 0\n"
    "end\n";

static const hf_bytes string_key = {"test:String:cas", 15};
static const hf_bytes hash_key = {"test:Hash:cas", 13};
static const hf_bytes field = {"testField", 9};

static int64_t run(hf_script *script, hf_bytes key, const hf_bytes *args,
                   size_t count)
{
    hf_reply *reply = NULL;
    int64_t number;

    expect_status(HF_OK,
                  hf_script_run(script, &key, 1, args, count, &reply, ERR));
    assert_int_equal(hf_reply_type(reply), HF_REPLY_INTEGER);
    number = hf_reply_integer(reply);
    hf_reply_free(reply);
    return number;
}

TEST(string_compare_and_exchange_by_the_articles_script)
{
    fixture *f = *state;
    hf_script *script = fixture_script(f, f->client, string_cas);
    const hf_bytes to_3_if_2[] = {bytes("2"), bytes("3")};
    const hf_bytes to_4_if_1[] = {bytes("1"), bytes("4")};

    put_value(f->client, string_key, bytes("1"), 0);
    assert_true(run(script, string_key, to_3_if_2, 2) == 0);
    assert_value(f->client, string_key, bytes("1"));
    assert_true(run(script, string_key, to_4_if_1, 2) == 1);
    assert_value(f->client, string_key, bytes("4"));
    expect_status(HF_OK, hf_value_delete(f->client, string_key, ERR));
}

TEST(string_compare_and_exchange_by_value_cas)
{
    fixture *f = *state;
    const hf_bytes one = bytes("1");
    const hf_bytes two = bytes("2");
    hf_buffer current = HF_BUFFER_INIT;

    put_value(f->client, string_key, one, 0);
    expect_status(HF_CONFLICT, hf_value_cas(f->client, string_key, &two,
                                            bytes("3"), NULL, &current, ERR));
    assert_buffer(&current, one);
    assert_value(f->client, string_key, one);
    expect_status(HF_OK, hf_value_cas(f->client, string_key, &one, bytes("4"),
                                      NULL, NULL, ERR));
    assert_value(f->client, string_key, bytes("4"));
    expect_status(HF_OK, hf_value_delete(f->client, string_key, ERR));
}

/* "It can also be done by a transaction." */
static bool exchange(fixture *f, bool in_hash, hf_bytes new_value,
                     hf_bytes original)
{
    hf_field one = {field, new_value};
    hf_async tranc = HF_ASYNC_INIT;
    hf_status status;

    expect_status(HF_OK, hf_txn_new(f->client, NULL, &tranc.txn, ERR));
    if (in_hash) {
        expect_status(
            HF_OK, hf_txn_if_field(tranc.txn, hash_key, field, &original, ERR));
        expect_status(HF_OK, hf_hash_put_start(f->client, hash_key, &one, 1,
                                               NULL, &tranc, ERR));
    } else {
        expect_status(HF_OK,
                      hf_txn_if_value(tranc.txn, string_key, original, ERR));
        expect_status(HF_OK,
                      hf_value_set_start(f->client, string_key, new_value, NULL,
                                         NULL, &tranc, ERR));
    }
    status = hf_txn_exec(tranc.txn, ERR);
    hf_txn_free(tranc.txn);
    return status == HF_OK;
}

TEST(compare_and_exchange_by_a_transaction)
{
    fixture *f = *state;

    put_value(f->client, string_key, bytes("1"), 0);
    assert_false(exchange(f, false, bytes("3"), bytes("2")));
    assert_value(f->client, string_key, bytes("1"));
    assert_true(exchange(f, false, bytes("4"), bytes("1")));
    assert_value(f->client, string_key, bytes("4"));
    expect_status(HF_OK, hf_value_delete(f->client, string_key, ERR));
    put_hash(f->client, hash_key, words("testField", "1"), 0);
    assert_false(exchange(f, true, bytes("3"), bytes("2")));
    assert_field(f->client, hash_key, field, bytes("1"));
    assert_true(exchange(f, true, bytes("4"), bytes("1")));
    assert_field(f->client, hash_key, field, bytes("4"));
    expect_status(HF_OK, hf_hash_delete(f->client, hash_key, ERR));
}

TEST(hash_compare_and_exchange_by_the_articles_script)
{
    fixture *f = *state;
    hf_script *script = fixture_script(f, f->client, hash_cas);
    const hf_bytes to_3_if_2[] = {field, bytes("2"), bytes("3")};
    const hf_bytes to_4_if_1[] = {field, bytes("1"), bytes("4")};

    put_hash(f->client, hash_key, words("testField", "1"), 0);
    assert_true(run(script, hash_key, to_3_if_2, 3) == 0);
    assert_field(f->client, hash_key, field, bytes("1"));
    assert_true(run(script, hash_key, to_4_if_1, 3) == 1);
    assert_field(f->client, hash_key, field, bytes("4"));
    expect_status(HF_OK, hf_hash_delete(f->client, hash_key, ERR));
}

TEST(hash_compare_and_exchange_by_hash_cas)
{
    fixture *f = *state;
    const hf_bytes one = bytes("1");
    const hf_bytes two = bytes("2");
    hf_buffer current = HF_BUFFER_INIT;

    put_hash(f->client, hash_key, words("testField", "1"), 0);
    expect_status(HF_CONFLICT, hf_hash_cas(f->client, hash_key, field, &two,
                                           bytes("3"), NULL, &current, ERR));
    assert_buffer(&current, one);
    assert_field(f->client, hash_key, field, one);
    expect_status(HF_OK, hf_hash_cas(f->client, hash_key, field, &one,
                                     bytes("4"), NULL, NULL, ERR));
    assert_field(f->client, hash_key, field, bytes("4"));
    expect_status(HF_OK, hf_hash_delete(f->client, hash_key, ERR));
}

/* The asynchronous extension methods. */
TEST(string_compare_and_exchange_async)
{
    fixture *f = *state;
    const hf_bytes one = bytes("1");
    const hf_bytes two = bytes("2");

    put_value(f->client, string_key, one, 0);
    expect_told(HF_CONFLICT, f->client,
                hf_value_cas_start(f->client, string_key, &two, bytes("3"),
                                   NULL, NULL, &async, ERR));
    assert_value(f->client, string_key, one);
    expect_told(HF_OK, f->client,
                hf_value_cas_start(f->client, string_key, &one, bytes("4"),
                                   NULL, NULL, &async, ERR));
    assert_value(f->client, string_key, bytes("4"));
    expect_status(HF_OK, hf_value_delete(f->client, string_key, ERR));
}

TEST(hash_compare_and_exchange_async)
{
    fixture *f = *state;
    const hf_bytes one = bytes("1");
    const hf_bytes two = bytes("2");

    put_hash(f->client, hash_key, words("testField", "1"), 0);
    expect_told(HF_CONFLICT, f->client,
                hf_hash_cas_start(f->client, hash_key, field, &two, bytes("3"),
                                  NULL, NULL, &async, ERR));
    assert_field(f->client, hash_key, field, one);
    expect_told(HF_OK, f->client,
                hf_hash_cas_start(f->client, hash_key, field, &one, bytes("4"),
                                  NULL, NULL, &async, ERR));
    assert_field(f->client, hash_key, field, bytes("4"));
    expect_status(HF_OK, hf_hash_delete(f->client, hash_key, ERR));
}

/* The article's script loses the key's expiry; hf_value_cas() keeps it. */
TEST(value_cas_keeps_the_expiry_that_the_script_loses)
{
    fixture *f = *state;
    hf_script *script = fixture_script(f, f->client, string_cas);
    const hf_bytes one = bytes("1");
    const hf_bytes to_4_if_1[] = {bytes("1"), bytes("4")};

    put_value(f->client, string_key, one, 60000);
    assert_true(run(script, string_key, to_4_if_1, 2) == 1);
    assert_no_ttl(f->client, string_key);
    put_value(f->client, string_key, one, 60000);
    expect_status(HF_OK, hf_value_cas(f->client, string_key, &one, bytes("4"),
                                      NULL, NULL, ERR));
    assert_ttl(f->client, string_key, 60000);
    expect_status(HF_OK, hf_value_delete(f->client, string_key, ERR));
}
