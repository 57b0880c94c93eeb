/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_script_test.c - scripts: answers and error texts, what they can
 * reach, what stops them. What is wanted in the table was recorded from
 * redis-server 7.0.15, in this order.
 */
#include "embedded_store.h"
#include "support/slowness.h"

static const struct {
    const char *source;
    const char *want;
} rows[] = {
    /* clang-format off */
    {"return redis.call('incr')", "Wrong number of args calling Redis command from script (line 1)"},
    {"return redis.call('nope')", "Unknown Redis command called from script (line 1)"},
    {"redis.call('set','s','x') return redis.call('incr','s')", "value is not an integer or out of range (line 1)"},
    {"return redis.call('hget','s','f')", "WRONGTYPE Operation against a key holding the wrong kind of value (line 1)"},
    {"error('boom')", "boom (line 1)"},
    {"error({err='MY boom'})", "MY boom (line 1)"},
    {"return x", "Script attempted to access nonexistent global variable 'x' (line 1)"},
    {"x=1", "Attempt to modify a readonly table (line 1)"},
    {"string.rep=1", "Attempt to modify a readonly table (line 1)"},
    {"redis.call=1", "Attempt to modify a readonly table (line 1)"},
    {"return redis.error_reply('foo')", "foo"},
    {"return redis.error_reply('-FOO bar')", "FOO bar"},
    {"return redis.error_reply('FOO bar')", "FOO bar"},
    {"return redis.error_reply('foo bar baz')", "foo bar baz"},
    {"return redis.error_reply('-FOO')", "FOO"},
    {"return redis.error_reply('')", "an error without a text"},
    {"return redis.pcall('nope')", "Unknown Redis command called from script"},
    {"return redis.pcall('nope').err", "s:ERR Unknown Redis command called from script"},
    {"return redis.pcall('hget','s','f').err", "s:WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"return redis.call({})", "Lua redis lib command arguments must be strings or integers (line 1)"},
    {"return redis.call()", "Please specify at least one argument for this redis lib call (line 1)"},
    {"return redis.pcall()", "Please specify at least one argument for this redis lib call"},
    {"local a=nil; return a.b", "attempt to index local 'a' (a nil value) (line 1)"},
    {"return {err='x y'}", "x y"},
    {"return {ok='fine'}", "+:fine"},
    {"return {err='x', ok='y'}", "x"},
    {"return {1,{err='x y'},3}", "[i:1, E:x y, i:3]"},
    {"return {{ok='a'},false,true,nil,4}", "[+:a, nil, i:1]"},
    {"syntax error here", "Error compiling script (new function): user_script:1: '=' expected near 'error'"},
    {"return redis.call('set','a')", "Wrong number of args calling Redis command from script (line 1)"},
    {"return redis.status_reply('hi')", "+:hi"},
    {"return redis.sha1hex('a')", "s:86f7e437faa5a7fce15d1ddcb9eaeaea377667b8"},
    {"return redis.sha1hex(12)", "s:7b52009b64fd0a2a49e6d8a939753077792b0554"},
    {"error(3)", "3 (line 1)"},
    {"return redis.call('eval','return 1',0)", "This Redis command is not allowed from script (line 1)"},
    {"return redis.call('script','load','x')", "This Redis command is not allowed from script (line 1)"},
    {"return redis.call('subscribe','x')", "This Redis command is not allowed from script (line 1)"},
    {"return redis.call('blpop','x',0)", "This Redis command is not allowed from script (line 1)"},
    {"return redis.call('BLPOP','x')", "Wrong number of args calling Redis command from script (line 1)"},
    {"return redis.call('config','get','x')", "This Redis command is not allowed from script (line 1)"},
    {"return redis.call('config','nope')", "Unknown Redis command called from script (line 1)"},
    {"return redis.call('publish','a','b')", "i:0"},
    {"return redis.call('ping')", "+:PONG"},
    {"return redis.call('ping','x')", "s:x"},
    {"return getmetatable('') == nil", "nil"},
    {"return setmetatable({},{__index=function() return 5 end}).x", "i:5"},
    {"return KEYS.x", "nil"},
    {"KEYS={1}", "Attempt to modify a readonly table (line 1)"},
    {"_G.x=1", "Attempt to modify a readonly table (line 1)"},
    {"return {1,2,nil,4}", "[i:1, i:2]"},
    {"return 3.99", "i:3"},
    {"return -3.99", "i:-3"},
    {"return {3.99,'3.99',-0.5}", "[i:3, s:3.99, i:0]"},
    {"return {a=1}", "[]"},
    {"return true", "i:1"},
    {"return false", "nil"},
    {"return nil", "nil"},
    {"return", "nil"},
    {"return redis.REDIS_VERSION", "s:7.0.15"},
    {"return redis.REDIS_VERSION_NUM", "i:458767"},
    {"return 2^63", "i:-9223372036854775808"},
    {"return -2^63", "i:-9223372036854775808"},
    {"return 2^53", "i:9007199254740992"},
    {"return 1e300", "i:-9223372036854775808"},
    {"return 0/0", "i:-9223372036854775808"},
    {"return redis.error_reply()", "wrong number or type of arguments"},
    {"return redis.error_reply(1)", "wrong number or type of arguments"},
    {"return redis.status_reply()", "wrong number or type of arguments"},
    {"return redis.sha1hex()", "wrong number of arguments (line 1)"},
    {"return redis.log()", "redis.log() requires two arguments or more. (line 1)"},
    {"return redis.log(9,'x')", "Invalid debug level. (line 1)"},
    {"return redis.log('a','x')", "First argument must be a number (log level). (line 1)"},
    {"return redis.log(redis.LOG_WARNING,'x')", "nil"},
    {"return pcall(redis.call,'nope')", "nil"},
    {"local a,b= pcall(redis.call,'nope') return {tostring(a),b}", "[s:false, s:ERR Unknown Redis command called from script]"},
    {"local ok,e=pcall(function() error({err='abc def'}) end) return e", "s:abc def"},
    {"local ok,e=pcall(function() error('abc def') end) return e", "s:user_script:1: abc def"},
    {"local r={pcall(function() return 1,2,3 end)} return #r", "i:4"},
    {"local ok,e=pcall(error) return tostring(e)", "s:nil"},
    {"local ok,e=xpcall(function() error('q') end, function(m) return 'h:'..m end) return e", "s:h:user_script:1: q"},
    {"return rawset(redis,'x',1)", "Attempt to modify a readonly table (line 1)"},
    {"return rawset(_G,'x',1)", "Attempt to modify a readonly table (line 1)"},
    {"return type(rawget(redis,'call'))", "s:function"},
    {"return rawget({7},1)", "i:7"},
    {"return tostring(rawget(_G,'nosuch'))", "s:nil"},
    {"return string.format('%s',-0)", "s:-0"},
    {"return redis.call('set','n',-0)", "+:OK"},
    {"redis.call('set',1.5,2e20) return redis.call('get',1.5)", "s:2e+20"},
    {"redis.call('set','k',0.1) return redis.call('get','k')", "s:0.10000000000000001"},
    {"redis.call('set','k',1e15) return redis.call('get','k')", "s:1000000000000000"},
    {"redis.call('set','k',123456789012345678) return redis.call('get','k')", "s:1.2345678901234568e+17"},
    {"redis.call('set','k',1/3) return redis.call('get','k')", "s:0.33333333333333331"},
    {"redis.call('set','k',1/0) return redis.call('get','k')", "s:inf"},
    {"redis.call('set','k',-5e-10) return redis.call('get','k')", "s:-5.0000000000000003e-10"},
    {"redis.call('set','k',99999999999999999) return redis.call('get','k')", "s:1e+17"},
    {"return redis.call('set','b',true)", "Lua redis lib command arguments must be strings or integers (line 1)"},
    {"return redis.call('set','b',nil)", "Lua redis lib command arguments must be strings or integers (line 1)"},
    {"return redis.call('GeT','n')", "s:-0"},
    {"return redis.call('nope','a','b','c')", "Unknown Redis command called from script (line 1)"},
    {"return redis.call(1)", "Unknown Redis command called from script (line 1)"},
    {"return redis.call('')", "Unknown Redis command called from script (line 1)"},
    {"return {{{1}}}", "[[[i:1]]]"},
    {"return {'a',{'b',{'c'}}}", "[s:a, [s:b, [s:c]]]"},
    {"return _VERSION", "s:Lua 5.1"},
    {"return type(os)", "Script attempted to access nonexistent global variable 'os' (line 1)"},
    {"return type(io)", "Script attempted to access nonexistent global variable 'io' (line 1)"},
    {"return dofile", "Script attempted to access nonexistent global variable 'dofile' (line 1)"},
    {"return print('x')", "Script attempted to access nonexistent global variable 'print' (line 1)"},
    {"return require('x')", "Script attempted to access nonexistent global variable 'require' (line 1)"},
    {"return setfenv", "Script attempted to access nonexistent global variable 'setfenv' (line 1)"},
    {"return newproxy", "Script attempted to access nonexistent global variable 'newproxy' (line 1)"},
    {"return loadstring('return 1+1')()", "i:2"},
    {"return (load(function() return nil end))()", "nil"},
    {"local i=0 return load(function() i=i+1 return ({'return ','7'})[i] end)()", "i:7"},
    {"return cjson.encode({1,2,{a='b'}})", "s:[1,2,{\"a\":\"b\"}]"},
    {"return cjson.decode('{\"a\":[1,2,3]}').a[3]", "i:3"},
    {"return cjson.decode('[1')", "Expected comma or array end but found T_END at character 3 (line 1)"},
    {"return tostring(cjson.null)", "s:userdata: (nil)"},
    {"return bit.band(255,15)", "i:15"},
    {"return bit.tohex(255)", "s:000000ff"},
    {"local t={} for i=1,10 do t[i]=i*i end return t", "[i:1, i:4, i:9, i:16, i:25, i:36, i:49, i:64, i:81, i:100]"},
    {"return redis.call('mget','a','n','nosuch')", "[nil, s:-0, nil]"},
    {"redis.call('hset','h','f','v','g','w') return redis.call('hgetall','h')", "[s:f, s:v, s:g, s:w]"},
    {"redis.call('zadd','zz',1,'a',2.5,'b') return redis.call('zrange','zz',0,-1,'withscores')", "[s:a, s:1, s:b, s:2.5]"},
    {"return redis.call('zscore','zz','b')", "s:2.5"},
    {"return redis.call('type','zz')", "+:zset"},
    {"return redis.call('type','zz').ok", "s:zset"},
    {"return redis.call('set','a','b').ok", "s:OK"},
    {"return redis.call('get','nosuch') == false", "i:1"},
    {"return type(redis.call('set','a','1','nx'))", "s:boolean"},
    {"redis.call('set','p','1') redis.call('incr','p') error('x')", "x (line 1)"},
    {"return redis.call('get','p')", "s:2"},
    {"redis.call('set','p','5') return redis.call('hget','p','x')", "WRONGTYPE Operation against a key holding the wrong kind of value (line 1)"},
    {"return redis.call('get','p')", "s:5"},
    {"return redis.setresp(2)", "nil"},
    {"return redis.replicate_commands()", "i:1"},
    {"return redis.set_repl(redis.REPL_ALL)", "nil"},
    {"return table.concat({1,2,3},',')", "s:1,2,3"},
    {"return ('x'):rep(3)", "s:xxx"},
    {"return string.rep('ab',3)", "s:ababab"},
    {"return #ARGV + #KEYS", "i:0"},
    {"return tostring(1e15)..tostring(12345678901234567890)", "s:1e+151.2345678901235e+19"},
    {"return unpack({1,2,3})", "i:1"},
    {"return select('#',1,2,3)", "i:3"},
    {"local t={} t[1]=1 t[2]=2 t[4]=4 return t", "[i:1, i:2]"},
    {"return {1,{2,nil,3},'x'}", "[i:1, [i:2], s:x]"},
    {"goto x", "Error compiling script (new function): user_script:1: '=' expected near 'x'"},
    {"return 10 == '10'", "nil"},
    {"return 'a\\0b'", "s:a\\x00b"},
    {"return {'a\\r\\nb'}", "[s:a\\x0d\\x0ab]"},
    {"return {ok='a\\r\\nb'}", "+:a  b"},
    {"return {err='a\\r\\nb'}", "a  b"},
    {"return string.find('abc','b',1,true)", "i:2"},
    {"return tonumber('0x10')", "i:16"},
    {"return tonumber('  12  ')", "i:12"},
    {"return 'é'", "s:\\xc3\\xa9"},
    {"redis.call('setex','k',100,'v') return redis.call('ttl','k')", "i:100"},
    {"return redis.call('time')[1]+0 > 1000", "i:1"},
    {"return type(redis.call('time')[2])", "s:string"},
    {"return redis.call('zpopmin','nosuch')[1]", "nil"},
    {"return redis.call('zpopmin','nosuch')", "[]"},
    {"return tostring(redis.call('hget','nosuch','x'))", "s:false"},
    {"return {redis.call('exists','a'),redis.call('pttl','nosuch')}", "[i:1, i:-2]"},
    {"return redis.call('set','a','b','badopt')", "syntax error (line 1)"},
    {"return redis.pcall('set','a','b','badopt')", "syntax error"},
    {"return redis.call('expire','a','x')", "value is not an integer or out of range (line 1)"},
    {"local x = redis.pcall('incr','h') return {x, 1}", "[E:WRONGTYPE Operation against a key holding the wrong kind of value, i:1]"},
    {"return {redis.pcall('incr','h')}", "[E:WRONGTYPE Operation against a key holding the wrong kind of value]"},
    {"return redis.call('sort','zz','by','nosort','get','#')", "[s:a, s:b]"},
    {"return coroutine.wrap(function() coroutine.yield(4) end)()", "i:4"},
    {"return coroutine.wrap(function() return redis.call('get','a') end)()", "s:b"},
    {"return math.mod(5,3)", "i:2"},
    {"return string.gfind ~= nil", "i:1"},
    {"return math.pi", "i:3"},
    {"return table.getn({1,2})", "i:2"},
    {"return struct.pack('>I2<i3bs', 258, -2, 127, 'ab')", "s:\\x01\\x02\\xfe\\xff\\xff\\x7fab\\x00"},
    {"return {struct.unpack('>I2<i3bs', '\\1\\2\\254\\255\\255\\127ab\\0')}", "[i:258, i:-2, i:127, s:ab, i:10]"},
    {"return {struct.unpack('bc0', '\\3abcd')}", "[s:abc, i:5]"},
    {"return {struct.size('!bi'), struct.size('bi'), struct.size('!4bd')}", "[i:8, i:5, i:12]"},
    {"return struct.unpack('d', 'abc')", "bad argument #2 to 'unpack' (data string too short) (line 1)"},
    {"return struct.pack('!3i', 1)", "alignment 3 is not a power of 2 (line 1)"},
    {"return struct.pack('i33', 1)", "integral size 33 is larger than limit of 32 (line 1)"},
    {"return struct.pack('q', 1)", "bad argument #1 to 'pack' (invalid format option 'q') (line 1)"},
    {"return cmsgpack.pack(1, -1, 300, 1.5, 0.1, 'ab', true, nil)", "s:\\x01\\xff\\xcd\\x01,\\xca?\\xc0\\x00\\x00\\xcb?\\xb9\\x99\\x99\\x99\\x99\\x99\\x9a\\xa2ab\\xc3\\xc0"},
    {"return cmsgpack.pack({1, {a = 2}}, {})", "s:\\x92\\x01\\x81\\xa1a\\x02\\x90"},
    {"return {cmsgpack.unpack(cmsgpack.pack(-2147483649, 4294967296, {'x', {}}))}", "[i:-2147483649, i:4294967296, [s:x, []]]"},
    {"return cmsgpack.unpack(cmsgpack.pack({a = {b = 7}})).a.b", "i:7"},
    {"return {cmsgpack.unpack_one('\\1\\2')}", "[i:1, i:1]"},
    {"return {cmsgpack.unpack_limit('\\1\\2\\3', 2, 1)}", "[i:-1, i:2, i:3]"},
    {"return cmsgpack.unpack('\\146\\1')", "Missing bytes in input. (line 1)"},
    {"return cmsgpack.unpack('\\193')", "Bad data format in input. (line 1)"},
    {"return cmsgpack.unpack(string.rep('\\145', 3000) .. '\\1')", "Too many nested tables in input. (line 1)"},
    {"local t = 1 for i = 1, 20 do t = {t} end return #cmsgpack.pack(t)", "i:17"},
    {"return tostring(nil)..tostring(true)", "s:niltrue"},
    {"return next({})", "nil"},
    {"return type(collectgarbage('count'))", "s:number"},
    {"return string.format('%q','a\\nb')", "s:\"a\\x5c\\x0ab\""},
    {"return #string.dump(function() end) > 10", "i:1"},
    /* Found by tests/differential. */
    {"redis.call('set','e','v','exat',1000) return {redis.call('get','e'), redis.call('exists','e'), redis.call('ttl','e'), redis.call('hset','e','f','v')}", "[nil, i:0, i:-2, i:1]"},
    {"return {{double=0.1},{double=1/0},{double=3}}", "[s:0.10000000000000001, s:inf, s:3]"},
    {"return {{big_number='12\\r\\n'},{map={a=7}},{set={a=true}},{set={[5]=true}}}", "[s:12  , [s:a, i:7], [s:a], [i:5]]"},
    {"return {map={a={map={b={1}}}}}", "[s:a, [s:b, [i:1]]]"},
    {"return {{verbatim_string={format='txt',string='hi'}},{verbatim_string={string='hi'}}}", "[s:hi, []]"},
    {"return {ok='a\\0b'}", "+:a"},
    {"return {{err='a\\0b'},{err='a b\\r\\n'}}", "[E:a, E:a b]"},
    {"return {redis.error_reply('MINE \\r\\n'), redis.error_reply('\\r\\n'), redis.error_reply('A \\r\\nb')}", "[E:MINE , E:ERR , E:A b]"},
    {"return cjson.encode(redis.pcall('time',1))", "s:{\"ignore_error_stats_update\":true,\"err\":\"ERR Wrong number of args calling Redis command from script\"}"},
    {"return cjson.encode(redis.pcall())", "s:{\"err\":\"ERR Please specify at least one argument for this redis lib call\"}"},
    {"local ok,e=pcall(error,{err=-1}) return {e}", "[i:-1]"},
    {"error(false)", "false (line 1)"},
    {"return setmetatable(_G,{})", "Attempt to modify a readonly table (line 1)"},
    {"getmetatable(_G).__index = {}", "Attempt to modify a readonly table (line 1)"},
    {"return setmetatable(string,nil)", "Attempt to modify a readonly table (line 1)"},
    {"return setmetatable({},{__index={x=6}}).x", "i:6"},
    {"return setmetatable(1,{})", "bad argument #1 to 'setmetatable' (table expected, got number) (line 1)"},
    {"return redis.acl_check_cmd('get','x')", "i:1"},
    {"return redis.acl_check_cmd()", "Please specify at least one argument for this redis lib call (line 1)"},
    {"return redis.acl_check_cmd('nosuch')", "Invalid command passed to redis.acl_check_cmd() (line 1)"},
    {"return redis.call('script','load')", "Wrong number of args calling Redis command from script (line 1)"},
    {"return redis.call('script','nosuch')", "Unknown Redis command called from script (line 1)"},
    /* clang-format on */
};

EACH_TEST_WITH(open_volatile_place, remove_state_place);

/* Run a script without words; fail unless its answer is `want`. */
static void expect_script(hf__store *store, const char *source,
                          const char *want)
{
    char text[TEXT_SIZE];
    hf_status status = evaluate(store, source, 0, "", text);

    /* A script may also return an error, which fails just the same. */
    (void)status;
    if (strcmp(text, want) != 0)
        fail_msg("%s: got %s, want %s", source, text, want);
}

TEST(scripts_answer_as_redis_does)
{
    place *at = *state;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        expect_script(at->store, rows[i].source, rows[i].want);
}

TEST(statuses_follow_the_error_texts)
{
    place *at = *state;
    char text[TEXT_SIZE];

    expect(at->store, "set s x", "+:OK");
    assert_int_equal(
        evaluate(at->store, "return redis.call('hlen','s')", 0, "", text),
        HF_WRONG_TYPE);
    assert_int_equal(evaluate(at->store, "error('x')", 0, "", text), HF_SCRIPT);
    assert_int_equal(evaluate(at->store, "return +", 0, "", text), HF_SCRIPT);
    assert_int_equal(
        evaluate(at->store, "return {err='WRONGTYPE x'}", 0, "", text),
        HF_WRONG_TYPE);
}

TEST(keys_and_arguments_are_those_of_this_run)
{
    static const char source[] =
        "return {#KEYS, KEYS[1], KEYS[2], #ARGV, ARGV[1], ARGV[2]}";
    place *at = *state;
    char text[TEXT_SIZE];

    (void)evaluate(at->store, source, 2, "a b c d", text);
    assert_string_equal(text, "[i:2, s:a, s:b, i:2, s:c, s:d]");
    (void)evaluate(at->store, source, 1, "a", text);
    assert_string_equal(text, "[i:1, s:a]");
    (void)evaluate(at->store, "KEYS[1] = 'changed' return 1", 1, "a", text);
    (void)evaluate(at->store, source, 1, "a", text);
    assert_string_equal(text, "[i:1, s:a]");
}

/* The tables of our own scripts are used again, and words that come again are
 * not made again: changes must all be seen. */
TEST(own_scripts_see_their_own_words)
{
    place *at = *state;
    char text[TEXT_SIZE];
    char line[128];

    expect(at->store, "set v 0", "+:OK");
    for (int i = 0; i < 200; i++) {
        (void)snprintf(line, sizeof(line), "v 1 %d %d %d", i, i + 1,
                       i % 3 == 0 ? 0 : 5000);
        assert_int_equal(own(at->store, HF__SCRIPT_VALUE_CAS, 1, line, text),
                         HF_OK);
        assert_string_equal(text, "i:1");
    }
    expect(at->store, "get v", "s:200");
    (void)own(at->store, HF__SCRIPT_VALUE_CAS, 1, "v 0 \"\" x 0", text);
    assert_string_equal(text, "s:200");
    expect(at->store, "del v", "i:1");
    (void)own(at->store, HF__SCRIPT_VALUE_CAS, 1, "v 0 \"\" \"\" 0", text);
    assert_string_equal(text, "i:1");
    expect(at->store, "get v", "s:");
    (void)own(at->store, HF__SCRIPT_LOCK_RENEW, 3, "a b c 1 2 3 9 9 9", text);
    assert_string_equal(text, "[i:1, i:0, i:2, i:0, i:3, i:0]");
    (void)own(at->store, HF__SCRIPT_LOCK_RENEW, 1, "a 1 9", text);
    assert_string_equal(text, "[i:1, i:0]");
}

#define FIRST "0123456789abcdef-000000000000001"
#define SECOND "0123456789abcdef-000000000000002"

TEST(lock_passes_from_owner_to_owner)
{
    place *at = *state;
    char first[TEXT_SIZE], text[TEXT_SIZE];

    (void)own(at->store, HF__SCRIPT_LOCK_ACQUIRE, 3,
              "l t w " FIRST " 60000 \"\" 0 0", first);
    (void)own(at->store, HF__SCRIPT_LOCK_ACQUIRE, 3,
              "l t w " FIRST " 60000 \"\" 0 0", text);
    assert_true(strcmp(text, first) > 0); /* another token, and its own */
    (void)own(at->store, HF__SCRIPT_LOCK_ACQUIRE, 3,
              "l t w " SECOND " 60000 inbox 7 0", text);
    assert_non_null(strstr(text, "s:" FIRST ", i:"));
    assert_non_null(strstr(text, ", i:0]"));
    expect(at->store, "zrange w 0 -1 withscores", "[s:inbox, s:7]");
    (void)own(at->store, HF__SCRIPT_LOCK_RELEASE, 3, "l t w " SECOND, text);
    assert_string_equal(text, "i:-1");
    (void)own(at->store, HF__SCRIPT_LOCK_RELEASE, 3, "l t w " FIRST, text);
    assert_string_equal(text, "i:1"); /* no client has that inbox */
    expect(at->store, "zcard w", "i:0");
    (void)own(at->store, HF__SCRIPT_LOCK_ACQUIRE, 3,
              "l t w " SECOND " 60000 \"\" 0 0", text);
    assert_true(strcmp(text, first) > 0);
}

TEST(what_a_failing_script_wrote_stays)
{
    place *at = *state;
    char text[TEXT_SIZE];

    assert_int_equal(evaluate(at->store,
                              "redis.call('set','a','1') error('late')", 0, "",
                              text),
                     HF_SCRIPT);
    expect(at->store, "get a", "s:1");
}

/* ------------------------------------------------------------------ limits */

/* Stopped, in time, and nothing is left of it. */
static void expect_stopped(hf__store *store, const char *source,
                           const char *why)
{
    char text[TEXT_SIZE];
    int64_t start_ms = hf__clock_boot_ms();

    if (evaluate(store, source, 0, "", text) != HF_SCRIPT)
        fail_msg("%s: %s", source, text);
    if (strstr(text, why) == NULL)
        fail_msg("%s: %s", source, text);
    assert_in_time(hf__clock_boot_ms() - start_ms, 2000 * SLOWER);
    expect(store, "exists trace", "i:0");
    expect(store, "set alive 1", "+:OK");
}

TEST(script_over_its_budget_is_undone)
{
    place *at = *state;

    expect_stopped(at->store, "redis.call('set','trace',1) while true do end",
                   "script_budget_ms");
    expect_stopped(at->store,
                   "redis.call('set','trace',1) "
                   "while true do pcall(function() while true do end end) end",
                   "script_budget_ms");
    expect_stopped(at->store,
                   "redis.call('set','trace',1) "
                   "local function f() while true do end end "
                   "while true do coroutine.wrap(f)() end",
                   "script_budget_ms");
    expect_stopped(at->store,
                   "redis.call('set','trace',1) "
                   "local function f() return coroutine.resume("
                   "coroutine.create(function() while true do end end)) end "
                   "while true do f() end",
                   "script_budget_ms");
    expect_stopped(at->store,
                   "redis.call('set','trace',1) "
                   "while true do redis.pcall('incr','trace') end",
                   "script_budget_ms");
}

/* Lua's own functions loop in C, where no hook looks at the clock. */
TEST(library_functions_are_stopped)
{
    place *at = *state;
    int64_t start_us = hf__clock_thread_us();
    char text[TEXT_SIZE];

    assert_int_equal(
        evaluate(at->store, "table.insert({}, -2e9, 1)", 0, "", text),
        HF_SCRIPT);
    assert_non_null(strstr(text, "budget"));
    assert_int_equal(
        evaluate(at->store, "return string.rep('', 2147483647)", 0, "", text),
        HF_OK);
    assert_string_equal(text, "s:");
    assert_int_equal(evaluate(at->store,
                              "local t = {1, 2} table.insert(t, 1, 0) "
                              "table.insert(t, 3) return {t, ('ab'):rep(3)}",
                              0, "", text),
                     HF_OK);
    assert_string_equal(text, "[[i:0, i:1, i:2, i:3], s:ababab]");
    assert_in_time((hf__clock_thread_us() - start_us) / 1000, 1000);
}

/* Time for what needs much memory. */
static void set_budget(place *at, int64_t budget_ms)
{
    close_store(at->store);
    script_budget_ms = budget_ms;
    at->store = must_open(at->url, NULL);
}

TEST(script_over_its_memory_is_undone)
{
    place *at = *state;
    int64_t before_ms = script_budget_ms;

    set_budget(at, 20000);
    expect_stopped(at->store,
                   "redis.call('set','trace',1) local t = {} "
                   "for i = 1, 1e9 do t[i] = ('x'):rep(1e5) .. i end",
                   "memory");
    expect_stopped(at->store,
                   "redis.call('set','trace',1) return ('x'):rep(1e9)",
                   "memory");
    expect_stopped(at->store,
                   "redis.call('set','trace',1) "
                   "while true do pcall(string.rep, 'x', 1e9) end",
                   "memory");
    set_budget(at, before_ms);
}

/* The request's own deadline counts, too. */
static void expect_undone_by(place *at, int64_t deadline_ms)
{
    static const char source[] =
        "redis.call('set','trace',1) while true do end";
    char sha1[HF__SHA1_HEX_SIZE];
    hf__script script = HF__USER_SCRIPT(source, sizeof(source) - 1, sha1);
    int64_t from_ms = hf__clock_boot_ms();
    hf__request request;

    hf__sha1_hex(source, sizeof(source) - 1, sha1);
    hf__request_init(&request);
    request.script = &script;
    request.deadline_ms = deadline_ms;
    hf__embedded_store_ops.perform(at->store, &request);
    assert_int_equal(request.status, HF_UNAVAILABLE);
    assert_in_time(hf__clock_boot_ms() - from_ms, 90);
    hf__request_done(&request);
    expect(at->store, "exists trace", "i:0");
}

TEST(script_past_its_deadline_is_undone)
{
    expect_undone_by(*state, hf__clock_boot_ms() + 20);
}

/* What waited for a processor may begin late. */
TEST(script_that_begins_late_is_undone)
{
    expect_undone_by(*state, hf__clock_boot_ms() - 1);
}

TEST(deep_recursion_is_an_error_only)
{
    place *at = *state;
    char text[TEXT_SIZE];

    assert_int_equal(
        evaluate(at->store, "local function f(n) return 1 + f(n + 1) end f(1)",
                 0, "", text),
        HF_SCRIPT);
    assert_non_null(strstr(text, "stack overflow"));
    assert_int_equal(evaluate(at->store,
                              "local t = {} for i = 1, 500 do t = {t} end "
                              "return t",
                              0, "", text),
                     HF_OK);
}

/* ---------------------------------------------------------------- isolation */

TEST(one_script_cannot_change_another)
{
    static const char *const attempts[] = {
        "redis.call = nil",
        "rawset(redis, 'call', nil)",
        "string.rep = nil",
        "getmetatable('').__index = nil",
        "setmetatable(_G, {})",
        "getmetatable(_G).__index = nil",
        "setmetatable(redis, {__index = function() return 1 end})",
        "_G.redis = nil",
        "rawset(_G, 'redis', nil)",
        "KEYS = nil ARGV = nil",
        "tonumber = nil",
        "table.insert(math, 1) math.floor = nil",
        "for k in pairs(redis) do redis[k] = nil end",
        "coroutine.wrap = nil",
        "cjson.encode = nil",
        "setmetatable(string, nil)",
        "debug.sethook()",
        "loadstring('redis = nil')()",
        "loadstring('tonumber = nil')()",
        "collectgarbage('stop')",
        "local e = getfenv() e.redis = nil"};
    place *at = *state;
    char text[TEXT_SIZE];

    for (size_t i = 0; i < sizeof(attempts) / sizeof(attempts[0]); i++) {
        (void)evaluate(at->store, attempts[i], 0, "", text);
        expect_script(at->store,
                      "redis.call('set', 'k', tonumber('7')) "
                      "return {redis.call('get', 'k'), ('a'):rep(2), "
                      "math.floor(1.5), #KEYS, type(cjson.encode), "
                      "type(coroutine.wrap)}",
                      "[s:7, s:aa, i:1, i:0, s:function, s:function]");
        (void)own(at->store, HF__SCRIPT_LOCK_ACQUIRE, 3,
                  "l t w " FIRST " 60000 \"\" 0 0", text);
        assert_non_null(strstr(text, "i:"));
    }
}

TEST(bytecode_is_refused)
{
    place *at = *state;
    char text[TEXT_SIZE];

    expect_script(at->store,
                  "return tostring(loadstring(string.dump(function() end)))",
                  "s:nil");
    assert_int_equal(evaluate(at->store, "\033Lua", 0, "", text), HF_SCRIPT);
}

TEST(setresp_gives_a_script_the_types_of_resp3)
{
    static const char *const cases[][2] = {
        {"return redis.call('hgetall', 'h')", "[s:f, s:v]"},
        {"return redis.call('hgetall', 'h').map.f", "s:v"},
        {"return next(redis.call('hgetall', 'none').map) == nil", "i:1"},
        {"return redis.call('smembers', 's').set.m", "i:1"},
        {"return redis.call('smembers', 's')", "[s:m]"},
        {"return redis.call('zscore', 'z', 'm').double * 2", "i:3"},
        {"return redis.call('zscore', 'z', 'm')", "s:1.5"},
        {"return redis.call('zrange', 'z', 0, -1, 'withscores')[1][2].double * "
         "2",
         "i:3"},
        {"return type(redis.call('get', 'none'))", "s:nil"},
        {"redis.setresp(2) return redis.call('get', 'none')", "nil"},
        {"return redis.call('mget', 'none', 'k')[2]", "s:v"},
        {"return {true, false}", "[i:1, i:0]"},
        {"return {verbatim_string = {format = 'markdown', string = 'x'}}",
         "s:x"},
        {"return {verbatim_string = {format = 'm', string = ''}}", "s:"},
        {"return {big_number = '12'}", "s:12"}};
    place *at = *state;

    expect_script(at->store,
                  "redis.call('hset', 'h', 'f', 'v') "
                  "redis.call('sadd', 's', 'm') redis.call('set', 'k', 'v') "
                  "return redis.call('zadd', 'z', '1.5', 'm')",
                  "i:1");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char source[160];

        (void)snprintf(source, sizeof(source), "redis.setresp(3) %s",
                       cases[i][0]);
        expect_script(at->store, source, cases[i][1]);
    }
    expect_script(at->store, "return redis.call('get', 'none') == false",
                  "i:1");
}

