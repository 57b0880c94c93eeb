/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_set_test.c - sets: every command's replies as recorded from
 * redis-server 7.0.15, in this order, where these are not random; large sets.
 */
#include "embedded_store.h"

static const struct {
    const char *line;
    const char *want;
} rows[] = {
    /* clang-format off */
    /* members */
    {"sadd", "wrong number of arguments for 'sadd' command"},
    {"sadd s", "wrong number of arguments for 'sadd' command"},
    {"sadd s a b c a", "i:3"},
    {"sadd s a d", "i:1"},
    {"scard s", "i:4"},
    {"scard none", "i:0"},
    {"type s", "+:set"},
    {"sismember s a", "i:1"},
    {"sismember s z", "i:0"},
    {"sismember none a", "i:0"},
    {"smismember s a z d", "[i:1, i:0, i:1]"},
    {"smismember none a b", "[i:0, i:0]"},
    {"smismember s", "wrong number of arguments for 'smismember' command"},
    {"srem s a z", "i:1"},
    {"srem none a", "i:0"},
    {"smembers none", "[]"},
    {"srem s b c d e", "i:3"},
    {"exists s", "i:0"},
    {"sadd one x", "i:1"},
    {"smembers one", "[s:x]"},
    /* SMOVE */
    {"sadd m1 a b", "i:2"},
    {"sadd m2 b", "i:1"},
    {"smove m1 m2 a", "i:1"},
    {"smove m1 m2 b", "i:1"},
    {"exists m1", "i:0"},
    {"scard m2", "i:2"},
    {"smove m2 m2 a", "i:1"},
    {"smove m2 m2 z", "i:0"},
    {"smove none m2 a", "i:0"},
    {"smove m2 new z", "i:0"},
    {"exists new", "i:0"},
    {"smove m2 new a", "i:1"},
    {"smembers new", "[s:a]"},
    /* SPOP and SRANDMEMBER */
    {"sadd p x", "i:1"},
    {"spop p", "s:x"},
    {"exists p", "i:0"},
    {"spop none", "nil"},
    {"spop none 1", "[]"},
    {"sadd p x", "i:1"},
    {"spop p 0", "[]"},
    {"spop p -1", "value is out of range, must be positive"},
    {"spop p x", "value is out of range, must be positive"},
    {"spop p 1 2", "syntax error"},
    {"spop p 5", "[s:x]"},
    {"exists p", "i:0"},
    {"sadd p x", "i:1"},
    {"srandmember p", "s:x"},
    {"srandmember p 5", "[s:x]"},
    {"srandmember p -3", "[s:x, s:x, s:x]"},
    {"srandmember p 0", "[]"},
    {"srandmember p x", "value is not an integer or out of range"},
    {"srandmember p -9223372036854775808", "value is out of range, value must between -9223372036854775807 and 9223372036854775807"},
    {"srandmember p 1 2", "syntax error"},
    {"srandmember none", "nil"},
    {"srandmember none 5", "[]"},
    {"srandmember none -5", "[]"},
    {"srandmember none x", "value is not an integer or out of range"},
    {"spop none -1", "value is out of range, must be positive"},
    /* algebra */
    {"sadd a1 a b c", "i:3"},
    {"sadd a2 b c d", "i:3"},
    {"sadd a3 c", "i:1"},
    {"sinter a1 a2 a3", "[s:c]"},
    {"sinter a1 none", "[]"},
    {"sinter none", "[]"},
    {"sdiff a1 a2", "[s:a]"},
    {"sdiff none a1", "[]"},
    {"sdiff a3 a1", "[]"},
    {"sunion a3 none", "[s:c]"},
    {"sunion none", "[]"},
    {"sinterstore d a1 a2", "i:2"},
    {"scard d", "i:2"},
    {"sinterstore d a1 none", "i:0"},
    {"exists d", "i:0"},
    {"sunionstore d a1 a2", "i:4"},
    {"scard d", "i:4"},
    {"sdiffstore d a1 a2", "i:1"},
    {"smembers d", "[s:a]"},
    {"sdiffstore d none a1", "i:0"},
    {"exists d", "i:0"},
    {"sunionstore a3 a3 a3", "i:1"},
    {"smembers a3", "[s:c]"},
    {"sinterstore a1 a1 a2", "i:2"},
    {"scard a1", "i:2"},
    {"sinter", "wrong number of arguments for 'sinter' command"},
    {"sinterstore d", "wrong number of arguments for 'sinterstore' command"},
    /* SINTERCARD */
    {"sadd b1 a b c d", "i:4"},
    {"sadd b2 b c d e", "i:4"},
    {"sintercard 2 b1 b2", "i:3"},
    {"sintercard 2 b1 b2 limit 2", "i:2"},
    {"sintercard 2 b1 b2 limit 0", "i:3"},
    {"sintercard 2 b1 b2 limit 10", "i:3"},
    {"sintercard 2 b1 b2 LIMIT 1 limit 2", "i:2"},
    {"sintercard 1 b1", "i:4"},
    {"sintercard 2 b1 none", "i:0"},
    {"sintercard 0 b1", "numkeys should be greater than 0"},
    {"sintercard x b1", "numkeys should be greater than 0"},
    {"sintercard -1 b1", "numkeys should be greater than 0"},
    {"sintercard 3 b1 b2", "Number of keys can't be greater than number of args"},
    {"sintercard 9223372036854775807 b1 b2", "Number of keys can't be greater than number of args"},
    {"sintercard 2 b1 b2 limit", "syntax error"},
    {"sintercard 2 b1 b2 limit -1", "LIMIT can't be negative"},
    {"sintercard 2 b1 b2 limit x", "LIMIT can't be negative"},
    {"sintercard 2 b1 b2 foo 1", "syntax error"},
    {"sintercard 2", "wrong number of arguments for 'sintercard' command"},
    /* other types */
    {"set str v", "+:OK"},
    {"sadd str a", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"srem str a", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"scard str", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"smembers str", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"sismember str a", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"smismember str a", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"spop str", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"spop str 1", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"spop str x", "value is out of range, must be positive"},
    {"srandmember str", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"srandmember str 1", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"smove str b1 a", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"smove b1 str a", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"smove b1 str z", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"smove none str a", "i:0"},
    {"sinter str", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"sinter none str", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"sinter str none", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"sunion b1 str", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"sdiff none str", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"sdiff str none", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"sinterstore d none str", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"sintercard 2 none str", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"sunionstore str a3", "i:1"},
    {"type str", "+:set"},
    {"smembers str", "[s:c]"},
    {"get b1", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"lpush b1 a", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"hset b1 a b", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"zadd b1 1 a", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    /* empty members, and an expiry that is kept or removed */
    {"sadd e \"\" \"\"", "i:1"},
    {"smembers e", "[s:]"},
    {"sismember e \"\"", "i:1"},
    {"expire b1 100", "i:1"},
    {"sadd b1 more", "i:1"},
    {"ttl b1", "i:100"},
    {"sunionstore b1 a3", "i:1"},
    {"ttl b1", "i:-1"},
    /* SSCAN */
    {"sscan none 0", "[s:0, []]"},
    {"sscan none x", "invalid cursor"},
    {"sadd scan a", "i:1"},
    {"sscan scan 0", "[s:0, [s:a]]"},
    {"sscan scan 0 match b* count 5", "[s:0, []]"},
    {"sscan scan 0 match a", "[s:0, [s:a]]"},
    {"sscan scan x", "invalid cursor"},
    {"sscan scan 0 count 0", "syntax error"},
    {"sscan scan 0 count x", "value is not an integer or out of range"},
    {"sscan scan 0 match", "syntax error"},
    {"sscan scan 0 foo 1", "syntax error"},
    {"sscan scan", "wrong number of arguments for 'sscan' command"},
    {"sscan str 0", "[s:0, [s:c]]"},
    /* clang-format on */
};

EACH_TEST_WITH(open_volatile_place, remove_state_place);

TEST(commands_answer_as_redis_does)
{
    place *at = *state;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        expect(at->store, rows[i].line, rows[i].want);
}

static void take_records(void *user, const char *name, const char *value)
{
    if (strcmp(name, "records") == 0)
        *(long *)user = strtol(value, NULL, 10);
}

static long count_records(hf__store *store)
{
    long records = -1;

    hf__embedded_store_ops.describe(store, take_records, &records);
    return records;
}

/* Elements of a deleted key are removed a few per commit. */
static void let_reclaim(hf__store *store)
{
    char want[32];

    for (int i = 1; i <= 100; i++) {
        (void)snprintf(want, sizeof(want), "i:%d", i);
        expect(store, "incr reclaim:n", want);
    }
}

/* -------------------------------------------------------------- large ones */

static void fill(place *at, const char *key, int first, int count)
{
    char line[64];

    for (int i = first; i < first + count; i++) {
        (void)snprintf(line, sizeof(line), "sadd %s member-%d", key, i);
        expect(at->store, line, "i:1");
        expect(at->store, line, "i:0");
    }
}

TEST(large_set_keeps_every_member)
{
    place *at = *state;
    char line[64];

    fill(at, "s", 0, 1000);
    expect(at->store, "scard s", "i:1000");
    for (int i = 0; i < 1000; i += 3) {
        (void)snprintf(line, sizeof(line), "srem s member-%d none", i);
        expect(at->store, line, "i:1");
    }
    for (int i = 0; i < 1000; i++) {
        (void)snprintf(line, sizeof(line), "sismember s member-%d", i);
        expect(at->store, line, i % 3 == 0 ? "i:0" : "i:1");
    }
    expect(at->store, "scard s", "i:666");
    expect(at->store, "smismember s member-1 member-3 x", "[i:1, i:0, i:0]");
}

/* Names around the sizes at which they are folded, and far beyond. */
TEST(members_of_every_size_come_back)
{
    static char name[70000];
    place *at = *state;
    char text[TEXT_SIZE];
    hf_bytes words[] = {hf_str("sadd"), hf_str("s"), hf_view(name, 0)};
    const size_t sizes[] = {0,   440, 453, 454, 455, 480,  493,  494,
                            495, 510, 511, 512, 999, 5000, 70000};
    const size_t count = sizeof(sizes) / sizeof(sizes[0]);

    memset(name, 'n', sizeof(name));
    for (size_t i = 0; i < count; i++) {
        words[2].size = sizes[i];
        (void)perform(at->store, NULL, words, 3, 0, text);
        assert_string_equal(text, "i:1");
        (void)perform(at->store, NULL, words, 3, 0, text);
        assert_string_equal(text, "i:0");
    }
    expect(at->store, "sunionstore copy s", "i:15");
    expect(at->store, "sinterstore copy copy s", "i:15");
    words[0] = hf_str("srem");
    words[1] = hf_str("copy");
    for (size_t i = 0; i < count; i++) {
        words[2].size = sizes[i];
        (void)perform(at->store, NULL, words, 3, 0, text);
        assert_string_equal(text, "i:1");
    }
    expect(at->store, "exists copy", "i:0");
    expect(at->store, "sdiffstore copy s copy", "i:15");
}

/* The members of a large set are ordered by their hashes, which are stored:
 * other builds must find what this one adds. */
TEST(the_stored_hash_stays_as_it_is)
{
    place *at = *state;
    char text[TEXT_SIZE];

    fill(at, "s", 0, 300);
    (void)evaluate(at->store,
                   "local m = redis.call('smembers', KEYS[1]) "
                   "return {m[1], m[2], m[100], m[200], m[299], m[300]}",
                   1, "s", text);
    assert_string_equal(text, "[s:member-48, s:member-269, s:member-202, "
                              "s:member-140, s:member-217, s:member-94]");
}

TEST(algebra_of_large_sets)
{
    place *at = *state;

    fill(at, "a", 0, 600);
    fill(at, "b", 300, 600);
    expect(at->store, "sadd small member-299 member-300 x", "i:3");
    expect(at->store, "sintercard 2 a b", "i:300");
    expect(at->store, "sintercard 2 a b limit 7", "i:7");
    expect(at->store, "sinterstore to a b", "i:300");
    expect(at->store, "sismember to member-300", "i:1");
    expect(at->store, "sismember to member-299", "i:0");
    expect(at->store, "sunionstore to a b small", "i:901");
    expect(at->store, "sdiffstore to a b", "i:300");
    expect(at->store, "sdiff a b to", "[]");
    expect(at->store, "sinter small a b", "[s:member-300]");
    expect(at->store, "sdiff small b", "[s:member-299, s:x]");
    expect(at->store, "sunion small small",
           "[s:member-299, s:member-300, s:x]");
    expect(at->store, "sunionstore a a b", "i:900");
    expect(at->store, "scard a", "i:900");
}

/* More keys than a transaction keeps in memory. */
TEST(algebra_of_very_many_keys)
{
    place *at = *state;
    char text[TEXT_SIZE];

    (void)evaluate(at->store,
                   "local keys = {} "
                   "for i = 1, 1500 do keys[i] = 'set' .. i "
                   "redis.call('sadd', keys[i], 'every', 'm' .. i) end "
                   "return {redis.call('sinter', unpack(keys)), "
                   "redis.call('sunionstore', 'to', unpack(keys)), "
                   "redis.call('sdiff', unpack(keys)), "
                   "redis.call('sintercard', 1500, unpack(keys))}",
                   0, "", text);
    assert_string_equal(text, "[[s:every], i:1501, [s:m1], i:1]");
    (void)evaluate(at->store,
                   "local keys = {} "
                   "for i = 1, 1500 do keys[i] = 'set' .. i end "
                   "redis.call('set', 'set1500', 1) "
                   "return redis.pcall('sinter', unpack(keys)).err",
                   0, "", text);
    assert_string_equal(text, "s:WRONGTYPE Operation against a key holding "
                              "the wrong kind of value");
}

TEST(records_of_deleted_sets_go_away)
{
    place *at = *state;

    fill(at, "s", 0, 500);
    assert_int_equal(count_records(at->store), 502);
    expect(at->store, "del s", "i:1");
    fill(at, "s", 0, 300);
    expect(at->store, "sdiffstore s s s", "i:0");
    fill(at, "s", 0, 300);
    expect(at->store, "pexpire s 30", "i:1");
    hf__clock_sleep_until(hf__clock_boot_ms() + 40);
    expect(at->store, "scard s", "i:0");
    expect(at->store, "sadd s x", "i:1");
    let_reclaim(at->store);
    /* The header, the set, the counter. */
    assert_int_equal(count_records(at->store), 3);
}

/* Every member that stays is returned, whatever is added and removed meanwhile;
 * the scan ends. */
TEST(a_scan_gives_what_stays)
{
    static const char source[] =
        "local seen, given, cursor, calls = {}, 0, '0', 0\n"
        "for i = 1, 1000 do redis.call('sadd', 's', 'm' .. i) end\n"
        "repeat\n"
        "    local r = redis.call('sscan', 's', cursor, 'count', ARGV[1])\n"
        "    cursor, calls = r[1], calls + 1\n"
        "    for _, m in ipairs(r[2]) do\n"
        "        if not seen[m] then seen[m] = true given = given + 1 end\n"
        "    end\n"
        "    redis.call('sadd', 's', 'new' .. calls)\n"
        "    redis.call('srem', 's', 'new' .. (calls - 1), r[2][1])\n"
        "until cursor == '0' or calls > 2000\n"
        "for i = 1, 1000 do\n"
        "    if not seen['m' .. i] then return 'missing m' .. i end\n"
        "end\n"
        "return {given < 2000, calls}\n";
    place *at = *state;
    char text[TEXT_SIZE];
    int calls = 0;

    (void)evaluate(at->store, source, 0, "10", text);
    assert_int_equal(sscanf(text, "[i:1, i:%d]", &calls), 1);
    assert_in_range(calls, 100, 120);
    expect(at->store, "flushall", "+:OK");
    (void)evaluate(at->store, source, 0, "100000", text);
    assert_string_equal(text, "[i:1, i:1]");
}

/* ------------------------------------------------------------------ random */

/* What a script finds about `count` draws from sets of these sizes: all
 * distinct, all members, none left or all. */
TEST(draws_are_distinct_members)
{
    static const int sizes[] = {3, 40, 200, 1000, 9000};
    static const int counts[] = {1, 2, 3, 20, 70, 199};
    static const char source[] =
        "local size, count = tonumber(ARGV[1]), tonumber(ARGV[2])\n"
        "redis.call('del', KEYS[1])\n"
        "for i = 1, size do redis.call('sadd', KEYS[1], 'm' .. i) end\n"
        "local function check(drawn, count)\n"
        "    local seen = {}\n"
        "    if #drawn ~= count then return #drawn end\n"
        "    for i, m in ipairs(drawn) do\n"
        "        if seen[m] or not m:find('^m%d+$') then return m end\n"
        "        seen[m] = true\n"
        "    end\n"
        "    return 'good'\n"
        "end\n"
        "local some = redis.call('srandmember', KEYS[1], count)\n"
        "local repeated = redis.call('srandmember', KEYS[1], -count)\n"
        "local before = redis.call('scard', KEYS[1])\n"
        "local popped = redis.call('spop', KEYS[1], count)\n"
        "local wanted = math.min(size, count)\n"
        "for i, m in ipairs(popped) do\n"
        "    if redis.call('sismember', KEYS[1], m) == 1 then return m end\n"
        "end\n"
        "return {check(some, wanted), #repeated == count, before == size,\n"
        "    check(popped, wanted),\n"
        "    redis.call('scard', KEYS[1]) == size - wanted}\n";
    place *at = *state;
    char line[64], text[TEXT_SIZE];

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        for (size_t k = 0; k < sizeof(counts) / sizeof(counts[0]); k++) {
            (void)snprintf(line, sizeof(line), "s %d %d", sizes[i], counts[k]);
            (void)evaluate(at->store, source, 1, line, text);
            assert_string_equal(text, "[s:good, i:1, i:1, s:good, i:1]");
        }
    }
}

