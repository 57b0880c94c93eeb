/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_admin_test.c - what is done with a queue as a whole: listing,
 * pausing, moving dead letters back.
 */
#include "holdfast/queue.h"
#include "support/slowness.h"
#include "support/store_fixture.h"
#include "support/told.h"

FIXTURE_TESTS();

/* When a waiter looks again, by itself, after it began to wait. */
#define POLL_MS 1000

static void put_with(fixture *f, hf_bytes queue, const char *id,
                     const hf_queue_options *opts)
{
    expect_status(HF_OK, hf_queue_put(f->client, queue, hf_str(id), hf_str(id),
                                      opts, ERR));
}

static void put(fixture *f, hf_bytes queue, const char *id)
{
    put_with(f, queue, id, NULL);
}

/* `ttl_ms` not 0: a lease that is not renewed. */
static hf_lock *worker_for(fixture *f, hf_client *client, hf_bytes queue,
                           int64_t ttl_ms)
{
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    hf_lock *lock = NULL;

    opts.ttl_ms = ttl_ms;
    opts.flags = ttl_ms != 0 ? HF_LOCK_NO_RENEW : 0;
    expect_status(HF_OK, hf_queue_new(client, queue, &opts, &lock, ERR));
    return fixture_keep_lock(f, lock);
}

static hf_lock *worker(fixture *f, hf_bytes queue)
{
    return worker_for(f, f->other, queue, 0);
}

static hf_job job_of(hf_lock *lock)
{
    hf_job job = HF_JOB_INIT;

    expect_status(HF_OK, hf_queue_job(lock, &job, ERR));
    return job;
}

static void expect_job(hf_lock *lock, const char *id)
{
    assert_string_equal(job_of(lock).id.data, id);
}

static void take(hf_lock *lock, const char *id)
{
    expect_status(HF_OK, hf_lock_try(lock, ERR));
    expect_job(lock, id);
}

static void do_next(hf_lock *lock, const char *id)
{
    take(lock, id);
    expect_status(HF_OK, hf_queue_done(lock, ERR));
}

static hf_queue_info info_of(fixture *f, hf_bytes queue)
{
    hf_queue_info info = HF_QUEUE_INFO_INIT;

    expect_status(HF_OK, hf_queue_inspect(f->client, queue, &info, ERR));
    return info;
}

#define assert_counts(f, queue, r, t, l, b, d)                                 \
    do {                                                                       \
        hf_queue_info counted = info_of((f), (queue));                         \
                                                                               \
        assert_int_equal(counted.ready, (r));                                  \
        assert_int_equal(counted.taken, (t));                                  \
        assert_int_equal(counted.delayed, (l));                                \
        assert_int_equal(counted.behind, (b));                                 \
        assert_int_equal(counted.dead, (d));                                   \
    } while (0)

TEST(queue_lists_jobs_by_state_and_takes_none)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_lock *lock = worker(f, queue);
    hf_queue_jobs jobs = HF_QUEUE_JOBS_INIT;
    hf_queue_options opts = HF_QUEUE_OPTIONS_INIT;

    put(f, queue, "taken");
    take(lock, "taken");
    put(f, queue, "a");
    opts.priority = 3;
    put_with(f, queue, "b", &opts);
    expect_status(HF_OK, hf_queue_list(f->other, queue, HF_QUEUE_READY, 0, 10,
                                       &jobs, ERR));
    assert_int_equal(jobs.count, 2);
    assert_string_equal(jobs.jobs[0].id.data, "b");
    assert_int_equal(jobs.jobs[0].priority, 3);
    assert_int_equal(jobs.jobs[0].attempt, 0);
    assert_string_equal(jobs.jobs[1].payload.data, "a");
    hf_queue_jobs_free(&jobs);
    expect_status(HF_OK, hf_queue_list(f->other, queue, HF_QUEUE_READY, 1, 1,
                                       &jobs, ERR));
    assert_int_equal(jobs.count, 1);
    assert_string_equal(jobs.jobs[0].id.data, "a");
    hf_queue_jobs_free(&jobs);
    expect_status(HF_OK, hf_queue_list(f->other, queue, HF_QUEUE_TAKEN, 0, 10,
                                       &jobs, ERR));
    assert_int_equal(jobs.count, 1);
    assert_string_equal(jobs.jobs[0].id.data, "taken");
    assert_int_equal(jobs.jobs[0].attempt, 1);
    hf_queue_jobs_free(&jobs);
    expect_status(HF_OK, hf_queue_list(f->other, queue, HF_QUEUE_DEAD, 0, 10,
                                       &jobs, ERR));
    assert_int_equal(jobs.count, 0);
    hf_queue_jobs_free(&jobs);
    assert_counts(f, queue, 2, 1, 0, 0, 0);
}

