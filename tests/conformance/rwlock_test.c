/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rwlock_test.c - readers and writers: who excludes whom, the order of waiters,
 * expiry of one reader among several, upgrade and downgrade. Random calls are
 * in lease_model_test.c.
 */
#include <stdio.h>

#include <poll.h>

#include "holdfast/command.h"
#include "holdfast/key.h"
#include "holdfast/rwlock.h"
#include "support/slowness.h"
#include "support/store_fixture.h"
#include "support/told.h"

FIXTURE_TESTS();

/* How long a hand-over may take; the library polls, which would hide a lost
 * one, only after a second. */
#define WOKEN_MS 700

typedef struct pair {
    hf_lock *read;
    hf_lock *write;
} pair;

static pair pair_of(fixture *f, hf_client *client, hf_bytes name,
                    uint32_t flags, const hf_lock_options *opts)
{
    pair made = {NULL, NULL};

    expect_status(HF_OK, hf_rwlock_new(client, name, flags, opts, &made.read,
                                       &made.write, ERR));
    fixture_keep_lock(f, made.read);
    fixture_keep_lock(f, made.write);
    return made;
}

/* With a lease that is not renewed. */
static pair brief_pair(fixture *f, hf_client *client, hf_bytes name,
                       int64_t ttl_ms)
{
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;

    opts.ttl_ms = ttl_ms;
    opts.flags = HF_LOCK_NO_RENEW;
    return pair_of(f, client, name, 0, &opts);
}

/* Pairs of the two clients and of a third, which is returned; `flags` are those
 * of the last. */
static hf_client *three_pairs(fixture *f, hf_bytes name, uint32_t flags,
                              pair *first, pair *second, pair *last)
{
    hf_client *third = fixture_client(f, NULL);

    *first = pair_of(f, f->client, name, 0, NULL);
    *second = pair_of(f, f->other, name, 0, NULL);
    *last = pair_of(f, third, name, flags, NULL);
    return third;
}

static int64_t waiters_of(fixture *f, hf_bytes name)
{
    hf_lock_info info = HF_LOCK_INFO_INIT;
    hf_status status = hf_lock_inspect(f->client, name, &info, ERR);

    assert_true(status == HF_OK || status == HF_NOT_FOUND);
    return info.waiters;
}

/* Start to acquire, and wait until the queue has so many. */
static void queue_up(fixture *f, hf_bytes name, hf_client *client,
                     hf_lock *lock, told *said, int64_t waiters)
{
    hf_async async = tell(said);

    expect_status(HF_OK, hf_lock_acquire_start(lock, HF_FOREVER, &async, ERR));
    expect_soon((dispatch(client), waiters_of(f, name) == waiters), 5000);
    assert_int_equal(said->count, 0);
}

/* Take it, and have it broken by another client. */
static void acquire_and_break(fixture *f, hf_lock *lock, hf_bytes name)
{
    expect_status(HF_OK, hf_lock_try(lock, ERR));
    expect_status(HF_OK, hf_lock_break(f->other, name, ERR));
}

TEST(rwlock_readers_share_and_exclude_writers)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "rw");
    pair one = pair_of(f, f->client, name, 0, NULL);
    pair two = pair_of(f, f->other, name, 0, NULL);
    pair third = pair_of(f, f->other, name, 0, NULL);

    expect_status(HF_OK, hf_lock_try(one.read, ERR));
    expect_status(HF_OK, hf_lock_try(two.read, ERR));
    assert_true(hf_lock_token(two.read) > hf_lock_token(one.read));
    expect_status(HF_HELD, hf_lock_try(third.write, ERR));
    expect_status(HF_OK, hf_lock_release(one.read, ERR));
    expect_status(HF_HELD, hf_lock_try(third.write, ERR));
    expect_status(HF_OK, hf_lock_release(two.read, ERR));
    expect_status(HF_OK, hf_lock_try(third.write, ERR));
    assert_true(hf_lock_token(third.write) > hf_lock_token(two.read));
    expect_status(HF_HELD, hf_lock_try(one.read, ERR));
    expect_status(HF_HELD, hf_lock_try(two.write, ERR));
    expect_status(HF_OK, hf_lock_release(third.write, ERR));
    assert_no_key(f->client, name);
}

