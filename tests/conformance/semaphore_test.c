/* SPDX-License-Identifier: Apache-2.0 */
/*
 * semaphore_test.c - permits: how many hold one, waiting, expiry and loss of
 * one among several, asynchronous and batch forms. Killed holders are in
 * process_test.c.
 */
#include <stdio.h>

#include "holdfast/command.h"
#include "holdfast/semaphore.h"
#include "support/slowness.h"
#include "support/store_fixture.h"
#include "support/told.h"

FIXTURE_TESTS();

/* How long a wake-up may take; the library polls, which would hide a lost
 * wake-up, only after a second. */
#define WOKEN_MS 700

/* A handle for `weight` permits; `ttl_ms` not 0: a lease that is not renewed.
 */
static hf_lock *weighted(fixture *f, hf_client *client, hf_bytes name,
                         int64_t permits, int64_t weight, int64_t ttl_ms)
{
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    hf_lock *lock = NULL;

    opts.ttl_ms = ttl_ms;
    opts.flags = ttl_ms != 0 ? HF_LOCK_NO_RENEW : 0;
    expect_status(HF_OK, hf_semaphore_new_weighted(client, name, permits,
                                                   weight, &opts, &lock, ERR));
    return fixture_keep_lock(f, lock);
}

static hf_lock *permit(fixture *f, hf_client *client, hf_bytes name,
                       int64_t permits, int64_t ttl_ms)
{
    return weighted(f, client, name, permits, 1, ttl_ms);
}

static hf_semaphore_info info_of(fixture *f, hf_bytes name, int64_t permits)
{
    hf_semaphore_info info = HF_SEMAPHORE_INFO_INIT;

    expect_status(HF_OK,
                  hf_semaphore_inspect(f->other, name, permits, &info, ERR));
    return info;
}

/* Start to acquire, and wait until the queue has so many. */
static void queue_up(fixture *f, hf_bytes name, hf_client *client,
                     hf_lock *lock, told *said, int64_t waiters)
{
    hf_async async = tell(said);

    expect_status(HF_OK, hf_lock_acquire_start(lock, HF_FOREVER, &async, ERR));
    expect_soon((dispatch(client), info_of(f, name, 0).waiters == waiters),
                5000);
    assert_int_equal(said->count, 0);
}

TEST(semaphore_has_as_many_holders_as_permits)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "s");
    hf_lock *handles[4];
    uint64_t token = 0;

    for (size_t i = 0; i < 4; i++)
        handles[i] = permit(f, i % 2 == 0 ? f->client : f->other, name, 3, 0);
    for (size_t i = 0; i < 3; i++) {
        expect_status(HF_OK, hf_lock_try(handles[i], ERR));
        assert_true(hf_lock_token(handles[i]) > token);
        token = hf_lock_token(handles[i]);
    }
    expect_status(HF_HELD, hf_lock_try(handles[3], ERR));
    assert_true(hf_lock_is_held(handles[0]));
    expect_status(HF_OK, hf_lock_release(handles[1], ERR));
    expect_status(HF_OK, hf_lock_try(handles[3], ERR));
    assert_true(hf_lock_token(handles[3]) > token);
    expect_status(HF_HELD, hf_lock_try(handles[1], ERR));
}

TEST(semaphore_leaves_nothing_behind)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "s");
    hf_lock *one = permit(f, f->client, name, 2, 60000);
    hf_lock *two = permit(f, f->other, name, 2, 1000);

    assert_no_key(f->client, name);
    expect_status(HF_OK, hf_lock_try(one, ERR));
    assert_ttl(f->client, name, 60000);
    expect_status(HF_OK, hf_lock_try(two, ERR));
    assert_ttl(f->client, name, 60000);
    expect_status(HF_OK, hf_lock_release(one, ERR));
    expect_status(HF_OK, hf_lock_release(two, ERR));
    assert_no_key(f->client, name);
}

