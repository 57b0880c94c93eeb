/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_next_test.c - hf_queue_next(): the end of a job and the next one in one
 * request. The end is applied once, is not lost by the wait, and says so if it
 * came too late.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "holdfast/queue.h"
#include "support/queue_work.h"
#include "support/slowness.h"
#include "support/store_fixture.h"
#include "support/told.h"

FIXTURE_TESTS();

/* When a waiter looks again, by itself, after it began to wait. */
#define POLL_MS 1000

#define next_by(lock, outcome, wait_ms)                                        \
    hf_queue_next((lock), (outcome), 0, (wait_ms), ERR)

TEST(queue_next_ends_the_job_and_takes_the_next)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_lock *lock = worker(f, queue);
    uint64_t token = 0;

    put(f, queue, "a");
    put(f, queue, "b");
    put(f, queue, "c");
    for (int i = 0; i < 3; i++) {
        const char id[] = {(char)('a' + i), '\0'};

        expect_status(HF_OK, next_by(lock, HF_QUEUE_DONE, 0));
        expect_job(lock, id);
        assert_true(hf_lock_is_held(lock));
        assert_true(hf_lock_token(lock) > token);
        token = hf_lock_token(lock);
        assert_counts(f, queue, 2 - i, 1, 0, 0, 0);
    }
    expect_status(HF_TIMEOUT, next_by(lock, HF_QUEUE_DONE, 0));
    assert_false(hf_lock_is_held(lock));
    assert_no_key(f->client, queue);
    expect_status(HF_INVALID, hf_queue_done(lock, ERR));
    expect_status(HF_TIMEOUT, next_by(lock, HF_QUEUE_DONE, 0));
}

TEST(queue_next_ends_it_as_told)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_lock *lock = worker(f, queue);
    int64_t delay_ms = 600000;

    put(f, queue, "a");
    put(f, queue, "b");
    take(lock, "a");
    expect_status(HF_OK, next_by(lock, HF_QUEUE_AGAIN, 0));
    expect_job(lock, "a");
    assert_int_equal(job_of(lock).attempt, 2);
    expect_status(HF_OK, next_by(lock, HF_QUEUE_DEFER, 0));
    expect_job(lock, "a");
    assert_int_equal(job_of(lock).attempt, 2);
    expect_status(HF_OK, hf_queue_next(lock, HF_QUEUE_AGAIN, delay_ms, 0, ERR));
    expect_job(lock, "b");
    assert_counts(f, queue, 0, 1, 1, 0, 0);
    expect_status(HF_TIMEOUT, next_by(lock, HF_QUEUE_FAIL, 0));
    assert_counts(f, queue, 0, 0, 1, 0, 1);
    expect_status(HF_INVALID, hf_queue_next(lock, HF_QUEUE_AGAIN, -1, 0, ERR));
    expect_status(HF_INVALID,
                  hf_queue_next(lock, (hf_queue_outcome)4, 0, 0, ERR));
    expect_status(HF_INVALID, next_by(lock, HF_QUEUE_DONE, -2));
}

TEST(queue_next_gives_the_next_of_the_group)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_lock *lock = worker(f, queue);
    hf_queue_options opts = HF_QUEUE_OPTIONS_INIT;

    opts.group = bytes("g");
    put_with(f, queue, "a", &opts);
    put_with(f, queue, "b", &opts);
    take(lock, "a");
    expect_status(HF_OK, next_by(lock, HF_QUEUE_DONE, 0));
    expect_job(lock, "b");
    expect_status(HF_OK, hf_queue_done(lock, ERR));
    assert_no_key(f->client, queue);
}

/* ---------------------------------------------------------------- waiting */

/* Of what the other client has sent: replies arrive in order. A call that is
 * cancelled before its own does not know how the end went. */
static void await_reply(fixture *f, hf_bytes queue)
{
    hf_queue_info info = HF_QUEUE_INFO_INIT;

    expect_told(HF_OK, f->other,
                hf_queue_inspect_start(f->other, queue, &info, &async, ERR));
}

TEST(queue_next_is_woken_by_a_put)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_lock *lock = worker(f, queue);
    told said = {0};
    hf_async async = tell(&said);
    int64_t began_ms;

    put(f, queue, "a");
    take(lock, "a");
    expect_status(HF_OK, hf_queue_next_start(lock, HF_QUEUE_DONE, 0, HF_FOREVER,
                                             &async, ERR));
    expect_soon((dispatch(f->other), info_of(f, queue).waiters == 1), 5000);
    assert_int_equal(info_of(f, queue).taken, 0);
    began_ms = test_now_ms();
    put(f, queue, "b");
    await_told(f->other, &said, 1);
    assert_int_equal(said.status, HF_OK);
    assert_woken(test_now_ms() - began_ms, POLL_MS);
    expect_job(lock, "b");
    expect_status(HF_OK, hf_queue_done(lock, ERR));
}

