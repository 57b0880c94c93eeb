/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_test.c - work queues: order, delays, leases on jobs, what workers that
 * wait are given and with how many requests. Killed workers are in
 * process_test.c.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "holdfast/command.h"
#include "holdfast/queue.h"
#include "holdfast/semaphore.h"
#include "holdfast/txn.h"
#include "holdfast/value.h"
#include "support/byte_proxy.h"
#include "support/queue_work.h"
#include "support/slowness.h"
#include "support/store_fixture.h"
#include "support/told.h"

FIXTURE_TESTS();

/* When a waiter looks again, by itself, after it began to wait. */
#define POLL_MS 1000
#define WOKEN_MS 700

/* ------------------------------------------------------------ put and take */

TEST(queue_gives_a_job_with_all_that_was_put)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_lock *lock = worker(f, queue);
    hf_queue_options opts = HF_QUEUE_OPTIONS_INIT;
    hf_job job = HF_JOB_INIT;

    expect_status(HF_HELD, hf_lock_try(lock, ERR));
    expect_status(HF_NOT_FOUND, hf_queue_job(lock, &job, ERR));
    opts.priority = 7;
    opts.attempts = 3;
    opts.group = bytes("a b\0c");
    opts.group.size = 5;
    expect_status(HF_OK, hf_queue_put(f->client, queue, bytes("x y"),
                                      hf_view("p\0q", 3), &opts, ERR));
    assert_counts(f, queue, 1, 0, 0, 0, 0);
    expect_status(HF_OK, hf_lock_try(lock, ERR));
    assert_counts(f, queue, 0, 1, 0, 0, 0);
    job = job_of(lock);
    assert_string_equal(job.id.data, "x y");
    assert_int_equal(job.payload.size, 3);
    assert_memory_equal(job.payload.data, "p\0q", 4);
    assert_int_equal(job.group.size, 5);
    assert_memory_equal(job.group.data, "a b\0c", 6);
    assert_int_equal(job.attempt, 1);
    assert_int_equal(job.attempts, 3);
    assert_int_equal(job.priority, 7);
    assert_true(job.put_ms > 0);
    assert_true(hf_lock_token(lock) > 0);
    expect_status(HF_INVALID, hf_lock_try(lock, ERR)); /* it has one */
    assert_true(hf_lock_is_held(lock));
    expect_status(HF_OK, hf_queue_done(lock, ERR));
    expect_status(HF_INVALID, hf_queue_done(lock, ERR));
    expect_status(HF_HELD, hf_lock_try(lock, ERR));
}

TEST(queue_leaves_nothing_behind)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_lock *lock = worker(f, queue);
    hf_queue_options opts = HF_QUEUE_OPTIONS_INIT;

    opts.group = bytes("g");
    put_with(f, queue, "a", &opts);
    put_with(f, queue, "b", &opts);
    assert_ttl(f->client, queue, -1);
    do_next(lock, "a");
    do_next(lock, "b");
    assert_no_key(f->client, queue);
}

TEST(queue_is_first_in_first_out)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_lock *lock = worker(f, queue), *other = worker(f, queue);

    put(f, queue, "c");
    put(f, queue, "a");
    put(f, queue, "b");
    take(lock, "c");
    do_next(other, "a");
    put(f, queue, "d");
    /* What is put back is the first again, and was not taken. */
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    take(other, "c");
    assert_int_equal(job_of(other).attempt, 1);
    expect_status(HF_OK, hf_queue_done(other, ERR));
    do_next(lock, "b");
    do_next(lock, "d");
}

TEST(queue_gives_the_highest_priority_first)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_lock *lock = worker(f, queue);
    hf_queue_options opts = HF_QUEUE_OPTIONS_INIT;

    put(f, queue, "low1");
    opts.priority = HF_QUEUE_PRIORITY_MAX;
    put_with(f, queue, "high1", &opts);
    opts.priority = 1;
    put_with(f, queue, "middle", &opts);
    put(f, queue, "low2");
    opts.priority = HF_QUEUE_PRIORITY_MAX;
    put_with(f, queue, "high2", &opts);
    do_next(lock, "high1");
    do_next(lock, "high2");
    do_next(lock, "middle");
    do_next(lock, "low1");
    do_next(lock, "low2");
}