TEST(semaphore_reentry_takes_no_other_permit)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "s");
    hf_lock *one = permit(f, f->client, name, 2, 0);
    hf_lock *two = permit(f, f->client, name, 2, 0);

    expect_status(HF_OK, hf_lock_try(one, ERR));
    expect_status(HF_OK, hf_lock_try(one, ERR));
    expect_status(HF_OK, hf_lock_try(two, ERR));
    expect_status(HF_OK, hf_lock_release(one, ERR));
    assert_true(hf_lock_is_held(one));
    expect_status(HF_OK, hf_lock_release(one, ERR));
    expect_status(HF_INVALID, hf_lock_release(one, ERR));
}

TEST(semaphore_release_wakes_a_waiter)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "s");
    hf_lock *one = permit(f, f->client, name, 2, 0);
    hf_lock *two = permit(f, f->client, name, 2, 0);
    hf_lock *waiter = permit(f, f->other, name, 2, 0);
    told said = {0};
    hf_async async = tell(&said);
    int64_t released_ms;

    expect_status(HF_OK, hf_lock_try(one, ERR));
    expect_status(HF_OK, hf_lock_try(two, ERR));
    expect_status(HF_TIMEOUT, hf_lock_acquire(waiter, 50, ERR));
    expect_status(HF_OK,
                  hf_lock_acquire_start(waiter, HF_FOREVER, &async, ERR));
    expect_throughout((dispatch(f->other), said.count == 0), 100);
    released_ms = test_now_ms();
    expect_status(HF_OK, hf_lock_release(two, ERR));
    await_told(f->other, &said, 1);
    expect_status(HF_OK, said.status);
    assert_in_time(test_now_ms() - released_ms, WOKEN_MS);
    assert_true(hf_lock_is_held(one));
    assert_true(hf_lock_token(waiter) > hf_lock_token(two));
}

/* Two waiters of one client, so the second waits for the first here. */
TEST(semaphore_releases_wake_a_waiter_each)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "s");
    hf_lock *held[2];
    told said[2] = {{0}, {0}};

    for (size_t i = 0; i < 2; i++) {
        held[i] = permit(f, f->client, name, 2, 0);
        expect_status(HF_OK, hf_lock_try(held[i], ERR));
    }
    for (size_t i = 0; i < 2; i++) {
        hf_async async = tell(&said[i]);

        expect_status(HF_OK,
                      hf_lock_acquire_start(permit(f, f->other, name, 2, 0),
                                            HF_FOREVER, &async, ERR));
    }
    expect_status(HF_OK, hf_lock_release(held[0], ERR));
    expect_status(HF_OK, hf_lock_release(held[1], ERR));
    for (size_t i = 0; i < 2; i++) {
        await_told(f->other, &said[i], 1);
        expect_status(HF_OK, said[i].status);
    }
}

TEST(semaphore_permits_expire_one_by_one)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "s");
    hf_lock *brief = permit(f, f->client, name, 2, slowed_ms(300));
    hf_lock *lasting = permit(f, f->client, name, 2, 60000);
    hf_lock *waiter = permit(f, f->other, name, 2, 60000);

    expect_status(HF_OK, hf_lock_try(lasting, ERR));
    expect_status(HF_OK, hf_lock_try(brief, ERR));
    expect_status(HF_OK, hf_lock_acquire(waiter, 20000, ERR));
    assert_false(hf_lock_is_held(brief));
    assert_true(hf_lock_is_held(lasting));
    expect_status(HF_HELD, hf_lock_try(permit(f, f->other, name, 2, 0), ERR));
    expect_status(HF_EXPIRED, hf_lock_release(brief, ERR));
    expect_status(HF_OK, hf_lock_renew(lasting, ERR));
    expect_status(HF_OK, hf_lock_release(lasting, ERR));
}