TEST(queue_next_has_ended_the_job_when_the_wait_ends)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_lock *lock = worker(f, queue);
    told said = {0};
    hf_call *call = NULL;
    hf_async async = tell(&said);

    put(f, queue, "a");
    take(lock, "a");
    expect_status(HF_TIMEOUT, next_by(lock, HF_QUEUE_DONE, 50));
    assert_counts(f, queue, 0, 0, 0, 0, 0);
    assert_int_equal(info_of(f, queue).waiters, 0);
    put(f, queue, "b");
    take(lock, "b");
    async.call = &call;
    expect_status(HF_OK, hf_queue_next_start(lock, HF_QUEUE_DONE, 0, HF_FOREVER,
                                             &async, ERR));
    expect_soon((dispatch(f->other), info_of(f, queue).waiters == 1), 5000);
    await_reply(f, queue);
    hf_call_cancel(call);
    await_told(f->other, &said, 1);
    assert_int_equal(said.status, HF_CANCELLED);
    assert_counts(f, queue, 0, 0, 0, 0, 0);
    expect_soon(info_of(f, queue).waiters == 0, 5000);
}

TEST(queue_next_has_ended_the_job_when_it_is_interrupted)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_lock *lock = worker(f, queue);
    pthread_t thread;

    put(f, queue, "a");
    take(lock, "a");
    assert_int_equal(pthread_create(&thread, NULL, interrupt_soon, f->other),
                     0);
    expect_status(HF_CANCELLED, next_by(lock, HF_QUEUE_DONE, HF_FOREVER));
    pthread_join(thread, NULL);
    assert_counts(f, queue, 0, 0, 0, 0, 0);
}

/* One that waits at the store for the whole client, and another behind it. */
TEST(queue_next_ends_the_job_though_others_of_the_client_wait)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_lock *lock = worker(f, queue);
    told waits[2] = {{0}, {0}}, said = {0};
    hf_async async = tell(&said), behind = tell(&waits[1]);

    put(f, queue, "a");
    take(lock, "a");
    queue_up(f, queue, f->other, worker(f, queue), &waits[0], 1);
    expect_status(HF_OK, hf_lock_acquire_start(worker(f, queue), HF_FOREVER,
                                               &behind, ERR));
    expect_status(HF_OK, hf_queue_next_start(lock, HF_QUEUE_DONE, 0, HF_FOREVER,
                                             &async, ERR));
    expect_soon((dispatch(f->other), info_of(f, queue).taken == 0), 5000);
    put(f, queue, "b");
    await_told(f->other, &waits[0], 1);
    put(f, queue, "c");
    await_told(f->other, &waits[1], 1);
    put(f, queue, "d");
    await_told(f->other, &said, 1);
    expect_job(lock, "d");
}

/* --------------------------------------------------------------- late ends */

TEST(queue_next_says_that_the_end_came_too_late)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_lock *lock = worker_for(f, f->client, queue, 50);
    hf_lock *other = worker(f, queue);

    put(f, queue, "a");
    put(f, queue, "b");
    take(lock, "a");
    expect_soon(info_of(f, queue).ready == 2, 5000);
    take(other, "a");
    expect_status(HF_EXPIRED, next_by(lock, HF_QUEUE_DONE, HF_FOREVER));
    assert_counts(f, queue, 1, 1, 0, 0, 0);
    assert_false(hf_lock_is_held(lock));
    expect_status(HF_OK, hf_queue_next(lock, HF_QUEUE_DONE, 0, 0, ERR));
    expect_job(lock, "b");
    expect_status(HF_OK, hf_queue_done(other, ERR));
}

TEST(queue_next_ends_late_what_no_one_was_given)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_lock *lock = worker_for(f, f->client, queue, 50);

    put(f, queue, "a");
    take(lock, "a");
    expect_soon(!hf_lock_is_held(lock), 5000);
    expect_soon(info_of(f, queue).ready == 1, 5000);
    expect_status(HF_TIMEOUT, next_by(lock, HF_QUEUE_DONE, 0));
    assert_no_key(f->client, queue);
}

/* ----------------------------------------------------------------- replies */

/* The reply is lost with its connection: the first request, or the second, has
 * ended the job, and the same next job is given once. */
TEST(queue_next_is_sent_again_when_it_got_no_reply)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_client *client;
    byte_proxy *proxy = begin_proxy(f, &client);
    hf_lock *lock;

    if (proxy == NULL)
        skip();
    lock = worker_for(f, client, queue, 0);
    put(f, queue, "a");
    put(f, queue, "b");
    take(lock, "a");
    byte_proxy_cut(proxy, TO_CLIENT, 0, BYTE_END_CLOSE);
    expect_status(HF_OK, next_by(lock, HF_QUEUE_DONE, 0));
    assert_int_equal(byte_proxy_cuts(proxy), 1);
    expect_job(lock, "b");
    assert_int_equal(job_of(lock).attempt, 1);
    assert_counts(f, queue, 0, 1, 0, 0, 0);
    byte_proxy_cut(proxy, TO_CLIENT, 0, BYTE_END_CLOSE);
    expect_status(HF_TIMEOUT, next_by(lock, HF_QUEUE_DONE, 0));
    assert_int_equal(byte_proxy_cuts(proxy), 2);
    assert_no_key(f->client, queue);
    fixture_close_client(f, client);
    byte_proxy_stop(proxy);
}

