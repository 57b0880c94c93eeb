/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_zset_range_test.c - ranges of sorted sets, and sets made of several:
 * replies and error texts as recorded from redis-server 7.0.15, in this order,
 * and behaviour that only shows with large ones.
 */
#include "embedded_store.h"

static const struct {
    const char *line;
    const char *want;
} rows[] = {
    /* clang-format off */
    {"zadd z 0 a 0 b 0 c 0 d 0 e", "i:5"},
    {"zrangebylex z - +", "[s:a, s:b, s:c, s:d, s:e]"},
    {"zrangebylex z + -", "[]"},
    {"zrangebylex z [b [d", "[s:b, s:c, s:d]"},
    {"zrangebylex z (b [d", "[s:c, s:d]"},
    {"zrangebylex z (b (d", "[s:c]"},
    {"zrangebylex z [b (d", "[s:b, s:c]"},
    {"zrangebylex z (b (b", "[]"},
    {"zrangebylex z [b [b", "[s:b]"},
    {"zrangebylex z [bb [cc", "[s:c]"},
    {"zrangebylex z - [c limit 1 1", "[s:b]"},
    {"zrangebylex z - + limit 1 -1", "[s:b, s:c, s:d, s:e]"},
    {"zrangebylex z - + limit -1 2", "[]"},
    {"zrangebylex z - + limit 9 2", "[]"},
    {"zrangebylex z - + limit 1 0", "[]"},
    {"zrangebylex z - + limit x 0", "value is not an integer or out of range"},
    {"zrangebylex z - + limit 1", "syntax error"},
    {"zrangebylex z - + withscores", "syntax error, WITHSCORES not supported in combination with BYLEX"},
    {"zrangebylex z - + rev", "syntax error"},
    {"zrangebylex z b d", "min or max not valid string range item"},
    {"zrangebylex z \"\" +", "min or max not valid string range item"},
    {"zrangebylex z [ +", "[s:a, s:b, s:c, s:d, s:e]"},
    {"zrangebylex z --", "wrong number of arguments for 'zrangebylex' command"},
    {"zrangebylex z -- +", "min or max not valid string range item"},
    {"zrangebylex z - +x", "min or max not valid string range item"},
    {"zrangebylex none - +", "[]"},
    {"zrevrangebylex z + -", "[s:e, s:d, s:c, s:b, s:a]"},
    {"zrevrangebylex z [d (b", "[s:d, s:c]"},
    {"zrevrangebylex z + [c limit 1 1", "[s:d]"},
    {"zrevrangebylex z - +", "[]"},
    {"zrevrangebylex z d b", "min or max not valid string range item"},
    {"zrange z [b [d bylex", "[s:b, s:c, s:d]"},
    {"zrange z [d [b bylex rev", "[s:d, s:c, s:b]"},
    {"zrange z [b + bylex limit 1 2", "[s:c, s:d]"},
    {"zrange z - + bylex withscores", "syntax error, WITHSCORES not supported in combination with BYLEX"},
    {"zrange z - + byscore bylex", "syntax error"},
    {"zrange z - + bylex bylex", "syntax error"},
    {"zlexcount z - +", "i:5"},
    {"zlexcount z [b (d", "i:2"},
    {"zlexcount z + -", "i:0"},
    {"zlexcount z b d", "min or max not valid string range item"},
    {"zlexcount none - +", "i:0"},
    /* Several scores: from the first that is not below to the next above. */
    {"zadd mixed 1 c 2 a 3 d 4 b 5 e", "i:5"},
    {"zrangebylex mixed [b [d", "[s:c, s:a, s:d, s:b]"},
    {"zrangebylex mixed [c [c", "[s:c, s:a]"},
    {"zrangebylex mixed (c +", "[s:d, s:b, s:e]"},
    {"zrangebylex mixed - [b", "[]"},
    {"zrangebylex mixed - [c limit 1 3", "[s:a]"},
    {"zrevrangebylex mixed [d [b", "[s:b, s:d]"},
    {"zlexcount mixed [b [d", "i:4"},
    /* ZREMRANGEBY... */
    {"zremrangebylex z [b (d", "i:2"},
    {"zrange z 0 -1", "[s:a, s:d, s:e]"},
    {"zremrangebylex z a b", "min or max not valid string range item"},
    {"zremrangebylex none - +", "i:0"},
    {"zremrangebylex z - +", "i:3"},
    {"exists z", "i:0"},
    {"zadd z 1 a 2 b 3 c 4 d 5 e", "i:5"},
    {"zremrangebyrank z 1 x", "value is not an integer or out of range"},
    {"zremrangebyrank z 1 2", "i:2"},
    {"zrange z 0 -1", "[s:a, s:d, s:e]"},
    {"zremrangebyrank z -1 -1", "i:1"},
    {"zremrangebyrank z 5 9", "i:0"},
    {"zremrangebyrank z 1 0", "i:0"},
    {"zremrangebyrank z -100 0", "i:1"},
    {"zremrangebyrank none 0 -1", "i:0"},
    {"zremrangebyrank z 0 -1", "i:1"},
    {"exists z", "i:0"},
    /* ZRANGESTORE */
    {"zadd z 1 a 2 b 3 c 4 d 5 e", "i:5"},
    {"zrangestore to z 0 -1", "i:5"},
    {"zrange to 0 -1 withscores", "[s:a, s:1, s:b, s:2, s:c, s:3, s:d, s:4, s:e, s:5]"},
    {"zrangestore to z 0 1 rev", "i:2"},
    {"zrange to 0 -1", "[s:d, s:e]"},
    {"zrangestore to z (1 3 byscore", "i:2"},
    {"zrange to 0 -1", "[s:b, s:c]"},
    {"zrangestore to z +inf -inf byscore rev limit 1 2", "i:2"},
    {"zrange to 0 -1", "[s:c, s:d]"},
    {"zrangestore to z [b [d bylex", "i:3"},
    {"zrange to 0 -1", "[s:b, s:c, s:d]"},
    {"zrangestore to z 0 -1 withscores", "syntax error"},
    {"zrangestore to z 0 -1 limit 0 1", "syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX"},
    {"zrangestore to z a b", "value is not an integer or out of range"},
    {"zrangestore to z a b byscore", "min or max is not a float"},
    {"zrangestore to z a b bylex", "min or max not valid string range item"},
    {"zrangestore to z 5 1", "i:0"},
    {"exists to", "i:0"},
    {"zrangestore z z 1 2", "i:2"},
    {"zrange z 0 -1", "[s:b, s:c]"},
    {"set s x ex 100", "+:OK"},
    {"zrangestore s z 0 -1", "i:2"},
    {"ttl s", "i:-1"},
    {"type s", "+:zset"},
    {"zrangestore to none 0 -1", "i:0"},
    {"zrangestore to z 0", "wrong number of arguments for 'zrangestore' command"},
    /* ZMSCORE, ZRANDMEMBER, ZSCAN */
    {"zmscore z a b c", "[nil, s:2, s:3]"},
    {"zmscore none a b", "[nil, nil]"},
    {"zmscore z", "wrong number of arguments for 'zmscore' command"},
    {"zrandmember none", "nil"},
    {"zrandmember none 3", "[]"},
    {"zadd one 1.5 m", "i:1"},
    {"zrandmember one", "s:m"},
    {"zrandmember one 3", "[s:m]"},
    {"zrandmember one 3 withscores", "[s:m, s:1.5]"},
    {"zrandmember one -2", "[s:m, s:m]"},
    {"zrandmember one -2 withscores", "[s:m, s:1.5, s:m, s:1.5]"},
    {"zrandmember one 0", "[]"},
    {"zrandmember one x", "value is not an integer or out of range"},
    {"zrandmember one 1 foo", "syntax error"},
    {"zrandmember one 1 withscores x", "syntax error"},
    {"zrandmember one -9223372036854775808", "value is out of range, value must between -9223372036854775807 and 9223372036854775807"},
    {"zrandmember one 9223372036854775807 withscores", "value is out of range"},
    {"zscan one 0", "[s:0, [s:m, s:1.5]]"},
    {"zscan one 0 match x", "[s:0, []]"},
    {"zscan one 0 count 1", "[s:0, [s:m, s:1.5]]"},
    {"zscan one x", "invalid cursor"},
    {"zscan none 0", "[s:0, []]"},
    {"zscan one 0 type zset", "syntax error"},
    {"zscan one 0 withscores", "syntax error"},
    /* ZMPOP */
    {"zmpop 1 none min", "nil"},
    {"zmpop 2 none one min", "[s:one, [[s:m, s:1.5]]]"},
    {"exists one", "i:0"},
    {"zmpop 0 z min", "numkeys should be greater than 0"},
    {"zmpop x z min", "numkeys should be greater than 0"},
    {"zmpop 1 z foo", "syntax error"},
    {"zmpop 2 z min", "syntax error"},
    {"zmpop 1 z", "wrong number of arguments for 'zmpop' command"},
    {"zmpop 1 z min count", "syntax error"},
    {"zmpop 1 z min count 0", "count should be greater than 0"},
    {"zmpop 1 z min count x", "count should be greater than 0"},
    {"zmpop 1 z min count 1 count 1", "syntax error"},
    {"zmpop 1 z min foo 1", "syntax error"},
    {"zmpop 9223372036854775806 z min", "syntax error"},
    {"zadd z 1 a 5 e", "i:2"},
    {"zmpop 1 z MAX COUNT 2", "[s:z, [[s:e, s:5], [s:c, s:3]]]"},
    {"zmpop 1 z min count 100", "[s:z, [[s:a, s:1], [s:b, s:2]]]"},
    {"exists z", "i:0"},
    /* The algebra */
    {"zadd a 1 x 2 y 3 z", "i:3"},
    {"zadd b 10 y 20 z 30 w", "i:3"},
    {"zunion 2 a b", "[s:x, s:y, s:z, s:w]"},
    {"zunion 2 a b withscores", "[s:x, s:1, s:y, s:12, s:z, s:23, s:w, s:30]"},
    {"zunion 2 a b weights 2 0.5 withscores", "[s:x, s:2, s:y, s:9, s:w, s:15, s:z, s:16]"},
    {"zunion 2 a b aggregate min withscores", "[s:x, s:1, s:y, s:2, s:z, s:3, s:w, s:30]"},
    {"zunion 2 a b aggregate max withscores", "[s:x, s:1, s:y, s:10, s:z, s:20, s:w, s:30]"},
    {"zunion 2 a b withscores aggregate sum weights 1 -1", "[s:w, s:-30, s:z, s:-17, s:y, s:-8, s:x, s:1]"},
    {"zunion 2 a a withscores", "[s:x, s:2, s:y, s:4, s:z, s:6]"},
    {"zunion 1 none", "[]"},
    {"zinter 2 a b withscores", "[s:y, s:12, s:z, s:23]"},
    {"zinter 2 a b weights 2 3 withscores", "[s:y, s:34, s:z, s:66]"},
    {"zinter 2 a b aggregate min withscores", "[s:y, s:2, s:z, s:3]"},
    {"zinter 2 a none", "[]"},
    {"zinter 3 a b a withscores", "[s:y, s:14, s:z, s:26]"},
    {"zdiff 2 a b withscores", "[s:x, s:1]"},
    {"zdiff 2 b a", "[s:w]"},
    {"zdiff 1 a", "[s:x, s:y, s:z]"},
    {"zdiff 2 a a", "[]"},
    {"zdiff 2 none a", "[]"},
    {"zdiff 2 a b weights 1 2", "syntax error"},
    {"zdiff 2 a b aggregate sum", "syntax error"},
    {"zintercard 2 a b", "i:2"},
    {"zintercard 2 a b limit 1", "i:1"},
    {"zintercard 2 a b limit 0", "i:2"},
    {"zintercard 2 a b limit -1", "LIMIT can't be negative"},
    {"zintercard 2 a b limit x", "LIMIT can't be negative"},
    {"zintercard 2 a b limit", "syntax error"},
    {"zintercard 2 a b withscores", "syntax error"},
    {"zintercard 2 a b weights 1 1", "syntax error"},
    {"zintercard 0 a", "at least 1 input key is needed for 'zintercard' command"},
    {"zunion 0 a", "at least 1 input key is needed for 'zunion' command"},
    {"zunion x a", "value is not an integer or out of range"},
    {"zunion 3 a b", "syntax error"},
    {"zunion -1 a", "at least 1 input key is needed for 'zunion' command"},
    {"zunion 2 a b weights 1", "syntax error"},
    {"zunion 2 a b weights 1 x", "weight value is not a float"},
    {"zunion 2 a b weights 1 nan", "weight value is not a float"},
    {"zunion 2 a b aggregate foo", "syntax error"},
    {"zunion 2 a b aggregate", "syntax error"},
    {"zunion 2 a b foo", "syntax error"},
    {"zunionstore t 2 a b", "i:4"},
    {"zrange t 0 -1 withscores", "[s:x, s:1, s:y, s:12, s:z, s:23, s:w, s:30]"},
    {"zunionstore t 2 a b withscores", "syntax error"},
    {"zunionstore t 2 a b weights 0 1", "i:4"},
    {"zrange t 0 -1 withscores", "[s:x, s:0, s:y, s:10, s:z, s:20, s:w, s:30]"},
    {"zinterstore t 2 a b aggregate max", "i:2"},
    {"zrange t 0 -1 withscores", "[s:y, s:10, s:z, s:20]"},
    {"zinterstore t 2 a none", "i:0"},
    {"exists t", "i:0"},
    {"zdiffstore t 2 a b", "i:1"},
    {"zrange t 0 -1 withscores", "[s:x, s:1]"},
    {"zdiffstore t 2 a b withscores", "syntax error"},
    {"zunionstore a 2 a b", "i:4"},
    {"zrange a 0 -1 withscores", "[s:x, s:1, s:y, s:12, s:z, s:23, s:w, s:30]"},
    {"zunionstore t 0 a", "at least 1 input key is needed for 'zunionstore' command"},
    {"zinterstore t 0 a", "at least 1 input key is needed for 'zinterstore' command"},
    {"zdiffstore t 0 a", "at least 1 input key is needed for 'zdiffstore' command"},
    {"zadd i inf p -inf q 1 r", "i:3"},
    {"zadd j -inf p inf q 2 r", "i:3"},
    {"zunion 2 i j withscores", "[s:p, s:0, s:q, s:0, s:r, s:3]"},
    {"zunion 1 i weights 0 withscores", "[s:p, s:0, s:q, s:0, s:r, s:0]"},
    {"zinter 2 i j weights 0 1 withscores", "[s:p, s:-inf, s:r, s:2, s:q, s:inf]"},
    {"zinter 2 i j weights 1 0 aggregate min withscores", "[s:q, s:-inf, s:r, s:0, s:p, s:inf]"},
    {"set str x", "+:OK"},
    {"zunion 2 a str", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"zunion 2 str a foo", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"zinter 2 none str", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"zdiff 2 a str", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"zunionstore str 1 a", "i:4"},
    {"type str", "+:zset"},
    {"set str x", "+:OK"},
    {"zinterstore t 2 none str", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"zmpop 2 none str min", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"zmpop 2 j str min", "[s:j, [[s:p, s:-inf]]]"},
    {"zlexcount str - +", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"zrangebylex str - +", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"zremrangebyrank str 0 1", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"zrangestore t str 0 1", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"zmscore str a", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"zrandmember str", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"zscan str 0", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"zadd t 1 z", "i:1"},
    {"zinterstore str 1 t", "i:2"},
    {"zrange str 0 -1 withscores", "[s:x, s:1, s:z, s:1]"},
    /* clang-format on */
};