/* No one else has asked since, so the store still has its entry. */
TEST(semaphore_release_after_expiry_says_so)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "s");
    hf_lock *lasting = permit(f, f->client, name, 2, 60000);
    hf_lock *brief = permit(f, f->client, name, 2, slowed_ms(50));

    fixture_not_records(f);
    expect_status(HF_OK, hf_lock_try(lasting, ERR));
    expect_status(HF_OK, hf_lock_try(brief, ERR));
    expect_soon(!hf_lock_is_held(brief), 5000);
    expect_throughout(!hf_lock_is_held(brief), 20);
    expect_status(HF_EXPIRED, hf_lock_release(brief, ERR));
}

TEST(semaphore_watchdog_keeps_permits_alive)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "s");
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    hf_lock *rival = permit(f, f->other, name, 1, 0);
    hf_lock *lock = NULL;

    opts.ttl_ms = slowed_ms(300);
    expect_status(HF_OK,
                  hf_semaphore_new(f->client, name, 1, &opts, &lock, ERR));
    fixture_keep_lock(f, lock);
    expect_status(HF_OK, hf_lock_try(lock, ERR));
    expect_throughout(hf_lock_is_held(lock) &&
                          hf_lock_try(rival, NULL) == HF_HELD,
                      3 * opts.ttl_ms);
}

TEST(semaphore_loss_is_noticed)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "s");
    hf_lock *lock = permit(f, f->client, name, 2, 60000);

    fixture_not_records(f);
    expect_status(HF_OK, hf_lock_try(lock, ERR));
    expect_status(HF_OK, hf_lock_renew(lock, ERR));
    cut_lease(f->other, name, 1);
    expect_soon(key_is_gone(f->other, name), 5000);
    expect_status(HF_EXPIRED, hf_lock_renew(lock, ERR));
    assert_false(hf_lock_is_held(lock));
    expect_status(HF_LOST, hf_lock_try(lock, ERR));
    expect_status(HF_EXPIRED, hf_lock_release(lock, ERR));
}

TEST(semaphore_batches_acquire_renew_and_release)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "s");
    hf_lock *handles[5];
    hf_status statuses[5];
    size_t held = 0;

    for (size_t i = 0; i < 5; i++)
        handles[i] = permit(f, f->client, name, 3, 60000);
    expect_status(HF_OK, hf_lock_acquire_many(handles, 5, 0, statuses, ERR));
    for (size_t i = 0; i < 5; i++) {
        held += hf_lock_is_held(handles[i]);
        expect_status(hf_lock_is_held(handles[i]) ? HF_OK : HF_TIMEOUT,
                      statuses[i]);
        if (!hf_lock_is_held(handles[i]))
            handles[i] = permit(f, f->client, fixture_key(f, "t"), 3, 60000);
        if (statuses[i] == HF_TIMEOUT)
            expect_status(HF_OK, hf_lock_try(handles[i], ERR));
    }
    assert_int_equal(held, 3);
    expect_status(HF_OK, hf_lock_renew_many(handles, 5, statuses, ERR));
    for (size_t i = 0; i < 5; i++)
        expect_status(HF_OK, statuses[i]);
    expect_status(HF_OK, hf_lock_release_many(handles, 5, statuses, ERR));
    assert_no_key(f->other, name);
}

TEST(semaphore_counts_against_the_number_of_the_caller)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "s");
    hf_lock *wide = permit(f, f->client, name, 3, 60000);
    hf_lock *wide_too = permit(f, f->other, name, 3, 60000);
    hf_lock *narrow = permit(f, f->other, name, 1, 60000);

    expect_status(HF_OK, hf_lock_try(wide, ERR));
    expect_status(HF_HELD, hf_lock_try(narrow, ERR));
    expect_status(HF_OK, hf_lock_try(wide_too, ERR));
    expect_status(HF_OK, hf_lock_release(wide, ERR));
    expect_status(HF_HELD, hf_lock_try(narrow, ERR));
    expect_status(HF_OK, hf_lock_release(wide_too, ERR));
    expect_status(HF_OK, hf_lock_try(narrow, ERR));
}

