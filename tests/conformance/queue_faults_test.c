/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_faults_test.c - work queues of which something was lost or is full:
 * dead waiters, one of the two keys, replies. Nothing is given twice, and
 * nothing that was put is lost with it.
 */
#include <stdio.h>

#include "holdfast/command.h"
#include "holdfast/key.h"
#include "holdfast/queue.h"
#include "holdfast/semaphore.h"
#include "support/byte_proxy.h"
#include "support/queue_work.h"
#include "support/slowness.h"
#include "support/store_fixture.h"
#include "support/told.h"

FIXTURE_TESTS();

/* Waiters that one call skips. */
#define SKIPPED 128

/* `hf:KIND:{NAME}`. */
static hf_bytes own_key(char text[128], const char *kind, hf_bytes name)
{
    int size = snprintf(text, 128, "hf:%s:{%.*s}", kind, (int)name.size,
                        (const char *)name.data);

    return hf_view(text, (size_t)size);
}

/* What no worker would write. */
static void need_all_rights(const fixture *f)
{
    if (f->rights != FIXTURE_RIGHTS_ALL)
        skip();
}

/* ----------------------------------------------------------------- waiters */

/* Entries of workers that were killed: they began to wait before all others. */
static void add_dead_waiters(fixture *f, hf_bytes queue, int count)
{
    char text[128], score[16], entry[80];
    hf_bytes add[] = {bytes("ZADD"), own_key(text, "wait", queue), bytes(""),
                      bytes("")};

    for (int i = 1; i <= count; i++) {
        (void)snprintf(score, sizeof(score), "%d", i);
        (void)snprintf(entry, sizeof(entry), "30000 hf:inbox:%016x-%015x", i,
                       i);
        add[2] = hf_str(score);
        add[3] = hf_str(entry);
        expect_status(HF_OK, hf_command(f->client, 4, add, NULL, ERR));
    }
}

/* It is given one behind dead waiters, and its own entry is behind these. */
TEST(queue_gives_an_owner_one_job)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_lock *lock = worker_for(f, f->client, queue, 0);
    hf_queue_options opts = HF_QUEUE_OPTIONS_INIT;
    told said = {0};

    need_all_rights(f);
    opts.delay_ms = slowed_ms(300);
    put_with(f, queue, "a", &opts);
    queue_up(f, queue, f->client, lock, &said, 1);
    add_dead_waiters(f, queue, SKIPPED + 10);
    await_told(f->client, &said, 1);
    expect_job(lock, "a");
    put(f, queue, "b");
    put(f, queue, "c");
    assert_counts(f, queue, 2, 1, 0, 0, 0);
    do_next(worker(f, queue), "b");
    expect_status(HF_OK, hf_queue_done(lock, ERR));
    do_next(worker(f, queue), "c");
    assert_no_key(f->client, queue);
}

/* ------------------------------------------------------------- other kinds */

/* Its leases that have ended are jobs. */
TEST(queue_with_an_expiry_is_no_semaphore)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_semaphore_info info = HF_SEMAPHORE_INFO_INIT;
    hf_lock *permit = NULL;

    put(f, queue, "a");
    take(worker_for(f, f->client, queue, slowed_ms(100)), "a");
    expect_status(HF_OK, hf_key_expire(f->client, queue, 600000, ERR));
    expect_soon(info_of(f, queue).ready == 1, 5000);
    expect_status(HF_OK,
                  hf_semaphore_new(f->client, queue, 100, NULL, &permit, ERR));
    expect_status(HF_WRONG_TYPE,
                  hf_lock_try(fixture_keep_lock(f, permit), ERR));
    expect_status(HF_WRONG_TYPE,
                  hf_semaphore_inspect(f->client, queue, 100, &info, ERR));
    do_next(worker(f, queue), "a");
}

TEST(queue_keeps_its_expiry_when_a_lease_is_renewed)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    hf_lock *lock = NULL;
    int64_t ttl_ms = 0;

    opts.ttl_ms = 60000;
    put(f, queue, "a");
    expect_status(HF_OK, hf_queue_new(f->client, queue, &opts, &lock, ERR));
    take(fixture_keep_lock(f, lock), "a");
    expect_status(HF_OK, hf_key_expire(f->client, queue, 30000, ERR));
    expect_status(HF_OK, hf_lock_renew(lock, ERR));
    expect_status(HF_OK, hf_key_ttl(f->client, queue, &ttl_ms, ERR));
    assert_in_range(ttl_ms, 1, 30000);
    expect_status(HF_OK, hf_queue_done(lock, ERR));
}