EACH_TEST_WITH(open_volatile_place, remove_state_place);

TEST(commands_answer_as_redis_does)
{
    place *at = *state;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        expect(at->store, rows[i].line, rows[i].want);
}

/* The bounds are looked up, not scanned for: from every position the range
 * begins and ends where it does in a small set. */
TEST(range_of_members_of_a_large_set)
{
    place *at = *state;
    char line[96], want[96];

    for (int i = 0; i < 400; i++) {
        (void)snprintf(line, sizeof(line), "zadd z 7 member-%03d", i);
        expect(at->store, line, "i:1");
    }
    for (int i = 1; i < 400; i += 13) {
        (void)snprintf(want, sizeof(want), "[s:member-%03d]", i);
        (void)snprintf(line, sizeof(line),
                       "zrangebylex z [member-%03d + limit 0 1", i);
        expect(at->store, line, want);
        (void)snprintf(line, sizeof(line),
                       "zrangebylex z (member-%03d + limit 0 1", i - 1);
        expect(at->store, line, want);
        (void)snprintf(line, sizeof(line),
                       "zrangebylex z [member-%03dx + limit 0 1", i - 1);
        expect(at->store, line, want);
        (void)snprintf(line, sizeof(line),
                       "zrevrangebylex z [member-%03d - limit 0 1", i);
        expect(at->store, line, want);
        (void)snprintf(line, sizeof(line),
                       "zrevrangebylex z (member-%03d - limit 0 1", i + 1);
        expect(at->store, line, want);
        (void)snprintf(line, sizeof(line), "zlexcount z - [member-%03d", i);
        (void)snprintf(want, sizeof(want), "i:%d", i + 1);
        expect(at->store, line, want);
    }
    expect(at->store, "zremrangebylex z [member-010 (member-390", "i:380");
    expect(at->store, "zcard z", "i:20");
    expect(at->store, "zrange z 9 10", "[s:member-009, s:member-390]");
}

