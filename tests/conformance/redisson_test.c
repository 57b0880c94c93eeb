/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redisson_test.c - locks in the layout of Redisson, next to what Redisson's
 * own scripts do, and on stores where no Redisson is. A live Redisson takes
 * part in tests/interop/redisson.
 */
#include <stdio.h>
#include <string.h>

#include "holdfast/command.h"
#include "holdfast/election.h"
#include "holdfast/key.h"
#include "holdfast/latch.h"
#include "holdfast/redisson.h"
#include "holdfast/rwlock.h"
#include "holdfast/semaphore.h"
#include "support/redisson_peer.h"
#include "support/slowness.h"

FIXTURE_TESTS();

/* What Redisson's scripts do to acquire a lock, and to release it. */
#define JAVA_ACQUIRE                                                           \
    "if redis.call('exists', KEYS[1]) == 0 or "                                \
    "redis.call('hexists', KEYS[1], ARGV[1]) == 1 then "                       \
    "redis.call('hincrby', KEYS[1], ARGV[1], 1) "                              \
    "redis.call('pexpire', KEYS[1], 30000) return 1 end return 0"
#define JAVA_RELEASE                                                           \
    "if redis.call('hexists', KEYS[1], ARGV[1]) == 0 then return 0 end "       \
    "redis.call('del', KEYS[1]) redis.call(ARGV[2], ARGV[3], '0') return 1"

static int64_t eval(fixture *f, const char *script, hf_bytes name)
{
    return redisson_eval(f, script, "redisson_lock__channel:", name);
}

static hf_lock *lock_of(fixture *f, hf_client *client, hf_bytes name)
{
    return redisson_lock(f, client, name, HF_REDISSON_LOCK, NULL);
}

TEST(redisson_lock_is_refused_where_no_redisson_is)
{
    fixture *f = *state;
    hf_lock *lock = NULL;
    hf_status status = hf_redisson_lock_new(f->client, fixture_key(f, "l"),
                                            HF_REDISSON_LOCK, NULL, &lock, ERR);

    expect_status(redisson_is_here(f) ? HF_OK : HF_UNSUPPORTED, status);
    hf_lock_free(lock);
}

TEST(redisson_lock_refuses_names_that_break_redisson)
{
    static const char *const names[] = {"a{b", "{}a", "a}b", "{a"};
    fixture *f = *state;
    hf_lock *lock = NULL;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        expect_status(redisson_is_here(f) ? HF_INVALID : HF_UNSUPPORTED,
                      hf_redisson_lock_new(f->client, hf_str(names[i]),
                                           HF_REDISSON_LOCK, NULL, &lock, ERR));
    if (!redisson_is_here(f))
        return;
    lock = lock_of(f, f->client, hf_str("{redisson}.tagged"));
    expect_status(HF_OK, hf_lock_try(lock, ERR));
    expect_status(HF_OK, hf_lock_release(lock, ERR));
}

TEST(redisson_lock_and_java_exclude_each_other)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *lock;

    if (!redisson_is_here(f))
        return;
    lock = lock_of(f, f->client, name);
    expect_status(HF_OK, hf_lock_try(lock, ERR));
    expect_status(HF_OK, hf_lock_try(lock, ERR)); /* re-entry */
    assert_int_equal(eval(f, JAVA_ACQUIRE, name), 0);
    assert_int_equal(
        eval(f, "return tonumber(redis.call('hvals', KEYS[1])[1])", name), 1);
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    assert_int_equal(eval(f, JAVA_ACQUIRE, name), 0);
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    assert_no_key(f->client, name);
    assert_int_equal(eval(f, JAVA_ACQUIRE, name), 1);
    expect_status(HF_HELD, hf_lock_try(lock, ERR));
    assert_int_equal(eval(f, JAVA_RELEASE, name), 1);
    expect_status(HF_OK, hf_lock_try(lock, ERR));
}

TEST(redisson_lock_is_woken_by_java)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    told said = {0};
    hf_async async = tell(&said);
    hf_lock *lock;

    if (!redisson_is_here(f))
        return;
    lock = lock_of(f, f->client, name);
    assert_int_equal(eval(f, JAVA_ACQUIRE, name), 1);
    expect_status(HF_TIMEOUT, hf_lock_acquire(lock, 50, ERR));
    expect_status(HF_OK, hf_lock_acquire_start(lock, HF_FOREVER, &async, ERR));
    REDISSON_WAKES(f->client, &said,
                   assert_int_equal(eval(f, JAVA_RELEASE, name), 1));
}

