/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script_test.c - the user's own Lua: what goes in, what comes out, what an
 * error leaves. Limits of the embedded store are in script_limit_test.c.
 */
#include <stdio.h>

#include "holdfast/script.h"
#include "support/store_fixture.h"

FIXTURE_TESTS();

/* Load and run a script without keys and arguments. */
static hf_reply *run(fixture *f, const char *source)
{
    hf_script *script = fixture_script(f, f->client, source);
    hf_reply *reply = NULL;

    expect_status(HF_OK, hf_script_run(script, NULL, 0, NULL, 0, &reply, ERR));
    return reply;
}

static hf_status fails(fixture *f, const char *source, const hf_bytes *key)
{
    hf_script *script = fixture_script(f, f->client, source);
    hf_reply *reply = NULL;

    return hf_script_run(script, key, key == NULL ? 0 : 1, NULL, 0, &reply,
                         ERR);
}

static void assert_text(const hf_reply *reply, hf_reply_kind kind,
                        const char *text)
{
    assert_int_equal(hf_reply_type(reply), kind);
    assert_bytes(hf_str(text), hf_reply_bytes(reply));
}

static void assert_number(const hf_reply *reply, int64_t number)
{
    assert_int_equal(hf_reply_type(reply), HF_REPLY_INTEGER);
    assert_true(hf_reply_integer(reply) == number);
}

TEST(script_sees_keys_and_arguments_in_order)
{
    fixture *f = *state;
    hf_script *script = fixture_script(
        f, f->client, "return {#KEYS, #ARGV, KEYS[2], ARGV[1], ARGV[3]}");
    const hf_bytes keys[] = {fixture_key(f, "{k}a"), fixture_key(f, "{k}b")};
    const hf_bytes args[] = {bytes("x\0y"), bytes(""), bytes("\r\n\xff")};
    hf_reply *reply = NULL;

    expect_status(HF_OK, hf_script_run(script, keys, 2, args, 3, &reply, ERR));
    assert_int_equal(hf_reply_count(reply), 5);
    assert_number(hf_reply_at(reply, 0), 2);
    assert_number(hf_reply_at(reply, 1), 3);
    assert_bytes(keys[1], hf_reply_bytes(hf_reply_at(reply, 2)));
    assert_bytes(args[0], hf_reply_bytes(hf_reply_at(reply, 3)));
    assert_bytes(args[2], hf_reply_bytes(hf_reply_at(reply, 4)));
    hf_reply_free(reply);
}

TEST(script_keys_get_the_prefix_and_arguments_do_not)
{
    fixture *f = *state;
    hf_client_options opts = HF_CLIENT_OPTIONS_INIT;
    hf_script *script;
    hf_bytes word = fixture_key(f, "w");
    hf_reply *reply = NULL;

    opts.prefix = "pre:";
    script = fixture_script(f, fixture_client(f, &opts),
                            "redis.call('set', KEYS[1], ARGV[1]) "
                            "return {KEYS[1], ARGV[1]}");
    expect_status(HF_OK,
                  hf_script_run(script, &word, 1, &word, 1, &reply, ERR));
    assert_bytes(bytes("pre:"),
                 hf_view(hf_reply_bytes(hf_reply_at(reply, 0)).data, 4));
    assert_bytes(word, hf_reply_bytes(hf_reply_at(reply, 1)));
    assert_value(f->client, hf_reply_bytes(hf_reply_at(reply, 0)), word);
    assert_no_key(f->client, word);
    hf_reply_free(reply);
}

