/* SPDX-License-Identifier: Apache-2.0 */
/*
 * full_test.c - a store without room: writes are refused as a whole, deletes
 * still work, and so do leases.
 *
 * An embedded store of the smallest size is really filled; a server gets a
 * maxmemory that it already exceeds.
 */
#include <stdio.h>

#include "holdfast/hash.h"
#include "holdfast/once.h"
#include "holdfast/queue.h"
#include "holdfast/rank.h"
#include "holdfast/script.h"
#include "holdfast/semaphore.h"
#include "holdfast/set.h"
#include "holdfast/timeline.h"
#include "holdfast/value.h"
#include "support/store_fixture.h"

FIXTURE_TESTS();

#define BIG_SIZE ((size_t)1 << 20)

/* No store of this size takes so many big values. */
#define BIG_MAX 64

static char big[BIG_SIZE];

typedef struct full_store {
    hf_client *client;
    bool server;
    size_t values; /* written until it was full */
} full_store;

static hf_bytes value_key(char text[32], size_t i)
{
    (void)snprintf(text, 32, "fill:%zu", i);
    return hf_str(text);
}

static hf_client *open_small(fixture *f)
{
    char url[FIXTURE_PATH_SIZE];
    char name[32];
    hf_client *client = NULL;

    (void)snprintf(name, sizeof(name), "small%u", f->test_number);
    fixture_embedded_url(f, name, "8M", url);
    expect_status(HF_OK, hf_client_open(url, NULL, &client, ERR));
    return client;
}

/* A small store; create what the test needs in it, then make_full(). */
static full_store open_store(fixture *f)
{
    full_store store = {f->client, !fixture_is_embedded(f), 0};

    memset(big, 'B', sizeof(big));
    if (!store.server) {
        store.client = open_small(f);
    }
    return store;
}

static void make_full(fixture *f, full_store *store)
{
    hf_status status = HF_OK;
    char text[32];

    if (store->server) {
        assert_true(fixture_server_command(f, "CONFIG SET maxmemory 1"));
        return;
    }
    while (status == HF_OK && store->values < BIG_MAX) {
        status = hf_value_set(store->client, value_key(text, store->values),
                              hf_view(big, sizeof(big)), NULL, NULL, ERR);
        store->values += status == HF_OK;
    }
    expect_status_at(HF_FULL, status, "filling", __FILE__, __LINE__);
    assert_true(store->values > 1);
}

static void make_room(fixture *f, full_store *store)
{
    char text[32];

    if (store->server) {
        assert_true(fixture_server_command(f, "CONFIG SET maxmemory 0"));
        return;
    }
    while (store->values > 0) {
        expect_status(HF_OK,
                      hf_value_delete(store->client,
                                      value_key(text, --store->values), ERR));
    }
}

static void close_store(fixture *f, full_store *store)
{
    if (store->server) {
        make_room(f, store);
    } else {
        hf_client_close(store->client);
    }
}

TEST(full_store_refuses_writes_whole)
{
    fixture *f = *state;
    full_store store = open_store(f);
    hf_bytes huge = hf_view(big, sizeof(big));
    hf_bytes value = bytes("before");
    hf_field fields[] = {{bytes("a"), bytes("2")}, {bytes("b"), huge}};
    hf_bytes old = bytes("1");

    put_value(store.client, bytes("v"), value, 60000);
    put_hash(store.client, bytes("h"), words("a", "1"), 60000);
    make_full(f, &store);
    expect_status(
        HF_FULL, hf_value_set(store.client, bytes("v"), huge, NULL, NULL, ERR));
    expect_status(HF_FULL, hf_value_cas(store.client, bytes("v"), &value, huge,
                                        NULL, NULL, ERR));
    expect_status(HF_FULL, hf_value_cas(store.client, bytes("new"), NULL, huge,
                                        NULL, NULL, ERR));
    expect_status(HF_FULL,
                  hf_hash_put(store.client, bytes("h"), fields, 2, NULL, ERR));
    expect_status(
        HF_FULL, hf_hash_put(store.client, bytes("new"), fields, 2, NULL, ERR));
    expect_status(HF_FULL, hf_hash_cas(store.client, bytes("h"), bytes("a"),
                                       &old, huge, NULL, NULL, ERR));
    assert_value(store.client, bytes("v"), value);
    assert_ttl(store.client, bytes("v"), 60000);
    assert_field(store.client, bytes("h"), bytes("a"), bytes("1"));
    assert_ttl(store.client, bytes("h"), 60000);
    assert_no_key(store.client, bytes("new"));
    expect_status(HF_NOT_FOUND, hf_hash_get(store.client, bytes("h"),
                                            bytes("b"), &(hf_buffer){0}, ERR));
    close_store(f, &store);
}