TEST(semaphore_and_lock_have_different_names)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "s");
    hf_lock *of_semaphore = permit(f, f->client, name, 2, 0);
    hf_lock *lock = fixture_lock(f, f->other, name, NULL);

    expect_status(HF_OK, hf_lock_try(lock, ERR));
    expect_status(HF_WRONG_TYPE, hf_lock_try(of_semaphore, ERR));
    if (f->rights == FIXTURE_RIGHTS_ALL)
        assert_non_null(strstr(expect_message(), "holds a string"));
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    expect_status(HF_OK, hf_lock_try(of_semaphore, ERR));
    expect_status(HF_WRONG_TYPE, hf_lock_try(lock, ERR));
    assert_true(hf_lock_is_held(of_semaphore));
}

TEST(semaphore_leaves_another_sorted_set_alone)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "s");
    hf_lock *lock = permit(f, f->client, name, 2, 0);
    hf_bytes words[] = {bytes("ZADD"), name, bytes("1"), bytes("member")};

    if (f->rights != FIXTURE_RIGHTS_ALL)
        skip(); /* to write what is not its own */
    expect_status(HF_OK, hf_command(f->other, 4, words, NULL, ERR));
    expect_status(HF_WRONG_TYPE, hf_lock_try(lock, ERR));
    expect_status(HF_WRONG_TYPE, hf_semaphore_resize(f->client, name, 3, ERR));
    assert_no_ttl(f->other, name);
}

TEST(semaphore_new_refuses_bad_numbers)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "s");
    hf_lock *lock = NULL;

    expect_status(HF_INVALID, hf_semaphore_new(f->client, name,
                                               HF_SEMAPHORE_PERMITS_MAX + 1,
                                               NULL, &lock, ERR));
    expect_status(HF_INVALID, hf_semaphore_new_weighted(f->client, name, 3, 0,
                                                        NULL, &lock, ERR));
    expect_status(HF_INVALID, hf_semaphore_new_weighted(f->client, name, 3, 4,
                                                        NULL, &lock, ERR));
    expect_status(HF_INVALID,
                  hf_semaphore_resize(f->client, name,
                                      HF_SEMAPHORE_PERMITS_MAX + 1, ERR));
    expect_status(HF_INVALID, hf_semaphore_resize(f->client, name, -1, ERR));
    assert_null(lock);
}

TEST(semaphore_takes_several_permits_at_once)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "s");
    hf_lock *two = weighted(f, f->client, name, 4, 2, 60000);
    hf_lock *three = weighted(f, f->other, name, 4, 3, 60000);
    hf_lock *one = permit(f, f->other, name, 4, 60000);

    expect_status(HF_OK, hf_lock_try(two, ERR));
    expect_status(HF_HELD, hf_lock_try(three, ERR));
    expect_status(HF_OK, hf_lock_try(one, ERR));
    assert_int_equal(info_of(f, name, 4).held, 3);
    assert_int_equal(info_of(f, name, 4).holders, 2);
    assert_int_equal(info_of(f, name, 4).available, 1);
    expect_status(HF_OK, hf_lock_renew(two, ERR));
    expect_status(HF_OK, hf_lock_release(two, ERR));
    assert_int_equal(info_of(f, name, 4).held, 1);
    expect_status(HF_OK, hf_lock_try(three, ERR));
    assert_int_equal(info_of(f, name, 4).available, 0);
    expect_status(HF_OK, hf_lock_release(three, ERR));
    expect_status(HF_OK, hf_lock_release(one, ERR));
    assert_no_key(f->client, name);
}

