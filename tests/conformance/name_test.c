/* SPDX-License-Identifier: Apache-2.0 */
/*
 * name_test.c - which keys and lock names are accepted, and what the client's
 * prefix does to them.
 */
#include "holdfast/hash.h"
#include "holdfast/key.h"
#include "holdfast/lock.h"
#include "holdfast/value.h"
#include "support/every_call.h"
#include "support/redisson_peer.h"

FIXTURE_TESTS();

static char long_name[1 << 20];

static void expect_all_refused(hf_client *client, hf_bytes key,
                               const every_call *calls, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const every_call *call = &calls[i];
        every_place place = {.client = client, .key = key};
        hf_status status;

        if (call->keyless || call->is_raw) {
            continue;
        }
        status = every_call_prepare(&place, call, ERR);
        if (status == HF_OK) {
            status = every_call_make(&place, call, false, ERR);
        }
        every_call_done(&place);
        expect_status_at(HF_INVALID, status, call->name, __FILE__, __LINE__);
    }
}

static void expect_refused(hf_client *client, hf_bytes key)
{
    expect_all_refused(client, key, every_calls, every_call_count);
}

static void expect_redisson_refused(fixture *f, hf_bytes key)
{
    if (redisson_is_here(f))
        expect_all_refused(redisson_client(f, NULL), key, every_redisson_calls,
                           every_redisson_count);
}

TEST(every_call_refuses_an_empty_key)
{
    fixture *f = *state;

    expect_refused(f->client, bytes(""));
    expect_refused(f->client, hf_view(NULL, 0));
    expect_redisson_refused(f, bytes(""));
}

TEST(every_call_refuses_a_key_that_is_too_long)
{
    fixture *f = *state;

    memset(long_name, 'k', sizeof(long_name));
    expect_refused(f->client, hf_view(long_name, HF_NAME_MAX + 1));
    expect_refused(f->client, hf_view(long_name, sizeof(long_name)));
    expect_refused(f->client, hf_view("k", SIZE_MAX));
    expect_redisson_refused(f, hf_view(long_name, HF_NAME_MAX + 1));
}

TEST(every_call_counts_the_prefix_into_the_length)
{
    fixture *f = *state;
    hf_client_options opts = HF_CLIENT_OPTIONS_INIT;
    hf_client *client;

    opts.prefix = "0123456789";
    client = fixture_client(f, &opts);
    memset(long_name, 'p', sizeof(long_name));
    expect_refused(client, hf_view(long_name, HF_NAME_MAX - 9));
    put_value(client, hf_view(long_name, HF_NAME_MAX - 10), bytes("v"), 0);
    assert_value(client, hf_view(long_name, HF_NAME_MAX - 10), bytes("v"));
}

/* Each type under the longest key. */
TEST(longest_key_is_accepted)
{
    fixture *f = *state;
    hf_bytes key = {long_name, HF_NAME_MAX};
    hf_bytes shorter = {long_name, HF_NAME_MAX - 1};

    memset(long_name, 'L', sizeof(long_name));
    put_value(f->client, key, bytes("v"), 0);
    assert_value(f->other, key, bytes("v"));
    assert_no_key(f->other, shorter);
    expect_status(HF_OK, hf_value_delete(f->client, key, ERR));
    put_hash(f->client, key, words("a", "1"), 0);
    assert_field(f->other, key, bytes("a"), bytes("1"));
    expect_status(HF_OK, hf_hash_delete(f->client, key, ERR));
}

TEST(longest_lock_name_is_accepted)
{
    fixture *f = *state;
    hf_bytes key = {long_name, HF_NAME_MAX};
    hf_lock *lock;

    memset(long_name, 'N', sizeof(long_name));
    lock = fixture_lock(f, f->client, key, NULL);
    expect_status(HF_OK, hf_lock_try(lock, ERR));
    expect_status(HF_HELD,
                  hf_lock_try(fixture_lock(f, f->other, key, NULL), ERR));
    expect_status(HF_OK, hf_lock_release(lock, ERR));
}

/* Long names that differ only at the end are different locks. */
TEST(long_names_are_told_apart)
{
    fixture *f = *state;
    char name[HF_NAME_MAX];
    hf_lock *lock;

    memset(name, 'T', sizeof(name));
    lock = fixture_lock(f, f->client, hf_view(name, sizeof(name)), NULL);
    expect_status(HF_OK, hf_lock_try(lock, ERR));
    put_value(f->client, hf_view(name, sizeof(name) - 1), bytes("a"), 0);
    name[sizeof(name) - 1] = 'U';
    put_value(f->client, hf_view(name, sizeof(name)), bytes("b"), 0);
    assert_true(hf_lock_is_held(lock));
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    assert_value(f->client, hf_view(name, sizeof(name)), bytes("b"));
    assert_value(f->client, hf_view(name, sizeof(name) - 1), bytes("a"));
}

TEST(lock_names_are_binary_safe)
{
    fixture *f = *state;
    hf_lock *one = fixture_lock(f, f->client, bytes("bin\0one \r\n"), NULL);
    hf_lock *two = fixture_lock(f, f->client, bytes("bin\0two \r\n"), NULL);

    expect_status(HF_OK, hf_lock_try(one, ERR));
    expect_status(HF_OK, hf_lock_try(two, ERR));
    expect_status(
        HF_HELD,
        hf_lock_try(fixture_lock(f, f->other, bytes("bin\0one \r\n"), NULL),
                    ERR));
    expect_status(HF_OK, hf_lock_release(one, ERR));
    expect_status(HF_OK, hf_lock_release(two, ERR));
}

