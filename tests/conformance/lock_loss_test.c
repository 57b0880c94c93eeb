/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock_loss_test.c - a lock that ends without a release: what keeps it alive,
 * what ends it, and how the holder learns of it.
 */
#include <poll.h>
#include <stdatomic.h>

#include "holdfast/lock.h"
#include "support/byte_proxy.h"
#include "support/slowness.h"
#include "support/store_fixture.h"

FIXTURE_TESTS();

/* The holder learns of its loss before its validity ends, not after: a few ms
 * are given up for that. One more is lost to rounding. */
#define EARLY_MS 11

/* The arguments of on_lost, written on the library's thread. */
typedef struct loss {
    atomic_int calls;
    atomic_int reason;
    atomic_bool held;     /* hf_lock_is_held() in the callback */
    atomic_ullong token;  /* hf_lock_token() in the callback */
    atomic_llong at_ms;   /* when */
    atomic_llong rest_ms; /* how long the callback takes */
    atomic_bool returned;
} loss;

/* Of the running test. Static, so that a callback after its end does no damage.
 */
static loss told;

static void on_lost(hf_lock *lock, hf_status reason, void *user)
{
    int64_t until_ms = test_now_ms() + atomic_load(&told.rest_ms);

    if (user != &told) {
        return;
    }
    atomic_store(&told.reason, (int)reason);
    atomic_store(&told.held, hf_lock_is_held(lock));
    atomic_store(&told.token, hf_lock_token(lock));
    atomic_store(&told.at_ms, test_now_ms());
    atomic_fetch_add(&told.calls, 1);
    while (test_now_ms() < until_ms) {
        test_rest();
    }
    atomic_store(&told.returned, true);
}

/* Options of a lock with on_lost; resets what was reported before. */
static hf_lock_options watched(int64_t ttl_ms)
{
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;

    told = (loss){0};
    opts.ttl_ms = ttl_ms;
    opts.on_lost = on_lost;
    opts.user = &told;
    return opts;
}

/* A lease that is renewed in time, also on a busy machine. Servers of a quorum
 * must answer within a third of it. */
static int64_t lease_of(const fixture *f, int64_t ttl_ms)
{
    return slowed_ms(f->store == FIXTURE_QUORUM ? 600 : ttl_ms);
}

/* Called exactly once, for this reason, and not while the lock still counted as
 * held; and never again. */
static void expect_completed_once(hf_status reason, int64_t limit_ms)
{
    expect_soon(atomic_load(&told.calls) > 0, limit_ms);
    expect_throughout(atomic_load(&told.calls) == 1, 150);
    assert_string_equal(hf_status_name((hf_status)atomic_load(&told.reason)),
                        hf_status_name(reason));
    assert_false(atomic_load(&told.held));
}

static bool readable(int fd)
{
    struct pollfd one = {fd, POLLIN, 0};

    return poll(&one, 1, 0) == 1 && (one.revents & POLLIN) != 0;
}

TEST(watchdog_keeps_a_short_lease_alive)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock_options opts = watched(lease_of(f, 300));
    hf_lock *lock = fixture_lock(f, f->client, name, &opts);
    hf_lock *rival = fixture_lock(f, f->other, name, NULL);
    uint64_t token;

    expect_taken(lock);
    token = hf_lock_token(lock);
    expect_throughout(hf_lock_is_held(lock) &&
                          hf_lock_try(rival, NULL) == HF_HELD,
                      3 * opts.ttl_ms);
    assert_true(hf_lock_token(lock) == token);
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    assert_int_equal(atomic_load(&told.calls), 0);
}

/* Replies that take longer than the pause between two tries, half a second. A
 * connection that is silent for two seconds is left. */
