/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock_holder_test.c - who holds a lock: the registration of its client.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "holdfast/key.h"
#include "holdfast/rwlock.h"
#include "holdfast/semaphore.h"
#include "support/store_fixture.h"
#include "support/told.h"

FIXTURE_TESTS();

static hf_client *described(fixture *f, const char *description)
{
    hf_client_options options = HF_CLIENT_OPTIONS_INIT;

    options.description = description;
    return fixture_client(f, &options);
}

static hf_status find(hf_client *client, hf_bytes name, hf_holder *holder)
{
    hf_lock_info info = HF_LOCK_INFO_INIT;

    expect_status(HF_OK, hf_lock_inspect(client, name, &info, ERR));
    return hf_lock_holder(client, hf_view(info.owner, info.owner_size), holder,
                          NULL);
}

/* The registration is written a moment after the lock. */
static void await_holder(hf_client *client, hf_bytes name, hf_holder *holder)
{
    int64_t until_ms = test_now_ms() + 20000;

    while (find(client, name, holder) != HF_OK) {
        assert_true(test_now_ms() < until_ms);
        test_rest();
    }
}

TEST(holder_is_the_process_that_has_the_lock)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_client *client = described(f, "nightly\nbackup");
    hf_lock *lock = fixture_lock(f, client, name, NULL);
    hf_holder holder = HF_HOLDER_INIT;
    char host[HF_HOLDER_TEXT_SIZE] = "";
    int64_t before_ms;

    fixture_not_quorum(f);
    before_ms = test_now_ms();
    expect_taken(lock);
    await_holder(f->other, name, &holder);
    assert_int_equal(holder.pid, getpid());
    assert_int_equal(gethostname(host, sizeof(host) - 1), 0);
    assert_string_equal(holder.host, host);
    assert_string_equal(holder.program, program_invocation_short_name);
    assert_string_equal(holder.description, "nightly?backup");
    assert_true(holder.user[0] != '\0');
    if (geteuid() == 0)
        assert_string_equal(holder.user, "root");
    /* Not before the test began, up to the rounding of the clocks. */
    assert_in_range(holder.asked_ms, 0, test_now_ms() - before_ms + 50);
}

/* Counted from the grant, not from the client's opening, nor from the start of
 * the wait. */
TEST(held_time_begins_with_the_grant)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *lock = fixture_lock(f, f->client, name, NULL);
    hf_lock_options options = HF_LOCK_OPTIONS_INIT;
    hf_holder holder = HF_HOLDER_INIT;
    hf_lock_info info = HF_LOCK_INFO_INIT;
    hf_lock *before;
    int64_t asked_ms, now_ms;

    fixture_not_quorum(f);
    options.ttl_ms = slowed_ms(400);
    options.flags = HF_LOCK_NO_RENEW;
    before = fixture_lock(f, f->other, name, &options);
    asked_ms = test_now_ms();
    expect_taken(before);
    expect_status(HF_OK, hf_lock_acquire(lock, 20000, ERR));
    await_holder(f->other, name, &holder);
    expect_status(HF_OK, hf_lock_inspect(f->other, name, &info, ERR));
    now_ms = test_now_ms();
    /* It was not held during the 400 ms; 300 are enough to show it. */
    assert_true(info.held_ms >= 0);
    assert_true(info.held_ms <= now_ms - asked_ms - 300);
    assert_true(holder.asked_ms >= 300);
}

TEST(registration_ends_with_its_client)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_holder holder = HF_HOLDER_INIT;
    hf_lock_info info = HF_LOCK_INFO_INIT;
    hf_client *client;
    hf_lock *lock;

    fixture_not_quorum(f);
    client = described(f, NULL);
    expect_status(HF_OK, hf_lock_new(client, name, NULL, &lock, ERR));
    expect_taken(lock);
    await_holder(f->other, name, &holder);
    expect_status(HF_OK, hf_lock_inspect(f->other, name, &info, ERR));
    hf_lock_free(lock);
    fixture_close_client(f, client);
    expect_status(HF_NOT_FOUND,
                  hf_lock_holder(f->other, hf_view(info.owner, info.owner_size),
                                 &holder, ERR));
}

