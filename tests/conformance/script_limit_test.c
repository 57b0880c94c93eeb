/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script_limit_test.c - scripts that take too much: the embedded store stops
 * them and undoes all they did. On a server such a script blocks all clients
 * until an operator kills it, so nothing of this runs there.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "holdfast/lock.h"
#include "holdfast/script.h"
#include "support/slowness.h"
#include "support/store_fixture.h"

FIXTURE_TESTS();

#define BUDGET_MS 60

/* Allowance for a busy machine, where the time does not matter. */
#define PATIENT_MS 60000

/* Run a script that must be stopped, on a client with a small budget, and check
 * that it left no trace and the store is free again. */
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
    assert_in_time(test_now_ms() - began_ms, BUDGET_MS + 1000);
    assert_value(f->other, key, bytes("before"));
    put_value(f->other, key, bytes("after"), 0);
}

TEST(script_that_never_ends_is_undone)
{
    fixture *f = *state;

    fixture_only_embedded(f);
    expect_stopped(f, "redis.call('set', KEYS[1], 'dirty') "
                      "while true do end");
}

TEST(script_cannot_catch_its_own_end)
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

TEST(script_that_calls_endlessly_is_undone)
{
    fixture *f = *state;

    fixture_only_embedded(f);
    expect_stopped(f, "while true do redis.call('set', KEYS[1], 'dirty') end");
}

TEST(script_that_eats_memory_is_undone)
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

TEST(script_within_its_budget_runs)
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

static int64_t thread_ms(void)
{
    struct timespec used;

    assert_int_equal(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used), 0);
    return used.tv_sec * INT64_C(1000) + used.tv_nsec / 1000000;
}

/* Processor time of a loop of that many turns, which must not be stopped. */
static int64_t run_turns(hf_script *script, int64_t turns)
{
    char text[24];
    hf_bytes arg = {text, 0};
    hf_reply *reply = NULL;
    int64_t used_ms = thread_ms();

    arg.size = (size_t)snprintf(text, sizeof(text), "%lld", (long long)turns);
    expect_status(HF_OK, hf_script_run(script, NULL, 0, &arg, 1, &reply, ERR));
    hf_reply_free(reply);
    return thread_ms() - used_ms;
}

/* A script cannot be killed on a server before 5 s have passed. */
TEST(script_of_some_hundred_ms_runs_by_default)
{
    fixture *f = *state;
    hf_client_options opts = HF_CLIENT_OPTIONS_INIT;
    hf_script *script;
    int64_t turns = 4000000;

    fixture_only_embedded(f);
    opts.request_ms = PATIENT_MS;
    script = fixture_script(f, fixture_client(f, &opts),
                            "local n = 0 "
                            "for i = 1, tonumber(ARGV[1]) do n = n + 1 end");
    while (run_turns(script, turns) < 200)
        turns *= 2;
}

/* Open another store whose URL gives scripts `budget`. */
static hf_status open_with_budget(const fixture *f, const char *budget,
                                  const hf_client_options *opts,
                                  hf_client **client)
{
    char url[FIXTURE_PATH_SIZE];
    size_t size;

    fixture_embedded_url(f, "budget", "4M", url);
    size = strlen(url);
    (void)snprintf(url + size, sizeof(url) - size, "&script_budget_ms=%s",
                   budget);
    return hf_client_open(url, opts, client, ERR);
}

/* The budget that stopped an endless script, from its message. */
static void expect_budget(const fixture *f, const char *budget,
                          const hf_client_options *opts, const char *wanted)
{
    hf_client *client = NULL;
    hf_script *script = NULL;
    hf_reply *reply = NULL;
    hf_status loaded;
    hf_status ran;

    expect_status(HF_OK, open_with_budget(f, budget, opts, &client));
    loaded = hf_script_load(client, hf_str("while true do end"), &script, ERR);
    ran = hf_script_run(script, NULL, 0, NULL, 0, &reply, ERR);
    hf_script_free(script);
    hf_client_close(client);
    assert_int_equal(loaded, HF_OK);
    assert_int_equal(ran, HF_SCRIPT);
    assert_non_null(strstr(expect_message(), wanted));
}

TEST(script_budget_of_the_url_is_what_the_option_leaves_open)
{
    fixture *f = *state;
    hf_client_options opts = HF_CLIENT_OPTIONS_INIT;

    fixture_only_embedded(f);
    opts.request_ms = PATIENT_MS;
    expect_budget(f, "30", &opts, "budget of 30 ms");
    opts.script_budget_ms = 20;
    expect_budget(f, "3600000", &opts, "budget of 20 ms");
}

