/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_admin_test.c - what is done with a queue as a whole: listing, pausing,
 * moving dead letters back, putting in a transaction; what its key is to
 * others.
 */
#include "holdfast/command.h"
#include "holdfast/key.h"
#include "holdfast/queue.h"
#include "holdfast/txn.h"
#include "holdfast/value.h"
#include "support/queue_work.h"
#include "support/slowness.h"
#include "support/store_fixture.h"
#include "support/told.h"

FIXTURE_TESTS();

/* When a waiter looks again, by itself, after it began to wait. */
#define POLL_MS 1000

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

/* 17 jobs of 1 MiB: the first 16, and one is left. */
TEST(queue_lists_so_many_bytes_at_a_time)
{
    static char large[HF_QUEUE_PAYLOAD_MAX];
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_queue_jobs jobs = HF_QUEUE_JOBS_INIT;

    for (int i = 0; i < 17; i++)
        expect_status(HF_OK,
                      hf_queue_put(f->client, queue, bytes(""),
                                   hf_view(large, sizeof(large)), NULL, ERR));
    expect_status(HF_OK, hf_queue_list(f->client, queue, HF_QUEUE_READY, 0,
                                       HF_QUEUE_LIST_MAX, &jobs, ERR));
    assert_int_equal(jobs.count, 16);
    hf_queue_jobs_free(&jobs);
    expect_status(HF_OK, hf_queue_list(f->client, queue, HF_QUEUE_READY, 16,
                                       HF_QUEUE_LIST_MAX, &jobs, ERR));
    assert_int_equal(jobs.count, 1);
    hf_queue_jobs_free(&jobs);
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

/* -------------------------------------------------------------------- drop */

static hf_status drop_job(fixture *f, hf_bytes queue, const char *id)
{
    return hf_queue_drop(f->client, queue, hf_str(id), ERR);
}

TEST(queue_drops_a_job_that_no_one_has)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_lock *lock = worker(f, queue);
    hf_queue_options opts = HF_QUEUE_OPTIONS_INIT;

    expect_status(HF_NOT_FOUND, drop_job(f, queue, "a"));
    assert_no_key(f->client, queue);
    put(f, queue, "dead");
    take(lock, "dead");
    expect_status(HF_OK, hf_queue_fail(lock, ERR));
    opts.remember_ms = 600000;
    put_with(f, queue, "done", &opts);
    do_next(lock, "done");
    put(f, queue, "taken");
    take(lock, "taken");
    put_with(f, queue, "ready", &opts);
    opts.delay_ms = 600000;
    put_with(f, queue, "delayed", &opts);
    assert_counts(f, queue, 1, 1, 1, 0, 1);
    expect_status(HF_NOT_FOUND, drop_job(f, queue, "none"));
    expect_status(HF_NOT_FOUND, drop_job(f, queue, "done"));
    expect_status(HF_HELD, drop_job(f, queue, "taken"));
    expect_status(HF_INVALID, drop_job(f, queue, ""));
    assert_counts(f, queue, 1, 1, 1, 0, 1);
    expect_status(HF_OK, drop_job(f, queue, "ready"));
    expect_status(HF_OK, drop_job(f, queue, "delayed"));
    expect_status(HF_OK, drop_job(f, queue, "dead"));
    assert_counts(f, queue, 0, 1, 0, 0, 0);
    assert_int_equal(info_of(f, queue).remembered, 1);
    put(f, queue, "ready"); /* the id is free again */
    expect_status(HF_OK, hf_queue_done(lock, ERR));
    do_next(lock, "ready");
    expect_status(HF_HELD, hf_lock_try(lock, ERR));
}

TEST(queue_whose_last_job_is_dropped_is_gone)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");

    put(f, queue, "a");
    expect_status(HF_OK, drop_job(f, queue, "a"));
    assert_no_key(f->client, queue);
    expect_status(HF_OK,
                  hf_value_set(f->client, queue, bytes("x"), NULL, NULL, ERR));
    expect_status(HF_WRONG_TYPE, drop_job(f, queue, "a"));
}

