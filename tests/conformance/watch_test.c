/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch_test.c - hf_watch_*(): every change is reported to those who watch the
 * key, and only to them, or there is a gap.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "holdfast/hash.h"
#include "holdfast/key.h"
#include "holdfast/lock.h"
#include "holdfast/script.h"
#include "holdfast/watch.h"
#include "support/await_child.h"
#include "support/slowness.h"
#include "support/store_fixture.h"
#include "support/told.h"

FIXTURE_TESTS();

#define WAIT_MS 10000

static hf_watch *open_watch(hf_client *client, hf_bytes pattern, uint32_t flags,
                            int64_t max_bytes)
{
    hf_watch_options options = HF_WATCH_OPTIONS_INIT;
    hf_watch *watch = NULL;

    options.flags = flags;
    options.max_bytes = max_bytes;
    expect_status(HF_OK, hf_watch_open(client, pattern, &options, &watch, ERR));
    return watch;
}

static bool is_of(const hf_change *change, hf_bytes key)
{
    return change->key.size == key.size &&
           memcmp(change->key.data, key.data, key.size) == 0;
}

/* Changes may come twice: until this one, or the test fails. A gap is not
 * expected. */
static void expect_change(hf_watch *watch, hf_bytes key, hf_change_kind kind)
{
    hf_change change = HF_CHANGE_INIT;

    do {
        expect_status(HF_OK,
                      hf_watch_next(watch, &change, slowed_ms(WAIT_MS), ERR));
        assert_int_not_equal(change.kind, HF_CHANGE_GAP);
    } while (change.kind != kind || !is_of(&change, key));
    hf_change_free(&change);
}

/* Does a change of the key come before a gap? */
static bool comes_without_gap(hf_watch *watch, hf_bytes key)
{
    hf_change change = HF_CHANGE_INIT;
    bool found;

    do {
        expect_status(HF_OK,
                      hf_watch_next(watch, &change, slowed_ms(WAIT_MS), ERR));
        found = is_of(&change, key);
    } while (!found && change.kind != HF_CHANGE_GAP);
    hf_change_free(&change);
    return found;
}

static void expect_gap(hf_watch *watch)
{
    hf_change change = HF_CHANGE_INIT;

    do {
        expect_status(HF_OK,
                      hf_watch_next(watch, &change, slowed_ms(WAIT_MS), ERR));
    } while (change.kind != HF_CHANGE_GAP);
    assert_int_equal(change.key.size, 0);
    hf_change_free(&change);
}

/* Until there are none for a moment; how many gaps. */
static unsigned drain(hf_watch *watch)
{
    hf_change change = HF_CHANGE_INIT;
    unsigned gaps = 0;

    while (hf_watch_next(watch, &change, 100, NULL) == HF_OK)
        gaps += change.kind == HF_CHANGE_GAP;
    hf_change_free(&change);
    return gaps;
}

TEST(watch_reports_writes_and_deletions)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k"), hash = fixture_key(f, "h");
    hf_watch *watch = open_watch(f->client, fixture_key(f, "*"), 0, 0);

    put_value(f->other, key, bytes("1"), 0);
    expect_change(watch, key, HF_CHANGE_WRITTEN);
    put_hash(f->client, hash, words("a", "1"), 0);
    expect_change(watch, hash, HF_CHANGE_WRITTEN);
    expect_status(HF_OK, hf_key_expire(f->other, key, 60000, ERR));
    expect_change(watch, key, HF_CHANGE_WRITTEN);
    expect_status(HF_OK, hf_key_delete(f->other, key, ERR));
    expect_change(watch, key, HF_CHANGE_DELETED);
    expect_status(HF_OK, hf_hash_delete(f->client, hash, ERR));
    expect_change(watch, hash, HF_CHANGE_DELETED);
    hf_watch_close(watch);
}

/* On an embedded store a later write has to notice it. */
TEST(watch_reports_expiry)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k"), other = fixture_key(f, "other");
    hf_watch *watch = open_watch(f->client, key, HF_WATCH_KEY, 0);
    hf_change change = HF_CHANGE_INIT;
    hf_change_kind want =
        fixture_is_embedded(f) ? HF_CHANGE_EXPIRED : HF_CHANGE_DELETED;

    put_value(f->other, key, bytes("1"), 20);
    while (change.kind != want) {
        put_value(f->other, other, bytes("1"), 0);
        if (hf_watch_next(watch, &change, 50, NULL) == HF_OK)
            assert_true(is_of(&change, key));
    }
    hf_change_free(&change);
    hf_watch_close(watch);
}

TEST(watch_reports_locks_that_are_acquired_and_released)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "lock");
    hf_watch *watch = open_watch(f->client, name, HF_WATCH_KEY, 0);
    hf_lock *lock = fixture_lock(f, f->other, name, NULL);

    expect_status(HF_OK, hf_lock_try(lock, ERR));
    expect_change(watch, name, HF_CHANGE_WRITTEN);
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    expect_change(watch, name, HF_CHANGE_DELETED);
    assert_int_equal(drain(watch), 0);
    hf_watch_close(watch);
}

