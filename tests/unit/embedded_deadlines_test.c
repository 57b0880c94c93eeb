/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_deadlines_test.c - fields of hashes with deadlines: a field whose
 * deadline has passed exists for no command, neither of a reader nor of a
 * writer, and its records are deleted later.
 */
#include "embedded_store.h"

#include "holdfast/store.h"

#define MANY 1000

static place at;

static int set_up_volatile(void **state)
{
    (void)state;
    make_place(&at, "volatile", "?max_size=32M");
    at.store = must_open(at.url, NULL);
    return 0;
}

static int set_up_durable(void **state)
{
    (void)state;
    make_place(&at, "file", "?max_size=32M");
    at.store = must_open(at.url, NULL);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    if (at.store != NULL)
        expect_no_faults(&at);
    remove_place(&at);
    return 0;
}

EACH_TEST_WITH(set_up_volatile, tear_down);

#define BOTH_STORES_TEST(name)                                                 \
    TEST_VARIANT(name, _volatile, set_up_volatile, tear_down);                 \
    TEST_VARIANT(name, _durable, set_up_durable, tear_down);                   \
    TEST_FUNCTION(name)

static void wait_ms(int64_t ms)
{
    hf__clock_sleep_until(hf__clock_boot_ms() + ms + 1);
}

/* By a reader, or by a script, which is a writer. */
static void expect_both(const char *words, const char *reply)
{
    char text[TEXT_SIZE];

    expect(at.store, words, reply);
    assert_int_equal(
        evaluate(at.store, "return redis.call(unpack(ARGV))", 0, words, text),
        HF_OK);
    assert_string_equal(text, reply);
}

/* In one transaction no time passes. */
static void expect_script(const char *source, const char *reply)
{
    char text[TEXT_SIZE];

    (void)evaluate(at.store, source, 0, "", text);
    assert_string_equal(text, reply);
}

static void expect_no_field(void)
{
    expect(at.store, "hget h f", "nil");
    expect(at.store, "hmget h f g", "[nil, s:2]");
    expect(at.store, "hgetall h", "[s:g, s:2]");
    expect(at.store, "hkeys h", "[s:g]");
    expect(at.store, "hvals h", "[s:2]");
    expect(at.store, "hlen h", "i:1");
    expect(at.store, "hexists h f", "i:0");
    expect(at.store, "hstrlen h f", "i:0");
    expect(at.store, "hscan h 0", "[s:0, [s:g, s:2]]");
    expect(at.store, "hrandfield h 5", "[s:g]");
    expect(at.store, "hpttl h fields 2 f g", "[i:-2, i:-1]");
    expect(at.store, "hpexpiretime h fields 1 f", "[i:-2]");
}

BOTH_STORES_TEST(expired_field_exists_for_no_command)
{
    expect_script("redis.call('hset', 'h', 'f', 1, 'g', 2)\n"
                  "local set = redis.call('hpexpire', 'h', 30, 'fields', 2, "
                  "'f', 'none')\n"
                  "return {set, redis.call('hget', 'h', 'f'), "
                  "redis.call('hlen', 'h')}",
                  "[[i:1, i:-2], s:1, i:2]");
    wait_ms(30);
    expect_no_field(); /* before anything was written */
    expect(at.store, "hpersist h fields 1 f", "[i:-2]");
    expect_no_field();
    expect(at.store, "hdel h f", "i:0");
    expect(at.store, "hset h f 3", "i:1");
    expect(at.store, "hpttl h fields 1 f", "[i:-1]");
}

BOTH_STORES_TEST(key_vanishes_with_its_last_field)
{
    expect(at.store, "set other 1", "+:OK");
    expect_script("redis.call('hset', 'h', 'f', 1, 'g', 2)\n"
                  "redis.call('hpexpire', 'h', 20, 'fields', 1, 'f')\n"
                  "redis.call('hpexpire', 'h', 40, 'fields', 1, 'g')\n"
                  "return redis.call('ttl', 'h')",
                  "i:-1");
    wait_ms(40);
    expect_both("exists h", "i:0");
    expect_both("type h", "+:none");
    expect(at.store, "keys *", "[s:other]");
    expect(at.store, "scan 0", "[s:0, [s:other]]");
    expect(at.store, "dbsize", "i:1");
    expect(at.store, "randomkey", "s:other");
    expect(at.store, "hlen h", "i:0");
    expect(at.store, "hset h x 1", "i:1");
    expect(at.store, "hgetall h", "[s:x, s:1]");
}

TEST(removing_the_last_field_in_the_past_removes_the_key)
{
    expect(at.store, "hset h f 1 g 2", "i:2");
    expect(at.store, "hpexpireat h 1 fields 1 f", "[i:2]");
    expect(at.store, "hpexpire h 0 fields 1 g", "[i:2]");
    expect(at.store, "exists h", "i:0");
    /* Those that have a deadline which passed do not keep it either. */
    expect(at.store, "hset h f 1 g 2", "i:2");
    expect(at.store, "hpexpire h 20 fields 1 f", "[i:1]");
    wait_ms(20);
    expect(at.store, "hdel h g", "i:1");
    expect(at.store, "exists h", "i:0");
}

