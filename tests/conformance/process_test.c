/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_test.c - several processes on one store: exclusion, hand-over, and
 * what kill -9 leaves. The other processes are process_worker.c, whose path the
 * build passes in PROCESS_WORKER.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "holdfast/queue.h"
#include "holdfast/together.h"
#include "holdfast/value.h"
#include "support/child_process.h"
#include "support/slowness.h"
#include "support/store_fixture.h"

#define PROCESSES 4
#define ROUNDS 25

/* Time for a process to start, under sanitizers on a busy machine. */
#define START_MS 20000

/* For a wake-up; a poll, which would hide a lost one, comes only after a
 * second. */
#define WOKEN_MS 300

static child_process children[PROCESSES];

static void start(size_t i, fixture *f, const char *verb, hf_bytes lock,
                  const char *word, const char *last)
{
    const char *argv[] = {PROCESS_WORKER, f->url, verb, lock.data,
                          word,           last,   NULL};

    assert_true(child_start(&children[i], argv));
}

/* Wait for "held TOKEN INSTANT". */
static uint64_t held(size_t i, int64_t limit_ms, int64_t *at_ms)
{
    char line[CHILD_LINE_SIZE];
    unsigned long long token = 0;
    long long instant_ms = 0;

    assert_true(child_line(&children[i], line, limit_ms));
    assert_int_equal(sscanf(line, "held %llu %lld", &token, &instant_ms), 2);
    if (at_ms != NULL) {
        *at_ms = instant_ms;
    }
    return token;
}

static int64_t waiting(fixture *f, hf_bytes name)
{
    hf_lock_info info = HF_LOCK_INFO_INIT;
    hf_status status = hf_lock_inspect(f->client, name, &info, NULL);

    return status == HF_OK || status == HF_NOT_FOUND ? info.waiters : 0;
}

/* Children of a test that failed must not survive it. */
static int close_processes(void **state)
{
    for (size_t i = 0; i < PROCESSES; i++) {
        child_kill(&children[i]);
    }
    return fixture_close(state);
}

EACH_TEST_WITH(fixture_open, close_processes);
ALL_TESTS_WITH(fixture_start, fixture_stop);

static int by_token(const void *a, const void *b)
{
    const uint64_t *x = a;
    const uint64_t *y = b;

    return *x < *y ? -1 : *x > *y;
}

/* A counter that is read and written in two calls stays exact, and no two
 * rounds had the same token. */
TEST(processes_exclude_one_another)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_bytes key = fixture_key(f, "n");
    static uint64_t tokens[PROCESSES * ROUNDS];
    char total[16];

    put_value(f->client, key, bytes("0"), 0);
    for (size_t i = 0; i < PROCESSES; i++) {
        start(i, f, "count", name, key.data, "25");
    }
    for (size_t i = 0; i < PROCESSES * ROUNDS; i++) {
        tokens[i] = held(i / ROUNDS, START_MS, NULL);
        assert_true(i % ROUNDS == 0 || tokens[i] > tokens[i - 1]);
    }
    for (size_t i = 0; i < PROCESSES; i++) {
        assert_int_equal(child_end(&children[i], START_MS), 0);
    }
    (void)snprintf(total, sizeof(total), "%d", PROCESSES * ROUNDS);
    assert_value(f->client, key, hf_str(total));
    qsort(tokens, PROCESSES * ROUNDS, sizeof(tokens[0]), by_token);
    for (size_t i = 1; i < PROCESSES * ROUNDS; i++) {
        assert_true(tokens[i] > tokens[i - 1]);
    }
}