TEST(watch_reports_only_what_matches)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k[1]*"), end = fixture_key(f, "end");
    hf_watch *one = open_watch(f->client, key, HF_WATCH_KEY, 0);
    hf_watch *some = open_watch(f->client, fixture_key(f, "k?x*"), 0, 0);
    hf_change change = HF_CHANGE_INIT;

    put_value(f->other, fixture_key(f, "k[1]*more"), bytes("1"), 0);
    put_value(f->other, fixture_key(f, "k1"), bytes("1"), 0);
    put_value(f->other, fixture_key(f, "kyx!"), bytes("1"), 0);
    put_value(f->other, end, bytes("1"), 0);
    put_value(f->other, key, bytes("1"), 0);
    expect_status(HF_OK, hf_watch_next(one, &change, WAIT_MS, ERR));
    assert_true(is_of(&change, key));
    expect_status(HF_OK, hf_watch_next(some, &change, WAIT_MS, ERR));
    assert_true(is_of(&change, fixture_key(f, "kyx!")));
    expect_status(HF_TIMEOUT, hf_watch_next(some, &change, 0, ERR));
    hf_change_free(&change);
    hf_watch_close(one);
    hf_watch_close(some);
}

TEST(watch_reports_names_without_the_prefix_of_its_client)
{
    fixture *f = *state;
    char prefix[64];
    hf_client_options options = HF_CLIENT_OPTIONS_INIT;
    hf_bytes key = fixture_key(f, "k");
    hf_client *tenant;
    hf_watch *watch;
    hf_change change = HF_CHANGE_INIT;

    (void)snprintf(prefix, sizeof(prefix), "t-%.*s-", (int)key.size,
                   (const char *)key.data);
    options.prefix = prefix;
    tenant = fixture_client(f, &options);
    watch = open_watch(tenant, bytes("*"), 0, 0);
    put_value(f->client, key, bytes("1"), 0);
    put_value(tenant, bytes("mine"), bytes("1"), 0);
    expect_status(HF_OK, hf_watch_next(watch, &change, WAIT_MS, ERR));
    assert_true(is_of(&change, bytes("mine")));
    hf_change_free(&change);
    hf_watch_close(watch);
}

/* A key of this test, by number; valid until the next. */
static hf_bytes numbered(const fixture *f, int number)
{
    static char text[48];
    int size =
        snprintf(text, sizeof(text), "t%u:many:%d", f->test_number, number);

    return hf_view(text, (size_t)size);
}

TEST(watch_misses_none_of_many_changes)
{
    fixture *f = *state;
    hf_watch *watch = open_watch(f->client, fixture_key(f, "many:*"), 0, 0);
    hf_change change = HF_CHANGE_INIT;
    bool seen[500] = {false};
    size_t count = 0;

    for (int i = 0; i < 500; i++) {
        put_value(f->other, numbered(f, i), bytes("1"), 0);
    }
    while (count < 500) {
        const char *at;
        size_t number;

        expect_status(HF_OK, hf_watch_next(watch, &change, WAIT_MS, ERR));
        assert_int_equal(change.kind, HF_CHANGE_WRITTEN);
        at = strrchr(change.key.data, ':');
        number = strtoul(at + 1, NULL, 10);
        assert_true(number < 500);
        count += !seen[number];
        seen[number] = true;
    }
    hf_change_free(&change);
    hf_watch_close(watch);
}

TEST(watch_that_is_too_slow_gets_a_gap)
{
    fixture *f = *state;
    hf_watch *watch = open_watch(f->client, fixture_key(f, "*"), 0, 1024);
    hf_bytes last = fixture_key(f, "last");

    for (int i = 0; i < 200; i++) {
        put_value(f->other, numbered(f, i), bytes("1"), 0);
    }
    expect_gap(watch);
    /* Of changes that are still on their way there may be another gap. */
    do
        put_value(f->other, last, bytes("1"), 0);
    while (!comes_without_gap(watch, last));
    hf_watch_close(watch);
}

TEST(watch_gets_a_gap_when_its_connection_was_cut)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_watch *watch;
    int number = 0;

    fixture_only_redis(f);
    watch = open_watch(f->client, key, HF_WATCH_KEY, 0);
    while (fixture_server_run(f, number, "CLIENT KILL TYPE normal"))
        number++;
    assert_true(number > 0);
    expect_gap(watch);
    (void)drain(watch);
    put_value(f->other, key, bytes("1"), 0);
    expect_change(watch, key, HF_CHANGE_WRITTEN);
    hf_watch_close(watch);
}