TEST(queue_refuses_an_id_that_it_has)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_lock *lock = worker(f, queue);

    put(f, queue, "a");
    expect_status(HF_CONFLICT, hf_queue_put(f->other, queue, bytes("a"),
                                            bytes("2"), NULL, ERR));
    take(lock, "a");
    expect_status(HF_CONFLICT, hf_queue_put(f->other, queue, bytes("a"),
                                            bytes("2"), NULL, ERR));
    expect_status(HF_OK, hf_queue_done(lock, ERR));
    put(f, queue, "a");
    expect_status(HF_OK, hf_queue_put(f->client, queue, bytes(""), bytes("1"),
                                      NULL, ERR)); /* random ids */
    expect_status(HF_OK, hf_queue_put(f->client, queue, bytes(""), bytes("2"),
                                      NULL, ERR));
    assert_counts(f, queue, 3, 0, 0, 0, 0);
}

TEST(queue_remembers_ids_for_as_long_as_asked)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_lock *lock = worker(f, queue);
    hf_queue_options opts = HF_QUEUE_OPTIONS_INIT;
    int64_t began_ms = test_now_ms();

    opts.remember_ms = slowed_ms(500);
    put_with(f, queue, "a", &opts);
    do_next(lock, "a");
    if (test_now_ms() - began_ms < opts.remember_ms - 100)
        assert_int_equal(info_of(f, queue).remembered, 1);
    if (hf_queue_put(f->client, queue, bytes("a"), bytes("a"), NULL, NULL) ==
        HF_OK)
        assert_true(test_now_ms() - began_ms >= opts.remember_ms);
    expect_soon(info_of(f, queue).remembered == 0, opts.remember_ms + 5000);
    if (info_of(f, queue).ready == 0)
        put(f, queue, "a");
    do_next(lock, "a");
    assert_no_key(f->client, queue);
}

TEST(queue_keeps_a_job_until_it_is_due)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_lock *lock = worker(f, queue);
    hf_queue_options opts = HF_QUEUE_OPTIONS_INIT;
    int64_t put_ms = test_now_ms();

    opts.delay_ms = slowed_ms(400);
    put_with(f, queue, "later", &opts);
    put(f, queue, "now");
    do_next(lock, "now");
    expect_status(HF_OK, hf_lock_acquire(lock, opts.delay_ms + 10000, ERR));
    assert_took(test_now_ms() - put_ms, opts.delay_ms - 5,
                opts.delay_ms + WOKEN_MS);
    expect_job(lock, "later");
    expect_status(HF_OK, hf_queue_done(lock, ERR));
}

TEST(queue_takes_one_job_of_a_group_at_a_time)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_lock *one = worker(f, queue), *two = worker(f, queue);
    hf_queue_options opts = HF_QUEUE_OPTIONS_INIT;

    opts.group = bytes("g");
    put_with(f, queue, "g1", &opts);
    put_with(f, queue, "g2", &opts);
    put(f, queue, "x");
    put_with(f, queue, "g3", &opts);
    assert_counts(f, queue, 2, 0, 0, 2, 0);
    take(one, "g1");
    do_next(two, "x");
    expect_status(HF_HELD, hf_lock_try(two, ERR));
    expect_status(HF_OK, hf_queue_again(one, 0, ERR)); /* still the first */
    take(two, "g1");
    expect_status(HF_HELD, hf_lock_try(one, ERR));
    expect_status(HF_OK, hf_queue_done(two, ERR));
    take(one, "g2");
    expect_status(HF_OK, hf_queue_fail(one, ERR));
    do_next(two, "g3");
    assert_counts(f, queue, 0, 0, 0, 0, 1);
}

/* ------------------------------------------------------------------ leases */

TEST(queue_takes_a_job_back_when_its_lease_ends)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    int64_t ttl_ms = slowed_ms(300), took_ms;
    hf_lock *lost = worker_for(f, f->client, queue, ttl_ms);
    hf_lock *lock = worker(f, queue);

    put(f, queue, "a");
    put(f, queue, "b");
    took_ms = test_now_ms();
    take(lost, "a");
    do_next(lock, "b");
    expect_status(HF_OK, hf_lock_acquire(lock, ttl_ms + 10000, ERR));
    assert_took(test_now_ms() - took_ms, ttl_ms - 5, ttl_ms + WOKEN_MS);
    expect_job(lock, "a");
    assert_int_equal(job_of(lock).attempt, 2);
    assert_true(hf_lock_token(lock) > hf_lock_token(lost));
    assert_false(hf_lock_is_held(lost));
    expect_status(HF_EXPIRED, hf_queue_done(lost, ERR));
    assert_true(hf_lock_is_held(lock));
    assert_counts(f, queue, 0, 1, 0, 0, 0);
    expect_status(HF_OK, hf_queue_done(lock, ERR));
}