TEST(killed_holder_frees_the_lock_by_its_lease)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *lock = fixture_lock(f, f->client, name, NULL);
    int64_t ttl_ms = slowed_ms(400);
    int64_t killed_ms;
    uint64_t token;
    char ttl[16];

    (void)snprintf(ttl, sizeof(ttl), "%d", (int)ttl_ms);
    start(0, f, "hold", name, ttl, NULL);
    token = held(0, START_MS, NULL);
    expect_throughout(hf_lock_try(lock, NULL) == HF_HELD, ttl_ms * 3 / 2);
    child_kill(&children[0]);
    killed_ms = test_now_ms();
    expect_status(HF_OK, hf_lock_acquire(lock, ttl_ms + 10000, ERR));
    assert_in_time(test_now_ms() - killed_ms, ttl_ms + WOKEN_MS);
    assert_true(hf_lock_token(lock) > token);
}

/* Before what was put later, and as often as it was taken. */
TEST(job_of_a_killed_worker_comes_back_by_its_lease)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_lock *lock = NULL;
    hf_job job = HF_JOB_INIT;
    int64_t ttl_ms = slowed_ms(400), killed_ms;
    char ttl[16];

    fixture_not_quorum(f);
    expect_status(HF_OK, hf_queue_new(f->client, queue, NULL, &lock, ERR));
    lock = fixture_keep_lock(f, lock);
    for (const char *id = "ab"; *id != '\0'; id++)
        expect_status(HF_OK, hf_queue_put(f->client, queue, hf_view(id, 1),
                                          bytes("p"), NULL, ERR));
    (void)snprintf(ttl, sizeof(ttl), "%d", (int)ttl_ms);
    {
        const char *argv[] = {PROCESS_WORKER, f->url, "lease", queue.data,
                              "job",          "key",  ttl,     NULL};

        assert_true(child_start(&children[0], argv));
    }
    (void)held(0, START_MS, NULL);
    expect_throughout(hf_queue_put(f->client, queue, bytes("a"), bytes("p"),
                                   NULL, NULL) == HF_CONFLICT,
                      ttl_ms * 3 / 2); /* it renews its lease */
    child_kill(&children[0]);
    killed_ms = test_now_ms();
    expect_soon((expect_status(HF_OK, hf_lock_try(lock, ERR)),
                 expect_status(HF_OK, hf_queue_job(lock, &job, ERR)),
                 expect_status(HF_OK, hf_lock_release(lock, ERR)),
                 job.attempt == 2),
                ttl_ms + 10000);
    assert_in_time(test_now_ms() - killed_ms, ttl_ms + WOKEN_MS);
    expect_status(HF_OK, hf_lock_try(lock, ERR));
    expect_status(HF_OK, hf_queue_job(lock, &job, ERR));
    assert_string_equal(job.id.data, "a");
    expect_status(HF_OK, hf_queue_done(lock, ERR));
}

TEST(waiter_in_another_process_is_woken)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *lock = fixture_lock(f, f->client, name, NULL);
    int64_t released_ms;
    int64_t held_ms;

    for (size_t i = 0; i < 3; i++) {
        expect_status(HF_OK, hf_lock_try(lock, ERR));
        start(0, f, "wait", name, "20000", NULL);
        expect_soon(waiting(f, name) == 1, START_MS);
        released_ms = test_now_ms();
        expect_status(HF_OK, hf_lock_release(lock, ERR));
        assert_true(held(0, 10000, &held_ms) > hf_lock_token(lock));
        assert_in_time(held_ms - released_ms, WOKEN_MS);
        assert_int_equal(child_end(&children[0], 10000), 0);
    }
}

/* The reverse: we wait, and another process releases. */
TEST(release_in_another_process_wakes_us)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *lock = fixture_lock(f, f->client, name, NULL);
    uint64_t token;
    int64_t told_ms;

    start(0, f, "hold", name, "30000", NULL);
    token = held(0, START_MS, NULL);
    expect_status(HF_TIMEOUT, hf_lock_acquire(lock, 30, ERR));
    told_ms = test_now_ms();
    assert_true(child_tell(&children[0], "release"));
    expect_status(HF_OK, hf_lock_acquire(lock, 10000, ERR));
    assert_in_time(test_now_ms() - told_ms, WOKEN_MS);
    assert_true(hf_lock_token(lock) > token);
    assert_int_equal(child_end(&children[0], 10000), 0);
}