TEST(script_budget_of_the_url_is_checked)
{
    static const char *const bad[] = {"0", "-1", "3600001", "1s", ""};
    fixture *f = *state;
    hf_client *client = NULL;

    fixture_only_embedded(f);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        expect_status(HF_INVALID, open_with_budget(f, bad[i], NULL, &client));
        assert_non_null(strstr(expect_message(), "script_budget_ms"));
    }
}

/* Processor time that an endless script used until its deadline, and its
 * status. */
static int64_t run_late(fixture *f, int64_t request_ms, int64_t budget_ms,
                        hf_status *status, char *message, size_t size)
{
    hf_client_options opts = HF_CLIENT_OPTIONS_INIT;
    hf_bytes key = fixture_key(f, "k");
    hf_reply *reply = NULL;
    hf_script *script;
    int64_t used_ms;

    opts.request_ms = request_ms;
    opts.script_budget_ms = budget_ms;
    script =
        fixture_script(f, fixture_client(f, &opts),
                       "redis.call('set', KEYS[1], 'dirty') while true do end");
    used_ms = thread_ms();
    *status = hf_script_run(script, &key, 1, NULL, 0, &reply, ERR);
    used_ms = thread_ms() - used_ms;
    (void)snprintf(message, size, "%s", expect_message());
    assert_no_key(f->other, key);
    return used_ms;
}

/* A caller that retries what is HF_UNAVAILABLE must not run an endless script
 * again and again. */
TEST(script_at_its_deadline_is_to_blame_for_its_own_time)
{
    fixture *f = *state;
    char message[HF_ERROR_MESSAGE_SIZE];
    hf_status status;
    int64_t used_ms;

    fixture_only_embedded(f);
    (void)run_late(f, 100, 10000, &status, message, sizeof(message));
    assert_int_equal(status, HF_UNAVAILABLE);
    used_ms = run_late(f, 100, 120, &status, message, sizeof(message));
    if (used_ms < 55)
        assert_int_equal(status, HF_UNAVAILABLE);
    if (used_ms > 70)
        assert_int_equal(status, HF_SCRIPT);
    if (used_ms > 70 && used_ms < 110)
        assert_non_null(strstr(message, "request_ms"));
}

/* ------------------------------------------------- a store that has to grow */

/* Loops for a while, then writes more than the store has space for. */
#define GROWING                                                                \
    "for i = 1, tonumber(ARGV[1]) do end "                                     \
    "for i = 1, 60 do redis.call('set', 'grow' .. i, ('x'):rep(2^20)) end"

/* Two clients of a new, small store. */
typedef struct growing {
    hf_client *holder;
    hf_client *runner;
    hf_script *script;
} growing;

static void open_growing(const fixture *f, int64_t budget_ms, growing *to)
{
    hf_client_options opts = HF_CLIENT_OPTIONS_INIT;
    char url[FIXTURE_PATH_SIZE];

    fixture_embedded_url(f, "growing", "512M", url);
    opts.request_ms = PATIENT_MS;
    opts.script_budget_ms = budget_ms;
    expect_status(HF_OK, hf_client_open(url, &opts, &to->holder, ERR));
    expect_status(HF_OK, hf_client_open(url, &opts, &to->runner, ERR));
    expect_status(
        HF_OK, hf_script_load(to->runner, hf_str(GROWING), &to->script, ERR));
}

static void close_growing(growing *what)
{
    hf_script_free(what->script);
    hf_client_close(what->runner);
    hf_client_close(what->holder);
}

/* Turns of an empty loop that take about so long. */
static int64_t turns_of(const fixture *f, int64_t wanted_ms)
{
    growing some;
    hf_script *script;
    int64_t turns = 1000000;
    int64_t used_ms = 0;

    open_growing(f, 0, &some);
    expect_status(HF_OK,
                  hf_script_load(some.runner,
                                 hf_str("for i = 1, tonumber(ARGV[1]) do end"),
                                 &script, ERR));
    while ((used_ms = run_turns(script, turns)) < 50)
        turns *= 2;
    hf_script_free(script);
    close_growing(&some);
    return turns * wanted_ms / used_ms;
}

