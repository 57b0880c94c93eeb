/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_command_test.c - every command's replies and error texts. The
 * expected ones in the table were recorded from redis-server 7.0.15, in this
 * order.
 */
#include "embedded_store.h"

static const struct {
    const char *line;
    const char *want;
} rows[] = {
    /* clang-format off */
    {"foo a b", "unknown command 'foo', with args beginning with: 'a' 'b' "},
    {"FOO", "unknown command 'FOO', with args beginning with: "},
    {"get", "wrong number of arguments for 'get' command"},
    {"set a", "wrong number of arguments for 'set' command"},
    {"set a b nx xx", "syntax error"},
    {"set a b px 0", "invalid expire time in 'set' command"},
    {"set a b px x", "value is not an integer or out of range"},
    {"set a b ex 9223372036854775807", "invalid expire time in 'set' command"},
    {"set a b px 9223372036854775807", "invalid expire time in 'set' command"},
    {"set a b foo", "syntax error"},
    {"set a b ex 1 keepttl", "syntax error"},
    {"set a b nx get", "nil"},
    {"set a c nx get", "s:b"},
    {"get a", "s:b"},
    {"set a d xx get", "s:b"},
    {"set nokey d xx", "nil"},
    {"set nokey d xx get", "nil"},
    {"get nokey", "nil"},
    {"set a e get ex 100", "s:d"},
    {"ttl a", "i:100"},
    {"set a f keepttl", "+:OK"},
    {"ttl a", "i:100"},
    {"set a g", "+:OK"},
    {"ttl a", "i:-1"},
    {"incrby n x", "value is not an integer or out of range"},
    {"incrby n 5", "i:5"},
    {"incr n", "i:6"},
    {"decr n", "i:5"},
    {"decrby n 3", "i:2"},
    {"incrby n 9223372036854775807", "increment or decrement would overflow"},
    {"set n 9223372036854775807", "+:OK"},
    {"incr n", "increment or decrement would overflow"},
    {"decrby n -9223372036854775808", "decrement would overflow"},
    {"decrby n 9223372036854775807", "i:0"},
    {"decr n", "i:-1"},
    {"set n 007", "+:OK"},
    {"incr n", "value is not an integer or out of range"},
    {"incr n", "value is not an integer or out of range"},
    {"set n +5", "+:OK"},
    {"incr n", "value is not an integer or out of range"},
    {"set n -0", "+:OK"},
    {"incr n", "value is not an integer or out of range"},
    {"set n -5", "+:OK"},
    {"incr n", "i:-4"},
    {"hset h a", "wrong number of arguments for 'hset' command"},
    {"hset h f 1 g", "wrong number of arguments for 'hset' command"},
    {"hset h f 1 g 2", "i:2"},
    {"hset h f 2 k 3", "i:1"},
    {"hgetall h", "[s:f, s:2, s:g, s:2, s:k, s:3]"},
    {"hkeys h", "[s:f, s:g, s:k]"},
    {"hvals h", "[s:2, s:2, s:3]"},
    {"hget h f", "s:2"},
    {"hget h nope", "nil"},
    {"hmget h f nope k", "[s:2, nil, s:3]"},
    {"hmget none a b", "[nil, nil]"},
    {"hdel h f nope", "i:1"},
    {"hgetall h", "[s:g, s:2, s:k, s:3]"},
    {"hexists h k", "i:1"},
    {"hexists h f", "i:0"},
    {"hlen h", "i:2"},
    {"hlen none", "i:0"},
    {"hstrlen h k", "i:1"},
    {"hstrlen h nope", "i:0"},
    {"hstrlen none x", "i:0"},
    {"hsetnx h k 9", "i:0"},
    {"hsetnx h new 9", "i:1"},
    {"hincrby h f x", "value is not an integer or out of range"},
    {"hincrby h f 4", "i:4"},
    {"hincrby h f -10", "i:-6"},
    {"hset h s abc", "i:1"},
    {"hincrby h s 1", "hash value is not an integer"},
    {"hset h big 9223372036854775807", "i:1"},
    {"hincrby h big 1", "increment or decrement would overflow"},
    {"hget a f", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"hset a f v", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"hdel a f", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"get h", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"append h x", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"strlen h", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"incr h", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"setnx h x", "i:0"},
    {"getset h x", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"getdel h", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"hdel h f k s big new g nope", "i:6"},
    {"exists h", "i:0"},
    {"type h", "+:none"},
    {"zadd z x a", "value is not a valid float"},
    {"zadd z nx xx 1 a", "XX and NX options at the same time are not compatible"},
    {"zadd z gt lt 1 a", "GT, LT, and/or NX options at the same time are not compatible"},
    {"zadd z nx gt 1 a", "GT, LT, and/or NX options at the same time are not compatible"},
    {"zadd z incr 1 a 2 b", "INCR option supports a single increment-element pair"},
    {"zadd z nan a", "value is not a valid float"},
    {"zadd z 0.1 a 1e300 b inf c -inf d 3 e", "i:5"},
    {"zscore z a", "s:0.10000000000000001"},
    {"zscore z b", "s:1.0000000000000001e+300"},
    {"zscore z c", "s:inf"},
    {"zscore z none", "nil"},
    {"zscore none x", "nil"},
    {"zrange z 0 -1 withscores", "[s:d, s:-inf, s:a, s:0.10000000000000001, s:e, s:3, s:b, s:1.0000000000000001e+300, s:c, s:inf]"},
    {"zrange z 0 -1 byscore", "[]"},
    {"zrange z -inf +inf byscore", "[s:d, s:a, s:e, s:b, s:c]"},
    {"zrange z +inf -inf byscore rev", "[s:c, s:b, s:e, s:a, s:d]"},
    {"zrange z (1 +inf byscore limit 0 1", "[s:e]"},
    {"zrange z (1 (3 byscore", "[]"},
    {"zrange z 1 3 byscore withscores", "[s:e, s:3]"},
    {"zrange z -inf +inf byscore limit 1 2", "[s:a, s:e]"},
    {"zrange z -inf +inf byscore limit -1 2", "[]"},
    {"zrange z -inf +inf byscore limit 1 -1", "[s:a, s:e, s:b, s:c]"},
    {"zrange z 0 -1 limit 0 1", "syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX"},
    {"zrange z x y", "value is not an integer or out of range"},
    {"zrange z a b byscore", "min or max is not a float"},
    {"zrange z 0 1 rev", "[s:c, s:b]"},
    {"zrange z -2 -1", "[s:b, s:c]"},
    {"zrange z 5 10", "[]"},
    {"zrange z -100 100", "[s:d, s:a, s:e, s:b, s:c]"},
    {"zrange z 3 1", "[]"},
    {"zrange z 0 -1 rev withscores", "[s:c, s:inf, s:b, s:1.0000000000000001e+300, s:e, s:3, s:a, s:0.10000000000000001, s:d, s:-inf]"},
    {"zrange z 0 -1 foo", "syntax error"},
    {"zrange z 0", "wrong number of arguments for 'zrange' command"},
    {"zrange none 0 -1", "[]"},
    {"zrevrange z 0 -1", "[s:c, s:b, s:e, s:a, s:d]"},
    {"zrevrange z 0 1 withscores", "[s:c, s:inf, s:b, s:1.0000000000000001e+300]"},
    {"zrevrange z 0 -1 foo", "syntax error"},
    {"zrangebyscore z -inf +inf withscores limit 0 -1", "[s:d, s:-inf, s:a, s:0.10000000000000001, s:e, s:3, s:b, s:1.0000000000000001e+300, s:c, s:inf]"},
    {"zrangebyscore z 0 x", "min or max is not a float"},
    {"zrangebyscore z 0 1 limit 1", "syntax error"},
    {"zrangebyscore z (0.1 3", "[s:e]"},
    {"zrevrangebyscore z +inf -inf", "[s:c, s:b, s:e, s:a, s:d]"},
    {"zrevrangebyscore z 3 0.1 limit 1 1", "[s:a]"},
    {"zcount z -inf +inf", "i:5"},
    {"zcount z (3 inf", "i:2"},
    {"zrank z e", "i:2"},
    {"zrank z none", "nil"},
    {"zrank none x", "nil"},
    {"zrevrank z e", "i:2"},
    {"zcard z", "i:5"},
    {"zcard none", "i:0"},
    {"zadd z ch 4 e 5 new", "i:2"},
    {"zadd z xx 9 nope", "i:0"},
    {"zadd none xx 9 nope", "i:0"},
    {"exists none", "i:0"},
    {"zadd z gt 1 e", "i:0"},
    {"zadd z gt ch 100 e", "i:1"},
    {"zadd z lt ch 50 e", "i:1"},
    {"zadd z incr 2 e", "s:52"},
    {"zadd z nx incr 2 e", "nil"},
    {"zadd z xx incr 2 nope", "nil"},
    {"zadd z incr -inf c", "resulting score is not a number (NaN)"},
    {"zincrby z 1.5 e", "s:53.5"},
    {"zincrby z x e", "value is not a valid float"},
    {"zincrby z 1", "wrong number of arguments for 'zincrby' command"},
    {"zadd z 1", "wrong number of arguments for 'zadd' command"},
    {"zadd z 1 a b", "syntax error"},
    {"zpopmin z -1", "value is out of range, must be positive"},
    {"zpopmin z x", "value is out of range, must be positive"},
    {"zpopmin z 2", "[s:d, s:-inf, s:a, s:0.10000000000000001]"},
    {"zpopmin z 0", "[]"},
    {"zpopmax z", "[s:c, s:inf]"},
    {"zpopmax z 100", "[s:b, s:1.0000000000000001e+300, s:e, s:53.5, s:new, s:5]"},
    {"zpopmin z", "[]"},
    {"zpopmin z 1 2", "syntax error"},
    {"exists z", "i:0"},
    {"zadd z 1 a 2 b 3 c 4 d", "i:4"},
    {"zrem z a nope c", "i:2"},
    {"zremrangebyscore z 0 x", "min or max is not a float"},
    {"zremrangebyscore z (2 4", "i:1"},
    {"zrange z 0 -1", "[s:b]"},
    {"zremrangebyscore z -inf inf", "i:1"},
    {"exists z", "i:0"},
    {"expire a x", "value is not an integer or out of range"},
    {"expire a 1 nx xx", "NX and XX, GT or LT options at the same time are not compatible"},
    {"expire a 1 gt lt", "GT and LT options at the same time are not compatible"},
    {"expire a 1 foo", "Unsupported option foo"},
    {"expire a 9223372036854775807", "invalid expire time in 'expire' command"},
    {"pexpire a 9223372036854775807", "invalid expire time in 'pexpire' command"},
    {"expire a 100", "i:1"},
    {"expire a 50 gt", "i:0"},
    {"expire a 200 gt", "i:1"},
    {"expire a 300 lt", "i:0"},
    {"expire a 100 lt", "i:1"},
    {"expire a 10 nx", "i:0"},
    {"ttl a", "i:100"},
    {"persist a", "i:1"},
    {"persist a", "i:0"},
    {"expire a 10 xx", "i:0"},
    {"expire a 10 gt", "i:0"},
    {"expire a 10 lt", "i:1"},
    {"ttl a", "i:10"},
    {"persist none", "i:0"},
    {"expire none 1", "i:0"},
    {"expireat a -1", "i:1"},
    {"exists a", "i:0"},
    {"set a b exat 0", "invalid expire time in 'set' command"},
    {"set a b pxat -5", "invalid expire time in 'set' command"},
    {"set a b pxat 1", "+:OK"},
    {"get a", "nil"},
    {"exists a", "i:0"},
    {"set a b exat 99999999999", "+:OK"},
    {"expiretime a", "i:99999999999"},
    {"pexpiretime a", "i:99999999999000"},
    {"pexpiretime none", "i:-2"},
    {"persist a", "i:1"},
    {"expiretime a", "i:-1"},
    {"pexpireat a 99999999999999", "i:1"},
    {"pexpiretime a", "i:99999999999999"},
    {"expireat a 99999999999", "i:1"},
    {"expiretime a", "i:99999999999"},
    {"ttl none", "i:-2"},
    {"pttl none", "i:-2"},
    {"set s v", "+:OK"},
    {"ttl s", "i:-1"},
    {"pttl s", "i:-1"},
    {"time x", "wrong number of arguments for 'time' command"},
    {"object encoding nokey", "nil"},
    {"object foo", "unknown subcommand 'foo'. Try OBJECT HELP."},
    {"object encoding", "wrong number of arguments for 'object|encoding' "
                        "command"},
    {"memory usage nokey", "nil"},
    {"memory usage a samples -1", "syntax error"},
    {"memory usage a samples x", "value is not an integer or out of range"},
    {"move a 0", "source and destination objects are the same"},
    {"swapdb 0 0", "+:OK"},
    {"swapdb x 0", "invalid first DB index"},
    {"swapdb 0 x", "invalid second DB index"},
    {"dump nokey", "nil"},
    {"restore nokey -1 x", "Invalid TTL value, must be >= 0"},
    {"restore nokey 0 x freq 256", "Invalid FREQ value, must be >= 0 and "
                                   "<= 255"},
    {"restore nokey 0 x idletime 1 freq 1", "syntax error"},
    {"script", "wrong number of arguments for 'script' command"},
    {"script foo", "unknown subcommand 'foo'. Try SCRIPT HELP."},
    {"script load", "wrong number of arguments for 'script|load' command"},
    {"script exists", "wrong number of arguments for 'script|exists' command"},
    {"script flush foo", "SCRIPT FLUSH only support SYNC|ASYNC option"},
    {"script flush", "+:OK"},
    {"script kill", "NOTBUSY No scripts in execution right now."},
    {"script kill now", "wrong number of arguments for 'script|kill' command"},
    {"script|load return", "unknown command 'script|load', with args beginning "
                           "with: 'return' "},
    {"echo", "wrong number of arguments for 'echo' command"},
    {"echo hi", "s:hi"},
    {"ping", "+:PONG"},
    {"ping hi", "s:hi"},
    {"ping a b", "wrong number of arguments for 'ping' command"},
    {"setex a 0 b", "invalid expire time in 'setex' command"},
    {"setex a x b", "value is not an integer or out of range"},
    {"setex a 10 b", "+:OK"},
    {"ttl a", "i:10"},
    {"psetex a 0 b", "invalid expire time in 'psetex' command"},
    {"psetex a 10000 b", "+:OK"},
    {"mset a", "wrong number of arguments for 'mset' command"},
    {"mset a b c", "wrong number of arguments for 'mset' command"},
    {"mset a 1 b 2", "+:OK"},
    {"mget a b none h", "[s:1, s:2, nil, nil]"},
    {"append s", "wrong number of arguments for 'append' command"},
    {"append s more", "i:5"},
    {"get s", "s:vmore"},
    {"append new x", "i:1"},
    {"strlen s", "i:5"},
    {"strlen none", "i:0"},
    {"setnx s x", "i:0"},
    {"setnx sn x", "i:1"},
    {"getset s y", "s:vmore"},
    {"getset none3 y", "nil"},
    {"getdel s", "s:y"},
    {"getdel s", "nil"},
    {"type nope", "+:none"},
    {"type a", "+:string"},
    {"zadd zz 1 a", "i:1"},
    {"type zz", "+:zset"},
    {"hset hh a b", "i:1"},
    {"type hh", "+:hash"},
    {"get zz", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"zadd hh 1 a", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"zadd a 1 x", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"zrem a x", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"zscore a x", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"zcard a", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"zrange a 0 1", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"zpopmin a", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"zrank a x", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"zrangebyscore a 0 1", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"zremrangebyscore a 0 1", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"hgetall zz", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"set zz str", "+:OK"},
    {"get zz", "s:str"},
    {"flushdb foo", "syntax error"},
    {"del a b nope", "i:2"},
    {"unlink hh zz", "i:2"},
    {"exists a b a", "i:0"},
    {"exists new new", "i:2"},
    {"publish x y", "i:0"},
    {"setex", "wrong number of arguments for 'setex' command"},
    {"hmset h a", "wrong number of arguments for 'hmset' command"},
    {"hmset h a 1 b 2", "+:OK"},
    {"hgetall h", "[s:a, s:1, s:b, s:2]"},
    {"del h", "i:1"},
    {"dbsize x", "wrong number of arguments for 'dbsize' command"},
    {"sort", "wrong number of arguments for 'sort' command"},
    {"set x y ex", "syntax error"},
    {"set x y px", "syntax error"},
    {"set x y exat", "syntax error"},
    {"set x y pxat 9223372036854775807", "+:OK"},
    {"set x y exat 9223372036854775807", "invalid expire time in 'set' command"},
    {"set x y PX 100000 NX", "nil"},
    {"SET x y Px 100000 xX", "+:OK"},
    {"zadd z NX 1 a", "i:1"},
    {"zadd z XX CH 2 a", "i:1"},
    {"get a b", "wrong number of arguments for 'get' command"},
    {"zrange z 0 9223372036854775807", "[s:a]"},
    {"zrange z -9223372036854775808 -1", "[s:a]"},
    {"zrange z 0 99999999999999999999", "value is not an integer or out of range"},
    {"hset h e \"\"", "i:1"},
    {"hget h e", "s:"},
    {"set emp \"\"", "+:OK"},
    {"get emp", "s:"},
    {"strlen emp", "i:0"},
    {"append emp \"\"", "i:0"},
    {"exists emp", "i:1"},
    {"incr emp", "value is not an integer or out of range"},
    {"zadd z 1 \"\"", "i:1"},
    {"zrange z 0 -1", "[s:, s:a]"},
    {"zscore z \"\"", "s:1"},
    /* Found by tests/differential. */
    {"flushall", "+:OK"},
    {"set k v ex 1000 ex 100", "+:OK"},
    {"ttl k", "i:100"},
    {"set k v ex 100 px 100", "syntax error"},
    {"set k v exat 1000000", "+:OK"},
    {"get k", "nil"},
    {"set k v pxat 9223372036854775807", "+:OK"},
    {"expiretime k", "i:9223372036854776"},
    {"expireat k -9223372036854775", "i:1"},
    {"exists k", "i:0"},
    {"expire k 100 abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghij", "Unsupported option abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghij"},
    {"foo abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghij abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghij x", "unknown command 'foo', with args beginning with: 'abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghij' 'abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcde' "},
    {"zadd y -0 m 0 a", "i:2"},
    {"zrange y 0 -1 withscores", "[s:a, s:0, s:m, s:0]"},
    {"zincrby y nx m", "syntax error"},
    {"zrange y 0 -1 rev rev", "syntax error"},
    {"zrange y 0 1 byscore byscore", "syntax error"},
    {"zrange y 0 x limit 4 -1", "value is not an integer or out of range"},
    {"zrange y 0 -1 limit 4 0", "syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX"},
    {"zrevrange y 0 -1 limit 0 -1", "[s:m, s:a]"},
    {"zcount y ( 1e400", "i:0"},
    {"zcount y -1e400 1e400", "i:2"},
    {"zcount y 1x 2", "min or max is not a float"},
    {"zcount y (nan 2", "min or max is not a float"},
    {"script nosuch", "unknown subcommand 'nosuch'. Try SCRIPT HELP."},
    /* clang-format on */
};