TEST(full_store_refuses_a_scripts_write)
{
    fixture *f = *state;
    full_store store = open_store(f);
    hf_script *script = NULL;
    hf_bytes key = bytes("new");
    hf_bytes value = hf_view(big, sizeof(big));
    hf_reply *reply = NULL;

    expect_status(HF_OK,
                  hf_script_load(store.client,
                                 bytes("return redis.call('set', KEYS[1], "
                                       "ARGV[1])"),
                                 &script, ERR));
    make_full(f, &store);
    expect_status(HF_FULL,
                  hf_script_run(script, &key, 1, &value, 1, &reply, ERR));
    assert_null(reply);
    assert_no_key(store.client, key);
    hf_script_free(script);
    close_store(f, &store);
}

TEST(full_store_takes_writes_again_after_deletes)
{
    fixture *f = *state;
    full_store store = open_store(f);
    hf_bytes name = bytes("a");

    put_value(store.client, bytes("v"), bytes("1"), 0);
    put_hash(store.client, bytes("h"), words("a", "1", "b", "2"), 0);
    put_hash(store.client, bytes("h2"), words("a", "1", "b", "2"), 0);
    make_full(f, &store);
    expect_status(HF_OK, hf_value_delete(store.client, bytes("v"), ERR));
    expect_status(HF_OK, hf_hash_delete_fields(store.client, bytes("h"), &name,
                                               1, NULL, ERR));
    expect_status(HF_OK, hf_hash_delete(store.client, bytes("h2"), ERR));
    make_room(f, &store);
    put_value(store.client, bytes("v"), hf_view(big, sizeof(big)), 0);
    close_store(f, &store);
}

/* On a server PEXPIRE comes first, so that the result is stored all the same.
 */
TEST(full_store_does_not_give_finished_work_back)
{
    fixture *f = *state;
    full_store store = open_store(f);
    hf_once_info info = HF_ONCE_INFO_INIT;
    hf_lock *claim = NULL;
    hf_status want = store.server ? HF_OK : HF_FULL;

    expect_status(HF_OK, hf_once_new(store.client, bytes("work"), NULL, NULL,
                                     &claim, ERR));
    expect_status(HF_OK, hf_lock_try(claim, ERR));
    make_full(f, &store);
    expect_status(want,
                  hf_once_complete(claim, 0, hf_view(big, sizeof(big)), ERR));
    hf_lock_free(claim);
    make_room(f, &store);
    expect_status(HF_OK,
                  hf_once_inspect(store.client, bytes("work"), &info, ERR));
    assert_int_equal(info.state, store.server ? HF_ONCE_DONE : HF_ONCE_CLAIMED);
    hf_once_info_free(&info);
    close_store(f, &store);
}

/* The worst moment to lose a lease is when the store is full. */
static void renew_and_release(fixture *f, int64_t permits)
{
    full_store store = open_store(f);
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    hf_lock *lock = NULL;

    opts.ttl_ms = slowed_ms(300);
    if (permits > 0)
        expect_status(HF_OK, hf_semaphore_new(store.client, bytes("l"), permits,
                                              &opts, &lock, ERR));
    else
        expect_status(HF_OK,
                      hf_lock_new(store.client, bytes("l"), &opts, &lock, ERR));
    expect_status(HF_OK, hf_lock_try(lock, ERR));
    make_full(f, &store);
    expect_throughout(hf_lock_is_held(lock), opts.ttl_ms * 7 / 3);
    expect_status(HF_OK, hf_lock_renew(lock, ERR));
    cut_lease(store.client, bytes("l"), 60000);
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    hf_lock_free(lock);
    close_store(f, &store);
}

TEST(full_store_still_renews_and_releases)
{
    renew_and_release(*state, 0);
}

TEST(full_store_still_renews_and_releases_permits)
{
    renew_and_release(*state, 2);
}

