/* SPDX-License-Identifier: Apache-2.0 */
/*
 * article_3_list_with_timeouts_test.c - the article's list "ptxlist" by its raw
 * commands: items ordered by time, with separate values that hold their
 * content. article_3_timeline_test.c has the same with hf_timeline_*().
 */
#include "holdfast/script.h"
#include "support/store_fixture.h"

static const hf_bytes list = {"ptxlist", 7};

/* zadd ptxlist SCORE KEY -> 1, in the article's order: key4 comes after key5
 * but sorts before it. */
static void add_items(fixture *f)
{
    static const char *const items[][2] = {{"1540458292", "key1"},
                                           {"1540458293", "key2"},
                                           {"1540458294", "key3"},
                                           {"1540458294", "key5"},
                                           {"1540458293", "key4"}};
    hf_script *script = fixture_script(
        f, f->client, "return redis.call('zadd', KEYS[1], ARGV[1], ARGV[2])");

    for (size_t i = 0; i < 5; i++) {
        const hf_bytes args[] = {hf_str(items[i][0]), hf_str(items[i][1])};
        hf_reply *reply = NULL;

        expect_status(HF_OK,
                      hf_script_run(script, &list, 1, args, 2, &reply, ERR));
        assert_true(hf_reply_integer(reply) == 1);
        hf_reply_free(reply);
    }
}

/* set ptx:key1 data1 ... */
static void add_contents(fixture *f)
{
    static const char *const contents[][2] = {{"ptx:key1", "data1"},
                                              {"ptx:key2", "data2"},
                                              {"ptx:key3", "data3"},
                                              {"ptx:key4", "data4"},
                                              {"ptx:key5", "data5"}};

    for (size_t i = 0; i < 5; i++) {
        put_value(f->client, hf_str(contents[i][0]), hf_str(contents[i][1]),
                  12 * 3600 * 1000);
    }
}

/* Run a command given as separate words, with the list as its key, and check
 * the list that it returns. */
static void assert_answer(fixture *f, const char *const *command,
                          const char *const *wanted)
{
    hf_script *script = fixture_script(
        f, f->client, "return redis.call(ARGV[1], KEYS[1], unpack(ARGV, 2))");
    hf_bytes args[16];
    hf_reply *reply = NULL;
    size_t count = 0;

    for (; command[count] != NULL; count++) {
        args[count] = hf_str(command[count]);
    }
    expect_status(HF_OK,
                  hf_script_run(script, &list, 1, args, count, &reply, ERR));
    for (count = 0; wanted[count] != NULL; count++) {
        assert_bytes(hf_str(wanted[count]),
                     hf_reply_bytes(hf_reply_at(reply, count)));
    }
    assert_int_equal(hf_reply_count(reply), count);
    hf_reply_free(reply);
}

TEST(items_are_ordered_by_time_and_cut_by_time)
{
    fixture *f = *state;
    hf_script *cut = fixture_script(
        f, f->client,
        "return redis.call('zremrangebyscore', KEYS[1], 0, 1540458293)");
    hf_reply *reply = NULL;

    add_items(f);
    assert_answer(f, words("zrange", "0", "-1"),
                  words("key1", "key2", "key4", "key3", "key5"));
    expect_status(HF_OK, hf_script_run(cut, &list, 1, NULL, 0, &reply, ERR));
    assert_true(hf_reply_integer(reply) == 3);
    hf_reply_free(reply);
    assert_answer(f, words("zrange", "0", "-1"), words("key3", "key5"));
}

TEST(newest_two_items_with_their_contents)
{
    fixture *f = *state;

    add_items(f);
    add_contents(f);
    assert_answer(f,
                  words("sort", "limit", "0", "2", "desc", "by",
                        "not-exist-key", "get", "ptx:*"),
                  words("data5", "data3"));
}

/* lpush and set ... ex: the first attempt, whose list keeps what has expired.
 */
TEST(list_and_values_drift_apart)
{
    fixture *f = *state;

    assert_answer(f, words("lpush", "1"), words(NULL));
    put_value(f->client, bytes("ptx1"), bytes("data1"), 30);
    assert_answer(f, words("lpush", "2"), words(NULL));
    put_value(f->client, bytes("ptx2"), bytes("data2"), 12 * 3600 * 1000);
    expect_soon(key_is_gone(f->client, bytes("ptx1")), 1000);
    assert_answer(f, words("sort", "by", "not-exist-key", "get", "ptx*"),
                  words("data2", ""));
    assert_answer(f, words("lrange", "0", "-1"), words("2", "1"));
}

/* Each test begins without the list. */
static int open_without_list(void **state)
{
    fixture *f = *state;
    hf_script *script;
    hf_reply *reply = NULL;

    if (fixture_open(state) != 0) {
        return -1;
    }
    script = fixture_script(f, f->client, "return redis.call('del', KEYS[1])");
    expect_status(HF_OK, hf_script_run(script, &list, 1, NULL, 0, &reply, ERR));
    hf_reply_free(reply);
    return 0;
}

EACH_TEST_WITH(open_without_list, fixture_close);
ALL_TESTS_WITH(fixture_start, fixture_stop);
