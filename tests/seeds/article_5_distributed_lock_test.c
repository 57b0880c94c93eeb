/* SPDX-License-Identifier: Apache-2.0 */
/*
 * article_5_distributed_lock_test.c - the article's way from SETNX to
 * Redisson: the lock ("k", "v"), every option of its table of SET, its
 * setIfAbsent program ("yang37"), Redisson's two scripts as they were printed,
 * and then our own lock doing the same.
 */
#include "holdfast/hash.h"
#include "holdfast/key.h"
#include "holdfast/lock.h"
#include "holdfast/script.h"
#include "holdfast/value.h"
#include "support/store_fixture.h"

FIXTURE_TESTS();

static hf_status set(fixture *f, hf_bytes key, hf_bytes value, uint32_t flags,
                     int64_t ttl_ms)
{
    hf_value_set_options opts = HF_VALUE_SET_OPTIONS_INIT;

    opts.flags = flags;
    opts.ttl_ms = ttl_ms;
    return hf_value_set(f->client, key, value, &opts, NULL, ERR);
}

TEST(setnx_and_del_are_a_lock)
{
    fixture *f = *state;
    hf_bytes k = bytes("k");

    expect_status(HF_OK, set(f, k, bytes("v"), HF_SET_NX, 0));
    expect_status(HF_CONFLICT, set(f, k, bytes("v"), HF_SET_NX, 0));
    assert_value(f->other, k, bytes("v"));
    expect_status(HF_OK, hf_value_delete(f->client, k, ERR));
    expect_status(HF_OK, set(f, k, bytes("v"), HF_SET_NX, 0));
    expect_status(HF_OK, hf_value_delete(f->client, k, ERR));
}

TEST(set_nx_ex_frees_the_lock_by_itself)
{
    fixture *f = *state;
    hf_bytes key = bytes("lockKey");

    expect_status(HF_OK, set(f, key, bytes("value"), HF_SET_NX, 3 * 1000));
    assert_ttl(f->client, key, 3 * 1000);
    expect_status(HF_CONFLICT,
                  set(f, key, bytes("value"), HF_SET_NX, 3 * 1000));
    expect_status(HF_OK, hf_key_expire(f->client, key, 30, ERR));
    expect_soon(set(f, key, bytes("value"), HF_SET_NX, 3 * 1000) == HF_OK,
                1000);
    expect_status(HF_OK, hf_value_delete(f->client, key, ERR));
}

TEST(table_of_set_conditions)
{
    fixture *f = *state;
    hf_bytes key = bytes("mykey");
    hf_value_set_options get = HF_VALUE_SET_OPTIONS_INIT;
    hf_buffer previous = HF_BUFFER_INIT;

    expect_status(HF_NOT_FOUND, set(f, key, bytes("value"), HF_SET_XX, 0));
    expect_status(HF_OK, set(f, key, bytes("value"), HF_SET_NX, 0));
    expect_status(HF_CONFLICT, set(f, key, bytes("value"), HF_SET_NX, 0));
    expect_status(HF_OK, set(f, key, bytes("value"), HF_SET_XX, 0));
    get.flags = HF_SET_GET;
    expect_status(HF_OK, hf_value_set(f->client, key, bytes("newvalue"), &get,
                                      &previous, ERR));
    assert_buffer(&previous, bytes("value"));
    assert_value(f->client, key, bytes("newvalue"));
    expect_status(HF_OK, hf_value_delete(f->client, key, ERR));
}