TEST(redisson_lock_release_wakes_another_client)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    told said = {0};
    hf_async async = tell(&said);
    hf_lock *lock, *waiter;

    if (!redisson_is_here(f))
        return;
    lock = lock_of(f, f->client, name);
    waiter = lock_of(f, f->other, name);
    expect_status(HF_OK, hf_lock_try(lock, ERR));
    expect_status(HF_OK,
                  hf_lock_acquire_start(waiter, HF_FOREVER, &async, ERR));
    REDISSON_WAKES(f->other, &said,
                   expect_status(HF_OK, hf_lock_release(lock, ERR)));
}

/* Started again and again, with no pause between. */
TEST(redisson_lock_is_left_to_others_by_started_calls)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    told said = {0}, waited = {0};
    hf_async async = tell(&said), waits = tell(&waited);
    hf_lock *lock, *waiter;
    int rounds = 0;

    if (!redisson_is_here(f))
        return;
    lock = lock_of(f, f->client, name);
    waiter = lock_of(f, f->other, name);
    expect_status(HF_OK, hf_lock_try(lock, ERR));
    expect_status(HF_OK,
                  hf_lock_acquire_start(waiter, HF_FOREVER, &waits, ERR));
    redisson_waits(f->other, &waited);
    while (waited.count == 0) {
        assert_true(rounds++ < 50);
        said.count = 0;
        expect_status(HF_OK, hf_lock_release(lock, ERR));
        expect_status(HF_OK,
                      hf_lock_acquire_start(lock, HF_FOREVER, &async, ERR));
        while (said.count + waited.count == 0) {
            dispatch(f->client);
            dispatch(f->other);
        }
    }
    expect_status(HF_OK, waited.status);
    expect_status(HF_OK, hf_lock_release(waiter, ERR));
    await_ok(f->client, &said);
}

TEST(redisson_lock_yields_and_is_cancelled)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    told said = {0}, waited = {0};
    hf_async async = tell(&said), waits = tell(&waited);
    hf_call *call = NULL;
    hf_lock *lock, *waiter;

    if (!redisson_is_here(f))
        return;
    lock = lock_of(f, f->client, name);
    waiter = lock_of(f, f->other, name);
    expect_status(HF_OK, hf_lock_try(lock, ERR));
    expect_status(HF_OK,
                  hf_lock_acquire_start(waiter, HF_FOREVER, &waits, ERR));
    redisson_waits(f->other, &waited);
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    async.call = &call;
    expect_status(HF_OK, hf_lock_acquire_start(lock, HF_FOREVER, &async, ERR));
    hf_call_cancel(call);
    await_told(f->client, &said, 1);
    assert_true(said.status == HF_CANCELLED || said.status == HF_OK);
    if (said.status == HF_OK)
        expect_status(HF_OK, hf_lock_release(lock, ERR));
    await_ok(f->other, &waited);
}

TEST(redisson_lock_is_renewed)
{
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *lock;

    if (!redisson_is_here(f))
        return;
    opts.ttl_ms = slowed_ms(60);
    lock = redisson_lock(f, f->client, name, HF_REDISSON_LOCK, &opts);
    expect_status(HF_OK, hf_lock_try(lock, ERR));
    expect_throughout(hf_lock_is_held(lock) && eval(f, JAVA_ACQUIRE, name) == 0,
                      3 * opts.ttl_ms);
    expect_status(HF_OK, hf_lock_renew(lock, ERR));
    expect_status(HF_OK, hf_lock_release(lock, ERR));
}

/* As forceUnlock() of Redisson does. */
TEST(redisson_lock_that_java_broke_is_lost)
{
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *lock;

    if (!redisson_is_here(f))
        return;
    opts.ttl_ms = slowed_ms(300);
    lock = redisson_lock(f, f->client, name, HF_REDISSON_LOCK, &opts);
    expect_status(HF_OK, hf_lock_try(lock, ERR));
    assert_int_equal(eval(f, "return redis.call('del', KEYS[1])", name), 1);
    assert_int_equal(eval(f, JAVA_ACQUIRE, name), 1);
    expect_soon(!hf_lock_is_held(lock), 5000);
    expect_status(HF_LOST, hf_lock_release(lock, ERR));
}

