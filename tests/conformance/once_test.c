/* SPDX-License-Identifier: Apache-2.0 */
/*
 * once_test.c - work that is done once: who has the claim, what a result, a
 * failure and the end of a lease leave to the next, and ticks of a period.
 */
#include <stdlib.h>
#include <time.h>

#include "holdfast/hash.h"
#include "holdfast/key.h"
#include "holdfast/once.h"
#include "holdfast/value.h"
#include "support/byte_proxy.h"
#include "support/slowness.h"
#include "support/store_fixture.h"
#include "support/test_clock.h"
#include "support/told.h"

FIXTURE_TESTS();

#define WOKEN_MS 700
#define SHORT_MS 300

static const hf_once_options retry = {
    sizeof(hf_once_options), HF_ONCE_RETRY_DOUBT, 0, {NULL, 0}, 0, 0, 0};

static hf_lock *claim_with(fixture *f, hf_client *client, hf_bytes key,
                           const hf_once_options *once,
                           const hf_lock_options *opts)
{
    hf_lock *lock = NULL;

    expect_status(HF_OK, hf_once_new(client, key, once, opts, &lock, ERR));
    return fixture_keep_lock(f, lock);
}

static hf_lock *claim_of(fixture *f, hf_client *client, hf_bytes key)
{
    return claim_with(f, client, key, NULL, NULL);
}

/* A claim whose lease ends by itself: `lock` has lost it. */
static hf_lock *ended_claim(fixture *f, hf_client *client, hf_bytes key,
                            const hf_once_options *once)
{
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    hf_once_info info = HF_ONCE_INFO_INIT;
    hf_lock *lock;

    opts.ttl_ms = SHORT_MS;
    opts.flags = HF_LOCK_NO_RENEW;
    lock = claim_with(f, client, key, once, &opts);
    expect_status(HF_OK, hf_lock_try(lock, ERR));
    expect_soon(hf_once_inspect(client, key, &info, NULL) == HF_OK &&
                    info.state != HF_ONCE_CLAIMED,
                5000);
    hf_once_info_free(&info);
    return lock;
}

static void assert_state(hf_client *client, hf_bytes key, hf_once_state state)
{
    hf_once_info info = HF_ONCE_INFO_INIT;

    expect_status(HF_OK, hf_once_inspect(client, key, &info, ERR));
    assert_int_equal(info.state, state);
    assert_true(info.remaining_ms > 0);
    hf_once_info_free(&info);
}

/* An acquire that finds this result. */
static void assert_done(hf_lock *lock, int32_t code, hf_bytes result)
{
    int32_t found = -1;
    hf_bytes bytes = {NULL, 0};

    expect_status(HF_CONFLICT, hf_lock_try(lock, ERR));
    expect_status(HF_OK, hf_once_result(lock, &found, &bytes, ERR));
    assert_int_equal(found, code);
    assert_int_equal(bytes.size, result.size);
    assert_memory_equal(bytes.data, result.data, result.size);
    assert_false(hf_lock_is_held(lock));
}

TEST(once_work_is_claimed_by_one_and_its_result_found_by_all)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "o"), result = hf_view("a\0b\r\n", 5);
    hf_lock *one = claim_of(f, f->client, key);
    hf_lock *two = claim_of(f, f->other, key);
    hf_once_info info = HF_ONCE_INFO_INIT;
    char owner[HF_OWNER_SIZE];

    expect_status(HF_NOT_FOUND, hf_once_inspect(f->client, key, &info, ERR));
    expect_status(HF_NOT_FOUND, hf_once_result(one, NULL, NULL, ERR));
    expect_status(HF_OK, hf_lock_try(one, ERR));
    expect_status(HF_HELD, hf_lock_try(two, ERR));
    expect_status(HF_OK, hf_once_inspect(f->other, key, &info, ERR));
    hf_lock_owner(one, owner);
    assert_string_equal(info.owner, owner);
    assert_true(info.token == hf_lock_token(one) && info.tick_ms == 0);
    assert_int_equal(info.state, HF_ONCE_CLAIMED);
    expect_status(HF_OK, hf_once_complete(one, -7, result, ERR));
    assert_false(hf_lock_is_held(one));
    assert_done(two, -7, result);
    assert_done(one, -7, result);
    expect_status(HF_OK, hf_once_inspect(f->other, key, &info, ERR));
    assert_int_equal(info.state, HF_ONCE_DONE);
    assert_int_equal(info.status, -7);
    assert_buffer(&info.result, result);
    hf_once_info_free(&info);
    expect_status(HF_INVALID, hf_once_complete(one, 0, result, ERR));
}

