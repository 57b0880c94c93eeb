/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_sort_test.c - SORT: replies as recorded from redis-server 7.0.15, in
 * this order; large and many keys.
 */
#include "embedded_store.h"

#include "util/mem.h"

static const struct {
    const char *line;
    const char *want;
} rows[] = {
    /* clang-format off */
    /* numbers */
    {"rpush l 3 1 2 10 -5 1.5", "i:6"},
    {"sort l", "[s:-5, s:1, s:1.5, s:2, s:3, s:10]"},
    {"sort l desc", "[s:10, s:3, s:2, s:1.5, s:1, s:-5]"},
    {"sort l asc", "[s:-5, s:1, s:1.5, s:2, s:3, s:10]"},
    {"sort l desc asc", "[s:-5, s:1, s:1.5, s:2, s:3, s:10]"},
    {"sort l limit 1 2", "[s:1, s:1.5]"},
    {"sort l limit 0 0", "[]"},
    {"sort l limit 0 -1", "[s:-5, s:1, s:1.5, s:2, s:3, s:10]"},
    {"sort l limit -5 2", "[s:-5, s:1]"},
    {"sort l limit 2 100", "[s:1.5, s:2, s:3, s:10]"},
    {"sort l limit 100 2", "[]"},
    {"sort l desc limit 1 2", "[s:3, s:2]"},
    {"sort l alpha", "[s:-5, s:1, s:1.5, s:10, s:2, s:3]"},
    {"sort l alpha desc", "[s:3, s:2, s:10, s:1.5, s:1, s:-5]"},
    {"sort_ro l", "[s:-5, s:1, s:1.5, s:2, s:3, s:10]"},
    {"sort none", "[]"},
    {"sort none alpha", "[]"},
    {"sort none by nosort get x*", "[]"},
    /* not numbers */
    {"rpush t b a c", "i:3"},
    {"sort t", "One or more scores can't be converted into double"},
    {"sort t desc limit 0 1", "One or more scores can't be converted into double"},
    {"sort t limit 9 1", "One or more scores can't be converted into double"},
    {"sort t limit 0 0", "One or more scores can't be converted into double"},
    {"sort t alpha", "[s:a, s:b, s:c]"},
    {"sort t ALPHA DESC LIMIT 1 1", "[s:b]"},
    {"sort t by nosort", "[s:b, s:a, s:c]"},
    {"sort t by nosort desc", "[s:c, s:a, s:b]"},
    {"sort t by nosort desc limit 1 1", "[s:a]"},
    {"sort t by nosort limit 1 5", "[s:a, s:c]"},
    /* equal numbers are ordered by bytes */
    {"rpush eq 1.0 01 1 1e0", "i:4"},
    {"sort eq", "[s:01, s:1, s:1.0, s:1e0]"},
    {"sort eq desc", "[s:1e0, s:1.0, s:1, s:01]"},
    /* what strtod() accepts, and what it does not */
    {"rpush odd 0x10 1e1 \"\" inf -inf", "i:5"},
    {"sort odd", "[s:-inf, s:, s:1e1, s:0x10, s:inf]"},
    {"rpush nan nan", "i:1"},
    {"sort nan", "One or more scores can't be converted into double"},
    {"rpush tail 1x", "i:1"},
    {"sort tail", "One or more scores can't be converted into double"},
    /* BY */
    {"mset w_a 3 w_b 1 w_c 2", "+:OK"},
    {"sort t by w_*", "[s:b, s:c, s:a]"},
    {"sort t by w_* desc", "[s:a, s:c, s:b]"},
    {"sort t by w_* limit 1 1", "[s:c]"},
    {"sort t by w_* get w_*", "[s:1, s:2, s:3]"},
    {"sort t by w_* get w_* get # get none_*", "[s:1, s:b, nil, s:2, s:c, nil, s:3, s:a, nil]"},
    {"sort t by w_* get w_* limit 0 2", "[s:1, s:2]"},
    {"mset v_a x v_b z v_c y", "+:OK"},
    {"sort t by v_*", "One or more scores can't be converted into double"},
    {"sort t by v_* alpha", "[s:a, s:c, s:b]"},
    {"sort t by v_* alpha desc", "[s:b, s:c, s:a]"},
    {"sort t by v_* alpha desc limit 0 1", "[s:b]"},
    {"sort t by none_*", "[s:a, s:b, s:c]"},
    {"sort t by none_* desc", "[s:c, s:b, s:a]"},
    {"sort t by none_* alpha", "[s:b, s:a, s:c]"},
    {"sort t by w_* by v_* alpha", "[s:a, s:c, s:b]"},
    {"sort t by nosort by w_*", "[s:b, s:a, s:c]"},
    {"sort t by w_* by nosort", "[s:b, s:a, s:c]"},
    {"sort t by nosort alpha", "[s:b, s:a, s:c]"},
    {"sort t by # desc", "[s:c, s:a, s:b]"},
    {"set w_a nothing", "+:OK"},
    {"sort t by w_*", "One or more scores can't be converted into double"},
    {"sort t by w_* alpha", "[s:b, s:c, s:a]"},
    {"del w_a", "i:1"},
    {"sort t by w_*", "[s:a, s:b, s:c]"},
    {"sort t by w_* desc", "[s:c, s:b, s:a]"},
    /* hash fields */
    {"hset h_a w 3 name Ann", "i:2"},
    {"hset h_b w 1 name Bob", "i:2"},
    {"hset h_c w 2", "i:1"},
    {"sort t by h_*->w", "[s:b, s:c, s:a]"},
    {"sort t by h_*->w get h_*->name", "[s:Bob, nil, s:Ann]"},
    {"sort t by h_*->w get h_*->name get h_*->none get h_*->w", "[s:Bob, nil, s:1, nil, nil, s:2, s:Ann, nil, s:3]"},
    {"sort t by h_*->none", "[s:a, s:b, s:c]"},
    {"sort t by h_*-> alpha", "[s:b, s:a, s:c]"},
    {"sort t by nosort get h_*->", "[nil, nil, nil]"},
    {"set k->x value", "+:OK"},
    {"sort t by nosort get h_*->w->x", "[nil, nil, nil]"},
    {"sort t by nosort get w_*->w", "[nil, nil, nil]"},
    {"sort t by nosort get h_*", "[nil, nil, nil]"},
    {"rpush arrow k", "i:1"},
    {"sort arrow by nosort get *->x", "[nil]"},
    /* other GETs */
    {"sort t by nosort get *", "[nil, nil, nil]"},
    {"sort t by nosort get ##", "[nil, nil, nil]"},
    {"sort t by nosort get \"\"", "[nil, nil, nil]"},
    {"sort t by nosort get nothing", "[nil, nil, nil]"},
    {"mset *a star w_a* tail", "+:OK"},
    {"sort t by nosort get *a", "[nil, nil, nil]"},
    {"sort t by nosort get ** limit 0 1", "[nil]"},
    /* sets */
    {"sadd s 3 1 2 10", "i:4"},
    {"sort s", "[s:1, s:2, s:3, s:10]"},
    {"sort s desc", "[s:10, s:3, s:2, s:1]"},
    {"sort s limit 1 2", "[s:2, s:3]"},
    {"sort s alpha", "[s:1, s:10, s:2, s:3]"},
    {"sadd words b a c", "i:3"},
    {"sort words", "One or more scores can't be converted into double"},
    {"sort words alpha", "[s:a, s:b, s:c]"},
    {"sort words alpha desc", "[s:c, s:b, s:a]"},
    {"sort words by w_*", "[s:a, s:b, s:c]"},
    {"sort words by v_* alpha get #", "[s:a, s:c, s:b]"},
    /* sorted sets */
    {"zadd z 1 c 2 b 3 a 0 5", "i:4"},
    {"sort z by nosort", "[s:5, s:c, s:b, s:a]"},
    {"sort z by nosort desc", "[s:a, s:b, s:c, s:5]"},
    {"sort z by nosort limit 1 2", "[s:c, s:b]"},
    {"sort z by nosort desc limit 1 2", "[s:b, s:c]"},
    {"sort z alpha", "[s:5, s:a, s:b, s:c]"},
    {"sort z", "One or more scores can't be converted into double"},
    {"zadd zn 1 30 2 20 3 10", "i:3"},
    {"sort zn", "[s:10, s:20, s:30]"},
    {"sort zn desc limit 0 2", "[s:30, s:20]"},
    {"sort zn get #", "[s:10, s:20, s:30]"},
    {"zadd ptxlist 100 data1 200 data2 300 data3 400 data4 500 data5", "i:5"},
    {"mset ptx:data1 one ptx:data3 three ptx:data4 four ptx:data5 five", "+:OK"},
    {"sort ptxlist limit 0 2 desc by not-exist-key get ptx:*", "[s:five, s:four]"},
    {"sort_ro ptxlist LIMIT 0 2 DESC BY not-exist-key GET # GET ptx:*", "[s:data5, s:five, s:data4, s:four]"},
    /* STORE */
    {"sort l store to", "i:6"},
    {"lrange to 0 -1", "[s:-5, s:1, s:1.5, s:2, s:3, s:10]"},
    {"type to", "+:list"},
    {"sort t by w_* get w_* get # store to", "i:6"},
    {"lrange to 0 -1", "[s:, s:a, s:1, s:b, s:2, s:c]"},
    {"sort t by nosort get none_* store to", "i:3"},
    {"lrange to 0 -1", "[s:, s:, s:]"},
    {"sort none store to", "i:0"},
    {"exists to", "i:0"},
    {"set to string", "+:OK"},
    {"expire to 100", "i:1"},
    {"sort l limit 0 2 desc store to", "i:2"},
    {"ttl to", "i:-1"},
    {"lrange to 0 -1", "[s:10, s:3]"},
    {"sort to alpha store to", "i:2"},
    {"lrange to 0 -1", "[s:10, s:3]"},
    {"sort to limit 5 5 store to", "i:0"},
    {"exists to", "i:0"},
    {"sort words by nosort store to", "i:3"},
    {"lrange to 0 -1", "[s:a, s:b, s:c]"},
    {"sort words by nosort desc limit 0 2 store to", "i:2"},
    {"lrange to 0 -1", "[s:c, s:b]"},
    {"sort z by nosort desc store to", "i:4"},
    {"lrange to 0 -1", "[s:a, s:b, s:c, s:5]"},
    {"sort t store to", "One or more scores can't be converted into double"},
    {"lrange to 0 -1", "[s:a, s:b, s:c, s:5]"},
    {"sort l store to store other", "i:6"},
    {"exists to other", "i:2"},
    {"sort t alpha get v_* store v_a", "i:3"},
    {"lrange v_a 0 -1", "[s:x, s:z, s:y]"},
    {"set v_a x", "+:OK"},
    /* errors */
    {"sort", "wrong number of arguments for 'sort' command"},
    {"sort l limit 1", "syntax error"},
    {"sort l limit x 1", "value is not an integer or out of range"},
    {"sort l limit 1 x", "value is not an integer or out of range"},
    {"sort l by", "syntax error"},
    {"sort l get", "syntax error"},
    {"sort l store", "syntax error"},
    {"sort l foo", "syntax error"},
    {"sort_ro l store to", "syntax error"},
    {"sort l limit 1 x foo", "value is not an integer or out of range"},
    {"sort l foo limit 1 x", "syntax error"},
    {"set str v", "+:OK"},
    {"sort str", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"sort str foo", "syntax error"},
    {"hset h f v", "i:1"},
    {"sort h", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"sort_ro h by nosort", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"rpush huge 1e400", "i:1"},
    {"sort huge", "One or more scores can't be converted into double"},
    {"rpush tiny 1e-400", "i:1"},
    {"sort tiny", "One or more scores can't be converted into double"},
    /* clang-format on */
};