TEST(redisson_layout_of_the_url_inspects_and_breaks)
{
    hf_lock_info info = HF_LOCK_INFO_INIT;
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_client *client;
    hf_lock *lock = NULL;

    if (!redisson_is_here(f))
        return;
    client = redisson_client(f, NULL);
    expect_status(HF_NOT_FOUND, hf_lock_inspect(client, name, &info, ERR));
    assert_int_equal(eval(f, JAVA_ACQUIRE, name), 1);
    expect_status(HF_OK, hf_lock_new(client, name, NULL, &lock, ERR));
    fixture_keep_lock(f, lock);
    expect_status(HF_HELD, hf_lock_try(lock, ERR));
    expect_status(HF_OK, hf_lock_inspect(client, name, &info, ERR));
    assert_string_equal(info.owner, REDISSON_JAVA);
    assert_in_range(info.remaining_ms, 1, 30000);
    expect_status(HF_OK, hf_lock_break(client, name, ERR));
    expect_status(HF_NOT_FOUND, hf_lock_break(client, name, ERR));
    expect_status(HF_OK, hf_lock_try(lock, ERR));
}

static void expect_lost(hf_lock *lock)
{
    assert_int_not_equal(hf_lock_renew(lock, NULL), HF_OK);
}

/* Of three that hold it the second is broken, then it is free for a new one,
 * then the others are broken, one after the other. */
static void break_one_of_three(fixture *f, hf_client *by, const char *text,
                               hf_redisson_kind kind)
{
    hf_bytes name = fixture_key(f, text);
    hf_lock_info info = HF_LOCK_INFO_INIT;
    char owner[3][HF_OWNER_SIZE];
    hf_lock *locks[3];

    if (kind == HF_REDISSON_PERMIT)
        expect_status(HF_OK,
                      hf_redisson_semaphore_set(f->client, name, 3, ERR));
    for (size_t i = 0; i < 3; i++) {
        locks[i] = redisson_lock(f, f->client, name, kind, NULL);
        expect_status(HF_OK, hf_lock_try(locks[i], ERR));
        hf_lock_owner(locks[i], owner[i]);
    }
    expect_status(HF_NOT_FOUND,
                  hf_lock_break_owner(by, name, hf_str("another"), ERR));
    expect_status(HF_OK, hf_lock_break_owner(by, name, hf_str(owner[1]), ERR));
    expect_status(HF_NOT_FOUND,
                  hf_lock_break_owner(by, name, hf_str(owner[1]), ERR));
    expect_lost(locks[1]);
    expect_status(HF_OK, hf_lock_renew(locks[0], ERR));
    expect_status(HF_OK, hf_lock_renew(locks[2], ERR));
    expect_status(HF_OK, hf_lock_inspect(by, name, &info, ERR));
    assert_int_equal(info.holders, 2);
    expect_status(HF_OK, hf_lock_break_owner(by, name, hf_str(owner[0]), ERR));
    expect_status(HF_OK, hf_lock_renew(locks[2], ERR));
    expect_status(HF_OK, hf_lock_break_owner(by, name, hf_str(owner[2]), ERR));
    expect_lost(locks[2]);
    expect_status(HF_NOT_FOUND,
                  hf_lock_break_owner(by, name, hf_str(owner[2]), ERR));
    for (size_t i = 0; i < 3; i++)
        expect_status(
            HF_OK,
            hf_lock_try(redisson_lock(f, f->client, name, kind, NULL), ERR));
}

TEST(redisson_breaks_one_owner_of_several)
{
    fixture *f = *state;

    if (!redisson_is_here(f))
        return;
    break_one_of_three(f, f->other, "r", HF_REDISSON_READ_LOCK);
    break_one_of_three(f, redisson_client(f, NULL), "s", HF_REDISSON_READ_LOCK);
    break_one_of_three(f, f->other, "p", HF_REDISSON_PERMIT);
    expect_taken(fixture_lock(f, f->client, fixture_key(f, "l"), NULL));
    expect_status(HF_WRONG_TYPE,
                  hf_lock_break_owner(redisson_client(f, NULL),
                                      fixture_key(f, "l"), bytes("x"), ERR));
}