TEST(queue_lets_a_late_worker_end_what_no_one_was_given)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_lock *lock = worker_for(f, f->client, queue, slowed_ms(100));

    put(f, queue, "a");
    take(lock, "a");
    expect_soon(!hf_lock_is_held(lock), 5000);
    expect_soon(info_of(f, queue).ready == 1, 5000);
    expect_status(HF_OK, hf_queue_done(lock, ERR));
    assert_no_key(f->client, queue);
}

/* As after a copy of the take that came once the lease had ended, and gave the
 * owner another job. */
static void take_late(fixture *f, hf_bytes queue, hf_lock *lock)
{
    char items[128], owner[HF_OWNER_SIZE];
    int size = snprintf(items, sizeof(items), "hf:items:{%.*s}",
                        (int)queue.size, (const char *)queue.data);
    hf_bytes back[] = {bytes("ZADD"), queue, bytes("7090000000000001"),
                       bytes(":a")};
    hf_bytes given[] = {bytes("ZREM"), queue, bytes(":b")};
    hf_bytes has[] = {bytes("HSET"), hf_view(items, (size_t)size), bytes(""),
                      bytes(":b")};

    hf_lock_owner(lock, owner);
    has[2] = hf_str(owner);
    expect_status(HF_OK, hf_command(f->client, 4, back, NULL, ERR));
    expect_status(HF_OK, hf_command(f->client, 3, given, NULL, ERR));
    expect_status(HF_OK, hf_command(f->client, 4, has, NULL, ERR));
}

TEST(queue_ends_no_other_job_than_the_one_that_was_taken)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_lock *lock = worker(f, queue);

    if (f->rights != FIXTURE_RIGHTS_ALL)
        skip(); /* to write what is not its own */
    for (int i = 0; i < 3; i++) {
        put(f, queue, "a");
        put(f, queue, "b");
        take(lock, "a");
        take_late(f, queue, lock);
        expect_status(HF_EXPIRED, i == 0   ? hf_queue_done(lock, ERR)
                                  : i == 1 ? hf_queue_fail(lock, ERR)
                                           : hf_queue_again(lock, 60000, ERR));
        assert_counts(f, queue, 2, 0, 0, 0, 0);
        do_next(lock, "a");
        do_next(lock, "b");
    }
}

/* Nor does it hold the job that it believes to have: condition 1 of three. */
TEST(queue_worker_that_has_another_job_writes_nothing)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q"), key = fixture_key(f, "k");
    hf_lock *lock = worker_for(f, f->client, queue, 60000);

    if (f->rights != FIXTURE_RIGHTS_ALL || f->store == FIXTURE_REDIS_CLUSTER ||
        f->store == FIXTURE_POSTGRES)
        skip();
    put(f, queue, "a");
    put(f, queue, "b");
    take(lock, "a");
    for (size_t failed = 2; failed > 0; failed--) {
        hf_async txn = HF_ASYNC_INIT;

        expect_status(HF_OK, hf_txn_new(f->client, NULL, &txn.txn, ERR));
        expect_status(HF_OK, hf_txn_if_absent(txn.txn, key, ERR));
        expect_status(HF_OK, hf_txn_if_held(txn.txn, lock, ERR));
        expect_status(HF_OK, hf_txn_if_exists(txn.txn, key, ERR));
        if (failed == 1)
            take_late(f, queue, lock);
        expect_status(HF_CONFLICT, hf_txn_exec(txn.txn, ERR));
        assert_int_equal(hf_txn_failed(txn.txn), failed);
        assert_true((failed == 1) ==
                    (strstr(expect_message(), "is no longer held") != NULL));
        hf_txn_free(txn.txn);
    }
}

TEST(queue_renews_the_lease_on_a_job)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    hf_lock *lock = NULL, *other = worker(f, queue);

    opts.ttl_ms = slowed_ms(300);
    expect_status(HF_OK, hf_queue_new(f->client, queue, &opts, &lock, ERR));
    lock = fixture_keep_lock(f, lock);
    put(f, queue, "a");
    take(lock, "a");
    expect_throughout(hf_lock_try(other, NULL) == HF_HELD, 3 * opts.ttl_ms);
    expect_status(HF_OK, hf_queue_done(lock, ERR));
}