TEST(semaphore_waiter_for_many_is_not_overtaken)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "s");
    hf_client *late = fixture_client(f, NULL);
    hf_lock *held[2] = {permit(f, f->client, name, 2, 60000),
                        permit(f, f->client, name, 2, 60000)};
    hf_lock *both = weighted(f, f->other, name, 2, 2, 60000);
    hf_lock *one = permit(f, late, name, 2, 60000);
    told many = {0}, few = {0};

    expect_status(HF_OK, hf_lock_try(held[0], ERR));
    expect_status(HF_OK, hf_lock_try(held[1], ERR));
    queue_up(f, name, f->other, both, &many, 1);
    queue_up(f, name, late, one, &few, 2);
    expect_status(HF_OK, hf_lock_release(held[0], ERR));
    expect_status(HF_HELD, hf_lock_try(held[0], ERR));
    expect_throughout((dispatch(late), few.count == 0), 50);
    expect_status(HF_OK, hf_lock_release(held[1], ERR));
    await_told(f->other, &many, 1);
    expect_status(HF_OK, many.status);
    expect_throughout((dispatch(late), few.count == 0), 50);
    expect_status(HF_OK, hf_lock_release(both, ERR));
    await_told(late, &few, 1);
    expect_status(HF_OK, few.status);
}

/* Copy the first entry of a queue. */
static hf_bytes first_entry(fixture *f, hf_bytes queue, char entry[256])
{
    hf_bytes words[] = {bytes("ZRANGE"), queue, bytes("0"), bytes("0")};
    hf_reply *reply = NULL;
    hf_bytes found;

    expect_status(HF_OK, hf_command(f->other, 4, words, &reply, ERR));
    assert_int_equal(hf_reply_count(reply), 1);
    found = hf_reply_bytes(hf_reply_at(reply, 0));
    assert_true(found.size <= 256);
    memcpy(entry, found.data, found.size);
    hf_reply_free(reply);
    return hf_view(entry, found.size);
}

/* As one of a process that is stopped: it listens, and does not ask. */
TEST(semaphore_waiter_that_does_not_ask_is_passed_over)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "s");
    hf_lock *holder = weighted(f, f->client, name, 5, 3, 0);
    hf_lock *silent = weighted(f, f->other, name, 5, 3, 0);
    hf_lock *next = permit(f, f->client, name, 5, 0);
    char queue[128], entry[256];
    int size = snprintf(queue, sizeof(queue), "hf:wait:{%.*s}", (int)name.size,
                        (const char *)name.data);
    hf_bytes add[] = {bytes("ZADD"), hf_view(queue, (size_t)size), bytes("1"),
                      bytes("")};
    told said = {0};
    hf_call *call = NULL;
    hf_async async = tell(&said);

    async.call = &call;
    if (f->rights != FIXTURE_RIGHTS_ALL)
        skip(); /* to write what is not its own */
    expect_status(HF_OK, hf_lock_try(holder, ERR));
    expect_status(HF_TIMEOUT,
                  hf_lock_acquire(silent, 20, ERR)); /* subscribes */
    expect_status(HF_OK,
                  hf_lock_acquire_start(silent, HF_FOREVER, &async, ERR));
    expect_soon(info_of(f, name, 5).waiters == 1, 5000);
    add[3] = first_entry(f, add[1], entry);
    hf_call_cancel(call);
    await_told(f->other, &said, 1);
    expect_status(HF_OK, hf_command(f->other, 4, add, NULL, ERR));
    expect_status(HF_OK, hf_lock_acquire(next, 20000, ERR));
}

TEST(semaphore_several_permits_expire_together)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "s");
    hf_lock *brief = weighted(f, f->client, name, 3, 2, slowed_ms(200));
    hf_lock *lasting = permit(f, f->client, name, 3, 60000);
    hf_lock *waiter = weighted(f, f->other, name, 3, 2, 60000);

    expect_status(HF_OK, hf_lock_try(lasting, ERR));
    expect_status(HF_OK, hf_lock_try(brief, ERR));
    expect_status(HF_OK, hf_lock_acquire(waiter, 20000, ERR));
    assert_false(hf_lock_is_held(brief));
    assert_int_equal(info_of(f, name, 3).held, 3);
    expect_status(HF_EXPIRED, hf_lock_release(brief, ERR));
    expect_status(HF_OK, hf_lock_release(waiter, ERR));
    assert_int_equal(info_of(f, name, 3).held, 1);
}