/* A Java thread that has locked twice, and one of ours. */
TEST(redisson_breaks_all_holds_of_a_java_reader)
{
    static const char acquire[] =
        "for i = 1, 2 do "
        "redis.call('hset', KEYS[1], 'mode', 'read', ARGV[1], i) "
        "redis.call('set', ARGV[3] .. ':' .. ARGV[1] .. ':rwlock_timeout:' .. "
        "i, 1, 'px', 90000) end "
        "return redis.call('pexpire', KEYS[1], 90000)";
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock_info info = HF_LOCK_INFO_INIT;
    hf_lock *lock;
    int64_t ttl_ms = 0;

    if (!redisson_is_here(f))
        return;
    lock = redisson_lock(f, f->client, name, HF_REDISSON_READ_LOCK, NULL);
    expect_status(HF_OK, hf_lock_try(lock, ERR));
    assert_int_equal(redisson_eval(f, acquire, "", name), 1);
    expect_status(
        HF_OK, hf_lock_break_owner(f->other, name, hf_str(REDISSON_JAVA), ERR));
    expect_status(HF_OK, hf_lock_renew(lock, ERR));
    expect_status(HF_OK, hf_lock_inspect(f->other, name, &info, ERR));
    assert_int_equal(info.holders, 1);
    expect_status(HF_OK, hf_key_ttl(f->client, name, &ttl_ms, ERR));
    assert_in_range(ttl_ms, 1, 60000);
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    assert_no_key(f->client, name);
}

TEST(redisson_layout_of_the_url_refuses_our_other_kinds)
{
    hf_semaphore_info info = HF_SEMAPHORE_INFO_INIT;
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_client *client;
    hf_lock *lock = NULL;
    hf_error err = HF_ERROR_INIT;
    int64_t left = 0;

    if (!redisson_is_here(f))
        return;
    client = redisson_client(f, NULL);
    expect_status(HF_UNSUPPORTED,
                  hf_rwlock_new(client, name, 0, NULL, &lock, NULL, &err));
    assert_non_null(strstr(err.message, "holdfast/redisson.h"));
    expect_status(HF_UNSUPPORTED,
                  hf_semaphore_new(client, name, 1, NULL, &lock, ERR));
    expect_status(HF_UNSUPPORTED,
                  hf_election_new(client, name, name, NULL, &lock, ERR));
    expect_status(HF_UNSUPPORTED, hf_semaphore_resize(client, name, 1, ERR));
    expect_status(HF_UNSUPPORTED,
                  hf_semaphore_inspect(client, name, 1, &info, ERR));
    expect_status(HF_UNSUPPORTED,
                  hf_latch_set(client, name, 1, 1000, NULL, ERR));
    expect_status(HF_UNSUPPORTED, hf_latch_inspect(client, name, &left, ERR));
    assert_no_key(f->client, name);
}

TEST(redisson_fenced_lock_counts_with_java)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    char token[256];
    hf_bytes words[] = {hf_str("INCR"),
                        redisson_role("redisson_lock_token:", name, token)};
    hf_lock *lock;

    if (!redisson_is_here(f))
        return;
    lock = redisson_lock(f, f->client, name, HF_REDISSON_FENCED_LOCK, NULL);
    expect_status(HF_OK, hf_lock_try(lock, ERR));
    assert_int_equal(hf_lock_token(lock), 1);
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    expect_status(HF_OK, hf_command(f->other, 2, words, NULL, ERR));
    expect_status(HF_OK, hf_lock_try(lock, ERR));
    assert_int_equal(hf_lock_token(lock), 3);
    expect_status(HF_OK, hf_lock_break(redisson_client(f, NULL), name, ERR));
    expect_status(HF_EXPIRED, hf_lock_release(lock, ERR));
}

TEST(redisson_lock_leaves_other_types_alone)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_bytes words[] = {hf_str("HSET"),        name,
                        hf_str("mode"),        hf_str("read"),
                        hf_str(REDISSON_JAVA), hf_str("1")};
    hf_lock *lock;

    if (!redisson_is_here(f))
        return;
    lock = lock_of(f, f->client, name);
    expect_status(HF_OK, hf_command(f->other, 6, words, NULL, ERR));
    expect_status(HF_WRONG_TYPE, hf_lock_try(lock, ERR));
    put_value(f->other, name, hf_str("v"), 0);
    expect_status(HF_WRONG_TYPE, hf_lock_try(lock, ERR));
    expect_status(HF_WRONG_TYPE,
                  hf_lock_break(redisson_client(f, NULL), name, ERR));
    expect_status(
        HF_WRONG_TYPE,
        hf_lock_try(redisson_lock(f, f->client, name, HF_REDISSON_PERMIT, NULL),
                    ERR));
}

