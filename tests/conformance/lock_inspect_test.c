/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock_inspect_test.c - a lock seen and broken from outside: hf_lock_inspect(),
 * hf_lock_break() and hf_lock_break_owner().
 */
#include "holdfast/hash.h"
#include "holdfast/rwlock.h"
#include "holdfast/semaphore.h"
#include "holdfast/together.h"
#include "support/store_fixture.h"
#include "support/told.h"

FIXTURE_TESTS();

TEST(inspect_shows_the_holder)
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

TEST(inspect_of_a_free_lock_shows_the_last_token)
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

/* Bindings clear a structure instead of copying its _INIT macro. */
TEST(inspect_does_not_leave_a_time_that_is_not_known)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *lock = fixture_lock(f, f->client, name, NULL);
    hf_lock_info info;

    memset(&info, 0, sizeof(info));
    info.struct_size = sizeof(info);
    expect_status(HF_NOT_FOUND, hf_lock_inspect(f->client, name, &info, ERR));
    assert_true(info.held_ms == -1);
    expect_taken(lock);
    info.held_ms = 0;
    expect_status(HF_OK, hf_lock_inspect(f->client, name, &info, ERR));
    assert_true(info.held_ms == -1);
}

static int take_token(void *user, const hf_lock_info *holder)
{
    *(uint64_t *)user = holder->token;
    return 0;
}

/* By inspect and by holders; on a quorum servers know only their own. */
static void assert_token_seen(fixture *f, hf_bytes name, const hf_lock *lock)
{
    bool quorum = f->store == FIXTURE_QUORUM;
    hf_lock_info info = HF_LOCK_INFO_INIT;
    uint64_t listed = 0;

    assert_true(hf_lock_is_held(lock));
    expect_status(HF_OK, hf_lock_inspect(f->other, name, &info, ERR));
    assert_true(info.token == (quorum ? 0 : hf_lock_token(lock)));
    if (quorum)
        return;
    expect_status(HF_OK,
                  hf_lock_holders(f->other, name, take_token, &listed, ERR));
    assert_true(listed == hf_lock_token(lock));
}

TEST(token_of_the_holder_is_seen)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *lock = fixture_lock(f, f->client, name, NULL);
    hf_lock *next = fixture_lock(f, f->other, name, NULL);
    hf_lock *another = fixture_lock(f, f->other, fixture_key(f, "m"), NULL);
    told said = {0};
    hf_async async = tell(&said);
    hf_lock_info info = HF_LOCK_INFO_INIT;

    expect_taken(lock);
    expect_taken(another); /* the last token is its own */
    assert_token_seen(f, name, lock);
    expect_status(HF_OK, hf_lock_acquire_start(next, 10000, &async, ERR));
    expect_soon(hf_lock_inspect(f->client, name, &info, NULL) == HF_OK &&
                    info.waiters == 1,
                5000);
    assert_token_seen(f, name, lock);
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    await_ok(f->other, &said);
    assert_token_seen(f, name, next);
    expect_status(HF_OK, hf_lock_release(next, ERR));
    expect_taken(lock);
    assert_token_seen(f, name, lock);
}

/* Also one that is not the store's clock. */
TEST(token_of_locks_taken_together_is_seen)
{
    fixture *f = *state;
    hf_bytes names[2];
    hf_lock *locks[2];

    if (f->cluster != NULL)
        skip(); /* where they are acquired one by one */
    for (int i = 0; i < 2; i++) {
        names[i] = fixture_key(f, i == 0 ? "a" : "b");
        locks[i] = fixture_lock(f, f->client, names[i], NULL);
    }
    expect_status(HF_OK, hf_lock_acquire_all(locks, 2, 1000, ERR));
    for (int i = 0; i < 2; i++)
        assert_token_seen(f, names[i], locks[i]);
}

/* A reader's lease and a permit have no room for one in the store. */
TEST(token_of_readers_and_permits_is_unknown)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock_info info = HF_LOCK_INFO_INIT;
    hf_lock *read, *write;
    uint64_t listed = 1;

    fixture_not_quorum(f);
    expect_status(HF_OK,
                  hf_rwlock_new(f->client, name, 0, NULL, &read, &write, ERR));
    fixture_keep_lock(f, read);
    expect_taken(fixture_keep_lock(f, write));
    assert_token_seen(f, name, write);
    expect_status(HF_OK, hf_rwlock_downgrade(write, ERR));
    expect_status(HF_OK, hf_lock_inspect(f->other, name, &info, ERR));
    assert_true(info.token == 0);
    expect_status(HF_OK,
                  hf_lock_holders(f->other, name, take_token, &listed, ERR));
    assert_true(listed == 0);
}

/* A value that looks like one of ours, but is not. */
TEST(what_is_no_token_is_not_shown)
{
    static const char *const values[] = {
        "0123456789abcdef-000000000000001",
        "0123456789abcdef-000000000000001+",
        "0123456789abcdef-000000000000001=",
        "0123456789abcdef-000000000000001=99999999999999999999",
        "0123456789abcdef-000000000000001:9999999999999999+",
        "0123456789abcdef-000000000000001:+",
        "a-b=17"};
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock_info info = HF_LOCK_INFO_INIT;

    fixture_not_quorum(f);
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        put_value(f->client, name, hf_str(values[i]), 60000);
        info.token = 0;
        expect_status(HF_OK, hf_lock_inspect(f->client, name, &info, ERR));
        assert_true(info.token == 0);
    }
    assert_string_equal(info.owner, "a-b=17");
}