TEST(once_an_empty_result_is_a_result)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "o");
    hf_lock *one = claim_of(f, f->client, key);

    expect_status(HF_OK, hf_lock_try(one, ERR));
    expect_status(HF_OK, hf_once_complete(one, 0, bytes(""), ERR));
    assert_done(one, 0, bytes(""));
}

/* The status with which a waiter ends, and when. */
static void start_waiting(fixture *f, hf_lock *lock, hf_bytes key, told *said)
{
    hf_once_info info = HF_ONCE_INFO_INIT;
    hf_async async = tell(said);

    expect_status(HF_TIMEOUT, hf_lock_acquire(lock, 20, ERR));
    expect_status(HF_OK, hf_lock_acquire_start(lock, HF_FOREVER, &async, ERR));
    expect_soon((dispatch(f->other),
                 hf_once_inspect(f->client, key, &info, NULL) == HF_OK &&
                     info.waiters == 1),
                5000);
    hf_once_info_free(&info);
}

TEST(once_failed_work_is_handed_to_the_waiter)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "o");
    hf_lock *one = claim_of(f, f->client, key);
    hf_lock *two = claim_of(f, f->other, key);
    told said = {0};
    int64_t began_ms;

    expect_status(HF_OK, hf_lock_try(one, ERR));
    start_waiting(f, two, key, &said);
    began_ms = test_now_ms();
    expect_status(HF_OK, hf_lock_release(one, ERR));
    await_told(f->other, &said, 1);
    expect_status(HF_OK, said.status);
    assert_woken(test_now_ms() - began_ms, 1000);
    assert_true(hf_lock_token(two) > hf_lock_token(one));
    assert_state(f->client, key, HF_ONCE_CLAIMED);
    expect_status(HF_OK, hf_once_complete(two, 1, bytes("x"), ERR));
    assert_done(one, 1, bytes("x"));
}

TEST(once_a_result_wakes_all_that_wait)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "o"), result = {NULL, 0};
    hf_lock *one = claim_of(f, f->client, key);
    hf_lock *two = claim_of(f, f->other, key);
    told said = {0};
    int64_t began_ms;

    expect_status(HF_OK, hf_lock_try(one, ERR));
    start_waiting(f, two, key, &said);
    began_ms = test_now_ms();
    expect_status(HF_OK, hf_once_complete(one, 5, bytes("done"), ERR));
    await_told(f->other, &said, 1);
    expect_status(HF_CONFLICT, said.status);
    assert_woken(test_now_ms() - began_ms, 1000);
    expect_status(HF_OK, hf_once_result(two, NULL, &result, ERR));
    assert_memory_equal(result.data, "done", 4);
}

TEST(once_released_work_leaves_no_key)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "o");
    hf_lock *one = claim_of(f, f->client, key);

    expect_status(HF_OK, hf_lock_try(one, ERR));
    expect_status(HF_OK, hf_lock_release(one, ERR));
    assert_no_key(f->client, key);
    expect_status(HF_OK, hf_lock_try(one, ERR));
}

TEST(once_a_claim_that_ends_without_a_result_leaves_the_work_in_doubt)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "o");
    hf_lock *two = claim_of(f, f->other, key);
    hf_lock *again = claim_with(f, f->other, key, &retry, NULL);

    (void)ended_claim(f, f->client, key, NULL);
    expect_status(HF_EXPIRED, hf_lock_try(two, ERR));
    expect_status(HF_EXPIRED, hf_lock_acquire(two, 20, ERR));
    assert_state(f->other, key, HF_ONCE_DOUBT);
    expect_status(HF_OK, hf_lock_try(again, ERR));
    assert_state(f->other, key, HF_ONCE_CLAIMED);
    expect_status(HF_OK, hf_once_complete(again, 0, bytes("r"), ERR));
    assert_done(two, 0, bytes("r"));
}