TEST(semaphore_stored_number_overrides_the_handles)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "s");
    hf_lock *one = permit(f, f->client, name, 3, 60000);
    hf_lock *two = permit(f, f->other, name, 0, 60000);
    hf_lock *many = weighted(f, f->other, name, 3, 3, 60000);

    expect_status(HF_INVALID, hf_lock_try(two, ERR));
    expect_status(HF_NOT_FOUND, hf_semaphore_resize(f->client, name, 0, ERR));
    expect_status(HF_OK, hf_semaphore_resize(f->client, name, 1, ERR));
    assert_no_ttl(f->client, name);
    expect_status(HF_INVALID, hf_lock_acquire(many, HF_FOREVER, ERR));
    expect_status(HF_OK, hf_lock_try(one, ERR));
    expect_status(HF_OK, hf_lock_renew(one, ERR));
    expect_status(HF_HELD, hf_lock_try(two, ERR));
    expect_told(HF_OK, f->client,
                hf_semaphore_resize_start(f->client, name, 2, &async, ERR));
    expect_status(HF_OK, hf_lock_try(two, ERR));
    assert_true(info_of(f, name, 7).stored);
    assert_int_equal(info_of(f, name, 7).permits, 2);
    expect_status(HF_OK, hf_lock_release(one, ERR));
    expect_status(HF_OK, hf_lock_release(two, ERR));
    assert_int_equal(info_of(f, name, 0).available, 2);
    expect_status(HF_OK, hf_semaphore_resize(f->client, name, 0, ERR));
    assert_no_key(f->client, name);
}

TEST(semaphore_resize_serves_waiters)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "s");
    hf_lock *held = permit(f, f->client, name, 0, 60000);
    hf_lock *waiter = weighted(f, f->other, name, 0, 2, 60000);
    told said = {0};
    int64_t resized_ms;

    expect_status(HF_OK, hf_semaphore_resize(f->client, name, 2, ERR));
    expect_status(HF_OK, hf_lock_try(held, ERR));
    queue_up(f, name, f->other, waiter, &said, 1);
    resized_ms = test_now_ms();
    expect_status(HF_OK, hf_semaphore_resize(f->client, name, 3, ERR));
    await_told(f->other, &said, 1);
    expect_status(HF_OK, said.status);
    assert_in_time(test_now_ms() - resized_ms, WOKEN_MS);
    expect_status(HF_OK, hf_semaphore_resize(f->client, name, 1, ERR));
    assert_true(hf_lock_is_held(waiter));
    assert_int_equal(info_of(f, name, 0).available, 0);
    expect_status(HF_OK, hf_lock_renew(waiter, ERR));
}

/* Those that are held stay; none is free until enough are released. */
TEST(semaphore_may_be_resized_below_what_is_held)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "s");
    hf_lock *held[3], *next = permit(f, f->other, name, 0, 60000);

    expect_status(HF_OK, hf_semaphore_resize(f->client, name, 5, ERR));
    for (size_t i = 0; i < 3; i++) {
        held[i] = permit(f, f->client, name, 0, 60000);
        expect_status(HF_OK, hf_lock_try(held[i], ERR));
    }
    for (int64_t permits = 3; permits >= 2; permits--) {
        expect_status(HF_OK,
                      hf_semaphore_resize(f->client, name, permits, ERR));
        assert_int_equal(info_of(f, name, 0).permits, permits);
        assert_int_equal(info_of(f, name, 0).held, 3);
        assert_int_equal(info_of(f, name, 0).available, 0);
    }
    expect_status(HF_OK, hf_lock_release(held[0], ERR));
    expect_status(HF_HELD, hf_lock_try(next, ERR));
    expect_status(HF_OK, hf_lock_release(held[1], ERR));
    expect_status(HF_OK, hf_lock_try(next, ERR));
}