TEST(redisson_lock_without_a_lease_is_held)
{
    static const hf_redisson_kind kinds[] = {
        HF_REDISSON_LOCK, HF_REDISSON_FAIR_LOCK, HF_REDISSON_FENCED_LOCK};
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_bytes words[] = {hf_str("HSET"), name, hf_str(REDISSON_JAVA),
                        hf_str("1")};

    if (!redisson_is_here(f))
        return;
    expect_status(HF_OK, hf_command(f->other, 4, words, NULL, ERR));
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        expect_status(HF_HELD, hf_lock_try(redisson_lock(f, f->client, name,
                                                         kinds[i], NULL),
                                           ERR));
    assert_no_ttl(f->other, name);
}

/* Starts to wait, and is queued. */
static void wait_in_queue(fixture *f, hf_client *client, hf_lock *lock,
                          told *said, hf_bytes name, int64_t place)
{
    char key[256];
    hf_bytes words[] = {hf_str("LLEN"),
                        redisson_role("redisson_lock_queue:", name, key)};
    hf_async async = tell(said);
    hf_reply *reply = NULL;
    int64_t end_ms = test_now_ms() + slowed_ms(5000);
    int64_t length = 0;

    expect_status(HF_OK, hf_lock_acquire_start(lock, HF_FOREVER, &async, ERR));
    while (length < place) {
        assert_true(test_now_ms() < end_ms);
        dispatch(client);
        expect_status(HF_OK, hf_command(f->other, 2, words, &reply, ERR));
        length = hf_reply_integer(reply);
        hf_reply_free(reply);
    }
}

TEST(redisson_fair_lock_is_first_come_first_served)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *locks[4];
    told said[4] = {{0}};

    if (!redisson_is_here(f))
        return;
    for (size_t i = 0; i < 4; i++)
        locks[i] = redisson_lock(f, i % 2 ? f->other : f->client, name,
                                 HF_REDISSON_FAIR_LOCK, NULL);
    expect_status(HF_OK, hf_lock_try(locks[0], ERR));
    for (int i = 1; i < 4; i++)
        wait_in_queue(f, i % 2 ? f->other : f->client, locks[i], &said[i], name,
                      i);
    for (size_t i = 0; i < 3; i++) {
        expect_status(HF_OK, hf_lock_release(locks[i], ERR));
        await_told(i % 2 ? f->client : f->other, &said[i + 1], 1);
        expect_status(HF_OK, said[i + 1].status);
        assert_true(hf_lock_is_held(locks[i + 1]));
    }
    expect_status(HF_OK, hf_lock_release(locks[3], ERR));
}

TEST(redisson_break_wakes_the_first_of_a_fair_queue)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *lock, *waiter;
    hf_client *breaker;
    told said = {0};

    if (!redisson_is_here(f))
        return;
    breaker = redisson_client(f, NULL);
    lock = redisson_lock(f, f->client, name, HF_REDISSON_FAIR_LOCK, NULL);
    waiter = redisson_lock(f, f->other, name, HF_REDISSON_FAIR_LOCK, NULL);
    expect_status(HF_OK, hf_lock_try(lock, ERR));
    wait_in_queue(f, f->other, waiter, &said, name, 1);
    REDISSON_WAKES(f->other, &said,
                   expect_status(HF_OK, hf_lock_break(breaker, name, ERR)));
    assert_true(hf_lock_is_held(waiter));
}

TEST(redisson_fair_lock_leaves_the_queue)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    char key[256];
    hf_bytes words[] = {hf_str("EXISTS"),
                        redisson_role("redisson_lock_queue:", name, key)};
    hf_lock *lock, *waiter;
    hf_reply *reply = NULL;

    if (!redisson_is_here(f))
        return;
    lock = redisson_lock(f, f->client, name, HF_REDISSON_FAIR_LOCK, NULL);
    waiter = redisson_lock(f, f->other, name, HF_REDISSON_FAIR_LOCK, NULL);
    expect_status(HF_OK, hf_lock_try(lock, ERR));
    expect_status(HF_TIMEOUT, hf_lock_acquire(waiter, 100, ERR));
    expect_status(HF_OK, hf_command(f->other, 2, words, &reply, ERR));
    assert_int_equal(hf_reply_integer(reply), 0);
    hf_reply_free(reply);
    assert_true(hf_lock_is_held(lock));
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    expect_status(HF_OK, hf_lock_try(waiter, ERR));
}