/* A bound longer than LMDB's keys. */
TEST(range_of_long_members)
{
    static char bound[701];
    place *at = *state;
    hf_bytes words[] = {hf_view("zrangebylex", 11), hf_view("z", 1),
                        hf_view(bound, sizeof(bound)), hf_view("+", 1)};
    char line[96], text[TEXT_SIZE];

    for (int i = 0; i < 100; i++) {
        (void)snprintf(line, sizeof(line), "zadd z 7 m%02d", i);
        expect(at->store, line, "i:1");
    }
    memset(bound, 'x', sizeof(bound));
    memcpy(bound, "[m97", 4);
    (void)perform(at->store, NULL, words, 4, 0, text);
    assert_string_equal(text, "[s:m98, s:m99]");
    words[0] = hf_view("zrevrangebylex", 14);
    words[3] = hf_view("(m95", 4);
    (void)perform(at->store, NULL, words, 4, 0, text);
    assert_string_equal(text, "[s:m97, s:m96]");
}

#define ALIKE_COUNT 150
#define ALIKE_SIZE 460

/* In byte order: some fit a record's name, some do not. */
static void make_alike(char *name, size_t index)
{
    memset(name, 'a', ALIKE_SIZE);
    (void)snprintf(name + ALIKE_SIZE, 16, "%03zu", index);
    if (index % 3 != 0)
        memset(name + ALIKE_SIZE + 3, 'b', 40);
    name[ALIKE_SIZE + 3 + (index % 3 != 0 ? 40 : 0)] = '\0';
}