TEST(semaphore_resize_ends_the_wait_for_too_many)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "s");
    hf_lock *held = permit(f, f->client, name, 2, 60000);
    hf_lock *waiter = weighted(f, f->other, name, 2, 2, 60000);
    told said = {0};

    expect_status(HF_OK, hf_lock_try(held, ERR));
    queue_up(f, name, f->other, waiter, &said, 1);
    expect_status(HF_OK, hf_semaphore_resize(f->client, name, 1, ERR));
    await_told(f->other, &said, 1);
    expect_status(HF_INVALID, said.status);
}

typedef struct tally {
    int64_t owners;
    int64_t permits;
    int64_t longest_ms;
} tally;

static int count_holder(void *user, const hf_lock_info *holder)
{
    tally *seen = user;

    seen->owners++;
    seen->permits += holder->holders;
    assert_int_equal(holder->owner_size, 32);
    if (holder->remaining_ms > seen->longest_ms)
        seen->longest_ms = holder->remaining_ms;
    return 0;
}

TEST(semaphore_holders_are_listed_and_broken)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "s");
    hf_lock *one = permit(f, f->client, name, 5, 60000);
    hf_lock *two = weighted(f, f->other, name, 5, 3, 30000);
    tally seen = {0, 0, 0};
    hf_lock_info info = HF_LOCK_INFO_INIT;
    char owner[HF_OWNER_SIZE];

    expect_status(HF_OK,
                  hf_lock_holders(f->client, name, count_holder, &seen, ERR));
    assert_int_equal(seen.owners, 0);
    expect_status(HF_OK, hf_lock_try(one, ERR));
    expect_status(HF_OK, hf_lock_try(two, ERR));
    expect_told(HF_OK, f->client,
                hf_lock_holders_start(f->client, name, count_holder, &seen,
                                      &async, ERR));
    assert_int_equal(seen.owners, 2);
    assert_int_equal(seen.permits, 4);
    assert_in_range(seen.longest_ms, 50000, 60001);
    expect_status(HF_OK, hf_lock_inspect(f->client, name, &info, ERR));
    hf_lock_owner(two, owner);
    assert_string_equal(info.owner, owner);
    assert_int_equal(info.holders, 2);
    assert_int_equal(info.mode, HF_LOCK_PERMITS);
    expect_status(HF_OK, hf_lock_break(f->client, name, ERR));
    expect_status(HF_NOT_FOUND, hf_lock_break(f->client, name, ERR));
    expect_status(HF_EXPIRED, hf_lock_renew(one, ERR));
    expect_status(HF_EXPIRED, hf_lock_release(two, ERR));
    assert_int_equal(info_of(f, name, 5).held, 0);
}

/* To as many as there are permits, in their order. */
TEST(semaphore_break_hands_over_to_those_who_wait)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "s");
    hf_lock *held = weighted(f, f->client, name, 3, 3, 60000);
    hf_client *clients[3];
    hf_lock *waiters[3];
    told said[3] = {{0}, {0}, {0}};
    int64_t broken_ms;

    expect_status(HF_OK, hf_lock_try(held, ERR));
    for (int64_t i = 0; i < 3; i++) {
        clients[i] = fixture_client(f, NULL);
        waiters[i] = weighted(f, clients[i], name, 3, i == 0 ? 2 : 1, 60000);
        queue_up(f, name, clients[i], waiters[i], &said[i], i + 1);
    }
    broken_ms = test_now_ms();
    expect_status(HF_OK, hf_lock_break(f->client, name, ERR));
    for (size_t i = 0; i < 2; i++) {
        await_told(clients[i], &said[i], 1);
        assert_true(hf_lock_is_held(waiters[i]));
    }
    assert_in_time(test_now_ms() - broken_ms, WOKEN_MS);
    expect_throughout((dispatch(clients[2]), said[2].count == 0), 50);
    expect_status(HF_OK, hf_lock_release(waiters[1], ERR));
    await_told(clients[2], &said[2], 1);
    expect_status(HF_EXPIRED, hf_lock_release(held, ERR));
}