/* One of a killed process, and one that was never dead. */
TEST(redisson_fair_lock_passes_over_dead_waiters)
{
    static const char *const enqueue =
        "redis.call('rpush', 'redisson_lock_queue:{' .. KEYS[1] .. '}', "
        "ARGV[1]) redis.call('zadd', 'redisson_lock_timeout:{' .. KEYS[1] "
        ".. '}', redis.call('time')[1] * 1000 + ARGV[2], ARGV[1]) return 1";
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_bytes words[] = {hf_str("EVAL"), hf_str(enqueue),       hf_str("1"),
                        name,           hf_str(REDISSON_JAVA), hf_str("-1000")};
    hf_lock *lock;

    if (!redisson_is_here(f))
        return;
    lock = redisson_lock(f, f->client, name, HF_REDISSON_FAIR_LOCK, NULL);
    expect_status(HF_OK, hf_command(f->other, 6, words, NULL, ERR));
    expect_status(HF_OK, hf_lock_try(lock, ERR));
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    words[5] = hf_str("60000");
    expect_status(HF_OK, hf_command(f->other, 6, words, NULL, ERR));
    expect_status(HF_HELD, hf_lock_try(lock, ERR));
}

TEST(redisson_readers_share_and_exclude_writers)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    told said = {0};
    hf_async async = tell(&said);
    hf_lock *one, *two, *writer;

    if (!redisson_is_here(f))
        return;
    one = redisson_lock(f, f->client, name, HF_REDISSON_READ_LOCK, NULL);
    two = redisson_lock(f, f->other, name, HF_REDISSON_READ_LOCK, NULL);
    writer = redisson_lock(f, f->other, name, HF_REDISSON_WRITE_LOCK, NULL);
    expect_status(HF_OK, hf_lock_try(one, ERR));
    expect_status(HF_OK, hf_lock_try(two, ERR));
    expect_status(HF_HELD, hf_lock_try(writer, ERR));
    expect_status(HF_WRONG_TYPE, hf_lock_try(lock_of(f, f->client, name), ERR));
    expect_status(HF_OK,
                  hf_lock_acquire_start(writer, HF_FOREVER, &async, ERR));
    expect_status(HF_OK, hf_lock_renew(one, ERR));
    expect_status(HF_OK, hf_lock_release(one, ERR));
    expect_throughout((dispatch(f->other), said.count == 0), 50);
    expect_status(HF_OK, hf_lock_release(two, ERR));
    await_ok(f->other, &said);
    expect_status(HF_HELD, hf_lock_try(one, ERR));
    expect_status(HF_OK, hf_lock_renew(writer, ERR));
    said.count = 0;
    async = tell(&said);
    expect_status(HF_OK, hf_lock_acquire_start(one, HF_FOREVER, &async, ERR));
    expect_status(HF_OK, hf_lock_release(writer, ERR));
    await_ok(f->client, &said);
    expect_status(HF_OK, hf_lock_release(one, ERR));
    assert_no_key(f->client, name);
}

static int count_holders(void *user, const hf_lock_info *holder)
{
    assert_int_equal(holder->owner_size, HF_OWNER_SIZE - 1);
    assert_in_range(holder->remaining_ms, 1, 30000);
    (*(size_t *)user)++;
    return 0;
}

/* Their ids are 16 bytes, which Java shows likewise. */
static int count_permits(void *user, const hf_lock_info *holder)
{
    assert_int_equal(strspn(holder->owner, "0123456789abcdef"), 32);
    return count_holders(user, holder);
}