static void expect_alike(const hf_reply *reply, size_t first, size_t count,
                         bool backward)
{
    char name[ALIKE_SIZE + 60];

    assert_int_equal(reply->kind, HF_REPLY_ARRAY);
    assert_int_equal(reply->array.count, count);
    for (size_t i = 0; i < count; i++) {
        make_alike(name, backward ? first - i : first + i);
        assert_string_equal(reply->array.items[i].bytes.data, name);
    }
}

static void expect_range(hf__store *store, const char *line, size_t first,
                         size_t count, bool backward)
{
    char copy[TEXT_SIZE];
    hf_bytes words[WORD_MAX];
    hf__request request;

    (void)snprintf(copy, sizeof(copy), "%s", line);
    hf__request_init(&request);
    request.words = words;
    request.word_count = split(copy, words);
    request.deadline_ms = hf__clock_boot_ms() + 5000;
    hf__embedded_store_ops.perform(store, &request);
    assert_int_equal(request.status, HF_OK);
    expect_alike(&request.reply, first, count, backward);
    hf__request_done(&request);
}

/* Members longer than a record's name, equal in all of it. */
TEST(members_that_begin_alike_are_in_order)
{
    place *at = *state;
    char name[ALIKE_SIZE + 60];
    char line[2 * ALIKE_SIZE + 200];
    char want[32];

    for (size_t i = 0; i < ALIKE_COUNT; i++) {
        make_alike(name, i * 67 % ALIKE_COUNT);
        (void)snprintf(line, sizeof(line), "zadd z 1 %s", name);
        expect(at->store, line, "i:1");
    }
    expect_range(at->store, "zrange z 0 -1", 0, ALIKE_COUNT, false);
    expect_range(at->store, "zrange z 0 -1 rev", ALIKE_COUNT - 1, ALIKE_COUNT,
                 true);
    expect_range(at->store, "zrangebyscore z 1 1 limit 7 20", 7, 20, false);
    /* Up to 64 are collected by one walk. */
    expect_range(at->store, "zrangebyscore z 1 1 limit 7 64", 7, 64, false);
    expect_range(at->store, "zrangebyscore z 1 1 limit 7 65", 7, 65, false);
    expect_range(at->store, "zrevrangebyscore z 1 1 limit 7 64",
                 ALIKE_COUNT - 8, 64, true);
    expect_range(at->store, "zrangebyscore z 1 1 limit 120 64", 120,
                 ALIKE_COUNT - 120, false);
    make_alike(name, 40);
    (void)snprintf(line, sizeof(line), "zrangebylex z [%s +", name);
    expect_range(at->store, line, 40, ALIKE_COUNT - 40, false);
    (void)snprintf(line, sizeof(line), "zrevrangebylex z (%s -", name);
    expect_range(at->store, line, 39, 40, true);
    (void)snprintf(line, sizeof(line), "zrank z %s", name);
    expect(at->store, line, "i:40");
    (void)snprintf(line, sizeof(line), "zrevrank z %s", name);
    (void)snprintf(want, sizeof(want), "i:%d", ALIKE_COUNT - 41);
    expect(at->store, line, want);
    expect(at->store, "zadd z 1 a 1 b 0 zero", "i:3");
    expect_range(at->store, "zrange z 2 11", 0, 10, false);
    expect(at->store, "zrange z -1 -1", "[s:b]");
    expect(at->store, "zremrangebyrank z 0 1", "i:2");
    expect(at->store, "zpopmax z", "[s:b, s:1]");
    expect(at->store, "zremrangebyrank z 0 9", "i:10");
    expect_range(at->store, "zrange z 0 4", 10, 5, false);
}