TEST(script_answers_of_every_kind)
{
    fixture *f = *state;
    hf_reply *reply =
        run(f, "return {1, 'two', {3, {'four'}}, redis.status_reply('FINE'), "
               "redis.error_reply('BAD thing'), false, true, -7.9, {}}");

    assert_int_equal(hf_reply_type(reply), HF_REPLY_ARRAY);
    assert_int_equal(hf_reply_count(reply), 9);
    assert_number(hf_reply_at(reply, 0), 1);
    assert_text(hf_reply_at(reply, 1), HF_REPLY_STRING, "two");
    assert_number(hf_reply_at(hf_reply_at(reply, 2), 0), 3);
    assert_text(hf_reply_at(hf_reply_at(hf_reply_at(reply, 2), 1), 0),
                HF_REPLY_STRING, "four");
    assert_text(hf_reply_at(reply, 3), HF_REPLY_STATUS, "FINE");
    assert_text(hf_reply_at(reply, 4), HF_REPLY_ERROR, "BAD thing");
    assert_int_equal(hf_reply_type(hf_reply_at(reply, 5)), HF_REPLY_NIL);
    assert_number(hf_reply_at(reply, 6), 1);
    assert_number(hf_reply_at(reply, 7), -7);
    assert_int_equal(hf_reply_type(hf_reply_at(reply, 8)), HF_REPLY_ARRAY);
    assert_int_equal(hf_reply_count(hf_reply_at(reply, 8)), 0);
    hf_reply_free(reply);
}

TEST(script_array_ends_at_its_first_nil)
{
    fixture *f = *state;
    hf_reply *reply = run(f, "return {1, 2, nil, 4}");

    assert_int_equal(hf_reply_count(reply), 2);
    hf_reply_free(reply);
}

TEST(script_top_level_answers)
{
    fixture *f = *state;
    hf_reply *reply = run(f, "local nothing = 1");

    assert_int_equal(hf_reply_type(reply), HF_REPLY_NIL);
    hf_reply_free(reply);
    reply = run(f, "return false");
    assert_int_equal(hf_reply_type(reply), HF_REPLY_NIL);
    hf_reply_free(reply);
    reply = run(f, "return 9007199254740992");
    assert_number(reply, INT64_C(9007199254740992));
    hf_reply_free(reply);
    reply = run(f, "return 'a\\0b'");
    assert_bytes(bytes("a\0b"), hf_reply_bytes(reply));
    hf_reply_free(reply);
    reply = run(f, "return {ok = 'FINE'}");
    assert_text(reply, HF_REPLY_STATUS, "FINE");
    hf_reply_free(reply);
    hf_reply_free(NULL);
}

TEST(reply_getters_are_mild_on_other_kinds)
{
    fixture *f = *state;
    hf_reply *reply = run(f, "return 'text'");

    assert_true(hf_reply_integer(reply) == 0);
    assert_int_equal(hf_reply_count(reply), 0);
    assert_null(hf_reply_at(reply, 0));
    hf_reply_free(reply);
    reply = run(f, "return {42}");
    assert_null(hf_reply_at(reply, 1));
    assert_int_equal(hf_reply_bytes(reply).size, 0);
    assert_int_equal(hf_reply_bytes(hf_reply_at(reply, 0)).size, 0);
    hf_reply_free(reply);
    assert_int_equal(hf_reply_type(NULL), HF_REPLY_NIL);
    assert_true(hf_reply_integer(NULL) == 0);
    assert_int_equal(hf_reply_bytes(NULL).size, 0);
    assert_int_equal(hf_reply_count(NULL), 0);
    assert_null(hf_reply_at(NULL, 0));
}

TEST(script_result_of_commands)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_script *script = fixture_script(
        f, f->client,
        "return {redis.call('set', KEYS[1], '5'), "
        "redis.call('get', KEYS[1]), redis.call('exists', KEYS[1]), "
        "redis.call('pexpire', KEYS[1], 60000), redis.call('del', KEYS[1]), "
        "redis.call('get', KEYS[1]), redis.call('pttl', KEYS[1])}");
    hf_reply *reply = NULL;

    expect_status(HF_OK, hf_script_run(script, &key, 1, NULL, 0, &reply, ERR));
    assert_int_equal(hf_reply_count(reply), 7);
    assert_text(hf_reply_at(reply, 0), HF_REPLY_STATUS, "OK");
    assert_text(hf_reply_at(reply, 1), HF_REPLY_STRING, "5");
    assert_number(hf_reply_at(reply, 2), 1);
    assert_number(hf_reply_at(reply, 3), 1);
    assert_number(hf_reply_at(reply, 4), 1);
    assert_int_equal(hf_reply_type(hf_reply_at(reply, 5)), HF_REPLY_NIL);
    assert_number(hf_reply_at(reply, 6), -2);
    hf_reply_free(reply);
}