EACH_TEST_WITH(open_volatile_place, remove_state_place);

/* A deleted key leaves a tombstone, which counts as expired. */
static void take_records(void *user, const char *name, const char *value)
{
    if (strcmp(name, "records") == 0)
        *(long *)user += strtol(value, NULL, 10);
    if (strcmp(name, "expired keys to reclaim") == 0)
        *(long *)user -= strtol(value, NULL, 10);
}

static long count_records(hf__store *store)
{
    long records = 0;

    hf__embedded_store_ops.describe(store, take_records, &records);
    return records;
}

TEST(commands_answer_as_redis_does)
{
    place *at = *state;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        expect(at->store, rows[i].line, rows[i].want);
}

TEST(statuses_follow_the_error_texts)
{
    place *at = *state;
    char text[TEXT_SIZE];

    expect(at->store, "set a x", "+:OK");
    assert_int_equal(command(at->store, "hget a f", text), HF_WRONG_TYPE);
    assert_int_equal(command(at->store, "incr a", text), HF_INVALID);
    assert_int_equal(command(at->store, "nosuch a", text), HF_UNSUPPORTED);
    assert_int_equal(command(at->store, "script nosuch", text), HF_UNSUPPORTED);
    assert_int_equal(command(at->store, "get", text), HF_INVALID);
}

