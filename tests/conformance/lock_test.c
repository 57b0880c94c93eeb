/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock_test.c - acquiring and releasing a lock without waiting: exclusion,
 * re-entry, owner, token, manual renewal. Waiting, loss and inspection have
 * files of their own.
 */
#include <stdio.h>

#include "holdfast/election.h"
#include "holdfast/hash.h"
#include "holdfast/semaphore.h"
#include "holdfast/value.h"
#include "holdfast/watch.h"
#include "support/store_fixture.h"

FIXTURE_TESTS();

/* Options of a lease that is not renewed. */
static hf_lock_options no_renew(int64_t ttl_ms)
{
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;

    opts.ttl_ms = ttl_ms;
    opts.flags = HF_LOCK_NO_RENEW;
    return opts;
}

TEST(lock_excludes_every_other_handle)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *lock = fixture_lock(f, f->client, name, NULL);
    hf_lock *same_client = fixture_lock(f, f->client, name, NULL);
    hf_lock *other_client = fixture_lock(f, f->other, name, NULL);

    expect_taken(lock);
    expect_status(HF_HELD, fixture_try(same_client, ERR));
    expect_status(HF_TIMEOUT, hf_lock_acquire(other_client, 0, ERR));
    assert_true(hf_lock_is_held(lock));
    assert_false(hf_lock_is_held(same_client));
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    expect_taken(other_client);
    expect_status(HF_HELD, fixture_try(lock, ERR));
}

TEST(lock_names_are_independent)
{
    fixture *f = *state;
    hf_lock *one = fixture_lock(f, f->client, fixture_key(f, "1"), NULL);
    hf_lock *two = fixture_lock(f, f->other, fixture_key(f, "2"), NULL);

    expect_taken(one);
    expect_taken(two);
    expect_status(HF_OK, hf_lock_release(one, ERR));
    assert_true(hf_lock_is_held(two));
}

TEST(lock_before_its_first_acquisition_has_no_token)
{
    fixture *f = *state;
    hf_lock *lock = fixture_lock(f, f->client, fixture_key(f, "l"), NULL);
    char owner[HF_OWNER_SIZE] = "x";

    hf_lock_owner(lock, owner);
    assert_string_equal(owner, "");
    assert_true(hf_lock_token(lock) == 0);
    assert_false(hf_lock_is_held(lock));
    assert_true(hf_lock_remaining_ms(lock) == 0);
}

TEST(lock_new_sends_nothing)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");

    fixture_not_quorum(f);
    (void)fixture_lock(f, f->client, name, NULL);
    assert_no_key(f->client, name);
}

TEST(lock_reentry_counts_releases)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *lock = fixture_lock(f, f->client, name, NULL);
    hf_lock *rival = fixture_lock(f, f->other, name, NULL);
    uint64_t token;

    assert_int_equal(hf_lock_holds(lock), 0);
    expect_taken(lock);
    token = hf_lock_token(lock);
    expect_taken(lock);
    expect_status(HF_OK, hf_lock_acquire(lock, HF_FOREVER, ERR));
    assert_true(hf_lock_token(lock) == token);
    assert_int_equal(hf_lock_holds(lock), 3);
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    assert_true(hf_lock_is_held(lock));
    assert_int_equal(hf_lock_holds(lock), 1);
    expect_status(HF_HELD, fixture_try(rival, ERR));
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    assert_false(hf_lock_is_held(lock));
    assert_int_equal(hf_lock_holds(lock), 0);
    expect_taken(rival);
}

TEST(lock_knows_its_name_without_the_prefix)
{
    fixture *f = *state;
    hf_client_options options = HF_CLIENT_OPTIONS_INIT;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *plain = fixture_lock(f, f->client, name, NULL);
    hf_lock *prefixed;

    options.prefix = "p:";
    prefixed = fixture_lock(f, fixture_client(f, &options), name, NULL);
    assert_bytes(name, hf_lock_name(plain));
    assert_bytes(name, hf_lock_name(prefixed));
    assert_true(hf_lock_name(NULL).size == 0);
}