TEST(rwlock_write_lock_is_the_lock_of_that_name)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "rw");
    pair readers = pair_of(f, f->client, name, 0, NULL);
    hf_lock *lock = fixture_lock(f, f->other, name, NULL);
    told said = {0};
    hf_lock_info info = HF_LOCK_INFO_INIT;
    char owner[HF_OWNER_SIZE];

    expect_status(HF_OK, hf_lock_try(lock, ERR));
    expect_status(HF_HELD, hf_lock_try(readers.read, ERR));
    expect_status(HF_HELD, hf_lock_try(readers.write, ERR));
    queue_up(f, name, f->client, readers.read, &said, 1);
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    await_ok(f->client, &said);
    expect_status(HF_HELD, hf_lock_try(lock, ERR));
    expect_status(HF_OK, hf_lock_inspect(f->other, name, &info, ERR));
    hf_lock_owner(readers.read, owner);
    assert_string_equal(info.owner, owner);
    expect_status(HF_OK, hf_lock_release(readers.read, ERR));
    expect_status(HF_OK, hf_lock_try(lock, ERR));
}

TEST(rwlock_release_of_a_writer_lets_all_readers_in)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "rw");
    pair writer = pair_of(f, f->client, name, 0, NULL);
    hf_client *clients[3];
    pair readers[3];
    told said[3] = {{0}, {0}, {0}};
    int64_t released_ms;

    expect_status(HF_OK, hf_lock_try(writer.write, ERR));
    for (int i = 0; i < 3; i++) {
        clients[i] = fixture_client(f, NULL);
        readers[i] = pair_of(f, clients[i], name, 0, NULL);
        queue_up(f, name, clients[i], readers[i].read, &said[i], i + 1);
    }
    released_ms = test_now_ms();
    expect_status(HF_OK, hf_lock_release(writer.write, ERR));
    for (size_t i = 0; i < 3; i++) {
        await_ok(clients[i], &said[i]);
        assert_true(hf_lock_token(readers[i].read) >
                    hf_lock_token(writer.write));
    }
    assert_in_time(test_now_ms() - released_ms, WOKEN_MS);
    for (size_t i = 0; i < 3; i++)
        assert_true(hf_lock_is_held(readers[i].read));
}

/* The reader that comes after the writer does not overtake it. */
TEST(rwlock_waiters_are_served_in_order)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "rw");
    pair first, writer, last;
    hf_client *late = three_pairs(f, name, 0, &first, &writer, &last);
    told wrote = {0}, read = {0};

    expect_status(HF_OK, hf_lock_try(first.read, ERR));
    queue_up(f, name, f->other, writer.write, &wrote, 1);
    expect_status(HF_HELD, hf_lock_try(last.read, ERR));
    queue_up(f, name, late, last.read, &read, 2);
    expect_status(HF_OK, hf_lock_release(first.read, ERR));
    await_ok(f->other, &wrote);
    expect_throughout((dispatch(late), read.count == 0), 50);
    expect_status(HF_OK, hf_lock_release(writer.write, ERR));
    await_ok(late, &read);
    assert_true(hf_lock_token(last.read) > hf_lock_token(writer.write));
}

TEST(rwlock_leaving_writer_lets_readers_in)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "rw");
    pair first, writer, last;
    hf_client *late = three_pairs(f, name, 0, &first, &writer, &last);
    told read = {0};
    told wrote = {0};
    hf_async async = tell(&wrote);
    hf_call *call = NULL;
    int64_t left_ms;

    expect_status(HF_OK, hf_lock_try(first.read, ERR));
    async.call = &call;
    expect_status(HF_OK,
                  hf_lock_acquire_start(writer.write, HF_FOREVER, &async, ERR));
    expect_soon((dispatch(f->other), waiters_of(f, name) == 1), 5000);
    queue_up(f, name, late, last.read, &read, 2);
    left_ms = test_now_ms();
    hf_call_cancel(call);
    await_told(f->other, &wrote, 1);
    await_ok(late, &read);
    assert_in_time(test_now_ms() - left_ms, WOKEN_MS);
    assert_true(hf_lock_is_held(first.read));
}