/* A lease that has ended is no one's. */
TEST(queue_drops_a_job_whose_lease_has_ended)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_lock *lock = worker_for(f, f->client, queue, 50);

    put(f, queue, "a");
    take(lock, "a");
    expect_soon(info_of(f, queue).ready == 1, 5000);
    expect_status(HF_OK, drop_job(f, queue, "a"));
    expect_status(HF_EXPIRED, hf_queue_done(lock, ERR));
    assert_no_key(f->client, queue);
}

/* Every choice of what is dropped of a group of four, before or after the first
 * is taken: the others come in their order, and then one that is put. */
TEST(queue_drops_any_job_of_a_group)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_lock *lock = worker(f, queue);
    hf_queue_options opts = HF_QUEUE_OPTIONS_INIT;
    static const char *const ids[] = {"a", "b", "c", "d"};

    opts.group = bytes("g");
    for (unsigned choice = 0; choice < 32; choice++) {
        bool taken = (choice & 16) != 0;
        int behind = 4; /* of five one is not */

        for (int i = 0; i < 4; i++)
            put_with(f, queue, ids[i], &opts);
        if (taken)
            take(lock, "a");
        for (int i = 3; i >= 0; i--) {
            bool held = taken && i == 0;

            if ((choice & 1u << i) == 0)
                continue;
            expect_status(held ? HF_HELD : HF_OK, drop_job(f, queue, ids[i]));
            behind -= held ? 0 : 1;
        }
        put_with(f, queue, "e", &opts);
        assert_counts(f, queue, taken ? 0 : 1, taken ? 1 : 0, 0, behind, 0);
        if (taken)
            expect_status(HF_OK, hf_queue_done(lock, ERR));
        for (int i = taken ? 1 : 0; i < 4; i++) {
            if ((choice & 1u << i) == 0)
                do_next(lock, ids[i]);
        }
        do_next(lock, "e");
        assert_no_key(f->client, queue);
    }
}

/* The next of its group is given to one that waits. */
TEST(queue_gives_what_a_drop_makes_ready_to_a_waiter)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_lock *lock = worker(f, queue);
    hf_queue_options opts = HF_QUEUE_OPTIONS_INIT;
    told said = {0};
    int64_t began_ms;

    opts.group = bytes("g");
    opts.delay_ms = 600000;
    put_with(f, queue, "a", &opts);
    opts.delay_ms = 0;
    put_with(f, queue, "b", &opts);
    queue_up(f, queue, f->other, lock, &said, 1);
    began_ms = test_now_ms();
    expect_status(HF_OK, drop_job(f, queue, "a"));
    await_told(f->other, &said, 1);
    assert_woken(test_now_ms() - began_ms, POLL_MS);
    expect_job(lock, "b");
    expect_status(HF_OK, hf_queue_done(lock, ERR));
}

TEST(queue_drop_may_be_part_of_a_transaction)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_async async = HF_ASYNC_INIT;

    if (f->rights != FIXTURE_RIGHTS_ALL)
        skip();
    put(f, queue, "a");
    put(f, queue, "b");
    expect_status(HF_OK, hf_txn_new(f->client, NULL, &async.txn, ERR));
    expect_status(
        HF_OK, hf_queue_drop_start(f->client, queue, bytes("a"), &async, ERR));
    expect_status(HF_OK, hf_queue_put_start(f->client, queue, bytes("c"),
                                            bytes("c"), NULL, &async, ERR));
    expect_status(HF_OK, hf_txn_exec(async.txn, ERR));
    hf_txn_free(async.txn);
    do_next(worker(f, queue), "b");
    do_next(worker(f, queue), "c");
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

/* ------------------------------------------------------------ transactions */

/* A transaction that puts "a", and counts it under `count`. */
static hf_async begin_put(fixture *f, hf_bytes queue, hf_bytes count)
{
    hf_async async = HF_ASYNC_INIT;

    expect_status(HF_OK, hf_txn_new(f->client, NULL, &async.txn, ERR));
    expect_status(HF_OK, hf_queue_put_start(f->client, queue, bytes("a"),
                                            bytes("p"), NULL, &async, ERR));
    expect_status(HF_OK, hf_value_append_start(f->client, count, bytes("1"),
                                               NULL, &async, ERR));
    return async;
}