TEST(queue_tries_again_after_a_delay_up_to_a_limit)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_lock *lock = worker(f, queue);
    hf_queue_options opts = HF_QUEUE_OPTIONS_INIT;
    int64_t delay_ms = slowed_ms(300), again_ms;

    opts.attempts = 2;
    put_with(f, queue, "a", &opts);
    put(f, queue, "b");
    take(lock, "a");
    again_ms = test_now_ms();
    expect_status(HF_OK, hf_queue_again(lock, delay_ms, ERR));
    do_next(lock, "b");
    expect_status(HF_OK, hf_lock_acquire(lock, 20000, ERR));
    assert_took(test_now_ms() - again_ms, delay_ms - 5, delay_ms + WOKEN_MS);
    expect_job(lock, "a");
    assert_int_equal(job_of(lock).attempt, 2);
    expect_status(HF_OK, hf_queue_again(lock, 0, ERR));
    assert_counts(f, queue, 0, 0, 0, 0, 1);
    expect_status(HF_HELD, hf_lock_try(lock, ERR));
}

TEST(queue_defers_a_job_without_counting_the_attempt)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_lock *lock = worker(f, queue);
    hf_queue_options opts = HF_QUEUE_OPTIONS_INIT;
    int64_t delay_ms = slowed_ms(300), began_ms;

    opts.attempts = 1;
    put_with(f, queue, "a", &opts);
    for (int i = 0; i < 2; i++) {
        take(lock, "a");
        expect_status(HF_OK, hf_queue_defer(lock, 0, ERR));
    }
    take(lock, "a");
    began_ms = test_now_ms();
    expect_status(HF_OK, hf_queue_defer(lock, delay_ms, ERR));
    assert_counts(f, queue, 0, 0, 1, 0, 0);
    expect_status(HF_OK, hf_lock_acquire(lock, 20000, ERR));
    assert_took(test_now_ms() - began_ms, delay_ms - 5, delay_ms + WOKEN_MS);
    assert_int_equal(job_of(lock).attempt, 1);
    expect_status(HF_OK, hf_queue_done(lock, ERR));
    expect_status(HF_INVALID, hf_queue_defer(lock, 0, ERR));
}

TEST(queue_counts_an_attempt_whose_lease_ended)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_lock *lock = worker_for(f, f->client, queue, slowed_ms(100));
    hf_queue_options opts = HF_QUEUE_OPTIONS_INIT;

    opts.attempts = 1;
    put_with(f, queue, "a", &opts);
    take(lock, "a");
    expect_soon(info_of(f, queue).taken == 0, 5000);
    expect_status(HF_HELD, hf_lock_try(worker(f, queue), ERR));
    assert_counts(f, queue, 0, 0, 0, 0, 1);
    expect_status(HF_EXPIRED, hf_queue_done(lock, ERR));
}

TEST(backoff_doubles_up_to_a_limit)
{
    hf_job job = HF_JOB_INIT;

    (void)state;
    job.attempt = 1;
    assert_int_equal(hf_queue_backoff(&job, 100, 1000), 100);
    job.attempt = 3;
    assert_int_equal(hf_queue_backoff(&job, 100, 1000), 400);
    job.attempt = 5;
    assert_int_equal(hf_queue_backoff(&job, 100, 1000), 1000);
    job.attempt = INT64_MAX;
    assert_int_equal(hf_queue_backoff(&job, 1, INT64_MAX), INT64_MAX);
    assert_int_equal(hf_queue_backoff(&job, 0, 0), 0);
}

/* The reply to a take was lost with its connection, or the next one is lost
 * before it is sent: the same owner asks again, and gets the same job. */