TEST(script_is_atomic_and_sees_its_own_writes)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_script *script =
        fixture_script(f, f->client,
                       "local n = tonumber(redis.call('get', KEYS[1]) or '0') "
                       "for i = 1, 10 do redis.call('set', KEYS[1], n + i) end "
                       "return redis.call('get', KEYS[1])");
    hf_reply *reply = NULL;

    for (size_t i = 0; i < 3; i++) {
        expect_status(HF_OK,
                      hf_script_run(script, &key, 1, NULL, 0, &reply, ERR));
        hf_reply_free(reply);
    }
    assert_value(f->other, key, bytes("30"));
}

TEST(script_error_is_reported_and_keeps_what_was_written)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");

    expect_status(HF_SCRIPT, fails(f,
                                   "redis.call('set', KEYS[1], 'before') "
                                   "error('went wrong here')",
                                   &key));
    assert_non_null(strstr(expect_message(), "went wrong here"));
    assert_value(f->client, key, bytes("before"));
}

TEST(script_error_reply_is_a_script_error)
{
    fixture *f = *state;

    expect_status(HF_SCRIPT,
                  fails(f, "return redis.error_reply('MINE no luck')", NULL));
    assert_non_null(strstr(expect_message(), "no luck"));
    expect_status(HF_SCRIPT, fails(f, "return {err = 'MINE again'}", NULL));
    assert_non_null(strstr(expect_message(), "again"));
}

/* A script that ends with a line like one of the server's own refusals has run,
 * and must not be run again because of it. */
TEST(script_error_that_looks_like_a_refusal_runs_once)
{
    fixture *f = *state;
    static const char *const codes[] = {"BUSY", "LOADING", "NOSCRIPT",
                                        "READONLY", "TRYAGAIN"};

    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        hf_bytes key = fixture_key(f, codes[i]);
        char source[128];

        (void)snprintf(source, sizeof(source),
                       "redis.call('incr', KEYS[1]) "
                       "return redis.error_reply('%s try later')",
                       codes[i]);
        expect_status(HF_SCRIPT, fails(f, source, &key));
        assert_value(f->client, key, bytes("1"));
    }
}

TEST(script_with_a_wrong_command_is_a_script_error)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");

    expect_status(HF_SCRIPT, fails(f, "return redis.call('get')", NULL));
    expect_status(HF_SCRIPT,
                  fails(f, "return redis.call('nosuchcommand', 'a')", NULL));
    expect_status(HF_SCRIPT, fails(f, "return redis.call()", NULL));
    expect_status(
        HF_SCRIPT,
        fails(f, "redis.call('set', KEYS[1], 'x', 'px', 'abc')", &key));
    assert_no_key(f->client, key);
}

TEST(script_runtime_errors_are_script_errors)
{
    fixture *f = *state;

    expect_status(HF_SCRIPT, fails(f, "return nil + 1", NULL));
    expect_status(HF_SCRIPT, fails(f, "return undefined_name", NULL));
    expect_status(HF_SCRIPT, fails(f, "global_name = 1", NULL));
    expect_status(
        HF_SCRIPT,
        fails(f, "local function r() return 1 + r() end return r()", NULL));
}

TEST(script_meeting_another_type_is_wrong_type)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");

    put_hash(f->client, key, words("a", "1"), 0);
    expect_status(HF_WRONG_TYPE,
                  fails(f, "return redis.call('get', KEYS[1])", &key));
    expect_status(HF_WRONG_TYPE,
                  fails(f, "return redis.pcall('get', KEYS[1])", &key));
}