TEST(table_of_set_times)
{
    fixture *f = *state;
    hf_bytes key = bytes("mykey");
    hf_value_set_options at = HF_VALUE_SET_OPTIONS_INIT;

    expect_status(HF_OK, set(f, key, bytes("value"), 0, 10 * 1000));
    assert_ttl(f->client, key, 10 * 1000);
    expect_status(HF_OK, set(f, key, bytes("new"), HF_SET_KEEPTTL, 0));
    assert_value(f->client, key, bytes("new"));
    assert_ttl(f->client, key, 10 * 1000);
    /* EXAT 1672531199, PXAT 1672531199000: the last second of 2022, so that the
     * key is deleted at once. */
    at.expires_unix_ms = INT64_C(1672531199000);
    expect_status(HF_OK,
                  hf_value_set(f->client, key, bytes("value"), &at, NULL, ERR));
    assert_no_key(f->client, key);
    at.expires_unix_ms = (test_unix_ms() / 1000 + 10) * 1000;
    expect_status(HF_OK,
                  hf_value_set(f->client, key, bytes("value"), &at, NULL, ERR));
    assert_ttl(f->client, key, 10 * 1000);
    expect_status(HF_OK, hf_value_delete(f->client, key, ERR));
}

/* The commands of the same table, verbatim. */
TEST(table_of_set_by_command)
{
    fixture *f = *state;
    hf_bytes key = bytes("mykey");
    hf_script *script = fixture_script(
        f, f->client,
        "local c, k = redis.call, KEYS[1] return {"
        "c('SET', k, 'value', 'XX'), c('SET', k, 'value', 'NX'), "
        "c('SET', k, 'value', 'NX'), c('SET', k, 'newvalue', 'GET'), "
        "c('SET', k, 'value', 'EX', 10), c('TTL', k), "
        "c('SET', k, 'value', 'PX', 10000), c('TTL', k), "
        "c('SET', k, 'value', 'KEEPTTL'), c('TTL', k), "
        "c('SET', k, 'value', 'EXAT', 1672531199), c('EXISTS', k), "
        "c('SET', k, 'value', 'PXAT', 1672531199000), c('EXISTS', k)}");
    static const char *const wanted[] = {"-",  "OK", "-",  "value", "OK",
                                         "10", "OK", "10", "OK",    "10",
                                         "OK", "0",  "OK", "0"};
    hf_reply *reply = NULL;

    expect_status(HF_OK, hf_script_run(script, &key, 1, NULL, 0, &reply, ERR));
    assert_int_equal(hf_reply_count(reply), 14);
    for (size_t i = 0; i < 14; i++) {
        const hf_reply *part = hf_reply_at(reply, i);

        if (hf_reply_type(part) == HF_REPLY_INTEGER) {
            assert_true(hf_reply_integer(part) ==
                        (wanted[i][0] == '0' ? 0 : 10));
        } else if (wanted[i][0] == '-') {
            assert_int_equal(hf_reply_type(part), HF_REPLY_NIL);
        } else {
            assert_bytes(hf_str(wanted[i]), hf_reply_bytes(part));
        }
    }
    hf_reply_free(reply);
}

/* setIfAbsent(key, "123", 600, SECONDS), run twice. */
TEST(set_if_absent_is_true_and_then_false)
{
    fixture *f = *state;
    hf_bytes key = bytes("yang37");

    expect_status(HF_OK, set(f, key, bytes("123"), HF_SET_NX, 600 * 1000));
    assert_value(f->client, key, bytes("123"));
    assert_ttl(f->client, key, 600 * 1000);
    expect_status(HF_OK, hf_key_expire(f->client, key, 500 * 1000, ERR));
    expect_status(HF_CONFLICT,
                  set(f, key, bytes("123"), HF_SET_NX, 600 * 1000));
    assert_value(f->client, key, bytes("123"));
    assert_ttl(f->client, key, 500 * 1000);
    expect_status(HF_OK, hf_value_delete(f->client, key, ERR));
}

/* /redis/set/{key}/{value}/{runTime}: a lock of 30 s and 20 s of work; then of
 * 50 s, during which a second request begins. In short: 25000 ms are left, or
 * none. */
TEST(fixed_lease_may_end_before_its_work)
{
    fixture *f = *state;
    hf_bytes key = bytes("yang37");

    expect_status(HF_OK, set(f, key, bytes("1"), HF_SET_NX, 30 * 1000));
    expect_status(HF_OK, hf_key_expire(f->client, key, 25 * 1000, ERR));
    expect_status(HF_CONFLICT, set(f, key, bytes("2"), HF_SET_NX, 30 * 1000));
    expect_status(HF_OK, hf_key_expire(f->client, key, 30, ERR));
    expect_soon(set(f, key, bytes("2"), HF_SET_NX, 30 * 1000) == HF_OK, 1000);
    assert_value(f->client, key, bytes("2"));
    expect_status(HF_OK, hf_value_delete(f->client, key, ERR));
}