TEST(once_work_in_doubt_remains_so_when_a_retry_fails)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "o");
    hf_lock *two = claim_of(f, f->other, key);
    hf_lock *again = claim_with(f, f->other, key, &retry, NULL);
    hf_once_info info = HF_ONCE_INFO_INIT;

    (void)ended_claim(f, f->client, key, NULL);
    expect_status(HF_OK, hf_lock_try(again, ERR));
    expect_status(HF_OK, hf_lock_release(again, ERR));
    expect_status(HF_EXPIRED, hf_lock_try(two, ERR));
    expect_status(HF_OK, hf_once_inspect(f->client, key, &info, ERR));
    assert_int_equal(info.state, HF_ONCE_DOUBT);
    assert_string_equal(info.owner, "");
    hf_once_info_free(&info);
    expect_status(HF_OK, hf_lock_try(again, ERR));
}

TEST(once_a_waiter_finds_doubt_when_the_lease_ends)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "o");
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    hf_lock *one, *two = claim_of(f, f->other, key);
    int64_t began_ms;

    opts.ttl_ms = SHORT_MS;
    opts.flags = HF_LOCK_NO_RENEW;
    one = claim_with(f, f->client, key, NULL, &opts);
    expect_status(HF_OK, hf_lock_try(one, ERR));
    began_ms = test_now_ms();
    expect_status(HF_EXPIRED, hf_lock_acquire(two, 60000, ERR));
    assert_in_time(test_now_ms() - began_ms, 2 * SHORT_MS + WOKEN_MS);
}

TEST(once_a_late_result_counts_unless_another_has_claimed_the_work)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "o"), other = fixture_key(f, "p");
    hf_lock *late = ended_claim(f, f->client, key, NULL);
    hf_lock *later = ended_claim(f, f->client, other, NULL);
    hf_lock *again = claim_with(f, f->other, other, &retry, NULL);

    expect_status(HF_OK, hf_once_complete(late, 3, bytes("late"), ERR));
    assert_done(claim_of(f, f->other, key), 3, bytes("late"));
    expect_status(HF_OK, hf_lock_try(again, ERR));
    expect_status(HF_LOST, hf_once_complete(later, 3, bytes("late"), ERR));
    assert_true(hf_lock_is_held(again));
    expect_status(HF_OK, hf_once_complete(again, 4, bytes("r"), ERR));
    expect_status(HF_LOST, hf_once_complete(later, 3, bytes("late"), ERR));
    assert_done(again, 4, bytes("r"));
    expect_status(HF_LOST, hf_lock_release(later, ERR));
    assert_done(again, 4, bytes("r"));
}

TEST(once_freeing_a_lost_claim_leaves_the_work_in_doubt)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "o");

    fixture_free_lock(f, ended_claim(f, f->client, key, NULL));
    assert_state(f->other, key, HF_ONCE_DOUBT);
    expect_status(HF_EXPIRED, hf_lock_try(claim_of(f, f->other, key), ERR));
}

/* The request never arrived. A full store refuses it: full_test.c. */
TEST(once_freeing_a_claim_without_a_reply_to_its_result_gives_nothing_back)
{
    fixture *f = *state;
    hf_client_options opts = HF_CLIENT_OPTIONS_INIT;
    hf_bytes key = fixture_key(f, "o");
    byte_proxy *proxy;
    hf_client *client;
    hf_lock *one;

    if (f->server == NULL || f->sentinel != NULL ||
        f->store == FIXTURE_REDIS_TLS || f->rights != FIXTURE_RIGHTS_ALL)
        skip();
    opts.request_ms = slowed_ms(500);
    proxy = byte_proxy_start(redis_server_socket_path(f->server));
    assert_non_null(proxy);
    client = fixture_client_at(f, byte_proxy_unix_url(proxy), &opts);
    one = claim_of(f, client, key);
    expect_status(HF_OK, hf_lock_acquire(one, 10000, ERR));
    byte_proxy_swallow(proxy, TO_SERVER);
    expect_status(HF_INDETERMINATE, hf_once_complete(one, 0, bytes("r"), ERR));
    byte_proxy_heal(proxy);
    fixture_free_lock(f, one);
    assert_state(f->other, key, HF_ONCE_CLAIMED);
    fixture_close_client(f, client);
    byte_proxy_stop(proxy);
}

