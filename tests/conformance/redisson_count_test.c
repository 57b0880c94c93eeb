/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redisson_count_test.c - latches and semaphores of Redisson, next to what
 * Redisson's own scripts do.
 */
#include <string.h>

#include "holdfast/command.h"
#include "holdfast/key.h"
#include "holdfast/redisson.h"
#include "support/redisson_peer.h"

FIXTURE_TESTS();

/* countDown(), release(1) */
#define JAVA_COUNT_DOWN                                                        \
    "local v = redis.call('decr', KEYS[1]) "                                   \
    "if v <= 0 then redis.call('del', KEYS[1]) end "                           \
    "if v == 0 then redis.call(ARGV[2], ARGV[3], '0') end return 1"
#define JAVA_RELEASE                                                           \
    "local v = redis.call('incrby', KEYS[1], 1) "                              \
    "redis.call(ARGV[2], ARGV[3], v) return 1"

TEST(redisson_counts_are_refused_where_no_redisson_is)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "n");
    hf_status want = redisson_is_here(f) ? HF_OK : HF_UNSUPPORTED;
    int64_t count = 7;

    expect_status(want,
                  hf_redisson_latch_inspect(f->client, name, &count, ERR));
    expect_status(want, hf_redisson_latch_await(f->client, name, 0, ERR));
    expect_status(want,
                  hf_redisson_semaphore_inspect(f->client, name, &count, ERR));
    expect_status(want, hf_redisson_semaphore_set(f->client, name, 1, ERR));
    assert_int_equal(count, redisson_is_here(f) ? 0 : 7);
}

TEST(redisson_latch_counts_down)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "n");
    int64_t left = -1;

    if (!redisson_is_here(f))
        return;
    expect_status(HF_NOT_FOUND, hf_redisson_latch_arrive(f->client, name, ERR));
    expect_status(HF_OK, hf_redisson_latch_set(f->client, name, 3, ERR));
    expect_status(HF_CONFLICT, hf_redisson_latch_set(f->client, name, 9, ERR));
    assert_value(f->client, name, hf_str("3"));
    expect_status(HF_OK, hf_redisson_latch_arrive(f->client, name, ERR));
    expect_status(HF_OK,
                  hf_redisson_latch_inspect(f->client, name, &left, ERR));
    assert_int_equal(left, 2);
    expect_status(HF_TIMEOUT,
                  hf_redisson_latch_await(f->client, name, 30, ERR));
    expect_told(HF_OK, f->client,
                hf_redisson_latch_arrive_start(f->client, name, &async, ERR));
    expect_status(HF_OK, hf_redisson_latch_arrive(f->client, name, ERR));
    assert_no_key(f->client, name);
    expect_status(HF_OK,
                  hf_redisson_latch_await(f->client, name, HF_FOREVER, ERR));
    expect_told(HF_OK, f->client,
                hf_redisson_latch_set_start(f->client, name, 1, &async, ERR));
    expect_told(
        HF_OK, f->client,
        hf_redisson_latch_inspect_start(f->client, name, &left, &async, ERR));
    assert_int_equal(left, 1);
}

/* Another program has written it. */
TEST(redisson_latch_below_zero_is_open)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "n");
    int64_t left = -1;

    if (!redisson_is_here(f))
        return;
    put_value(f->client, name, hf_str("-3"), 0);
    expect_status(HF_OK, hf_redisson_latch_await(f->client, name, 0, ERR));
    expect_status(HF_OK,
                  hf_redisson_latch_inspect(f->client, name, &left, ERR));
    assert_int_equal(left, 0);
}

TEST(redisson_latch_is_opened_by_java)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "n");
    told said = {0};
    hf_async async = tell(&said);

    if (!redisson_is_here(f))
        return;
    expect_status(HF_OK, hf_redisson_latch_set(f->client, name, 1, ERR));
    expect_status(HF_OK, hf_redisson_latch_await_start(
                             f->client, name, HF_FOREVER, &async, ERR));
    REDISSON_WAKES(f->client, &said,
                   redisson_eval(f, JAVA_COUNT_DOWN,
                                 "redisson_countdownlatch__channel__", name));
}