TEST(lock_names_with_a_hash_tag_are_accepted)
{
    fixture *f = *state;
    const char *const good[] = {"{user}:1", "a{b}c", "{x}",   "open{brace",
                                "a}{b}",    "{",     "a{{b}c"};

    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        hf_lock *lock = fixture_lock(f, f->client, hf_str(good[i]), NULL);

        expect_status(HF_OK, hf_lock_try(lock, ERR));
        assert_true(hf_lock_token(lock) > 0);
        expect_status(HF_OK, hf_lock_release(lock, ERR));
    }
}

/* `plain` and `{plain}` have the same slot, and share only its token. */
TEST(lock_names_that_differ_by_a_tag_are_two_locks)
{
    fixture *f = *state;
    hf_lock *plain = fixture_lock(f, f->client, bytes("plain"), NULL);
    hf_lock_info info = HF_LOCK_INFO_INIT;

    expect_status(HF_OK, hf_lock_try(plain, ERR));
    expect_status(HF_NOT_FOUND,
                  hf_lock_inspect(f->client, bytes("{plain}"), &info, ERR));
    expect_status(HF_OK, hf_lock_release(plain, ERR));
}

TEST(lock_names_with_a_stray_brace_are_refused)
{
    fixture *f = *state;
    const char *const bad[] = {"a}b", "}", "{}a", "{}", "{}{b}"};
    hf_lock_info info = HF_LOCK_INFO_INIT;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        hf_lock *lock = NULL;

        expect_status_at(
            HF_INVALID,
            hf_lock_new(f->client, hf_str(bad[i]), NULL, &lock, ERR), bad[i],
            __FILE__, __LINE__);
        assert_null(lock);
        expect_status(HF_INVALID,
                      hf_lock_inspect(f->client, hf_str(bad[i]), &info, ERR));
        expect_status(HF_INVALID,
                      hf_lock_break(f->client, hf_str(bad[i]), ERR));
    }
}

TEST(data_keys_may_have_any_brace)
{
    fixture *f = *state;

    put_value(f->client, bytes("a}b"), bytes("v"), 0);
    assert_value(f->client, bytes("a}b"), bytes("v"));
    put_hash(f->client, bytes("{}h"), words("}", "{"), 0);
    assert_field(f->client, bytes("{}h"), bytes("}"), bytes("{"));
}

TEST(prefix_comes_before_every_key)
{
    fixture *f = *state;
    hf_client_options opts = HF_CLIENT_OPTIONS_INIT;
    hf_lock_info info = HF_LOCK_INFO_INIT;
    hf_client *client;
    hf_lock *lock;
    char owner[HF_OWNER_SIZE];

    opts.prefix = "app:";
    client = fixture_client(f, &opts);
    put_value(client, bytes("v"), bytes("1"), 0);
    assert_value(f->client, bytes("app:v"), bytes("1"));
    assert_no_key(f->client, bytes("v"));
    put_hash(client, bytes("h"), words("a", "1"), 0);
    assert_field(f->client, bytes("app:h"), bytes("a"), bytes("1"));
    lock = fixture_lock(f, client, bytes("l"), NULL);
    expect_status(HF_OK, hf_lock_try(lock, ERR));
    hf_lock_owner(lock, owner);
    expect_status(HF_OK,
                  hf_lock_inspect(f->client, bytes("app:l"), &info, ERR));
    assert_string_equal(info.owner, owner);
    expect_status(
        HF_HELD,
        hf_lock_try(fixture_lock(f, f->client, bytes("app:l"), NULL), ERR));
    expect_status(HF_OK, hf_lock_break(f->client, bytes("app:l"), ERR));
    expect_status(HF_OK, hf_key_expire(client, bytes("v"), 60000, ERR));
    assert_ttl(f->client, bytes("app:v"), 60000);
}

TEST(prefix_waiters_are_woken_by_clients_without_one)
{
    fixture *f = *state;
    hf_client_options opts = HF_CLIENT_OPTIONS_INIT;
    hf_lock *with_prefix;
    hf_lock *without;
    uint64_t token;

    opts.prefix = "wake:";
    with_prefix = fixture_lock(f, fixture_client(f, &opts), bytes("l"), NULL);
    without = fixture_lock(f, f->client, bytes("wake:l"), NULL);
    expect_status(HF_OK, hf_lock_try(with_prefix, ERR));
    token = hf_lock_token(with_prefix);
    expect_status(HF_TIMEOUT, hf_lock_acquire(without, 20, ERR));
    expect_status(HF_OK, hf_lock_release(with_prefix, ERR));
    expect_status(HF_OK, hf_lock_acquire(without, 5000, ERR));
    assert_true(hf_lock_token(without) > token);
}

TEST(names_that_are_null_with_a_size_are_refused)
{
    fixture *f = *state;
    hf_bytes none = {NULL, 5};

    expect_refused(f->client, none);
    expect_status(HF_INVALID,
                  hf_value_set(f->client, bytes("k"), none, NULL, NULL, ERR));
}
