/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_keys_test.c - commands on parts of strings, on names and on all
 * keys: replies and error texts as recorded from redis-server 7.0.15, in this
 * order, and behaviour that only shows with many or large keys.
 */
#include "embedded_store.h"

#include "util/mem.h"

static const struct {
    const char *line;
    const char *want;
} rows[] = {
    /* clang-format off */
    {"getrange s 0 1", "s:"},
    {"set s Hello", "+:OK"},
    {"getrange s 0 -1", "s:Hello"},
    {"getrange s 1 3", "s:ell"},
    {"getrange s -3 -2", "s:ll"},
    {"getrange s -100 1", "s:He"},
    {"getrange s 3 100", "s:lo"},
    {"getrange s 4 2", "s:"},
    {"getrange s 5 9", "s:"},
    {"getrange s -1 -2", "s:"},
    {"getrange s -100 -200", "s:"},
    {"getrange s -200 -100", "s:H"},
    {"getrange s 0 -100", "s:H"},
    {"getrange s x 1", "value is not an integer or out of range"},
    {"getrange s 0 9223372036854775808", "value is not an integer or out of range"},
    {"getrange s -9223372036854775808 9223372036854775807", "s:Hello"},
    {"substr s 1 2", "s:el"},
    {"substr s 1", "wrong number of arguments for 'substr' command"},
    {"setrange s -1 x", "offset is out of range"},
    {"setrange s x y", "value is not an integer or out of range"},
    {"setrange s 1 ipp", "i:5"},
    {"get s", "s:Hippo"},
    {"setrange s 8 !", "i:9"},
    {"get s", "s:Hippo\\x00\\x00\\x00!"},
    {"setrange s 3 \"\"", "i:9"},
    {"setrange none 5 \"\"", "i:0"},
    {"exists none", "i:0"},
    {"setrange none 2 ab", "i:4"},
    {"get none", "s:\\x00\\x00ab"},
    {"setrange none 536870911 ab", "string exceeds maximum allowed size (proto-max-bulk-len)"},
    {"setrange none 9223372036854775807 a", "string exceeds maximum allowed size (proto-max-bulk-len)"},
    {"setrange none 536870912 \"\"", "i:4"},
    {"strlen none", "i:4"},
    /* GETEX */
    {"getex nokey ex x", "nil"},
    {"getex nokey ex", "syntax error"},
    {"getex nokey ex 10 px 10", "syntax error"},
    {"getex s", "s:Hippo\\x00\\x00\\x00!"},
    {"ttl s", "i:-1"},
    {"getex s ex 100", "s:Hippo\\x00\\x00\\x00!"},
    {"ttl s", "i:100"},
    {"getex s ex x", "value is not an integer or out of range"},
    {"getex s ex 0", "invalid expire time in 'getex' command"},
    {"getex s px -1", "invalid expire time in 'getex' command"},
    {"getex s ex 9223372036854775807", "invalid expire time in 'getex' command"},
    {"getex s ex 100 ex 200", "s:Hippo\\x00\\x00\\x00!"},
    {"ttl s", "i:200"},
    {"getex s ex 100 persist", "syntax error"},
    {"getex s persist ex 100", "syntax error"},
    {"getex s persist persist", "s:Hippo\\x00\\x00\\x00!"},
    {"ttl s", "i:-1"},
    {"getex s EXAT 99999999999", "s:Hippo\\x00\\x00\\x00!"},
    {"expiretime s", "i:99999999999"},
    {"getex s pxat 99999999999999", "s:Hippo\\x00\\x00\\x00!"},
    {"pexpiretime s", "i:99999999999999"},
    {"getex s keepttl", "syntax error"},
    {"getex s nx", "syntax error"},
    {"getex s exat 1", "s:Hippo\\x00\\x00\\x00!"},
    {"exists s", "i:0"},
    /* INCRBYFLOAT */
    {"incrbyfloat f 10.5", "s:10.5"},
    {"incrbyfloat f 0.1", "s:10.6"},
    {"incrbyfloat f -5", "s:5.6"},
    {"incrbyfloat f 5.0e3", "s:5005.60000000000000009"},
    {"incrbyfloat f x", "value is not a valid float"},
    {"incrbyfloat f nan", "value is not a valid float"},
    {"incrbyfloat f inf", "increment would produce NaN or Infinity"},
    {"incrbyfloat f +1", "s:5006.60000000000000009"},
    {"incrbyfloat g 1e-20", "s:0"},
    {"incrbyfloat g 3", "s:3"},
    {"incrbyfloat g -3", "s:0"},
    {"set g 1.000", "+:OK"},
    {"incrbyfloat g 0", "s:1"},
    {"set g 0x10", "+:OK"},
    {"incrbyfloat g 1", "s:17"},
    {"set g abc", "+:OK"},
    {"incrbyfloat g 1", "value is not a valid float"},
    {"set g 17 ex 100", "+:OK"},
    {"incrbyfloat g 0.30000000000000004", "s:17.30000000000000004"},
    {"ttl g", "i:100"},
    {"set g 1e4932", "+:OK"},
    {"incrbyfloat g 1e4932", "increment would produce NaN or Infinity"},
    {"hset f2 big 1e4932", "i:1"},
    {"hincrbyfloat f2 big 1e4932", "increment would produce NaN or Infinity"},
    {"hincrbyfloat g f 1", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"del g", "i:1"},
    /* Bits */
    {"setbit b 7 1", "i:0"},
    {"setbit b 7 0", "i:1"},
    {"setbit b 100 1", "i:0"},
    {"strlen b", "i:13"},
    {"getbit b 100", "i:1"},
    {"getbit b 99", "i:0"},
    {"getbit b 100000", "i:0"},
    {"getbit none 1", "i:0"},
    {"getbit b -1", "bit offset is not an integer or out of range"},
    {"getbit b x", "bit offset is not an integer or out of range"},
    {"getbit b 4294967296", "bit offset is not an integer or out of range"},
    {"setbit b 4294967296 1", "bit offset is not an integer or out of range"},
    {"setbit b 1 2", "bit is not an integer or out of range"},
    {"setbit b 1 x", "bit is not an integer or out of range"},
    {"set m foobar", "+:OK"},
    {"bitcount m", "i:26"},
    {"bitcount m 0 0", "i:4"},
    {"bitcount m 1 1", "i:6"},
    {"bitcount m 1 -1", "i:22"},
    {"bitcount m -1 -2 foo", "i:0"},
    {"bitcount m 5 30 bit", "i:17"},
    {"bitcount m 5 30 BYTE", "i:4"},
    {"bitcount m 5 30 foo", "syntax error"},
    {"bitcount m 1", "syntax error"},
    {"bitcount m x 1", "value is not an integer or out of range"},
    {"bitcount none x", "syntax error"},
    {"bitcount none 1", "syntax error"},
    {"bitcount m 9223372036854775807 9223372036854775807 bit", "i:0"},
    {"bitpos m 1", "i:1"},
    {"bitpos m 0", "i:0"},
    {"bitpos m 1 2", "i:17"},
    {"bitpos m 0 2 3", "i:16"},
    {"bitpos m 1 7 15 bit", "i:9"},
    {"bitpos m 1 20", "i:-1"},
    {"bitpos m 2", "The bit argument must be 1 or 0."},
    {"bitpos m x", "value is not an integer or out of range"},
    {"bitpos m 1 x", "value is not an integer or out of range"},
    {"bitpos m 1 1 2 foo", "syntax error"},
    {"bitpos m 1 1 2 bit 3", "syntax error"},
    {"bitpos none 1", "i:17"},
    {"bitpos none 0 x", "value is not an integer or out of range"},
    {"bitop not full none", "i:4"},
    {"setrange full 0 \"\"", "i:4"},
    {"setbit full 7 1", "i:1"},
    {"bitop not full full", "i:4"},
    {"get full", "s:\\x00\\x00ab"},
    {"bitop or full full full", "i:4"},
    {"setbit full 7 1", "i:0"},
    {"bitpos full 0", "i:0"},
    {"bitpos full 0 0", "i:0"},
    {"bitpos full 0 0 -1", "i:0"},
    {"bitpos full 0 1", "i:8"},
    {"bitop and t m full", "i:6"},
    {"strlen t", "i:6"},
    {"bitcount t", "i:6"},
    {"bitop xor t m m", "i:6"},
    {"bitcount t", "i:0"},
    {"bitop or t m none", "i:6"},
    {"get t", "s:foobar"},
    {"bitop not t m full", "BITOP NOT must be called with a single source key."},
    {"bitop foo t m", "syntax error"},
    {"bitop not t none", "i:4"},
    {"exists t", "i:1"},
    {"hset hb f v", "i:1"},
    {"bitop and t m hb", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"bitcount hb", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"setbit hb 1 1", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"del hb", "i:1"},
    {"del b m full t", "i:4"},
    /* MSETNX */
    {"msetnx a", "wrong number of arguments for 'msetnx' command"},
    {"msetnx a 1 b", "wrong number of arguments for 'msetnx' command"},
    {"msetnx a 1 b 2 a 3", "i:1"},
    {"mget a b", "[s:3, s:2]"},
    {"msetnx c 1 b 3", "i:0"},
    {"exists c", "i:0"},
    /* RENAME and COPY */
    {"rename nokey x", "no such key"},
    {"rename nokey nokey", "no such key"},
    {"renamenx nokey x", "no such key"},
    {"rename a a", "+:OK"},
    {"renamenx a a", "i:0"},
    {"rename a aa", "+:OK"},
    {"exists a", "i:0"},
    {"get aa", "s:3"},
    {"renamenx aa b", "i:0"},
    {"renamenx aa c", "i:1"},
    {"get c", "s:3"},
    {"set c 1 ex 1000", "+:OK"},
    {"rename c d", "+:OK"},
    {"ttl d", "i:1000"},
    {"hset h f 1 g 2", "i:2"},
    {"rename h d", "+:OK"},
    {"hgetall d", "[s:f, s:1, s:g, s:2]"},
    {"ttl d", "i:-1"},
    {"exists h", "i:0"},
    {"copy d e", "i:1"},
    {"hgetall e", "[s:f, s:1, s:g, s:2]"},
    {"copy d e", "i:0"},
    {"copy d d", "source and destination objects are the same"},
    {"copy d e replace", "i:1"},
    {"copy nokey e replace", "i:0"},
    {"copy nokey nokey", "source and destination objects are the same"},
    {"hset e f 9", "i:0"},
    {"hget d f", "s:1"},
    {"copy d e db 0", "i:0"},
    {"copy d e db 0 REPLACE", "i:1"},
    {"copy d e db x", "value is not an integer or out of range"},
    {"copy d e db 99999999999", "value is out of range, value must between -2147483648 and 2147483647"},
    {"copy d e db 1000", "DB index is out of range"},
    {"copy d e foo", "syntax error"},
    {"copy d e db", "syntax error"},
    {"hget e f", "s:1"},
    {"pexpireat e 99999999999999", "i:1"},
    {"copy e ee", "i:1"},
    {"pexpiretime ee", "i:99999999999999"},
    {"zadd z 1 m 2 n", "i:2"},
    {"copy z zz", "i:1"},
    {"zrange zz 0 -1 withscores", "[s:m, s:1, s:n, s:2]"},
    {"touch z zz nokey z", "i:3"},
    {"touch", "wrong number of arguments for 'touch' command"},
    /* HINCRBYFLOAT, HRANDFIELD */
    {"hincrbyfloat h f 10.50", "s:10.5"},
    {"hincrbyfloat h f 0.1", "s:10.6"},
    {"hincrbyfloat h f -5", "s:5.6"},
    {"hincrbyfloat h new 2.0e2", "s:200"},
    {"hgetall h", "[s:f, s:5.6, s:new, s:200]"},
    {"hset h s abc", "i:1"},
    {"hincrbyfloat h s 1", "hash value is not a float"},
    {"hincrbyfloat h f x", "value is not a valid float"},
    {"hincrbyfloat h f inf", "value is NaN or Infinity"},
    {"hincrbyfloat h f -inf", "value is NaN or Infinity"},
    {"hincrbyfloat none f inf", "value is NaN or Infinity"},
    {"exists none", "i:1"},
    {"hincrbyfloat h f", "wrong number of arguments for 'hincrbyfloat' command"},
    {"hdel h s new", "i:2"},
    {"hrandfield h", "s:f"},
    {"hrandfield none", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"hrandfield none 5", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"hrandfield h 0", "[]"},
    {"hrandfield h 5", "[s:f]"},
    {"hrandfield h 5 withvalues", "[s:f, s:5.6]"},
    {"hrandfield h -3", "[s:f, s:f, s:f]"},
    {"hrandfield h -3 withvalues", "[s:f, s:5.6, s:f, s:5.6, s:f, s:5.6]"},
    {"hrandfield h x", "value is not an integer or out of range"},
    {"hrandfield h 1 foo", "syntax error"},
    {"hrandfield h 1 withvalues x", "syntax error"},
    {"hrandfield h -9223372036854775808", "value is out of range, value must between -9223372036854775807 and 9223372036854775807"},
    {"hrandfield h 9223372036854775807", "[s:f]"},
    {"hrandfield none -9223372036854775807", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"hrandfield h 9223372036854775807 withvalues", "value is out of range"},
    {"hrandfield h -9223372036854775807 withvalues", "value is out of range"},
    {"hrandfield z", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"hrandfield z 1", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    /* KEYS and the SCANs, as far as they have an order */
    {"flushall", "+:OK"},
    {"randomkey", "nil"},
    {"keys *", "[]"},
    {"scan 0", "[s:0, []]"},
    {"set key:1 a", "+:OK"},
    {"randomkey", "s:key:1"},
    {"keys *", "[s:key:1]"},
    {"keys key:?", "[s:key:1]"},
    {"keys key:[0-9]", "[s:key:1]"},
    {"keys key:[^0-9]", "[]"},
    {"keys k*:1", "[s:key:1]"},
    {"keys KEY:1", "[]"},
    {"keys [jk]ey:[1", "[s:key:1]"},
    {"keys key:\\1", "[s:key:1]"},
    {"keys key:[2-0]", "[s:key:1]"},
    {"keys *\\", "[]"},
    {"keys \"\"", "[]"},
    {"keys", "wrong number of arguments for 'keys' command"},
    {"scan 0", "[s:0, [s:key:1]]"},
    {"scan 0 count 100", "[s:0, [s:key:1]]"},
    {"scan 0 match x*", "[s:0, []]"},
    {"scan 0 match key:*", "[s:0, [s:key:1]]"},
    {"scan 0 type string", "[s:0, [s:key:1]]"},
    {"scan 0 type STRING", "[s:0, [s:key:1]]"},
    {"scan 0 type hash", "[s:0, []]"},
    {"scan 0 type nothing", "[s:0, []]"},
    {"scan 0 count 0", "syntax error"},
    {"scan 0 count -1", "syntax error"},
    {"scan 0 count x", "value is not an integer or out of range"},
    {"scan 0 match", "syntax error"},
    {"scan 0 foo bar", "syntax error"},
    {"scan x", "invalid cursor"},
    {"scan -x", "invalid cursor"},
    {"scan 1x", "invalid cursor"},
    {"scan \"\"", "[s:0, [s:key:1]]"},
    {"scan +0", "[s:0, [s:key:1]]"},
    {"scan 18446744073709551616", "invalid cursor"},
    {"scan", "wrong number of arguments for 'scan' command"},
    {"hscan none 0", "[s:0, []]"},
    {"hscan none x", "invalid cursor"},
    {"hscan none 0 count x", "[s:0, []]"},
    {"hscan key:1 0", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"hscan key:1 0 foo", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"hset h f 1 g 2", "i:2"},
    {"hscan h 0", "[s:0, [s:f, s:1, s:g, s:2]]"},
    {"hscan h 0 match f", "[s:0, [s:f, s:1]]"},
    {"hscan h 0 match x count 1", "[s:0, []]"},
    {"hscan h 0 type hash", "syntax error"},
    {"hscan h 0 count 0", "syntax error"},
    {"hscan h 0 foo", "syntax error"},
    {"hscan h", "wrong number of arguments for 'hscan' command"},
    {"set \"\" v", "+:OK"},
    {"keys **", "[s:h, s:key:1]"},
    {"keys *", "[s:, s:h, s:key:1]"},
    /* clang-format on */
};

EACH_TEST_WITH(open_volatile_place, remove_state_place);

TEST(commands_answer_as_redis_does)
{
    place *at = *state;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        expect(at->store, rows[i].line, rows[i].want);
}

/* ------------------------------------------------------------ large strings */

TEST(gaps_are_filled_with_zeros)
{
    place *at = *state;

    expect(at->store, "set s abc", "+:OK");
    expect(at->store, "setrange s 100000 x", "i:100001");
    expect(at->store, "getrange s 0 4", "s:abc\\x00\\x00");
    expect(at->store, "getrange s 99998 -1", "s:\\x00\\x00x");
    expect(at->store, "setrange s 1 y", "i:100001");
    expect(at->store, "getrange s 0 2", "s:ayc");
}

/* ------------------------------------------------------------- large keys */

/* Fields of all sizes: none, folded, and a value larger than a batch. */
static void make_large_hash(hf__store *store, const char *key)
{
    static char name[600], value[100000];
    char line[300], text[TEXT_SIZE];
    hf_bytes words[] = {hf_view("hset", 4), hf_view(key, strlen(key)),
                        hf_view(name, 0), hf_view(value, 1)};

    memset(name, 'n', sizeof(name));
    memset(value, 'v', sizeof(value));
    (void)perform(store, NULL, words, 4, 0, text);
    words[2].size = sizeof(name);
    words[3].size = sizeof(value);
    (void)perform(store, NULL, words, 4, 0, text);
    for (int i = 0; i < 500; i++) {
        (void)snprintf(line, sizeof(line), "hset %s f%d %0200d", key, i, i);
        expect(store, line, "i:1");
    }
}

static void expect_large_hash(hf__store *store, const char *key)
{
    static char name[600];
    char line[64], want[256], text[TEXT_SIZE];
    hf_bytes words[] = {hf_view("hstrlen", 7), hf_view(key, strlen(key)),
                        hf_view(name, 0)};

    memset(name, 'n', sizeof(name));
    (void)snprintf(line, sizeof(line), "hlen %s", key);
    expect(store, line, "i:502");
    (void)perform(store, NULL, words, 3, 0, text);
    assert_string_equal(text, "i:1");
    words[2].size = sizeof(name);
    (void)perform(store, NULL, words, 3, 0, text);
    assert_string_equal(text, "i:100000");
    for (int i = 0; i < 500; i++) {
        (void)snprintf(line, sizeof(line), "hget %s f%d", key, i);
        (void)snprintf(want, sizeof(want), "s:%0200d", i);
        expect(store, line, want);
    }
}

/* A deleted key leaves a tombstone, which counts as expired. */
static void take_records(void *user, const char *name, const char *value)
{
    if (strcmp(name, "records") == 0)
        *(long *)user += strtol(value, NULL, 10);
    if (strcmp(name, "expired keys to reclaim") == 0)
        *(long *)user -= strtol(value, NULL, 10);
}

/* How many records are left after reclaiming. */
static long count_records(hf__store *store)
{
    char text[TEXT_SIZE];
    long records = 0;

    for (int i = 0; i < 100; i++)
        (void)command(store, "incr n", text);
    expect(store, "del n", "i:1");
    hf__embedded_store_ops.describe(store, take_records, &records);
    return records;
}

TEST(rename_takes_the_elements_along)
{
    place *at = *state;
    long before;

    make_large_hash(at->store, "h");
    before = count_records(at->store);
    expect(at->store, "pexpireat h 99999999999999", "i:1");
    expect(at->store, "rename h g", "+:OK");
    expect(at->store, "exists h", "i:0");
    expect(at->store, "pexpiretime g", "i:99999999999999");
    assert_int_equal(count_records(at->store), before);
    expect_large_hash(at->store, "g");
    /* The old content of the new name is deleted. */
    make_large_hash(at->store, "h");
    expect(at->store, "rename g h", "+:OK");
    assert_int_equal(count_records(at->store), before);
    expect_large_hash(at->store, "h");
    expect(at->store, "del h", "i:1");
    assert_int_equal(count_records(at->store), 1);
}

TEST(copy_has_elements_of_its_own)
{
    place *at = *state;

    make_large_hash(at->store, "h");
    expect(at->store, "copy h g", "i:1");
    expect_large_hash(at->store, "g");
    expect(at->store, "hset g f7 other", "i:0");
    expect_large_hash(at->store, "h");
    expect(at->store, "copy h g replace", "i:1");
    expect(at->store, "del h", "i:1");
    assert_int_equal(count_records(at->store), 1 + 1 + 502);
    expect_large_hash(at->store, "g");
}

TEST(copy_of_a_sorted_set_keeps_its_order)
{
    place *at = *state;
    char line[64], want[64];

    for (int i = 0; i < 500; i++) {
        (void)snprintf(line, sizeof(line), "zadd z %d member-%d", i - 250, i);
        expect(at->store, line, "i:1");
    }
    expect(at->store, "copy z y", "i:1");
    expect(at->store, "del z", "i:1");
    expect(at->store, "zcard y", "i:500");
    for (int i = 0; i < 500; i++) {
        (void)snprintf(line, sizeof(line), "zrange y %d %d withscores", i, i);
        (void)snprintf(want, sizeof(want), "[s:member-%d, s:%d]", i, i - 250);
        expect(at->store, line, want);
    }
    expect(at->store, "zscore y member-250", "s:0");
}

/* One script: it must read what it has just written under a name. */
TEST(names_move_within_a_transaction)
{
    place *at = *state;
    char text[TEXT_SIZE];

    (void)evaluate(
        at->store,
        "redis.call('set', 'a', 'x') redis.call('rename', 'a', 'b') "
        "redis.call('append', 'b', 'y') redis.call('copy', 'b', 'c') "
        "for i = 1, 40 do redis.call('hset', 'h', i, ('v'):rep(50)) end "
        "redis.call('rename', 'h', 'b') redis.call('hset', 'b', 1, 'w') "
        "redis.call('copy', 'b', 'd') redis.call('rename', 'd', 'h') "
        "return {redis.call('exists', 'a'), redis.call('get', 'c'), "
        "redis.call('hlen', 'b'), redis.call('hget', 'h', 1), "
        "redis.call('hlen', 'h'), #redis.call('keys', '*'), "
        "#redis.call('scan', 0)[2], redis.call('dbsize')}",
        0, "", text);
    assert_string_equal(text, "[i:0, s:xy, i:40, s:w, i:40, i:3, i:3, i:3]");
}

/* ---------------------------------------------------------- out of memory */

#define NAMES 300

static void each_name(hf__store *store, const char *format, const char *want)
{
    char line[64];

    for (int i = 0; i < NAMES; i++) {
        (void)snprintf(line, sizeof(line), format, i);
        expect(store, line, want);
    }
}

/* Run the command until no allocation fails any more; returns how many did. */
static int fail_everywhere(hf__store *store, const char *line, bool script)
{
    static char text[TEXT_SIZE];
    hf_status status = HF_NO_MEMORY;
    int failed = 0;

    for (long n = 0; status != HF_OK; n++) {
        assert_true(n < 10000);
        hf__alloc_fail_after(n);
        if (script)
            status = evaluate(store, "return redis.call(unpack(ARGV))", 0, line,
                              text);
        else
            status = command(store, line, text);
        hf__alloc_fail_after(-1);
        failed += status != HF_OK;
        if (status != HF_OK && status != HF_NO_MEMORY)
            fail_msg("%s: status %d, %s", line, status, text);
    }
    return failed;
}

/* Whatever a command was about to keep or write; a script may be stopped in the
 * middle of its reply. */
TEST(memory_may_end_in_each_command)
{
    static const char *const lines[] = {
        "scan 0 count 100",  "keys *",
        "hscan h 0",         "zscan z 0",
        "hrandfield h 3",    "zrandmember z -3",
        "copy h g replace",  "zunionstore u 2 z y",
        "zinter 2 z y",      "zrangestore u z 0 -1",
        "zmpop 1 z min",     "zremrangebyrank z 0 0",
        "incrbyfloat n 1.5", "hincrbyfloat h n 1.5",
        "setrange s 3000 x", "getex s persist",
    };
    place *at = *state;
    int failed = 0;

    each_name(at->store, "hset h name-%d x", "i:1");
    each_name(at->store, "zadd z 1 name-%d", "i:1");
    expect(at->store, "zadd y 1 name-7 2 other", "i:2");
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        failed += fail_everywhere(at->store, lines[i], false);
        failed += fail_everywhere(at->store, lines[i], true);
    }
    assert_true(failed > 30);
}