TEST(rwlock_preferred_writers_come_first)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "rw");
    pair holder, reader, writer;
    hf_client *late = three_pairs(f, name, HF_RWLOCK_PREFER_WRITERS, &holder,
                                  &reader, &writer);
    told read = {0}, wrote = {0};

    expect_status(HF_OK, hf_lock_try(holder.write, ERR));
    queue_up(f, name, f->other, reader.read, &read, 1);
    queue_up(f, name, late, writer.write, &wrote, 2);
    expect_status(HF_OK, hf_lock_release(holder.write, ERR));
    await_ok(late, &wrote);
    expect_throughout((dispatch(f->other), read.count == 0), 50);
    expect_status(HF_OK, hf_lock_release(writer.write, ERR));
    await_ok(f->other, &read);
}

/* No one renews the first reader, though the second renews its own lease on the
 * same key. */
TEST(rwlock_dead_reader_ages_out_alone)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "rw");
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    int64_t ttl_ms = slowed_ms(300);
    pair dead = brief_pair(f, f->client, name, ttl_ms);
    pair live, writer = brief_pair(f, f->other, name, 60000);

    opts.ttl_ms = ttl_ms;
    live = pair_of(f, f->other, name, 0, &opts);
    expect_status(HF_OK, hf_lock_try(dead.read, ERR));
    expect_status(HF_OK, hf_lock_try(live.read, ERR));
    expect_throughout(hf_lock_is_held(live.read), 2 * ttl_ms);
    assert_false(hf_lock_is_held(dead.read));
    expect_status(HF_HELD, hf_lock_try(writer.write, ERR));
    expect_status(HF_EXPIRED, hf_lock_release(dead.read, ERR));
    expect_status(HF_OK, hf_lock_release(live.read, ERR));
    expect_status(HF_OK, hf_lock_try(writer.write, ERR));
}

#define READERS 8

TEST(rwlock_readers_are_each_renewed)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "rw");
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    pair readers[READERS], writer = pair_of(f, f->other, name, 0, NULL);
    int64_t until_ms;

    opts.ttl_ms = slowed_ms(300);
    for (size_t i = 0; i < READERS; i++) {
        readers[i] = pair_of(f, i % 2 ? f->other : f->client, name, 0, &opts);
        expect_status(HF_OK, hf_lock_try(readers[i].read, ERR));
    }
    until_ms = test_now_ms() + 3 * opts.ttl_ms;
    expect_soon(test_now_ms() >= until_ms, 6 * opts.ttl_ms);
    expect_status(HF_HELD, hf_lock_try(writer.write, ERR));
    for (size_t i = 0; i < READERS; i++)
        expect_status(HF_OK, hf_lock_release(readers[i].read, ERR));
    expect_status(HF_OK, hf_lock_try(writer.write, ERR));
}

/* Both wait for a writer that does not release. */
TEST(rwlock_end_of_a_writers_lease_lets_all_readers_in)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "rw");
    hf_client *clients[] = {fixture_client(f, NULL), f->other};
    pair writer = brief_pair(f, f->client, name, 60000), readers[2];
    told said[2] = {{0}, {0}};

    expect_status(HF_OK, hf_lock_try(writer.write, ERR));
    for (int i = 0; i < 2; i++) {
        readers[i] = pair_of(f, clients[i], name, 0, NULL);
        queue_up(f, name, clients[i], readers[i].read, &said[i], i + 1);
    }
    cut_lease(f->client, name, 20);
    for (size_t i = 0; i < 2; i++)
        await_ok(clients[i], &said[i]);
    for (size_t i = 0; i < 2; i++)
        assert_true(hf_lock_is_held(readers[i].read));
    expect_status(HF_LOST, hf_lock_release(writer.write, ERR));
}

/* Let in by its own request, past a writer that was killed while it waited: the
 * key lives as long as its lease, not as that of the first reader. */