TEST(random_numbers_continue_until_seeded)
{
    static const char source[] = "return tostring(math.random())";
    place *at = *state;
    char first[TEXT_SIZE], second[TEXT_SIZE];

    (void)evaluate(at->store, source, 0, "", first);
    (void)evaluate(at->store, source, 0, "", second);
    assert_string_not_equal(first, second);
    /* What Redis draws. */
    expect_script(at->store,
                  "math.randomseed(42) "
                  "return {math.random(10), math.random(100)}",
                  "[i:8, i:35]");
    expect_script(at->store,
                  "math.randomseed(0) "
                  "return {math.random(1000), math.random(1000)}",
                  "[i:171, i:750]");
}

TEST(loaded_scripts_are_kept)
{
    place *at = *state;
    hf_bytes words[3] = {hf_view("script", 6), hf_view("load", 4),
                         hf_view("return 1", 8)};
    char text[TEXT_SIZE];

    (void)perform(at->store, NULL, words, 3, 0, text);
    assert_string_equal(text, "s:e0e1f9fabfc9d4800c877a703b823ac0578ff8db");
    expect(at->store,
           "script exists e0e1f9fabfc9d4800c877a703b823ac0578ff8db x",
           "[i:1, i:0]");
    expect(at->store, "script flush", "+:OK");
    expect(at->store, "script exists e0e1f9fabfc9d4800c877a703b823ac0578ff8db",
           "[i:0]");
    words[2] = hf_view("return +", 8);
    assert_int_equal(perform(at->store, NULL, words, 3, 0, text), HF_SCRIPT);
    assert_non_null(strstr(text, "user_script:1: unexpected symbol"));
}