static hf_lock *take_job(const full_store *store, int64_t ttl_ms)
{
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    hf_lock *lock = NULL;

    opts.ttl_ms = ttl_ms;
    expect_status(HF_OK,
                  hf_queue_new(store->client, bytes("q"), &opts, &lock, ERR));
    expect_status(HF_OK, hf_lock_try(lock, ERR));
    return lock;
}

/* It may be what has filled the store. One of the jobs is delayed, one is tried
 * again, and their ids are remembered. */
TEST(full_store_works_off_a_queue)
{
    fixture *f = *state;
    full_store store = open_store(f);
    hf_queue_options opts = HF_QUEUE_OPTIONS_INIT;
    int64_t ttl_ms = slowed_ms(300);
    hf_lock *lock;

    opts.remember_ms = 60000;
    for (int i = 0; i < 3; i++) {
        opts.delay_ms = i == 2 ? 100 : 0;
        expect_status(HF_OK, hf_queue_put(store.client, bytes("q"), bytes(""),
                                          bytes("x"), &opts, ERR));
    }
    lock = take_job(&store, ttl_ms);
    make_full(f, &store);
    if (store.server)
        expect_status(HF_FULL, hf_queue_put(store.client, bytes("q"), bytes(""),
                                            bytes("x"), &opts, ERR));
    expect_throughout(hf_lock_is_held(lock), ttl_ms * 7 / 3);
    expect_status(HF_OK, hf_queue_again(lock, 0, ERR));
    for (int i = 0; i < 3; i++) {
        expect_status(HF_OK, hf_lock_try(lock, ERR));
        expect_status(HF_OK, hf_queue_done(lock, ERR));
    }
    expect_status(HF_HELD, hf_lock_try(lock, ERR));
    hf_lock_free(lock);
    close_store(f, &store);
}

/* Locks are small: only a server, which counts every byte, refuses them. */
TEST(full_server_refuses_locks)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_bytes held = fixture_key(f, "held");
    hf_lock *lock = fixture_lock(f, f->client, name, NULL);
    hf_lock *holder = fixture_lock(f, f->client, held, NULL);
    hf_lock *permit = NULL;

    fixture_only_redis(f);
    expect_status(HF_OK, hf_lock_try(holder, ERR));
    assert_true(fixture_server_command(f, "CONFIG SET maxmemory 1"));
    expect_status(HF_FULL, hf_lock_try(lock, ERR));
    expect_status(HF_FULL, hf_lock_acquire(lock, 100, ERR));
    expect_status(HF_OK,
                  hf_semaphore_new(f->client, name, 1, NULL, &permit, ERR));
    expect_status(HF_FULL, hf_lock_try(permit, ERR));
    hf_lock_free(permit);
    assert_false(hf_lock_is_held(lock));
    assert_no_key(f->client, name);
    /* Only the lock is touched, and that makes room. */
    expect_status(HF_OK, hf_lock_break(f->client, held, ERR));
    assert_no_key(f->client, held);
    assert_true(fixture_server_command(f, "CONFIG SET maxmemory 0"));
    expect_status(HF_EXPIRED, hf_lock_release(holder, ERR));
}

/* Nothing is written before what is refused. */
TEST(full_server_refuses_new_sets_ranks_and_timelines)
{
    fixture *f = *state;
    hf_bytes set = fixture_key(f, "set"), rank = fixture_key(f, "rank");
    hf_bytes timeline = fixture_key(f, "timeline");
    hf_bytes member = bytes("a");

    fixture_only_redis(f);
    assert_true(fixture_server_command(f, "CONFIG SET maxmemory 1"));
    for (int64_t ttl_ms = 0; ttl_ms <= 60000; ttl_ms += 60000) {
        hf_set_add_options in_set = HF_SET_ADD_OPTIONS_INIT;
        hf_rank_add_options in_rank = HF_RANK_ADD_OPTIONS_INIT;

        in_set.ttl_ms = in_rank.ttl_ms = ttl_ms;
        expect_status(HF_FULL, hf_set_add(f->client, set, &member, 1, &in_set,
                                          NULL, ERR));
        expect_status(HF_FULL, hf_rank_add(f->client, rank, member, 1, &in_rank,
                                           NULL, ERR));
    }
    expect_status(HF_FULL, hf_timeline_add(f->client, timeline, member, member,
                                           60000, NULL, ERR));
    assert_no_key(f->client, set);
    assert_no_key(f->client, rank);
    assert_no_key(f->client, timeline);
    assert_true(fixture_server_command(f, "CONFIG SET maxmemory 0"));
}