/* Longer than LMDB's keys: folded, compared whole. */
TEST(long_names_are_kept_apart)
{
    static char name[3][1000];
    place *at = *state;
    hf_bytes words[4];
    char text[TEXT_SIZE];

    for (size_t i = 0; i < 3; i++) {
        memset(name[i], 'n', sizeof(name[i]));
        name[i][999] = (char)('a' + i);
    }
    for (size_t i = 0; i < 3; i++) {
        words[0] = hf_view("hset", 4);
        words[1] = hf_view(name[i], 1000);
        words[2] = hf_view(name[2 - i], 1000);
        words[3] = hf_view(name[i], 999 + i % 2);
        (void)perform(at->store, NULL, words, 4, 0, text);
        assert_string_equal(text, "i:1");
    }
    words[0] = hf_view("hstrlen", 7);
    words[1] = hf_view(name[1], 1000);
    words[2] = hf_view(name[1], 1000);
    (void)perform(at->store, NULL, words, 3, 0, text);
    assert_string_equal(text, "i:1000");
    words[1] = hf_view(name[0], 1000);
    (void)perform(at->store, NULL, words, 3, 0, text);
    assert_string_equal(text, "i:0");
    expect(at->store, "dbsize", "i:3");
}

/* Sizes around those at which a name is folded, in all three kinds of record.
 */
