/* SPDX-License-Identifier: Apache-2.0 */
/*
 * databases_test.c - the numbered databases of a store: what is in one is not
 * seen in another, and keys can be moved between them.
 */
#include <stdio.h>
#include <string.h>

#include "holdfast/command.h"
#include "holdfast/key.h"
#include "holdfast/lock.h"
#include "holdfast/queue.h"
#include "holdfast/store.h"
#include "holdfast/value.h"
#include "holdfast/watch.h"
#include "support/slowness.h"
#include "support/store_fixture.h"
#include "support/told.h"

FIXTURE_TESTS();

#define WAIT_MS 10000

/* A client of this database of the store under test. */
static hf_client *client_of(fixture *f, int database)
{
    char url[FIXTURE_PATH_SIZE + 16];
    const char *form = "%s?db=%d";

    if (strchr(f->url, '?') != NULL)
        form = "%s&db=%d";
    else if (strstr(f->url, "://127.") != NULL)
        form = "%s/%d";
    (void)snprintf(url, sizeof(url), form, f->url, database);
    return fixture_client_at(f, url, NULL);
}

/* The integer that a command of up to three words replies. */
static int64_t run(hf_client *client, const char *name, hf_bytes first,
                   const char *second)
{
    hf_bytes words[] = {hf_str(name), first,
                        hf_str(second != NULL ? second : "")};
    hf_reply *reply = NULL;
    int64_t number;

    expect_status(
        HF_OK, hf_command(client, second != NULL ? 3 : 2, words, &reply, ERR));
    number = hf_reply_integer(reply);
    hf_reply_free(reply);
    return number;
}

TEST(key_of_one_database_is_not_in_another)
{
    fixture *f = *state;
    hf_client *three = client_of(f, 3), *five = client_of(f, 5);
    hf_bytes key = fixture_key(f, "k");

    put_value(f->client, key, bytes("zero"), 0);
    put_value(three, key, bytes("three"), 60000);
    assert_no_key(five, key);
    assert_value(three, key, bytes("three"));
    assert_value(f->other, key, bytes("zero"));
    assert_ttl(three, key, 60000);
    assert_no_ttl(f->client, key);
    expect_status(HF_OK, hf_key_delete(three, key, ERR));
    assert_no_key(three, key);
    assert_value(f->client, key, bytes("zero"));
}

TEST(lock_of_one_database_is_free_in_another)
{
    fixture *f = *state;
    hf_client *three = client_of(f, 3);
    hf_bytes name = fixture_key(f, "lock");
    hf_lock *here = fixture_lock(f, f->client, name, NULL);
    hf_lock *there = fixture_lock(f, three, name, NULL);
    hf_lock *other = fixture_lock(f, client_of(f, 3), name, NULL);

    expect_taken(here);
    expect_taken(there);
    expect_status(HF_HELD, hf_lock_try(other, ERR));
    expect_status(HF_OK, hf_lock_release(here, ERR));
    expect_status(HF_HELD, hf_lock_try(other, ERR));
    expect_status(HF_OK, hf_lock_release(there, ERR));
    expect_taken(other);
}

TEST(waiter_gets_the_lock_of_its_database)
{
    fixture *f = *state;
    hf_client *nine = client_of(f, 9);
    hf_bytes name = fixture_key(f, "lock");
    hf_lock *zero = fixture_lock(f, f->client, name, NULL);
    hf_lock *holder = fixture_lock(f, nine, name, NULL);
    hf_lock *waiter = fixture_lock(f, client_of(f, 9), name, NULL);
    hf_lock_info info = HF_LOCK_INFO_INIT;
    told said = {0};
    hf_async async = tell(&said);

    expect_taken(zero);
    expect_taken(holder);
    expect_status(HF_OK,
                  hf_lock_acquire_start(waiter, HF_FOREVER, &async, ERR));
    expect_soon(hf_lock_inspect(nine, name, &info, NULL) == HF_OK &&
                    info.waiters == 1,
                5000);
    expect_status(HF_OK, hf_lock_release(holder, ERR));
    expect_soon(hf_lock_is_held(waiter), 5000);
    assert_true(hf_lock_is_held(zero));
    expect_status(HF_OK, hf_lock_inspect(f->client, name, &info, ERR));
    assert_int_equal(info.waiters, 0);
}

TEST(queue_of_one_database_has_its_own_jobs)
{
    fixture *f = *state;
    hf_client *three = client_of(f, 3);
    hf_bytes name = fixture_key(f, "jobs");
    hf_queue_info info = HF_QUEUE_INFO_INIT;

    expect_status(HF_OK, hf_queue_put(three, name, bytes("id"), bytes("work"),
                                      NULL, ERR));
    expect_status(HF_OK, hf_queue_inspect(f->client, name, &info, ERR));
    assert_int_equal(info.ready, 0);
    expect_status(HF_OK, hf_queue_inspect(three, name, &info, ERR));
    assert_int_equal(info.ready, 1);
}