static int set_up(void **state)
{
    script_budget_ms = 10000; /* of what repeats until the store has grown */
    return open_volatile_place(state);
}

EACH_TEST_WITH(set_up, remove_state_place);

TEST(commands_answer_as_redis_does)
{
    place *at = *state;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        expect(at->store, rows[i].line, rows[i].want);
}

TEST(a_text_with_a_nul_is_collated_up_to_it)
{
    place *at = *state;
    char text[TEXT_SIZE];

    (void)evaluate(at->store,
                   "redis.call('rpush', 'l', 'a\\0z', 'b', 'a\\0a', 'a') "
                   "redis.call('sort', 'l', 'alpha', 'store', 'to') "
                   "return {redis.call('sort', 'l', 'alpha'), "
                   "redis.call('sort', 'l', 'alpha', 'desc'), "
                   "redis.call('lrange', 'to', 0, -1)}",
                   0, "", text);
    assert_string_equal(text, "[[s:a\\x00z, s:a\\x00a, s:a, s:b], "
                              "[s:b, s:a\\x00z, s:a\\x00a, s:a], "
                              "[s:a, s:a\\x00a, s:a\\x00z, s:b]]");
}

/* An unordered set is sorted in a script, as in Redis. */
TEST(a_set_in_a_script_is_sorted)
{
    place *at = *state;
    char text[TEXT_SIZE];

    (void)evaluate(at->store,
                   "redis.call('sadd', 's', 'b', '10', 'a', '9') "
                   "return redis.call('sort', 's', 'by', 'nosort')",
                   0, "", text);
    assert_string_equal(text, "[s:10, s:9, s:a, s:b]");
}