TEST(once_another_fingerprint_is_refused_by_name)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "o");
    hf_once_options first = HF_ONCE_OPTIONS_INIT, second = HF_ONCE_OPTIONS_INIT;
    hf_error error = HF_ERROR_INIT;
    hf_lock *one, *two, *none = claim_of(f, f->other, key);

    first.fingerprint = bytes("POST /a 10");
    second.fingerprint = bytes("POST /a 11");
    one = claim_with(f, f->client, key, &first, NULL);
    two = claim_with(f, f->other, key, &second, NULL);
    expect_status(HF_OK, hf_lock_try(one, ERR));
    expect_status(HF_INVALID, hf_lock_acquire(two, 60000, &error));
    assert_non_null(strstr(error.message, "fingerprint"));
    assert_non_null(strstr(error.message, (const char *)key.data));
    expect_status(HF_INVALID, hf_lock_try(none, ERR));
    assert_true(hf_lock_is_held(one));
    expect_status(HF_OK, hf_once_complete(one, 0, bytes("r"), ERR));
    expect_status(HF_INVALID, hf_lock_try(two, ERR));
    assert_done(claim_with(f, f->other, key, &first, NULL), 0, bytes("r"));
}

TEST(once_a_result_that_is_too_large_is_refused_and_the_claim_kept)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "o");
    hf_lock *one = claim_of(f, f->client, key);
    hf_error error = HF_ERROR_INIT;
    char *large = calloc(1, HF_ONCE_RESULT_MAX + 1);

    assert_non_null(large);
    expect_status(HF_OK, hf_lock_try(one, ERR));
    expect_status(HF_INVALID,
                  hf_once_complete(
                      one, 0, hf_view(large, HF_ONCE_RESULT_MAX + 1), &error));
    assert_non_null(strstr(error.message, "1048576"));
    assert_true(hf_lock_is_held(one));
    expect_status(HF_OK, hf_once_complete(
                             one, 0, hf_view(large, HF_ONCE_RESULT_MAX), ERR));
    assert_done(one, 0, hf_view(large, HF_ONCE_RESULT_MAX));
    free(large);
}

static bool is_recorded(fixture *f, hf_bytes key)
{
    hf_once_info info = HF_ONCE_INFO_INIT;
    hf_status status = hf_once_inspect(f->client, key, &info, ERR);

    hf_once_info_free(&info);
    return status == HF_OK;
}

TEST(once_a_record_expires)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "o"), doubt = fixture_key(f, "p");
    hf_once_options once = HF_ONCE_OPTIONS_INIT;
    hf_lock *one, *late;

    fixture_not_records(f);
    once.keep_ms = SHORT_MS;
    one = claim_with(f, f->client, key, &once, NULL);
    expect_status(HF_OK, hf_lock_try(one, ERR));
    expect_status(HF_OK, hf_once_complete(one, 0, bytes("r"), ERR));
    expect_soon(hf_lock_try(one, NULL) == HF_OK, 10000);
    late = ended_claim(f, f->client, doubt, &once);
    expect_soon(!is_recorded(f, doubt), 10000);
    expect_status(HF_EXPIRED, hf_once_complete(late, 0, bytes("r"), ERR));
    assert_no_key(f->client, doubt);
}

TEST(once_a_lease_is_renewed_while_the_work_is_done)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "o");
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    int64_t until_ms = test_now_ms();
    hf_lock *one, *two = claim_of(f, f->other, key);

    opts.ttl_ms = slowed_ms(SHORT_MS);
    until_ms += 3 * opts.ttl_ms;
    one = claim_with(f, f->client, key, NULL, &opts);
    expect_status(HF_OK, hf_lock_try(one, ERR));
    while (test_now_ms() < until_ms)
        expect_status(HF_TIMEOUT, hf_lock_acquire(two, 20, ERR));
    assert_true(hf_lock_is_held(one));
    expect_status(HF_OK, hf_once_complete(one, 0, bytes("r"), ERR));
}

TEST(once_a_deleted_record_is_new_and_its_claim_lost)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "o");
    hf_lock *one = claim_of(f, f->client, key);
    hf_lock *two = claim_of(f, f->other, key);
    told said = {0};

    expect_status(HF_NOT_FOUND, hf_once_delete(f->other, key, ERR));
    expect_status(HF_OK, hf_lock_try(one, ERR));
    start_waiting(f, two, key, &said);
    expect_status(HF_OK, hf_once_delete(f->client, key, ERR));
    await_told(f->other, &said, 1);
    expect_status(HF_OK, said.status);
    expect_status(HF_LOST, hf_once_complete(one, 0, bytes("r"), ERR));
    expect_status(HF_OK, hf_once_complete(two, 0, bytes("s"), ERR));
    expect_status(HF_OK, hf_once_delete(f->client, key, ERR));
    assert_no_key(f->client, key);
    (void)ended_claim(f, f->client, key, NULL);
    expect_status(HF_OK, hf_once_delete(f->client, key, ERR));
    expect_status(HF_OK, hf_lock_try(two, ERR));
}

