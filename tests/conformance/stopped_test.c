/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stopped_test.c - processes that are stopped for longer than their lease and
 * continue. They are process_worker.c, whose path the build passes in
 * PROCESS_WORKER.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "holdfast/barrier.h"
#include "holdfast/cache.h"
#include "holdfast/election.h"
#include "holdfast/latch.h"
#include "holdfast/limiter.h"
#include "holdfast/rwlock.h"
#include "holdfast/semaphore.h"
#include "holdfast/value.h"
#include "support/child_process.h"
#include "support/slowness.h"
#include "support/store_fixture.h"

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

EACH_TEST_WITH(fixture_open, close_processes);
ALL_TESTS_WITH(fixture_start, fixture_stop);

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
TEST(party_does_not_pass_without_being_counted)
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
TEST(party_that_comes_back_breaks_nothing)
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
TEST(party_that_was_counted_has_passed)
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

/* ----------------------------------------------------------------- leases */

/* Run it with one more argument, or with two and the number. */
static void start_worker(fixture *f, const char *verb, hf_bytes name,
                         int64_t number, const char *kind, const char *key)
{
    char text[24];
    const char *argv[] = {PROCESS_WORKER, f->url, verb, name.data,
                          text,           NULL,   NULL, NULL};

    (void)snprintf(text, sizeof(text), "%lld", (long long)number);
    if (kind != NULL) {
        argv[4] = kind;
        argv[5] = key;
        argv[6] = text;
    }
    assert_true(child_start(&stopped, argv));
}

/* Returns the number behind it. */
static uint64_t expect_word(const char *word)
{
    char line[CHILD_LINE_SIZE];

    assert_true(child_line(&stopped, line, START_MS));
    assert_memory_equal(line, word, strlen(word));
    return strtoull(line + strlen(word), NULL, 10);
}

static void resume(void)
{
    assert_int_equal(kill(stopped.pid, SIGCONT), 0);
}

/* The line is there when it continues: its first step is to look. */
static void resume_with_line(void)
{
    assert_true(child_tell(&stopped, "now"));
    resume();
}

/* Another acquires the lease, and writes, while the holder is stopped. */
static void expect_found(fixture *f, hf_bytes name, const char *kind,
                         hf_lock *next, const char *want)
{
    hf_bytes key = fixture_key(f, "w");

    start_worker(f, "lease", name, slowed_ms(500), kind, key.data);
    (void)expect_word("held ");
    stop(f);
    expect_status(HF_OK, hf_lock_acquire(next, LONG_MS, ERR));
    expect_status(HF_OK,
                  hf_value_put_fenced(f->client, key, bytes("new"),
                                      hf_lock_token(next), NULL, NULL, ERR));
    resume_with_line();
    expect_line(&stopped, want);
    assert_value(f->client, key, bytes("new"));
    assert_true(hf_lock_is_held(next));
}

TEST(holder_has_lost_the_lock)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");

    expect_found(f, name, "lock", fixture_lock(f, f->client, name, NULL),
                 "lost CONFLICT INVALID LOST");
}

TEST(reader_has_lost_the_lock_to_a_writer)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "rw");
    hf_lock *read, *write;

    expect_status(HF_OK,
                  hf_rwlock_new(f->client, name, 0, NULL, &read, &write, ERR));
    (void)fixture_keep_lock(f, read);
    expect_found(f, name, "reader", fixture_keep_lock(f, write),
                 "lost CONFLICT INVALID LOST");
}

TEST(permit_is_lost)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "s");
    hf_lock *next;

    expect_status(HF_OK,
                  hf_semaphore_new(f->client, name, 1, NULL, &next, ERR));
    expect_found(f, name, "permit", fixture_keep_lock(f, next),
                 "lost CONFLICT INVALID EXPIRED");
}

static bool leader_says(const hf_leader *leader, const char *text)
{
    return leader->text.size == strlen(text) &&
           memcmp(leader->text.data, text, leader->text.size) == 0;
}

/* What it proclaims reaches no observer. */
TEST(leader_does_not_proclaim)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "e");
    hf_leader leader = HF_LEADER_INIT;
    hf_observer *observer;
    hf_lock *next;

    expect_status(HF_OK, hf_election_new(f->client, name, bytes("new"), NULL,
                                         &next, ERR));
    expect_status(HF_OK, hf_observer_open(f->other, name, &observer, ERR));
    expect_found(f, name, "leader", fixture_keep_lock(f, next),
                 "lost CONFLICT LOST LOST");
    /* What it saw before the last change may come first. */
    do {
        expect_status(HF_OK, hf_observer_next(observer, &leader, LONG_MS, ERR));
        assert_false(leader_says(&leader, "older"));
    } while (!leader_says(&leader, "new"));
    expect_status(HF_TIMEOUT, hf_observer_next(observer, &leader, 300, ERR));
    hf_leader_free(&leader);
    hf_observer_close(observer);
}