TEST(inspect_shows_a_foreign_holder)
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

/* Only a hash that expires, and has nothing but owners, is of Redisson. */
TEST(inspect_and_break_of_a_hash_are_wrong_type)
{
    static const char java[] = "9b2f0a1c-0000-4000-8000-0123456789ab:1";
    static const struct {
        const char *field;
        int64_t ttl_ms;
    } cases[] = {{"a", 0},
                 {"a", 60000},
                 {java, 0},
                 {"mode", 60000},
                 {"2026-01-02:3", 60000},
                 {"9b2f0a1c-0000-4000-8000-0123456789ab", 60000}};
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock_info info = HF_LOCK_INFO_INIT;

    fixture_not_quorum(f);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        put_hash(f->client, name, words(cases[i].field, "read"),
                 cases[i].ttl_ms);
        expect_status(HF_WRONG_TYPE,
                      hf_lock_inspect(f->client, name, &info, ERR));
        expect_status(HF_WRONG_TYPE,
                      hf_lock_holders(f->client, name, take_token, &info, ERR));
        expect_status(HF_WRONG_TYPE, hf_lock_break(f->client, name, ERR));
        assert_field(f->client, name, hf_str(cases[i].field), bytes("read"));
        expect_status(HF_OK, hf_hash_delete(f->client, name, ERR));
    }
}

TEST(break_frees_the_lock_and_the_next_token_is_larger)
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

TEST(break_takes_a_foreign_lock_away)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");

    fixture_not_quorum(f);
    put_value(f->client, name, bytes("foreign"), 0);
    expect_status(HF_OK, hf_lock_break(f->client, name, ERR));
    assert_no_key(f->client, name);
}

TEST(break_of_a_free_lock_is_not_found)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");

    fixture_not_quorum(f);
    expect_status(HF_NOT_FOUND, hf_lock_break(f->client, name, ERR));
    assert_no_key(f->client, name);
}

static hf_bytes owner_of(const hf_lock *lock, char owner[HF_OWNER_SIZE])
{
    hf_lock_owner(lock, owner);
    return hf_str(owner);
}

TEST(break_of_an_owner_spares_the_next_one)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *lock = fixture_lock(f, f->client, name, NULL);
    hf_lock *next = fixture_lock(f, f->other, name, NULL);
    char first[HF_OWNER_SIZE], second[HF_OWNER_SIZE];

    expect_status(HF_NOT_FOUND,
                  hf_lock_break_owner(f->other, name, bytes("x"), ERR));
    expect_taken(lock);
    (void)owner_of(lock, first);
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    expect_taken(next);
    expect_status(HF_NOT_FOUND,
                  hf_lock_break_owner(f->client, name, hf_str(first), ERR));
    expect_status(HF_OK, hf_lock_renew(next, ERR));
    expect_status(HF_OK, hf_lock_break_owner(f->client, name,
                                             owner_of(next, second), ERR));
    expect_status(HF_EXPIRED, hf_lock_renew(next, ERR));
    expect_taken(lock);
}

/* Of readers, and of the holders of permits, the others keep theirs. */
TEST(break_of_an_owner_is_of_its_own_hold)
{
    fixture *f = *state;
    hf_bytes names[2];
    hf_lock *one[2], *two[2];
    char owner[HF_OWNER_SIZE];

    fixture_not_quorum(f);
    names[0] = fixture_key(f, "rw");
    names[1] = fixture_key(f, "s");
    for (int i = 0; i < 2; i++) {
        hf_client *client = i == 0 ? f->client : f->other;
        hf_lock **made = i == 0 ? one : two;

        expect_status(HF_OK, hf_rwlock_new(client, names[0], 0, NULL, &made[0],
                                           NULL, ERR));
        expect_status(HF_OK, hf_semaphore_new_weighted(client, names[1], 4, 2,
                                                       NULL, &made[1], ERR));
        for (int kind = 0; kind < 2; kind++)
            expect_taken(fixture_keep_lock(f, made[kind]));
    }
    for (int kind = 0; kind < 2; kind++) {
        hf_bytes first = owner_of(one[kind], owner);

        expect_status(HF_OK,
                      hf_lock_break_owner(f->other, names[kind], first, ERR));
        expect_status(HF_NOT_FOUND,
                      hf_lock_break_owner(f->other, names[kind], first, ERR));
        expect_status(HF_EXPIRED, hf_lock_renew(one[kind], ERR));
        expect_status(HF_OK, hf_lock_renew(two[kind], ERR));
    }
    expect_status(HF_EXPIRED, hf_lock_release(one[1], ERR));
    expect_taken(one[1]); /* its permits are free */
}

TEST(break_of_a_foreign_owner)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");

    fixture_not_quorum(f);
    put_value(f->client, name, bytes("foreign"), 0);
    expect_status(HF_NOT_FOUND,
                  hf_lock_break_owner(f->client, name, bytes("other"), ERR));
    expect_status(HF_OK,
                  hf_lock_break_owner(f->client, name, bytes("foreign"), ERR));
    assert_no_key(f->client, name);
    put_value(f->client, name, bytes("0123456789abcdef0123456789abcdef=1"), 0);
    expect_status(
        HF_NOT_FOUND,
        hf_lock_break_owner(f->client, name,
                            bytes("0123456789abcdef0123456789abcdef!2"), ERR));
    expect_status(HF_INVALID,
                  hf_lock_break_owner(f->client, name, bytes(""), ERR));
}