TEST(once_started_calls)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "o");
    hf_once_info info = HF_ONCE_INFO_INIT;
    hf_lock *one = claim_of(f, f->client, key);
    told said = {0};
    hf_async none = tell(&said);

    expect_told(HF_OK, f->client, hf_lock_acquire_start(one, 0, &async, ERR));
    expect_status(HF_INVALID,
                  hf_once_complete_start(claim_of(f, f->client, key), 0,
                                         bytes("r"), &none, ERR));
    expect_told(HF_OK, f->client,
                hf_once_complete_start(one, 9, bytes("result"), &async, ERR));
    expect_told(HF_CONFLICT, f->client,
                hf_lock_acquire_start(one, 0, &async, ERR));
    expect_told(HF_OK, f->client,
                hf_once_inspect_start(f->client, key, &info, &async, ERR));
    assert_int_equal(info.status, 9);
    assert_buffer(&info.result, bytes("result"));
    hf_once_info_free(&info);
    expect_told(HF_OK, f->client,
                hf_once_delete_start(f->client, key, &async, ERR));
}

/* A record of period_ms, complete; its tick. */
static int64_t do_tick(fixture *f, hf_lock *lock, hf_bytes key)
{
    hf_once_info info = HF_ONCE_INFO_INIT;
    int64_t tick_ms;

    expect_status(HF_OK, hf_once_complete(lock, 0, bytes("t"), ERR));
    expect_status(HF_OK, hf_once_inspect(f->client, key, &info, ERR));
    tick_ms = info.tick_ms;
    hf_once_info_free(&info);
    return tick_ms;
}

TEST(once_a_period_has_a_record_for_each_tick)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "o");
    hf_once_options once = HF_ONCE_OPTIONS_INIT;
    hf_lock *one, *two;
    int64_t first_ms, second_ms;
    hf_status status;

    once.period_ms = 1000;
    once.keep_ms = 60000; /* it is not new because it has expired */
    one = claim_with(f, f->client, key, &once, NULL);
    two = claim_with(f, f->other, key, &once, NULL);
    expect_status(HF_OK, hf_lock_try(one, ERR));
    first_ms = do_tick(f, one, key);
    assert_true(first_ms > 0 && first_ms % 1000 == 0);
    status = hf_lock_try(two, ERR);
    if (status == HF_OK) /* between the two a tick began */
        assert_true(do_tick(f, two, key) > first_ms);
    else
        expect_status(HF_CONFLICT, status);
    expect_soon(hf_lock_try(two, NULL) == HF_OK, 10000);
    second_ms = do_tick(f, two, key);
    assert_true(second_ms > first_ms && second_ms % 1000 == 0);
}

/* By a record whose tick began as long ago as it can have. */
TEST(once_a_tick_begins_early)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "o"), other = fixture_key(f, "p");
    hf_once_options once = HF_ONCE_OPTIONS_INIT;
    hf_lock *one, *two;
    int64_t day_ms = 86400000, tick_ms;

    once.period_ms = day_ms;
    once.early_ms = 1;
    one = claim_with(f, f->client, key, &once, NULL);
    once.early_ms = day_ms - 1;
    two = claim_with(f, f->client, other, &once, NULL);
    expect_status(HF_OK, hf_lock_try(one, ERR));
    expect_status(HF_OK, hf_lock_try(two, ERR));
    tick_ms = do_tick(f, one, key);
    assert_true(do_tick(f, two, other) == tick_ms + day_ms);
}

TEST(once_a_claim_of_the_tick_before_is_waited_for)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "o");
    hf_once_options once = HF_ONCE_OPTIONS_INIT;
    hf_lock *one, *two;
    int64_t first_ms;

    once.period_ms = 200;
    once.keep_ms = 60000;
    one = claim_with(f, f->client, key, &once, NULL);
    two = claim_with(f, f->other, key, &once, NULL);
    expect_status(HF_OK, hf_lock_try(one, ERR));
    expect_status(HF_TIMEOUT, hf_lock_acquire(two, 600, ERR));
    first_ms = do_tick(f, one, key);
    expect_status(HF_OK, hf_lock_acquire(two, 60000, ERR));
    assert_true(do_tick(f, two, key) > first_ms);
}