/* How often the rarest and the most frequent of `size` members is drawn, in
 * 100 draws of each on average. */
static void draw(place *at, int size, int *least, int *most)
{
    static const char add[] =
        "for i = 1, ARGV[1] do redis.call('sadd', 's', 'm' .. i) end";
    static const char some[] = "for i = 1, ARGV[1] do\n"
                               "    redis.call('hincrby', 'times', "
                               "redis.call('srandmember', 's'), 1)\n"
                               "end\n";
    static const char ends[] =
        "local least, most = 1000000, 0\n"
        "for i = 1, ARGV[1] do\n"
        "    local n = tonumber(redis.call('hget', 'times', 'm' .. i) or 0)\n"
        "    least, most = math.min(least, n), math.max(most, n)\n"
        "end\n"
        "return {least, most}\n";
    char line[32], text[TEXT_SIZE];

    expect(at->store, "flushall", "+:OK");
    (void)snprintf(line, sizeof(line), "%d", size);
    (void)evaluate(at->store, add, 0, line, text);
    for (int i = 0; i < 100; i++) {
        (void)evaluate(at->store, some, 0, line, text);
        assert_string_equal(text, "nil");
    }
    (void)evaluate(at->store, ends, 0, line, text);
    assert_int_equal(sscanf(text, "[i:%d, i:%d]", least, most), 2);
}

/* A member of a small set is drawn as often as another: 100 times, plus or
 * minus 10 standard deviations. In a large one its position in the order of
 * hashes changes that a little. */
TEST(draws_are_spread_over_the_set)
{
    place *at = *state;
    int least, most;

    draw(at, 20, &least, &most);
    assert_in_range(least, 30, 100);
    assert_in_range(most, 100, 200);
    draw(at, 500, &least, &most);
    assert_in_range(least, 10, 100);
    assert_in_range(most, 100, 300);
}

TEST(more_repetitions_than_fit_are_refused)
{
    place *at = *state;
    char text[TEXT_SIZE];

    expect(at->store, "sadd s x", "i:1");
    assert_int_equal(
        command(at->store, "srandmember s -9223372036854775807", text),
        HF_NO_MEMORY);
    expect(at->store, "scard s", "i:1");
}