/* ------------------------------------------------------- Redisson's scripts */

static const char redisson_acquire[] =
    "if (redis.call('exists', KEYS[1]) == 0) then "
    "redis.call('hincrby', KEYS[1], ARGV[2], 1); "
    "redis.call('pexpire', KEYS[1], ARGV[1]); "
    "return nil; "
    "end; "
    "if (redis.call('hexists', KEYS[1], ARGV[2]) == 1) then "
    "redis.call('hincrby', KEYS[1], ARGV[2], 1); "
    "redis.call('pexpire', KEYS[1], ARGV[1]); "
    "return nil; "
    "end; "
    "return redis.call('pttl', KEYS[1]);";

static const char redisson_renew[] =
    "if (redis.call('hexists', KEYS[1], ARGV[2]) == 1) then "
    "redis.call('pexpire', KEYS[1], ARGV[1]); return 1; end; return 0;";

/* Instance id and thread id, as the article shows them. */
static const hf_bytes node_1 = {"e0da9704-ebb4-4e9f-a6e4-ca490f176c42:76", 39};
static const hf_bytes node_2 = {"017adcbf-08d9-449d-8c93-c82819799842:84", 39};
static const hf_bytes redisson_name = {"yang37", 6};

static hf_reply *redisson(hf_script *script, hf_bytes owner)
{
    const hf_bytes args[] = {bytes("30000"), owner};
    hf_reply *reply = NULL;

    expect_status(
        HF_OK, hf_script_run(script, &redisson_name, 1, args, 2, &reply, ERR));
    return reply;
}

TEST(redisson_acquire_counts_its_owner_and_refuses_another)
{
    fixture *f = *state;
    hf_script *acquire = fixture_script(f, f->client, redisson_acquire);
    hf_reply *reply = redisson(acquire, node_1);

    assert_int_equal(hf_reply_type(reply), HF_REPLY_NIL);
    hf_reply_free(reply);
    assert_field(f->other, redisson_name, node_1, bytes("1"));
    assert_ttl(f->other, redisson_name, 30000);
    cut_lease(f->client, redisson_name, 25000);
    reply = redisson(acquire, node_2);
    assert_int_equal(hf_reply_type(reply), HF_REPLY_INTEGER);
    assert_true(hf_reply_integer(reply) > 20000 &&
                hf_reply_integer(reply) <= 25000);
    hf_reply_free(reply);
    reply = redisson(acquire, node_1);
    assert_int_equal(hf_reply_type(reply), HF_REPLY_NIL);
    hf_reply_free(reply);
    assert_field(f->other, redisson_name, node_1, bytes("2"));
    assert_ttl(f->other, redisson_name, 30000);
    cut_lease(f->client, redisson_name, 0);
}

TEST(redisson_renews_for_its_owner_only)
{
    fixture *f = *state;
    hf_script *renew = fixture_script(f, f->client, redisson_renew);
    hf_reply *reply =
        redisson(fixture_script(f, f->client, redisson_acquire), node_1);

    hf_reply_free(reply);
    cut_lease(f->client, redisson_name, 25000);
    reply = redisson(renew, node_2);
    assert_true(hf_reply_integer(reply) == 0);
    hf_reply_free(reply);
    assert_ttl(f->other, redisson_name, 25000);
    reply = redisson(renew, node_1);
    assert_true(hf_reply_integer(reply) == 1);
    hf_reply_free(reply);
    assert_ttl(f->other, redisson_name, 30000);
    cut_lease(f->client, redisson_name, 0);
}