TEST(script_pcall_catches_the_error)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_script *script =
        fixture_script(f, f->client,
                       "local answer = redis.pcall('get', KEYS[1]) "
                       "return {type(answer), string.sub(answer.err, 1, 9)}");
    hf_reply *reply = NULL;

    put_hash(f->client, key, words("a", "1"), 0);
    expect_status(HF_OK, hf_script_run(script, &key, 1, NULL, 0, &reply, ERR));
    assert_text(hf_reply_at(reply, 0), HF_REPLY_STRING, "table");
    assert_text(hf_reply_at(reply, 1), HF_REPLY_STRING, "WRONGTYPE");
    hf_reply_free(reply);
    reply = run(f, "return {pcall(function() return redis.call('get') end)}");
    assert_int_equal(hf_reply_type(hf_reply_at(reply, 0)), HF_REPLY_NIL);
    hf_reply_free(reply);
}

TEST(script_syntax_error_names_the_line)
{
    fixture *f = *state;
    hf_script *script = NULL;

    expect_status(HF_SCRIPT,
                  hf_script_load(f->client,
                                 bytes("local a = 1\n\nlocal b = = 2\n"),
                                 &script, ERR));
    assert_null(script);
    assert_non_null(strstr(expect_message(), ":3:"));
}

TEST(script_source_is_checked)
{
    fixture *f = *state;
    static char source[HF_SCRIPT_MAX + 1];
    hf_script *script = NULL;
    hf_reply *reply = NULL;

    expect_status(HF_INVALID,
                  hf_script_load(f->client, bytes(""), &script, ERR));
    expect_status(HF_INVALID, hf_script_load(f->client, bytes("\033LuaQ\0\1"),
                                             &script, ERR));
    memset(source, ' ', sizeof(source));
    memcpy(source, "return 42", 9);
    expect_status(HF_INVALID,
                  hf_script_load(f->client, hf_view(source, sizeof(source)),
                                 &script, ERR));
    expect_status(HF_OK,
                  hf_script_load(f->client, hf_view(source, HF_SCRIPT_MAX),
                                 &script, ERR));
    expect_status(HF_OK, hf_script_run(script, NULL, 0, NULL, 0, &reply, ERR));
    assert_number(reply, 42);
    hf_reply_free(reply);
    hf_script_free(script);
    hf_script_free(NULL);
}

TEST(script_run_checks_keys_and_counts)
{
    fixture *f = *state;
    hf_script *script = fixture_script(f, f->client, "return 1");
    static hf_bytes many[HF_SCRIPT_ARGUMENTS_MAX + 1];
    static char name[HF_NAME_MAX + 1];
    const hf_bytes empty = bytes("");
    const hf_bytes too_long = {name, sizeof(name)};
    hf_reply *reply = NULL;

    for (size_t i = 0; i < HF_SCRIPT_ARGUMENTS_MAX + 1; i++) {
        many[i] = bytes("w");
    }
    memset(name, 'k', sizeof(name));
    expect_status(HF_INVALID,
                  hf_script_run(script, &empty, 1, NULL, 0, &reply, ERR));
    expect_status(HF_INVALID,
                  hf_script_run(script, &too_long, 1, NULL, 0, &reply, ERR));
    expect_status(HF_INVALID,
                  hf_script_run(script, NULL, 0, many,
                                HF_SCRIPT_ARGUMENTS_MAX + 1, &reply, ERR));
    expect_status(HF_INVALID,
                  hf_script_run(script, many, 1, many, HF_SCRIPT_ARGUMENTS_MAX,
                                &reply, ERR));
    assert_null(reply);
}

TEST(script_takes_ten_thousand_arguments)
{
    fixture *f = *state;
    hf_script *script = fixture_script(
        f, f->client,
        "local sum = 0 for i = 1, #ARGV do sum = sum + ARGV[i] end "
        "return {#ARGV, sum}");
    static hf_bytes args[10000];
    hf_reply *reply = NULL;

    for (size_t i = 0; i < 10000; i++) {
        args[i] = i % 2 == 0 ? bytes("1") : bytes("20");
    }
    expect_status(HF_OK,
                  hf_script_run(script, NULL, 0, args, 10000, &reply, ERR));
    assert_number(hf_reply_at(reply, 0), 10000);
    assert_number(hf_reply_at(reply, 1), 105000);
    hf_reply_free(reply);
}