TEST(large_ranges_are_removed_and_stored)
{
    place *at = *state;
    char line[96], want[96];

    for (int i = 0; i < 1000; i++) {
        (void)snprintf(line, sizeof(line), "zadd z %d member-%d", i, i);
        expect(at->store, line, "i:1");
    }
    expect(at->store, "zrangestore y z 100 899", "i:800");
    expect(at->store, "zremrangebyrank z 100 -101", "i:800");
    expect(at->store, "zcard z", "i:200");
    expect(at->store, "zunionstore u 2 z y weights 1 2", "i:1000");
    for (int i = 0; i < 1000; i += 7) {
        int score = i >= 100 && i < 900 ? 2 * i : i;

        (void)snprintf(line, sizeof(line), "zscore u member-%d", i);
        (void)snprintf(want, sizeof(want), "s:%d", score);
        expect(at->store, line, want);
    }
    expect(at->store, "zintercard 2 u y", "i:800");
    expect(at->store, "zdiffstore u 2 u y", "i:200");
    expect(at->store, "zinterstore u 2 u y", "i:0");
    expect(at->store, "exists u", "i:0");
    expect(at->store, "zremrangebyscore y -inf +inf", "i:800");
    expect(at->store, "exists y", "i:0");
}

/* More keys than a transaction keeps in memory. */
TEST(union_of_many_keys)
{
    static char text[TEXT_SIZE];
    place *at = *state;

    (void)evaluate(
        at->store,
        "local keys = {} "
        "for i = 1, 2000 do keys[i] = 'k' .. i "
        "redis.call('zadd', keys[i], i, 'all', i, 'm' .. i % 3) end "
        "local n = redis.call('zunionstore', 'u', #keys, unpack(keys)) "
        "local m = redis.call('zinterstore', 'i', #keys, unpack(keys)) "
        "local c = redis.call('zdiffstore', 'd', #keys, unpack(keys)) "
        "keys[#keys + 1] = 'min' "
        "local p = redis.call('zmpop', 2000, unpack(keys)) "
        "return {n, m, c, redis.call('zscore', 'u', 'all'), "
        "redis.call('zscore', 'u', 'm0'), redis.call('zscore', 'i', 'all'), "
        "p[1]}",
        0, "", text);
    assert_string_equal(
        text, "[i:4, i:1, i:0, s:2001000, s:666333, s:2001000, s:k1]");
}
