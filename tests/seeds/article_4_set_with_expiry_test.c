/* SPDX-License-Identifier: Apache-2.0 */
/*
 * article_4_set_with_expiry_test.c - SET with EX and PX, the article's
 * VolatileCache and its TimingLock, with the same keys and times. Where the
 * article waits five seconds, the key's expiry is shortened instead.
 */
#include "holdfast/key.h"
#include "holdfast/lock.h"
#include "holdfast/script.h"
#include "holdfast/value.h"
#include "support/store_fixture.h"

FIXTURE_TESTS();

/* SET key value EX seconds, as the article writes it. */
static void set_by_command(fixture *f, hf_bytes key, hf_bytes value,
                           const char *unit, const char *time)
{
    hf_script *script = fixture_script(
        f, f->client,
        "return redis.call('SET', KEYS[1], ARGV[1], ARGV[2], ARGV[3])");
    const hf_bytes args[] = {value, hf_str(unit), hf_str(time)};
    hf_reply *reply = NULL;

    expect_status(HF_OK, hf_script_run(script, &key, 1, args, 3, &reply, ERR));
    assert_int_equal(hf_reply_type(reply), HF_REPLY_STATUS);
    assert_bytes(bytes("OK"), hf_reply_bytes(reply));
    hf_reply_free(reply);
}

TEST(set_with_ex_and_px_by_command)
{
    fixture *f = *state;
    hf_bytes key = bytes("key");

    set_by_command(f, key, bytes("value"), "EX", "60");
    assert_value(f->other, key, bytes("value"));
    assert_ttl(f->other, key, 60 * 1000);
    set_by_command(f, key, bytes("value2"), "PX", "30000");
    assert_value(f->other, key, bytes("value2"));
    assert_ttl(f->other, key, 30000);
}

/* SET then EXPIRE, the unsafe pair, has the same result as one call. */
TEST(set_then_expire_has_the_same_result)
{
    fixture *f = *state;
    hf_bytes key = bytes("key");

    put_value(f->client, key, bytes("value"), 0);
    assert_no_ttl(f->client, key);
    expect_status(HF_OK, hf_key_expire(f->client, key, 60 * 1000, ERR));
    assert_ttl(f->client, key, 60 * 1000);
    put_value(f->client, key, bytes("value"), 60 * 1000);
    assert_ttl(f->client, key, 60 * 1000);
}

/* VolatileCache.set(key, value, timeout): a new value replaces the old one. */
static void cache_set(fixture *f, hf_bytes key, hf_bytes value,
                      int64_t timeout_ms)
{
    put_value(f->client, key, value, timeout_ms);
}

TEST(volatile_cache_forgets_on_time)
{
    fixture *f = *state;
    hf_bytes key = bytes("cache-key");
    hf_buffer value = HF_BUFFER_INIT;

    expect_status(HF_NOT_FOUND, hf_value_get(f->client, key, &value, ERR));
    cache_set(f, key, bytes("old data"), 60 * 1000);
    cache_set(f, key, bytes("data"), 5 * 1000);
    assert_value(f->client, key, bytes("data"));
    assert_ttl(f->client, key, 5 * 1000);
    cache_set(f, key, bytes("data"), 30);
    expect_soon(key_is_gone(f->client, key), 1000);
    expect_status(HF_NOT_FOUND, hf_value_get(f->client, key, &value, ERR));
    assert_null(value.data);
}

/* TimingLock.acquire(timeout) and release(), by the article's own commands. */
static bool timing_lock_acquire(fixture *f, int64_t timeout_ms)
{
    hf_value_set_options opts = HF_VALUE_SET_OPTIONS_INIT;

    opts.flags = HF_SET_NX;
    opts.ttl_ms = timeout_ms;
    return hf_value_set(f->client, bytes("test-lock"), bytes("locking"), &opts,
                        NULL, NULL) == HF_OK;
}

static bool timing_lock_release(fixture *f)
{
    return hf_value_delete(f->client, bytes("test-lock"), NULL) == HF_OK;
}

TEST(timing_lock_frees_itself)
{
    fixture *f = *state;
    hf_bytes key = bytes("test-lock");

    assert_true(timing_lock_acquire(f, 5 * 1000));
    assert_value(f->client, key, bytes("locking"));
    assert_ttl(f->client, key, 5 * 1000);
    assert_false(timing_lock_acquire(f, 5 * 1000));
    expect_status(HF_OK, hf_key_expire(f->client, key, 30, ERR));
    expect_soon(timing_lock_acquire(f, 5 * 1000), 1000);
    assert_ttl(f->client, key, 5 * 1000);
    assert_true(timing_lock_release(f));
    assert_false(timing_lock_release(f));
}

/* The same session with our lock, which only its holder can release. */
TEST(timing_lock_session_with_our_lock)
{
    fixture *f = *state;
    hf_bytes name = bytes("test-lock");
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    hf_lock *first;
    hf_lock *second;

    opts.ttl_ms = 5 * 1000;
    opts.flags = HF_LOCK_NO_RENEW;
    first = fixture_lock(f, f->client, name, &opts);
    second = fixture_lock(f, f->other, name, &opts);
    expect_status(HF_OK, hf_lock_try(first, ERR));
    assert_false(timing_lock_acquire(f, 5 * 1000));
    expect_status(HF_HELD, hf_lock_try(second, ERR));
    cut_lease(f->client, name, 30);
    expect_status(HF_OK, hf_lock_acquire(second, 2000, NULL));
    expect_status(HF_LOST, hf_lock_release(first, ERR));
    assert_true(hf_lock_is_held(second));
    expect_status(HF_OK, hf_lock_release(second, ERR));
}