TEST(script_answers_ten_thousand_parts)
{
    fixture *f = *state;
    hf_reply *reply = run(f, "local all = {} for i = 1, 10000 do "
                             "all[i] = {i, 'text' .. i} end return all");

    assert_int_equal(hf_reply_count(reply), 10000);
    assert_number(hf_reply_at(hf_reply_at(reply, 9999), 0), 10000);
    assert_text(hf_reply_at(hf_reply_at(reply, 4711), 1), HF_REPLY_STRING,
                "text4712");
    hf_reply_free(reply);
}

TEST(script_sha1_and_json)
{
    fixture *f = *state;
    hf_reply *reply = run(
        f, "local t = cjson.decode('{\"a\":[1,2,{\"b\":\"x\"}],\"n\":null}') "
           "return {redis.sha1hex(''), redis.sha1hex('abc'), "
           "cjson.encode(t.a), tostring(t.n == cjson.null)}");

    assert_text(hf_reply_at(reply, 0), HF_REPLY_STRING,
                "da39a3ee5e6b4b0d3255bfef95601890afd80709");
    assert_text(hf_reply_at(reply, 1), HF_REPLY_STRING,
                "a9993e364706816aba3e25717850c26c9cd0d89d");
    assert_text(hf_reply_at(reply, 2), HF_REPLY_STRING, "[1,2,{\"b\":\"x\"}]");
    assert_text(hf_reply_at(reply, 3), HF_REPLY_STRING, "true");
    hf_reply_free(reply);
}

TEST(script_may_log)
{
    fixture *f = *state;
    hf_reply *reply =
        run(f, "redis.log(redis.LOG_NOTICE, 'from a test') return 1");

    assert_number(reply, 1);
    hf_reply_free(reply);
}

TEST(script_libraries_are_those_of_eval)
{
    fixture *f = *state;
    hf_reply *reply = run(
        f, "local bad = {} for _, name in ipairs({'io', 'require', 'dofile', "
           "'package', 'debug', 'print'}) do if rawget(_G, name) ~= nil then "
           "bad[#bad + 1] = name end end return {table.concat(bad, ' '), "
           "string.rep('ab', 3), math.floor(3.7), table.concat({1, 2}, '-'), "
           "select('#', unpack({1, 2, 3}))}");

    assert_text(hf_reply_at(reply, 0), HF_REPLY_STRING, "");
    assert_text(hf_reply_at(reply, 1), HF_REPLY_STRING, "ababab");
    assert_number(hf_reply_at(reply, 2), 3);
    assert_text(hf_reply_at(reply, 3), HF_REPLY_STRING, "1-2");
    assert_number(hf_reply_at(reply, 4), 3);
    hf_reply_free(reply);
}

/* unpack() returns less than 8000 values, a call takes any number. */
TEST(script_command_has_as_many_words_as_memory_holds)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_script *script = fixture_script(
        f, f->client,
        "local t = {} for i = 1, 7990 do t[i] = i end "
        "local a, b = 'a', 'b' "
        "local function call(n, ...) "
        "    if n == 0 then return redis.call('rpush', KEYS[1], ...) end "
        "    return call(n - 1, a, b, a, b, a, b, a, b, a, b, ...) "
        "end "
        "local one = call(1, unpack(t)) redis.call('del', KEYS[1]) "
        "local many = call(1000, unpack(t)) "
        "local wrong = redis.pcall('nope', a, b, unpack(t)) "
        "local bad = redis.pcall('rpush', KEYS[1], a, false, unpack(t)) "
        "local out = {one, many, redis.call('lindex', KEYS[1], 0), "
        "    redis.call('lindex', KEYS[1], -1), wrong.err ~= nil, "
        "    bad.err ~= nil} "
        "redis.call('del', KEYS[1]) return out");
    hf_reply *reply = NULL;

    expect_status(HF_OK, hf_script_run(script, &key, 1, NULL, 0, &reply, ERR));
    assert_number(hf_reply_at(reply, 0), 8000);
    assert_number(hf_reply_at(reply, 1), 17990);
    assert_text(hf_reply_at(reply, 2), HF_REPLY_STRING, "a");
    assert_text(hf_reply_at(reply, 3), HF_REPLY_STRING, "7990");
    assert_number(hf_reply_at(reply, 4), 1);
    assert_number(hf_reply_at(reply, 5), 1);
    hf_reply_free(reply);
}

