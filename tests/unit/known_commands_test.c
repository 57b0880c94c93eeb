/* SPDX-License-Identifier: Apache-2.0 */
/*
 * known_commands_test.c - the table of commands says what a real server says.
 */
#include "redis_driver.h"

#include "store/known_commands.h"

ALL_TESTS_WITH(driver_set_up, driver_tear_down);

static bool has_flag(const hf_reply *flags, const char *flag)
{
    for (size_t i = 0; i < hf_reply_count(flags); i++) {
        if (strcmp(hf_reply_bytes(hf_reply_at(flags, i)).data, flag) == 0)
            return true;
    }
    return false;
}

/* One row of COMMAND: name, arity, flags, first, last, step. */
static void compare_row(const hf_reply *row, const hf__known_command *known)
{
    const char *name = hf_reply_bytes(hf_reply_at(row, 0)).data;
    const hf_reply *flags = hf_reply_at(row, 2);
    bool reads = (known->flags & HF__KNOWN_READS) != 0;

    if (has_flag(flags, "write") && reads)
        fail_msg("%s writes", name);
    if (has_flag(flags, "readonly") && !reads)
        fail_msg("%s only reads", name);
    if (has_flag(flags, "movablekeys") ||
        hf_reply_integer(hf_reply_at(row, 3)) == 0 ||
        (known->flags & HF__KNOWN_BINDS) != 0)
        return;
    if (hf_reply_integer(hf_reply_at(row, 3)) != known->first ||
        hf_reply_integer(hf_reply_at(row, 4)) != known->last ||
        hf_reply_integer(hf_reply_at(row, 5)) != known->step)
        fail_msg("%s has its keys elsewhere", name);
}

TEST(known_commands_are_those_of_the_server)
{
    driver_fixture *self = *state;
    size_t count = 0;
    test_call call;

    assert_int_equal(RUN(&self->driver, &call, "COMMAND"), HF_OK);
    for (size_t i = 0; i < hf_reply_count(&call.request.reply); i++) {
        const hf_reply *row = hf_reply_at(&call.request.reply, i);
        const hf__known_command *known =
            hf__known_find(hf_reply_bytes(hf_reply_at(row, 0)));

        if (known == NULL)
            continue;
        count++;
        compare_row(row, known);
    }
    assert_true(count >= 240); /* those of Redis 7.0 */
    call_end(&call);
}

/* The words that the table takes for keys. */
static size_t keys_of(const char *const *texts, hf_bytes *found)
{
    hf_bytes words[WORDS_MAX];
    hf__key_words keys;
    size_t count = 0;
    size_t at = 0;

    while (texts[count] != NULL) {
        words[count] = hf_str(texts[count]);
        count++;
    }
    hf__known_keys(hf__known_find(words[0]), words, count, &keys);
    count = 0;
    for (at = hf__key_words_begin(&keys); at != 0;
         at = hf__key_words_next(&keys, at))
        found[count++] = words[at];
    return count;
}

static bool has(const hf_reply *list, hf_bytes key)
{
    for (size_t i = 0; i < hf_reply_count(list); i++) {
        hf_bytes one = hf_reply_bytes(hf_reply_at(list, i));

        if (one.size == key.size && memcmp(one.data, key.data, key.size) == 0)
            return true;
    }
    return false;
}

/* The same as COMMAND GETKEYS says; `words` has that before the command. */
static void compare_keys(driver_fixture *self, const char *const *words)
{
    hf_bytes found[WORDS_MAX];
    size_t count = keys_of(words + 2, found);
    test_call call;

    call_init(&call, ENOUGH_MS, words);
    if (call_perform(&self->driver, &call) != HF_OK)
        fail_msg("%s: %s", words[2], call.request.error.message);
    assert_int_equal(hf_reply_count(&call.request.reply), count);
    for (size_t i = 0; i < count; i++)
        assert_true(has(&call.request.reply, found[i]));
    call_end(&call);
}

#define SAME_KEYS(...)                                                         \
    compare_keys(*state, (const char *const[]){"COMMAND", "GETKEYS",           \
                                               __VA_ARGS__, NULL})

TEST(keys_among_words_are_those_of_the_server)
{
    SAME_KEYS("get", "a");
    SAME_KEYS("MSET", "a", "1", "b", "2");
    SAME_KEYS("DEL", "a", "b", "c");
    SAME_KEYS("RENAME", "a", "b");
    SAME_KEYS("BITOP", "AND", "d", "a", "b");
    SAME_KEYS("OBJECT", "ENCODING", "a");
    SAME_KEYS("EVAL", "return 1", "2", "a", "b", "c");
    SAME_KEYS("ZUNION", "2", "a", "b", "WITHSCORES");
    SAME_KEYS("ZUNIONSTORE", "d", "2", "a", "b");
    SAME_KEYS("LMPOP", "1", "a", "LEFT");
    SAME_KEYS("SORT", "a", "BY", "store", "STORE", "d");
    SAME_KEYS("SORT", "a", "GET", "STORE");
    SAME_KEYS("XREAD", "STREAMS", "a", "b", "0", "0");
    SAME_KEYS("XREADGROUP", "GROUP", "streams", "block", "STREAMS", "a", "0");
    SAME_KEYS("XGROUP", "CREATE", "a", "g", "$");
}