TEST(lock_is_all_that_a_quorum_has)
{
    fixture *f = *state;
    hf_lock *semaphore = NULL;
    hf_watch *watch = NULL;
    hf_lock *candidate = NULL;
    hf_observer *observer = NULL;
    hf_leader leader = HF_LEADER_INIT;
    bool quorum = f->store == FIXTURE_QUORUM;

    expect_status(quorum ? HF_UNSUPPORTED : HF_OK,
                  hf_semaphore_new(f->client, fixture_key(f, "s"), 1, NULL,
                                   &semaphore, ERR));
    hf_lock_free(semaphore);
    expect_status(quorum ? HF_UNSUPPORTED : HF_OK,
                  hf_election_new(f->client, fixture_key(f, "e"), bytes("a"),
                                  NULL, &candidate, ERR));
    hf_lock_free(candidate);
    if (quorum) {
        expect_status(
            HF_UNSUPPORTED,
            hf_election_inspect(f->client, fixture_key(f, "e"), &leader, ERR));
        expect_status(
            HF_UNSUPPORTED,
            hf_observer_open(f->client, fixture_key(f, "e"), &observer, ERR));
        expect_status(HF_UNSUPPORTED,
                      hf_watch_open(f->client, bytes("*"), NULL, &watch, ERR));
    }
}

TEST(lock_leaves_gaps_only_where_another_library_may_be)
{
    fixture *f = *state;
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    bool alone = f->store == FIXTURE_QUORUM || f->store == FIXTURE_POSTGRES;
    hf_lock *lock = NULL;

    opts.gaps = HF_LOCK_GAPS_ALWAYS;
    expect_status(
        alone ? HF_UNSUPPORTED : HF_OK,
        hf_lock_new(f->client, fixture_key(f, "l"), &opts, &lock, ERR));
    hf_lock_free(lock);
}

TEST(lock_release_of_what_is_not_held_is_invalid)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *lock = fixture_lock(f, f->client, name, NULL);
    hf_lock *holder = fixture_lock(f, f->other, name, NULL);

    expect_status(HF_INVALID, hf_lock_release(lock, ERR));
    expect_taken(holder);
    expect_status(HF_HELD, fixture_try(lock, ERR));
    expect_status(HF_INVALID, hf_lock_release(lock, ERR));
    expect_status(HF_OK, hf_lock_release(holder, ERR));
    expect_status(HF_INVALID, hf_lock_release(holder, ERR));
}

TEST(lock_acquire_refuses_a_negative_wait)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *lock = fixture_lock(f, f->client, name, NULL);

    fixture_not_quorum(f);
    expect_status(HF_INVALID, hf_lock_acquire(lock, -1, ERR));
    expect_status(HF_INVALID, hf_lock_acquire(lock, INT64_MIN, ERR));
    assert_no_key(f->client, name);
}

TEST(lock_key_is_a_string_that_holds_the_owner)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    char owner[HF_OWNER_SIZE], value[64];
    hf_lock *lock;

    fixture_not_quorum(f);
    opts.ttl_ms = 60000;
    lock = fixture_lock(f, f->client, name, &opts);
    expect_taken(lock);
    hf_lock_owner(lock, owner);
    (void)snprintf(value, sizeof(value), "%s=%llu", owner,
                   (unsigned long long)hf_lock_token(lock));
    assert_value(f->other, name, hf_str(value));
    assert_ttl(f->other, name, 60000);
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    assert_no_key(f->other, name);
}

TEST(lock_lease_is_thirty_seconds_by_default)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *lock = fixture_lock(f, f->client, name, NULL);

    fixture_not_quorum(f);
    expect_taken(lock);
    assert_ttl(f->client, name, 30000);
}

TEST(lock_owner_is_new_for_every_acquisition)
{
    fixture *f = *state;
    hf_lock *lock = fixture_lock(f, f->client, fixture_key(f, "l"), NULL);
    char first[HF_OWNER_SIZE];
    char second[HF_OWNER_SIZE];

    expect_taken(lock);
    hf_lock_owner(lock, first);
    assert_int_equal(strspn(first, "0123456789abcdef"), 16);
    assert_int_equal(first[16], '-');
    assert_int_equal(strspn(first + 17, "0123456789abcdef"), 15);
    assert_int_equal(first[32], '\0');
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    hf_lock_owner(lock, second);
    assert_string_equal(first, second);
    expect_taken(lock);
    hf_lock_owner(lock, second);
    assert_string_not_equal(first, second);
    assert_memory_equal(first, second, 17); /* the client's id */
}

