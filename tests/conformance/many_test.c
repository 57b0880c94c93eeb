/* SPDX-License-Identifier: Apache-2.0 */
/* many_test.c - the `_many` functions: independent calls that go together. */
#include <stdio.h>
#include <stdlib.h>

#include "holdfast/hash.h"
#include "holdfast/key.h"
#include "holdfast/lock.h"
#include "holdfast/value.h"
#include "support/store_fixture.h"
#include "support/test_clock.h"
#include "support/value_batch.h"

FIXTURE_TESTS();

/* More than one window of the library's. */
#define COUNT VALUE_BATCH_MAX

static value_batch b;

static void expect_all(hf_status want)
{
    for (size_t i = 0; i < COUNT; i++)
        expect_status(want, b.statuses[i]);
}

TEST(many_values_are_set_and_read)
{
    fixture *f = *state;
    hf_value_set_options nx = HF_VALUE_SET_OPTIONS_INIT;

    value_batch_fill(&b, f);
    nx.flags = HF_SET_NX;
    expect_status(HF_OK, hf_value_set_many(f->client, b.items, COUNT, &nx,
                                           b.statuses, ERR));
    expect_all(HF_OK);
    expect_status(HF_OK, hf_value_delete(f->other, b.keys[7], ERR));
    expect_status(HF_OK, hf_value_set_many(f->client, b.items, COUNT, &nx,
                                           b.statuses, ERR));
    expect_status(HF_OK, b.statuses[7]);
    expect_status(HF_CONFLICT, b.statuses[8]);
    expect_status(HF_OK, hf_value_delete(f->other, b.keys[7], ERR));
    expect_status(HF_OK, hf_value_get_many(f->client, b.keys, COUNT, b.values,
                                           b.statuses, ERR));
    expect_status(HF_NOT_FOUND, b.statuses[7]);
    assert_null(b.values[7].data);
    for (size_t i = 0; i < COUNT; i++) {
        if (i != 7)
            assert_buffer(&b.values[i], b.keys[i]);
    }
}

TEST(many_bad_items_leave_the_others_alone)
{
    fixture *f = *state;

    value_batch_fill(&b, f);
    b.items[3].key = bytes("");
    put_hash(f->client, b.keys[5], words("f", "v"), 0);
    expect_status(HF_INVALID, hf_value_set_many(f->client, b.items, 10, NULL,
                                                b.statuses, ERR));
    assert_non_null(strstr(expect_message(), "item 3"));
    expect_status(HF_INVALID, b.statuses[3]);
    for (size_t i = 0; i < 10; i++) {
        if (i != 3)
            expect_status(HF_OK, b.statuses[i]);
    }
    put_hash(f->client, b.keys[20], words("f", "v"), 0);
    expect_status(HF_WRONG_TYPE, hf_value_get_many(f->client, b.keys + 19, 2,
                                                   b.values, b.statuses, ERR));
    expect_status(HF_NOT_FOUND, b.statuses[0]);
    expect_status(HF_WRONG_TYPE, b.statuses[1]);
}

TEST(many_cas_compare_each)
{
    fixture *f = *state;
    hf_bytes old = bytes("old");
    hf_buffer current = HF_BUFFER_INIT;
    hf_value_cas_item items[3];

    value_batch_fill(&b, f);
    put_value(f->client, b.keys[0], old, 0);
    put_value(f->client, b.keys[1], bytes("met"), 0);
    items[0] = (hf_value_cas_item){b.keys[0], &old, bytes("new"), NULL};
    items[1] = (hf_value_cas_item){b.keys[1], &old, bytes("new"), &current};
    items[2] = (hf_value_cas_item){b.keys[2], NULL, bytes("new"), NULL};
    expect_status(
        HF_OK, hf_value_cas_many(f->client, items, 3, NULL, b.statuses, ERR));
    expect_status(HF_OK, b.statuses[0]);
    expect_status(HF_CONFLICT, b.statuses[1]);
    assert_buffer(&current, bytes("met"));
    expect_status(HF_OK, b.statuses[2]);
    assert_value(f->other, b.keys[0], bytes("new"));
}

