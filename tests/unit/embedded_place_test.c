/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_place_test.c - records that are put or deleted where they were just
 * found: a script of many commands in one transaction, and a model of it in
 * Lua. The values differ in size, so that pages split and merge in between.
 */
#include "embedded_store.h"

#include "holdfast/store.h"

/* ARGV[1]: 1: run the commands and compare each reply; 0: only the model, and
 * compare all keys with it. Replies how many were compared, or which differs.
 */
static const char source[] =
    "local runs, seed, seen = ARGV[1] == '1', 7, 0 "
    "local model, fields, call = {}, {}, redis.call "
    "local function draw(n) seed = (seed * 16807) % 2147483647 "
    "return seed % n end "
    "local function same(what, have, want) seen = seen + 1 "
    "if (have or false) ~= (want or false) then "
    "error(what .. ': ' .. tostring(have) .. ', not ' .. tostring(want)) "
    "end end "
    "for i = 1, 12000 do "
    "local k, op = 'k' .. draw(3000), draw(8) "
    "local v = string.rep('v', draw(90)) .. i "
    "local other = 'k' .. draw(3000) "
    "if op < 3 then model[k] = v if runs then call('set', k, v) end "
    "elseif op == 3 then model[k] = (model[k] or '') .. 'a' "
    "if runs then same(k, call('append', k, 'a'), #model[k]) end "
    "elseif op == 4 then local had = model[k] and 1 or 0 model[k] = nil "
    "if runs then same(k, call('del', k), had) end "
    "elseif op == 5 then if runs then same(k, call('get', k), model[k]) end "
    "elseif op == 6 then "
    "local old = fields[k] and 0 or 1 fields[k] = v "
    "if runs then same(k, call('hset', 'h', k, v), old) end "
    "else model[k], model[other] = v, v "
    "if runs then call('mset', k, v, other, v) end end "
    "end "
    "for i = 0, 2999 do local k = 'k' .. i "
    "same(k, call('get', k), model[k]) "
    "same('h ' .. k, call('hget', 'h', k), fields[k]) end "
    "return seen";

static void expect_model(const char *scheme, const char *parameters)
{
    hf_error err = HF_ERROR_INIT;
    char text[TEXT_SIZE];
    place at;

    make_place(&at, scheme, parameters);
    at.store = must_open(at.url, NULL);
    if (evaluate(at.store, source, 0, "1", text) != HF_OK)
        fail_msg("%s", text);
    assert_int_equal(evaluate(at.store, source, 0, "0", text), HF_OK);
    assert_string_equal(text, "i:6000");
    if (hf_store_check(at.url, NULL, print_fault, NULL, &err) != HF_OK)
        fail_msg("%s", err.message);
    remove_place(&at);
}

TEST(what_is_written_where_it_was_found_is_what_was_meant)
{
    script_budget_ms = 10000 * SLOWER;
    expect_model("volatile", "");
    expect_model("file", "");
    expect_model("file", "?durability=log");
}