TEST(replies_may_be_late)
{
    fixture *f = *state;
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    byte_proxy *proxy;
    hf_client *client;
    hf_lock *lock;

    fixture_only_redis(f);
    if (f->server == NULL || f->sentinel != NULL ||
        f->store == FIXTURE_REDIS_TLS)
        skip();
    opts.ttl_ms = 3000;
    proxy = byte_proxy_start(redis_server_socket_path(f->server));
    assert_non_null(proxy);
    client = fixture_client_at(f, byte_proxy_unix_url(proxy), NULL);
    lock = fixture_lock(f, client, fixture_key(f, "l"), &opts);
    expect_taken(lock);
    byte_proxy_delay(proxy, TO_CLIENT, 1000);
    expect_throughout(hf_lock_is_held(lock), opts.ttl_ms * 2);
    byte_proxy_heal(proxy);
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    fixture_close_client(f, client);
    byte_proxy_stop(proxy);
}

TEST(watchdog_renews_many_locks_of_one_client)
{
    fixture *f = *state;
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    hf_lock *locks[20];

    opts.ttl_ms = lease_of(f, 300);
    for (size_t i = 0; i < 20; i++) {
        char name[8] = {'l', (char)('a' + i), '\0'};

        locks[i] = fixture_lock(f, f->client, fixture_key(f, name), &opts);
        expect_taken(locks[i]);
    }
    for (size_t i = 0; i < 20; i++) {
        expect_throughout(hf_lock_is_held(locks[i]), opts.ttl_ms / 8);
    }
    for (size_t i = 0; i < 20; i++) {
        expect_status(HF_OK, hf_lock_release(locks[i], ERR));
    }
}

TEST(no_renew_lets_the_lease_end)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock_options opts = watched(100);
    int64_t began_ms;
    hf_lock *lock;

    fixture_not_quorum(f);
    opts.flags = HF_LOCK_NO_RENEW;
    lock = fixture_lock(f, f->client, name, &opts);
    began_ms = test_now_ms();
    expect_taken(lock);
    expect_soon(!hf_lock_is_held(lock), 400);
    assert_true(test_now_ms() - began_ms >= 100 - 3 - EARLY_MS);
    expect_completed_once(HF_EXPIRED, 100);
    assert_no_key(f->other, name);
}

TEST(on_lost_of_a_broken_lock_says_expired)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock_options opts = watched(slowed_ms(300));
    hf_lock *lock = fixture_lock(f, f->client, name, &opts);

    expect_taken(lock);
    expect_status(HF_OK, hf_lock_break(f->other, name, ERR));
    expect_completed_once(HF_EXPIRED, opts.ttl_ms);
    assert_false(hf_lock_is_held(lock));
    assert_true(hf_lock_remaining_ms(lock) == 0);
    assert_true(atomic_load(&told.token) == hf_lock_token(lock));
    expect_status(HF_EXPIRED, hf_lock_release(lock, ERR));
}

TEST(on_lost_to_another_owner_says_lost)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock_options opts = watched(slowed_ms(300));
    hf_lock *lock = fixture_lock(f, f->client, name, &opts);
    hf_lock *rival = fixture_lock(f, f->other, name, NULL);
    hf_bytes thief = bytes("thief");

    fixture_not_quorum(f);
    expect_taken(lock);
    put_value(f->other, name, thief, 60000);
    expect_completed_once(HF_LOST, opts.ttl_ms);
    expect_status(HF_LOST, hf_lock_release(lock, ERR));
    assert_value(f->client, name, thief);
    expect_status(HF_HELD, fixture_try(rival, ERR));
}

TEST(on_lost_is_called_for_a_key_that_became_a_hash)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock_options opts = watched(slowed_ms(300));
    hf_lock *lock = fixture_lock(f, f->client, name, &opts);

    fixture_not_quorum(f);
    expect_taken(lock);
    cut_lease(f->other, name, 0);
    put_hash(f->other, name, words("a", "1"), 0);
    expect_completed_once(HF_LOST, opts.ttl_ms + 100);
    assert_field(f->client, name, bytes("a"), bytes("1"));
}

TEST(max_hold_ends_the_lock_with_timeout)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock_options opts = watched(slowed_ms(200));
    int64_t began_ms;
    hf_lock *lock;
    hf_lock *rival = fixture_lock(f, f->other, name, NULL);

    opts.max_hold_ms = 2 * opts.ttl_ms;
    lock = fixture_lock(f, f->client, name, &opts);
    expect_taken(lock);
    began_ms = test_now_ms();
    expect_throughout(hf_lock_is_held(lock), opts.ttl_ms * 5 / 4);
    expect_completed_once(HF_TIMEOUT, opts.max_hold_ms);
    assert_in_time(atomic_load(&told.at_ms) - began_ms, opts.max_hold_ms + 300);
    expect_status(HF_OK, hf_lock_acquire(rival, 10000, ERR));
}

