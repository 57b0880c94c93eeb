/* SPDX-License-Identifier: Apache-2.0 */
/* many_started_test.c - the `_many_start` functions: batches as one call. */
#include <stdio.h>

#include "holdfast/lock.h"
#include "holdfast/value.h"
#include "support/store_fixture.h"
#include "support/told.h"
#include "support/value_batch.h"

FIXTURE_TESTS();

#define COUNT 300

static value_batch b;

/* Inputs may be reused as soon as the start has returned. */
TEST(many_values_are_set_and_read)
{
    fixture *f = *state;
    told said = {0};
    hf_async first = tell(&said);

    value_batch_fill(&b, f);
    expect_status(HF_OK,
                  hf_value_set_many_start(f->client, b.items, COUNT, NULL,
                                          b.statuses, &first, ERR));
    memset(b.items, 0, sizeof(b.items));
    await_told(f->client, &said, 1);
    expect_status(HF_OK, said.status);
    for (size_t i = 0; i < COUNT; i++)
        expect_status(HF_OK, b.statuses[i]);
    expect_status(HF_OK, hf_value_delete(f->other, b.keys[7], ERR));
    expect_told(HF_OK, f->client,
                hf_value_get_many_start(f->client, b.keys, COUNT, b.values,
                                        b.statuses, &async, ERR));
    for (size_t i = 0; i < COUNT; i++) {
        expect_status(i == 7 ? HF_NOT_FOUND : HF_OK, b.statuses[i]);
        if (i != 7)
            assert_buffer(&b.values[i], b.keys[i]);
    }
    assert_int_equal(said.count, 1);
}

/* Some are refused by their start, some by the store: the first is named. */
TEST(bad_items_leave_the_others_alone)
{
    fixture *f = *state;

    value_batch_fill(&b, f);
    put_hash(f->client, b.keys[5], words("f", "v"), 0);
    b.keys[8] = bytes("");
    expect_told(HF_WRONG_TYPE, f->client,
                hf_value_get_many_start(f->client, b.keys, 10, b.values,
                                        b.statuses, &async, ERR));
    for (size_t i = 0; i < 10; i++)
        expect_status(i == 5   ? HF_WRONG_TYPE
                      : i == 8 ? HF_INVALID
                               : HF_NOT_FOUND,
                      b.statuses[i]);
}

TEST(nothing_is_started_with_a_bad_array)
{
    fixture *f = *state;
    told said = {0};
    hf_async refused = tell(&said);

    expect_status(HF_INVALID,
                  hf_value_get_many_start(f->client, NULL, 1, NULL, b.statuses,
                                          &refused, ERR));
    expect_status(HF_INVALID,
                  hf_value_get_many_start(f->client, b.keys, 1, b.values, NULL,
                                          &refused, ERR));
    expect_status(HF_INVALID,
                  hf_value_get_many_start(f->client, b.keys, 1, b.values,
                                          b.statuses, NULL, ERR));
    expect_status(HF_INVALID, hf_lock_release_many_start(NULL, 0, b.statuses,
                                                         &refused, ERR));
    expect_told(
        HF_OK, f->client,
        hf_value_get_many_start(f->client, NULL, 0, NULL, NULL, &async, ERR));
    assert_int_equal(said.count, 0);
}

TEST(items_beyond_max_calls_are_refused)
{
    fixture *f = *state;
    hf_client_options options = HF_CLIENT_OPTIONS_INIT;
    hf_client *client;

    options.max_calls = 4;
    client = fixture_client(f, &options);
    value_batch_fill(&b, f);
    expect_told(HF_UNAVAILABLE, client,
                hf_value_get_many_start(client, b.keys, 6, b.values, b.statuses,
                                        &async, ERR));
    for (size_t i = 0; i < 6; i++)
        expect_status(i < 3 ? HF_NOT_FOUND : HF_UNAVAILABLE, b.statuses[i]);
}

#define LOCKS 5

static void make_locks(fixture *f, hf_client *client, hf_lock *locks[LOCKS])
{
    hf_lock_options options = HF_LOCK_OPTIONS_INIT;

    options.ttl_ms = 60000;
    for (size_t i = 0; i < LOCKS; i++)
        locks[i] = fixture_lock(f, client, b.keys[i], &options);
}

TEST(many_locks_are_acquired_renewed_and_released)
{
    fixture *f = *state;
    hf_lock *locks[LOCKS], *other;

    value_batch_fill(&b, f);
    make_locks(f, f->client, locks);
    other = fixture_lock(f, f->other, b.keys[2], NULL);
    expect_status(HF_OK, hf_lock_try(other, ERR));
    expect_told(
        HF_OK, f->client,
        hf_lock_acquire_many_start(locks, LOCKS, 0, b.statuses, &async, ERR));
    for (size_t i = 0; i < LOCKS; i++) {
        expect_status(i == 2 ? HF_TIMEOUT : HF_OK, b.statuses[i]);
        assert_int_equal(hf_lock_is_held(locks[i]), i != 2);
    }
    expect_told(
        HF_INVALID, f->client,
        hf_lock_renew_many_start(locks, LOCKS, b.statuses, &async, ERR));
    expect_told(
        HF_INVALID, f->client,
        hf_lock_release_many_start(locks, LOCKS, b.statuses, &async, ERR));
    for (size_t i = 0; i < LOCKS; i++)
        expect_status(i == 2 ? HF_INVALID : HF_OK, b.statuses[i]);
    assert_no_key(f->other, b.keys[0]);
}

static int64_t waiters_of(fixture *f, hf_bytes name)
{
    hf_lock_info info = HF_LOCK_INFO_INIT;

    expect_status(HF_OK, hf_lock_inspect(f->other, name, &info, ERR));
    return info.waiters;
}

/* Those that wait are; those that are held by then stay so. */
TEST(many_locks_are_cancelled_as_a_whole)
{
    fixture *f = *state;
    hf_lock *locks[LOCKS], *others[LOCKS];
    told said = {0};
    hf_async async = tell(&said);
    hf_call *call = NULL;

    value_batch_fill(&b, f);
    make_locks(f, f->client, locks);
    make_locks(f, f->other, others);
    for (size_t i = 1; i < LOCKS; i++)
        expect_status(HF_OK, hf_lock_try(others[i], ERR));
    async.call = &call;
    expect_status(HF_OK, hf_lock_acquire_many_start(locks, LOCKS, HF_FOREVER,
                                                    b.statuses, &async, ERR));
    while (!hf_lock_is_held(locks[0]))
        dispatch(f->client);
    /* A request that is cancelled on its way may be of an unknown outcome. */
    for (size_t i = 1; i < LOCKS; i++)
        expect_soon((dispatch(f->client), waiters_of(f, b.keys[i]) == 1), 5000);
    assert_int_equal(said.count, 0);
    hf_call_cancel(call);
    await_told(f->client, &said, 1);
    expect_status(HF_OK, said.status);
    for (size_t i = 0; i < LOCKS; i++) {
        expect_status(i == 0 ? HF_OK : HF_CANCELLED, b.statuses[i]);
        assert_int_equal(hf_lock_is_held(locks[i]), i == 0);
    }
    for (size_t i = 1; i < LOCKS; i++) {
        expect_status(HF_OK, hf_lock_release(others[i], ERR));
        expect_status(HF_OK, hf_lock_try(others[i], ERR));
    }
}