TEST(names_of_every_size_come_back)
{
    static char name[600];
    place *at = *state;
    char text[TEXT_SIZE];
    int64_t count = 0;

    memset(name, 'x', sizeof(name));
    for (size_t size = 440; size < 530; size++) {
        hf_bytes set[] = {hf_view("set", 3), hf_view(name, size),
                          hf_view(name, size)};
        hf_bytes get[] = {hf_view("strlen", 6), hf_view(name, size)};
        hf_bytes hset[] = {hf_view("hset", 4), hf_view("hash", 4),
                           hf_view(name, size), hf_view("v", 1)};
        hf_bytes zadd[] = {hf_view("zadd", 4), hf_view("zset", 4),
                           hf_view("1", 1), hf_view(name, size)};
        char want[32];

        (void)perform(at->store, NULL, set, 3, 0, text);
        assert_string_equal(text, "+:OK");
        (void)perform(at->store, NULL, hset, 4, 0, text);
        assert_string_equal(text, "i:1");
        (void)perform(at->store, NULL, zadd, 4, 0, text);
        assert_string_equal(text, "i:1");
        (void)perform(at->store, NULL, get, 2, 0, text);
        (void)snprintf(want, sizeof(want), "i:%zu", size);
        assert_string_equal(text, want);
        count++;
    }
    assert_int_equal(count, 90);
    expect(at->store, "hlen hash", "i:90");
    expect(at->store, "zcard zset", "i:90");
    expect(at->store, "zcount zset 1 1", "i:90");
}