/* The longest waiter is dead: the next one must be woken. A server that has not
 * yet seen the dead one's connection close counts it as a subscriber, and then
 * only a poll wakes the next one; that is not tested here, so the server gets a
 * moment. */
TEST(killed_waiter_does_not_swallow_the_wake_up)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *lock = fixture_lock(f, f->client, name, NULL);
    int64_t released_ms;
    int64_t held_ms;

    expect_status(HF_OK, hf_lock_try(lock, ERR));
    start(0, f, "wait", name, "20000", NULL);
    expect_soon(waiting(f, name) == 1, START_MS);
    start(1, f, "wait", name, "20000", NULL);
    expect_soon(waiting(f, name) == 2, START_MS);
    child_kill(&children[0]);
    expect_throughout(hf_lock_is_held(lock), 50);
    released_ms = test_now_ms();
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    (void)held(1, 10000, &held_ms);
    assert_in_time(held_ms - released_ms, WOKEN_MS);
    assert_int_equal(child_end(&children[1], 10000), 0);
}

/* A write by us is what a read finds. */
static bool still_works(fixture *f, hf_bytes key)
{
    hf_buffer value = HF_BUFFER_INIT;
    bool same;

    put_value(f->client, key, bytes("still works"), 0);
    same = hf_value_get(f->client, key, &value, ERR) == HF_OK &&
           strcmp(value.data, "still works") == 0;
    hf_buffer_free(&value);
    return same;
}

/* kill -9 in the middle of the work: the store works for the others, and the
 * lock is free when the dead holder's lease is over. What one had sent may
 * reach the server when it is dead, behind a write of ours. */
TEST(killed_workers_do_not_block_the_others)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_bytes key = fixture_key(f, "n");
    hf_lock *lock = fixture_lock(f, f->client, name, NULL);

    for (int round = 0; round < 3; round++) {
        put_value(f->client, key, bytes("0"), 0);
        for (size_t i = 0; i < PROCESSES; i++) {
            start(i, f, "churn", name, key.data, "1000000");
            (void)held(i, START_MS, NULL);
        }
        for (size_t i = 0; i < PROCESSES; i++) {
            child_kill(&children[i]);
            put_value(f->client, key, bytes("still works"), 0);
        }
        expect_soon(still_works(f, key), 1000);
        expect_soon(hf_lock_break(f->client, name, NULL) == HF_NOT_FOUND, 1000);
        expect_status(HF_OK, hf_lock_acquire(lock, 5000, ERR));
        expect_status(HF_OK, hf_lock_release(lock, ERR));
    }
}

/* Processes that acquire the same locks together, in opposite orders: each gets
 * its turn. Killed in the middle, they leave nothing that outlives its lease.
 */
TEST(killed_in_the_middle_of_several_locks)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    int64_t ttl_ms = slowed_ms(500), killed_ms;
    hf_lock *locks[4];
    hf_status statuses[4];
    char text[64], ttl[24];

    (void)snprintf(ttl, sizeof(ttl), "%lld", (long long)ttl_ms);
    for (int i = 0; i < 4; i++) {
        (void)snprintf(text, sizeof(text), "%s%d", (const char *)name.data,
                       i + 1);
        locks[i] = fixture_lock(f, f->client, hf_str(text), NULL);
    }
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < PROCESSES; i++)
            start(i, f, "together", name, i % 2 == 0 ? "up" : "down", ttl);
        for (size_t i = 0; i < PROCESSES; i++)
            (void)held(i, START_MS, NULL);
        for (size_t i = 0; i < PROCESSES; i++)
            child_kill(&children[i]);
        killed_ms = test_now_ms();
        expect_status(HF_OK, hf_lock_acquire_all(locks, 4, 60000, ERR));
        assert_in_time(test_now_ms() - killed_ms, ttl_ms + 1000);
        expect_status(HF_OK, hf_lock_release_many(locks, 4, statuses, ERR));
    }
}