/* The lease has ended, so nothing says whether the first request found the job
 * before another worker was given it. */
TEST(queue_next_that_is_late_and_got_no_reply_is_not_known)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_client *client;
    byte_proxy *proxy = begin_proxy(f, &client);
    hf_lock *lock;

    if (proxy == NULL)
        skip();
    lock = worker_for(f, client, queue, 50);
    put(f, queue, "a");
    take(lock, "a");
    expect_soon(!hf_lock_is_held(lock), 5000);
    byte_proxy_cut(proxy, TO_CLIENT, 0, BYTE_END_CLOSE);
    expect_status(HF_INDETERMINATE, next_by(lock, HF_QUEUE_DONE, 0));
    assert_int_equal(byte_proxy_cuts(proxy), 1);
    assert_no_key(f->client, queue);
    fixture_close_client(f, client);
    byte_proxy_stop(proxy);
}

/* The first request did not arrive, and the lease ended before the second. */
TEST(queue_next_that_comes_too_late_is_not_ok)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_client *client;
    byte_proxy *proxy = begin_proxy(f, &client);
    hf_lock *other = worker(f, queue), *lock;
    told said = {0};
    hf_async ends = tell(&said);

    if (proxy == NULL)
        skip();
    lock = worker_for(f, client, queue, slowed_ms(500));
    put(f, queue, "a");
    put(f, queue, "b");
    expect_told(HF_OK, client, hf_lock_acquire_start(lock, 0, &async, ERR));
    byte_proxy_swallow(proxy, TO_SERVER);
    expect_status(HF_OK, hf_queue_next_start(lock, HF_QUEUE_DONE, 0, HF_FOREVER,
                                             &ends, ERR));
    expect_soon(hf_lock_try(other, NULL) == HF_OK &&
                    (strcmp(job_of(other).id.data, "a") == 0 ||
                     hf_lock_release(other, NULL) != HF_OK),
                10000);
    byte_proxy_heal(proxy);
    byte_proxy_break(proxy, BYTE_END_CLOSE);
    await_told(client, &said, 1);
    assert_int_equal(said.status, HF_INDETERMINATE);
    assert_counts(f, queue, 1, 1, 0, 0, 0);
    expect_status(HF_OK, hf_queue_done(other, ERR));
    fixture_close_client(f, client);
    byte_proxy_stop(proxy);
}

/* ------------------------------------------------------------------- costs */

#define JOBS 50

/* A put besides, each time. A worker that waits joins by the request that ends
 * its job. */
TEST(queue_next_costs_one_request_a_job_and_a_second_to_wait)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_lock *lock = worker(f, queue);
    long before;

    if (f->server == NULL || f->sentinel != NULL || fixture_is_served(f))
        skip();
    put(f, queue, "first");
    take(lock, "first");
    for (int i = 0; i < JOBS; i++) {
        char id[16];

        (void)snprintf(id, sizeof(id), "%d", i);
        before = count_scripts(f);
        put(f, queue, id);
        expect_status(HF_OK, next_by(lock, HF_QUEUE_DONE, 0));
        assert_int_equal(count_scripts(f) - before, 2);
        expect_job(lock, id);
    }
    expect_status(HF_TIMEOUT, next_by(lock, HF_QUEUE_DONE, 50));
    put(f, queue, "waited");
    take(lock, "waited");
    for (int i = 0; i < JOBS; i++) {
        told said = {0};
        hf_async async = tell(&said);

        before = count_scripts(f);
        expect_status(HF_OK, hf_queue_next_start(lock, HF_QUEUE_DONE, 0,
                                                 HF_FOREVER, &async, ERR));
        expect_soon((dispatch(f->other), count_scripts(f) == before + 1), 5000);
        put(f, queue, "a");
        await_told(f->other, &said, 1);
        assert_int_equal(count_scripts(f) - before, 3);
    }
}

typedef struct next_thread {
    hf_lock *lock;
    hf_status status;
} next_thread;

static void *run_next(void *user)
{
    next_thread *self = user;

    self->status = hf_queue_next(self->lock, HF_QUEUE_DONE, 0, 5000, NULL);
    return NULL;
}

/* It waited for the handle, which had no job when it was called. */
TEST(queue_next_ends_no_job_that_another_thread_took_meanwhile)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    next_thread next[2];
    pthread_t threads[2];

    next[0].lock = next[1].lock = worker(f, queue);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_next, &next[i]),
                         0);
    usleep(100000);
    put(f, queue, "a");
    for (int i = 0; i < 2; i++)
        (void)pthread_join(threads[i], NULL);
    assert_true((next[0].status == HF_OK) != (next[1].status == HF_OK));
    expect_job(next[0].lock, "a");
    assert_counts(f, queue, 0, 1, 0, 0, 0);
    expect_status(HF_OK, hf_queue_done(next[0].lock, ERR));
}