TEST(queue_gives_the_same_job_again_to_who_got_no_reply)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_client_options opts = HF_CLIENT_OPTIONS_INIT;
    byte_proxy *proxy;
    hf_client *client;
    hf_lock *lock;

    if ((f->store != FIXTURE_REDIS_UNIX && f->store != FIXTURE_REDIS_TCP) ||
        f->rights != FIXTURE_RIGHTS_ALL)
        skip();
    proxy = byte_proxy_start(redis_server_socket_path(f->server));
    assert_non_null(proxy);
    client = fixture_client_at(f, byte_proxy_unix_url(proxy), &opts);
    lock = worker_for(f, client, queue, 0);
    put(f, queue, "a");
    put(f, queue, "b");
    take(lock, "a");
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    for (int i = 0; i < 2; i++) {
        byte_proxy_cut(proxy, TO_CLIENT, (uint64_t)i, BYTE_END_CLOSE);
        take(lock, "a");
        assert_int_equal(byte_proxy_cuts(proxy), i + 1);
        assert_int_equal(job_of(lock).attempt, 1);
        assert_counts(f, queue, 1, 1, 0, 0, 0);
        expect_status(HF_OK, hf_lock_release(lock, ERR));
    }
    take(lock, "a");
    byte_proxy_cut(proxy, TO_CLIENT, 0, BYTE_END_CLOSE);
    expect_status(HF_OK, hf_queue_done(lock, ERR));
    do_next(worker(f, queue), "b");
    fixture_close_client(f, client);
    byte_proxy_stop(proxy);
}

/* ----------------------------------------------------------------- waiting */

TEST(queue_gives_a_put_job_to_the_first_waiter)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_lock *one = worker_for(f, f->client, queue, 0);
    hf_lock *two = worker(f, queue);
    told said[2] = {{0}, {0}};
    int64_t began_ms = test_now_ms();

    queue_up(f, queue, f->client, one, &said[0], 1);
    queue_up(f, queue, f->other, two, &said[1], 2);
    put(f, queue, "a");
    /* It is kept for the first, though another asks before that does. */
    expect_status(HF_HELD, hf_lock_try(worker(f, queue), ERR));
    await_told(f->client, &said[0], 1);
    assert_woken(test_now_ms() - began_ms, POLL_MS);
    expect_job(one, "a");
    assert_int_equal(job_of(one).attempt, 1);
    dispatch(f->other);
    assert_int_equal(said[1].count, 0);
    put(f, queue, "b");
    await_told(f->other, &said[1], 1);
    expect_job(two, "b");
    expect_status(HF_OK, hf_queue_done(one, ERR));
    expect_status(HF_OK, hf_queue_done(two, ERR));
    assert_no_key(f->client, queue);
}

/* Of the same client only one waits at the store. */
TEST(queue_serves_waiters_of_one_client_each)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    told said[3] = {{0}, {0}, {0}};
    hf_lock *locks[3];

    for (size_t i = 0; i < 3; i++) {
        locks[i] = worker(f, queue);
        queue_up(f, queue, f->other, locks[i], &said[i], 1);
    }
    for (size_t i = 0; i < 3; i++)
        put(f, queue, i == 0 ? "a" : i == 1 ? "b" : "c");
    for (size_t i = 0; i < 3; i++) {
        await_told(f->other, &said[i], 1);
        expect_job(locks[i], i == 0 ? "a" : i == 1 ? "b" : "c");
        expect_status(HF_OK, hf_queue_done(locks[i], ERR));
    }
}

TEST(queue_gives_what_goes_back_to_a_waiter)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_lock *one = worker_for(f, f->client, queue, 0);
    hf_lock *two = worker(f, queue);
    told said = {0};
    int64_t began_ms;

    put(f, queue, "a");
    take(one, "a");
    began_ms = test_now_ms();
    queue_up(f, queue, f->other, two, &said, 1);
    expect_status(HF_OK, hf_queue_again(one, 0, ERR));
    await_told(f->other, &said, 1);
    assert_woken(test_now_ms() - began_ms, POLL_MS);
    expect_job(two, "a");
    assert_int_equal(job_of(two).attempt, 2);
    expect_status(HF_OK, hf_queue_done(two, ERR));
}

TEST(queue_gives_back_what_came_after_a_wait)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_lock *lock = worker(f, queue);

    expect_status(HF_TIMEOUT, hf_lock_acquire(lock, 50, ERR));
    assert_int_equal(info_of(f, queue).waiters, 0);
    put(f, queue, "a");
    assert_counts(f, queue, 1, 0, 0, 0, 0);
    do_next(lock, "a");
}

#define JOBS 50

/* A put, a take and a done for a job that is ready. A worker that waited, which
 * took a request more, hears that it is to ask, and does not poll. Besides, a
 * client registers. */