TEST(lost_margin_reports_before_the_lease_ends)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock_options opts = watched(1000);
    int64_t began_ms;
    hf_lock *lock;

    opts.flags = HF_LOCK_NO_RENEW;
    opts.lost_margin_ms = 500;
    lock = fixture_lock(f, f->client, name, &opts);
    began_ms = test_now_ms();
    expect_taken(lock);
    assert_true(hf_lock_remaining_ms(lock) <= 1000 - 12 - 500);
    expect_soon(atomic_load(&told.calls) == 1, 900);
    assert_true(atomic_load(&told.at_ms) - began_ms >=
                1000 - 12 - 500 - EARLY_MS);
    assert_false(hf_lock_is_held(lock));
    assert_true(test_now_ms() - began_ms > 950 || !key_is_gone(f->other, name));
}

TEST(acquire_after_a_loss_is_lost_until_released)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock_options opts = watched(slowed_ms(150));
    hf_lock *lock = fixture_lock(f, f->client, name, &opts);
    uint64_t token;

    fixture_not_quorum(f);
    expect_taken(lock);
    token = hf_lock_token(lock);
    expect_status(HF_OK, hf_lock_break(f->other, name, ERR));
    expect_soon(atomic_load(&told.calls) == 1, 1000);
    expect_status(HF_LOST, hf_lock_try(lock, ERR));
    expect_status(HF_LOST, hf_lock_acquire(lock, 1000, ERR));
    expect_status(HF_LOST, hf_lock_renew(lock, ERR));
    expect_status(HF_EXPIRED, hf_lock_release(lock, ERR));
    expect_taken(lock);
    assert_true(hf_lock_token(lock) > token);
    expect_throughout(hf_lock_is_held(lock), 2 * opts.ttl_ms);
    assert_int_equal(atomic_load(&told.calls), 1);
}

TEST(on_lost_is_called_once_for_each_acquisition)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock_options opts = watched(lease_of(f, 90));
    hf_lock *lock = fixture_lock(f, f->client, name, &opts);

    for (int i = 1; i <= 3; i++) {
        expect_taken(lock);
        expect_status(HF_OK, hf_lock_break(f->other, name, ERR));
        expect_soon(atomic_load(&told.calls) == i, 1000);
        expect_status(HF_EXPIRED, hf_lock_release(lock, ERR));
    }
    expect_throughout(atomic_load(&told.calls) == 3, opts.ttl_ms * 2);
}

TEST(on_lost_is_not_called_after_a_release)
{
    fixture *f = *state;
    hf_lock_options opts = watched(lease_of(f, 60));
    hf_lock *lock = fixture_lock(f, f->client, fixture_key(f, "l"), &opts);
    hf_lock *freed = fixture_lock(f, f->client, fixture_key(f, "m"), &opts);

    expect_taken(lock);
    expect_taken(freed);
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    fixture_free_lock(f, freed);
    expect_throughout(atomic_load(&told.calls) == 0, opts.ttl_ms + 140);
}

TEST(renewal_that_finds_the_loss_reports_it)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock_options opts = watched(60000);
    hf_lock *lock = fixture_lock(f, f->client, name, &opts);

    expect_taken(lock);
    expect_status(HF_OK, hf_lock_break(f->other, name, ERR));
    expect_status(HF_EXPIRED, hf_lock_renew(lock, ERR));
    expect_completed_once(HF_EXPIRED, 300);
}

