/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stopped_test.c - processes that are stopped for longer than their lease and
 * continue. They are process_worker.c, whose path the build passes in
 * PROCESS_WORKER.
 */
#include <signal.h>
#include <stdio.h>

#include "support/child_process.h"
#include "support/slowness.h"
#include "support/store_fixture.h"

#define stopped_test(name)                                                     \
    cmocka_unit_test_setup_teardown(name, fixture_open, close_processes)

/* Time for a process to start, under sanitizers on a busy machine. */
#define START_MS 20000
#define LONG_MS 60000

static child_process stopped, other;

/* Children of a test that failed must not survive it. */
static int close_processes(void **state)
{
    child_kill(&stopped);
    child_kill(&other);
    return fixture_close(state);
}

/* Of two. */
static void start_party(child_process *child, fixture *f, hf_bytes name,
                        int64_t ttl_ms)
{
    char ttl[24];
    const char *argv[] = {
        PROCESS_WORKER, f->url, "party", name.data, "2", ttl, NULL};

    (void)snprintf(ttl, sizeof(ttl), "%lld", (long long)ttl_ms);
    assert_true(child_start(child, argv));
}

/* Stop it, but not in the middle of a write of an embedded store, which holds
 * up all others. */
static void stop(fixture *f)
{
    hf_client_options options = HF_CLIENT_OPTIONS_INIT;
    hf_status status = HF_UNAVAILABLE;
    hf_client *client;

    options.request_ms = 500;
    client = fixture_client(f, &options);
    while (status != HF_OK) {
        assert_int_equal(kill(stopped.pid, SIGCONT), 0);
        test_rest();
        assert_int_equal(kill(stopped.pid, SIGSTOP), 0);
        status = hf_value_set(client, fixture_key(f, "probe"), bytes("1"), NULL,
                              NULL, NULL);
    }
}

/* A party that waits is stopped until its lease has ended. */
static void stop_party(fixture *f, hf_bytes name)
{
    start_party(&stopped, f, name, slowed_ms(300));
    expect_soon(sorted_set_size(f->client, name) == 1, START_MS);
    stop(f);
    expect_soon(key_is_gone(f->client, name), LONG_MS);
}

static void expect_line(child_process *child, const char *want)
{
    char line[CHILD_LINE_SIZE];

    assert_true(child_line(child, line, START_MS));
    assert_string_equal(line, want);
    assert_int_equal(child_end(child, START_MS), 0);
}

/* Two others have passed for it. */
static void party_does_not_pass_without_being_counted(void **state)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "b");
    hf_barrier_pass pass;

    stop_party(f, name);
    start_party(&other, f, name, LONG_MS);
    expect_soon(sorted_set_size(f->client, name) == 1, START_MS);
    expect_status(
        HF_OK, hf_barrier_wait(f->client, name, 2, LONG_MS, NULL, &pass, ERR));
    assert_int_equal(pass.generation, 1);
    expect_line(&other, "passed 1");
    assert_int_equal(kill(stopped.pid, SIGCONT), 0);
    expect_line(&stopped, "HF_LOST");
}

/* It is as if it had never arrived. */
static void party_that_comes_back_breaks_nothing(void **state)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "b");

    stop_party(f, name);
    start_party(&other, f, name, LONG_MS);
    expect_soon(sorted_set_size(f->client, name) == 1, START_MS);
    assert_int_equal(kill(stopped.pid, SIGCONT), 0);
    expect_line(&stopped, "HF_LOST");
    expect_status(
        HF_OK, hf_barrier_wait(f->client, name, 2, LONG_MS, NULL, NULL, ERR));
    expect_line(&other, "passed 1");
}

/* It was counted, but learns it late. */
static void party_that_was_counted_has_passed(void **state)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "b");
    int64_t ttl_ms = slowed_ms(1500);

    start_party(&stopped, f, name, ttl_ms);
    expect_soon(sorted_set_size(f->client, name) == 1, START_MS);
    stop(f);
    expect_status(
        HF_OK, hf_barrier_wait(f->client, name, 2, LONG_MS, NULL, NULL, ERR));
    expect_throughout(true, ttl_ms);
    assert_int_equal(kill(stopped.pid, SIGCONT), 0);
    expect_line(&stopped, "passed 1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        stopped_test(party_does_not_pass_without_being_counted),
        stopped_test(party_that_comes_back_breaks_nothing),
        stopped_test(party_that_was_counted_has_passed),
    };

    return fixture_run(tests);
}