/* More scripts than are remembered, each run twice. */
TEST(many_scripts_come_and_go)
{
    place *at = *state;
    char source[64], want[64];

    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 1200; i++) {
            (void)snprintf(source, sizeof(source), "return %d", i);
            (void)snprintf(want, sizeof(want), "i:%d", i);
            expect_script(at->store, source, want);
        }
    }
}

/* A script that touches more keys than are kept in memory at once. */
TEST(script_can_touch_any_number_of_keys)
{
    place *at = *state;

    expect_script(at->store,
                  "for i = 1, 3000 do redis.call('set', 'k' .. i, i) end "
                  "local sum = 0 "
                  "for i = 1, 3000 do sum = sum + redis.call('get', 'k' .. i) "
                  "redis.call('del', 'k' .. i) end return sum",
                  "i:4501500");
    expect(at->store, "dbsize", "i:0");
}

TEST(large_values_pass_through)
{
    place *at = *state;
    int64_t before_ms = script_budget_ms;

    set_budget(at, 20000);
    expect_script(at->store,
                  "redis.call('set', 'a', ('x'):rep(20000000)) "
                  "for i = 1, 20 do redis.call('append', 'a', 'tail') end "
                  "local v = redis.call('get', 'a') "
                  "return {#v, v:sub(-5)}",
                  "[i:20000080, s:ltail]");
    expect(at->store, "strlen a", "i:20000080");
    set_budget(at, before_ms);
}