static hf_status run_growing(const growing *what, int64_t turns,
                             int64_t *used_ms)
{
    char text[24];
    hf_bytes arg = {text, 0};
    hf_reply *reply = NULL;
    hf_status status;

    arg.size = (size_t)snprintf(text, sizeof(text), "%lld", (long long)turns);
    *used_ms = thread_ms();
    status = hf_script_run(what->script, NULL, 0, &arg, 1, &reply, ERR);
    *used_ms = thread_ms() - *used_ms;
    hf_reply_free(reply);
    return status;
}

/* A try that is undone because the store has to grow counts, too. */
TEST(budget_is_for_all_runs_of_a_script)
{
    const fixture *f = *state;
    int64_t budget_ms = 100 * SLOWER;
    growing what;
    int64_t turns, used_ms;
    char message[HF_ERROR_MESSAGE_SIZE];
    hf_status status;

    fixture_only_embedded(f);
    /* A processor may be half as fast or twice as fast as it was just now. */
    turns = turns_of(f, budget_ms / 2);
    open_growing(f, budget_ms, &what);
    status = run_growing(&what, turns, &used_ms);
    (void)snprintf(message, sizeof(message), "%s", expect_message());
    close_growing(&what);
    print_message("%d after %lld ms: %s\n", (int)status, (long long)used_ms,
                  message);
    assert_int_equal(status, HF_SCRIPT);
    assert_non_null(strstr(message, " runs, as the store had to grow"));
    assert_true(used_ms < budget_ms * 2);
}

/* Is a lock still held after the script? *starved: others had the processor in
 * the meantime. */
static bool keeps_lock(const fixture *f, int64_t ttl_ms, bool *starved)
{
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    int64_t budget_ms = ttl_ms * 3 / 10;
    int64_t turns = turns_of(f, budget_ms * 9 / 10);
    int64_t used_ms, began_ms, until_ms;
    hf_lock *lock = NULL;
    hf_status status;
    bool held = true;
    growing what;

    open_growing(f, budget_ms, &what);
    opts.ttl_ms = ttl_ms;
    expect_status(HF_OK,
                  hf_lock_new(what.holder, hf_str("l"), &opts, &lock, ERR));
    status = hf_lock_try(lock, ERR);
    if (status != HF_INDETERMINATE) /* granted, and too late */
        expect_status(HF_OK, status);
    began_ms = test_now_ms();
    (void)run_growing(&what, turns, &used_ms);
    *starved = status != HF_OK || test_now_ms() - began_ms > used_ms * 3 / 2;
    until_ms = test_now_ms() + ttl_ms;
    while (held && test_now_ms() < until_ms) {
        held = hf_lock_is_held(lock);
        test_rest();
    }
    hf_lock_free(lock);
    close_growing(&what);
    return held;
}

/* The rule for the budget: less than a third of the lease. */
TEST(lock_outlives_a_script_that_makes_the_store_grow)
{
    const fixture *f = *state;
    int64_t ttl_ms = slowed_ms(600);
    bool starved = true;
    bool held = false;

    fixture_only_embedded(f);
    for (int i = 0; i < 3 && !held && starved; i++)
        held = keeps_lock(f, ttl_ms, &starved);
    if (!held && starved)
        skip();
    assert_true(held);
}

typedef struct small_stack {
    hf_script *script;
    hf_status status;
    hf_error error;
} small_stack;

static void *run_on_a_small_stack(void *user)
{
    small_stack *self = user;
    hf_reply *reply = NULL;

    self->status =
        hf_script_run(self->script, NULL, 0, NULL, 0, &reply, &self->error);
    hf_reply_free(reply);
    return NULL;
}

static hf_status run_with_stack(small_stack *self, size_t size)
{
    pthread_attr_t attr;
    pthread_t thread;

    assert_int_equal(pthread_attr_init(&attr), 0);
    assert_int_equal(pthread_attr_setstacksize(&attr, size), 0);
    assert_int_equal(pthread_create(&thread, &attr, run_on_a_small_stack, self),
                     0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    (void)pthread_attr_destroy(&attr);
    return self->status;
}

TEST(script_on_a_small_stack_is_refused)
{
    fixture *f = *state;
    small_stack self = {.error = HF_ERROR_INIT};

    fixture_only_embedded(f);
    self.script = fixture_script(f, f->client,
                                 "return cjson.decode(string.rep('[', 900) .. "
                                 "string.rep(']', 900)) and 1");
    expect_status(HF_NO_MEMORY, run_with_stack(&self, 64 << 10));
    assert_non_null(strstr(self.error.message, "KiB of stack left"));
    /* Of which ThreadSanitizer takes more than half a MiB for itself. */
    expect_status(HF_OK, run_with_stack(&self, 4 << 20));
}