TEST(holder_of_another_library_is_not_found)
{
    static const char owner[] = "5d0b7d2c1a3e4f60918273645546372f";
    fixture *f = *state;
    hf_holder holder = HF_HOLDER_INIT;

    fixture_not_quorum(f);
    expect_status(HF_NOT_FOUND,
                  hf_lock_holder(f->client, hf_str(owner), &holder, ERR));
    assert_non_null(strstr(expect_message(), "not an owner id of Holdfast"));
    expect_status(HF_NOT_FOUND,
                  hf_lock_holder(f->client, bytes(""), &holder, ERR));
    expect_status(HF_INVALID,
                  hf_lock_holder(f->client, hf_str(owner), NULL, ERR));
    holder.struct_size = 8;
    expect_status(HF_INVALID,
                  hf_lock_holder(f->client, hf_str(owner), &holder, ERR));
}

/* Any client that may write the key may write anything there. */
TEST(damaged_registration_does_no_harm)
{
    static const char owner[] = "0123456789abcdef-000000000000001";
    static const char *const values[] = {
        "",
        "\n",
        "\n\n\n\n\n\n\n\n",
        "9223372036854775807\n1",
        "-9223372036854775808\n-9223372036854775808\nu\nh\np\nd",
        "99999999999999999999999999999999999999999\nx\n\n\n",
        "1\n2\nu",
        "nonsense"};
    fixture *f = *state;
    hf_holder holder = HF_HOLDER_INIT;
    char large[4096];

    fixture_not_quorum(f);
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        put_value(f->client, bytes("hf:client:0123456789abcdef"),
                  hf_str(values[i]), 60000);
        expect_status(HF_OK,
                      hf_lock_holder(f->client, hf_str(owner), &holder, ERR));
        assert_true(holder.asked_ms >= 0);
    }
    memset(large, 'x', sizeof(large));
    put_value(f->client, bytes("hf:client:0123456789abcdef"),
              hf_view(large, sizeof(large)), 60000);
    expect_status(HF_OK,
                  hf_lock_holder(f->client, hf_str(owner), &holder, ERR));
    assert_string_equal(holder.description, "");
    expect_status(
        HF_OK,
        hf_key_delete(f->client, bytes("hf:client:0123456789abcdef"), ERR));
}

TEST(description_of_any_length_but_too_long)
{
    fixture *f = *state;
    hf_client_options options = HF_CLIENT_OPTIONS_INIT;
    char text[HF_HOLDER_TEXT_SIZE + 1];
    hf_client *client;

    memset(text, 'd', sizeof(text));
    text[HF_HOLDER_TEXT_SIZE] = '\0';
    options.description = text;
    expect_status(HF_INVALID, hf_client_open(f->url, &options, &client, ERR));
    text[HF_HOLDER_TEXT_SIZE - 1] = '\0';
    expect_status(HF_OK, hf_client_open(f->url, &options, &client, ERR));
    hf_client_close(client);
}

typedef struct listed {
    char names[512];
    size_t count;
    size_t stop_at;
} listed;

static int on_lock(void *user, hf_bytes name, const hf_lock_info *info)
{
    listed *all = user;

    assert_true(info->remaining_ms >= 0);
    assert_int_equal(info->owner_size, 32);
    (void)snprintf(all->names + strlen(all->names),
                   sizeof(all->names) - strlen(all->names), "<%.*s>",
                   (int)name.size, (const char *)name.data);
    return ++all->count == all->stop_at;
}