TEST(queue_is_put_to_with_other_writes_or_not_at_all)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "{t}q"), count = fixture_key(f, "{t}n");
    hf_bytes list[] = {bytes("LPUSH"), count, bytes("x")};
    hf_lock *lock = worker(f, queue);
    hf_async txn;
    told said = {0};

    if (f->rights != FIXTURE_RIGHTS_ALL)
        skip(); /* an undo needs more */
    txn = begin_put(f, queue, count);
    expect_status(HF_HELD, hf_lock_try(lock, ERR));
    expect_status(HF_OK, hf_txn_exec(txn.txn, ERR));
    expect_status(HF_OK, hf_txn_status(txn.txn, 0, ERR));
    hf_txn_free(txn.txn);
    assert_value(f->client, count, bytes("1"));
    take(lock, "a");
    txn = begin_put(f, queue, count); /* that id is in the queue */
    expect_status(HF_OK, hf_txn_exec(txn.txn, ERR));
    expect_status(HF_CONFLICT, hf_txn_status(txn.txn, 0, ERR));
    hf_txn_free(txn.txn);
    expect_status(HF_OK, hf_queue_done(lock, ERR));
    /* The last operation fails: the put is undone, as if nothing had been. */
    txn = begin_put(f, queue, count);
    expect_status(HF_OK, hf_command_start(f->client, 3, list, NULL, &txn, ERR));
    assert_int_not_equal(hf_txn_exec(txn.txn, ERR), HF_OK);
    hf_txn_free(txn.txn);
    assert_value(f->client, count, bytes("11"));
    assert_no_key(f->client, queue);
    /* A waiter gets what a transaction puts. */
    queue_up(f, queue, f->other, lock, &said, 1);
    txn = begin_put(f, queue, count);
    expect_status(HF_OK, hf_txn_exec(txn.txn, ERR));
    hf_txn_free(txn.txn);
    await_told(f->other, &said, 1);
    expect_job(lock, "a");
    expect_status(HF_OK, hf_queue_done(lock, ERR));
}

/* -------------------------------------------------------------- other calls */

TEST(queue_is_no_other_set_that_has_a_star)
{
    fixture *f = *state;
    static const char *const scores[] = {"1", "8e15", "9.0005e15", "1e16",
                                         "inf"};

    for (size_t i = 0; i < sizeof(scores) / sizeof(scores[0]); i++) {
        hf_bytes key = fixture_key(f, scores[i]);
        hf_bytes add[] = {bytes("ZADD"), key, hf_str(scores[i]), bytes("*")};
        hf_buffer type = HF_BUFFER_INIT;
        hf_reply *reply = NULL;

        if (hf_command(f->client, 4, add, &reply, NULL) == HF_DENIED)
            skip();
        hf_reply_free(reply);
        expect_status(HF_OK, hf_key_type(f->client, key, &type, ERR));
        assert_buffer(&type, bytes("zset"));
        hf_buffer_free(&type);
        expect_status(HF_WRONG_TYPE,
                      hf_queue_put(f->client, key, key, key, NULL, ERR));
        expect_status(HF_WRONG_TYPE, hf_lock_try(worker(f, key), ERR));
    }
}

TEST(queue_is_held_by_no_one_though_its_jobs_are)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_lock *lock = worker(f, queue);
    hf_lock_info info = HF_LOCK_INFO_INIT;
    hf_buffer type = HF_BUFFER_INIT;

    put(f, queue, "a");
    take(lock, "a");
    for (int i = 0; i < 2; i++) {
        expect_status(HF_OK, hf_key_type(f->client, queue, &type, ERR));
        assert_buffer(&type, bytes("queue"));
        expect_status(HF_WRONG_TYPE,
                      hf_lock_inspect(f->client, queue, &info, ERR));
        expect_status(HF_WRONG_TYPE, hf_lock_break(f->client, queue, ERR));
        expect_status(HF_OK, hf_queue_pause(f->client, queue, true, ERR));
    }
    hf_buffer_free(&type);
    assert_true(hf_lock_is_held(lock));
    expect_status(HF_OK, hf_value_set(f->client, queue, bytes("v"), NULL, NULL,
                                      ERR)); /* no lease is in the way */
    expect_status(HF_OK, hf_key_delete(f->client, queue, ERR));
}