/* A worker that waits, while another client has a lock of the queue's name. */
static hf_lock *wait_under_lock(fixture *f, hf_bytes queue, told *said,
                                hf_lock **other)
{
    hf_lock *lock = worker_for(f, f->client, queue, 0);

    *other = fixture_lock(f, f->other, queue, NULL);
    queue_up(f, queue, f->client, lock, said, 1);
    expect_status(HF_OK, hf_lock_try(*other, ERR));
    return lock;
}

/* Its wait queue is that of a lock of the same name, which is released with a
 * worker at its head. The worker finds a lock there, or no job. */
TEST(queue_worker_is_given_no_lock)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    told said = {0};
    hf_lock *other;
    hf_lock *lock = wait_under_lock(f, queue, &said, &other);

    expect_status(HF_OK, hf_lock_release(other, ERR));
    expect_throughout((dispatch(f->client), !hf_lock_is_held(lock)), 1500);
    if (said.count > 0)
        assert_int_equal(said.status, HF_WRONG_TYPE);
    put(f, queue, "a");
    if (said.count == 0)
        await_told(f->client, &said, 1);
    else
        take(lock, "a");
    expect_job(lock, "a");
    expect_status(HF_OK, hf_queue_done(lock, ERR));
}

/* What it waited for is of another kind now: no job is kept for it. */
TEST(queue_worker_that_fails_leaves_the_line)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    told said = {0};
    hf_lock *other;
    hf_lock *lock = wait_under_lock(f, queue, &said, &other);

    await_told(f->client, &said, 1);
    assert_int_equal(said.status, HF_WRONG_TYPE);
    expect_status(HF_OK, hf_lock_release(other, ERR));
    put(f, queue, "a");
    do_next(lock, "a");
}

/* ------------------------------------------------------------- lost parts */

static void drop(fixture *f, const char *name, hf_bytes key, const char *field)
{
    hf_bytes words[] = {hf_str(name), key, hf_str(field)};

    expect_status(HF_OK, hf_command(f->client, field[0] == '\0' ? 2 : 3, words,
                                    NULL, ERR));
}

/* The hash alone would refuse the id, and hold up the group. */
TEST(queue_forgets_what_its_lost_set_had)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_queue_options opts = HF_QUEUE_OPTIONS_INIT;

    need_all_rights(f);
    opts.group = bytes("g");
    put_with(f, queue, "a", &opts);
    put_with(f, queue, "b", &opts);
    drop(f, "DEL", queue, "");
    put_with(f, queue, "b", &opts);
    do_next(worker(f, queue), "b");
    put_with(f, queue, "a", &opts);
    do_next(worker(f, queue), "a");
    assert_no_key(f->client, queue);
}

/* A worker that had a job of it has none any more. */
TEST(queue_begins_again_after_its_set_is_lost)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_queue_options opts = HF_QUEUE_OPTIONS_INIT;
    hf_lock *lock = worker(f, queue);

    opts.remember_ms = 600000;
    for (int i = 0; i < 4; i++) {
        put_with(f, queue, "a", &opts);
        take(lock, "a");
        drop(f, "DEL", queue, "");
        expect_status(HF_EXPIRED, i == 0   ? hf_queue_done(lock, ERR)
                                  : i == 1 ? hf_queue_fail(lock, ERR)
                                  : i == 2 ? hf_queue_again(lock, 0, ERR)
                                           : hf_lock_release(lock, ERR));
        put(f, queue, "a");
        do_next(lock, "a");
        assert_no_key(f->client, queue);
    }
}

TEST(queue_drops_jobs_whose_state_is_lost)
{
    fixture *f = *state;
    char text[128];
    hf_bytes queue = fixture_key(f, "q");
    hf_bytes items = own_key(text, "items", queue);
    hf_lock *lock = worker_for(f, f->client, queue, slowed_ms(100));

    need_all_rights(f);
    put(f, queue, "a");
    put(f, queue, "b");
    drop(f, "HDEL", items, "=a");
    take(lock, "b");
    drop(f, "HDEL", items, "=b");
    expect_soon(info_of(f, queue).taken == 0, 5000);
    put(f, queue, "c");
    assert_counts(f, queue, 1, 0, 0, 0, 0);
    do_next(worker(f, queue), "c");
}