TEST(writes_keep_or_clear_a_deadline)
{
    expect(at.store, "hset h f 1 g 2 x 3", "i:3");
    expect(at.store, "hexpireat h 4102444800 fields 3 f g x",
           "[i:1, i:1, i:1]");
    expect(at.store, "hset h f 5", "i:0");
    expect(at.store, "hincrby h g 5", "i:7");
    expect(at.store, "hincrbyfloat h x 0.5", "s:3.5");
    expect(at.store, "hexpiretime h fields 3 f g x",
           "[i:-1, i:4102444800, i:4102444800]");
    expect(at.store, "hpersist h fields 2 g f", "[i:1, i:-1]");
    expect(at.store, "hsetnx h g 1", "i:0");
    expect(at.store, "hdel h x", "i:1");
    expect(at.store, "hset h x 1", "i:1");
    expect(at.store, "httl h fields 3 f g x", "[i:-1, i:-1, i:-1]");
}

TEST(increment_of_an_expired_field_begins_at_zero)
{
    expect(at.store, "hset h f 7 g 2", "i:2");
    expect(at.store, "hpexpire h 20 fields 1 f", "[i:1]");
    wait_ms(20);
    expect(at.store, "hincrby h f 1", "i:1");
    expect(at.store, "hpttl h fields 1 f", "[i:-1]");
}

TEST(copies_and_renamed_keys_have_the_deadlines)
{
    expect(at.store, "hset h f 1 g 2", "i:2");
    expect(at.store, "hexpireat h 4102444800 fields 1 f", "[i:1]");
    expect(at.store, "copy h i", "i:1");
    expect(at.store, "rename h j", "+:OK");
    expect(at.store, "hexpiretime i fields 2 f g", "[i:4102444800, i:-1]");
    expect(at.store, "hexpiretime j fields 2 f g", "[i:4102444800, i:-1]");
    expect(at.store, "del j", "i:1");
    expect(at.store, "hexpiretime i fields 2 f g", "[i:4102444800, i:-1]");
    expect(at.store, "hgetall i", "[s:f, s:1, s:g, s:2]");
}

static void note_records(void *user, const char *name, const char *value)
{
    if (strcmp(name, "records") == 0)
        *(long *)user = strtol(value, NULL, 10);
}

static long count_records(void)
{
    long records = -1;

    hf__embedded_store_ops.describe(at.store, note_records, &records);
    return records;
}

static const char fill[] =
    "for i = 1, 1000 do redis.call('hset', 'h', 'f' .. i, i)\n"
    "redis.call('hpexpire', 'h', 150, 'fields', 1, 'f' .. i) end\n"
    "redis.call('hset', 'h', 'stays', 1) return redis.call('hlen', 'h')";

BOTH_STORES_TEST(many_are_invisible_at_once_and_reclaimed_later)
{
    expect_script(fill, "i:1001");
    assert_true(count_records() > 3 * MANY);
    wait_ms(150);
    expect(at.store, "hlen h", "i:1");
    expect(at.store, "hgetall h", "[s:stays, s:1]");
    expect_both("hlen h", "i:1");
    expect_both("hrandfield h", "s:stays");
    /* Writes of other keys delete them. */
    for (int i = 0; i < 3000 && count_records() > 10; i++) {
        expect(at.store, "set other 1", "+:OK");
        wait_ms(i % 20 == 0 ? 10 : 0);
    }
    assert_true(count_records() <= 10);
    expect(at.store, "hgetall h", "[s:stays, s:1]");
}

static void note_format(void *user, const char *name, const char *value)
{
    if (strcmp(name, "format") == 0)
        *(long *)user = strtol(value, NULL, 10);
}

TEST_WITH(only_a_store_with_deadlines_has_the_new_format, set_up_durable,
          tear_down)
{
    long format = 0;

    expect(at.store, "hset h f 1", "i:1");
    hf__embedded_store_ops.describe(at.store, note_format, &format);
    assert_int_equal(format, 1);
    expect(at.store, "hexpireat h 4102444800 fields 1 f", "[i:1]");
    hf__embedded_store_ops.describe(at.store, note_format, &format);
    assert_int_equal(format, 2);
    close_store(at.store);
    at.store = must_open(at.url, NULL);
    expect(at.store, "hexpiretime h fields 1 f", "[i:4102444800]");
    expect(at.store, "flushall", "+:OK");
    hf__embedded_store_ops.describe(at.store, note_format, &format);
    assert_int_equal(format, 1);
}

TEST(wrong_words_are_refused)
{
    expect(at.store, "set s 1", "+:OK");
    expect(at.store, "hpexpire s 1 fields 1 f",
           "WRONGTYPE Operation against a key holding the wrong kind of "
           "value");
    expect(at.store, "hpexpire h x fields 1 f",
           "value is not an integer or out of range");
    expect(at.store, "hpexpire h -1 fields 1 f",
           "invalid expire time, must be >= 0");
    expect(at.store, "hpexpireat h 70368744177664 fields 1 f",
           "invalid expire time in 'hpexpireat' command");
    expect(at.store, "hpexpire h 1 nx xx 1 f",
           "Mandatory argument FIELDS is missing or not at the right "
           "position");
    expect(at.store, "hpexpire h 1 fields 0 f",
           "Parameter `numFields` should be greater than 0");
    expect(at.store, "httl h fields 0 f",
           "Number of fields must be a positive integer");
    expect(at.store, "hpersist h fields 2 f",
           "The `numfields` parameter must match the number of "
           "arguments");
    expect(at.store, "hpexpire h 1 fields 1 f", "[i:-2]");
    expect(at.store, "exists h", "i:0");
}