/* Only INCRBYFLOAT and similar commands have a limit: 5119 characters. */
TEST(script_floats_may_have_any_number_of_digits)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_script *script = fixture_script(
        f, f->client,
        "local key, zeros = KEYS[1], string.rep('0', 3000) "
        "local out = {} "
        "local function add(value) out[#out + 1] = value end "
        "redis.call('zadd', key, zeros .. '1.5', 'a', '2.' .. zeros, 'b') "
        "add(redis.call('zscore', key, 'a')) "
        "add(redis.call('zincrby', key, zeros .. '.0', 'b')) "
        "add(#redis.call('zrangebyscore', key, '(' .. zeros .. '1.5', "
        "    zeros .. '2')) "
        "add(redis.call('zcount', key, zeros, '1e' .. zeros .. '1')) "
        "add(redis.pcall('zadd', key, zeros .. 'x', 'c').err) "
        "redis.call('del', key) "
        "add(redis.call('incrbyfloat', key, string.rep('0', 5118) .. '7')) "
        "add(redis.pcall('incrbyfloat', key, string.rep('0', 5119) .. '7').err)"
        "redis.call('del', key) "
        "add(redis.call('hincrbyfloat', key, 'f', zeros .. '2.5')) "
        "redis.call('del', key) "
        "redis.call('rpush', key, zeros .. '2', zeros .. zeros .. '1') "
        "add(#redis.call('sort', key)[1]) "
        "redis.call('del', key) return out");
    hf_reply *reply = NULL;

    expect_status(HF_OK, hf_script_run(script, &key, 1, NULL, 0, &reply, ERR));
    assert_text(hf_reply_at(reply, 0), HF_REPLY_STRING, "1.5");
    assert_text(hf_reply_at(reply, 1), HF_REPLY_STRING, "2");
    assert_number(hf_reply_at(reply, 2), 1);
    assert_number(hf_reply_at(reply, 3), 2);
    assert_text(hf_reply_at(reply, 4), HF_REPLY_STRING,
                "ERR value is not a valid float");
    assert_text(hf_reply_at(reply, 5), HF_REPLY_STRING, "7");
    assert_text(hf_reply_at(reply, 6), HF_REPLY_STRING,
                "ERR value is not a valid float");
    assert_text(hf_reply_at(reply, 7), HF_REPLY_STRING, "2.5");
    assert_number(hf_reply_at(reply, 8), 6001);
    hf_reply_free(reply);
}

TEST(script_runs_do_not_see_one_another)
{
    fixture *f = *state;
    hf_script *script = fixture_script(
        f, f->client, "KEYS[9] = 'left' string.mine = 1 return 1");
    hf_reply *reply = NULL;

    /* Whether the libraries can be written to is up to the server; what is
     * written there must not be seen by a later script. */
    if (hf_script_run(script, NULL, 0, NULL, 0, &reply, NULL) == HF_OK) {
        hf_reply_free(reply);
    }
    reply = run(f, "return {tostring(KEYS[9]), tostring(rawget(string, "
                   "'mine'))}");
    assert_text(hf_reply_at(reply, 0), HF_REPLY_STRING, "nil");
    assert_text(hf_reply_at(reply, 1), HF_REPLY_STRING, "nil");
    hf_reply_free(reply);
}

TEST(script_loaded_twice_and_freed_once_still_runs)
{
    fixture *f = *state;
    hf_script *first = fixture_script(f, f->client, "return 'same'");
    hf_script *second = fixture_script(f, f->client, "return 'same'");
    hf_reply *reply = NULL;

    fixture_free_script(f, first);
    expect_status(HF_OK, hf_script_run(second, NULL, 0, NULL, 0, &reply, ERR));
    assert_text(reply, HF_REPLY_STRING, "same");
    hf_reply_free(reply);
}
