/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock_inspect_test.c - a lock seen and broken from outside: hf_lock_inspect()
 * and hf_lock_break().
 */
#include "support/store_fixture.h"

static void inspect_shows_the_holder(void **state)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *lock = fixture_lock(f, f->client, name, NULL);
    hf_lock_info info = HF_LOCK_INFO_INIT;
    char owner[HF_OWNER_SIZE];

    expect_taken(lock);
    expect_status(HF_OK, hf_lock_inspect(f->other, name, &info, ERR));
    hf_lock_owner(lock, owner);
    assert_string_equal(info.owner, owner);
    assert_int_equal(info.owner_size, 32);
    assert_true(info.last_token >= hf_lock_token(lock));
    assert_true(info.waiters == 0);
    assert_true(info.remaining_ms > 28000 && info.remaining_ms <= 30000);
}

static void inspect_of_a_free_lock_shows_the_last_token(void **state)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *lock = fixture_lock(f, f->client, name, NULL);
    hf_lock_info info = HF_LOCK_INFO_INIT;

    info.waiters = 77;
    expect_status(HF_NOT_FOUND, hf_lock_inspect(f->client, name, &info, ERR));
    assert_true(info.waiters == 0);
    expect_taken(lock);
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    expect_status(HF_NOT_FOUND, hf_lock_inspect(f->client, name, &info, ERR));
    assert_true(info.last_token >= hf_lock_token(lock));
}

static void inspect_shows_a_foreign_holder(void **state)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock_info info = HF_LOCK_INFO_INIT;
    char long_owner[200];

    fixture_not_quorum(f);
    put_value(f->client, name, bytes("foreign"), 0);
    expect_status(HF_OK, hf_lock_inspect(f->client, name, &info, ERR));
    assert_string_equal(info.owner, "foreign");
    assert_int_equal(info.owner_size, 7);
    assert_true(info.remaining_ms == -1);
    memset(long_owner, 'o', sizeof(long_owner));
    put_value(f->client, name, hf_view(long_owner, sizeof(long_owner)), 60000);
    expect_status(HF_OK, hf_lock_inspect(f->client, name, &info, ERR));
    assert_int_equal(info.owner_size, sizeof(long_owner));
    assert_int_equal(strlen(info.owner), HF_LOCK_INFO_OWNER_MAX);
    assert_true(info.remaining_ms > 0 && info.remaining_ms <= 60000);
}

static void inspect_and_break_of_a_hash_are_wrong_type(void **state)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock_info info = HF_LOCK_INFO_INIT;

    fixture_not_quorum(f);
    put_hash(f->client, name, words("a", "1"), 0);
    expect_status(HF_WRONG_TYPE, hf_lock_inspect(f->client, name, &info, ERR));
    expect_status(HF_WRONG_TYPE, hf_lock_break(f->client, name, ERR));
    assert_field(f->client, name, bytes("a"), bytes("1"));
}

static void break_frees_the_lock_and_the_next_token_is_larger(void **state)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *lock = fixture_lock(f, f->client, name, NULL);
    hf_lock *next = fixture_lock(f, f->other, name, NULL);
    hf_lock_info info = HF_LOCK_INFO_INIT;

    fixture_not_quorum(f);
    expect_taken(lock);
    expect_status(HF_OK, hf_lock_break(f->other, name, ERR));
    assert_no_key(f->other, name);
    expect_status(HF_NOT_FOUND, hf_lock_inspect(f->other, name, &info, ERR));
    assert_true(info.last_token >= hf_lock_token(lock));
    expect_taken(next);
    assert_true(hf_lock_token(next) > info.last_token);
}

static void break_takes_a_foreign_lock_away(void **state)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");

    fixture_not_quorum(f);
    put_value(f->client, name, bytes("foreign"), 0);
    expect_status(HF_OK, hf_lock_break(f->client, name, ERR));
    assert_no_key(f->client, name);
}

static void break_of_a_free_lock_is_not_found(void **state)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");

    fixture_not_quorum(f);
    expect_status(HF_NOT_FOUND, hf_lock_break(f->client, name, ERR));
    assert_no_key(f->client, name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        fixture_test(inspect_shows_the_holder),
        fixture_test(inspect_of_a_free_lock_shows_the_last_token),
        fixture_test(inspect_shows_a_foreign_holder),
        fixture_test(inspect_and_break_of_a_hash_are_wrong_type),
        fixture_test(break_frees_the_lock_and_the_next_token_is_larger),
        fixture_test(break_takes_a_foreign_lock_away),
        fixture_test(break_of_a_free_lock_is_not_found),
    };

    return fixture_run(tests);
}