TEST(redisson_layout_shows_readers_and_a_writer)
{
    hf_lock_info info = HF_LOCK_INFO_INIT;
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    char owner[HF_OWNER_SIZE];
    size_t count = 0;
    hf_client *client;
    hf_lock *locks[3];

    if (!redisson_is_here(f))
        return;
    client = redisson_client(f, NULL);
    locks[0] = redisson_lock(f, f->client, name, HF_REDISSON_READ_LOCK, NULL);
    locks[1] = redisson_lock(f, f->other, name, HF_REDISSON_READ_LOCK, NULL);
    locks[2] = redisson_lock(f, f->other, name, HF_REDISSON_WRITE_LOCK, NULL);
    for (int i = 0; i < 2; i++)
        expect_status(HF_OK, hf_lock_try(locks[i], ERR));
    expect_status(HF_OK, hf_lock_inspect(client, name, &info, ERR));
    assert_int_equal(info.mode, HF_LOCK_SHARED);
    assert_int_equal(info.holders, 2);
    expect_status(HF_OK,
                  hf_lock_holders(client, name, count_holders, &count, ERR));
    assert_int_equal(count, 2);
    for (int i = 0; i < 2; i++)
        expect_status(HF_OK, hf_lock_release(locks[i], ERR));
    expect_status(HF_OK, hf_lock_try(locks[2], ERR));
    expect_status(HF_OK, hf_lock_inspect(client, name, &info, ERR));
    assert_int_equal(info.mode, HF_LOCK_EXCLUSIVE);
    assert_int_equal(info.holders, 1);
    hf_lock_owner(locks[2], owner);
    assert_string_equal(info.owner, owner);
    expect_status(HF_OK,
                  hf_lock_holders(client, name, count_holders, &count, ERR));
    assert_int_equal(count, 3);
}

/* A client without that layout finds out by what the key holds. */
TEST(redisson_locks_are_seen_and_broken_by_any_client)
{
    hf_lock_info info = HF_LOCK_INFO_INIT;
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l"), shared = fixture_key(f, "rw");
    size_t count = 0;
    hf_lock *fenced, *readers[2];

    if (!redisson_is_here(f))
        return;
    assert_int_equal(eval(f, JAVA_ACQUIRE, name), 1);
    expect_status(HF_OK, hf_lock_inspect(f->client, name, &info, ERR));
    assert_string_equal(info.owner, REDISSON_JAVA);
    assert_in_range(info.remaining_ms, 1, 30000);
    expect_status(HF_OK, hf_lock_break(f->client, name, ERR));
    expect_status(HF_NOT_FOUND, hf_lock_break(f->client, name, ERR));
    fenced = redisson_lock(f, f->client, name, HF_REDISSON_FENCED_LOCK, NULL);
    expect_status(HF_OK, hf_lock_try(fenced, ERR));
    expect_status(HF_OK, hf_lock_release(fenced, ERR));
    expect_status(HF_OK, hf_lock_try(fenced, ERR));
    expect_status(HF_OK, hf_lock_inspect(f->other, name, &info, ERR));
    assert_int_equal(info.token, 2);
    expect_status(HF_OK, hf_lock_break(f->other, name, ERR));
    expect_status(HF_EXPIRED, hf_lock_release(fenced, ERR));
    for (int i = 0; i < 2; i++) {
        readers[i] = redisson_lock(f, i == 0 ? f->client : f->other, shared,
                                   HF_REDISSON_READ_LOCK, NULL);
        expect_status(HF_OK, hf_lock_try(readers[i], ERR));
    }
    expect_status(HF_OK, hf_lock_inspect(f->client, shared, &info, ERR));
    assert_int_equal(info.mode, HF_LOCK_SHARED);
    assert_int_equal(info.holders, 2);
    expect_status(
        HF_OK, hf_lock_holders(f->client, shared, count_holders, &count, ERR));
    assert_int_equal(count, 2);
    expect_status(HF_OK, hf_lock_break(f->client, shared, ERR));
    expect_status(HF_EXPIRED, hf_lock_release(readers[0], ERR));
}