/* A lock of Redisson is a hash: ours reports that instead of breaking in. */
TEST(our_lock_meets_redissons)
{
    fixture *f = *state;
    hf_lock *lock = fixture_lock(f, f->client, redisson_name, NULL);
    hf_reply *reply =
        redisson(fixture_script(f, f->client, redisson_acquire), node_1);

    hf_reply_free(reply);
    expect_status(HF_WRONG_TYPE, hf_lock_try(lock, ERR));
    assert_field(f->other, redisson_name, node_1, bytes("1"));
    cut_lease(f->client, redisson_name, 0);
}

/* ----------------------------------------------------------------- our lock */

TEST(our_lock_is_reentrant_and_refuses_another)
{
    fixture *f = *state;
    hf_lock *lock = fixture_lock(f, f->client, redisson_name, NULL);
    hf_lock *other = fixture_lock(f, f->other, redisson_name, NULL);

    expect_status(HF_OK, hf_lock_try(lock, ERR));
    assert_ttl(f->other, redisson_name, 30000);
    expect_status(HF_OK, hf_lock_try(lock, ERR));
    expect_status(HF_HELD, hf_lock_try(other, ERR));
    expect_status(HF_TIMEOUT, hf_lock_acquire(other, 100, ERR));
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    expect_status(HF_HELD, hf_lock_try(other, ERR));
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    expect_status(HF_OK, hf_lock_try(other, ERR));
    expect_status(HF_OK, hf_lock_release(other, ERR));
}

/* Of a lease of 600 ms. The article reads a time to live of 25 s, and later of
 * 29 s. */
static void expect_renewal(fixture *f)
{
    int64_t ttl_ms = 0;

    expect_soon(hf_key_ttl(f->other, redisson_name, &ttl_ms, NULL) == HF_OK &&
                    ttl_ms < 520,
                1000);
    expect_soon(hf_key_ttl(f->other, redisson_name, &ttl_ms, NULL) == HF_OK &&
                    ttl_ms > 560,
                1000);
}

TEST(our_lock_is_renewed)
{
    fixture *f = *state;
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    hf_lock *lock;

    opts.ttl_ms = 600;
    lock = fixture_lock(f, f->client, redisson_name, &opts);
    expect_status(HF_OK, hf_lock_try(lock, ERR));
    for (int i = 0; i < 3; i++)
        expect_renewal(f);
    assert_true(hf_lock_is_held(lock));
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    assert_no_key(f->other, redisson_name);
}

/* The article's table of RLock, in short leases: how long the caller waits,
 * and whether the watchdog renews. */
static const struct {
    const char *form; /* as the article has it */
    int64_t wait_ms;
    int64_t lease_ms; /* 0: that of the watchdog, renewed */
} forms[] = {
    {"lock()", HF_FOREVER, 0},
    {"lock(leaseTime, unit)", HF_FOREVER, 300},
    {"tryLock()", 0, 0},
    {"tryLock(time, unit)", 10000, 0},
    {"tryLock(waitTime, leaseTime, unit)", 10000, 300},
};
#define FORMS (sizeof(forms) / sizeof(forms[0]))

/* exec(value, runTime) in one request; another one comes meanwhile. */
TEST(every_form_of_the_table)
{
    fixture *f = *state;
    hf_lock_options watchdog = HF_LOCK_OPTIONS_INIT;

    watchdog.ttl_ms = 600; /* lockWatchdogTimeout */
    for (size_t i = 0; i < FORMS; i++) {
        hf_lock *lock = fixture_lock(f, f->client, redisson_name, &watchdog);
        hf_lock *other = fixture_lock(f, f->other, redisson_name, NULL);

        expect_status(HF_OK, hf_lock_acquire_for(lock, forms[i].wait_ms,
                                                 forms[i].lease_ms, ERR));
        if (forms[i].lease_ms > 0) {
            expect_soon(hf_lock_try(other, NULL) == HF_OK, 5000);
            assert_false(hf_lock_is_held(lock));
            expect_status(HF_OK, hf_lock_release(other, ERR));
            expect_status(HF_EXPIRED, hf_lock_release(lock, ERR));
        } else {
            expect_renewal(f);
            expect_status(HF_HELD, hf_lock_try(other, ERR));
            expect_status(HF_OK, hf_lock_release(lock, ERR));
        }
    }
}