TEST(lock_acquire_token_grows_with_every_holder)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *locks[2] = {fixture_lock(f, f->client, name, NULL),
                         fixture_lock(f, f->other, name, NULL)};
    uint64_t last = 0;

    for (size_t i = 0; i < 20; i++) {
        hf_lock *lock = locks[i % 2];

        expect_taken(lock);
        assert_true(hf_lock_token(lock) > last);
        last = hf_lock_token(lock);
        expect_status(HF_OK, hf_lock_release(lock, ERR));
        assert_true(hf_lock_token(lock) == last);
    }
    assert_true(last < UINT64_C(1) << 53);
}

TEST(lock_acquire_token_grows_after_expiry)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock_options opts = no_renew(200);
    hf_lock *first = fixture_lock(f, f->client, name, &opts);
    hf_lock *second = fixture_lock(f, f->other, name, NULL);

    expect_taken(first);
    expect_soon(hf_lock_try(second, NULL) == HF_OK, 2000);
    assert_true(hf_lock_token(second) > hf_lock_token(first));
}

TEST(lock_is_blocked_by_a_foreign_client)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *lock = fixture_lock(f, f->client, name, NULL);
    hf_value_set_options opts = HF_VALUE_SET_OPTIONS_INIT;

    fixture_not_quorum(f);
    opts.flags = HF_SET_NX;
    opts.ttl_ms = 60000;
    expect_status(HF_OK, hf_value_set(f->other, name, bytes("foreign"), &opts,
                                      NULL, ERR));
    expect_status(HF_HELD, fixture_try(lock, ERR));
    assert_value(f->client, name, bytes("foreign"));
    assert_ttl(f->client, name, 60000);
    expect_status(
        HF_OK, hf_value_delete_if(f->other, name, bytes("foreign"), NULL, ERR));
    expect_taken(lock);
}

TEST(lock_blocks_a_foreign_client)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *lock = fixture_lock(f, f->client, name, NULL);
    hf_value_set_options opts = HF_VALUE_SET_OPTIONS_INIT;

    fixture_not_quorum(f);
    opts.flags = HF_SET_NX;
    opts.ttl_ms = 60000;
    expect_taken(lock);
    expect_status(HF_CONFLICT, hf_value_set(f->other, name, bytes("foreign"),
                                            &opts, NULL, ERR));
    expect_status(HF_CONFLICT, hf_value_delete_if(f->other, name,
                                                  bytes("foreign"), NULL, ERR));
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    expect_status(HF_OK, hf_value_set(f->other, name, bytes("foreign"), &opts,
                                      NULL, ERR));
}

TEST(lock_over_a_hash_is_wrong_type)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *lock = fixture_lock(f, f->client, name, NULL);

    fixture_not_quorum(f);
    put_hash(f->client, name, words("a", "1"), 0);
    expect_status(HF_WRONG_TYPE, hf_lock_try(lock, ERR));
    expect_status(HF_WRONG_TYPE, hf_lock_acquire(lock, 1000, ERR));
    assert_false(hf_lock_is_held(lock));
    assert_field(f->client, name, bytes("a"), bytes("1"));
    assert_no_ttl(f->client, name);
}

/* The message has the key and its type; a user with the least rights may not
 * read the type. */
static void expect_said(const fixture *f, hf_bytes key, const char *what)
{
    char want[200];

    if (f->rights == FIXTURE_RIGHTS_LEAST)
        what = "";
    snprintf(want, sizeof(want), "%.*s\"%s%s", (int)key.size,
             (const char *)key.data, what[0] == '\0' ? "" : " ", what);
    assert_non_null(strstr(expect_message(), want));
}

TEST(wrong_type_names_the_key_and_what_it_holds)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *lock = fixture_lock(f, f->client, name, NULL);
    hf_lock_info info = HF_LOCK_INFO_INIT;

    fixture_not_quorum(f);
    put_hash(f->client, name, words("a", "1"), 0);
    expect_status(HF_WRONG_TYPE, hf_lock_try(lock, ERR));
    expect_said(f, name, "holds a hash");
    expect_status(HF_WRONG_TYPE, hf_lock_inspect(f->client, name, &info, ERR));
    expect_said(f, name, "holds a hash");
    expect_status(HF_OK, hf_hash_delete(f->client, name, ERR));
    put_hash(f->client, name,
             words("0e6d5b1c-1b7f-4f2d-9a0e-6a8d0b6d7c11:42", "1"), 60000);
    expect_status(HF_WRONG_TYPE, hf_lock_acquire(lock, 1000, ERR));
    expect_said(f, name, "is held by a Redisson lock (a hash)");
}