#define TTL_MS 600000
#define SLACK_MS 2000 /* for what the clocks of stores and clients differ */

TEST(many_hashes_are_put_with_their_expiry)
{
    fixture *f = *state;
    int64_t began_ms;
    int64_t left_ms;
    hf_field field = {bytes("f"), bytes("v")};
    hf_hash_put_options options = HF_HASH_PUT_OPTIONS_INIT;
    static hf_hash_put_item items[COUNT];

    value_batch_fill(&b, f);
    options.ttl_ms = TTL_MS;
    for (size_t i = 0; i < COUNT; i++)
        items[i] = (hf_hash_put_item){b.keys[i], &field, 1};
    began_ms = test_now_ms();
    expect_status(HF_OK, hf_hash_put_many(f->client, items, COUNT, &options,
                                          b.statuses, ERR));
    expect_all(HF_OK);
    assert_field(f->other, b.keys[COUNT - 1], field.name, field.value);
    /* The first was put while the others were still to be. */
    expect_status(HF_OK, hf_key_ttl(f->other, b.keys[0], &left_ms, ERR));
    assert_in_range(left_ms, TTL_MS - (test_now_ms() - began_ms) - SLACK_MS,
                    TTL_MS);
}

#define LOCKS 600 /* several scripts of renewals */

TEST(many_locks_are_acquired_renewed_and_released)
{
    fixture *f = *state;
    static hf_lock *locks[LOCKS];
    hf_lock *other;
    hf_lock_options options = HF_LOCK_OPTIONS_INIT;

    value_batch_fill(&b, f);
    options.ttl_ms = 60000;
    options.flags = HF_LOCK_NO_RENEW;
    for (size_t i = 0; i < LOCKS; i++)
        expect_status(
            HF_OK, hf_lock_new(f->client, b.keys[i], &options, &locks[i], ERR));
    other = fixture_lock(f, f->other, b.keys[9], NULL);
    expect_status(HF_OK, hf_lock_try(other, ERR));

    expect_status(HF_OK,
                  hf_lock_acquire_many(locks, LOCKS, 0, b.statuses, ERR));
    expect_status(HF_TIMEOUT, b.statuses[9]);
    expect_status(HF_OK, b.statuses[10]);
    expect_status(HF_OK,
                  hf_lock_acquire_many(&locks[9], 1, 100, b.statuses, ERR));
    expect_status(HF_TIMEOUT, b.statuses[0]);
    expect_status(HF_OK, hf_lock_break(f->other, b.keys[11], ERR));
    expect_status(HF_INVALID,
                  hf_lock_renew_many(locks, LOCKS, b.statuses, ERR));
    expect_status(HF_INVALID, b.statuses[9]);
    expect_status(HF_EXPIRED, b.statuses[11]);
    for (size_t i = 12; i < LOCKS; i++)
        expect_status(HF_OK, b.statuses[i]);
    assert_true(hf_lock_remaining_ms(locks[12]) > 55000);
    (void)!hf_lock_release_many(locks, LOCKS, b.statuses, NULL);
    expect_status(HF_INVALID, b.statuses[9]);
    for (size_t i = 12; i < LOCKS; i++)
        expect_status(HF_OK, b.statuses[i]);
    for (size_t i = 0; i < LOCKS; i++)
        hf_lock_free(locks[i]);
    assert_no_key(f->other, b.keys[12]);
}

TEST(many_of_none_is_nothing)
{
    fixture *f = *state;

    expect_status(HF_OK,
                  hf_value_get_many(f->client, NULL, 0, NULL, NULL, ERR));
    expect_status(HF_OK, hf_lock_release_many(NULL, 0, NULL, ERR));
    expect_status(HF_OK, hf_lock_acquire_many(NULL, 0, 0, NULL, ERR));
    expect_status(HF_INVALID,
                  hf_value_get_many(f->client, NULL, 1, NULL, NULL, ERR));
    expect_status(HF_INVALID, hf_lock_renew_many(NULL, 1, b.statuses, ERR));
}