static void see_and_break_permits(fixture *f, hf_client *client, hf_bytes name)
{
    hf_lock_info info = HF_LOCK_INFO_INIT;
    size_t count = 0;
    told said = {0};
    hf_async async = tell(&said);
    hf_lock *permits[3];

    put_value(f->client, name, bytes("2"), 0);
    for (int i = 0; i < 3; i++)
        permits[i] = redisson_lock(f, i == 2 ? f->other : f->client, name,
                                   HF_REDISSON_PERMIT, NULL);
    for (int i = 0; i < 2; i++)
        expect_status(HF_OK, hf_lock_try(permits[i], ERR));
    expect_status(HF_OK, hf_lock_inspect(client, name, &info, ERR));
    assert_int_equal(info.mode, HF_LOCK_PERMITS);
    assert_int_equal(info.holders, 2);
    assert_int_equal(info.token, 0);
    expect_status(HF_OK,
                  hf_lock_holders(client, name, count_permits, &count, ERR));
    assert_int_equal(count, 2);
    expect_status(HF_OK, hf_lock_acquire_start(permits[2], 20000, &async, ERR));
    REDISSON_WAKES(f->other, &said,
                   expect_status(HF_OK, hf_lock_break(client, name, ERR)));
    expect_status(HF_EXPIRED, hf_lock_renew(permits[0], ERR));
    expect_status(HF_EXPIRED, hf_lock_release(permits[1], ERR));
    expect_status(HF_OK, hf_lock_release(permits[2], ERR));
    assert_value(f->client, name, bytes("2"));
}

TEST(redisson_permits_are_seen_and_broken)
{
    fixture *f = *state;

    if (!redisson_is_here(f))
        return;
    see_and_break_permits(f, f->client, fixture_key(f, "s"));
    see_and_break_permits(f, redisson_client(f, NULL), fixture_key(f, "t"));
}

TEST(redisson_dead_reader_goes_with_the_last_live_one)
{
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *dead, *live, *writer;

    if (!redisson_is_here(f))
        return;
    opts.ttl_ms = slowed_ms(50);
    opts.flags = HF_LOCK_NO_RENEW;
    dead = redisson_lock(f, f->client, name, HF_REDISSON_READ_LOCK, &opts);
    live = redisson_lock(f, f->other, name, HF_REDISSON_READ_LOCK, NULL);
    writer = redisson_lock(f, f->client, name, HF_REDISSON_WRITE_LOCK, NULL);
    expect_status(HF_OK, hf_lock_try(live, ERR));
    expect_status(HF_OK, hf_lock_try(dead, ERR));
    expect_throughout(hf_lock_try(writer, NULL) == HF_HELD, opts.ttl_ms + 50);
    expect_status(HF_OK, hf_lock_release(live, ERR));
    expect_status(HF_OK, hf_lock_try(writer, ERR));
    expect_status(HF_LOST, hf_lock_release(dead, ERR));
}

TEST(redisson_permits_are_counted_and_expire)
{
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "s");
    hf_lock *one, *two, *brief;

    if (!redisson_is_here(f))
        return;
    opts.ttl_ms = slowed_ms(100);
    opts.flags = HF_LOCK_NO_RENEW;
    one = redisson_lock(f, f->client, name, HF_REDISSON_PERMIT, NULL);
    two = redisson_lock(f, f->other, name, HF_REDISSON_PERMIT, NULL);
    brief = redisson_lock(f, f->other, name, HF_REDISSON_PERMIT, &opts);
    expect_status(HF_HELD, hf_lock_try(one, ERR));
    put_value(f->other, name, hf_str("2"), 0);
    expect_status(HF_OK, hf_lock_try(one, ERR));
    expect_status(HF_OK, hf_lock_try(brief, ERR));
    expect_status(HF_HELD, hf_lock_try(two, ERR));
    expect_status(HF_OK, hf_lock_renew(one, ERR));
    expect_status(HF_OK, hf_lock_acquire(two, 20000, ERR));
    expect_status(HF_EXPIRED, hf_lock_release(brief, ERR));
    expect_status(HF_OK, hf_lock_release(one, ERR));
    expect_status(HF_OK, hf_lock_release(two, ERR));
    assert_value(f->client, name, hf_str("2"));
}

TEST(redisson_permit_is_woken_by_another_client)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "s");
    told said = {0};
    hf_async async = tell(&said);
    hf_lock *lock, *waiter;

    if (!redisson_is_here(f))
        return;
    put_value(f->other, name, hf_str("1"), 0);
    lock = redisson_lock(f, f->client, name, HF_REDISSON_PERMIT, NULL);
    waiter = redisson_lock(f, f->other, name, HF_REDISSON_PERMIT, NULL);
    expect_status(HF_OK, hf_lock_try(lock, ERR));
    expect_status(HF_OK,
                  hf_lock_acquire_start(waiter, HF_FOREVER, &async, ERR));
    REDISSON_WAKES(f->other, &said,
                   expect_status(HF_OK, hf_lock_release(lock, ERR)));
}