TEST(watch_gets_a_gap_when_all_keys_are_removed)
{
    fixture *f = *state;
    hf_watch *watch;
    hf_script *flush;
    hf_reply *reply = NULL;

    watch = open_watch(f->client, bytes("*"), 0, 0);
    flush = fixture_script(f, f->other, "return redis.call('flushall')");
    put_value(f->other, fixture_key(f, "k"), bytes("1"), 0);
    expect_change(watch, fixture_key(f, "k"), HF_CHANGE_WRITTEN);
    expect_status(HF_OK, hf_script_run(flush, NULL, 0, NULL, 0, &reply, ERR));
    hf_reply_free(reply);
    expect_gap(watch);
    hf_watch_close(watch);
}

TEST(watch_next_can_be_started_and_cancelled)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_watch *watch = open_watch(f->client, key, HF_WATCH_KEY, 0);
    hf_change change = HF_CHANGE_INIT;
    hf_call *call = NULL;
    told first = {0}, second = {0}, third = {0};
    hf_async async = tell(&first);

    expect_status(HF_OK, hf_watch_next_start(watch, &change, &async, ERR));
    put_value(f->other, key, bytes("1"), 0);
    await_told(f->client, &first, 1);
    expect_status(HF_OK, first.status);
    assert_true(change.kind == HF_CHANGE_WRITTEN && is_of(&change, key));

    async = tell(&second);
    async.call = &call;
    expect_status(HF_OK, hf_watch_next_start(watch, &change, &async, ERR));
    hf_call_cancel(call);
    await_told(f->client, &second, 1);
    expect_status(HF_CANCELLED, second.status);

    async = tell(&third);
    expect_status(HF_OK, hf_watch_next_start(watch, &change, &async, ERR));
    hf_watch_close(watch);
    await_told(f->client, &third, 1);
    expect_status(HF_CANCELLED, third.status);
    hf_change_free(&change);
}

TEST(watch_next_is_interrupted)
{
    fixture *f = *state;
    hf_watch *watch = open_watch(f->client, fixture_key(f, "*"), 0, 0);
    hf_change change = HF_CHANGE_INIT;
    pthread_t thread;
    void *fine = NULL;

    pthread_create(&thread, NULL, interrupt_soon, f->client);
    expect_status(HF_CANCELLED, hf_watch_next(watch, &change, HF_FOREVER, ERR));
    pthread_join(thread, &fine);
    assert_non_null(fine);
    hf_watch_close(watch);
}

TEST(watch_outlives_its_client)
{
    fixture *f = *state;
    hf_client *client = fixture_client(f, NULL);
    hf_watch *watch = open_watch(client, fixture_key(f, "*"), 0, 0);
    hf_change change = HF_CHANGE_INIT;
    told last = {0};
    hf_async async = tell(&last);

    expect_status(HF_OK, hf_watch_next_start(watch, &change, &async, ERR));
    fixture_close_client(f, client);
    assert_int_equal(last.count, 1);
    expect_status(HF_UNAVAILABLE, last.status);
    expect_status(HF_INVALID, hf_watch_next(watch, &change, 0, ERR));
    hf_watch_close(watch);
}

TEST(watch_may_be_closed_in_a_forked_child)
{
    fixture *f = *state;
    hf_watch *watch = open_watch(f->client, fixture_key(f, "*"), 0, 0);
    hf_change change = HF_CHANGE_INIT;
    int outcome;
    pid_t child = fork();

    if (child == 0) {
        bool fine = hf_watch_next(watch, &change, 0, NULL) == HF_INVALID;

        hf_watch_close(watch);
        _exit(fine ? 0 : 1);
    }
    assert_int_equal(await_child(child, &outcome), child);
    assert_int_equal(outcome, 0);
    put_value(f->other, fixture_key(f, "k"), bytes("1"), 0);
    expect_change(watch, fixture_key(f, "k"), HF_CHANGE_WRITTEN);
    hf_watch_close(watch);
}

TEST(watch_open_refuses_bad_arguments)
{
    fixture *f = *state;
    hf_watch_options options = HF_WATCH_OPTIONS_INIT;
    hf_watch *watch = NULL;
    static char longest[HF_NAME_MAX + 1];

    expect_status(HF_INVALID,
                  hf_watch_open(f->client, bytes(""), NULL, &watch, ERR));
    expect_status(HF_INVALID,
                  hf_watch_open(f->client, hf_view(longest, sizeof(longest)),
                                NULL, &watch, ERR));
    expect_status(HF_INVALID,
                  hf_watch_open(f->client, bytes("k"), NULL, NULL, ERR));
    options.max_bytes = 1023;
    expect_status(HF_INVALID,
                  hf_watch_open(f->client, bytes("k"), &options, &watch, ERR));
    assert_non_null(strstr(expect_message(), "max_bytes"));
    options.max_bytes = 0;
    options.flags = 2;
    expect_status(HF_UNSUPPORTED,
                  hf_watch_open(f->client, bytes("k"), &options, &watch, ERR));
    expect_status(HF_INVALID, hf_watch_next(NULL, NULL, 0, ERR));
}