TEST(queue_costs_two_requests_a_job_and_a_third_to_wait)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_lock *lock = worker(f, queue);
    long before;
    char id[16];

    if (f->server == NULL || f->sentinel != NULL || fixture_is_served(f))
        skip();
    put(f, queue, "first");
    do_next(lock, "first");
    before = count_scripts(f);
    for (int i = 0; i < JOBS; i++) {
        (void)snprintf(id, sizeof(id), "%d", i);
        put(f, queue, id);
        do_next(lock, id);
    }
    assert_in_range(count_scripts(f) - before, 3 * JOBS, 3 * JOBS + 2);
    for (int i = 0; i < JOBS; i++) {
        told said = {0};

        queue_up(f, queue, f->other, lock, &said, 1);
        before = count_scripts(f);
        put(f, queue, "a");
        await_told(f->other, &said, 1);
        expect_status(HF_OK, hf_queue_done(lock, ERR));
        assert_int_equal(count_scripts(f) - before, 3);
    }
}

/* ----------------------------------------------------------------- threads */

#define THREADS 4
#define THREAD_JOBS 200

typedef struct crew {
    fixture *f;
    hf_bytes queue;
    pthread_mutex_t mutex; /* guards the rest */
    int done[THREAD_JOBS];
    int running;
    int failed;
} crew;

static void *work(void *user)
{
    crew *all = user;
    hf_lock *lock = NULL;
    hf_job job = HF_JOB_INIT;
    hf_status status =
        hf_queue_new(all->f->other, all->queue, NULL, &lock, NULL);

    while (status == HF_OK &&
           (status = hf_lock_acquire(lock, slowed_ms(400), NULL)) == HF_OK) {
        status = hf_queue_job(lock, &job, NULL);
        pthread_mutex_lock(&all->mutex);
        if (status == HF_OK)
            all->done[strtoll(job.id.data, NULL, 10)]++;
        pthread_mutex_unlock(&all->mutex);
        if (status == HF_OK)
            status = hf_queue_done(lock, NULL);
    }
    pthread_mutex_lock(&all->mutex);
    all->failed += status != HF_TIMEOUT;
    pthread_mutex_unlock(&all->mutex);
    hf_lock_free(lock);
    return NULL;
}

TEST(queue_gives_each_job_to_one_thread)
{
    fixture *f = *state;
    static crew all;
    pthread_t threads[THREADS];
    hf_queue_put_item items[THREAD_JOBS];
    hf_status statuses[THREAD_JOBS];
    char ids[THREAD_JOBS][8];

    all = (crew){.f = f, .queue = fixture_key(f, "q")};
    pthread_mutex_init(&all.mutex, NULL);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, &all), 0);
    for (size_t i = 0; i < THREAD_JOBS; i++) {
        (void)snprintf(ids[i], sizeof(ids[i]), "%zu", i);
        items[i] = (hf_queue_put_item){hf_str(ids[i]), hf_str(ids[i])};
    }
    expect_status(HF_OK, hf_queue_put_many(f->client, all.queue, items,
                                           THREAD_JOBS, NULL, statuses, ERR));
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_mutex_destroy(&all.mutex);
    assert_int_equal(all.failed, 0);
    for (size_t i = 0; i < THREAD_JOBS; i++)
        assert_int_equal(all.done[i], 1);
    assert_no_key(f->client, all.queue);
}

/* ------------------------------------------------------------------- forms */

TEST(queue_has_started_forms)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_lock *lock = worker_for(f, f->client, queue, 0);
    hf_queue_info info = HF_QUEUE_INFO_INIT;

    for (int i = 0; i < 3; i++) {
        expect_told(HF_OK, f->client,
                    hf_queue_put_start(f->client, queue, bytes("a"), bytes("p"),
                                       NULL, &async, ERR));
        expect_told(HF_CONFLICT, f->client,
                    hf_queue_put_start(f->client, queue, bytes("a"), bytes("p"),
                                       NULL, &async, ERR));
        expect_told(HF_OK, f->client,
                    hf_lock_acquire_start(lock, 0, &async, ERR));
        expect_job(lock, "a");
        if (i == 0)
            expect_told(HF_OK, f->client,
                        hf_queue_again_start(lock, 0, &async, ERR));
        if (i == 0)
            expect_told(HF_OK, f->client,
                        hf_lock_acquire_start(lock, 0, &async, ERR));
        if (i < 2)
            expect_told(HF_OK, f->client,
                        hf_queue_done_start(lock, &async, ERR));
        else
            expect_told(HF_OK, f->client,
                        hf_queue_fail_start(lock, &async, ERR));
    }
    expect_told(HF_OK, f->client,
                hf_queue_inspect_start(f->client, queue, &info, &async, ERR));
    assert_int_equal(info.dead, 1);
}