TEST(redisson_semaphore_has_so_many_permits)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "n");
    int64_t free = -1;

    if (!redisson_is_here(f))
        return;
    expect_status(HF_TIMEOUT,
                  hf_redisson_semaphore_acquire(f->client, name, 1, 0, ERR));
    expect_status(HF_OK, hf_redisson_semaphore_set(f->client, name, 3, ERR));
    expect_status(HF_CONFLICT,
                  hf_redisson_semaphore_set(f->other, name, 5, ERR));
    expect_status(HF_OK,
                  hf_redisson_semaphore_acquire(f->client, name, 2, 0, ERR));
    expect_status(HF_TIMEOUT,
                  hf_redisson_semaphore_acquire(f->other, name, 2, 30, ERR));
    expect_status(HF_OK, hf_redisson_semaphore_release(f->other, name, 2, ERR));
    expect_status(HF_OK,
                  hf_redisson_semaphore_inspect(f->client, name, &free, ERR));
    assert_int_equal(free, 3);
    expect_status(HF_OK,
                  hf_redisson_semaphore_release(f->other, name, -4, ERR));
    assert_value(f->client, name, hf_str("-1"));
    expect_told(
        HF_OK, f->client,
        hf_redisson_semaphore_release_start(f->client, name, 2, &async, ERR));
    expect_told(HF_OK, f->client,
                hf_redisson_semaphore_acquire_start(f->client, name, 1, 1000,
                                                    &async, ERR));
    expect_told(HF_OK, f->client,
                hf_redisson_semaphore_inspect_start(f->client, name, &free,
                                                    &async, ERR));
    assert_int_equal(free, 0);
    expect_told(
        HF_CONFLICT, f->client,
        hf_redisson_semaphore_set_start(f->client, name, 1, &async, ERR));
}

TEST(redisson_semaphore_is_released_by_java)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "n");
    told said = {0};
    hf_async async = tell(&said);

    if (!redisson_is_here(f))
        return;
    expect_status(HF_OK, hf_redisson_semaphore_acquire_start(
                             f->client, name, 2, HF_FOREVER, &async, ERR));
    redisson_waits(f->client, &said);
    redisson_eval(f, JAVA_RELEASE, "redisson_sc:", name);
    REDISSON_WAKES(f->client, &said,
                   redisson_eval(f, JAVA_RELEASE, "redisson_sc:", name));
}

static int64_t free_of(fixture *f, hf_bytes name)
{
    int64_t permits = INT64_MIN;

    expect_status(HF_OK,
                  hf_redisson_semaphore_inspect(f->other, name, &permits, ERR));
    return permits;
}

/* Made by a release, added to and reduced at will. */
TEST(redisson_semaphore_adds_up)
{
    static const struct {
        int64_t permits; /* negative: taken */
        int64_t free;
    } steps[] = {{1, 1}, {1, 2},   {-2, 0}, {0, 0},  {10, 10}, {-10, 0},
                 {4, 4}, {10, 14}, {-5, 9}, {1, 10}, {-1, 9}};
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "n");

    if (!redisson_is_here(f))
        return;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        int64_t permits = steps[i].permits;

        if (permits < 0)
            expect_status(HF_OK, hf_redisson_semaphore_acquire(
                                     f->client, name, -permits, 0, ERR));
        else
            expect_status(HF_OK, hf_redisson_semaphore_release(f->client, name,
                                                               permits, ERR));
        assert_int_equal(free_of(f, name), steps[i].free);
    }
    expect_status(HF_OK,
                  hf_redisson_semaphore_release(f->client, name, -14, ERR));
    assert_int_equal(free_of(f, name), -5);
    expect_status(HF_TIMEOUT,
                  hf_redisson_semaphore_acquire(f->client, name, 1, 0, ERR));
}