TEST(rwlock_reader_behind_a_dead_writer_has_its_whole_lease)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "rw");
    pair first = brief_pair(f, f->client, name, 5000);
    pair late = brief_pair(f, f->other, name, 60000);
    int64_t ttl_ms = 0;
    char queue[128];
    hf_bytes dead[] = {
        bytes("ZADD"),
        {queue, 0},
        bytes("1"),
        bytes("30000 hf:inbox:0000000000000fff-000000000000001")};

    dead[1].size = (size_t)snprintf(queue, sizeof(queue), "hf:wait:{%.*s}",
                                    (int)name.size, (const char *)name.data);
    expect_status(HF_OK, hf_lock_try(first.read, ERR));
    expect_status(HF_OK, hf_command(f->client, 4, dead, NULL, ERR));
    expect_status(HF_OK, hf_lock_acquire(late.read, 20000, ERR));
    expect_status(HF_OK, hf_key_ttl(f->client, name, &ttl_ms, ERR));
    assert_in_range(ttl_ms, 40000, 75000);
}

TEST(rwlock_writer_gets_in_when_readers_have_died)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "rw");
    pair dead = brief_pair(f, f->client, name, slowed_ms(200));
    pair left = brief_pair(f, f->client, name, 60000);
    pair writer = brief_pair(f, f->other, name, 60000);

    expect_status(HF_OK, hf_lock_try(left.read, ERR));
    expect_status(HF_OK, hf_lock_try(dead.read, ERR));
    expect_status(HF_OK, hf_lock_release(left.read, ERR));
    expect_status(HF_OK, hf_lock_acquire(writer.write, 20000, ERR));
    assert_false(hf_lock_is_held(dead.read));
    expect_status(HF_LOST, hf_lock_release(dead.read, ERR));
    expect_status(HF_OK, hf_lock_renew(writer.write, ERR));
}

TEST(rwlock_upgrade_is_refused)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "rw");
    pair one = pair_of(f, f->client, name, 0, NULL);
    told said = {0};
    hf_async async = tell(&said);

    expect_status(HF_OK, hf_lock_try(one.read, ERR));
    expect_status(HF_INVALID, hf_lock_acquire(one.write, HF_FOREVER, ERR));
    assert_non_null(strstr(expect_message(), "cannot be upgraded"));
    if (hf_lock_acquire_start(one.write, HF_FOREVER, &async, ERR) == HF_OK) {
        await_told(f->client, &said, 1);
        expect_status(HF_INVALID, said.status);
    }
    assert_true(hf_lock_is_held(one.read));
    expect_status(HF_OK, hf_lock_try(one.read, ERR)); /* re-entry */
    expect_status(HF_OK, hf_lock_release(one.read, ERR));
    expect_status(HF_OK, hf_lock_release(one.read, ERR));
    expect_status(HF_OK, hf_lock_try(one.write, ERR));
    expect_status(HF_INVALID, hf_lock_acquire(one.read, HF_FOREVER, ERR));
    assert_non_null(strstr(expect_message(), "downgrade"));
}

TEST(rwlock_downgrade_lets_readers_in)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "rw");
    pair one, two, third;
    hf_client *late = three_pairs(f, name, 0, &one, &two, &third);
    told read = {0}, wrote = {0};
    uint64_t token;

    expect_status(HF_OK, hf_lock_try(one.write, ERR));
    token = hf_lock_token(one.write);
    queue_up(f, name, f->other, two.read, &read, 1);
    queue_up(f, name, late, third.write, &wrote, 2);
    expect_status(HF_OK, hf_rwlock_downgrade(one.write, ERR));
    assert_true(hf_lock_is_held(one.read));
    assert_false(hf_lock_is_held(one.write));
    assert_int_equal(hf_lock_token(one.read), token);
    await_ok(f->other, &read);
    assert_true(hf_lock_token(two.read) > token);
    expect_status(HF_OK, hf_lock_renew(one.read, ERR));
    expect_throughout((dispatch(late), wrote.count == 0), 50);
    expect_status(HF_OK, hf_lock_release(one.read, ERR));
    expect_status(HF_OK, hf_lock_release(two.read, ERR));
    await_ok(late, &wrote);
    assert_true(hf_lock_token(third.write) > hf_lock_token(two.read));
}