/* More weights than a transaction keeps keys in memory; large values; and all
 * of it stored. */
TEST(many_weights_and_long_values)
{
    static const char source[] =
        "local kind, put = ARGV[1], ARGV[2]\n"
        "local long = string.rep('x', 3000)\n"
        "redis.call('flushall')\n"
        "for i = 1, 600 do\n"
        "    local m = string.format('m%04d', i)\n"
        "    if put == 'zadd' then redis.call('zadd', 'k', 0, m)\n"
        "    else redis.call(put, 'k', m) end\n"
        "    redis.call('set', 'w_' .. m, (i * 7) % 600)\n"
        "    redis.call('hset', 'h_' .. m, 'text', 't' .. (i * 7) % 600,\n"
        "        'long', long .. m)\n"
        "end\n"
        "local n = redis.call('sort', 'k', 'by', 'w_*', 'get', '#', 'get',\n"
        "    'h_*->long', 'get', 'w_*', 'store', 'to')\n"
        "local good = n == 1800 and redis.call('llen', 'to') == 1800\n"
        "local to = redis.call('lrange', 'to', 0, -1)\n"
        "for i = 0, 599 do\n"
        "    local m, text, w = to[3 * i + 1], to[3 * i + 2], to[3 * i + 3]\n"
        "    good = good and tonumber(w) == i and text == long .. m and\n"
        "        (tonumber(m:sub(2)) * 7) % 600 == i\n"
        "end\n"
        "return {good, redis.call('sort', 'k', 'by', 'w_*', 'desc', 'limit',\n"
        "    1, 2, 'get', 'w_*', 'get', '#'),\n"
        "    redis.call('sort', 'k', 'by', 'h_*->text', 'alpha', 'limit',\n"
        "    0, 3, 'get', 'h_*->text'),\n"
        "    redis.call('sort', 'k', 'alpha', 'desc', 'limit', 0, 2)}\n";
    static const char *const puts[] = {"rpush", "sadd", "zadd"};
    place *at = *state;
    char line[64], text[TEXT_SIZE];

    for (size_t i = 0; i < 3; i++) {
        (void)snprintf(line, sizeof(line), "key %s", puts[i]);
        (void)evaluate(at->store, source, 0, line, text);
        assert_string_equal(text, "[i:1, [s:598, s:m0514, s:597, s:m0171], "
                                  "[s:t0, s:t1, s:t10], [s:m0600, s:m0599]]");
    }
}