TEST(large_hash_keeps_every_field)
{
    place *at = *state;
    char line[64], want[64];

    for (int i = 0; i < 1000; i++) {
        (void)snprintf(line, sizeof(line), "hset h field-%d value-%d", i, i);
        expect(at->store, line, "i:1");
    }
    expect(at->store, "hlen h", "i:1000");
    for (int i = 0; i < 1000; i += 3) {
        (void)snprintf(line, sizeof(line), "hdel h field-%d", i);
        expect(at->store, line, "i:1");
    }
    for (int i = 0; i < 1000; i++) {
        (void)snprintf(line, sizeof(line), "hget h field-%d", i);
        (void)snprintf(want, sizeof(want), "s:value-%d", i);
        expect(at->store, line, i % 3 == 0 ? "nil" : want);
    }
    expect(at->store, "hlen h", "i:666");
    expect(at->store, "del h", "i:1");
    expect(at->store, "hset h field-1 new", "i:1");
    expect(at->store, "hgetall h", "[s:field-1, s:new]");
}

TEST(large_sorted_set_keeps_its_order)
{
    place *at = *state;
    char line[64], want[64];

    for (int i = 0; i < 500; i++) {
        (void)snprintf(line, sizeof(line), "zadd z %d m%d", i * 37 % 500 - 250,
                       i * 37 % 500 - 250);
        expect(at->store, line, "i:1");
    }
    expect(at->store, "zrange z 0 2", "[s:m-250, s:m-249, s:m-248]");
    expect(at->store, "zrange z 0 1 rev", "[s:m249, s:m248]");
    expect(at->store, "zrange z (-1 1 byscore", "[s:m0, s:m1]");
    expect(at->store, "zrange z 1 (-1 byscore rev", "[s:m1, s:m0]");
    expect(at->store, "zadd z 1000 m0", "i:0");
    expect(at->store, "zrank z m0", "i:499");
    expect(at->store, "zremrangebyscore z -inf -1", "i:250");
    for (int i = 1; i < 250; i++) {
        (void)snprintf(want, sizeof(want), "[s:m%d, s:%d]", i, i);
        expect(at->store, "zpopmin z", want);
    }
    expect(at->store, "zpopmin z 9", "[s:m0, s:1000]");
    expect(at->store, "exists z", "i:0");
}