/* Sleep until a tick begins; its instant. The stores have our clock. */
static int64_t sleep_until_tick(int64_t period_ms)
{
    int64_t tick_ms = (time(NULL) * INT64_C(1000) / period_ms + 1) * period_ms;

    expect_soon(time(NULL) * INT64_C(1000) >= tick_ms, 60000);
    return tick_ms;
}

/* Of two waiters that began in a tick which has ended, one finds its result,
 * and the other has its claim. */
TEST(once_who_waits_longer_than_the_tick_waits_for_that_tick)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "o"), failed = fixture_key(f, "p");
    hf_once_options once = HF_ONCE_OPTIONS_INIT;
    hf_lock *one, *two, *bad, *next;
    told done = {0}, handed = {0};
    int64_t tick_ms;

    once.period_ms = slowed_ms(3000);
    once.early_ms = 1;
    one = claim_with(f, f->client, key, &once, NULL);
    two = claim_with(f, f->other, key, &once, NULL);
    bad = claim_with(f, f->client, failed, &once, NULL);
    next = claim_with(f, f->other, failed, &once, NULL);
    tick_ms = sleep_until_tick(once.period_ms);
    expect_status(HF_OK, hf_lock_try(one, ERR));
    expect_status(HF_OK, hf_lock_try(bad, ERR));
    start_waiting(f, two, key, &done);
    start_waiting(f, next, failed, &handed);
    assert_true(tick_ms + once.period_ms == sleep_until_tick(once.period_ms));
    expect_status(HF_OK, hf_once_complete(one, 3, bytes("r"), ERR));
    expect_status(HF_OK, hf_lock_release(bad, ERR));
    await_told(f->other, &done, 1);
    expect_status(HF_CONFLICT, done.status);
    await_told(f->other, &handed, 1);
    expect_status(HF_OK, handed.status);
    assert_true(do_tick(f, next, failed) == tick_ms);
}

/* In the next tick, doubt about the one before holds up no one. */
TEST(once_doubt_is_of_one_tick)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "o");
    hf_once_options once = HF_ONCE_OPTIONS_INIT;

    once.period_ms = 500;
    once.keep_ms = 60000;
    (void)ended_claim(f, f->client, key, &once);
    expect_soon(hf_lock_try(claim_with(f, f->other, key, &once, NULL), NULL) ==
                    HF_OK,
                10000);
}

/* The store's clock went back, or another client begins ticks earlier: a later
 * tick is not claimed again by way of an earlier one. */
TEST(once_a_record_of_a_later_tick_counts)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "o"), doubt = fixture_key(f, "p");
    hf_once_options ahead = HF_ONCE_OPTIONS_INIT, behind = ahead;
    hf_lock *one, *again;
    int64_t later_ms;

    ahead.period_ms = behind.period_ms = 86400000;
    ahead.early_ms = ahead.period_ms - 1;
    behind.early_ms = 1;
    one = claim_with(f, f->client, key, &ahead, NULL);
    expect_status(HF_OK, hf_lock_try(one, ERR));
    expect_status(
        HF_HELD, hf_lock_try(claim_with(f, f->other, key, &behind, NULL), ERR));
    later_ms = do_tick(f, one, key);
    assert_done(claim_with(f, f->other, key, &behind, NULL), 0, bytes("t"));
    assert_done(claim_of(f, f->other, key), 0, bytes("t"));
    (void)ended_claim(f, f->client, doubt, &ahead);
    expect_status(
        HF_EXPIRED,
        hf_lock_try(claim_with(f, f->other, doubt, &behind, NULL), ERR));
    behind.flags = HF_ONCE_RETRY_DOUBT;
    again = claim_with(f, f->other, doubt, &behind, NULL);
    expect_status(HF_OK, hf_lock_try(again, ERR));
    assert_true(do_tick(f, again, doubt) == later_ms);
}

/* The fields of a record of ours; NULL: it has no such field. */
typedef struct fields {
    const char *claim, *until, *keep, *tick, *digest, *doubt, *token, *status;
} fields;

#define OWNER "0123456789abcdef-0123456789abcde"
#define LATER "9999999999999999"

static const fields record = {OWNER, LATER, "1000", "0", "", "", "7", NULL};