TEST(keys_of_few_words_stay_among_them)
{
    const char *const names[] = {"GET",  "EVAL", "BITOP",      "OBJECT",
                                 "SORT", "MSET", "GEORADIUS",  "XREAD",
                                 "none", "PING", "ZUNIONSTORE"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *const words[] = {names[i], NULL};
        hf_bytes found[WORDS_MAX];

        assert_int_equal(keys_of(words, found), 0);
    }
}

static bool binds(const char *first, const char *second)
{
    const hf_bytes words[] = {hf_str(first), hf_str(second)};

    return hf__known_binds(hf__known_find(words[0]), words, 2);
}

TEST(commands_that_bind_a_connection_are_known)
{
    assert_true(binds("subscribe", "c"));
    assert_true(binds("Client", "Reply"));
    assert_false(binds("BLPOP", "k"));
    assert_false(binds("XREAD", "STREAMS"));
    assert_false(binds("CLIENT", "LIST"));
    assert_false(binds("GET", "k"));
    assert_false(binds("none", "k"));
}

static int64_t wait_of(const char *const *texts)
{
    hf_bytes words[WORDS_MAX];
    size_t count = 0;

    for (; texts[count] != NULL; count++)
        words[count] = hf_str(texts[count]);
    return hf__known_wait_ms(hf__known_find(words[0]), words, count);
}

#define WAIT_OF(...) wait_of((const char *const[]){__VA_ARGS__, NULL})

TEST(times_that_commands_wait_are_known)
{
    assert_int_equal(WAIT_OF("BLPOP", "k", "l", "5"), 5000);
    assert_int_equal(WAIT_OF("bzpopmin", "k", "0.25"), 250);
    assert_int_equal(WAIT_OF("BRPOP", "k", "0.0001"), 1);
    assert_int_equal(WAIT_OF("BLMOVE", "k", "l", "LEFT", "LEFT", "1.5"), 1500);
    assert_int_equal(WAIT_OF("BLMPOP", "2.", "1", "k", "LEFT"), 2000);
    assert_int_equal(WAIT_OF("XREAD", "BLOCK", "70", "STREAMS", "s", "$"), 70);
    assert_int_equal(WAIT_OF("XREADGROUP", "GROUP", "block", "c", "BLOCK", "9",
                             "STREAMS", "s", ">"),
                     9);
    assert_int_equal(WAIT_OF("XREAD", "STREAMS", "BLOCK", "9"), 0);
    assert_int_equal(WAIT_OF("LPOP", "k", "5"), 0);
    assert_int_equal(WAIT_OF("none", "k", "5"), 0);
    assert_int_equal(WAIT_OF("BLPOP"), 0);
    assert_int_equal(WAIT_OF("BLPOP", "k", "0"), INT64_MAX);
    assert_int_equal(WAIT_OF("BLPOP", "k", "1e3"), INT64_MAX);
    assert_int_equal(WAIT_OF("BLPOP", "k", "-1"), INT64_MAX);
    assert_int_equal(WAIT_OF("BLPOP", "k", "9223372036854775807"), INT64_MAX);
    assert_int_equal(WAIT_OF("BLPOP", "k", "."), INT64_MAX);
}

static bool reads_new(const char *const *texts)
{
    hf_bytes words[WORDS_MAX];
    size_t count = 0;

    for (; texts[count] != NULL; count++)
        words[count] = hf_str(texts[count]);
    return hf__known_reads_new(hf__known_find(words[0]), words, count);
}

#define READS_NEW(...) reads_new((const char *const[]){__VA_ARGS__, NULL})

TEST(reads_of_what_is_new_are_known)
{
    assert_true(
        READS_NEW("XREAD", "BLOCK", "0", "STREAMS", "s", "t", "5-1", "$"));
    assert_false(READS_NEW("XREAD", "BLOCK", "0", "STREAMS", "$", "0"));
    assert_false(READS_NEW("XREAD", "BLOCK", "$"));
    assert_false(READS_NEW("XREADGROUP", "GROUP", "g", "c", "BLOCK", "0",
                           "STREAMS", "s", ">"));
    assert_false(READS_NEW("BLPOP", "$", "0"));
}

static bool confined(const char *const *texts)
{
    hf_bytes words[WORDS_MAX];
    size_t count = 0;

    for (; texts[count] != NULL; count++)
        words[count] = hf_str(texts[count]);
    return hf__known_is_confined(hf__known_find(words[0]), words, count);
}

#define CONFINED(...) confined((const char *const[]){__VA_ARGS__, NULL})

TEST(commands_confined_to_their_keys_are_known)
{
    assert_true(CONFINED("GET", "k"));
    assert_true(CONFINED("PING"));
    assert_true(CONFINED("EVAL", "return 1", "0"));
    assert_true(CONFINED("SORT", "k", "ALPHA"));
    assert_false(CONFINED("SORT", "k", "GET", "other"));
    assert_false(CONFINED("KEYS", "*"));
    assert_false(CONFINED("FLUSHALL"));
    assert_false(CONFINED("MIGRATE", "h", "1", "k", "0", "1"));
    assert_false(CONFINED("none", "k"));
}