/* --------------------------------------------------------------- the others */

/* Granted while it is stopped, and again to another. */
TEST(waiter_does_not_believe_in_an_old_grant)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *first = fixture_lock(f, f->client, name, NULL);
    hf_lock *next = fixture_lock(f, f->other, name, NULL);
    hf_lock_info info = HF_LOCK_INFO_INIT;
    char line[CHILD_LINE_SIZE];
    uint64_t token;

    expect_status(HF_OK, hf_lock_try(first, ERR));
    start_worker(f, "wait", name, LONG_MS, NULL, NULL);
    expect_soon(hf_lock_inspect(f->client, name, &info, NULL) == HF_OK &&
                    info.waiters == 1,
                START_MS);
    stop(f);
    expect_status(HF_OK, hf_lock_release(first, ERR));
    expect_status(HF_OK, hf_lock_acquire(next, LONG_MS, ERR));
    resume();
    assert_false(child_line(&stopped, line, 300));
    token = hf_lock_token(next);
    expect_status(HF_OK, hf_lock_release(next, ERR));
    assert_true(expect_word("held ") > token);
    assert_int_equal(child_end(&stopped, START_MS), 0);
}

static void fill_with_new(void *user, hf_cache_fill *fill)
{
    (void)user;
    expect_status(HF_OK, hf_cache_fill_done(fill, HF_OK, bytes("new"), ERR));
}

TEST(late_fill_is_not_stored)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "c");
    hf_cache_options opts = HF_CACHE_OPTIONS_INIT;
    hf_buffer value = HF_BUFFER_INIT;

    opts.ttl_ms = LONG_MS;
    opts.wait_ms = LONG_MS;
    start_worker(f, "fill", key, slowed_ms(500), NULL, NULL);
    (void)expect_word("fills");
    stop(f);
    expect_status(HF_OK, hf_cache_get_or_fill(f->client, key, fill_with_new,
                                              NULL, &opts, &value, NULL, ERR));
    assert_buffer(&value, bytes("new"));
    resume_with_line();
    expect_line(&stopped, "old alone");
    expect_status(HF_OK, hf_cache_get(f->client, key, NULL, &value, ERR));
    assert_buffer(&value, bytes("new"));
}

TEST(latch_waits_for_an_arrival_that_is_stopped)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "latch");

    expect_status(HF_OK, hf_latch_set(f->client, name, 1, LONG_MS, NULL, ERR));
    start_worker(f, "arrive", name, 1, NULL, NULL);
    (void)expect_word("arrives");
    stop(f);
    expect_status(HF_TIMEOUT, hf_latch_await(f->client, name, 300, ERR));
    resume_with_line();
    expect_status(HF_OK, hf_latch_await(f->client, name, LONG_MS, ERR));
    expect_line(&stopped, "HF_OK");
}

TEST(waiter_of_a_latch_learns_late_that_it_is_open)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "latch");
    char waiters[128];

    (void)snprintf(waiters, sizeof(waiters), "hf:wait:{%s}",
                   (const char *)name.data);
    expect_status(HF_OK, hf_latch_set(f->client, name, 1, LONG_MS, NULL, ERR));
    start_worker(f, "await", name, LONG_MS, NULL, NULL);
    expect_soon(sorted_set_size(f->client, hf_str(waiters)) == 1, START_MS);
    stop(f);
    expect_status(HF_OK,
                  hf_latch_arrive(f->client, name, bytes("a"), 1, NULL, ERR));
    resume();
    expect_line(&stopped, "HF_OK");
}

/* Its unit stays its own: the next caller gets the one after it. */
TEST(units_of_a_waiter_are_taken_once)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "limit");
    hf_limiter_options opts = HF_LIMITER_OPTIONS_INIT;
    hf_limiter_state now = {0};
    int64_t began_ms;

    opts.count = 1;
    opts.period_ms = slowed_ms(1000);
    opts.wait_ms = LONG_MS;
    start_worker(f, "take", name, opts.period_ms, NULL, NULL);
    (void)expect_word("takes");
    began_ms = test_now_ms();
    expect_status(HF_OK, hf_limiter_take(f->client, name, 1, &opts, NULL, ERR));
    assert_true(child_tell(&stopped, "now"));
    expect_soon(hf_limiter_inspect(f->client, name, &opts, &now, NULL) ==
                        HF_OK &&
                    now.full_ms > opts.period_ms,
                START_MS);
    stop(f);
    expect_status(HF_OK, hf_limiter_take(f->client, name, 1, &opts, NULL, ERR));
    assert_true(test_now_ms() - began_ms >= 2 * opts.period_ms);
    resume();
    expect_line(&stopped, "HF_OK");
}