TEST(wrong_type_names_the_queue_when_it_is_the_queue)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock_info info = HF_LOCK_INFO_INIT;
    char queue[200];

    fixture_not_quorum(f);
    if (f->rights == FIXTURE_RIGHTS_LEAST)
        return; /* it may not write the queue as a hash */
    snprintf(queue, sizeof(queue), "hf:wait:{%.*s}", (int)name.size,
             (const char *)name.data);
    put_hash(f->client, hf_str(queue), words("a", "1"), 60000);
    expect_status(HF_WRONG_TYPE, hf_lock_inspect(f->client, name, &info, ERR));
    expect_said(f, hf_str(queue), "holds a hash");
    expect_status(HF_OK, hf_hash_delete(f->client, hf_str(queue), ERR));
}

static void keep_message(void *user, hf_status status, const hf_error *err)
{
    assert_int_equal(status, HF_WRONG_TYPE);
    memcpy(user, err->message, sizeof(err->message));
}

TEST(wrong_type_of_a_started_call_names_the_key)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *lock = fixture_lock(f, f->client, name, NULL);
    static char text[HF_ERROR_MESSAGE_SIZE];
    hf_async async = HF_ASYNC_INIT;
    size_t running = 1;

    fixture_not_quorum(f);
    put_hash(f->client, name, words("a", "1"), 0);
    text[0] = '\0';
    async.done = keep_message;
    async.user = text;
    expect_status(HF_OK, hf_lock_acquire_start(lock, 0, &async, ERR));
    while (running > 0)
        expect_status(HF_OK, hf_client_dispatch(f->client, &running, ERR));
    assert_non_null(memmem(text, strlen(text), name.data, name.size));
    text[0] = '\0';
    expect_status(HF_OK, hf_value_delete_start(f->client, name, &async, ERR));
    for (running = 1; running > 0;)
        expect_status(HF_OK, hf_client_dispatch(f->client, &running, ERR));
    assert_non_null(memmem(text, strlen(text), name.data, name.size));
}

TEST(lock_free_releases_a_held_lock)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *lock = fixture_lock(f, f->client, name, NULL);

    fixture_not_quorum(f);
    expect_taken(lock);
    expect_taken(lock);
    fixture_free_lock(f, lock);
    assert_no_key(f->other, name);
    hf_lock_free(NULL);
}

TEST(lock_remaining_is_the_lease_less_the_drift_allowance)
{
    fixture *f = *state;
    hf_lock_options opts = no_renew(10000);
    hf_lock *lock = fixture_lock(f, f->client, fixture_key(f, "l"), &opts);
    int64_t began_ms = test_now_ms();
    int64_t remaining_ms;

    expect_taken(lock);
    remaining_ms = hf_lock_remaining_ms(lock);
    assert_true(remaining_ms <= 10000 - 102);
    assert_true(remaining_ms >= 10000 - 102 - (test_now_ms() - began_ms) - 1);
    expect_soon(hf_lock_remaining_ms(lock) < remaining_ms, 1000);
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    assert_true(hf_lock_remaining_ms(lock) == 0);
}

TEST(lock_release_after_expiry_says_so)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock_options opts = no_renew(slowed_ms(200));
    hf_lock *lock = fixture_lock(f, f->client, name, &opts);

    fixture_not_quorum(f);
    fixture_not_records(f);
    expect_taken(lock);
    expect_soon(key_is_gone(f->other, name), 2000);
    assert_false(hf_lock_is_held(lock));
    expect_status(HF_EXPIRED, hf_lock_release(lock, ERR));
    expect_status(HF_INVALID, hf_lock_release(lock, ERR));
    expect_taken(lock);
}

TEST(lock_release_after_another_took_it_is_lost)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock_options opts = no_renew(slowed_ms(200));
    hf_lock *lock = fixture_lock(f, f->client, name, &opts);
    hf_lock *rival = fixture_lock(f, f->other, name, NULL);

    expect_taken(lock);
    expect_soon(hf_lock_try(rival, NULL) == HF_OK, 1000);
    expect_status(HF_LOST, hf_lock_release(lock, ERR));
    assert_true(hf_lock_is_held(rival));
    expect_status(HF_HELD, fixture_try(lock, ERR));
    expect_status(HF_OK, hf_lock_release(rival, ERR));
}