TEST(queue_gives_many_handles_a_job_each)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_lock *locks[3];
    hf_status statuses[3];

    put(f, queue, "a");
    put(f, queue, "b");
    for (size_t i = 0; i < 3; i++)
        locks[i] = worker(f, queue);
    expect_status(HF_OK, hf_lock_acquire_many(locks, 3, 0, statuses, ERR));
    assert_counts(f, queue, 0, 2, 0, 0, 0);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(statuses[i] == HF_OK, hf_lock_is_held(locks[i]));
        if (statuses[i] == HF_OK)
            expect_status(HF_OK, hf_queue_done(locks[i], ERR));
    }
    assert_no_key(f->client, queue);
}

/* ------------------------------------------------------------------ errors */

TEST(queue_has_limits)
{
    static char large[HF_QUEUE_PAYLOAD_MAX + 1];
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q"), id = bytes("a");
    hf_queue_options opts = HF_QUEUE_OPTIONS_INIT;
    hf_lock_options lease = HF_LOCK_OPTIONS_INIT;
    hf_lock *lock = worker(f, queue);

    expect_status(HF_INVALID,
                  hf_queue_put(f->client, queue, id,
                               hf_view(large, sizeof(large)), NULL, ERR));
    expect_status(HF_INVALID, hf_queue_put(f->client, queue,
                                           hf_view(large, HF_QUEUE_ID_MAX + 1),
                                           id, NULL, ERR));
    opts.priority = HF_QUEUE_PRIORITY_MAX + 1;
    expect_status(HF_INVALID,
                  hf_queue_put(f->client, queue, id, id, &opts, ERR));
    opts.priority = 0;
    opts.delay_ms = -1;
    expect_status(HF_INVALID,
                  hf_queue_put(f->client, queue, id, id, &opts, ERR));
    opts.delay_ms = HF_QUEUE_DELAY_MAX_MS;
    opts.remember_ms = HF_QUEUE_DELAY_MAX_MS;
    opts.attempts = HF_QUEUE_ATTEMPTS_MAX;
    expect_status(
        HF_OK, hf_queue_put(f->client, queue, hf_view(large, HF_QUEUE_ID_MAX),
                            hf_view(large, HF_QUEUE_PAYLOAD_MAX), &opts, ERR));
    assert_counts(f, queue, 0, 0, 1, 0, 0);
    expect_status(HF_INVALID, hf_queue_again(lock, -1, ERR));
    expect_status(HF_INVALID, hf_queue_done(lock, ERR));
    lease.min_hold_ms = 1;
    expect_status(HF_UNSUPPORTED,
                  hf_queue_new(f->client, queue, &lease, &lock, ERR));
}

TEST(queue_is_not_what_another_key_is)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "v");
    hf_queue_info info = HF_QUEUE_INFO_INIT;
    hf_lock *semaphore = NULL;

    expect_status(HF_OK, hf_value_set(f->client, key, key, NULL, NULL, ERR));
    expect_status(HF_WRONG_TYPE,
                  hf_queue_put(f->client, key, key, key, NULL, ERR));
    expect_status(HF_WRONG_TYPE, hf_lock_try(worker(f, key), ERR));
    expect_status(HF_WRONG_TYPE, hf_queue_inspect(f->client, key, &info, ERR));
    key = fixture_key(f, "s");
    expect_status(HF_OK,
                  hf_semaphore_new(f->client, key, 1, NULL, &semaphore, ERR));
    (void)fixture_keep_lock(f, semaphore);
    expect_status(HF_OK, hf_lock_try(semaphore, ERR));
    expect_status(HF_WRONG_TYPE,
                  hf_queue_put(f->client, key, key, key, NULL, ERR));
    expect_status(HF_WRONG_TYPE, hf_lock_try(worker(f, key), ERR));
    expect_status(HF_INVALID, hf_queue_done(semaphore, ERR));
    key = fixture_key(f, "q");
    put(f, key, "a");
    expect_status(HF_OK,
                  hf_semaphore_new(f->client, key, 1, NULL, &semaphore, ERR));
    (void)fixture_keep_lock(f, semaphore);
    expect_status(HF_WRONG_TYPE, hf_lock_try(semaphore, ERR));
    do_next(worker(f, key), "a");
}