static const fields hostile[] = {
    {NULL, LATER, NULL, NULL, NULL, NULL, NULL, NULL},
    {OWNER, LATER, NULL, NULL, NULL, NULL, NULL, NULL},
    {NULL, LATER, "1000", "0", "", "", "7", NULL},
    {OWNER, NULL, "1000", "0", "", "", "7", NULL},
    {OWNER, LATER, NULL, "0", "", "", "7", NULL},
    {OWNER, LATER, "1000", NULL, "", "", "7", NULL},
    {OWNER, LATER, "1000", "0", NULL, "", "7", NULL},
    {OWNER, LATER, "1000", "0", "", NULL, "7", NULL},
    {OWNER, LATER, "1000", "0", "", "", NULL, NULL},
    {OWNER, "", "1000", "0", "", "", "7", NULL},
    {OWNER, "soon", "1000", "0", "", "", "7", NULL},
    {OWNER, "-1", "1000", "0", "", "", "7", NULL},
    {OWNER, "1e3", "1000", "0", "", "", "7", NULL},
    {OWNER, "0x10", "1000", "0", "", "", "7", NULL},
    {OWNER, LATER "9", "1000", "0", "", "", "7", NULL},
    {OWNER, LATER, "1.5", "0", "", "", "7", NULL},
    {OWNER, LATER, "1000", "nan", "", "", "7", NULL},
    {OWNER, LATER, "1000", "0", "", "", "inf", NULL},
    {OWNER, "0", "1000", "0", "", "", "7", NULL},
    {OWNER, "0", "1000", "0", "", "", "7", "done"},
};

static void put_record(fixture *f, hf_bytes key, const fields *from)
{
    static const char *const names[] = {"claim",  "until", "keep",  "tick",
                                        "digest", "doubt", "token", "status"};
    const char *const values[] = {from->claim, from->until,  from->keep,
                                  from->tick,  from->digest, from->doubt,
                                  from->token, from->status};
    hf_field put[8];
    size_t count = 0;

    for (size_t i = 0; i < 8; i++) {
        if (values[i] != NULL)
            put[count++] = (hf_field){hf_str(names[i]), hf_str(values[i])};
    }
    expect_status(HF_OK, hf_hash_put(f->other, key, put, count, NULL, ERR));
}

static void assert_type(fixture *f, hf_bytes key, const char *type)
{
    hf_buffer found = HF_BUFFER_INIT;

    expect_status(HF_OK, hf_key_type(f->other, key, &found, ERR));
    assert_buffer(&found, hf_str(type));
    hf_buffer_free(&found);
}

TEST(once_a_hash_of_another_program_is_of_the_wrong_type)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "o");
    hf_once_info info = HF_ONCE_INFO_INIT;
    hf_lock *one = claim_of(f, f->client, key);

    for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
        put_record(f, key, &hostile[i]);
        expect_status(HF_WRONG_TYPE, hf_lock_try(one, ERR));
        expect_status(HF_WRONG_TYPE,
                      hf_once_inspect(f->client, key, &info, ERR));
        expect_status(HF_WRONG_TYPE, hf_once_delete(f->client, key, ERR));
        assert_type(f, key, "hash");
        expect_status(HF_OK, hf_key_delete(f->other, key, ERR));
    }
    put_record(f, key, &record);
    expect_status(HF_HELD, hf_lock_try(one, ERR));
    assert_state(f->client, key, HF_ONCE_CLAIMED);
    assert_type(f, key, "once");
    expect_status(HF_OK, hf_once_delete(f->client, key, ERR));
}

/* They name the holder, but it is not its record. */
TEST(once_a_claim_that_became_another_hash_is_lost)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "o"), good = fixture_key(f, "p");
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    hf_lock *other = claim_of(f, f->client, good);
    char owner[HF_OWNER_SIZE];

    opts.flags = HF_LOCK_NO_RENEW;
    expect_status(HF_OK, hf_lock_try(other, ERR));
    for (size_t i = 1; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
        hf_lock *one = claim_with(f, f->client, key, NULL, &opts);
        fields foreign = hostile[i];

        expect_status(HF_OK, hf_lock_try(one, ERR));
        hf_lock_owner(one, owner);
        expect_status(HF_OK, hf_once_delete(f->other, key, ERR));
        if (foreign.claim != NULL)
            foreign.claim = owner;
        put_record(f, key, &foreign);
        expect_status(HF_EXPIRED, hf_lock_renew(one, ERR));
        expect_status(HF_OK, hf_lock_renew(other, ERR));
        expect_status(HF_WRONG_TYPE, hf_once_complete(one, 0, bytes("r"), ERR));
        expect_status(HF_WRONG_TYPE, hf_lock_release(one, ERR));
        assert_type(f, key, "hash");
        expect_status(HF_OK, hf_key_delete(f->other, key, ERR));
        fixture_free_lock(f, one);
    }
}