TEST(rwlock_downgrade_needs_the_write_lock)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "rw");
    pair one = pair_of(f, f->client, name, 0, NULL);
    hf_lock *lock = fixture_lock(f, f->client, fixture_key(f, "l"), NULL);

    expect_status(HF_INVALID, hf_rwlock_downgrade(one.write, ERR));
    expect_status(HF_INVALID, hf_rwlock_downgrade(one.read, ERR));
    expect_status(HF_INVALID, hf_rwlock_downgrade(lock, ERR));
    expect_status(HF_OK, hf_lock_try(one.write, ERR));
    expect_status(HF_OK, hf_lock_try(one.write, ERR));
    expect_status(HF_INVALID, hf_rwlock_downgrade(one.write, ERR));
    expect_status(HF_OK, hf_lock_release(one.write, ERR));
    expect_told(HF_OK, f->client,
                hf_rwlock_downgrade_start(one.write, &async, ERR));
    assert_true(hf_lock_is_held(one.read));
    expect_status(HF_OK, hf_lock_release(one.read, ERR));
    assert_no_key(f->client, name);
}

TEST(rwlock_downgrade_of_a_lost_lock_says_so)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "rw");
    pair one = brief_pair(f, f->client, name, 60000);
    pair two = brief_pair(f, f->other, name, 60000);

    acquire_and_break(f, one.write, name);
    expect_status(HF_EXPIRED, hf_rwlock_downgrade(one.write, ERR));
    assert_false(hf_lock_is_held(one.read));
    expect_status(HF_EXPIRED, hf_lock_release(one.write, ERR));
    acquire_and_break(f, one.write, name);
    expect_status(HF_OK, hf_lock_try(two.read, ERR));
    expect_status(HF_LOST, hf_rwlock_downgrade(one.write, ERR));
    assert_true(hf_lock_is_held(two.read));
}

/* Of a server that is stopped for longer than the lease. */
TEST(rwlock_downgrade_says_that_the_lock_is_lost_meanwhile)
{
    fixture *f = *state;
    int64_t ttl_ms = slowed_ms(300);
    pair one = brief_pair(f, f->client, fixture_key(f, "rw"), ttl_ms);
    told said = {0};
    hf_async async = tell(&said);

    if (f->server == NULL)
        skip();
    expect_status(HF_OK, hf_lock_try(one.write, ERR));
    redis_server_pause(f->server);
    expect_status(HF_OK, hf_rwlock_downgrade_start(one.write, &async, ERR));
    (void)poll(NULL, 0, (int)ttl_ms + 100);
    redis_server_resume(f->server);
    expect_soon((dispatch(f->client), said.count == 1), 5000);
    assert_int_equal(said.status, HF_EXPIRED);
    expect_status(HF_LOST, hf_rwlock_downgrade(one.write, ERR));
    assert_false(hf_lock_is_held(one.read));
}

/* An interrupted program frees its handles in any order, even while a call on
 * the pair is under way. */
TEST(rwlock_handles_are_freed_in_any_order)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "rw");
    pair one = pair_of(f, f->client, name, 0, NULL);
    pair two = pair_of(f, f->client, name, 0, NULL);
    told said = {0};
    hf_async async = tell(&said);

    fixture_free_lock(f, one.read);
    expect_status(HF_OK, hf_lock_try(one.write, ERR));
    expect_status(HF_INVALID, hf_rwlock_downgrade(one.write, ERR));
    fixture_free_lock(f, one.write);
    expect_status(HF_OK, hf_lock_try(two.write, ERR));
    expect_status(HF_OK, hf_rwlock_downgrade_start(two.write, &async, ERR));
    fixture_free_lock(f, two.write);
    fixture_free_lock(f, two.read);
    await_told(f->client, &said, 1);
    expect_soon(key_is_gone(f->client, name), 5000);
}

TEST(rwlock_key_expires_with_its_readers)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "rw");
    pair one = brief_pair(f, f->client, name, 60000);
    pair two = brief_pair(f, f->other, name, 1000);
    int64_t ttl_ms = 0;

    expect_status(HF_OK, hf_lock_try(one.read, ERR));
    expect_status(HF_OK, hf_lock_try(two.read, ERR));
    expect_status(HF_OK, hf_key_ttl(f->client, name, &ttl_ms, ERR));
    assert_in_range(ttl_ms, 58000, 75000);
    expect_status(HF_OK, hf_lock_release(one.read, ERR));
    expect_status(HF_OK, hf_lock_release(two.read, ERR));
    assert_no_key(f->client, name);
}