/* Deleted elements are removed a few per commit; then their space is free. */
TEST(elements_of_deleted_keys_go_away)
{
    place *at = *state;
    char line[128];

    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 300; i++) {
            (void)snprintf(line, sizeof(line), "hset h f%d %0100d", i, round);
            expect(at->store, line, "i:1");
        }
        expect(at->store, round % 2 ? "del h" : "set h x",
               round % 2 ? "i:1" : "+:OK");
        expect(at->store, "del h", round % 2 ? "i:0" : "i:1");
    }
    for (int i = 1; i <= 100; i++) {
        (void)snprintf(line, sizeof(line), "i:%d", i);
        expect(at->store, "incr n", line);
    }
    expect(at->store, "dbsize", "i:1");
    /* The header, n, and nothing else. */
    assert_int_equal(count_records(at->store), 2);
}

TEST(expired_keys_are_gone_at_once)
{
    place *at = *state;
    char text[TEXT_SIZE];

    expect(at->store, "set a x px 200", "+:OK");
    expect(at->store, "hset h f v", "i:1");
    expect(at->store, "pexpire h 200", "i:1");
    expect(at->store, "exists a h", "i:2");
    hf__clock_sleep_until(hf__clock_boot_ms() + 210);
    expect(at->store, "exists a h", "i:0");
    expect(at->store, "get a", "nil");
    expect(at->store, "hgetall h", "[]");
    expect(at->store, "dbsize", "i:0");
    expect(at->store, "set a y nx", "+:OK");
    expect(at->store, "pttl a", "i:-1");
    expect(at->store, "hset h g w", "i:1");
    expect(at->store, "hgetall h", "[s:g, s:w]");
    (void)evaluate(at->store,
                   "redis.call('set', 'a', 1, 'pxat', 1000) "
                   "return {redis.call('exists', 'a'), redis.call('get', 'a')}",
                   0, "", text);
    assert_string_equal(text, "[i:0, nil]");
}