/* With a prefix that is itself a pattern. */
TEST(list_has_the_locks_that_are_held)
{
    fixture *f = *state;
    hf_client_options options = HF_CLIENT_OPTIONS_INIT;
    listed all = {.stop_at = 0}, some = {.stop_at = 1};
    hf_lock *locks[3];
    hf_client *client;

    if (f->rights != FIXTURE_RIGHTS_ALL)
        skip(); /* it needs SCAN */
    fixture_not_quorum(f);
    options.prefix = "t[a-c]*\\";
    client = fixture_client(f, &options);
    locks[0] = fixture_lock(f, client, bytes("one"), NULL);
    locks[1] = fixture_lock(f, client, bytes("two two"), NULL);
    locks[2] = fixture_lock(f, f->other, bytes("tbXYone"), NULL);
    for (size_t i = 0; i < 3; i++)
        expect_taken(locks[i]);
    put_value(client, bytes("foreign"),
              bytes("5d0b7d2c1a3e4f60918273645546372f"), 60000);
    put_value(client, bytes("no expiry"),
              bytes("0123456789abcdef-000000000000001"), 0);
    put_value(client, bytes("short"), bytes("1"), 60000);
    put_hash(client, bytes("table"), words("a", "1"), 60000);
    expect_status(HF_OK, hf_lock_list(client, bytes(""), on_lock, &all, ERR));
    assert_int_equal(all.count, 2);
    assert_non_null(strstr(all.names, "<one>"));
    assert_non_null(strstr(all.names, "<two two>"));
    all = (listed){.stop_at = 0};
    expect_told(
        HF_OK, client,
        hf_lock_list_start(client, bytes(""), on_lock, &all, &async, ERR));
    assert_int_equal(all.count, 2);
    all = (listed){.stop_at = 0};
    expect_status(HF_OK, hf_lock_list(client, bytes("t*"), on_lock, &all, ERR));
    assert_string_equal(all.names, "<two two>");
    expect_status(HF_CANCELLED,
                  hf_lock_list(client, bytes("*"), on_lock, &some, ERR));
    assert_int_equal(some.count, 1);
    expect_status(HF_INVALID,
                  hf_lock_list(client, bytes("*"), NULL, NULL, ERR));
    expect_status(HF_OK, hf_lock_release(locks[0], ERR));
    expect_status(HF_OK, hf_lock_release(locks[1], ERR));
    all = (listed){.stop_at = 0};
    expect_status(HF_OK, hf_lock_list(client, bytes("*"), on_lock, &all, ERR));
    assert_int_equal(all.count, 0);
}

typedef struct holds {
    const char *name;
    unsigned count;
    int64_t permits;
} holds;

static int count_hold(void *user, hf_bytes name, const hf_lock_info *info)
{
    holds *of = user;

    if (name.size != strlen(of->name) ||
        memcmp(name.data, of->name, name.size) != 0)
        return 0;
    of->count++;
    of->permits += info->holders;
    return 0;
}

TEST(list_has_every_reader_and_holder_of_permits)
{
    fixture *f = *state;
    hf_client_options options = HF_CLIENT_OPTIONS_INIT;
    holds read = {.name = "read"}, pool = {.name = "pool"};
    hf_client *client;
    hf_lock *lock;

    if (f->rights != FIXTURE_RIGHTS_ALL)
        skip(); /* it needs SCAN */
    fixture_not_quorum(f);
    options.prefix = "every:";
    client = fixture_client(f, &options);
    for (int64_t i = 1; i <= 3; i++) {
        expect_status(HF_OK, hf_rwlock_new(client, bytes("read"), 0, NULL,
                                           &lock, NULL, ERR));
        expect_taken(fixture_keep_lock(f, lock));
        expect_status(HF_OK, hf_semaphore_new_weighted(client, bytes("pool"), 6,
                                                       i, NULL, &lock, ERR));
        expect_taken(fixture_keep_lock(f, lock));
    }
    expect_status(HF_OK,
                  hf_lock_list(client, bytes(""), count_hold, &read, ERR));
    assert_int_equal(read.count, 3);
    expect_status(HF_OK,
                  hf_lock_list(client, bytes(""), count_hold, &pool, ERR));
    assert_int_equal(pool.count, 3);
    assert_int_equal(pool.permits, 6);
}

TEST(holder_on_a_quorum_is_unsupported)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *lock = fixture_lock(f, f->client, name, NULL);
    hf_holder holder = HF_HOLDER_INIT;
    listed all = {.stop_at = 0};

    if (f->store != FIXTURE_QUORUM)
        skip();
    expect_taken(lock);
    assert_int_equal(find(f->other, name, &holder), HF_UNSUPPORTED);
    expect_status(HF_UNSUPPORTED,
                  hf_lock_list(f->client, bytes("*"), on_lock, &all, ERR));
}