/* All of 2^31 - 1 at once, and a number that expires. */
TEST(redisson_semaphore_has_int_max_and_may_expire)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "n");
    const int64_t most = HF_REDISSON_COUNT_MAX;

    if (!redisson_is_here(f))
        return;
    expect_status(HF_OK, hf_redisson_semaphore_set(f->client, name, most, ERR));
    expect_status(HF_OK,
                  hf_redisson_semaphore_acquire(f->client, name, most, 0, ERR));
    expect_status(HF_TIMEOUT,
                  hf_redisson_semaphore_acquire(f->other, name, 1, 0, ERR));
    expect_status(HF_OK,
                  hf_redisson_semaphore_release(f->client, name, most, ERR));
    assert_int_equal(free_of(f, name), most);
    expect_status(HF_OK, hf_key_expire(f->client, name, 50, ERR));
    expect_soon(key_is_gone(f->client, name), 5000);
    assert_int_equal(free_of(f, name), 0);
    expect_status(HF_OK, hf_redisson_semaphore_set(f->client, name, 1, ERR));
}

/* Those that are released in between go to another. */
TEST(redisson_semaphore_waiter_needs_all_of_its_permits)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "n");
    told said = {0};
    hf_async async = tell(&said);

    if (!redisson_is_here(f))
        return;
    expect_status(HF_OK, hf_redisson_semaphore_release(f->other, name, 1, ERR));
    expect_status(HF_OK, hf_redisson_semaphore_acquire_start(
                             f->client, name, 2, HF_FOREVER, &async, ERR));
    redisson_waits(f->client, &said);
    expect_status(HF_OK,
                  hf_redisson_semaphore_acquire(f->other, name, 1, 0, ERR));
    redisson_waits(f->client, &said);
    expect_status(HF_OK, hf_redisson_semaphore_release(f->other, name, 1, ERR));
    REDISSON_WAKES(f->client, &said,
                   expect_status(HF_OK, hf_redisson_semaphore_release(
                                            f->other, name, 1, ERR)));
    assert_int_equal(free_of(f, name), 0);
}

#define WAITS 5

TEST(redisson_latch_opens_for_all_that_wait)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "n");
    hf_client *clients[] = {f->client, f->other};
    told said[WAITS] = {{0}};
    int64_t left = -1;

    if (!redisson_is_here(f))
        return;
    expect_status(HF_OK, hf_redisson_latch_set(f->client, name, WAITS, ERR));
    for (size_t i = 0; i < WAITS; i++) {
        hf_async async = tell(&said[i]);

        expect_status(HF_OK, hf_redisson_latch_await_start(clients[i % 2], name,
                                                           10000, &async, ERR));
    }
    for (size_t i = 0; i < WAITS; i++) {
        assert_int_equal(said[0].count, 0);
        expect_status(HF_OK, hf_redisson_latch_arrive(f->client, name, ERR));
    }
    for (size_t i = 0; i < WAITS; i++)
        await_ok(clients[i % 2], &said[i]);
    for (int i = 0; i < 2; i++) {
        expect_status(HF_NOT_FOUND,
                      hf_redisson_latch_arrive(f->client, name, ERR));
        expect_status(HF_OK,
                      hf_redisson_latch_inspect(f->client, name, &left, ERR));
        assert_int_equal(left, 0);
        expect_status(
            HF_OK, hf_redisson_latch_await(f->client, name, HF_FOREVER, ERR));
    }
    assert_no_key(f->client, name);
}

