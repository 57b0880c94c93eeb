/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script_limit_test.c - scripts that take too much: the embedded store stops
 * them and undoes them whole. On a server such a script blocks everybody until
 * an operator kills it, so nothing of this runs there.
 */
#include "support/store_fixture.h"

#define BUDGET_MS 60

/* Run a script that must be stopped, on a client with a small budget, and
 * check that it left no trace and the store is free again. */
static void expect_stopped(fixture *f, const char *source)
{
    hf_client_options opts = HF_CLIENT_OPTIONS_INIT;
    hf_bytes key = fixture_key(f, "k");
    int64_t began_ms = test_now_ms();
    hf_reply *reply = NULL;
    hf_script *script;

    opts.script_budget_ms = BUDGET_MS;
    script = fixture_script(f, fixture_client(f, &opts), source);
    put_value(f->other, key, bytes("before"), 0);
    expect_status(HF_SCRIPT,
                  hf_script_run(script, &key, 1, NULL, 0, &reply, ERR));
    assert_null(reply);
    assert_true(test_now_ms() - began_ms < BUDGET_MS + 1000);
    assert_value(f->other, key, bytes("before"));
    put_value(f->other, key, bytes("after"), 0);
}

static void script_that_never_ends_is_undone(void **state)
{
    fixture *f = *state;

    fixture_only_embedded(f);
    expect_stopped(f, "redis.call('set', KEYS[1], 'dirty') "
                      "while true do end");
}

static void script_cannot_catch_its_own_end(void **state)
{
    fixture *f = *state;

    fixture_only_embedded(f);
    expect_stopped(f, "redis.call('set', KEYS[1], 'dirty') "
                      "while true do pcall(function() while true do end end) "
                      "end");
    expect_stopped(f, "redis.call('set', KEYS[1], 'dirty') "
                      "local w = coroutine and coroutine.wrap(function() "
                      "while true do end end) or function() while true do end "
                      "end while true do pcall(w) end");
}

static void script_that_calls_for_ever_is_undone(void **state)
{
    fixture *f = *state;

    fixture_only_embedded(f);
    expect_stopped(f, "while true do redis.call('set', KEYS[1], 'dirty') end");
}

static void script_that_eats_memory_is_undone(void **state)
{
    fixture *f = *state;
    hf_client_options opts = HF_CLIENT_OPTIONS_INIT;
    hf_bytes key = fixture_key(f, "k");
    hf_reply *reply = NULL;
    hf_script *script;

    fixture_only_embedded(f);
    opts.script_budget_ms = 20000;
    opts.request_ms = 30000;
    script = fixture_script(f, fixture_client(f, &opts),
                            "redis.call('set', KEYS[1], 'dirty') "
                            "local s = 'x' while true do s = s .. s end");
    expect_status(HF_SCRIPT,
                  hf_script_run(script, &key, 1, NULL, 0, &reply, ERR));
    assert_no_key(f->other, key);
}

static void script_within_its_budget_runs(void **state)
{
    fixture *f = *state;
    hf_client_options opts = HF_CLIENT_OPTIONS_INIT;
    hf_reply *reply = NULL;
    hf_script *script;

    opts.script_budget_ms = 2000;
    script = fixture_script(
        f, fixture_client(f, &opts),
        "local n = 0 for i = 1, 200000 do n = n + 1 end return n");
    expect_status(HF_OK, hf_script_run(script, NULL, 0, NULL, 0, &reply, ERR));
    assert_true(hf_reply_integer(reply) == 200000);
    hf_reply_free(reply);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        fixture_test(script_that_never_ends_is_undone),
        fixture_test(script_cannot_catch_its_own_end),
        fixture_test(script_that_calls_for_ever_is_undone),
        fixture_test(script_that_eats_memory_is_undone),
        fixture_test(script_within_its_budget_runs),
    };

    return fixture_run(tests);
}