TEST(lost_fd_is_readable_from_loss_to_release)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    hf_lock *lock;
    int fd = -1;
    int same = -1;

    opts.ttl_ms = slowed_ms(150);
    lock = fixture_lock(f, f->client, name, &opts);
    expect_status(HF_OK, hf_lock_lost_fd(lock, &fd, ERR));
    assert_true(fd >= 0);
    assert_false(readable(fd));
    expect_taken(lock);
    assert_false(readable(fd));
    expect_status(HF_OK, hf_lock_break(f->other, name, ERR));
    expect_soon(readable(fd), 400);
    assert_false(hf_lock_is_held(lock));
    expect_status(HF_EXPIRED, hf_lock_release(lock, ERR));
    assert_false(readable(fd));
    expect_status(HF_OK, hf_lock_lost_fd(lock, &same, ERR));
    assert_int_equal(same, fd);
    expect_taken(lock);
    expect_throughout(!readable(fd), opts.ttl_ms * 4 / 3);
}

TEST(lost_fd_asked_for_after_the_loss_is_readable)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    hf_lock *lock;
    int fd = -1;

    opts.ttl_ms = lease_of(f, 60);
    opts.flags = HF_LOCK_NO_RENEW;
    lock = fixture_lock(f, f->client, name, &opts);
    expect_status(HF_OK, hf_lock_acquire(lock, 20000, ERR));
    expect_soon(!hf_lock_is_held(lock), opts.ttl_ms + 5000);
    expect_status(HF_OK, hf_lock_lost_fd(lock, &fd, ERR));
    expect_soon(readable(fd), 5000);
}

TEST(lock_free_waits_for_a_running_on_lost)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock_options opts = watched(lease_of(f, 90));
    hf_lock *lock = fixture_lock(f, f->client, name, &opts);

    atomic_store(&told.rest_ms, 150);
    expect_status(HF_OK, hf_lock_acquire(lock, 20000, ERR));
    expect_status(HF_OK, hf_lock_break(f->other, name, ERR));
    expect_soon(atomic_load(&told.calls) == 1, 1000);
    fixture_free_lock(f, lock);
    assert_true(atomic_load(&told.returned));
}

/* What a callback may do, on the library's own thread. */
typedef struct intruder {
    fixture *f;
    hf_lock *lock;  /* that is lost */
    hf_lock *held;  /* another one, held */
    hf_lock *third; /* free */
    hf_status statuses[4];
    atomic_bool done;
} intruder;

static void intrude(hf_lock *lock, hf_status reason, void *user)
{
    intruder *self = user;
    hf_lock_info info = HF_LOCK_INFO_INIT;

    (void)reason;
    self->statuses[0] = hf_lock_acquire(self->third, HF_FOREVER, NULL);
    self->statuses[1] = hf_lock_release(lock, NULL);
    self->statuses[2] = hf_lock_inspect(self->f->client,
                                        fixture_key(self->f, "l"), &info, NULL);
    self->statuses[3] = hf_lock_renew_many(&self->held, 1, &reason, NULL);
    hf_client_close(self->f->client);
    hf_lock_free(lock);
    hf_lock_free(self->held);
    atomic_store(&self->done, true);
}

TEST(on_lost_may_not_block_and_may_free)
{
    static intruder in;
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_bytes other = fixture_key(f, "m");
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    hf_lock *next = fixture_lock(f, f->other, other, NULL);

    in = (intruder){.f = f};
    opts.ttl_ms = lease_of(f, 300);
    opts.on_lost = intrude;
    opts.user = &in;
    in.third = fixture_lock(f, f->client, fixture_key(f, "n"), NULL);
    expect_status(HF_OK, hf_lock_new(f->client, name, &opts, &in.lock, ERR));
    expect_status(HF_OK, hf_lock_new(f->client, other, NULL, &in.held, ERR));
    expect_status(HF_OK, hf_lock_acquire(in.held, 20000, ERR));
    expect_status(HF_OK, hf_lock_acquire(in.lock, 20000, ERR));
    expect_status(HF_OK, hf_lock_break(f->other, name, ERR));
    expect_soon(atomic_load(&in.done), 20000);
    for (int i = 0; i < 4; i++)
        expect_status(HF_INVALID, in.statuses[i]);
    /* What was freed there is released, and the client still works. */
    expect_status(HF_OK, hf_lock_acquire(next, 20000, ERR));
    expect_taken(in.third);
    expect_status(HF_OK, hf_lock_release(in.third, ERR));
}