TEST(lock_renew_restarts_the_lease)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock_options opts = no_renew(10000);
    hf_lock *lock = fixture_lock(f, f->client, name, &opts);
    int64_t before_ms;

    fixture_not_quorum(f);
    expect_taken(lock);
    expect_soon(hf_lock_remaining_ms(lock) < 9500, 2000);
    before_ms = hf_lock_remaining_ms(lock);
    cut_lease(f->other, name, 5000);
    expect_status(HF_OK, hf_lock_renew(lock, ERR));
    assert_true(hf_lock_remaining_ms(lock) > before_ms);
    assert_ttl(f->other, name, 10000);
}

TEST(lock_renew_by_hand_outlives_the_lease)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock_options opts = no_renew(slowed_ms(250));
    hf_lock *lock = fixture_lock(f, f->client, name, &opts);

    expect_taken(lock);
    expect_throughout(hf_lock_renew(lock, NULL) == HF_OK, opts.ttl_ms * 2);
    assert_true(hf_lock_is_held(lock));
    expect_status(HF_OK, hf_lock_release(lock, ERR));
}

TEST(lock_renew_of_what_is_not_held_is_invalid)
{
    fixture *f = *state;
    hf_lock *lock = fixture_lock(f, f->client, fixture_key(f, "l"), NULL);

    expect_status(HF_INVALID, hf_lock_renew(lock, ERR));
    expect_taken(lock);
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    expect_status(HF_INVALID, hf_lock_renew(lock, ERR));
}

TEST(lock_renew_of_a_broken_lock_is_expired_then_lost)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock_options opts = no_renew(60000);
    hf_lock *lock = fixture_lock(f, f->client, name, &opts);

    expect_taken(lock);
    expect_status(HF_OK, hf_lock_break(f->other, name, ERR));
    expect_status(HF_EXPIRED, hf_lock_renew(lock, ERR));
    assert_false(hf_lock_is_held(lock));
    expect_status(HF_LOST, hf_lock_renew(lock, ERR));
    expect_status(HF_EXPIRED, hf_lock_release(lock, ERR));
}

TEST(lock_renew_after_another_took_it_is_lost)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock_options opts = no_renew(60000);
    hf_lock *lock = fixture_lock(f, f->client, name, &opts);
    hf_lock *rival = fixture_lock(f, f->other, name, NULL);

    expect_taken(lock);
    expect_status(HF_OK, hf_lock_break(f->other, name, ERR));
    expect_taken(rival);
    expect_status(HF_LOST, hf_lock_renew(lock, ERR));
    assert_false(hf_lock_is_held(lock));
    expect_status(HF_LOST, hf_lock_release(lock, ERR));
    assert_true(hf_lock_is_held(rival));
}

TEST(lock_renew_after_max_hold_is_a_timeout)
{
    fixture *f = *state;
    hf_lock_options opts = no_renew(10000);
    hf_lock *lock;
    int64_t until_ms;

    opts.max_hold_ms = 60;
    lock = fixture_lock(f, f->client, fixture_key(f, "l"), &opts);
    expect_taken(lock);
    until_ms = test_now_ms() + 61;
    expect_soon(test_now_ms() > until_ms, 1000);
    expect_status(HF_TIMEOUT, hf_lock_renew(lock, ERR));
}

/* ------------------------------------------------- minimum hold, delay
 */

TEST(lock_released_early_stays_for_its_minimum)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    hf_lock *rival = fixture_lock(f, f->other, name, NULL);
    hf_lock_info info = HF_LOCK_INFO_INIT;
    int64_t began_ms;
    hf_lock *lock;

    fixture_not_quorum(f);
    opts.min_hold_ms = slowed_ms(300);
    lock = fixture_lock(f, f->client, name, &opts);
    began_ms = test_now_ms();
    expect_taken(lock);
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    assert_false(hf_lock_is_held(lock));
    expect_status(HF_HELD, fixture_try(rival, ERR));
    expect_status(HF_HELD, fixture_try(lock, ERR));
    expect_status(HF_OK, hf_lock_inspect(f->other, name, &info, ERR));
    assert_true(info.remaining_ms <= opts.min_hold_ms);
    expect_status(HF_OK, hf_lock_acquire(rival, 60000, ERR));
    assert_true(test_now_ms() - began_ms >= opts.min_hold_ms - 2);
    expect_status(HF_OK, hf_lock_release(rival, ERR));
}