/* Before all that were put. */
static void add_job(fixture *f, hf_bytes queue, size_t id_size,
                    size_t group_size)
{
    char text[128], member[HF_QUEUE_ID_MAX + 3];
    char job_state[HF_QUEUE_ID_MAX + 32] = "0 0 0 1 0 0 ";
    hf_bytes ready[] = {bytes("ZADD"), queue, bytes("7000000000000000"),
                        hf_view(member, 1 + id_size)};
    hf_bytes known[] = {bytes("HSET"), own_key(text, "items", queue),
                        hf_view(member, 1 + id_size), bytes("")};

    memset(member, 'x', sizeof(member));
    memset(job_state + strlen(job_state), 'g', group_size);
    known[3] = hf_str(job_state);
    member[0] = ':';
    expect_status(HF_OK, hf_command(f->client, 4, ready, NULL, ERR));
    member[0] = '=';
    expect_status(HF_OK, hf_command(f->client, 4, known, NULL, ERR));
}

TEST(queue_drops_jobs_that_no_put_writes)
{
    static const struct {
        size_t id_size, group_size;
    } sizes[] = {{HF_QUEUE_ID_MAX + 1, 0}, {1, HF_QUEUE_ID_MAX + 1}, {0, 0}};
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_lock *lock = worker(f, queue);

    need_all_rights(f);
    for (size_t i = 0; i < 3; i++) {
        put(f, queue, "a");
        add_job(f, queue, sizes[i].id_size, sizes[i].group_size);
        take(lock, "a");
        assert_counts(f, queue, 0, 1, 0, 0, 0);
        expect_status(HF_OK, hf_queue_done(lock, ERR));
        assert_no_key(f->client, queue);
        put(f, queue, "a");
        add_job(f, queue, HF_QUEUE_ID_MAX, HF_QUEUE_ID_MAX);
        expect_status(HF_OK, hf_lock_try(lock, ERR));
        expect_status(HF_OK, hf_queue_done(lock, ERR));
        do_next(lock, "a");
        assert_no_key(f->client, queue);
    }
}

/* ------------------------------------------------------------------- time */

/* More ids than one call forgets. */
TEST(queue_takes_an_id_when_its_time_has_passed)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_lock *lock = worker(f, queue);
    hf_queue_options opts = HF_QUEUE_OPTIONS_INIT;
    char id[16] = "";

    opts.remember_ms = slowed_ms(2000);
    put(f, queue, "stays");
    take(worker_for(f, f->client, queue, 60000), "stays");
    for (int i = 0; i < SKIPPED + 10; i++) {
        (void)snprintf(id, sizeof(id), "%d", i);
        put_with(f, queue, id, &opts);
        do_next(lock, id);
    }
    expect_status(HF_CONFLICT, hf_queue_put(f->client, queue, hf_str(id),
                                            hf_str(id), NULL, ERR));
    expect_soon(info_of(f, queue).remembered == 0, 20000);
    put(f, queue, id);
    do_next(lock, id);
}

/* ---------------------------------------------------------------- replies */

/* The first request did not arrive, and the lease ended before the second. */
TEST(queue_end_that_comes_too_late_is_not_ok)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_client_options opts = HF_CLIENT_OPTIONS_INIT;
    hf_lock *next = worker(f, queue), *lock;
    told said = {0};
    hf_async ends = tell(&said);
    byte_proxy *proxy;
    hf_client *client;

    if ((f->store != FIXTURE_REDIS_UNIX && f->store != FIXTURE_REDIS_TCP) ||
        f->rights != FIXTURE_RIGHTS_ALL)
        skip();
    proxy = byte_proxy_start(redis_server_socket_path(f->server));
    assert_non_null(proxy);
    client = fixture_client_at(f, byte_proxy_unix_url(proxy), &opts);
    lock = worker_for(f, client, queue, slowed_ms(500));
    put(f, queue, "a");
    expect_told(HF_OK, client, hf_lock_acquire_start(lock, 0, &async, ERR));
    byte_proxy_swallow(proxy, TO_SERVER);
    expect_status(HF_OK, hf_queue_done_start(lock, &ends, ERR));
    expect_soon(hf_lock_try(next, ERR) == HF_OK, 10000);
    byte_proxy_heal(proxy);
    byte_proxy_break(proxy, BYTE_END_CLOSE);
    await_told(client, &said, 1);
    assert_int_equal(said.status, HF_INDETERMINATE);
    expect_status(HF_OK, hf_queue_done(next, ERR));
    fixture_close_client(f, client);
    byte_proxy_stop(proxy);
}
