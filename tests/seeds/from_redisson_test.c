/* SPDX-License-Identifier: Apache-2.0 */
/*
 * from_redisson_test.c - the examples of docs/howto/from-redisson.md.
 * snippets.py compares them with the page, line by line.
 */
#include "holdfast/latch.h"
#include "holdfast/limiter.h"
#include "holdfast/redisson.h"
#include "holdfast/semaphore.h"
#include "holdfast/together.h"
#include "support/store_fixture.h"

FIXTURE_TESTS();

static unsigned execs;

static void exec(uint64_t token)
{
    assert_true(token > 0);
    execs++;
}

TEST(lock_with_a_lease_that_is_renewed)
{
    fixture *f = *state;
    hf_client *client = f->client;
    hf_error *err = NULL;
    hf_lock *lock = NULL;
    hf_status status;
    int steps = 3;

    /* RLock lock = redisson.getLock("yang37"); */
    status = hf_lock_new(client, hf_str("yang37"), NULL, &lock, err);
    assert_int_equal(status, HF_OK);

    /* if (lock.tryLock(10, SECONDS)) try { exec(); } finally { lock.unlock(); }
     */
    status = hf_lock_acquire(lock, 10000, err);
    if (status == HF_OK) {
        for (int step = 0; step < steps && hf_lock_is_held(lock); step++)
            exec(hf_lock_token(lock));
        status = hf_lock_release(lock, err);
    }
    assert_int_equal(status, HF_OK);
    assert_int_equal(execs, 3);

    /* lock.lock(5, SECONDS): not renewed */
    status = hf_lock_acquire_for(lock, HF_FOREVER, 5000, err);
    assert_int_equal(status, HF_OK);
    assert_ttl(f->other, bytes("yang37"), 5000);

    /* lock.forceUnlock() */
    status = hf_lock_break(client, hf_lock_name(lock), err);
    assert_int_equal(status, HF_OK);
    assert_no_key(f->other, bytes("yang37"));
    hf_lock_free(lock);
}

TEST(semaphore_with_permits_that_come_back)
{
    fixture *f = *state;
    hf_client *client = f->client;
    hf_error *err = NULL;
    hf_lock *permit = NULL;
    hf_status status;

    /* RSemaphore s = redisson.getSemaphore("downloads"); s.trySetPermits(4); */
    status =
        hf_semaphore_new(client, hf_str("downloads"), 4, NULL, &permit, err);
    if (status == HF_OK)
        status = hf_lock_acquire(permit, 1000, err);
    assert_int_equal(status, HF_OK);
    hf_lock_free(permit);
}

TEST(latch_that_is_counted_down)
{
    fixture *f = *state;
    hf_client *client = f->client;
    hf_error *err = NULL;
    hf_status status;

    /* latch.trySetCount(1); latch.countDown(); latch.await(); */
    status = hf_latch_set(client, hf_str("import"), 1, 3600000, NULL, err);
    if (status == HF_OK)
        status = hf_latch_arrive(client, hf_str("import"), hf_str("worker-1"),
                                 1, NULL, err);
    if (status == HF_OK)
        status = hf_latch_await(client, hf_str("import"), 60000, err);
    assert_int_equal(status, HF_OK);
    expect_status(HF_OK, hf_latch_delete(client, bytes("import"), ERR));
}

TEST(limiter_with_a_rate)
{
    fixture *f = *state;
    hf_client *client = f->client;
    hf_error *err = NULL;
    hf_status status;

    /* limiter.trySetRate(OVERALL, 10, 1, SECONDS); limiter.tryAcquire(); */
    hf_limiter_options rate = HF_LIMITER_OPTIONS_INIT;
    hf_limiter_state left;

    rate.count = 10;
    status = hf_limiter_take(client, hf_str("mail"), 1, &rate, &left, err);
    assert_int_equal(status, HF_OK);
    assert_true(left.remaining == 9);
}

TEST(several_locks)
{
    fixture *f = *state;
    hf_error *err = NULL;
    hf_lock *a = fixture_lock(f, f->client, fixture_key(f, "a"), NULL);
    hf_lock *b = fixture_lock(f, f->client, fixture_key(f, "b"), NULL);
    hf_status status;

    /* redisson.getMultiLock(a, b).tryLock(5, SECONDS) */
    hf_lock *both[] = {a, b};

    status = hf_lock_acquire_all(both, 2, 5000, err);
    assert_int_equal(status, HF_OK);
    assert_true(hf_lock_is_held(a) && hf_lock_is_held(b));
}

TEST(locks_that_java_shares)
{
    fixture *f = *state;
    hf_client *client = f->client;
    hf_error *err = NULL;
    hf_lock *lock = NULL;
    hf_status status;

    if (fixture_is_embedded(f))
        return;
    status = hf_redisson_lock_new(client, hf_str("books"), HF_REDISSON_LOCK,
                                  NULL, &lock, err);
    if (status == HF_OK)
        status = hf_lock_acquire(lock, 5000, err);
    assert_int_equal(status, HF_OK);
    hf_lock_free(lock);

    /* s.trySetPermits(4); s.acquire(2); s.release(2); */
    status = hf_redisson_semaphore_set(client, hf_str("mails"), 4, err);
    if (status == HF_OK || status == HF_TIMEOUT)
        status = hf_redisson_semaphore_acquire(client, hf_str("mails"), 2,
                                               HF_FOREVER, err);
    if (status == HF_OK)
        status = hf_redisson_semaphore_release(client, hf_str("mails"), 2, err);
    assert_int_equal(status, HF_OK);
    assert_value(f->other, hf_str("mails"), hf_str("4"));
}