TEST(lock_released_after_its_minimum_is_free)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    hf_lock *rival = fixture_lock(f, f->other, name, NULL);
    hf_lock *lock;
    int64_t until_ms;

    fixture_not_quorum(f);
    opts.min_hold_ms = 20;
    lock = fixture_lock(f, f->client, name, &opts);
    expect_taken(lock);
    until_ms = test_now_ms() + opts.min_hold_ms;
    expect_soon(test_now_ms() >= until_ms, 1000);
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    expect_taken(rival);
}

TEST(lock_broken_before_its_minimum_is_reported)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    hf_lock *rival = fixture_lock(f, f->other, name, NULL);
    hf_lock *lock;

    fixture_not_quorum(f);
    opts.min_hold_ms = 60000;
    lock = fixture_lock(f, f->client, name, &opts);
    expect_taken(lock);
    expect_status(HF_OK, hf_lock_break(f->other, name, ERR));
    expect_status(HF_EXPIRED, hf_lock_release(lock, ERR));
    expect_taken(lock);
    expect_status(HF_OK, hf_lock_break(f->other, name, ERR));
    expect_taken(rival);
    expect_status(HF_LOST, hf_lock_release(lock, ERR));
    assert_true(hf_lock_is_held(rival));
}

/* The holder is believed for its lease only, and blocks others for longer. */
TEST(lock_not_released_blocks_for_its_delay)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock_options opts = no_renew(slowed_ms(100));
    hf_lock *rival = fixture_lock(f, f->other, name, NULL);
    int64_t began_ms;
    hf_lock *lock;

    fixture_not_quorum(f);
    opts.delay_ms = slowed_ms(300);
    lock = fixture_lock(f, f->client, name, &opts);
    began_ms = test_now_ms();
    expect_taken(lock);
    assert_true(hf_lock_remaining_ms(lock) <= opts.ttl_ms);
    expect_soon(!hf_lock_is_held(lock), 5000);
    expect_status(HF_OK, hf_lock_acquire(rival, 60000, ERR));
    assert_true(test_now_ms() - began_ms >= opts.ttl_ms + opts.delay_ms - 2);
    expect_status(HF_LOST, hf_lock_release(lock, ERR));
    expect_status(HF_OK, hf_lock_release(rival, ERR));
}

TEST(lock_released_has_no_delay)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    hf_lock *rival = fixture_lock(f, f->other, name, NULL);
    hf_lock_info info = HF_LOCK_INFO_INIT;
    hf_lock *lock;

    fixture_not_quorum(f);
    opts.delay_ms = 1000000;
    lock = fixture_lock(f, f->client, name, &opts);
    for (int round = 0; round < 2; round++) {
        expect_taken(lock);
        if (round > 0)
            expect_status(HF_OK, hf_lock_renew(lock, ERR));
        expect_status(HF_OK, hf_lock_inspect(f->other, name, &info, ERR));
        assert_true(info.remaining_ms > opts.delay_ms);
        assert_true(hf_lock_remaining_ms(lock) < 30001);
        expect_status(HF_OK, hf_lock_release(lock, ERR));
        expect_taken(rival);
        expect_status(HF_OK, hf_lock_release(rival, ERR));
    }
}

TEST(lock_refuses_bad_spans)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_status fine = f->store == FIXTURE_QUORUM ? HF_UNSUPPORTED : HF_OK;
    hf_lock *lock = NULL;

    for (int i = 0; i < 2; i++) {
        hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
        int64_t *span = i == 0 ? &opts.min_hold_ms : &opts.delay_ms;
        const char *what = i == 0 ? "min_hold_ms" : "delay_ms";

        *span = -1;
        expect_status(HF_INVALID,
                      hf_lock_new(f->client, name, &opts, &lock, ERR));
        assert_non_null(strstr(expect_message(), what));
        *span = HF_LOCK_TTL_MAX_MS + 1;
        expect_status(HF_INVALID,
                      hf_lock_new(f->client, name, &opts, &lock, ERR));
        *span = HF_LOCK_TTL_MAX_MS;
        expect_status(fine, hf_lock_new(f->client, name, &opts, &lock, ERR));
        hf_lock_free(lock);
        lock = NULL;
    }
}