TEST(watch_reports_the_changes_of_its_database)
{
    fixture *f = *state;
    hf_client *three = client_of(f, 3);
    hf_bytes mine = fixture_key(f, "mine"), foreign = fixture_key(f, "foreign");
    hf_change change = HF_CHANGE_INIT;
    hf_watch *watch = NULL;

    expect_status(HF_OK, hf_watch_open(three, bytes("*"), NULL, &watch, ERR));
    put_value(f->client, foreign, bytes("1"), 0);
    put_value(three, mine, bytes("1"), 0);
    do
        expect_status(HF_OK,
                      hf_watch_next(watch, &change, slowed_ms(WAIT_MS), ERR));
    while (!fixture_is_embedded(f) && change.key.size == foreign.size &&
           memcmp(change.key.data, foreign.data, foreign.size) == 0);
    assert_int_equal(change.kind, HF_CHANGE_WRITTEN);
    assert_bytes(mine, hf_view(change.key.data, change.key.size));
    hf_change_free(&change);
    hf_watch_close(watch);
}

TEST(expired_key_of_another_database_is_reported_and_gone)
{
    fixture *f = *state;
    hf_client *seven = client_of(f, 7);
    hf_bytes key = fixture_key(f, "k");

    put_value(f->client, key, bytes("stays"), 0);
    put_value(seven, key, bytes("goes"), 30);
    expect_soon(key_is_gone(seven, key), 5000);
    assert_value(f->client, key, bytes("stays"));
}

/* A large one, whose elements have records of their own. */
static void put_large(hf_client *client, hf_bytes key)
{
    static char value[512];

    memset(value, 'x', sizeof(value) - 1);
    for (int i = 0; i < 20; i++) {
        char field[8];
        hf_bytes words[] = {hf_str("HSET"), key, hf_view(field, 3),
                            hf_str(value)};
        hf_reply *reply = NULL;

        (void)snprintf(field, sizeof(field), "f%02d", i);
        expect_status(HF_OK, hf_command(client, 4, words, &reply, ERR));
        hf_reply_free(reply);
    }
}

TEST(keys_move_between_databases)
{
    fixture *f = *state;
    hf_client *three = client_of(f, 3);
    hf_bytes key = fixture_key(f, "k"), large = fixture_key(f, "large");

    put_value(f->client, key, bytes("moved"), 60000);
    put_large(f->client, large);
    assert_int_equal(run(f->client, "MOVE", key, "3"), 1);
    assert_int_equal(run(f->client, "MOVE", large, "3"), 1);
    assert_int_equal(run(f->client, "MOVE", key, "3"), 0);
    assert_no_key(f->client, key);
    assert_value(three, key, bytes("moved"));
    assert_ttl(three, key, 60000);
    assert_int_equal(run(three, "HLEN", large, NULL), 20);
    assert_int_equal(run(f->client, "HLEN", large, NULL), 0);
    put_value(f->client, key, bytes("another"), 0);
    assert_int_equal(run(f->client, "MOVE", key, "3"), 0);
    assert_value(three, key, bytes("moved"));
}

TEST(databases_are_swapped_and_emptied)
{
    fixture *f = *state;
    hf_client *ten = client_of(f, 10), *eleven = client_of(f, 11);
    hf_bytes key = fixture_key(f, "k"), large = fixture_key(f, "large");

    put_value(f->client, key, bytes("zero"), 0);
    put_value(ten, key, bytes("ten"), 0);
    put_value(eleven, key, bytes("eleven"), 60000);
    put_large(eleven, large);
    (void)run(f->client, "SWAPDB", bytes("10"), "11");
    assert_value(ten, key, bytes("eleven"));
    assert_ttl(ten, key, 60000);
    assert_int_equal(run(ten, "HLEN", large, NULL), 20);
    assert_value(eleven, key, bytes("ten"));
    assert_no_key(eleven, large);
    (void)run(ten, "FLUSHDB", bytes("SYNC"), NULL);
    assert_no_key(ten, key);
    assert_no_key(ten, large);
    assert_value(eleven, key, bytes("ten"));
    assert_value(f->client, key, bytes("zero"));
}

TEST(store_with_databases_is_sound)
{
    fixture *f = *state;
    hf_bytes key = bytes("k"), large = bytes("large");
    char whole[FIXTURE_PATH_SIZE], three[FIXTURE_PATH_SIZE + 8];
    hf_store_compaction done = HF_STORE_COMPACTION_INIT;
    hf_client *client;

    fixture_only_embedded(f);
    fixture_embedded_url(f, "sound", "16M", whole);
    (void)snprintf(three, sizeof(three), "%s&db=3", whole);
    client = fixture_client_at(f, three, NULL);
    put_value(client, key, bytes("three"), 0);
    put_large(client, large);
    fixture_close_client(f, client);
    expect_status(HF_OK, hf_store_check(whole, NULL, NULL, NULL, ERR));
    expect_status(HF_OK, hf_store_compact(whole, &done, ERR));
    client = fixture_client_at(f, three, NULL);
    assert_value(client, key, bytes("three"));
    assert_int_equal(run(client, "HLEN", large, NULL), 20);
    assert_no_key(fixture_client_at(f, whole, NULL), key);
}

TEST(unknown_database_is_refused)
{
    fixture *f = *state;
    char url[FIXTURE_PATH_SIZE + 16];
    hf_client *client = NULL;

    fixture_only_embedded(f);
    (void)snprintf(url, sizeof(url), "%s%cdb=16", f->url,
                   strchr(f->url, '?') != NULL ? '&' : '?');
    expect_status(HF_INVALID, hf_client_open(url, NULL, &client, ERR));
    assert_non_null(strstr(expect_message(), "db"));
}