TEST(once_an_acquire_forgets_the_result_that_was_found)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "o");
    hf_lock *one = claim_of(f, f->client, key);

    expect_status(HF_OK, hf_lock_try(one, ERR));
    expect_status(HF_OK, hf_once_complete(one, 1, bytes("old"), ERR));
    assert_done(one, 1, bytes("old"));
    expect_status(HF_OK, hf_once_delete(f->other, key, ERR));
    expect_status(HF_OK, hf_lock_try(one, ERR));
    expect_status(HF_NOT_FOUND, hf_once_result(one, NULL, NULL, ERR));
    expect_status(HF_OK, hf_once_complete(one, 2, bytes("new"), ERR));
    assert_done(one, 2, bytes("new"));
}

TEST(once_a_held_claim_is_left_alone_by_other_calls)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "o"), value = fixture_key(f, "v");
    hf_field field = {bytes("a"), bytes("b")};
    hf_lock *one = claim_of(f, f->client, key);
    hf_buffer type = HF_BUFFER_INIT;

    expect_status(HF_OK, hf_lock_try(one, ERR));
    expect_status(HF_OK, hf_key_type(f->other, key, &type, ERR));
    assert_buffer(&type, bytes("once"));
    expect_status(HF_HELD, hf_key_delete(f->other, key, ERR));
    expect_status(HF_HELD, hf_key_expire(f->other, key, 1000, ERR));
    expect_status(HF_HELD,
                  hf_hash_put(f->other, key, &field, 1,
                              &(hf_hash_put_options){
                                  .struct_size = sizeof(hf_hash_put_options),
                                  .flags = HF_HASH_REPLACE},
                              ERR));
    assert_true(hf_lock_is_held(one));
    expect_status(HF_OK, hf_once_complete(one, 0, bytes("r"), ERR));
    expect_status(HF_OK, hf_key_type(f->other, key, &type, ERR));
    assert_buffer(&type, bytes("once"));
    hf_buffer_free(&type);
    expect_status(HF_OK, hf_key_delete(f->other, key, ERR));
    expect_status(HF_OK,
                  hf_value_set(f->client, value, bytes("1"), NULL, NULL, ERR));
    expect_status(HF_WRONG_TYPE,
                  hf_lock_try(claim_of(f, f->client, value), ERR));
    expect_status(HF_OK, hf_hash_put(f->client, key, &field, 1, NULL, ERR));
    expect_status(HF_WRONG_TYPE, hf_lock_try(claim_of(f, f->client, key), ERR));
    expect_status(HF_WRONG_TYPE, hf_once_delete(f->client, key, ERR));
}

TEST(once_options_are_checked)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "o");
    hf_once_options once = HF_ONCE_OPTIONS_INIT;
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    hf_lock *lock = NULL, *plain = NULL;

    once.flags = 2;
    expect_status(HF_UNSUPPORTED,
                  hf_once_new(f->client, key, &once, NULL, &lock, ERR));
    once.flags = 0;
    once.period_ms = 1000;
    once.keep_ms = 999;
    expect_status(HF_INVALID,
                  hf_once_new(f->client, key, &once, NULL, &lock, ERR));
    once.keep_ms = 1000;
    once.early_ms = 1000;
    expect_status(HF_INVALID,
                  hf_once_new(f->client, key, &once, NULL, &lock, ERR));
    opts.min_hold_ms = 1;
    expect_status(HF_UNSUPPORTED,
                  hf_once_new(f->client, key, NULL, &opts, &lock, ERR));
    assert_null(lock);
    expect_status(HF_OK, hf_lock_new(f->client, key, NULL, &plain, ERR));
    fixture_keep_lock(f, plain);
    expect_status(HF_INVALID, hf_once_complete(plain, 0, bytes(""), ERR));
    expect_status(HF_INVALID, hf_once_result(plain, NULL, NULL, ERR));
}