TEST(queue_moves_dead_letters_back)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_lock *lock = worker(f, queue);
    hf_queue_options opts = HF_QUEUE_OPTIONS_INIT;
    int64_t moved = 0;

    opts.group = bytes("g");
    opts.attempts = 1;
    for (const char *id = "abc"; *id != '\0'; id++) {
        char text[2] = {*id, '\0'};

        put_with(f, queue, text, &opts);
        take(lock, text);
        expect_status(HF_OK, hf_queue_again(lock, 0, ERR));
    }
    assert_counts(f, queue, 0, 0, 0, 0, 3);
    expect_status(HF_NOT_FOUND, hf_queue_revive(f->client, queue, bytes("x"), 1,
                                                &moved, ERR));
    expect_status(
        HF_OK, hf_queue_revive(f->client, queue, bytes("c"), 1, &moved, ERR));
    assert_int_equal(moved, 1);
    expect_status(HF_NOT_FOUND, hf_queue_revive(f->client, queue, bytes("c"), 1,
                                                &moved, ERR));
    expect_status(
        HF_OK, hf_queue_revive(f->client, queue, bytes(""), 10, &moved, ERR));
    assert_int_equal(moved, 2);
    assert_counts(f, queue, 1, 0, 0, 2, 0);
    take(lock, "c");
    assert_int_equal(job_of(lock).attempt, 1);
    expect_status(HF_OK, hf_queue_done(lock, ERR));
    do_next(lock, "a");
    do_next(lock, "b");
    assert_no_key(f->client, queue);
}

TEST(queue_gives_nothing_while_it_is_paused)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_lock *one = worker_for(f, f->client, queue, 0);
    hf_lock *two = worker(f, queue);
    told said = {0};
    hf_async async = tell(&said);
    int64_t began_ms;

    put(f, queue, "a");
    take(one, "a");
    expect_status(HF_OK, hf_queue_pause(f->client, queue, true, ERR));
    expect_status(HF_OK, hf_queue_pause(f->client, queue, true, ERR));
    assert_true(info_of(f, queue).paused);
    put(f, queue, "b");
    expect_status(HF_OK, hf_queue_done(one, ERR)); /* it continues */
    expect_status(HF_HELD, hf_lock_try(one, ERR));
    began_ms = test_now_ms();
    expect_status(HF_OK, hf_lock_acquire_start(two, HF_FOREVER, &async, ERR));
    expect_soon((dispatch(f->other), info_of(f, queue).waiters == 1), 5000);
    put(f, queue, "c");
    assert_counts(f, queue, 2, 0, 0, 0, 0);
    expect_status(HF_OK, hf_queue_pause(f->client, queue, false, ERR));
    await_told(f->other, &said, 1);
    assert_woken(test_now_ms() - began_ms, POLL_MS);
    expect_job(two, "b");
    expect_status(HF_OK, hf_queue_done(two, ERR));
    do_next(one, "c");
    assert_no_key(f->client, queue);
    expect_status(HF_OK, hf_queue_pause(f->client, queue, true, ERR));
    expect_status(HF_OK, hf_queue_pause(f->client, queue, false, ERR));
    assert_no_key(f->client, queue);
}