TEST(first_line_says_what_a_script_may_do)
{
    place *at = *state;
    char text[TEXT_SIZE];

    expect_script(at->store,
                  "#!lua flags=no-writes\n"
                  "return redis.pcall('get', 'none')",
                  "nil");
    assert_int_equal(evaluate(at->store,
                              "#!lua flags=no-writes,allow-oom\n\n"
                              "redis.call('set', 'k', 1)",
                              0, "", text),
                     HF_SCRIPT);
    assert_string_equal(text, "Write commands are not allowed from read-only "
                              "scripts. (line 3)");
    expect_script(at->store, "#!lua\nreturn redis.call('set', 'k', 1)", "+:OK");
    assert_int_equal(evaluate(at->store, "#!lua flags=x\n", 0, "", text),
                     HF_SCRIPT);
    assert_string_equal(text, "Unexpected flag in script shebang: x");
    /* It counts again each time the script runs. */
    for (int i = 0; i < 3; i++)
        assert_int_equal(evaluate(at->store,
                                  "#!lua flags=no-writes\n"
                                  "redis.call('del', 'k')",
                                  0, "", text),
                         HF_SCRIPT);
    expect_script(at->store, "return redis.call('del', 'k')", "i:1");
}

TEST(libraries_can_be_walked_but_not_changed)
{
    place *at = *state;

    expect_script(at->store,
                  "local n = 0 for k, v in pairs(string) do "
                  "if string[k] == v then n = n + 1 end end "
                  "return {n, next(bit) ~= nil, next(redis) ~= nil}",
                  "[i:15, i:1, i:1]");
    expect_script(at->store,
                  "local f, t = pairs(string) "
                  "return {(pcall(function() t.rep = 1 end)), "
                  "(pcall(rawset, t, 'rep', 1)), t == string, "
                  "rawequal(getmetatable('').__index, string)}",
                  "[nil, nil, i:1, i:1]");
}