TEST(more_gets_than_seem_sensible)
{
    place *at = *state;
    char line[TEXT_SIZE] = "sort l by nosort";
    char want[TEXT_SIZE] = "[s:a";

    expect(at->store, "rpush l a", "i:1");
    for (int i = 0; i < 20; i++) {
        put_text(line, " get #");
        put_text(want, i > 0 ? ", s:a" : "");
    }
    put_text(want, "]");
    expect(at->store, line, want);
}

/* Lists, sets and sorting of both forms; the first failure. */
static hf_status use_everything(hf__store *store)
{
    static const char source[] =
        "local long = string.rep('x', 600)\n"
        "for i = 1, 3 do\n"
        "    redis.call('rpush', 'l', long .. i)\n"
        "    redis.call('sadd', 's', long .. i)\n"
        "    redis.call('set', 'w_' .. long .. i, i)\n"
        "end\n"
        "redis.call('linsert', 'l', 'after', long .. '1', 'x')\n"
        "redis.call('lmove', 'l', 'l', 'left', 'right')\n"
        "redis.call('lrem', 'l', 0, 'x')\n"
        "return {redis.call('sort', 'l', 'by', 'w_*', 'get', 'w_*', 'store',\n"
        "    'to'), redis.call('sunionstore', 't', 's', 's'),\n"
        "    redis.call('lrange', 'to', 0, -1)}\n";
    static const char *const lines[] = {
        "lpos l x count 0",
        "sort l alpha by w_*",
        "sinter s t",
        "sunion s t",
        "srandmember s 2",
        "spop t 2",
        "sort s by w_* store s2",
        "lpop l 2",
    };
    char text[TEXT_SIZE];
    hf_status status = evaluate(store, source, 0, "", text);

    if (status == HF_OK && strcmp(text, "[i:3, i:3, [s:1, s:2, s:3]]") != 0)
        fail_msg("got %s", text);
    for (size_t i = 0; status == HF_OK && i < sizeof(lines) / sizeof(lines[0]);
         i++)
        status = command(store, lines[i], text);
    return status;
}

/* The n-th allocation fails, for every n; the store remains usable. */
TEST(memory_may_end_anywhere)
{
    place *at = *state;
    hf_status status = HF_NO_MEMORY;
    long n;

    for (n = 0; status != HF_OK && n < 5000; n++) {
        close_store(at->store);
        at->store = must_open(at->url, NULL);
        hf__alloc_fail_after(n);
        status = use_everything(at->store);
        hf__alloc_fail_after(-1);
        if (status != HF_OK && status != HF_NO_MEMORY)
            fail_msg("allocation %ld: status %d", n, status);
        expect(at->store, "flushall", "+:OK");
        if (n % 8 == 0)
            assert_int_equal(use_everything(at->store), HF_OK);
        expect(at->store, "flushall", "+:OK");
    }
    assert_int_equal(status, HF_OK);
    assert_true(n > 50);
}