TEST(rwlock_loss_is_noticed)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "rw");
    pair one = brief_pair(f, f->client, name, 60000);
    pair two = brief_pair(f, f->other, name, 60000);

    acquire_and_break(f, one.read, name);
    expect_status(HF_EXPIRED, hf_lock_renew(one.read, ERR));
    expect_status(HF_EXPIRED, hf_lock_release(one.read, ERR));
    acquire_and_break(f, one.read, name);
    expect_status(HF_OK, hf_lock_try(two.write, ERR));
    expect_status(HF_LOST, hf_lock_renew(one.read, ERR));
    expect_status(HF_LOST, hf_lock_release(one.read, ERR));
    assert_true(hf_lock_is_held(two.write));
}

/* The key is gone, as after the death of a holder: a reader that comes before
 * the waiting writer has noticed does not overtake it. */
TEST(rwlock_left_free_is_for_the_writer_that_waits)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "rw");
    pair dead = brief_pair(f, f->client, name, 60000);
    pair writer = pair_of(f, f->other, name, 0, NULL);
    pair late = pair_of(f, f->client, name, 0, NULL);
    hf_bytes words[] = {bytes("DEL"), name};
    told wrote = {0};

    expect_status(HF_OK, hf_lock_try(dead.read, ERR));
    queue_up(f, name, f->other, writer.write, &wrote, 1);
    expect_status(HF_OK, hf_command(f->client, 2, words, NULL, ERR));
    expect_status(HF_HELD, hf_lock_try(late.read, ERR));
    await_ok(f->other, &wrote);
    expect_status(HF_HELD, hf_lock_try(late.read, ERR));
    expect_status(HF_OK, hf_lock_release(writer.write, ERR));
    expect_status(HF_OK, hf_lock_try(late.read, ERR));
}

/* A broken lock goes to the writer that waits, and from it to both readers. */
TEST(rwlock_break_hands_over_to_those_who_wait)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "rw");
    hf_client *clients[3];
    pair holders[2], waiters[3];
    told said[3] = {{0}, {0}, {0}};
    int64_t broken_ms;

    for (size_t i = 0; i < 2; i++) {
        holders[i] = brief_pair(f, f->client, name, 60000);
        expect_status(HF_OK, hf_lock_try(holders[i].read, ERR));
    }
    for (int i = 0; i < 3; i++) {
        clients[i] = fixture_client(f, NULL);
        waiters[i] = pair_of(f, clients[i], name, 0, NULL);
        queue_up(f, name, clients[i],
                 i == 0 ? waiters[i].write : waiters[i].read, &said[i], i + 1);
    }
    broken_ms = test_now_ms();
    expect_status(HF_OK, hf_lock_break(f->client, name, ERR));
    await_told(clients[0], &said[0], 1);
    assert_true(hf_lock_is_held(waiters[0].write));
    expect_status(HF_OK, hf_lock_break(f->client, name, ERR));
    for (size_t i = 1; i < 3; i++) {
        await_told(clients[i], &said[i], 1);
        assert_true(hf_lock_is_held(waiters[i].read));
    }
    assert_in_time(test_now_ms() - broken_ms, WOKEN_MS);
    expect_status(HF_LOST, hf_lock_release(waiters[0].write, ERR));
    expect_status(HF_EXPIRED, hf_lock_renew(holders[0].read, ERR));
}

TEST(rwlock_refuses_bad_arguments)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "rw");
    hf_lock *read = NULL, *write = NULL;

    expect_status(HF_UNSUPPORTED,
                  hf_rwlock_new(f->client, name, 2, NULL, &read, &write, ERR));
    expect_status(HF_INVALID,
                  hf_rwlock_new(f->client, name, 0, NULL, NULL, &write, ERR));
    expect_status(HF_INVALID, hf_rwlock_new(f->client, hf_str("a}b"), 0, NULL,
                                            &read, &write, ERR));
    expect_status(HF_INVALID, hf_rwlock_downgrade(NULL, ERR));
    assert_null(read);
    assert_null(write);
    put_hash(f->client, name, words("a", "b"), 60000);
    expect_status(HF_OK,
                  hf_rwlock_new(f->client, name, 0, NULL, &read, NULL, ERR));
    fixture_keep_lock(f, read);
    expect_status(HF_WRONG_TYPE, hf_lock_try(read, ERR));
    expect_status(HF_WRONG_TYPE, hf_lock_acquire(read, 50, ERR));
}