/* A client that releases and acquires without a pause. */
TEST(redisson_semaphore_is_left_to_others)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "n");
    told said = {0};
    hf_async async = tell(&said);
    int rounds = 0;

    if (!redisson_is_here(f))
        return;
    expect_status(HF_OK, hf_redisson_semaphore_set(f->client, name, 1, ERR));
    expect_status(HF_OK,
                  hf_redisson_semaphore_acquire(f->client, name, 1, 0, ERR));
    expect_status(HF_OK, hf_redisson_semaphore_acquire_start(
                             f->other, name, 1, HF_FOREVER, &async, ERR));
    redisson_waits(f->other, &said);
    while (said.count == 0) {
        assert_true(rounds++ < 50);
        expect_status(HF_OK,
                      hf_redisson_semaphore_release(f->client, name, 1, ERR));
        if (hf_redisson_semaphore_acquire(f->client, name, 1, 200, NULL) !=
            HF_OK)
            await_told(f->other, &said, 1);
        dispatch(f->other);
    }
    expect_status(HF_OK, said.status);
}

TEST(redisson_waits_are_cancelled)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "n");
    told said = {0};
    hf_async async = tell(&said);
    hf_call *call = NULL;

    if (!redisson_is_here(f))
        return;
    async.call = &call;
    expect_status(HF_OK, hf_redisson_semaphore_acquire_start(
                             f->client, name, 1, HF_FOREVER, &async, ERR));
    redisson_waits(f->client, &said);
    hf_call_cancel(call);
    await_told(f->client, &said, 1);
    expect_status(HF_CANCELLED, said.status);
    assert_no_key(f->client, name);
}

TEST(redisson_counts_refuse_bad_input)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "n");
    hf_error err = HF_ERROR_INIT;

    if (!redisson_is_here(f))
        return;
    expect_status(HF_INVALID, hf_redisson_latch_set(f->client, name, 0, &err));
    assert_non_null(
        strstr(err.message, "count is 0; it must be 1..2147483647"));
    expect_status(HF_INVALID,
                  hf_redisson_semaphore_acquire(f->client, name, -1, 0, ERR));
    expect_status(HF_INVALID,
                  hf_redisson_semaphore_acquire(f->client, name, 1, -2, ERR));
    expect_status(HF_INVALID, hf_redisson_semaphore_release(
                                  f->client, name, INT64_C(2147483648), ERR));
    expect_status(HF_INVALID,
                  hf_redisson_latch_arrive(f->client, hf_str("a{b"), ERR));
    expect_status(HF_INVALID,
                  hf_redisson_latch_inspect(f->client, name, NULL, ERR));
    expect_status(
        f->store == FIXTURE_REDIS_CLUSTER ? HF_INVALID : HF_NOT_FOUND,
        hf_redisson_latch_arrive(f->client, hf_str("{tag}.latch"), ERR));
}

TEST(redisson_counts_leave_other_types_alone)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "n");
    hf_bytes hash = fixture_key(f, "h");
    hf_bytes large = fixture_key(f, "large");
    hf_bytes words[] = {hf_str("HSET"), hash, hf_str("a"), hf_str("1")};
    int64_t count = 0;

    if (!redisson_is_here(f))
        return;
    expect_status(HF_OK, hf_command(f->other, 4, words, NULL, ERR));
    put_value(f->other, name, hf_str("v1"), 0);
    put_value(f->other, large, bytes("9007199254740993"), 0);
    for (int i = 0; i < 3; i++) {
        hf_bytes key = i == 0 ? name : i == 1 ? hash : large;

        expect_status(HF_WRONG_TYPE,
                      hf_redisson_latch_set(f->client, key, 1, ERR));
        expect_status(HF_WRONG_TYPE,
                      hf_redisson_latch_arrive(f->client, key, ERR));
        expect_status(HF_WRONG_TYPE,
                      hf_redisson_latch_await(f->client, key, 100, ERR));
        expect_status(HF_WRONG_TYPE, hf_redisson_semaphore_inspect(
                                         f->client, key, &count, ERR));
        expect_status(HF_WRONG_TYPE, hf_redisson_semaphore_acquire(
                                         f->client, key, 1, 100, ERR));
        expect_status(HF_WRONG_TYPE,
                      hf_redisson_semaphore_release(f->client, key, 1, ERR));
    }
    assert_value(f->client, name, hf_str("v1"));
    assert_value(f->client, large, bytes("9007199254740993"));
}
